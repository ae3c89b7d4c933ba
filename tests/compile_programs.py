"""Random programs of views, writes in place, losses, norms, draws and backward passes, for compiled functions."""

from __future__ import annotations

import random
from typing import Any

import pytest

import wengert as torch

STEPS = (
    "{a}.sin()", "{a}.tanh()", "{a}.relu()", "{a}.abs()", "{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} @ {b} * 0.1",
    "{a}.t().contiguous().t()", "{a}.clone(); {v}[{k}] = {b}[0]", "{a} * 1; {v}.t()[{k}].mul_(2)",
    "{a} * 1; {v}.view(-1)[{k}:5].add_(1)", "{a} * 1; {v}[{k}].copy_({b}[1])", "torch.cat([{a}[:1], {b}[1:]])",
    "{a}.sum(1, keepdim=True).expand(3, 3)", "x.mul_(0.5) + 0", "x.copy_({b}.detach()) + 0",
    "torch.zeros_like({a}) + {b}", "{a}.detach().reshape(-1).view(3, 3) * 2", "torch.nn.functional.dropout({a}, 0.3)",
    "{a} + torch.randn(3)", "{a} / (1 + {b}.abs().sum())", "{a} - {b}.mean()", "{a}.softmax({d})",
    "{a}.log_softmax(1) * {b}", "F.layer_norm({a}, (3,), {b}[0], {b}[1])",
    "F.cross_entropy({a}, t, label_smoothing=0.1) + {b}",
    "F.cross_entropy({a}, t, reduction='none').unsqueeze(1) * {b}", "F.nll_loss({a}.log_softmax(1), t) * {b}",
    "torch.where({a} > 0, {b}, {a}.mean())", "{a}[t] + {b}", "{a}.gather(1, t.view(3, 1)) * {b}",
    "{a} * {b}.amax({d}, keepdim=True)", "({a} - {b}).pow(2).mean().sqrt() + {a}", "F.gelu({a})",
    "F.mse_loss({a}, {b}) * {a}", "{a}.norm() * {b}", "{a}.index_add(0, t, {b})",
    "torch.einsum('ij,kj->ik', {a}, {b}) * 0.1", "{a}.cumsum({d}) * 0.1", "{a}.var(dim=1, keepdim=True) + {b}",
    "F.batch_norm({a}, None, None, {b}[0], {b}[1], training=True)", "torch.stack([{a}[0], {b}[1], {a}[2]])",
    "{a}.transpose(0, 1) * {b}", "F.linear({a}, {b}, {a}[0]) * 0.1", "{a}.clamp(-1, 1)", "{a}.detach() * {b}",
    "{a} * 1; {v}.data.mul_(0.5)", "{a} * 1; {v}.detach()[{k}].add_(1)", "{a}.exp() / {a}.exp().sum()",
    "{a}.max(1)[0].unsqueeze(1) * {b}", "{a}.view(-1).view(3, 3) + {b}.sum(0)", "torch.outer({a}[0], {b}[:, 1])",
    "{a}.std() * {b}", "F.normalize({a}, dim=1) + {b}", "{a}.logsumexp({d}, keepdim=True) - {b}",
    "F.conv1d({a}.unsqueeze(0), {b}.unsqueeze(1), padding=1, groups=3).squeeze(0) * 0.2", "{a}.triu() + {b}.tril()",
    "{a}.masked_fill({b} > 0, 0.5)", "{a}.roll(1, {d})", "{a}.flip({d}) * {b}", "F.dropout({a}, 0.3)",
    "torch.baddbmm({a}.unsqueeze(0), {b}.unsqueeze(0), {a}.unsqueeze(0)).squeeze(0) * 0.1",
    "{a}.prod(1, keepdim=True) * 0.1 + {b}", "{a}.sort(1)[0] + {b}", "F.embedding(t, {a}) * {b}",
    "({a} > {b}).float() * {a}", "F.avg_pool1d({a}.unsqueeze(0), 3, 1, 1).squeeze(0)",
    "F.smooth_l1_loss({a}, {b}) + {a}", "F.binary_cross_entropy_with_logits({a}, {b}.sigmoid().detach()) * {b}",
)  # fmt: skip


def program(seed: int) -> Any:
    """A function of two tensors, a parameter and three indices."""
    draw = random.Random(seed)
    known, lines = ["x", "y", "w"], ["def f(x, y, w, t):"]
    for k in range(draw.randint(3, 14)):
        a, b = draw.choice(known), draw.choice(known)
        step = draw.choice(STEPS).format(a=a, b=b, v=f"v{k}", k=draw.randint(0, 2), d=draw.randint(0, 1))
        lines.append(f"    v{k} = {step}")
        known.append(f"v{k}")
    p, q, r = draw.choice(known[3:]), draw.choice(known[3:]), draw.choice(known)
    if seed % 2:
        lines += [
            f"    loss = ({p} * {q} * w).sum()",
            "    loss.backward()",
            f"    return loss.detach(), {r}.detach() * 1",
        ]
    else:
        lines.append(f"    return {p}, {q}, {r} * 1")
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec("\n".join(lines), scope)
    return scope["f"]


@pytest.fixture(autouse=True)
def doubles() -> Any:
    """Digits enough to tell another order of sums from a bug."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def facts(run: Any, turn: int) -> list[Any]:
    """What a call gives, and what it leaves behind."""
    torch.manual_seed(turn)
    x, y = torch.randn(2, 3, 3, dtype=torch.float64).unbind()
    w = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    x, y, t = x.clone(), y.clone(), torch.randint(0, 3, (3,))
    outs = run(x, y, w, t)
    tracked = [t for t in outs if t.requires_grad]
    if tracked:
        sum((t * t).sum() for t in tracked).backward()
    found = [[t.shape, t.stride(), t.requires_grad] for t in outs] + [[t._version for t in (x, y, w)]]
    return [found, [*(t.detach() for t in outs), x, y, *([] if w.grad is None else [w.grad])]]


def check(fn: Any, made: Any, turns: int = 3) -> bool:
    """Compare some calls with eager's; whether eager runs at all."""
    try:
        facts(fn, 0)
    except RuntimeError:  # it overwrites what its backward pass needs
        return False
    for turn in range(turns):
        (want, values), (got, results) = facts(fn, turn), facts(made, turn)
        assert got == want and len(values) == len(results)
        for a, b in zip(values, results, strict=True):
            assert torch.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)  # gradients are added in another order
    return True

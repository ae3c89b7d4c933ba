"""Random programs of views, writes in place, draws and backward passes: compiled beside eager, on other values."""

from __future__ import annotations

import random
from typing import Any

import pytest

import wengert as torch
from wengert._compile.dispatch import Compiled

STEPS = (
    "{a}.sin()", "{a}.tanh()", "{a}.relu()", "{a}.abs()", "{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} @ {b} * 0.1",
    "{a}.t().contiguous().t()", "{a}.clone(); {v}[{k}] = {b}[0]", "{a} * 1; {v}.t()[{k}].mul_(2)",
    "{a} * 1; {v}.view(-1)[{k}:5].add_(1)", "{a} * 1; {v}[{k}].copy_({b}[1])", "torch.cat([{a}[:1], {b}[1:]])",
    "{a}.sum(1, keepdim=True).expand(3, 3)", "x.mul_(0.5) + 0", "x.copy_({b}.detach()) + 0",
    "torch.zeros_like({a}) + {b}",
    "{a}.detach().reshape(-1).view(3, 3) * 2", "torch.nn.functional.dropout({a}, 0.3)", "{a} + torch.randn(3)",
)  # fmt: skip


def program(seed: int) -> Any:
    """A function of two tensors and a parameter."""
    draw = random.Random(seed)
    known, lines = ["x", "y", "w"], ["def f(x, y, w):"]
    for k in range(draw.randint(3, 14)):
        a, b = draw.choice(known), draw.choice(known)
        step = draw.choice(STEPS).format(a=a, b=b, v=f"v{k}", k=draw.randint(0, 2))
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
    scope: dict[str, Any] = {"torch": torch}
    exec("\n".join(lines), scope)
    return scope["f"]


def facts(run: Any, turn: int) -> list[Any]:
    """What a call gives, and what it leaves behind."""
    torch.manual_seed(turn)
    x, y, w = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3, 3, requires_grad=True)
    outs = run(x, y, w)
    tracked = [t for t in outs if t.requires_grad]
    if tracked:
        sum((t * t).sum() for t in tracked).backward()
    found = [[t.shape, t.stride(), t.requires_grad] for t in outs] + [[t._version for t in (x, y, w)]]
    return [found, [*(t.detach() for t in outs), x, y, *([] if w.grad is None else [w.grad])]]


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program(seed: int) -> None:
    fn = program(seed)
    made = Compiled(fn, None, False)
    try:
        facts(fn, 0)
    except RuntimeError:  # it overwrites what its backward pass needs
        return
    for turn in range(3):
        (want, values), (got, results) = facts(fn, turn), facts(made, turn)
        assert got == want and len(values) == len(results)
        for a, b in zip(values, results, strict=True):
            assert torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)  # gradients are added in another order
    assert not made.broken

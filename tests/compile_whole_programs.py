"""Whole programs from lists of small numbers, which hypothesis makes and shrinks, run eagerly and compiled.

A program has views, writes in place, reductions, branches on Python values, dtypes, broadcasting, regions
without gradients, random draws, backward passes inside, second derivatives and optimizer steps. ``differences`` calls
it several times with other values, numbers, dtypes and strides, and compares all that a program may see.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

STEPS = (
    # results of the shape that the operands have together
    "{v} = {a} + {b}", "{v} = {a} * {b}", "{v} = {a} - {b} * c.k", "{v} = {a} / ({b}.abs() + 1)", "{v} = {a}.sin()",
    "{v} = {a}.tanh() * k", "{v} = {a}.relu()", "{v} = {a}.abs().sqrt()", "{v} = {a}.exp().clamp(max=5)",
    "{v} = torch.where({a} > {b}, {a}, {b} * 2)", "{v} = {a}.sigmoid() + c.ks[{n}]", "{v} = torch.maximum({a}, {b})",
    "{v} = {a}.masked_fill(m, k)", "{v} = {a}.lerp({b}, 0.3) if {a}.dtype == {b}.dtype else {a}",
    "{v} = torch.addcmul({a}, {a}, {b}, value=0.5) if {a}.dtype == {b}.dtype else {b}",
    # reductions and shapes
    "{v} = {a}.sum()", "{v} = {a}.mean(-1, keepdim=True) if {a}.ndim else {a}", "{v} = {a}.amax()",
    "{v} = {a}.sum(0) if {a}.ndim == 2 else {a}", "{v} = {a}.var() if {a}.numel() > 1 else {a}",
    "{v} = {a}.softmax(-1) if {a}.ndim else {a}", "{v} = {a}.cumsum(-1) if {a}.ndim else {a}",
    "{v} = {a}.logsumexp(-1, keepdim=True) if {a}.ndim else {a}", "{v} = {a}.norm()", "{v} = {a}.t().clone().t()",
    "{v} = {a}.expand(2, 3)", "{v} = {a}.expand(2, 3).contiguous()", "{v} = {a}.reshape(-1)[:1]",
    "{v} = {a}[..., :1]", "{v} = {a}[-1] if {a}.ndim == 2 else {a}", "{v} = {a}.unsqueeze(0)[0]",
    "{v} = {a}.transpose(0, -1).transpose(0, -1) if {a}.ndim else {a}", "{v} = {a}.flip(-1) if {a}.ndim else {a}",
    "{v} = torch.cat([{a}[:1], {b}[:1]]) if {a}.shape == {b}.shape == (2, 3) else {a}",
    "{v} = torch.stack([{a}, {b}]).mean(0) if {a}.shape == {b}.shape else {b}",
    "{v} = {a}[i] if {a}.shape == (2, 3) else {a}", "{v} = {a}.gather(1, j) if {a}.shape == (2, 3) else {a}",
    "{v} = {a} @ u if {a}.shape == (2, 3) and {a}.dtype == u.dtype else {a}",
    "{v} = F.layer_norm({a}, (3,)) if {a}.shape == (2, 3) else {a}", "{v} = lin({a}.float().expand(2, 3))",
    "{v} = F.cross_entropy({a}, i) if {a}.shape == (2, 3) else {a}", "{v} = F.gelu({a})", "{v} = F.softplus({a})",
    "{v} = {a}.sort(-1)[0] if {a}.ndim else {a}", "{v} = {a}.max(-1)[0].unsqueeze(-1) if {a}.ndim == 2 else {a}",
    "{v} = F.mse_loss({a}.expand(2, 3), {b}.expand(2, 3)) if {a}.dtype == {b}.dtype else {a}",
    # dtypes
    "{v} = {a}.double()", "{v} = {a}.float()", "{v} = {a} * i.sum()", "{v} = ({a} > {b}).float()", "{v} = {a} + m",
    "{v} = ({a}.detach() * 4).int() + {b}", "{v} = {a} * (k if k != 2 else 1)", "{v} = {a}.to(c.d)",
    # writes in place, views
    "{v} = {a}.clone(); {v}.mul_(2)", "{v} = {a} * 1; {v}[..., :1] += 1", "{v} = {a} * 1; {v}.view(-1)[:2].zero_()",
    "{v} = {a} * 1; {v}.copy_({b}.expand_as({v}) if {b}.ndim <= {v}.ndim and {b}.numel() <= {v}.numel() else {v} * 1)",
    "{v} = torch.zeros(2, 3); {v}.add_({a})", "{v} = {a} * 1; {v}.t()[:1].sub_(1)", "x.mul_(0.5); {v} = x * 1",
    "x.add_({a}.detach()); {v} = {a}", "y[:1].sub_(0.25); {v} = y + {b}", "b0.mul_(0.5); {v} = y * {a}",
    "{v} = {a}.detach(); {v} = {v} * 1; {v}.sin_()", "{v} = {a} * 1; {v}.masked_fill_(m, 0.25)",
    "{v} = {a} * 1; {v}.detach().add_(1)", "{v} = {a} * 1; {v}.data.mul_(k)", "x.copy_({a}.detach()); {v} = x.sin()",
    # Python, modes, draws
    "{v} = {a} if k > 2 else {b} * 3", "{v} = {a} if c.flag else {b} - 1", "{v} = {a}\nfor q in c.ks: {v} = {v} * q",
    "with torch.no_grad(): {v} = {a} * 2 + {b}", "with torch.no_grad(): w.mul_(0.9)\n{v} = w * {a}",
    "{v} = {a} + torch.randn(3)", "{v} = F.dropout({a}, 0.4)", "{v} = {a} * torch.rand(2, 1, dtype=torch.float64)",
    "{v} = {a} if isinstance(k, int) else {a} * 7", "{v} = {a} * len(c.ks)", "{v} = sum([{a}, {b}, w])",
    # gradients
    "{v} = {a} * w; {v}.pow(2).sum().backward(retain_graph=True); {v} = {v}.detach()",
    "{v} = torch.autograd.grad(({a} * w).sin().sum(), w, retain_graph=True)[0]",
    "g, = torch.autograd.grad(({a} * w.exp()).sum(), w, create_graph=True); {v} = (g * w).cos()",
    "{v} = torch.autograd.grad((w * w * {a}).sum(), w, {a}.detach().sum() * 0 + 2, retain_graph=True)[0]",
    "opt.zero_grad(); (w * {a}.detach()).sum().backward(); opt.step(); {v} = w.detach() * 1",
    "(w.sin() * {a}.detach()).sum().backward(); opt.step(); {v} = {b}", "w.grad = None; {v} = {a} * 2",
    "{v} = w.grad * {a} if w.grad is not None else {a}", "(lin(x.float()) * {a}.detach()).sum().backward(); {v} = {a}",
    "{v} = torch.func.grad(lambda z: (z * {b}.detach()).sin().sum())({a}.detach()).contiguous()",
    "w.requires_grad; {v} = w + {a}",
    "torch.nn.utils.clip_grad_norm_([w], 0.5) if w.grad is not None else 0; {v} = {a}",
    "{v} = torch.func.vmap(lambda z: z * 2 + w.detach().sum())({a}) if {a}.ndim else {a}",
)  # fmt: skip
ENDS = (
    "return {p}, {q}", "return [{p}, x, {q}]", "return {{'p': {p}, 'y': y}}",
    "{p}.sum().backward(); return {q}.detach()",
    "return {p} * 2, k", "({p}.sum() * w).sum().backward(); opt.step(); return w.detach() * 1", "return y[:1], {p} + 1",
)  # fmt: skip
LARGEST = len(STEPS) * len(ENDS)


def source(numbers: list[tuple[int, int, int]]) -> str:
    """The program that triples of numbers stand for: a step each, and two operands."""
    known, lines = ["x", "y", "w"], ["def f(x, y, b0, i, j, m, k):"]
    for at, (step, a, b) in enumerate(numbers):
        text = STEPS[step % len(STEPS)].format(a=known[a % len(known)], b=known[b % len(known)], v=f"v{at}", n=at % 2)
        lines += ["    " + line for part in [text] for line in part.split("\n")]
        known.append(f"v{at}")
    step, a, b = numbers[-1]
    end = ENDS[(step + a + b) % len(ENDS)].format(p=known[-1], q=known[-1 - (a + 1) % (len(known) - 1)])
    return "\n".join([*lines, f"    {end}"])


class World:
    """What one program lives in: its function, the objects that it closes over, and its state."""

    def __init__(self, text: str, compiled: Any = None) -> None:
        torch.manual_seed(0)
        self.c = type("C", (), {})()
        self.c.k, self.c.ks, self.c.flag, self.c.d = 2.0, [1.0, 0.5], True, torch.float32
        self.w = torch.randn(3, requires_grad=True)
        self.lin = torch.nn.Linear(3, 3)
        self.opt = torch.optim.SGD([self.w], lr=0.1, momentum=0.9)
        self.scope = {"torch": torch, "F": torch.nn.functional, "u": torch.randn(3, 3), **vars(self)}
        exec(compile(text, "<a program>", "exec"), self.scope)
        self.run = self.scope["f"] if compiled is None else compiled(self.scope["f"])

    def call(self, turn: int) -> list[Any]:
        """One call, on values of its own: what it returns, raises and leaves behind."""
        if turn == 3:
            self.c.flag, self.c.k, self.opt.param_groups[0]["lr"] = False, 3.0, 0.01
            self.c.ks.append(2.0)
        torch.manual_seed(turn)
        base = torch.randn(4, 3)
        x = torch.randn(2, 3)
        if turn == 5:
            x = x.double()
        elif turn == 6:
            x = torch.randn(3, 2).t()
        y, i, j = base[1:3], torch.randint(0, 2, (2,)), torch.randint(0, 3, (2, 3))
        k = (2, 2, 2, 2, 3, 2.0, 2)[turn]
        try:
            out = self.run(x, y, base, i, j, x > 0, k)
        except (RuntimeError, TypeError, IndexError, ValueError, AttributeError) as error:
            return [type(error).__name__.removeprefix("Torch")]  # TorchRuntimeError: its shapes were refused
        leaves = torch.utils._pytree.tree_flatten(out)[0]
        tracked = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad and t.is_floating_point()]
        if tracked and turn % 2:
            try:
                sum((t * t).sum() for t in tracked).backward()
            except RuntimeError as error:
                return [type(error).__name__, "late"]
        places = [[a is b for b in (x, y, base, self.w)] for a in leaves if isinstance(a, torch.Tensor)]
        everything = [*leaves, x, base, self.w, self.w.grad, *self.lin.parameters(), self.lin.weight.grad]
        found = [_facts(t) for t in everything]
        return [found, places, [t._version for t in (x, y, base, self.w)], torch.rand(1).item()]


def _facts(t: Any) -> Any:
    if not isinstance(t, torch.Tensor):
        return t
    return [tuple(t.shape), t.stride(), str(t.dtype), t.requires_grad, t.detach().clone()]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, torch.Tensor):
        tolerance = 1e-9 if a.dtype == torch.float64 else 2e-4
        return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)
    return type(a) is type(b) and (a == b or a != a)


def differences(numbers: list[tuple[int, int, int]], compiled: Any, settled: Any = lambda: None) -> Any:
    """The first call that is not eager's, with both results; ``None``: there is none."""
    text = source(numbers)
    eager, made = World(text), World(text, compiled)
    for turn in range(7):
        want = eager.call(turn)
        got = made.call(turn)
        if turn == 0 and len(want) < 3 and got[0] == want[0]:
            return None  # it raises: nothing to compare
        settled()
        if not _same(got, want):
            return turn, text, got, want
        if len(want) < 3:
            return None
    return None

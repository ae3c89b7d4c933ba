"""Random programs of a dozen lines, run on both libraries line by line: views, writes, passes, errors, what is left.

After each line every variable is compared (value, shape, dtype, ``requires_grad``, ``is_leaf``, ``.grad``), and the
line itself: whether it worked, or the class of its error. Each seed is one program; a seed that fails prints it. A
program ends (``_ends``) where PyTorch refuses what wengert can do or makes a mistake.
"""

from __future__ import annotations

import random
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert

NAMES = "abcdefgh"
OVERLAP = "operands share memory"
# ``b`` stands for another variable
READ = """
sin() exp() tanh() neg() relu() sigmoid() abs() sqrt() square() clone() detach() contiguous() sum() mean() prod()
max() min() var() norm() cumsum(0) softmax(-1) log_softmax(0) logsumexp(0) sum(0) sum(-1,keepdim=True) amax(0)
max(0)[0] sort()[0] flip(0) t() T view(-1) reshape(-1) unsqueeze(0) squeeze() unsqueeze(-1) flatten()
transpose(0,-1) expand(2,3) diagonal() double() float() long() bool() data unbind(0)[0] chunk(2)[0] split(1)[-1]
narrow(0,0,1) select(0,0) [0] [:1] [...,0] [None] [::2] [[0,0]] as_strided((2,),(1,)) swapaxes(0,-1) repeat(2)
roll(1) tril() cumprod(-1) diff() argmax() new_zeros(2) type_as(b) expand_as(b) view_as(b) index_select(0,L([0,0]))
gather(0,L([0])) masked_fill(L([True]),2.) clamp(-.5,.5) pow(2) lerp(b,.3) dot(b) outer(b) matmul(b) atan2(b)
where(a>0,b) logaddexp(b) hypot(b) cummax(0)[0] topk(1)[0] det() erf() xlogy(b) reciprocal() rsqrt() log1p()
sub(b,alpha=2) addmm(a,b) cdist(b) take(L([0])) scatter(0,L([0]),b) index_add(0,L([0]),b) masked_select(b>0)
movedim(0,-1) diag() tile(2) to(L([1.]))
"""
WRITE = """
add_(1) mul_(2) mul_(b) add_(b) sub_(b,alpha=.5) div_(2) copy_(b) zero_() fill_(2.) exp_() sin_() sqrt_() relu_()
tanh_() sigmoid_() clamp_(-.5,.5) neg_() pow_(2) addcmul_(a,b) lerp_(b,.5) masked_fill_(L([True]),0.)
index_add_(0,L([0]),b) scatter_(0,L([0]),1.) unsqueeze_(0) requires_grad_(False) tril_() reciprocal_()
mul_(2).add_(1) copy_(1) floor_() addmm_(a,b) squeeze_() t_() abs_() round_() square_() trunc_()
"""
PLACES = """
[0] [:1] [...] [...,0] [[0]] [::2] [None] [0,0]
"""
CALLS = """
stack([a,b]) cat([a,b]) where(a>0,a,b) maximum(a,b) outer(a,b) zeros_like(a) ones_like(a,requires_grad=True)
nn.functional.mse_loss(a,b) nn.functional.layer_norm(a,(3,)) nn.functional.normalize(a,dim=0) nn.functional.gelu(a)
nn.functional.linear(a,b) nn.functional.pad(a,(1,1)) nn.functional.softplus(a) tensordot(a,b,1)
broadcast_tensors(a,b)[0] linalg.norm(a) linalg.inv(a) fft.rfft(a).abs() einsum('i,i->',a,b)
autograd.grad(a.sum(),b,allow_unused=True)[0] autograd.grad(a,b,retain_graph=True)[0]
autograd.grad(a.sum(),b,create_graph=True)[0] nn.functional.smooth_l1_loss(a,b)
"""
PASSES = """
a.sum().backward() a.backward() a.sum().backward(retain_graph=True) a.backward(T.ones_like(a)) a.retain_grad()
a.sum().backward(create_graph=True) T.autograd.backward([a.sum(),b.sum()]) a.register_hook(lambda_g) a.grad=None
a.detach().zero_() a.data.mul_(2) a.requires_grad=False
"""


def _line(r: random.Random, known: str) -> str:
    a, b, new = r.choice(known), r.choice(known), r.choice(NAMES)

    def drawn(table: str, of: str = "") -> str:
        text = r.choice(table.split())
        for name, value in (("a", a), ("b", b)):  # whole words only
            text = "".join(value if word == name else word for word in _words(text))
        return text if not of else of + text if text[0] == "[" else f"{of}.{text}"

    k = r.random()
    if k < 0.36:
        return f"{new}={drawn(READ, a)}"
    if k < 0.5:
        return f"{new}={a}{r.choice(['+', '-', '*', '/', '**', '@', '<', '=='])}{r.choice([b, b, '2', '0.5'])}"
    if k < 0.66:
        return drawn(WRITE, a)
    if k < 0.73:
        return f"{drawn(PLACES, a)}={r.choice([b, '2.', '0'])}"
    if k < 0.77:
        return f"{a}{r.choice(['+', '-', '*', '/'])}={r.choice([b, '2'])}"
    if k < 0.83:
        return f"{new}=T.{drawn(CALLS)}"
    if k < 0.87:
        return "with T.no_grad(): " + r.choice([drawn(WRITE, a), f"{drawn(PLACES, a)}=1."])
    if k < 0.95:
        return drawn(PASSES)
    shape = r.choice([(), (3,), (2, 3), (3, 2), (1, 3), (2, 2, 3), (6,)])
    return f"{new}=R({shape},{r.random() < 0.6},{r.choice(['f4', 'f4', 'f8'])!r})"


def _words(text: str) -> list[str]:
    words = [""]
    for c in text:
        if c.isalnum() or c in "_.":
            words[-1] += c
        else:
            words += [c, ""]
    return words


def _program(seed: int) -> list[str]:
    r = random.Random(seed)
    lines = [f"{n}=R({r.choice([(3,), (2, 3), (3, 3), ()])},{r.random() < 0.6},'f4')" for n in "abc"]
    known = "abc"
    for _ in range(r.randint(4, 12)):
        line = _line(r, known)
        if re.search(r"\b(\w)\.addmm_\((\1,|\w,\1\))", line):
            continue  # a product that is written over one of its factors: PyTorch's result depends on the processor
        lines.append(line)
        if lines[-1][1] == "=" and lines[-1][0] not in known:
            known += lines[-1][0]
    return lines


def _seen(T: ModuleType, value: Any) -> Any:
    if not isinstance(value, T.Tensor):
        return repr(value)
    grad = value.grad if value.is_leaf else None
    facts = (tuple(value.shape), str(value.dtype).split(".")[1], value.requires_grad, value.is_leaf)
    return facts, value.detach().double().numpy().copy(), None if grad is None else _seen(T, grad)


def _run(T: ModuleType, lines: list[str], seed: int) -> list[Any]:
    stream = np.random.RandomState(seed)

    def made(shape: tuple[int, ...], requires_grad: bool, dtype: str) -> Any:
        return T.tensor(np.asarray(stream.uniform(-1.5, 1.5, shape), dtype), requires_grad=requires_grad)

    scope: dict[str, Any] = {"T": T, "R": made, "L": T.tensor, "lambda_g": lambda g: g * 2}
    log = []
    for line in lines:
        outcome = "ok"
        try:
            exec(line, scope)
        except Exception as error:  # noqa: BLE001  which one is what is compared
            outcome = type(error).__name__
            if "single memory location" in str(error):
                outcome = OVERLAP
        state: dict[str, Any] = {}
        for name in NAMES:
            try:
                state[name] = _seen(T, scope.get(name))
            except RuntimeError as error:  # a view that may not be used any more
                state[name] = type(error).__name__
        log.append((outcome, state))
    return log


def _ends(outcome: str, state: dict[str, Any]) -> bool:
    """Whether PyTorch refuses a write of a tensor into itself, or a view of several whose base was written under
    ``no_grad``; has no kernel for a dtype; or has made booleans require grad, as ``fill_`` with a gradient does.
    """
    seen = [value for value in state.values() if isinstance(value, tuple)]
    return (
        outcome in (OVERLAP, "NotImplementedError")
        or "RuntimeError" in state.values()
        or any(v[0][1:3] == ("bool", True) for v in seen)
    )


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(_alike, x, y))
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        scale = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        return x.shape == y.shape and np.allclose(x, y, 1e-4, 1e-5 * scale, equal_nan=True)
    return bool(x == y)


@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_the_same_after_every_line(first: int, torch: ModuleType) -> None:
    for seed in range(first, first + 100):
        lines = _program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = (_run(T, lines, seed) for T in (torch, wengert))
        for k, ((outcome, state), (mine, my_state)) in enumerate(zip(theirs, ours, strict=True)):
            if _ends(outcome, state):
                break
            text = "\n".join(lines[: k + 1])
            assert mine == outcome, f"seed {seed}:\n{text}"
            for name in NAMES:
                pair = state[name], my_state[name]
                assert _alike(*pair), f"seed {seed}, {name}:\n{text}\n{pair}"

"""Programs of views and writes in place, made from a few numbers, so that they can be run on any implementation.

A program is a shape, the kind of its first tensor and a list of steps; a step is (name, target, a, b, c, recorded).
The numbers are taken modulo whatever the tensor at hand allows, so that every list of numbers is a program, and one
that hypothesis can make smaller. ``run`` gives what could be seen of every tensor after every step.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Step = tuple[str, int, int, int, int, bool]
VIEWS: dict[str, Callable[..., Any]] = {}
WRITES: dict[str, Callable[..., Any]] = {}
ALIASES: dict[str, Callable[..., Any]] = {
    "detach": lambda T, x, a, b, c: x.detach(),
    "data": lambda T, x, a, b, c: x.data,
    "clone": lambda T, x, a, b, c: x.clone(),
    "times two": lambda T, x, a, b, c: x * 2,
    "square": lambda T, x, a, b, c: x * x,
    "exp": lambda T, x, a, b, c: (x * 0.1).exp(),
    "sum": lambda T, x, a, b, c: x.sum(),
    "requires grad": lambda T, x, a, b, c: x.detach().clone().requires_grad_(),
}


def entry(table: dict[str, Callable[..., Any]]) -> Callable[[Any], Any]:
    def add(fn: Any) -> Any:
        table[fn.__name__] = fn
        return fn

    return add


def dim(x: Any, a: int) -> int:
    return a % max(x.dim(), 1)


# --------------------------------------------------------------------------------------------------------------- views
@entry(VIEWS)
def select(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    d = dim(x, a)
    return x.select(d, b % max(x.shape[d], 1) if x.dim() else 0)


@entry(VIEWS)
def index_one(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x[b % max(x.shape[0], 1) if x.dim() else 0]


@entry(VIEWS)
def index_slices(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x[..., a % 3 :: 1 + c % 3] if b % 2 else x[a % 3 : 4 : 1 + c % 2]


@entry(VIEWS)
def index_none(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x[(None, ..., None)[: 1 + a % 3]]


@entry(VIEWS)
def narrow(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    d = dim(x, a)
    n = x.shape[d] if x.dim() else 0
    start = b % (n + 1)
    return x.narrow(d, start, c % (n - start + 1))


@entry(VIEWS)
def transpose(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.transpose(dim(x, a), dim(x, b))


@entry(VIEWS)
def permute(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    dims = list(range(x.dim()))
    order = []
    for k in (a, b, c, *([0] * x.dim()))[: x.dim()]:
        order += [dims.pop(k % len(dims))]
    return x.permute(order)


def _sizes(x: Any, a: int) -> list[Any]:
    n = x.numel()
    sizes = [[n], [-1], [1, n], [n, 1], [n // 2, 2], [2, -1], list(x.shape), [*x.shape, 1], list(x.shape)[::-1]]
    return sizes[a % len(sizes)]


@entry(VIEWS)
def view(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.view(_sizes(x, a))


@entry(VIEWS)
def reshape(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.reshape(_sizes(x, a))


@entry(VIEWS)
def flatten(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.flatten()


@entry(VIEWS)
def unsqueeze(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.unsqueeze(a % (x.dim() + 1))


@entry(VIEWS)
def squeeze(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.squeeze() if b % 2 else x.squeeze(dim(x, a))


@entry(VIEWS)
def expand(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.expand([3 if n == 1 and a % 2 else -1 for n in x.shape]) if b % 2 else x.expand([2, *x.shape])


@entry(VIEWS)
def diagonal(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.diagonal(a % 3 - 1, 0, 1) if b % 2 else x.diagonal(a % 3 - 1, -1, -2)


@entry(VIEWS)
def unfold(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.unfold(dim(x, a), 1 + b % 3, 3)


@entry(VIEWS)
def real(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.real if a % 2 or not x.is_complex() else x.imag


@entry(VIEWS)
def view_as_real(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return T.view_as_real(x)


@entry(VIEWS)
def unbind(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.unbind(dim(x, a))


@entry(VIEWS)
def chunk(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.chunk(2, dim(x, a))


@entry(VIEWS)
def split(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.split(2, dim(x, a))


@entry(VIEWS)
def movedim(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.movedim(dim(x, a), dim(x, b))


@entry(VIEWS)
def matrix_transpose(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.mT if a % 2 else x.t()


# -------------------------------------------------------------------------------------------------------------- writes
def repeated(x: Any) -> bool:
    """Whether elements of x share memory; PyTorch is about to refuse what then depends on the order."""
    return x.numel() > 0 and any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True))


def _source(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    """What is written: a number, a tensor of the same shape, one that is broadcast."""
    if c % 3 == 0:
        return 1 + b % 3
    shape = tuple(x.shape) if c % 3 == 1 else tuple(x.shape)[1:]
    values = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape) % 5 - b % 3
    return T.tensor(values, dtype=x.dtype)


@entry(WRITES)
def add_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.add_(_source(T, x, a, b, c))


@entry(WRITES)
def mul_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.mul_(_source(T, x, a, b, c))


@entry(WRITES)
def mul_itself_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.mul_(x)


@entry(WRITES)
def mul_part_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.mul_(x[0].clone()) if a % 2 else x.mul_(x.sum())


@entry(WRITES)
def copy_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    s = _source(T, x, a, b, c)
    return x.copy_(s if c % 3 else T.tensor(float(s), dtype=x.dtype))


@entry(WRITES)
def zero_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.zero_()


@entry(WRITES)
def fill_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.fill_(b % 3 + 0.5)


@entry(WRITES)
def sin_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.sin_()


@entry(WRITES)
def tanh_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    return x.tanh_()


@entry(WRITES)
def set_one(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    if x.dim() and not x.shape[0]:
        return
    x[a % max(x.shape[0], 1) if x.dim() else 0] = float(b % 3)


@entry(WRITES)
def set_all(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    x[...] = _source(T, x, a, b, c)


@entry(WRITES)
def set_slice(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    y = x[..., :: 1 + a % 2]
    x[..., :: 1 + a % 2] = y * 2


@entry(WRITES)
def set_mask(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    if repeated(x):
        return None
    n = x.numel()
    x[T.tensor([(i + a) % 2 == 0 for i in range(n)], dtype=T.bool).reshape(tuple(x.shape))] = float(b % 3)


@entry(WRITES)
def set_places(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    if repeated(x):
        return None
    if not x.dim():
        return
    n = x.shape[0] if x.dim() else 1
    x[T.tensor([a % max(n, 1), b % max(n, 1)])] = 1.5


@entry(WRITES)
def index_put_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    if repeated(x):
        return None
    if not x.dim():
        return None
    n = x.shape[0] if x.dim() else 1
    where = (T.tensor([a % max(n, 1), b % max(n, 1)]),)
    return x.index_put_(where, T.tensor(2.0, dtype=x.dtype), accumulate=bool(c % 2))


@entry(WRITES)
def masked_fill_(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    if repeated(x):
        return None
    n = x.numel()
    mask = T.tensor([(i * 7 + a) % 3 == 0 for i in range(n)], dtype=T.bool).reshape(tuple(x.shape))
    return x.masked_fill_(mask, float(b % 3))


@entry(WRITES)
def plus_equals(T: Any, x: Any, a: int, b: int, c: int) -> Any:
    x += _source(T, x, a, b, c)
    return x


def apart(x: Any, y: Any) -> Any:
    """y, or a copy of it where a part of x would be overwritten while it is read, which PyTorch sometimes refuses."""
    return y if y is x and not repeated(x) else y.clone()


# ------------------------------------------------------------------------------------ with two tensors of the program
PAIRS: dict[str, Callable[..., Any]] = {
    "add_ other": lambda T, x, y: x.add_(apart(x, y)),
    "mul_ other": lambda T, x, y: x.mul_(apart(x, y)),
    "copy_ other": lambda T, x, y: x.copy_(apart(x, y)),
    "set other": lambda T, x, y: x.__setitem__(0, y.clone()),
    "times other": lambda T, x, y: x * y,
}
NAMES = (*VIEWS, *WRITES, *ALIASES, *PAIRS)


def first_sentence(error: BaseException) -> str:
    """The error's class and the first sentence of what it says, without the names that one of the two shortens."""
    text = re.sub(r", which is output .*?,", "", str(error).strip()).split("\n")[0].split(". ")[0]
    # which of two stale values is found first, and which version each was at
    text = re.sub(r"(modified by an inplace operation): .*", r"\1", text)
    # the same refusal, found before or after the view was looked up again or read once more
    text = text.replace("its base or another view of its base has been modified", "is being modified")
    text = re.sub(r"Output \d of \w+ is a view of a view which was created in", "A view was created in", text)
    return f"{type(error).__name__}: {text.rstrip('.')}"


def name_of(node: Any) -> str:
    return "" if node is None else node.name().removeprefix("torch::autograd::")


def attempt(fn: Callable[[], Any], known: Callable[[BaseException], bool]) -> Any:
    """What ``fn`` returns, or the error that it raises as text."""
    try:
        return fn()
    except Exception as error:
        if not known(error):
            raise
        return first_sentence(error)


def facts(T: Any, x: Any, quiet: bool) -> Any:
    """What can be seen of a tensor."""

    def look() -> Any:
        if quiet:
            return "made without recording"
        return x.requires_grad, x.is_leaf, name_of(x.grad_fn), x.output_nr

    state = attempt(look, lambda e: isinstance(e, RuntimeError))
    with T.no_grad():
        values = x.detach().resolve_conj().clone().numpy()
    return tuple(x.shape), x._version, state, x._is_view(), values


class Run:
    """One program on one implementation: the tensors that it has made and what was seen."""

    def __init__(self, T: Any, shape: tuple[int, ...], kind: str, leaf: bool) -> None:
        self.T = T
        dtype = T.complex128 if kind == "complex" else T.float64
        values = (np.arange(int(np.prod(shape))) % 7 + 1.0).reshape(shape) / 4
        if kind == "complex":
            values = values + 0.5j * values[::-1] if shape else values + 0.5j
        self.leaf = T.tensor(values, dtype=dtype, requires_grad=True)
        self.tensors = [self.leaf if leaf else self.leaf * 1]
        self.quiet: set[int] = set()
        self.seen: list[Any] = []

    def is_quiet(self, x: Any) -> bool:
        """Whether x is a view made under no_grad of what has a history.

        PyTorch says that such a view requires grad, and nothing ever comes back through it; here it does not require
        grad. So a program may write to it, but goes no further from it.
        """
        return id(x) in self.quiet

    def step(self, step: Step) -> Any:
        """Take one step; what it returned is one more tensor to work on."""
        name, target, a, b, c, recorded = step
        T = self.T
        x = self.tensors[target % len(self.tensors)]
        other = self.tensors[a % len(self.tensors)]
        if (self.is_quiet(x) and name not in WRITES) or (name in PAIRS and (self.is_quiet(other) or self.is_quiet(x))):
            return "skipped"

        def act() -> Any:
            with T.set_grad_enabled(recorded):
                if name in PAIRS:
                    return PAIRS[name](T, x, other)
                for table in (VIEWS, WRITES, ALIASES):
                    if name in table:
                        return table[name](T, x, a, b, c)
            raise KeyError(name)

        result = attempt(
            act, lambda e: isinstance(e, (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError))
        )
        if isinstance(result, str):
            return result
        if isinstance(result, (tuple, list)):
            result = result[c % len(result)] if result else None
        if result is not None and not any(result is t for t in self.tensors):
            self.tensors.append(result)
            if not recorded and result._is_view() and result.grad_fn is None and result._base.requires_grad:
                self.quiet.add(id(result))
        return "done"

    def gradients(self) -> Any:
        """The leaf's gradient of a sum of everything that depends on it."""

        def act() -> Any:
            total = None
            for i, t in enumerate(self.tensors):
                if self.is_quiet(t) or not t.requires_grad:
                    continue
                s = (t * (i + 1)).sum()
                s = s.real + s.imag if s.is_complex() else s
                total = s if total is None else total + s
            if total is None or self.leaf is None:
                return None
            self.leaf.grad = None
            total.backward(retain_graph=True)
            return None if self.leaf.grad is None else self.leaf.grad.resolve_conj().numpy().copy()

        return attempt(act, lambda e: isinstance(e, RuntimeError))


def run(T: Any, shape: tuple[int, ...], kind: str, leaf: bool, steps: list[Step]) -> list[Any]:
    """Everything that could be seen of a program: after each step, and its gradient at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = Run(T, shape, kind, leaf)
        for step in steps:
            said = r.step(step)
            r.seen.append((step, said, [facts(T, t, r.is_quiet(t)) for t in r.tensors]))
        r.seen.append((("gradient", True), r.gradients(), []))
    return r.seen


# What PyTorch refuses and wengert does right: NumPy copies operands that overlap with what is written; and a view of
# several is refused (when it is next looked at) after a write under no_grad too, which changes nobody's history.
ONLY_PYTORCH_REFUSES = ("refer to a single memory location",)


def difference(one: list[Any], two: list[Any]) -> str | None:
    """The first place where wengert's run differs from PyTorch's, in words; ``None`` if they are the same."""
    quiet_writes = False
    for (step, said, tensors), (_, other_said, others) in zip(one, two, strict=True):
        quiet_writes |= step[0] == "detach" or (step[0] in (*WRITES, *PAIRS) and not step[-1])
        errors = isinstance(said, str) and isinstance(other_said, str) and "done" not in (said, other_said)
        if errors and (_refused(said) or _refused(other_said)):
            continue  # two things are wrong: they need not be found in the same order
        seen = [other_said, *(u[2] for u in others)]
        if any(isinstance(s, str) and any(text in s for text in ONLY_PYTORCH_REFUSES) for s in seen):
            return None
        if (
            step[0] == "gradient"
            and isinstance(other_said, str)
            and "more than one element of the written-to" in other_said
        ):
            return None  # PyTorch's derivative of a write to an expanded tensor writes to an expanded gradient
        if not _same(said, other_said):
            return f"{step}: {said!r} and {other_said!r}"
        for i, (t, u) in enumerate(zip(tensors, others, strict=True)):
            for what, p, q in zip(("shape", "version", "state", "is view", "values"), t, u, strict=True):
                if what == "state" and isinstance(q, str) and "is a view and is being modified" in q and quiet_writes:
                    return None
                if what == "state" and "AsStridedBackward0" in (p[2], q[2]) and p[:2] + p[3:] == q[:2] + q[3:]:
                    continue  # a view that was looked up again, which PyTorch does whenever its base was written
                if not _same(p, q):
                    return f"after {step}: {what} of tensor {i}: {p!r} and {q!r}"
    return None


_REFUSALS = ("is being modified inplace", "being used in an in-place", "more than one element of the written-to tensor")


def _refused(said: Any) -> bool:
    return isinstance(said, str) and any(text in said for text in _REFUSALS)


def _same(p: Any, q: Any) -> bool:
    if isinstance(p, np.ndarray) and isinstance(q, np.ndarray):
        return p.shape == q.shape and p.dtype == q.dtype and np.allclose(p, q, rtol=1e-9, atol=1e-12, equal_nan=True)
    if isinstance(p, np.ndarray) or isinstance(q, np.ndarray):
        return False
    return bool(p == q)

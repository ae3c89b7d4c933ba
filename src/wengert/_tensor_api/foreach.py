"""``torch._foreach_*``: one operator over lists of tensors, for optimizers that are written for PyTorch.

Each function applies the operator of that name to every tensor of a list, so dtypes, broadcasting, derivatives and
errors are the operator's. ``_foreach_NAME`` returns a tuple of new tensors, which have one node; ``_foreach_NAME_``
writes into the tensors and returns them. PyTorch has one kernel for the whole list; here the functions are not faster
than a loop.

>>> import wengert as torch
>>> torch._foreach_add([torch.zeros(1), torch.ones(2)], 1)
(tensor([1.]), tensor([2., 2.]))
>>> torch._foreach_mul_([torch.ones(1), torch.ones(2)], [2, 3])
[tensor([2.]), tensor([3., 3.])]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from numbers import Number
from typing import Any

from .._base.constants import type_name
from .._base.errors import noted
from .._base.registry import PUBLIC, own
from .._base.tracebacks import shortens
from .._kinds.slow_path import misfit
from .._tape.node import Node, named, new_port, tick
from .._tape.saved import xp_of
from .._tape.tensor import Tensor

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
# Name -> the operator, and the permitted names of the second argument.
_SECOND = ("other", "scalar", "scalars")
_BINARY = {
    "add": ("add", _SECOND), "sub": ("sub", _SECOND), "mul": ("mul", _SECOND), "div": ("div", _SECOND),
    "maximum": ("clamp_min", _SECOND), "minimum": ("clamp_max", _SECOND), "clamp_min": ("clamp_min", _SECOND),
    "clamp_max": ("clamp_max", _SECOND), "pow": ("pow", ("exponent",)),
}  # fmt: skip
# Ends of PyTorch's names of nodes: for a number, a list of numbers, a list of tensors and a tensor.
_NODES = {
    "add": "1Scalar 1ScalarList 0List 1Scalar", "sub": "1Scalar 1ScalarList 0List 1Scalar",
    "mul": "1Scalar 1ScalarList 0List 0Tensor", "div": "1Scalar 1ScalarList 0 0Tensor", "maximum": "0 1 0List 0",
    "minimum": "0 1 0List 0", "clamp_min": "0Scalar 0ScalarList 1List 0Scalar",
    "clamp_max": "0Scalar 0ScalarList 1List 0Scalar", "pow": "0Scalar 1 0 0Scalar", "max": "1 1 1 1",
    "lerp": "0Scalar 0ScalarList 1List 0Scalar", "addcmul": "0Scalar 0ScalarList 0List 0Tensor",
    "addcdiv": "0Scalar 0ScalarList 0List 0Tensor",
}  # fmt: skip


class ForeachNode(Node):
    """The node of all results of a list: it runs the steps of their own nodes, ``None`` where none was made.

    Under ``create_graph`` a step that reads its result leads to the own node, which therefore keeps its values then.
    """

    __slots__ = ("each", "of_tensors", "second")

    def __init__(self, each: list[Node | None], second: Any) -> None:
        first = next(n for n in each if n is not None)
        self._seq = tick()
        self._hooks = None
        self._code, self._lasti = first._code, first._lasti
        self.each = each
        self.second = second
        self.of_tensors = False

    def _edges(self) -> tuple[Node | None, ...]:
        edges = [() if n is None else n._edges() for n in self.each]
        return tuple(m for row in zip_longest(*edges) if any(m is not None for m in row) for m in row)

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs: list[Any] = []
        for k, part in g.parts.items():
            n = self.each[k]
            self.of_tensors |= isinstance(part, Tensor)
            if n is not None:
                pairs += n.backward(xp_of(part), part, keep or self.of_tensors)
        return tuple(pairs)

    def saved(self, name: str) -> Any:
        if name in ("scalar", "scalars", "ord") or (name == "exponent" and not _of_tensors(self.second)):
            return tuple(self.second) if isinstance(self.second, list) else self.second
        return tuple(None if n is None else n.saved(name) for n in self.each)

    def _release(self) -> None:
        for n in self.each:
            if n is not None:
                n._release()


def _of_tensors(second: Any) -> bool:
    return isinstance(second, (list, tuple)) and any(isinstance(v, Tensor) for v in second)


def _joined(short: str, results: list[Tensor], second: Any = 0.0) -> tuple[Tensor, ...]:
    """The results, with one node for all of them if any has a history; ``second``: the last operand, () if none."""
    each = [t._node for t in results]
    if any(n is not None for n in each):
        kind = 2 if _of_tensors(second) else 1 if isinstance(second, (list, tuple)) else 3 * isinstance(second, Tensor)
        end = "2" if second == () else _NODES.get(short, "0 0 0 0").split()[kind]
        capitals = "".join(part.capitalize() for part in short.split("_"))
        node = named(ForeachNode(each, second), f"Foreach{capitals}Backward{end}")
        for k, t in enumerate(results):
            if t._node is not None:
                t._node = new_port(node, k)
    return tuple(results)


def _tensors(name: str, values: Any, argument: str = "self", length: int | None = None) -> list[Tensor]:
    """Check a list: it must be nonempty, contain only tensors and be as long as the first list."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of Tensors, not {type_name(values)}")
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(value)}")
    if not values:
        raise RuntimeError("Tensor list must have at least one tensor.")
    if length is not None and len(values) != length:
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {length} and {len(values)}")
    return list(values)


def _spread(name: str, value: Any, length: int) -> list[Any]:
    """The second operands of ``length`` tensors: one number for all, one number each, or one tensor each."""
    if isinstance(value, (list, tuple)):
        if any(isinstance(v, Tensor) for v in value):
            return _tensors(name, value, "other", length)
        if len(value) != length:
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        return list(value)
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {value.ndim} dimensions and {value.numel()} elements."
        )
    if not isinstance(value, Tensor) and not isinstance(value, Number):
        raise noted(
            misfit(name, [], value),
            "What to do: give a number, a list of numbers, a list of tensors, or a tensor of no dimensions.",
        )
    return [value] * length


def _packed(scalars: Any, length: int) -> list[Any]:
    """The numbers in a tensor, one for each tensor of the list."""
    if scalars.ndim != 1:
        raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {scalars.ndim} instead.")
    if len(scalars) != length:
        raise RuntimeError(
            f"Expected length of scalars to match input of length {length} but got {len(scalars)} instead."
        )
    return scalars.tolist()


def _one_of(name: str, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An argument with several names, given by position or by one of its names."""
    given = [*args, *kwargs.values()]
    if len(given) != 1 or not kwargs.keys() <= {*names}:
        raise TypeError(f"{name}() takes one argument {' or '.join(names)}")
    return given[0]


def _operator(op: str, inplace: bool) -> Callable[..., Tensor]:
    return PUBLIC["Tensor"][op + "_" if inplace else op]


def _collect(inplace: bool, short: str, results: list[Tensor], second: Any = 0.0) -> Any:
    return results if inplace else _joined(short, results, second)


def _make_each(short: str, fn: Callable[..., Tensor] | None = None) -> Callable[..., Any]:
    """The function that calls ``fn``, by default the operator of this name, for each tensor of a list."""

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        each = fn or PUBLIC["Tensor"][short]
        results = [each(t, *args, **kwargs) for t in _tensors(f"_foreach_{short}", self)]
        return _collect(short.endswith("_"), short, results, *args[:1])

    return function


def _make_binary(short: str, inplace: bool) -> Callable[..., Any]:
    op, names = _BINARY[short]
    name = f"_foreach_{short}{'_' * inplace}"
    scaled = short in ("add", "sub")

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        extra = {k: v for k, v in kwargs.items() if k == "alpha" and scaled}
        second = _one_of(name, names, args, {k: v for k, v in kwargs.items() if k not in extra})
        if short == "pow" and not inplace and isinstance(self, Number):
            base = self
            powers = [PUBLIC["torch"]["pow"](base, t) for t in _tensors(name, second, "exponent")]
            return _joined("pow", powers, ())
        fn = _operator(op, inplace)
        tensors = _tensors(name, self)
        seconds = _spread(name, second, len(tensors))
        return _collect(inplace, short, [fn(t, s, **extra) for t, s in zip(tensors, seconds, strict=True)], second)

    return function


def _make_lerp(inplace: bool) -> Callable[..., Any]:
    name = f"_foreach_lerp{'_' * inplace}"

    def function(self: Any, tensors1: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = _tensors(name, self)
        ends = _tensors(name, tensors1, "tensors1", len(tensors))
        weight = _one_of(name, ("weight", "weights"), args, kwargs)
        weights = _spread(name, weight, len(tensors))
        fn = _operator("lerp", inplace)
        return _collect(inplace, "lerp", [fn(t, e, w) for t, e, w in zip(tensors, ends, weights, strict=True)], weight)

    return function


def _make_ternary(op: str, inplace: bool) -> Callable[..., Any]:
    """``addcmul`` and ``addcdiv``."""
    name = f"_foreach_{op}{'_' * inplace}"

    def function(self: Any, tensor1: Any, tensor2: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = _tensors(name, self)
        n = len(tensors)
        firsts, seconds = _tensors(name, tensor1, "tensor1", n), _tensors(name, tensor2, "tensor2", n)
        by_value = "value" in kwargs
        value = _one_of(name, ("value", "scalars"), args, kwargs) if args or kwargs else 1
        if isinstance(value, Tensor):
            value = value.item() if by_value else _packed(value, n)
        fn = _operator(op, inplace)
        rows = zip(tensors, firsts, seconds, _spread(name, value, n), strict=True)
        return _collect(inplace, op, [fn(t, a, b, value=v) for t, a, b, v in rows], value)

    return function


@shortens
def _foreach_max(self: Any) -> tuple[Tensor, ...]:
    """The largest element of each tensor."""
    tensors = _tensors("_foreach_max", self)
    if any(t.numel() == 0 for t in tensors):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return _joined("max", [t.max() for t in tensors])


@shortens
def _foreach_mm(self: Any, mat2: Any) -> tuple[Tensor, ...]:
    """The matrix product of each pair."""
    tensors = _tensors("_foreach_mm", self)
    others = _tensors("_foreach_mm", mat2, "mat2", len(tensors))
    return _joined("mm", [t.mm(o) for t, o in zip(tensors, others, strict=True)])


def _clone(t: Tensor, *, memory_format: Any = None) -> Tensor:
    return t.clone() if memory_format is None else t.clone(memory_format=memory_format)


@shortens
def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> list[Tensor]:
    """Copy the elements of each tensor of ``src`` into its partner."""
    if type(non_blocking) is not bool:
        raise misfit("_foreach_copy_", self, src, non_blocking)
    tensors = _tensors("_foreach_copy_", self)
    sources = _tensors("_foreach_copy_", src, "src", len(tensors))
    return [t.copy_(s) for t, s in zip(tensors, sources, strict=True)]


def _make_all() -> None:
    made: dict[str, Callable[..., Any]] = {
        "zero_": _make_each("zero_"),
        "clone": _make_each("clone", _clone),
        "norm": _make_each("norm", lambda t, ord=2, dtype=None: PUBLIC["linalg"]["vector_norm"](t, ord, dtype=dtype)),
        "powsum": _make_each("powsum", lambda t, ord=2, dtype=None: t.abs().pow(ord).sum(dtype=dtype)),
    }
    for inplace in (False, True):
        end = "_" * inplace
        made.update({op + end: _make_each(op + end) for op in _UNARY})
        made.update({op + end: _make_binary(op, inplace) for op in _BINARY})
        made.update({op + end: _make_ternary(op, inplace) for op in ("addcmul", "addcdiv")})
        made["lerp" + end] = _make_lerp(inplace)
    for short, function in made.items():
        name = f"_foreach_{short}"
        globals()[name] = shortens(own(function, name, f"``{short}`` of every tensor of a list."))


_make_all()

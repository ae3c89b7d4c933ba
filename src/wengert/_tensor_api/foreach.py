"""``torch._foreach_*``: one operator over lists of tensors, for optimizers that are written for PyTorch.

Each function applies the operator of that name to every tensor of a list, so dtypes, broadcasting, derivatives and
errors are the operator's. ``_foreach_NAME`` returns a tuple of new tensors; ``_foreach_NAME_`` writes into the
tensors and returns them. PyTorch has one kernel for the whole list; here the functions are not faster than a loop.

>>> import wengert as torch
>>> torch._foreach_add([torch.zeros(1), torch.ones(2)], 1)
(tensor([1.]), tensor([2., 2.]))
>>> torch._foreach_mul_([torch.ones(1), torch.ones(2)], [2, 3])
[tensor([2.]), tensor([3., 3.])]
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from .._base.constants import type_name
from .._base.errors import noted
from .._base.registry import PUBLIC
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


def _tensors(name: str, values: Any, argument: str = "self", length: int | None = None) -> list[Tensor]:
    """Check a list: it must be nonempty, contain only tensors and be as long as the first list."""
    if not isinstance(values, (list, tuple)):
        where = "position 1" if argument == "self" else "position 2"
        message = f"{name}(): argument '{argument}' ({where}) must be tuple of Tensors, not {type_name(values)}"
        raise TypeError(message)
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
            TypeError(f"{name}() received an invalid combination of arguments - got (list, {type_name(value)})"),
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
    given = [*args, *(kwargs.pop(n) for n in names if n in kwargs)]
    if len(given) != 1 or kwargs:
        others = f"; {', '.join(kwargs)} not known" if kwargs else ""
        raise TypeError(f"{name}() takes one argument {' or '.join(names)}, but {len(given)} were given{others}")
    return given[0]


def _operator(op: str, inplace: bool) -> Callable[..., Tensor]:
    return PUBLIC["Tensor"][op + "_" if inplace else op]


def _collect(inplace: bool, results: list[Tensor]) -> Any:
    return results if inplace else tuple(results)


def _make_each(short: str, fn: Callable[..., Tensor] | None = None) -> Callable[..., Any]:
    """The function that calls ``fn``, by default the operator of this name, for each tensor of a list."""

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        each = fn or PUBLIC["Tensor"][short]
        return _collect(short.endswith("_"), [each(t, *args, **kwargs) for t in _tensors(f"_foreach_{short}", self)])

    return function


def _make_binary(short: str, inplace: bool) -> Callable[..., Any]:
    op, names = _BINARY[short]
    name = f"_foreach_{short}{'_' * inplace}"
    scaled = short in ("add", "sub")

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        extra = {"alpha": kwargs.pop("alpha")} if scaled and "alpha" in kwargs else {}
        second = _one_of(name, names, args, kwargs)
        if short == "pow" and not inplace and isinstance(self, Number):
            base = self
            return tuple(PUBLIC["torch"]["pow"](base, t) for t in _tensors(name, second, "exponent"))
        fn = _operator(op, inplace)
        tensors = _tensors(name, self)
        seconds = _spread(name, second, len(tensors))
        return _collect(inplace, [fn(t, s, **extra) for t, s in zip(tensors, seconds, strict=True)])

    return function


def _make_lerp(inplace: bool) -> Callable[..., Any]:
    name = f"_foreach_lerp{'_' * inplace}"

    def function(self: Any, tensors1: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = _tensors(name, self)
        ends = _tensors(name, tensors1, "tensors1", len(tensors))
        weights = _spread(name, _one_of(name, ("weight", "weights"), args, kwargs), len(tensors))
        fn = _operator("lerp", inplace)
        return _collect(inplace, [fn(t, e, w) for t, e, w in zip(tensors, ends, weights, strict=True)])

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
        return _collect(inplace, [fn(t, a, b, value=v) for t, a, b, v in rows])

    return function


def _foreach_max(self: Any) -> tuple[Tensor, ...]:
    """The largest element of each tensor."""
    tensors = _tensors("_foreach_max", self)
    if any(t.numel() == 0 for t in tensors):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return tuple(t.max() for t in tensors)


def _foreach_mm(self: Any, mat2: Any) -> tuple[Tensor, ...]:
    """The matrix product of each pair."""
    tensors = _tensors("_foreach_mm", self)
    others = _tensors("_foreach_mm", mat2, "mat2", len(tensors))
    return tuple(t.mm(o) for t, o in zip(tensors, others, strict=True))


def _clone(t: Tensor, *, memory_format: Any = None) -> Tensor:
    return t.clone() if memory_format is None else t.clone(memory_format=memory_format)


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> list[Tensor]:
    """Copy the elements of each tensor of ``src`` into its partner."""
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
        function.__name__ = function.__qualname__ = f"_foreach_{short}"
        function.__doc__ = f"``{short}`` of every tensor of a list."
        globals()[function.__name__] = function


_make_all()

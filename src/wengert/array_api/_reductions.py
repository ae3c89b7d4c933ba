"""Sums, means, extrema and their like over any axes, scans, differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as torch

from ._dtypes import KINDS, isdtype, lent

Axis = int | tuple[int, ...] | None


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Axes as numbers from 0, in order; all of them for ``None``. IndexError: an axis is not there, or twice."""
    if axis is None:
        return tuple(range(ndim))
    asked = axis if isinstance(axis, tuple) else (axis,)
    for one in asked:
        if not -ndim <= one < ndim:
            raise IndexError(f"axis {one} is out of bounds for an array of {ndim} dimensions")
    found = sorted(one % ndim for one in asked)
    if len({*found}) != len(found):
        raise IndexError(f"an axis appears twice in {axis}")
    return tuple(found)


def over(function: Callable[..., torch.Tensor], x: torch.Tensor, axis: Axis, keepdims: bool, many: bool = True,
         **options: Any) -> torch.Tensor:  # fmt: skip
    """A reduction over axes by a function of one dimension or, with ``many``, of several, but not of none."""
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1 or (axes and many):
        return function(x, axes if len(axes) > 1 else axes[0], keepdim=keepdims, **options)
    rest = [d for d in range(x.ndim) if d not in axes]
    shape = [x.shape[d] for d in rest]
    flat = x.permute((*rest, *axes)).reshape(*shape, math.prod(x.shape[d] for d in axes))
    result = function(flat, -1, **options)
    return result.reshape([1 if d in axes else n for d, n in enumerate(x.shape)]) if keepdims else result


def _wide(x: torch.Tensor, dtype: Any) -> Any:
    """The dtype of a sum: short integers become the widest of their kind."""
    if dtype is not None:
        return dtype
    return torch.uint64 if x.dtype in KINDS["unsigned integer"] else torch.int64 if _is_whole(x) else x.dtype


def _is_whole(x: torch.Tensor) -> bool:
    return isdtype(x.dtype, ("bool", "integral"))


def sum(x: torch.Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> torch.Tensor:
    """The sum over axes. Short integers are added as int64 or uint64.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.sum(torch.ones(2, 3), axis=(0, 1), keepdims=True)
    tensor([[6.]])
    """
    return over(torch.sum, x, axis, keepdims, dtype=_wide(x, dtype))


def prod(x: torch.Tensor, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> torch.Tensor:
    """The product over axes. Short integers are multiplied as int64 or uint64.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.prod(torch.full((2, 3), 2.))
    tensor(64.)
    """
    return over(torch.prod, x, axis, keepdims, many=False, dtype=_wide(x, dtype))


def _plain(name: str, function: Callable[..., torch.Tensor], what: str) -> Callable[..., torch.Tensor]:
    def reduced(x: torch.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> torch.Tensor:
        return over(function, x, axis, keepdims)

    return lent(reduced, name, f"{what} over axes; of all elements without ``axis``.", function)


max = _plain("max", torch.amax, "The greatest element")
min = _plain("min", torch.amin, "The least element")
mean = _plain("mean", torch.mean, "The mean")


def _truth(name: str, function: Callable[..., torch.Tensor], what: str) -> Callable[..., torch.Tensor]:
    def reduced(x: torch.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> torch.Tensor:
        return over(function, x.to(torch.bool), axis, keepdims)

    return lent(reduced, name, f"Whether {what} over axes are true; a number is true unless it is zero.", function)


all = _truth("all", torch.all, "all elements")
any = _truth("any", torch.any, "some elements")


def _spread(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def spread(
        x: torch.Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
    ) -> torch.Tensor:
        return over(function, x, axis, keepdims, correction=correction)

    says = f"``torch.{name}`` over axes; the sum of squares is divided by N - ``correction``."
    return lent(spread, name, says, function)


var, std = _spread("var", torch.var), _spread("std", torch.std)


def count_nonzero(x: torch.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> torch.Tensor:
    """The number of elements over axes that are not zero.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.count_nonzero(torch.eye(3), axis=0, keepdims=True)
    tensor([[1, 1, 1]])
    """
    return over(torch.sum, x != 0, axis, keepdims)


def _place(name: str, function: Callable[..., torch.Tensor], what: str) -> Callable[..., torch.Tensor]:
    def place(x: torch.Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> torch.Tensor:
        found = function(x.flatten() if axis is None else x, 0 if axis is None else axis, keepdim=keepdims)
        if axis is None:
            return found.reshape([1] * x.ndim if keepdims else ())
        return found

    says = f"The index of the {what} element along an axis; among all elements without ``axis``."
    return lent(place, name, says, function)


argmax, argmin = _place("argmax", torch.argmax, "greatest"), _place("argmin", torch.argmin, "least")


def _scan(name: str, function: Callable[..., torch.Tensor], first: int) -> Callable[..., torch.Tensor]:
    def scan(
        x: torch.Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> torch.Tensor:
        if axis is None and x.ndim != 1:
            raise ValueError(f"{name} needs an axis for an array of {x.ndim} dimensions")
        (at,) = axes_of(0 if axis is None else axis, x.ndim)
        result = function(x, at, dtype=_wide(x, dtype))
        if not include_initial:
            return result
        shape = [1 if d == at else n for d, n in enumerate(x.shape)]
        return torch.cat([result.new_full(shape, first), result], at)

    says = f"``torch.{function.__name__}`` along an axis, begun with {first} if ``include_initial`` is true."
    return lent(scan, name, says, function)


cumulative_sum = _scan("cumulative_sum", torch.cumsum, 0)
cumulative_prod = _scan("cumulative_prod", torch.cumprod, 1)


def diff(x: torch.Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> torch.Tensor:
    """The differences of neighbours along an axis, ``n`` times.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.diff(torch.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    return torch.diff(x, n, axis, prepend, append)

"""Helpers of the operators along a dim: checking that an index fits, and writing at positions along a dim."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.along import FEW, all_below, along, assign, first_outside, rows_of, write_along
from ..._base.dtypes import INT64
from ..._base.modes import slow_always
from ..._tape.tensor import Tensor
from .index_primitive import is_plain, write_at


def put_along(r: Any, index: Any, dim: int, values: Any) -> None:
    """Write values, or one number, at ``index`` along ``dim`` in a contiguous array; the last of several wins."""
    if index.size < FEW:
        r.ravel()[along(r.shape, index, dim)] = values
        return
    rows = rows_of(index, r.shape, dim)
    if rows is None:
        write_along(r, index, dim, values, assign)
    else:
        write_at(r, (0,), (rows,), values)


def fitting(self: Any, dim: Any, index: Any, vector: bool | None = None) -> int:
    """The dim counted from 0 in the common case of plain arrays that fit; -1 if the general path is needed.

    ``vector``: the index must be a vector, or, if it is false, exceed the shape of ``self`` along the dim only.
    """
    try:
        a, i = self._payload, index._payload
        have = a.shape
        n = have[dim]
    except (AttributeError, IndexError, TypeError):
        return -1
    if slow_always or type(a) is not np.ndarray or type(i) is not np.ndarray or i.dtype is not INT64:
        return -1
    if type(dim) is not int or not i.size or not all_below(i, n):
        return -1
    if dim < 0:
        dim += a.ndim
    want = i.shape
    if vector:
        return dim if len(want) == 1 else -1
    if vector is False and have != want:
        if len(have) != len(want):
            return -1
        for d, m in enumerate(want):
            if m > have[d] and d != dim:
                return -1
    return dim


class Inside:
    """A check of indices that a compiled function repeats at each call."""

    __name__ = "inside"

    def __init__(self, least: int, n: int) -> None:
        self.least = least
        self.n = n

    def __call__(self, a: Any) -> None:
        if _outside(a, self.least, self.n) is not None:
            raise IndexError("index out of range in self")


def bad_index(index: Tensor, n: int, least: int = 0) -> int | None:
    """The first index that is out of range, or ``None``; also ``None`` inside a transform, where values are unknown."""
    a = index._payload
    if is_plain(index):
        return _outside(a, least, n)
    if not getattr(a, "is_traced", False):
        return None
    bad = _outside(a.array, least, n)
    if bad is None:
        a.tracer.check(Inside(least, n), a)
    return bad


def _outside(a: Any, least: int, n: int) -> int | None:
    if not a.size or (least <= 0 and a.dtype.itemsize == 8 and all_below(a, n)):
        return None
    return first_outside(a, least, n)

"""Extrema of arrays and their positions; elements along a dim by their positions."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import INT64
from .._base.registry import plain
from . import intp
from .along import along as places_along
from .fused import MANY
from .library import in_lib, lib
from .sums import SMALL
from .threads import LARGE

IN_COLUMNS = LARGE >> 2  # elements from which ``in_large_columns`` may hold


def positions(index: Any, dim: int, size: int) -> Any:
    """Flat positions of the elements that ``index`` selects along ``dim``, which has ``size`` elements."""
    shape = index.shape
    return places_along((*shape[:dim], size, *shape[dim + 1 :]), index, dim)


@in_lib
def taken_along(x: Any, index: Any, dim: int) -> Any:
    """See ``_take_along``."""
    return x.reshape(-1)[positions(index, dim, x.shape[dim])]


@plain
def plain_taken_along(lib: Any, x: Any, index: Any, dim: int) -> Any:
    return lib.take_along_axis(x, index, dim)


@in_lib
def put_along(x: Any, index: Any, dim: int, size: int, unique: bool) -> Any:
    """See ``_put_along``."""
    shape = (*index.shape[:dim], size, *index.shape[dim + 1 :])
    r = np.zeros(shape, x.dtype)
    flat = positions(index, dim, size)
    if unique:
        r.reshape(-1)[flat] = x
    else:
        np.add.at(r.reshape(-1), flat.reshape(-1), x.reshape(-1))
    return r


@plain
def plain_put_along(lib: Any, x: Any, index: Any, dim: int, size: int, unique: bool) -> Any:
    shape = (*index.shape[:dim], size, *index.shape[dim + 1 :])
    r = lib.zeros(shape, x.dtype)
    lib.add_at(r.reshape(-1), lib.along(shape, index, dim).reshape(-1), x.reshape(-1))
    return r


def shared_by_many(g: Any, x: Any, result: Any, dim: tuple[int, ...]) -> Any:
    """The cotangent shared equally among the elements that equal a result.

    Nothing equals a result that is nan; 0 / 0 then gives nan again.
    """
    mask = np.empty_like(x)
    np.equal(x, result, mask)
    share = g / lib.sum_over(mask, dim, True)
    return np.multiply(mask, share, mask)


ARGMAX, ARGMIN = np.ndarray.argmax, np.ndarray.argmin


def extremum_with_place(x: Any, place: Any, ufunc: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """An extremum along a dim and its position; ``place`` is ``ARGMAX`` or ``ARGMIN``."""
    if type(x) is not np.ndarray:
        where = getattr(x, place.__name__)(dim, keepdims=keepdim)
        return ufunc.reduce(x, dim, None, None, keepdim), where.astype(INT64)
    if x.size >= IN_COLUMNS and in_large_columns(x, dim):
        best = ufunc.reduce(x, dim, None, None, True)
        where = _places_in_columns(x, best, dim, keepdim)
        if where is not None:
            return best if keepdim else best.reshape(where.shape), where
    where = place(x, dim, keepdims=True) if keepdim else place(x, dim)
    if dim == x.ndim - 1 and _in_rows(x):
        values = of_rows(x, where)
    else:
        values = ufunc.reduce(x, dim, None, None, keepdim)
    return values, where if where.dtype is INT64 else intp.int64(where)


def extremum_over(x: Any, place: Any, ufunc: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """An extremum over some dims; ``place`` is ``ARGMAX`` or ``ARGMIN``."""
    if type(x) is not np.ndarray:
        return ufunc.reduce(x, dim, None, None, keepdim)
    if len(dim) == x.ndim:
        if not keepdim and x.size <= SMALL and x.dtype.kind in "fiub":
            return x.ravel()[place(x)]
    elif len(dim) == 1 and dim[0] == x.ndim - 1 and _in_rows(x):
        return of_rows(x, place(x, -1, keepdims=True) if keepdim else place(x, -1))
    return ufunc.reduce(x, dim, None, None, keepdim)


def _in_rows(x: Any) -> bool:
    """Whether NumPy finds an extremum along the last dim faster by its position than by its value."""
    if x.dtype.kind != "f" or not x.flags.c_contiguous:
        return False
    return x.size <= SMALL or (x.size >= MANY and x.shape[-1] >= 64)


def of_rows(x: Any, where: Any) -> Any:
    """The element at a position of each row of the last dim."""
    if type(x) is not np.ndarray and x.ndim > 1:
        starts = where.size and (where * 0 + x.shape[-1]).cumsum().reshape(where.shape) - x.shape[-1]
        return x.reshape(-1)[where + starts]
    if x.ndim == 1:
        return x[where]
    return x.ravel()[_row_starts(where.shape, x.shape[-1]) + where]


@functools.lru_cache(64)
def _row_starts(shape: tuple[int, ...], n: int) -> Any:
    """The flat position of the beginning of each row of ``n`` elements, in the shape of one element of each row."""
    return np.arange(0, math.prod(shape) * n, n).reshape(shape)


def in_large_columns(x: Any, dim: int) -> bool:
    """Whether NumPy, which reads one column after the other, takes twice as long as ``_places_in_columns``."""
    return x.size >= IN_COLUMNS and dim < x.ndim - 1 and x.shape[-1] >= 64 and x.shape[dim] < 1 << 15


_largest: Any = np.maximum.reduce


def _places_in_columns(x: Any, best: Any, dim: int, keepdim: bool) -> Any:
    """The first position of an extremum along a dim, row by row; ``None`` if there is nan, which nothing equals.

    The rows are numbered downwards; the largest number among the rows that hold the extremum gives the position.
    """
    n = x.shape[dim]
    numbers = np.arange(n, 0, -1, dtype=np.int16).reshape((n,) + (1,) * (x.ndim - dim - 1))
    first = _largest(np.multiply(np.equal(x, best).view(np.int8), numbers), dim, None, None, keepdim)
    return n - first.astype(np.int64) if first.all() else None

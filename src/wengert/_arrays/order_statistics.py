"""Medians and modes of arrays, and their positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS
from .._base.registry import plain
from . import intp
from .extrema import of_rows
from .layouts import in_rows
from .library import in_lib, vdot
from .sorting import chosen, comparable, stable_order
from .unstable import has_equal, in_torch_order, kth_steps, placed, sort_steps
from .variance import FEW


@in_lib
def median_positions(rows: Any, ignore_nan: bool, shown: bool = False) -> Any:
    """The position of each row's lower median; nan is skipped if ``ignore_nan``, else the first nan is the median.

    ``shown``: among equal elements it is the one in stable order, as PyTorch's.
    """
    n = rows.shape[-1]
    middle = (n - 1) // 2
    if n and rows.size <= FEW and rows.dtype in BLAS_FLOATS and vdot(rows, rows) < np.inf:  # it finds nan faster
        return _at(rows, middle, shown)
    rows = comparable(rows)
    missing = np.isnan(rows) if rows.dtype.kind == "f" else None
    if missing is None or not missing.any():
        return _at(rows, middle, shown)
    if ignore_nan:
        order = intp.argsort(rows, -1, "stable")
        k = np.maximum(n - missing.sum(-1) - 1, 0) // 2
        return np.take_along_axis(order, k[..., None], -1)[..., 0]
    return np.where(missing.any(-1), missing.argmax(-1), _at(rows, middle, shown))


def _at(rows: Any, k: int, stable: bool) -> Any:
    return (intp.argsort(rows, -1, "stable") if stable and placed(rows) else intp.argpartition(rows, k, -1))[..., k]


@plain
def plain_median_positions(lib: Any, rows: Any, ignore_nan: bool, shown: bool = False) -> Any:
    order = lib.stable_order(rows, False)
    if rows.dtype.kind != "f" or not rows.shape[-1]:
        return order[..., (rows.shape[-1] - 1) // 2]
    missing = lib.isnan(rows)
    kept = rows.shape[-1] - missing.sum(-1)
    k = lib.maximum(kept - 1, 0) // 2
    where = lib.take_along_axis(order, k[..., None], -1)[..., 0]
    return where if ignore_nan else lib.where(missing.any(-1), missing.argmax(-1), where)


def median_of_all(lib: Any, x: Any, ignore_nan: bool) -> Any:
    rows = x.ravel()
    if rows.size:
        return rows[lib.median_positions(rows, ignore_nan)]
    if x.dtype.kind in "iu":  # nan as C converts it
        return x.dtype.type(np.iinfo(x.dtype).min if x.dtype.itemsize >= 4 else 0)
    return x.dtype.type(float("nan"))


def median_along(lib: Any, x: Any, dim: int, keepdim: bool, ignore_nan: bool) -> tuple[Any, Any]:
    rows = _last(lib, x, dim)
    return _in_place_of_row(x, rows, lib.median_positions(rows, ignore_nan, True), dim, keepdim)


def _last(lib: Any, x: Any, dim: int) -> Any:
    if dim == x.ndim - 1:
        return x
    return x.swapaxes(dim, -1) if dim == x.ndim - 2 else lib.moveaxis(x, dim, -1)


def _in_place_of_row(x: Any, rows: Any, where: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """The element at a position of each row, and the position, in the row's place in the array."""
    if type(where) is np.ndarray:
        where = in_rows(where)
        if keepdim and rows is x:
            where = where.reshape(*where.shape, 1)
            return of_rows(rows, where), where
    values = of_rows(rows, where)
    if keepdim:
        shape = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
        return values.reshape(shape), where.reshape(shape)
    return values, where


@in_lib
def kth_with_positions(x: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """See ``kthvalue``."""
    rows = _last(np, x, dim)
    keys = comparable(rows) if rows.dtype.kind == "V" else rows
    if placed(rows) and has_equal(rows):
        order = in_torch_order(kth_steps, keys, stable_order(rows, False), k)
    else:
        order = intp.argpartition(keys, k - 1, -1)
    return _in_place_of_row(x, rows, order[..., k - 1], dim, keepdim)


@plain
def plain_kth_with_positions(lib: Any, x: Any, k: int, dim: int, keepdim: bool) -> tuple[Any, Any]:
    values, order = lib.sorted_with_positions(x, dim, False)
    at = (slice(None),) * dim + (slice(k - 1, k) if keepdim else k - 1,)
    return values[at], order[at]


@in_lib
def most_frequent(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """See ``mode``: the first of the longest runs of equal elements in order."""
    rows = _last(np, x, dim)
    order, n = intp.argsort(comparable(rows), -1, "stable"), rows.shape[-1]
    if n > 16 and placed(rows):
        order = in_torch_order(sort_steps, comparable(rows), order, 0, n)
    v = chosen(rows, order)
    steps = np.arange(v.shape[-1])
    starts = np.zeros(v.shape, np.int64)
    starts[..., 1:] = np.where(v[..., 1:] != v[..., :-1], steps[1:], 0)
    where = (steps - np.maximum.accumulate(starts, -1)).argmax(-1)[..., None]
    return _in_place_of_row(x, rows, chosen(order, where)[..., 0], dim, keepdim)


@plain
def plain_most_frequent(lib: Any, x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    rows = lib.moveaxis(x, dim, -1)
    order = lib.stable_order(rows, False)
    v = lib.take_along_axis(rows, order, -1)
    steps = lib.arange(v.shape[-1])
    starts = lib.zeros(v.shape, np.int64)
    starts[..., 1:] = lib.where(v[..., 1:] != v[..., :-1], steps[1:], 0)
    where = (steps - lib.maximum.accumulate(starts, -1)).argmax(-1)[..., None]
    found = [lib.take_along_axis(a, where, -1) for a in (v, order)]
    first, second = (lib.moveaxis(a, -1, dim) if keepdim else a[..., 0] for a in found)
    return first, second

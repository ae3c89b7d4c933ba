"""Stable order, the largest elements, runs of equal rows and binary search, along a dim of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS
from .._base.registry import plain
from . import intp
from .along import FEW, read_along
from .layouts import in_rows
from .library import in_lib, vdot
from .unstable import has_equal, in_torch_order, largest_steps, placed, sort_steps, unsorted_largest

# NOTE [ Fast stable order ]
#     NumPy sorts plain 64-bit integers with vector instructions, ten times as fast as its stable argsort. A key of at
#     most 32 bits that orders as its element does, with the element's position in the low half, is such an integer: the
#     positions come out in stable order. For wider elements an unstable argsort is repaired among equal elements.
_WORTHWHILE = 2048  # elements, in rows of at least 64
_INF = float("inf")


def comparable(x: Any) -> Any:
    """The array, with bfloat16 as float32, in which NumPy sorts nan correctly."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def stable_order(x: Any, descending: bool) -> Any:
    """The positions, along the last dim, of the elements in stable order."""
    x = comparable(x)
    n = x.shape[-1]
    if x.size < _WORTHWHILE or n < 64:
        if not descending:
            return intp.argsort(x, -1, "stable")
        if x.dtype in BLAS_FLOATS and vdot(x, x) < np.inf:  # no nan, whose place is the same
            return intp.argsort(-x, -1, "stable")
        return n - 1 - intp.argsort(x[..., ::-1], -1, "stable")[..., ::-1]
    if x.dtype.itemsize <= 4 and x.dtype.kind in "fiub":
        key = _ordered_key(x)
        return _packed_order(~key if descending else key)
    flipped = x[..., ::-1] if descending else x
    order = _repaired_order(flipped)
    return n - 1 - order[..., ::-1] if descending else order


@plain
def plain_stable_order(lib: Any, x: Any, descending: bool) -> Any:
    if not descending:
        return lib.argsort(x, -1)  # CuPy's sorts are stable
    return x.shape[-1] - 1 - lib.argsort(x[..., ::-1], -1)[..., ::-1]


def _ordered_key(x: Any) -> Any:
    """An unsigned 32-bit integer for each element, in the same order; all nan equal and above everything."""
    kind = x.dtype.kind
    if kind == "f":
        bits = (x.astype(np.float32) + np.float32(0)).view(np.int32)  # -0. + 0. is 0.
        bits = np.where(np.isnan(x), np.int32(0x7FFFFFFF), bits)
        signed = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    elif kind == "i":
        signed = x.astype(np.int32)
    else:
        return x.astype(np.uint32)
    return signed.view(np.uint32) ^ np.uint32(0x80000000)


def _packed_order(key: Any) -> Any:
    packed = key.astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(key.shape[-1], dtype=np.uint64)
    packed.sort(-1)
    packed &= np.uint64(0xFFFFFFFF)
    return packed.view(np.int64)


def _repaired_order(x: Any) -> Any:
    order = intp.argsort(x, -1)
    v = np.take_along_axis(x, order, -1)
    differs = v[..., 1:] != v[..., :-1]
    if x.dtype.kind == "f":
        differs &= ~(np.isnan(v[..., 1:]) & np.isnan(v[..., :-1]))
    if differs.all():
        return order
    group = np.zeros(x.shape, np.uint64)
    np.cumsum(differs, -1, out=group[..., 1:])
    group <<= np.uint64(32)
    group |= order.view(np.uint64)
    group.sort(-1)
    group &= np.uint64(0xFFFFFFFF)
    return group.view(np.int64)


def _last(x: Any, dim: int) -> Any:
    if dim == x.ndim - 1:
        return x
    return x.T if x.ndim == 2 else np.moveaxis(x, dim, -1)  # which takes some microseconds


def _back(x: Any, dim: int) -> Any:
    if dim == x.ndim - 1:
        return x
    return in_rows(x.T if x.ndim == 2 else np.moveaxis(x, -1, dim))


def chosen(x: Any, order: Any) -> Any:
    """The elements along the last dim at these positions."""
    return read_along(x, order, x.ndim - 1) if x.flags.c_contiguous else np.take_along_axis(x, order, -1)


def _order_in_rows(x: Any, dim: int, descending: bool, stable: bool) -> tuple[Any, Any]:
    """The array with the dim last, and the positions of its elements in their order."""
    rows = np.ascontiguousarray(_last(x, dim))
    order = stable_order(rows, descending)
    if not stable and rows.shape[-1] > 16 and placed(rows):
        order = in_torch_order(sort_steps, comparable(rows), order, 0, rows.shape[-1])
    return rows, np.ascontiguousarray(order)


@in_lib
def sorted_with_positions(x: Any, dim: int, descending: bool, stable: bool = True) -> tuple[Any, Any]:
    """See ``sort``."""
    few = not descending and x.ndim and x.size <= FEW and x.shape[dim] <= 16
    if few and x.flags.c_contiguous and x.dtype.kind != "V":
        order = intp.argsort(x, dim, "stable")  # what follows, for few elements in their order
        return read_along(x, order, dim), order
    rows, order = _order_in_rows(x, dim, descending, stable)
    return _back(chosen(rows, order), dim), _back(order, dim)


@in_lib
def sorting_positions(x: Any, dim: int, descending: bool, stable: bool) -> Any:
    """See ``argsort``."""
    few = not descending and x.ndim and x.size <= FEW and x.shape[dim] <= 16
    if few and x.flags.c_contiguous and x.dtype.kind != "V":
        return intp.argsort(x, dim, "stable")
    return _back(_order_in_rows(x, dim, descending, stable)[1], dim)


@plain
def plain_sorting_positions(lib: Any, x: Any, dim: int, descending: bool, stable: bool) -> Any:
    return lib.sorted_with_positions(x, dim, descending, stable)[1]


@plain
def plain_sorted_with_positions(lib: Any, x: Any, dim: int, descending: bool, stable: bool = True) -> tuple[Any, Any]:
    rows = lib.moveaxis(x, dim, -1)
    order = lib.stable_order(rows, descending)
    return lib.moveaxis(lib.take_along_axis(rows, order, -1), -1, dim), lib.moveaxis(order, -1, dim)


def _is_tied(x: Any, order: Any) -> bool:
    """Whether the elements at these positions equal each other, or the last ones others of their rows."""
    top = chosen(x, order)
    distinct = (top[..., 1:] != top[..., :-1]).all() and (top == top).all()
    return not distinct or np.count_nonzero(x == top[..., -1:]) > top[..., -1].size


@in_lib
def largest_with_positions(x: Any, k: int, dim: int, largest: bool, in_order: bool = True) -> tuple[Any, Any]:
    """See ``topk``."""
    rows = x if dim == x.ndim - 1 and x.flags.c_contiguous else np.ascontiguousarray(_last(x, dim))
    n = rows.shape[-1]
    if k and n < 64 and rows.size <= FEW and rows is x and x.dtype in BLAS_FLOATS and in_order:  # for few elements
        elements = rows.ravel().tolist()
        if len({*elements}) == len(elements) and sum(elements) < _INF:  # none equal, no nan: any sort is stable
            order = intp.argsort(rows)
            order = (order[..., : -k - 1 : -1] if largest else order[..., :k]).copy()
            return read_along(rows, order, dim), order
    if k == 0:
        order = np.zeros((*rows.shape[:-1], 0), np.int64)
    elif not in_order and 64 * k > n and placed(rows):
        order = unsorted_largest(comparable(rows), stable_order(rows, largest), k)[..., :k]
    elif n < 64 or 4 * k > n:
        order = stable_order(rows, largest)
        if placed(rows) and (n > 64 or has_equal(rows)):
            order = in_torch_order(largest_steps, comparable(rows), order, k, first=k)
        order = order[..., :k]
    else:
        key = comparable(rows)
        part = (
            intp.argpartition(key, n - k, -1)[..., n - k :] if largest else intp.argpartition(key, k - 1, -1)[..., :k]
        )
        part.sort(-1)
        order = np.take_along_axis(part, stable_order(chosen(rows, part), largest), -1)
        if placed(rows) and _is_tied(key, order):
            order = in_torch_order(largest_steps, key, stable_order(rows, largest), k, first=k)[..., :k]
    return _back(chosen(rows, order), dim), _back(in_rows(order), dim)


@plain
def plain_largest_with_positions(
    lib: Any, x: Any, k: int, dim: int, largest: bool, in_order: bool = True
) -> tuple[Any, Any]:
    values, order = lib.sorted_with_positions(x, dim, largest)
    first = (slice(None),) * dim + (slice(0, k),)
    return values[first], order[first]


def flat_rows(rows: Any) -> Any:
    n = 1
    for s in rows.shape[1:]:
        n *= s
    return rows.reshape(len(rows), n)


def runs_of_rows(rows: Any) -> tuple[Any, Any, Any]:
    """The start of each run of equal rows, or of equal elements, the run of each row, the length of each run."""
    starts = np.ones(len(rows), bool)
    differs = rows[1:] != rows[:-1]
    starts[1:] = differs if rows.ndim == 1 else differs.any(1)
    new = intp.int64(starts.nonzero()[0])
    runs = starts.astype(np.int64)  # NumPy adds up bools as integers in twice the time
    np.subtract(np.add.accumulate(runs, out=runs), 1, runs)
    counts = np.empty(len(new), np.int64)
    np.subtract(new[1:], new[:-1], counts[:-1])
    counts[-1:] = len(rows) - new[-1:]
    return new, runs, counts


@plain
def plain_runs_of_rows(lib: Any, rows: Any) -> tuple[Any, Any, Any]:
    starts = lib.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    new = lib.flatnonzero(starts)
    ends = lib.concatenate([new[1:], lib.full(1, len(rows), new.dtype)]) if len(rows) else new
    return new, lib.cumsum(starts) - 1, ends - new


@in_lib
def places_in_rows(rows: Any, values: Any, right: bool) -> Any:
    """Binary search of each row's values in the row; by PyTorch's steps where nan or disorder is found otherwise."""
    if rows.dtype.kind == "V":
        rows, values = comparable(rows), comparable(values)
    n = rows.shape[-1]
    side: Any = "right" if right else "left"
    if rows.ndim == 1 and (rows.dtype.kind != "f" or not n or (last := rows[-1]) == last):
        return intp.int64(rows.searchsorted(values, side))
    low = np.zeros(values.shape, np.int64)
    if rows.ndim > 1 and n > 1 and low.size and (rows[..., 1:] >= rows[..., :-1]).all():
        k = values.shape[-1]
        for row, wanted, places in zip(rows.reshape(-1, n), values.reshape(-1, k), low.reshape(-1, k), strict=True):
            places[:] = row.searchsorted(wanted, side)
        return low
    high = np.full(values.shape, n, np.int64)
    while (low < high).any():
        middle = (low + high) >> 1
        found = np.take_along_axis(rows, np.minimum(middle, n - 1), -1)
        # not (found >= value), so that nan goes to the end, as in PyTorch
        further = ~(found > values) if right else ~(found >= values)
        further &= low < high
        low = np.where(further, middle + 1, low)
        high = np.where(further, high, np.minimum(middle, high))
    return low


@plain
def plain_places_in_rows(lib: Any, rows: Any, values: Any, right: bool) -> Any:
    if rows.ndim == 1:
        places = lib.searchsorted(rows, values, "right" if right else "left").astype(np.int64)
        return lib.where(values == values, places, rows.shape[0])
    rows, values = rows[..., None, :], values[..., None]
    return ((rows <= values) if right else ~(rows >= values)).sum(-1).astype(np.int64)

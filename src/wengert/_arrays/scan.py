"""Running sums, products and extrema along a dim of an array, and linear recurrences."""

from __future__ import annotations

import functools
import math
from itertools import accumulate
from typing import Any

import numpy as np

from .._base.dtypes import INT64
from .._base.registry import plain
from .compiled import FEWEST, with_kernel
from .library import in_lib


class _ScanAccumulators(dict[Any, Any]):
    """dtype -> the dtype that PyTorch's scans run in: the next wider one; integers and bools give int64."""

    def __missing__(self, dtype: Any) -> Any:
        wide = {"float32": np.float64, "complex64": np.complex128, "float16": np.float32, "bfloat16": np.float32}
        found = np.dtype(np.int64 if dtype.kind in "biu" else wide.get(dtype.name, dtype))
        self[dtype] = found
        return found


ACCUMULATOR = _ScanAccumulators()


@with_kernel("compiled_places.running", 1, FEWEST)
def scanned(ufunc: Any, x: Any, dim: int, reverse: bool = False) -> Any:
    wide = ACCUMULATOR[x.dtype]
    if reverse:
        x = _flipped(x, dim)
    if wide is x.dtype or wide.kind == "i":
        r = ufunc.accumulate(x, dim, wide)
    elif x.size < _LARGE or type(x) is not np.ndarray:
        r = ufunc.accumulate(x.astype(wide), dim).astype(x.dtype)  # NumPy's own conversion takes longer
    else:
        r = _scan_in_parts(ufunc, x, dim, wide)
    return _flipped(r, dim) if reverse else r


_LARGE = 1 << 15  # elements from which a whole array in the wider dtype costs more than the scan itself


def _scan_in_parts(ufunc: Any, x: Any, dim: int, wide: Any) -> Any:
    """A scan in a wider dtype that holds only a part of the array in it at a time."""
    r = np.empty(x.shape, x.dtype)
    if dim < x.ndim - 1:
        rows, results = np.moveaxis(x, dim, 0), np.moveaxis(r, dim, 0)
        running = rows[0].astype(wide)
        results[0] = running
        for t in range(1, len(rows)):
            ufunc(running, rows[t], out=running)
            results[t] = running
        return r
    n = x.shape[-1]
    rows, results = x.reshape(-1, n), r.reshape(-1, n)
    step = max(1, _LARGE // n)
    for i in range(0, len(rows), step):
        results[i : i + step] = ufunc.accumulate(rows[i : i + step], 1, wide)
    return r


def _flipped(x: Any, dim: int) -> Any:
    return x[(slice(None),) * dim + (slice(None, None, -1),)]


def _part(dim: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (slice(None),) * dim + (slice(start, stop),)


@in_lib
def products_before(x: Any, dim: int, reverse: bool) -> Any:
    """See ``_cumprod_before``."""
    r = np.ones(x.shape, x.dtype)
    if x.shape[dim] > 1:
        if reverse:
            r[_part(dim, None, -1)] = scanned(np.multiply, x[_part(dim, 1, None)], dim, True)
        else:
            r[_part(dim, 1, None)] = scanned(np.multiply, x[_part(dim, None, -1)], dim)
    return r


@plain
def plain_products_before(lib: Any, x: Any, dim: int, reverse: bool) -> Any:
    r = lib.ones(x.shape, x.dtype)
    if x.shape[dim] > 1:
        behind, before = _part(dim, 1, None), _part(dim, None, -1)
        here, there = (before, behind) if reverse else (behind, before)
        r[here] = scanned(lib.multiply, x[there], dim, reverse)
    return r


@in_lib
def delayed(x: Any, dim: int, by: int) -> Any:
    """See ``_delay``."""
    r = np.zeros(x.shape, x.dtype)
    here, there = _part(dim, 1, None), _part(dim, None, -1)
    if by > 0:
        r[here] = x[there]
    else:
        r[there] = x[here]
    return r


@plain
def plain_delayed(lib: Any, x: Any, dim: int, by: int) -> Any:
    r = lib.zeros(x.shape, x.dtype)
    behind, before = _part(dim, 1, None), _part(dim, None, -1)
    here, there = (behind, before) if by > 0 else (before, behind)
    r[here] = x[there]
    return r


_FEW = 1024
_FEW_ROWS = 12  # rows up to which a loop over Python numbers is faster than one over array slices


@in_lib
def linear_recurrence(a: Any, b: Any, dim: int, transposed: bool) -> Any:
    """See ``_recurrence``. Sequential along the dim, in Python's floats if there are only a few rows."""
    if not b.size:
        return b.copy()
    n = b.shape[dim]
    a, b = np.moveaxis(a, dim, 0), np.moveaxis(b, dim, 0)
    if transposed:  # the recurrence from the end; the coefficient is then that of the element before
        a, b = np.roll(a[::-1], 1, 0), b[::-1]
    r = np.empty(b.shape, b.dtype)
    if b.size // n <= _FEW_ROWS:
        _by_number(a.reshape(n, -1), b.reshape(n, -1), r.reshape(n, -1))
    else:
        _by_slice(a, b, r)
    return np.ascontiguousarray(np.moveaxis(r[::-1] if transposed else r, 0, dim))


@plain
def plain_linear_recurrence(lib: Any, a: Any, b: Any, dim: int, transposed: bool) -> Any:
    if not b.size:
        return b.copy()
    a, b = lib.moveaxis(a, dim, 0), lib.moveaxis(b, dim, 0)
    if transposed:
        a, b = lib.roll(a[::-1], 1, 0), b[::-1]
    r = b.copy()
    for t in range(1, len(b)):
        r[t] += a[t] * r[t - 1]
    return lib.moveaxis(r[::-1] if transposed else r, 0, dim)


def _by_number(a: Any, b: Any, r: Any) -> None:
    def step(h: Any, ab: Any) -> Any:
        return ab[1] + ab[0] * h

    for k in range(b.shape[1]):
        first, *rest = b[:, k].tolist()
        r[:, k] = list(accumulate(zip(a[1:, k].tolist(), rest, strict=True), step, initial=first))


def _by_slice(a: Any, b: Any, r: Any) -> None:
    h = r[0] = b[0]
    for t in range(1, len(b)):
        h = np.multiply(a[t], h, out=r[t])
        h += b[t]


def running_extremum(ufunc: Any, lib: Any, x: Any, dim: int) -> Any:
    values = ufunc.accumulate(x, dim)
    here = x == values
    if x.dtype.kind in "fV":
        here |= x != x
    places = here.astype(INT64)  # NumPy multiplies bools and integers in twice the time
    places *= lib.table(_steps(x.shape, dim))
    return values, lib.maximum.accumulate(places, dim)


@functools.lru_cache(64)
def _steps(shape: tuple[int, ...], dim: int) -> Any:
    """0, 1, ... along a dim; for a few elements at each of them, which NumPy multiplies by in half the time."""
    steps = np.arange(shape[dim], dtype=INT64).reshape((-1,) + (1,) * (len(shape) - dim - 1))
    if math.prod(shape) <= _FEW:
        steps = np.broadcast_to(steps, shape).copy()
    steps.setflags(write=False)
    return steps


@in_lib
def complex_logcumsumexp(x: Any, dim: int) -> Any:
    """See ``logcumsumexp``: NumPy's ``logaddexp`` has no complex form."""
    r = np.moveaxis(x.astype(np.complex128), dim, 0).copy()
    for t in range(1, len(r)):
        larger = np.where(r[t - 1].real >= r[t].real, r[t - 1], r[t])
        smaller = np.where(r[t - 1].real >= r[t].real, r[t], r[t - 1])
        r[t] = np.where(np.isneginf(smaller.real), larger, larger + np.log(1.0 + np.exp(smaller - larger)))
    return np.moveaxis(r, 0, dim).astype(x.dtype, "C")


@plain
def plain_complex_logcumsumexp(lib: Any, x: Any, dim: int) -> Any:
    r = lib.moveaxis(x.astype(np.complex128), dim, 0).copy()
    for t in range(1, len(r)):
        first = r[t - 1].real >= r[t].real
        larger, smaller = lib.where(first, r[t - 1], r[t]), lib.where(first, r[t], r[t - 1])
        r[t] = lib.where(smaller.real == -math.inf, larger, larger + lib.log(1.0 + lib.exp(smaller - larger)))
    return lib.moveaxis(r, 0, dim).astype(x.dtype)

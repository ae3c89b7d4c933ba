"""Calls of compiled kernels (``compiled``) for elements at places and for running sums, as in ``compiled_rows``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import compiled
from .compiled import GRAIN, SUFFIX, Kernels, dense

Ints = tuple[int, ...]
_COLUMNS = 16  # of a part, COLUMNS in ``places.h``
_WIDE = 256  # the same for running sums
_INT64 = np.dtype(np.int64)


def _plain(*arrays: Any) -> bool:
    """Whether arrays are NumPy's own, in C order, and not of Python objects."""
    return all([type(a) is np.ndarray and a.flags.c_contiguous and not a.dtype.hasobject for a in arrays])  # noqa: C419


def _cut(shape: Ints, dim: int) -> tuple[int, int, int]:
    """The sizes before, of and behind a dim."""
    return math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])


def _lines(x: Any, index: Any, dim: int) -> Any:
    """The sizes of an index whose lines are those of an array; ``None`` if they are others."""
    shape, lengths = x.shape, index.shape
    others = (*lengths[:dim], *lengths[dim + 1 :])
    if index.dtype is not _INT64 or not x.ndim or others != (*shape[:dim], *shape[dim + 1 :]):
        return None
    outer, n, inner = _cut(shape, dim)
    return outer, (n, lengths[dim], inner)


def read_along(k: Kernels, index: Any, x: Any, dim: int) -> Any:
    """``along.read_along`` of an index that is not rows' numbers."""
    found = _lines(x, index, dim)
    kernel = k.find(f"take_along_{x.itemsize}")
    if found is None or kernel is None or not _plain(x):
        return None
    outer, sizes = found
    r = np.empty(index.shape, x.dtype)
    k.run(kernel, outer * sizes[1], GRAIN // max(sizes[2], 1), sizes, (), r, x, np.ascontiguousarray(index))
    return r


def add_along(k: Kernels, index: Any, r: Any, dim: int, values: Any) -> Any:
    """``along.add_along`` of an index that is not rows' numbers."""
    found = _lines(r, index, dim)
    if found is None or not dense(r) or values.dtype is not r.dtype or values.shape != index.shape:
        return None
    outer, sizes = found
    parts = outer * -(-sizes[2] // _COLUMNS)
    size = sizes[1] * min(sizes[2], _COLUMNS)
    k.call("add_along", r.dtype, parts, size, sizes, (), r, np.ascontiguousarray(index), np.ascontiguousarray(values))
    return True


def rows_at(k: Kernels, x: Any, index: Any) -> Any:
    """``x[index]`` of an index of rows; ``None`` also if a place is out of range."""
    kernel = k.find("rows_at")
    if kernel is None or not _plain(x, index) or index.dtype is not _INT64 or not x.size:
        return None
    r, bad = np.empty((*index.shape, *x.shape[1:]), x.dtype), np.zeros((), np.int64)
    n = x.size // len(x)
    k.run(kernel, index.size, GRAIN // n, (len(x), n * x.itemsize), (), r, x, index, bad)
    return None if bad else r


def add_rows(k: Kernels, values: Any, r: Any, at: Any, run: int) -> Any:
    """``accumulate.add_rows``; runs of one element are a single part."""
    if not dense(r) or values.dtype is not r.dtype or values.size != at.size * run or not r.flags.c_contiguous:
        return None
    at = np.ascontiguousarray(at, np.int64)
    parts, size = -(-run // _COLUMNS), at.size * min(run, _COLUMNS)
    k.call("add_runs", r.dtype, parts, size, (at.size, run), (), r, at, np.ascontiguousarray(values))
    return True


def sum_rows(k: Kernels, values: Any, at: Any, run: int, size: Any) -> Any:
    """``accumulate.sum_rows``: each thread looks for what is to be added in its part of the result."""
    r = np.empty(size, values.dtype)
    if run < _COLUMNS or not dense(r) or values.size != at.size * run:
        return None
    at, parts, runs = np.ascontiguousarray(at, np.int64), compiled.wanted_threads(), r.size // run
    sizes = (at.size, run, runs, parts)
    k.call("sum_runs", r.dtype, parts, GRAIN, sizes, (), r, at, np.ascontiguousarray(values))
    return r


def running(k: Kernels, ufunc: Any, x: Any, dim: int, reverse: bool = False) -> Any:
    """``scan.scanned`` of sums and products."""
    if x.dtype not in SUFFIX or type(x) is not np.ndarray or ufunc not in (np.add, np.multiply):
        return None
    x = np.ascontiguousarray(x)
    outer, n, inner = _cut(x.shape, dim)
    r = np.empty(x.shape, x.dtype)
    parts = outer if inner == 1 else outer * -(-inner // _WIDE)
    sizes = (n, inner, ufunc is np.multiply, reverse)
    k.call("running", x.dtype, parts, n * min(inner, _WIDE), sizes, (), r, x)
    return r

"""Positions in NumPy's own integer type, ``intp``, and in that of PyTorch, int64.

``intp`` is as wide as a pointer: int64, but int32 on 32-bit platforms, of which Pyodide (Python in a browser) is one.
There ``take``, ``put``, ``repeat``, ``bincount`` and ``reduceat`` refuse int64, ``argsort`` and ``argpartition`` return
int32. The package calls them here: where ``intp`` is int64 they are NumPy's own, without a call in between, elsewhere
they cast. Plain indexing, NumPy's take_along_axis and ufunc.at cast by themselves. A table of positions that the
package computes is made in ``intp`` where that is no more work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import INT64
from .library import lib

INTP = np.dtype(np.intp)


def as_intp(index: Any) -> Any:
    """``index``, an array of integers, in the dtype of NumPy's positions."""
    return index if index.dtype is INTP else index.astype(INTP)


def int64(index: Any) -> Any:
    """``index``, an array or a number of NumPy's positions, in the dtype that positions have in PyTorch."""
    return index if index.dtype is INT64 else index.astype(INT64)


def _take(x: Any, index: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    return x.take(as_intp(index), axis, out, mode)


def _put(x: Any, index: Any, values: Any) -> None:
    x.put(as_intp(index), values)


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    counts = np.bincount(as_intp(x), weights, minlength)
    return counts if weights is not None else counts.astype(np.int64)


def _repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    return np.repeat(x, as_intp(np.asarray(repeats)), axis)


def _argsort(x: Any, axis: int = -1, kind: Any = None) -> Any:
    return x.argsort(axis, kind).astype(np.int64)


def _argpartition(x: Any, kth: int, axis: int = -1) -> Any:
    return x.argpartition(kth, axis).astype(np.int64)


def _reduceat(ufunc: Any, x: Any, starts: Any, axis: int = 0) -> Any:
    return ufunc.reduceat(x, as_intp(starts), axis)


take: Any
put: Any
bincount: Any
repeat: Any
reduceat: Any
argsort: Any
argpartition: Any
if INTP.itemsize == 8:
    take, put, bincount, repeat = np.ndarray.take, np.ndarray.put, np.bincount, np.repeat
    reduceat, argsort, argpartition = np.ufunc.reduceat, np.ndarray.argsort, np.ndarray.argpartition
else:
    take, put, bincount, repeat = _take, _put, _bincount, _repeat
    reduceat, argsort, argpartition = _reduceat, _argsort, _argpartition
lib.take, lib.bincount, lib.repeat, lib.argsort, lib.argpartition = take, bincount, repeat, argsort, argpartition

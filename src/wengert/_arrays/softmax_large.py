"""Softmax of many rows in few cheap passes, block by block, so that each pass finds its block in the cache.

The kernels take matrices in C order, float32 or float64, whose rows are normalised, and fill the first of them.

NOTE [ When softmax need not look for each row's maximum ]
    exp(x) / sum(exp(x)) is as accurate as the form with x - max(x), whose difference is rounded, as long as no
    exponential leaves the normal numbers and no sum overflows. The extremes of a block show that in less time than it
    takes to find and subtract the rows' maxima; if the extremes are far apart, the maxima alone may still show it.
    Logarithms need the maxima: log(sum(exp(x))) is max(x) + log(sum(exp(x)) / exp(max(x))), which cancels the error of
    the largest exponential, so that log-probabilities near zero keep their digits.

NOTE [ Powers of two ]
    NumPy's exp2 of float32 takes 0.6 of the time of its exp if ``has_vector_functions``; otherwise it is far slower, as
    it always is for results that are no normal numbers. The product with log2(e) is rounded, which costs digits of
    large exponents: the exponents that determine the result must be small.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import FLOAT32
from . import intp
from .compiled import FEWEST, with_kernel
from .kernels import has_vector_functions
from .large import row_products, row_sums
from .threads import LARGE, among_rows, rows

_SAFE = {np.dtype(np.float32): 60.0, np.dtype(np.float64): 500.0}  # exponents of this size are harmless
_LOWEST = -4.0  # the least maximum of a row whose exponentials still have all digits
_NEAR = 8.0  # exponents of this size may go through exp2
_SHORT, _FEW = 48, 32  # lengths of rows: maxima are found column by column up to the first, a column is repeated up to
_NORMAL = -80.0  # exponents above this give normal numbers in float32
_LOG2E = np.array(math.log2(math.e), np.float32)
_max: Any = np.maximum.reduce
_min: Any = np.minimum.reduce


# ---- exponentials
def _exponential(x: Any, r: Any) -> None:
    """Fill r with exp(x), which gives normal numbers; the error grows with the size of x."""
    if x.dtype is FLOAT32 and has_vector_functions():
        np.multiply(x, _LOG2E, r)
        np.exp2(r, r)
    else:
        np.exp(x, r)


def moderate_exponential(x: Any, r: Any) -> bool:
    """Fill r with exp(x) and return True, unless some element is large in absolute value, as nan and inf are."""
    safe = _SAFE[x.dtype]
    high, low = _max(x, None), _min(x, None)
    if not (high <= safe and low >= -safe):
        return False
    if high <= _NEAR and low >= -_NEAR:
        _exponential(x, r)
    else:
        np.exp(x, r)
    return True


def exponentials(x: Any, r: Any) -> None:
    """Fill r with exp(x), in each row times a factor that keeps it from overflow."""
    if moderate_exponential(x, r):
        return
    top = row_maxima(x)
    if _min(top) >= _LOWEST and _max(top) <= _SAFE[x.dtype]:
        np.exp(x, r)
    else:
        np.subtract(x, _beside(top[:, None], x.shape[1]), r)
        np.exp(r, r)


def log_sums(x: Any, r: Any) -> tuple[Any, Any, Any]:
    """Fill r as ``exponentials`` does; return the rows' maxima, log(sum(exp(x))) minus them, and the sums of r."""
    n = x.shape[1]
    if n > _SHORT and x.dtype is FLOAT32:
        places = x.argmax(1)
        places += row_starts(*x.shape)
        top = x.reshape(-1)[places]
        safe = _SAFE[FLOAT32]
        highest, lowest = top.item(top.argmax()), top.item(top.argmin())
        if lowest >= _LOWEST and highest <= safe:
            if max(highest, -lowest) <= _NEAR and _min(x, None) >= _NORMAL:
                _exponential(x, r)
            else:
                np.exp(x, r)
            sums = row_sums(r)
            above = np.divide(sums, r.reshape(-1)[places])
            return top, np.log(above, above), sums
    else:
        top = row_maxima(x)
    np.subtract(x, _beside(top[:, None], n), r)
    np.exp(r, r)
    sums = row_sums(r)
    return top, np.log(sums), sums


@functools.lru_cache(64)
def row_starts(rows: int, columns: int) -> Any:
    """The flat position of the start of each row of a matrix."""
    return np.arange(0, rows * columns, columns)


def row_maxima(x: Any) -> Any:
    """The maxima of the rows by position, which NumPy finds in half the time; column by column for short rows."""
    n = x.shape[1]
    if n > _SHORT:
        return x.reshape(-1)[x.argmax(1) + row_starts(*x.shape)]
    r = x[:, 0].copy()
    for k in range(1, n):
        np.maximum(r, x[:, k], out=r)
    return r


def _beside(column: Any, n: int) -> Any:
    """A column in the form that NumPy takes faster beside rows of n elements."""
    return column if n > _FEW else intp.repeat(column, n, 1)


# ---- kernels
def softmax(r: Any, x: Any) -> None:
    exponentials(x, r)
    scale = row_sums(r)
    np.reciprocal(scale, scale)
    np.multiply(r, _beside(scale[:, None], x.shape[1]), r)


def log_softmax(r: Any, x: Any) -> None:
    n = x.shape[1]
    top, above, _ = log_sums(x, r)
    level = top + above
    np.subtract(x, _beside(level[:, None], n), r)
    if not _min(above - 0.25 * abs(level)) >= 0:  # the lost digits of the level would show in results near zero
        top -= level
        top += above
        np.subtract(r, _beside(top[:, None], n), r)


def softmax_backward(r: Any, g: Any, y: Any) -> None:
    n = g.shape[1]
    sums = row_products(g, y) if n > _SHORT else row_sums(np.multiply(g, y, r))
    np.subtract(g, _beside(sums[:, None], n), r)
    np.multiply(r, y, r)


def log_softmax_backward(r: Any, g: Any, y: Any) -> None:
    if y.dtype is FLOAT32 and _min(y, None) >= _NORMAL:
        _exponential(y, r)
    else:
        np.exp(y, r)
    np.multiply(r, _beside(row_sums(g)[:, None], y.shape[1]), r)
    np.subtract(g, r, r)


@with_kernel("compiled_rows.filled", 1, FEWEST)
def filled(kernel: Any, *arrays: Any) -> Any:
    """A new array whose rows a kernel fills from those of arrays of one shape and dtype, along the last dim."""
    first = arrays[0]
    n = first.shape[-1]
    r = np.empty(first.shape, first.dtype)
    flat = [a.reshape(-1, n) for a in (r, *arrays)]
    if first.size < LARGE:
        among_rows(n, lambda: kernel(*flat))
    else:
        rows(lambda part: kernel(*[a[part] for a in flat]), first.size // n, n)
    return r


@with_kernel("compiled_rows.log_sum_exp", least=FEWEST)
def log_sum_exp(x: Any) -> Any:
    """log(sum(exp(x))) along the last dim."""
    n = x.shape[-1]
    flat = x.reshape(-1, n)
    r = np.empty(len(flat), x.dtype)

    def block(part: slice) -> None:
        top, above, _ = log_sums(flat[part], np.empty_like(flat[part]))
        if not np.isfinite(top).all():
            above[~np.isfinite(top)] = 0  # the sum equals its largest term
        np.add(top, above, r[part])

    if x.size < LARGE:
        among_rows(n, lambda: block(slice(0, len(flat))))
    else:
        rows(block, len(flat), n)
    return r.reshape(x.shape[:-1])

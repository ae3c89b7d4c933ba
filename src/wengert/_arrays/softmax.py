"""Softmax, its logarithm, the derivatives of both and logsumexp, along one dim of an array.

They work in place on one new array. A few short rows use products with ones, many long ones ``softmax_large``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, FLOAT32, FLOAT64
from .._base.registry import plain
from . import softmax_large
from .large import sum_over
from .library import SQUARES_OF_ONES, in_lib, vdot, vector_of_ones
from .threads import LARGE, rows

_max: Any = np.maximum.reduce
_min: Any = np.minimum.reduce
_add: Any = np.add.reduce
_exp: Any = np.exp
_log: Any = np.log
_MANY = 4096  # elements from which kernels and blocks pay
# NOTE [ Small rows ]
#     Products with ones replace reductions (``SQUARES_OF_ONES``). A sum of squares, which is one product, shows whether
#     any exponential is extreme (``softmax_large``); log_softmax is computed in float64, which has enough digits
#     without the rows' maxima.
_SMALL_ROW, _SMALL = 64, 65536
_SAFE_SQUARES, _SAFE_SQUARES_64 = 60.0**2, 600.0**2
_ONES_64 = SQUARES_OF_ONES[FLOAT64]


def _is_small(x: Any, dim: int) -> bool:
    n = x.shape[dim]
    return n <= _SMALL_ROW and x.size * n <= _SMALL and dim == x.ndim - 1 and x.dtype in BLAS_FLOATS


def _has_rows(dim: int, *arrays: Any) -> bool:
    """Whether there are many rows, contiguous in memory, that ``softmax_large`` takes."""
    first = arrays[0]
    return bool(
        first.size >= _MANY
        and dim == first.ndim - 1
        and first.dtype in BLAS_FLOATS
        and all([a.flags.c_contiguous and a.dtype is first.dtype for a in arrays])  # noqa: C419  faster so
    )


def _filled(fill: Any, dim: int, *arrays: Any) -> Any:
    """A new array that ``fill(array, *arrays)`` fills along dim 1 of three; large ones block by block."""
    first = arrays[0]
    shape = first.shape or (1,)
    outer, n, inner = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])
    r = np.empty(first.shape, first.dtype)
    views = [a.reshape(outer, n, inner) for a in (r, *arrays)]
    if first.size < LARGE or outer == 1:
        fill(*views)
    else:
        rows(lambda part: fill(*[a[part] for a in views]), outer, n * inner)
    return r


def _fill_softmax(r: Any, x: Any) -> None:
    if x.size < _MANY or not softmax_large.moderate_exponential(x, r):
        np.subtract(x, _max(x, 1, None, None, True), r)
        _exp(r, r)
    r /= _add(r, 1, None, None, True)


def _fill_log_softmax(r: Any, x: Any) -> None:
    np.subtract(x, _max(x, 1, None, None, True), r)
    s = _add(_exp(r), 1, None, None, True)
    r -= np.log(s, s)


def _fill_softmax_backward(r: Any, g: Any, y: Any) -> None:
    np.multiply(g, y, r)
    s = _add(r, 1, None, None, True)
    np.subtract(g, s, r)
    r *= y


def _fill_log_softmax_backward(r: Any, g: Any, y: Any) -> None:
    _exp(y, r)
    r *= _add(g, 1, None, None, True)
    np.subtract(g, r, r)


@in_lib
def softmax_rows(x: Any, dim: int) -> Any:
    """exp(x) over its sum along a dim; half precision in float32."""
    n, size, last = x.shape[dim], x.size, x.ndim - 1
    short = n <= _SMALL_ROW and size * n <= _SMALL
    if (0 < size < _MANY or (size and short and dim == last)) and (ones := SQUARES_OF_ONES.get(x.dtype)) is not None:
        r = _exp(x) if vdot(x, x) <= _SAFE_SQUARES else _exp(x - _max(x, dim, None, None, True))
        if short and dim == last:
            r /= r.dot(ones[n])
        else:
            r /= ones[n].dot(r) if short and last == 1 else sum_over(r, dim, True)
        return r
    if x.dtype.itemsize == 2:
        return softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    if _has_rows(dim, x):
        return softmax_large.filled(softmax_large.softmax, x)
    return _filled(_fill_softmax, dim, x) if size else x.copy()


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


@plain
def plain_softmax_rows(lib: Any, x: Any, dim: int) -> Any:
    if not x.size:
        return x.copy()
    w = _wide(x)
    e = lib.exp(w - w.max(dim, keepdims=True))
    return (e / e.sum(dim, keepdims=True)).astype(x.dtype, copy=False)


@in_lib
def log_softmax_rows(x: Any, dim: int) -> Any:
    """x minus the logarithm of the sum of exp(x) along a dim; half precision in float32."""
    n, size, last = x.shape[dim], x.size, x.ndim - 1
    if x.dtype is FLOAT32 and 1 < n <= _SMALL_ROW and 0 < size * n <= _SMALL and (dim == last or last == 1):
        w = x.astype(FLOAT64)
        if vdot(w, w) <= _SAFE_SQUARES_64:
            s = _exp(w)
            s = s.dot(_ONES_64[n]) if dim == last else _ONES_64[n].dot(s)
            w -= _log(s, s)
            return w.astype(FLOAT32)
    elif 0 < size < _MANY and x.dtype in BLAS_FLOATS:
        r = x - _max(x, dim, None, None, True)
        s = sum_over(_exp(r), dim, True)
        r -= np.log(s, s)
        return r
    if x.dtype.itemsize == 2:
        return log_softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    if _has_rows(dim, x):
        return softmax_large.filled(softmax_large.log_softmax, x)
    return _filled(_fill_log_softmax, dim, x) if size else x.copy()


@plain
def plain_log_softmax_rows(lib: Any, x: Any, dim: int) -> Any:
    if not x.size:
        return x.copy()
    w = _wide(x)
    w = w - w.max(dim, keepdims=True)
    return (w - lib.log(lib.exp(w).sum(dim, keepdims=True))).astype(x.dtype, copy=False)


@in_lib
def softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """y * (g - sum(g * y)) along a dim."""
    if _is_small(y, dim):
        r = g - (g * y).dot(SQUARES_OF_ONES[y.dtype][y.shape[dim]])
        r *= y
        return r
    if y.dtype.itemsize == 2:
        return softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    return _backward(softmax_large.softmax_backward, _fill_softmax_backward, g, y, dim)


@plain
def plain_softmax_backward_rows(lib: Any, g: Any, y: Any, dim: int) -> Any:
    g, w = _wide(g), _wide(y)
    return (w * (g - (g * w).sum(dim, keepdims=True))).astype(y.dtype, copy=False)


@in_lib
def log_softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """g - exp(y) * sum(g) along a dim."""
    if _is_small(y, dim):
        r = _exp(y)
        r *= g.dot(SQUARES_OF_ONES[y.dtype][y.shape[dim]])
        return np.subtract(g, r, r)
    if y.dtype.itemsize == 2:
        return log_softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    return _backward(softmax_large.log_softmax_backward, _fill_log_softmax_backward, g, y, dim)


@plain
def plain_log_softmax_backward_rows(lib: Any, g: Any, y: Any, dim: int) -> Any:
    g, w = _wide(g), _wide(y)
    return (g - lib.exp(w) * g.sum(dim, keepdims=True)).astype(y.dtype, copy=False)


def _backward(kernel: Any, fill: Any, g: Any, y: Any, dim: int) -> Any:
    """Fill the cotangent of the input from a cotangent, whose rows may be repeated, and the result."""
    if not y.size:
        return y.copy()
    g = np.ascontiguousarray(g, y.dtype)
    return softmax_large.filled(kernel, g, y) if _has_rows(dim, g, y) else _filled(fill, dim, g, y)


def rows_logsumexp(x: Any, dim: int) -> Any:
    """See ``logsumexp``: the result for few or for many rows, else ``None``."""
    if type(x) is not np.ndarray:
        return None
    if _has_rows(dim, x):
        return softmax_large.log_sum_exp(x)
    if x.size and x.dtype.itemsize == 4 and _is_small(x, dim):
        w = x.astype(np.float64)
        if vdot(w, w) <= _SAFE_SQUARES_64:
            return np.log(_exp(w).dot(vector_of_ones(x.shape[dim], w.dtype))).astype(np.float32)
    return None


def logsumexp_over(lib: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """See ``logsumexp``."""
    if not x.size:
        return lib.log(lib.add.reduce(lib.exp(x), dim, None, None, keepdim))
    top = lib.maximum.reduce(x.real, dim, None, None, True)
    top = lib.where(lib.isfinite(top), top, top.dtype.type(0))
    r = lib.log(lib.add.reduce(lib.exp(x - top), dim, None, None, keepdim))
    return r + (top if keepdim else top.reshape(r.shape))

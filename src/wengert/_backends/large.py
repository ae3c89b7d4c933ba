"""What NumPy is slow at when there are many elements, done in another way: the same values, in fewer nanoseconds.

Each function takes NumPy's own way for a small array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._blocks import LARGE, composite, cut_parts, each, fold, over_blocks, rows
from .numpy import in_lib, lib

MANY = 2048  # elements from which these ways are the faster ones
_BITS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


# ------------------------------------------------------------------------------------------------------------- choosing
@in_lib
def where(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where``, without a branch per element.

    NumPy's loop asks and jumps, which takes ten times as long where the answers cannot be foreseen. Here the bits of
    one operand are masked by the condition and joined to those of the other.
    """
    if condition.size < MANY or condition.dtype is not _BOOL:
        return np.where(condition, x, y)
    dtype = np.result_type(x, y)
    bits = _BITS.get(dtype.itemsize)
    if bits is None or dtype.hasobject:
        return np.where(condition, x, y)
    x, y = np.asarray(x, dtype).view(bits), np.asarray(y, dtype).view(bits)
    if not y.ndim and not y:
        return large(lambda condition, x: _joined(condition, dtype, x, None), condition, x)
    if not x.ndim and not x:
        return large(lambda condition, y: _joined(condition, dtype, None, y), condition, y)
    return large(lambda condition, x, y: _joined(condition, dtype, x, y), condition, x, y)


_BOOL = np.dtype(np.bool_)


def _joined(condition: Any, dtype: Any, x: Any, y: Any) -> Any:
    """The bits of x where the condition holds, else those of y; ``None`` has none."""
    shape = condition.shape
    for a in (x, y):
        if a is not None and a.ndim and a.shape != shape:
            shape = np.broadcast_shapes(shape, a.shape)
    result = np.empty_like(condition, dtype) if condition.shape == shape else np.empty(shape, dtype)
    mask = result.view((y if x is None else x).dtype)
    np.copyto(mask, condition.view(np.int8))
    if x is None:
        mask -= 1  # all bits where the condition does not hold
        mask &= y
        return result
    np.negative(mask, out=mask)
    if y is None:
        mask &= x
        return result
    mask &= x ^ y
    mask ^= y
    return result


@in_lib
def limited(x: Any, low: Any, high: Any) -> Any:
    """``minimum(maximum(x, low), high)``; ``None`` is no limit.

    NumPy's maximum takes four times as long with a number as its clip.
    """
    if x.size >= MANY and x.dtype in _FLOATS and not _is_array(low) and not _is_array(high):
        low = -np.inf if low is None else low
        high = np.inf if high is None else high
        if low <= high:
            return np.clip(x, low, high)
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.ndim > 0


def large(body: Any, *arrays: Any) -> Any:
    """``body(*arrays)`` for an elementwise body of several passes, in blocks if the first array is large."""
    return composite(body, *arrays) if arrays[0].size >= LARGE else body(*arrays)


# ---------------------------------------------------------------------------------------------------------------- sums
_FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_ROW = 1024  # 64 accumulators take 16 numbers each, as in NumPy's pairwise sums; what is longer is added pairwise
_SHORT = 8
_add: Any = np.add.reduce


def row_sums(x: Any) -> Any:
    """The sums along the last dim, in a third of the time that a reduction takes."""
    n = x.shape[-1]
    if n <= _ROW:
        return np.einsum("...j->...", x)
    whole = n // _ROW * _ROW
    sums = np.add.reduce(np.einsum("...j->...", x[..., :whole].reshape(*x.shape[:-1], -1, _ROW)), -1)
    return sums + np.einsum("...j->...", x[..., whole:]) if whole < n else sums


def row_products(x: Any, y: Any) -> Any:
    """The sums of ``x * y`` along the last dim, by BLAS; both have one shape."""
    n = x.shape[-1]
    if n <= _ROW:
        return np.vecdot(x, y)
    whole = n // _ROW * _ROW
    x_rows, y_rows = (a[..., :whole].reshape(*x.shape[:-1], -1, _ROW) for a in (x, y))
    sums = np.add.reduce(np.vecdot(x_rows, y_rows), -1)
    return sums + np.vecdot(x[..., whole:], y[..., whole:]) if whole < n else sums


@in_lib
def sum_over(x: Any, dim: Any, keepdim: bool = False) -> Any:
    """``numpy.add.reduce``, as precise and three times as fast."""
    if x.size < MANY or x.dtype not in _FLOATS:
        return _add(x, dim, None, None, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim:
        total = fold(np.add, x)
        return np.full((1,) * x.ndim, total) if keepdim else total
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        r = row_sums(x)
        return r[..., None] if keepdim else r
    if len(dims) == 1 and x.shape[dims[0]] > 2 * _BLOCK:
        r = _in_blocks(x, dims[0])
        return np.expand_dims(r, dims[0]) if keepdim else r
    return _add(x, dim, None, None, keepdim)


_BLOCK = 128


def _in_blocks(x: Any, d: int) -> Any:
    """The sum over a dim that is not the last, where NumPy adds one row after the other: the error of a million rows.

    Blocks of rows are summed, then their sums likewise, as pairwise summation and PyTorch's cascade do.
    """
    n = x.shape[d]
    if n <= 2 * _BLOCK:
        return np.add.reduce(x, d)
    whole = n // _BLOCK * _BLOCK
    rows_of = (slice(None),) * d
    blocks = x[(*rows_of, slice(0, whole))].reshape(*x.shape[:d], whole // _BLOCK, _BLOCK, *x.shape[d + 1 :])
    r = _in_blocks(np.add.reduce(blocks, d + 1), d)
    return r if whole == n else r + np.add.reduce(x[(*rows_of, slice(whole, n))], d)


@in_lib
def sum_of_squares(x: Any, dim: Any, keepdim: bool = False) -> Any:
    """The sum of ``x * x`` for real floats, without the squares in between."""
    if x.size < MANY or x.dtype not in _FLOATS:
        return _add(x * x, dim, None, None, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim and x.flags.c_contiguous:
        flat = x.reshape(-1)
        total = np.add.reduce(each(lambda part: row_products(flat[part], flat[part]), cut_parts(flat.shape, LARGE)))
        return np.full((1,) * x.ndim, total) if keepdim else total
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        r = row_products(x, x)
        return r[..., None] if keepdim else r
    return sum_over(x * x, dim, keepdim)


@in_lib
def sum_of_deviations(x: Any, mean: Any, dim: Any, keepdim: bool = False) -> Any:
    """The sum of ``(x - mean) ** 2`` for real floats; ``mean`` has the reduced dims, of size 1."""
    if x.size < LARGE or x.dtype not in _FLOATS or not x.flags.c_contiguous:
        return sum_of_squares(x - mean, dim, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim:
        flat = x.reshape(-1)
        number = mean.reshape(())
        total = np.add.reduce(each(lambda part: _squares(flat[part] - number), cut_parts(flat.shape, LARGE)))
        return np.full((1,) * x.ndim, total) if keepdim else total
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        n = x.shape[-1]
        flat, means = x.reshape(-1, n), mean.reshape(-1, 1)
        r = np.concatenate(rows(lambda part: _squares(flat[part] - means[part]), len(flat), n))
        return r.reshape(mean.shape if keepdim else x.shape[:-1])
    return sum_of_squares(x - mean, dim, keepdim)


def sum_of(body: Any, *arrays: Any) -> Any:
    """The sum of what an elementwise body gives, which is never there as a whole if the arrays are large."""
    parts = None
    if arrays[0].size >= LARGE and arrays[0].dtype in _FLOATS:
        parts = over_blocks(lambda *blocks: row_sums(body(*blocks).reshape(-1)), *arrays)
    return sum_over(body(*arrays), None) if parts is None else np.add.reduce(np.array(parts))


def _squares(x: Any) -> Any:
    return row_products(x, x)


def _dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if dim is None else (dim,) if type(dim) is int else tuple(dim)


@in_lib
def product_of_all(x: Any) -> Any:
    """The product of all elements; of many floats in columns, as NumPy takes them one after the other."""
    if x.size < MANY or x.dtype not in _FLOATS or not x.flags.c_contiguous:
        return np.multiply.reduce(x, None)
    flat = x.reshape(-1)
    whole = x.size // _ROW * _ROW
    columns = np.multiply.reduce(flat[:whole].reshape(-1, _ROW), 0)
    return np.multiply.reduce(columns) * np.multiply.reduce(flat[whole:])


# ------------------------------------------------------------------------------------------------- normal distribution
# P(x) = (1 + tanh(x p(x * x))) / 2, p a minimax fit of degree 6 on [0, 30]; from the highest power on.
_NORMAL = [
    np.float32(c)
    for c in (
        1.7561982491918003e-09,
        -1.3226423220971257e-07,
        3.964754465059395e-06,
        -5.5306242305609824e-05,
        -3.259487426261352e-05,
        3.6333084494654735e-02,
        7.978849414756592e-01,
    )
]
_HALF, _ONE, _FAR = np.float32(0.5), np.float32(1), np.float32(5.477)  # farther out, it is 0 or 1 in float32


@in_lib
def normal_cdf(x: Any) -> Any:
    """The probability that a standard normal variable is below x; of many float32 to 1e-7, by NumPy's fast tanh.

    SciPy's erf takes ten times as long.
    """
    if x.size < MANY or x.dtype != np.float32:
        return (lib.scipy_erf(x * math.sqrt(0.5)) + 1) * 0.5
    z = np.clip(x, -_FAR, _FAR)
    z *= z
    r = z * _NORMAL[0]
    for c in _NORMAL[1:-1]:
        r += c
        r *= z
    r += _NORMAL[-1]
    r *= x
    np.tanh(r, out=r)
    r += _ONE
    r *= _HALF
    return r

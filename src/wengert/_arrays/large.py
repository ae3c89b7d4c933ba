"""Faster replacements for NumPy functions that are slow on many elements; they give the same values.

Each function calls NumPy's own for a small array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, BOOL, REAL_NUMBERS
from .._base.registry import plain
from .blas import UNSHARED
from .compiled import LEAST, kernels, with_kernel
from .cuts import cut_parts
from .fused import MANY, Placeholder, fused_body_of
from .kernels import where_recorded
from .library import NUMBERS, in_lib, lib, putmask, undispatched, vector_of_ones
from .threads import LARGE, elementwise, over_blocks, parallel_map, parallel_slices, reduce_all, rows, single_threaded

_BITS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


# ---- choosing
_where, _count_nonzero = undispatched(np.where), np._core.multiarray.count_nonzero  # type: ignore[attr-defined]


@in_lib
def where(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where``, without a branch per element.

    NumPy's loop branches, which takes ten times as long if the condition cannot be predicted. This function masks the
    bits of one operand by the condition and joins them to those of the other.
    """
    if type(x) is type(y) is type(condition) is np.ndarray and condition.size < MANY:
        return _where(condition, x, y)
    if type(condition) is Placeholder:
        return where_recorded(condition, x, y)
    if condition.size < MANY or condition.dtype is not BOOL:
        return _where_few(condition, x, y)
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


@in_lib
def chosen(condition: Any, x: Any, y: Any) -> Any:
    """``where(condition, x, y)``. It may overwrite y, a new array: of few elements that takes half the time."""
    if type(condition) is np.ndarray and condition.size < MANY and x.dtype is y.dtype and condition.shape == y.shape:
        if not x.ndim or x.shape == y.shape:
            putmask(y, condition, x)
            return y
    return where(condition, x, y)


@plain
def plain_chosen(lib: Any, condition: Any, x: Any, y: Any) -> Any:
    return lib.where(condition, x, y)


def _where_few(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where``, which takes a Python number three times as slowly as an array of no dimension."""
    if type(x) in REAL_NUMBERS:
        if type(y) is np.ndarray and y.dtype in BLAS_FLOATS:
            x = _constant(x, y.dtype)
    elif type(y) in REAL_NUMBERS and type(x) is np.ndarray and x.dtype in BLAS_FLOATS:
        y = _constant(y, x.dtype)
    return np.where(condition, x, y) if type(x) is Placeholder or type(y) is Placeholder else _where(condition, x, y)


@in_lib
def count_nonzero(x: Any) -> Any:
    """``numpy.count_nonzero`` of all elements, without NumPy's own function in Python around it."""
    return _count_nonzero(x) if type(x) is np.ndarray else np.count_nonzero(x)


def _joined(condition: Any, dtype: Any, x: Any, y: Any) -> Any:
    """The bits of x where the condition holds, else those of y; ``None`` counts as zero bits."""
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
def limited(x: Any, low: Any, high: Any = None) -> Any:
    """``minimum(high, maximum(low, x))``; ``None`` is no limit. Of two equal zeros the later operand's is taken.

    With a number, NumPy's ``maximum`` takes four times as long as its ``clip``.
    """
    if x.size >= MANY and x.dtype in BLAS_FLOATS and not _is_array(low) and not _is_array(high):
        if type(x) is not Placeholder or (low != 0 and high != 0):  # in a program, one zero alone is as good as a clip
            low = -np.inf if low is None else low
            high = np.inf if high is None else high
        if low is not None and high is not None and low <= high:
            return x.clip(low, high)
    dtype = x.dtype if x.dtype in BLAS_FLOATS else None
    if low is not None:
        x = np.maximum(low if dtype is None else _constant(low, dtype), x)
    return x if high is None else np.minimum(high if dtype is None else _constant(high, dtype), x)


@plain
def plain_limited(lib: Any, x: Any, low: Any, high: Any) -> Any:
    x = x if low is None else lib.maximum(x, low)
    return x if high is None else lib.minimum(x, high)


def _constant(value: Any, dtype: Any) -> Any:
    """A number in the form that NumPy takes fastest."""
    if type(value) not in REAL_NUMBERS:
        return value
    return NUMBERS[dtype][value] if value or math.copysign(1, value) < 0 else lib.ZEROS[dtype]


def _is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.ndim > 0


def large(body: Any, *arrays: Any) -> Any:
    """``body(*arrays)`` for an elementwise body of several passes, in blocks if the first array is large."""
    return elementwise(body, *arrays) if arrays[0].size >= LARGE else body(*arrays)


# ---- sums
_ROW = 1024  # BLAS's dot product has some 64 accumulators, which take 16 numbers each, as in NumPy's pairwise sums
_SHORT = 8
_SUMMING = 0.015  # ns that a product with ones takes for a byte
_FEW = 64  # elements of a row that BLAS adds up as accurately as a pairwise sum does
_LONG = 512  # elements of a row from which a dot product for each takes no longer than one product for all
_MEDIUM = 128  # elements of a row from which it takes no longer than einsum
_PIECES = 4  # a row of this many times that length is still accurate
_add: Any = np.add.reduce
_vecdot: Any = np.vecdot


def row_sums(x: Any) -> Any:
    """The sums along the last dim: products with ones, in a quarter of the time that a reduction takes.

    A row's sum does not depend on the other rows, unless there are few elements in all: ``blas``, NOTE [ One thread
    of BLAS ].
    """
    n = x.shape[-1]
    if n < _LONG:
        if x.size <= UNSHARED and x.ndim > 1 and x.flags.c_contiguous and x.dtype in BLAS_FLOATS:
            return x.reshape(-1, n).dot(vector_of_ones(n, x.dtype)).reshape(x.shape[:-1])
        if n < _MEDIUM:
            return np.einsum("...j->...", x)
    if n <= _PIECES * _ROW:
        return _vecdot(x, vector_of_ones(n, x.dtype))
    whole = n // _ROW * _ROW
    ones = vector_of_ones(_ROW, x.dtype)
    sums = _add(_vecdot(x[..., :whole].reshape(*x.shape[:-1], -1, _ROW), ones), -1)
    return sums + _vecdot(x[..., whole:], ones[: n - whole]) if whole < n else sums


def row_products(x: Any, y: Any) -> Any:
    """The sums of ``x * y`` along the last dim, by BLAS; both have one shape, or y is one row."""
    n = x.shape[-1]
    if n <= _PIECES * _ROW:
        return _vecdot(x, y)
    whole = n // _ROW * _ROW
    x_rows, y_rows = (a[..., :whole].reshape(*a.shape[:-1], -1, _ROW) for a in (x, y))
    sums = _add(_vecdot(x_rows, y_rows), -1)
    return sums + _vecdot(x[..., whole:], y[..., whole:]) if whole < n else sums


@with_kernel("compiled_rows.row_sums", least=1 << 19)
def _many_row_sums(x: Any) -> Any:
    """``row_sums`` of a large array: many products with ones, each of which BLAS leaves to one thread."""
    n = x.shape[-1]
    if x.size < LARGE >> 2 or x.ndim == 1 or n > _ROW or not x.flags.c_contiguous:
        return row_sums(x)
    flat, ones = x.reshape(-1, n), vector_of_ones(n, x.dtype)
    piece = UNSHARED // n
    whole = len(flat) // piece * piece
    r = np.empty(len(flat), x.dtype)
    pieces, sums = flat[:whole].reshape(-1, piece, n), r[:whole].reshape(-1, piece)
    work = x.nbytes * _SUMMING / 1000
    if single_threaded(work):
        np.matmul(pieces, ones, sums)
    else:
        parallel_slices(
            lambda some: np.matmul(pieces[some], ones, sums[some]), len(pieces), piece * n * x.itemsize, work, 1, 1
        )
    if whole < len(flat):
        flat[whole:].dot(ones, r[whole:])
    return r.reshape(x.shape[:-1])


@in_lib
@with_kernel("compiled_rows.column_sums")
def column_sums(x: Any) -> Any:
    """The sums of a matrix's columns: products with ones, each of which BLAS leaves to one thread."""
    m, n = x.shape
    piece = UNSHARED // max(n, 1)
    if m <= piece:
        return vector_of_ones(m, x.dtype).dot(x)
    if piece < _SHORT or not x.flags.c_contiguous:
        return _add(x, 0)
    whole = m // piece * piece
    sums = _add(np.matmul(vector_of_ones(piece, x.dtype), x[:whole].reshape(-1, piece, n)), 0)
    return sums + vector_of_ones(m - whole, x.dtype).dot(x[whole:]) if whole < m else sums


@plain
def plain_column_sums(lib: Any, x: Any) -> Any:
    return x.sum(0)


@in_lib
def sum_over(x: Any, dim: Any, keepdim: bool = False) -> Any:
    """``numpy.add.reduce``, as precise and three times as fast."""
    if x.ndim == 2 and x.size < MANY and x.dtype in BLAS_FLOATS:  # a product with ones starts faster than a reduction
        if dim == (1,) or dim == 1:
            if 0 < (n := x.shape[1]) <= _FEW:
                r = x.dot(vector_of_ones(n, x.dtype))
                return r[:, None] if keepdim else r
        elif (dim == (0,) or dim == 0) and 0 < (n := len(x)) <= _FEW:
            r = vector_of_ones(n, x.dtype).dot(x)
            return r[None] if keepdim else r
    if x.size < MANY or x.dtype not in BLAS_FLOATS:
        return _add(x, dim, None, None, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim:
        total = reduce_all(np.add, x)
        return np.full((1,) * x.ndim, total) if keepdim else total
    if len(dims) > 1 and dims == tuple(range(x.ndim - len(dims), x.ndim)) and x.flags.c_contiguous:  # as one dim
        r = sum_over(x.reshape(*x.shape[: dims[0]], math.prod(x.shape[dims[0] :])), (dims[0],))
        return r.reshape(r.shape + (1,) * len(dims)) if keepdim else r
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        r = _many_row_sums(x)
        return r[..., None] if keepdim else r
    if len(dims) == 1 and x.shape[dims[0]] > 2 * _BLOCK:
        r = _in_blocks(x, dims[0])
        return np.expand_dims(r, dims[0]) if keepdim else r
    return _add(x, dim, None, None, keepdim)


@plain
def plain_sum_over(lib: Any, x: Any, dim: Any, keepdim: bool = False) -> Any:
    return lib.add.reduce(x, dim, None, None, keepdim)


_BLOCK = 128


def _in_blocks(x: Any, d: int) -> Any:
    """The sum over a dim that is not the last.

    NumPy adds one row after the other, which loses digits in a million rows. Here blocks of rows are summed, then
    their sums likewise, as pairwise summation and PyTorch's cascade do.
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
    whole = dim is None or (type(dim) is tuple and len(dim) == x.ndim)
    if whole and x.size <= _FEW and not keepdim and x.dtype in BLAS_FLOATS:
        flat = x.ravel()
        return flat.dot(flat)
    if x.size < MANY or x.dtype not in BLAS_FLOATS:
        x = x * x
        if x.ndim == 2:
            return sum_over(x, dim, keepdim)
        return _add(x, dim, None, None, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim and x.flags.c_contiguous:
        flat = x.reshape(-1)
        total = np.add.reduce(
            parallel_map(lambda part: row_products(flat[part], flat[part]), cut_parts(flat.shape, LARGE))
        )
        return np.full((1,) * x.ndim, total) if keepdim else total
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        r = row_products(x, x)
        return r[..., None] if keepdim else r
    return sum_over(x * x, dim, keepdim)


@plain
def plain_sum_of_squares(lib: Any, x: Any, dim: Any, keepdim: bool = False) -> Any:
    return lib.add.reduce(x * x, dim, None, None, keepdim)


@in_lib
def sum_of_deviations(x: Any, mean: Any, dim: Any, keepdim: bool = False) -> Any:
    """The sum of ``(x - mean) ** 2`` for real floats; ``mean`` has the reduced dims, of size 1."""
    if x.size < LARGE or x.dtype not in BLAS_FLOATS or not x.flags.c_contiguous:
        return sum_of_squares(x - mean, dim, keepdim)
    dims = _dims_of(dim, x.ndim)
    if len(dims) == x.ndim:
        flat = x.reshape(-1)
        number = mean.reshape(())
        total = np.add.reduce(parallel_map(lambda part: _squares(flat[part] - number), cut_parts(flat.shape, LARGE)))
        return np.full((1,) * x.ndim, total) if keepdim else total
    if dims == (x.ndim - 1,) and x.shape[-1] >= _SHORT:
        n = x.shape[-1]
        flat, means = x.reshape(-1, n), mean.reshape(-1, 1)
        r = np.concatenate(rows(lambda part: _squares(flat[part] - means[part]), len(flat), n))
        return r.reshape(mean.shape if keepdim else x.shape[:-1])
    return sum_of_squares(x - mean, dim, keepdim)


@plain
def plain_sum_of_deviations(lib: Any, x: Any, mean: Any, dim: Any, keepdim: bool = False) -> Any:
    return lib.sum_of_squares(x - mean, dim, keepdim)


def sum_of(body: Any, *arrays: Any) -> Any:
    """The sum of an elementwise body's result, which is never stored as a whole if the arrays are large."""
    parts = None
    if arrays[0].size >= LEAST and kernels() is not None:
        from . import compiled_bodies

        program = fused_body_of(body, arrays)
        total = None if program is None else compiled_bodies.sum_of(program, arrays)
        if total is not None:
            return program.dtypes[0].type(total)
    if arrays[0].size >= LARGE and arrays[0].dtype in BLAS_FLOATS:
        parts = over_blocks(lambda *blocks: row_sums(body(*blocks).reshape(-1)), *arrays)
    return sum_over(body(*arrays), None) if parts is None else np.add.reduce(np.array(parts))


def _squares(x: Any) -> Any:
    return row_products(x, x)


def _dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim)) if dim is None else (dim,) if type(dim) is int else tuple(dim)


@in_lib
def product_of_all(x: Any) -> Any:
    """The product of all elements; many floats are multiplied in columns, as NumPy's loop over one row is serial."""
    if x.size < MANY or x.dtype not in BLAS_FLOATS or not x.flags.c_contiguous:
        return np.multiply.reduce(x, None)
    flat = x.reshape(-1)
    whole = x.size // _ROW * _ROW
    columns = np.multiply.reduce(flat[:whole].reshape(-1, _ROW), 0)
    return np.multiply.reduce(columns) * np.multiply.reduce(flat[whole:])


@plain
def plain_product_of_all(lib: Any, x: Any) -> Any:
    return x.prod()


# ---- normal distribution, error function
# Minimax fits in float32, made for these functions by iterated least squares; the highest power comes first. Where tanh
# is 1, its argument is positive and large.
def _powers(*coefficients: float) -> list[Any]:
    return [np.float32(c) for c in coefficients]


def _polynomial(z: Any, coefficients: list[Any]) -> Any:
    r = z * coefficients[0]
    for c in coefficients[1:-1]:
        r += c
        r *= z
    r += coefficients[-1]
    return r


# P(x) = (1 + tanh(x p(x * x))) / 2, to 3e-8
_NORMAL = _powers(
    1.7561982491918003e-09,
    -1.3226423220971257e-07,
    3.964754465059395e-06,
    -5.5306242305609824e-05,
    -3.259487426261352e-05,
    3.6333084494654735e-02,
    7.978849414756592e-01,
)
# erf(x) = x + x p(x * x) up to 0.9, to 1e-8 of it; farther out tanh(x p(x * x)), to 3e-8
_NEAR = _powers(
    -6.090355455e-04, 5.011961795e-03, -2.677890845e-02, 1.128214076e-01, -3.761252463e-01, 1.2837915122509003e-01
)
_FAR = _powers(
    1.692587688e-07,
    -6.156112249e-06,
    9.060053708e-05,
    -6.269597216e-04,
    -1.867434104e-04,
    1.027723402e-01,
    1.128375768661499,
)
_BORDER = np.float32(0.81)
_HALF = np.float32(0.5)


@in_lib
def normal_cdf(x: Any) -> Any:
    """The probability that a standard normal variable is below x; for many float32 to 1e-7, by NumPy's fast tanh.

    SciPy's erf takes ten times as long.
    """
    if x.size < MANY or x.dtype != np.float32:
        return (lib.scipy_erf(x * math.sqrt(0.5)) + 1) * 0.5
    r = _polynomial(x * x, _NORMAL)
    r *= x
    np.tanh(r, out=r)
    r *= _HALF
    r += _HALF
    if type(x) is Placeholder:
        x.named("normal_cdf", r)
    return r


@plain
def plain_normal_cdf(lib: Any, x: Any) -> Any:
    return (lib.scipy_erf(x * math.sqrt(0.5)) + 1) * 0.5


@in_lib
def error_function(x: Any) -> Any:
    """The error function; for many float32 to two units of the last digit, in a fifth of the time that SciPy takes."""
    if x.size < MANY or x.dtype != np.float32:
        return lib.scipy_erf(x)
    z = x * x
    near = _polynomial(z, _NEAR)
    near *= x
    near += x
    far = _polynomial(z, _FAR)
    far *= x
    np.tanh(far, out=far)
    r = where(z < _BORDER, near, far)
    if type(x) is Placeholder:
        x.named("error_function", r)
    return r


@plain
def plain_error_function(lib: Any, x: Any) -> Any:
    return lib.scipy_erf(x)

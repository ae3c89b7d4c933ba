"""Sums, means and products of arrays in the dtypes that PyTorch adds up in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import BLAS_DTYPES, BOOL, BY_NUMPY, FLOAT32, UINT8
from .._base.registry import plain
from .fused import MANY
from .intp import INTP
from .layouts import in_rows
from .library import in_lib, lib, vector_of_ones

add_reduce: Any = np.add.reduce
TRUE, FALSE = np.True_, np.False_
SMALL = 4096  # elements up to which a filled array is faster than a repeated element
empty = np.empty
FEW = 64  # elements up to which BLAS adds up faster than a pairwise sum and as accurately


def count_of(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """The number of elements that are reduced into one."""
    n = 1
    for d in dims:
        n *= shape[d]
    return n


class _Accumulators(dict[Any, Any]):
    """dtype -> the dtype that PyTorch adds up and multiplies in; ``None`` if it is NumPy's choice."""

    def __missing__(self, dtype: Any) -> Any:
        found: Any = None
        if dtype.kind in "bu" or (dtype.kind == "i" and dtype.itemsize < 8 > INTP.itemsize):
            found = np.dtype(np.int64)
        elif dtype.itemsize == 2 and dtype.kind in "fV":
            found = np.dtype(np.float32)
        self[dtype] = found
        return found


ACCUMULATOR = _Accumulators()


def add_up(lib: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """PyTorch's sum, in NumPy's pairwise order: integers and bools give int64, half precision is added in float32."""
    wide = ACCUMULATOR[x.dtype]
    if wide is None:
        return lib.sum_over(x, dim, keepdim)
    r = lib.add.reduce(x, dim, wide, None, keepdim)
    return r if wide.kind == "i" else r.astype(x.dtype)


@in_lib
def sum_of_all(x: Any) -> Any:
    """See ``sum_all``."""
    n = x.size
    if n <= FEW and x.dtype in BLAS_DTYPES:
        return vector_of_ones(n, x.dtype).dot(x.ravel())
    if ACCUMULATOR[x.dtype] is None:
        return add_reduce(x, None) if n < MANY else lib.sum_over(x, None)
    return add_up(lib, x, None, False)


@plain
def plain_sum_of_all(lib: Any, x: Any) -> Any:
    return add_up(lib, x, None, False)


def multiply_up(lib: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """PyTorch's product: integers and bools give int64, half precision is multiplied in float32."""
    wide = ACCUMULATOR[x.dtype]
    if wide is None:
        if x.size >= MANY and not keepdim and (dim is None or (type(dim) is tuple and len(dim) == x.ndim)):
            return lib.product_of_all(x)
        return lib.multiply.reduce(x, dim, None, None, keepdim)
    r = lib.multiply.reduce(x, dim, wide, None, keepdim)
    return r if wide.kind == "i" else r.astype(x.dtype)


def as_truth(r: Any, x: Any) -> Any:
    wanted = UINT8 if x.dtype is UINT8 else BOOL
    return r if r.dtype is wanted else r.astype(wanted)


_ONES = [vector_of_ones(n, FLOAT32) for n in range(FEW + 1)]


@in_lib
def sum_along(x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """See ``sum_dim``."""
    if len(dim) == 1 and not keepdim and x.dtype is FLOAT32 and x.ndim == 2 and x.size < MANY:  # as ``sum_over`` does
        rows, columns = x.shape
        if dim[0]:
            if 0 < columns <= FEW:
                return x.dot(_ONES[columns])
        elif 0 < rows <= FEW:
            return _ONES[rows].dot(x)
    r = lib.sum_over(x, dim, keepdim) if ACCUMULATOR[x.dtype] is None else add_up(lib, x, dim, keepdim)
    return r if x.flags.c_contiguous else in_rows(r)


@plain
def plain_sum_along(lib: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return add_up(lib, x, dim, keepdim)


def no_mean(what: str, got: str) -> RuntimeError:
    return RuntimeError(
        f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
        f"Got: {got}"
    )


class _MeanAccumulators(dict[Any, Any]):
    """dtype -> the dtype that a mean is added up in, ``None`` for the dtype itself; integers have no mean."""

    def __missing__(self, dtype: Any) -> Any:
        if dtype.kind in "biu":
            raise no_mean("Input", BY_NUMPY[dtype].scalar_name)
        found = self[dtype] = ACCUMULATOR[dtype]
        return found


MEAN_ACCUMULATOR = _MeanAccumulators()


def average(lib: Any, x: Any, dim: Any, count: int, keepdim: bool) -> Any:
    """The mean over dims that hold ``count`` elements together; half precision is added up in float32."""
    wide = MEAN_ACCUMULATOR[x.dtype]
    if wide is None:
        r = lib.sum_over(x, dim, keepdim)
        r = r / lib.NUMBERS[r.dtype][count] if r.ndim else r / count  # NumPy divides arrays by arrays in half the time
    else:
        r = (lib.add.reduce(x, dim, wide, None, keepdim) / count).astype(x.dtype)
    return r if x.flags.c_contiguous or type(x) is not np.ndarray else in_rows(r)


@in_lib
def mean_of_all(x: Any) -> Any:
    """See ``mean_all``."""
    n = x.size
    if 0 < n <= FEW and x.dtype in BLAS_DTYPES:
        return vector_of_ones(n, x.dtype).dot(x.ravel()) / n
    if MEAN_ACCUMULATOR[x.dtype] is None:
        return (add_reduce(x, None) if n < MANY else lib.sum_over(x, None)) / n
    return average(lib, x, None, n, False)


@plain
def plain_mean_of_all(lib: Any, x: Any) -> Any:
    return average(lib, x, None, x.size, False)

"""Variance and mean over dims of an array; covariance and correlation of rows."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, FLOAT32, FLOAT64
from .large import limited
from .library import NUMBERS, vector_of_ones
from .norms_small import row_tables
from .sums import average, count_of, sum_along

_INF = math.inf
_IN_PYTHON = 16  # elements up to which Python's floats take less time than NumPy's functions
FEW = 4096  # float32 elements up to which they are widened, as PyTorch always does: their squares may overflow


def _variance_and_mean_of(lib: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> tuple[Any, Any]:
    """Variance and mean over dims: two passes, each added up pairwise. Half precision and few elements are widened.

    The results are in the wider dtype: see ``narrowed``.
    """
    if x.dtype.itemsize == 2 or (x.dtype.itemsize == 4 and x.size <= FEW):
        return _variance_and_mean_of(
            lib, x.astype(np.float64 if x.size <= FEW else np.float32), dim, correction, keepdim
        )
    n = count_of(x.shape, dim)
    mean = average(lib, x, dim, n, True)
    if x.dtype.kind == "f":
        v = lib.sum_of_deviations(x, mean, dim, keepdim)
    else:
        d = x - mean
        v = lib.add.reduce(d.real * d.real + d.imag * d.imag, dim, None, None, keepdim)
    if n > correction:
        v = v / (n - correction)
    else:  # over zero, without NumPy's warning
        v = lib.where(v > 0, v.dtype.type(np.inf), v.dtype.type(np.nan))
    return v, mean if keepdim else mean.reshape(v.shape)


_SMALL_ROW = 64


def variance(lib: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """``_variance_and_mean_of`` without the mean; few rows or columns use products with tables."""
    if type(x) is not np.ndarray:
        return _variance_and_mean_of(lib, x, dim, correction, keepdim)[0]
    if len(dim) == x.ndim and correction < x.size <= FEW and x.dtype in BLAS_FLOATS:
        v = _variance_and_mean_of_few(x, correction)[0]
        return v.reshape((1,) * x.ndim) if keepdim else v
    if len(dim) == 1 and 0 < x.size <= FEW and x.dtype in BLAS_FLOATS and correction < (n := x.shape[dim[0]]):
        along, columns = dim[0] == x.ndim - 1, x.ndim == 2 and dim[0] == 0
        if n <= _SMALL_ROW if along else columns and n * x.size <= FEW:
            v = _variance_by_tables(x, n, correction, along)
            if v.item(v.argmax()) < _INF:  # else inf - inf, which a table does not show, or too large squares
                return v if not keepdim else v[..., None] if along else v[None]
        if columns:
            v = _variance_of_columns(x, correction)
            return v[None] if keepdim else v
    return _variance_and_mean_of(lib, x, dim, correction, keepdim)[0]


def variance_and_mean(lib: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> tuple[Any, Any]:
    """``_variance_and_mean_of``; few elements are treated as in ``variance``."""
    few = type(x) is np.ndarray and 0 < x.size <= FEW and x.dtype in BLAS_FLOATS
    if not few or not (len(dim) == x.ndim or (x.ndim == 2 and x.shape[dim[0]] > 1)):
        return _variance_and_mean_of(lib, x, dim, correction, keepdim)
    if len(dim) < x.ndim:
        mean = average(lib, x.astype(FLOAT64, copy=False), dim, x.shape[dim[0]], keepdim)
        return variance(lib, x, dim, correction, keepdim), mean
    if not correction < x.size:
        return _variance_and_mean_of(lib, x, dim, correction, keepdim)
    v, mean = _variance_and_mean_of_few(x, correction)
    return (v.reshape((1,) * x.ndim), mean.reshape((1,) * x.ndim)) if keepdim else (v, mean)


def _variance_and_mean_of_few(x: Any, correction: float) -> tuple[Any, Any]:
    """The variance and the mean of all elements."""
    n = x.size
    if n <= _IN_PYTHON:
        values, total = x.ravel().tolist(), 0.0
        center = sum(values) / n
        for value in values:
            value -= center
            total += value * value
        return np.float64(total / (n - correction)), np.float64(center)
    d = x.astype(FLOAT64).ravel()
    mean = vector_of_ones(n, FLOAT64).dot(d) / n
    d -= mean
    return d.dot(d) / (n - correction), mean


@functools.lru_cache(128)
def _shares(n: int, correction: float) -> Any:
    """The weights of n squared deviations, each n times too large, in their variance."""
    return np.full(n, 1 / (n * n * (n - correction)))


def _variance_by_tables(x: Any, n: int, correction: float, along: bool) -> Any:
    """The variance of each row or, not ``along``, of each column of a matrix, by products (see ``norms_small``)."""
    w, centring = x.astype(FLOAT64), row_tables(n, FLOAT64)[1]
    d = w.dot(centring) if along else centring.dot(w)
    d *= d
    weights = _shares(n, correction) if x.dtype is FLOAT32 else vector_of_ones(n, FLOAT64)
    v = d.dot(weights) if along else weights.dot(d)
    if x.dtype is FLOAT64:  # a quotient has more digits than a product with the inverse
        v /= NUMBERS[FLOAT64][float(n * n * (n - correction))]
    return v


def _variance_of_columns(x: Any, correction: float) -> Any:
    """The variance of each column of a small matrix."""
    n = len(x)
    x = x.astype(FLOAT64, copy=False)
    ones = vector_of_ones(n, FLOAT64)
    mean = ones.dot(x)
    mean /= NUMBERS[FLOAT64][float(n)]
    d = x - mean
    d *= d
    v = ones.dot(d)
    v /= NUMBERS[FLOAT64][float(n - correction)]
    return v


def narrowed(r: Any, dtype: Any) -> Any:
    if type(r) is np.float64:  # a scalar: NumPy converts an array faster
        return r if dtype is FLOAT64 else dtype.type(r)
    return r if r.dtype is dtype else r.astype(dtype)


def covariance(x: Any, correction: int, dtype: Any) -> Any:
    """The covariance matrix of the rows of a small array in ``dtype``, by the steps of ``cov``."""
    rows = x if x.ndim == 2 else x.reshape(1, x.size)
    n = rows.shape[1]
    mean = sum_along(rows, (1,), True)
    if x.dtype is not dtype:
        mean, rows = mean.astype(dtype), rows.astype(dtype)
    mean = mean / NUMBERS[dtype][n]
    rows = rows - mean
    r = rows.dot(rows.T)
    r /= NUMBERS[dtype][n - correction]
    return r if len(r) > 1 else r.reshape(())


def correlation(c: Any) -> Any:
    """The correlation matrix of a covariance matrix, by the steps of ``corrcoef``."""
    deviations = np.sqrt(c.diagonal())
    r = c / deviations[:, None]
    r /= deviations
    return limited(r, -1, 1)

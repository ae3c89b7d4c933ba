"""Layer and group norm of small inputs, whose time depends on the number of NumPy calls.

Sums are products with tables, which give each sum at every element of a row, so that the next step need not broadcast
(``SQUARES_OF_ONES``). With n elements in a row, ``n I - 1`` maps a row x to n x - sum(x), which is n times the row
minus its mean. The tables hold whole numbers and the forward pass is in float64: equal float32 numbers minus their mean
are zero.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, FLOAT64
from .library import SQUARES_OF_ONES, vector_of_ones

_ROW, _ELEMENTS = 64, 65536  # elements of a row, and multiplications in a product, up to which this is the faster way


def suits(x: Any, view: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether an input, seen as ``view`` and standardised over ``dims`` of it, is small.

    BLAS takes a product with a table of one zero for zero, whatever it multiplies.
    """
    return dims == (1,) and 1 < view[1] <= _ROW and 0 < x.size * view[1] <= _ELEMENTS and x.dtype in BLAS_FLOATS


@functools.lru_cache(128)
def row_tables(n: int, dtype: Any) -> tuple[Any, Any]:
    """Square tables that map a row to its sum at each element, and to n times the row minus its mean."""
    centring = np.full((n, n), -1, dtype)
    centring.reshape(-1)[:: n + 1] += n
    centring.flags.writeable = False
    return SQUARES_OF_ONES[dtype][n], centring


@functools.lru_cache(128)
def _constants(n: int, eps: float) -> tuple[Any, Any, Any]:
    """The constants of ``standardized``: the table that centres, that of 1 / n, and eps for n times a deviation."""
    averages = np.full((n, n), 1 / n)
    averages.flags.writeable = False
    return row_tables(n, FLOAT64)[1], averages, np.array(eps * (n * n))


def standardized(x: Any, eps: float) -> tuple[Any, Any]:
    """Each row minus its mean, divided by its deviation; and n times the deviations at each element, in float64."""
    centring, averages, squared_eps = _constants(x.shape[1], eps)
    z = x.astype(FLOAT64).dot(centring)
    deviation = (z * z).dot(averages)
    deviation += squared_eps
    np.sqrt(deviation, deviation)
    z /= deviation
    return z if x.dtype is FLOAT64 else z.astype(x.dtype), deviation


def cotangent(h: Any, z: Any, deviation: Any) -> Any:
    """The cotangent of the input from that of the standardised rows z."""
    ones, centring = row_tables(z.shape[1], z.dtype)
    slope = (z * h).dot(ones)
    slope *= z
    r = h.dot(centring)
    r -= slope
    r /= deviation.astype(r.dtype, copy=False)
    return r


def _filled(shape: Any, values: Any, along: Any) -> Any:
    """A new array in which weights are repeated: NumPy's copy is faster than broadcasting in an operation."""
    r = np.empty(shape, values.dtype)
    r[...] = values if values.shape == along else values.reshape(along)
    return r


def norm(x: Any, view: Any, weight: Any, bias: Any, eps: float, along: Any) -> tuple[Any, Any]:
    """The rows of a view standardised, scaled and shifted along the weights' dims; and values for ``cotangents``."""
    shape = x.shape
    z, deviation = standardized(x if shape == view else x.reshape(view), eps)
    r = z if shape == view else z.reshape(shape)
    weights = None
    if weight is not None:
        weights = _filled(shape, weight, along)
        r = r * weights
    if bias is not None:
        biases = _filled(shape, bias, along)
        r = np.add(r, biases, biases)
    elif weight is None:
        r = r.copy()
    return r, (z, deviation, weights, x, weight)


def cotangents(g: Any, x: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, along: Any, found: Any) -> Any:
    """The cotangents of input, weight and bias."""
    z, deviation, weights, seen, seen_weight = found
    gx = gw = gb = None
    shape = g.shape
    if x is not seen:  # the program has replaced the input's memory, as ``x.data = ...`` does: the mean remains
        mean = seen.reshape(view).mean(1, dtype=FLOAT64, keepdims=True)
        z = ((x.reshape(view) - mean) / deviation * view[1]).astype(z.dtype)
    if weight is not seen_weight:
        weights = _filled(shape, weight, along)
    if needs[0]:
        h = g if weights is None else g * weights
        gx = cotangent(h if shape == view else h.reshape(view), z, deviation)
        if shape != view:
            gx = gx.reshape(shape)
    if shape == view and along == view[1:]:  # layer norm of a matrix
        ones = vector_of_ones(view[0], z.dtype)
        return gx, ones.dot(g * z) if needs[1] else None, ones.dot(g) if needs[2] else None
    if needs[1]:
        gw = _along(g * (z if shape == view else z.reshape(shape)), along, weight.shape)
    if needs[2]:
        gb = _along(g, along, bias_shape)
    return gx, gw, gb


def _along(x: Any, along: Any, shape: Any) -> Any:
    """The sums over all dims but those of the weights."""
    k = len(along)
    if x.shape[-k:] == along:
        rows = x.size // math.prod(along)
        r = vector_of_ones(rows, x.dtype).dot(x.reshape(rows, -1))
    else:
        r = np.add.reduce(x, (0, *range(2, x.ndim)))
    return r if r.shape == shape else r.reshape(shape)

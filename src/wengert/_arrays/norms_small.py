"""Layer and group norm of small inputs, where the number of NumPy's calls is what counts.

Sums are products with tables, which give them at every element of a row, so that what follows need not broadcast
(``table_of_ones``). With n elements to a row, ``n I - 1`` makes n x - sum(x) of a row x, n times what is left without
its mean. The tables are of whole numbers and the forward pass is in float64: equal float32 less their mean are zero.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, FLOAT64
from .library import table_of_ones, vector_of_ones

_ROW, _ELEMENTS = 64, 65536  # elements of a row, and multiplications in a product, up to which this is the faster way


def suits(x: Any, view: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether an input, seen as ``view`` and standardised over ``dims`` of it, is small."""
    return dims == (1,) and 0 < view[1] <= _ROW and 0 < x.size * view[1] <= _ELEMENTS and x.dtype in BLAS_FLOATS


@functools.lru_cache(128)
def row_tables(n: int, dtype: Any) -> tuple[Any, Any]:
    """Squares by which a row becomes its sum at each element, and n times itself less its mean."""
    centring = np.full((n, n), -1, dtype)
    centring.reshape(-1)[:: n + 1] += n
    centring.flags.writeable = False
    return table_of_ones(n, n, dtype), centring


@functools.lru_cache(128)
def _constants(n: int, eps: float) -> tuple[Any, Any, Any]:
    """What ``standardized`` needs: the table that centres, that of 1 / n, and eps for n times a deviation."""
    averages = np.full((n, n), 1 / n)
    averages.flags.writeable = False
    return row_tables(n, FLOAT64)[1], averages, np.array(eps * (n * n))


def standardized(x: Any, eps: float) -> tuple[Any, Any]:
    """Each row less its mean, over its deviation; and n times the deviations at each element, in float64."""
    centring, averages, squared_eps = _constants(x.shape[1], eps)
    z = x.astype(FLOAT64).dot(centring)
    deviation = (z * z).dot(averages)
    deviation += squared_eps
    np.sqrt(deviation, deviation)
    z /= deviation
    return z.astype(x.dtype, copy=False), deviation


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
    """A new array in which weights are repeated: NumPy copies them sooner than it broadcasts in an operation."""
    r = np.empty(shape, values.dtype)
    r[...] = values if values.shape == along else values.reshape(along)
    return r


def norm(x: Any, view: Any, weight: Any, bias: Any, eps: float, along: Any) -> tuple[Any, Any]:
    """The rows of a view standardised, scaled and shifted along the dims of weights; and what ``cotangents`` needs."""
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
    return r, (z, deviation, weights)


def cotangents(g: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, along: Any, found: Any) -> Any:
    """The cotangents of input, weight and bias."""
    z, deviation, weights = found
    gx = gw = gb = None
    shape = g.shape
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

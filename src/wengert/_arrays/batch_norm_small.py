"""Batch norm of small inputs, whose time depends on the number of NumPy calls.

A channel is a row of a matrix, in float64, whose sums are products with ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, FLOAT64
from .library import NUMBERS, vector_of_ones

_SMALL = 4096
_NUMBERS = NUMBERS[FLOAT64]


def suits(x: Any) -> bool:
    """Whether an input is small."""
    return 0 < x.size <= _SMALL and x.dtype in BLAS_FLOATS


def _rows(x: Any, view: Any) -> Any:
    """The input, seen as ``(N, C, M)``, as a matrix ``(C, N M)``."""
    n, c, m = view
    return x.reshape(view).swapaxes(0, 1).astype(FLOAT64, "C").reshape(c, n * m)


def _given(rows: Any, view: Any, like: Any) -> Any:
    """The inverse of ``_rows``, in the shape and dtype of another array."""
    n, c, m = view
    return rows.reshape(c, n, m).swapaxes(0, 1).astype(like.dtype, "C").reshape(like.shape)


def norm(x: Any, weight: Any, bias: Any, view: Any, eps: float) -> tuple[Any, list[Any]]:
    """The channels standardised, scaled and shifted; and mean, inverse deviation, variance, x and standardised rows."""
    rows = _rows(x, view)
    count = rows.shape[1]
    number = _NUMBERS[float(count)]
    mean = rows.dot(vector_of_ones(count, FLOAT64))
    mean /= number
    rows -= mean[:, None]
    var = np.vecdot(rows, rows)
    var /= number
    scale = var + _NUMBERS[eps]
    np.sqrt(scale, scale)
    np.reciprocal(scale, scale)
    rows *= scale[:, None]
    r = rows
    if weight is not None:
        r = rows * weight[:, None]
    if bias is not None:
        r = np.add(r, bias[:, None], None if r is rows else r)
    return _given(r, view, x), [mean, scale, var, x, rows]


def cotangents(g: Any, x: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, stats: Any) -> Any:
    """The cotangents of input, weight and bias."""
    mean, scale, _, seen, rows = stats
    if x is not seen:  # the program has replaced the input's memory, as ``x.data = ...`` does
        rows = (_rows(x, view) - mean[:, None]) * scale[:, None]
    h = _rows(g, view)
    total = h.dot(vector_of_ones(h.shape[1], FLOAT64))
    product = np.vecdot(h, rows)
    gw = product.astype(weight.dtype).reshape(weight.shape) if needs[1] else None
    gb = total.astype(x.dtype).reshape(bias_shape) if needs[2] else None
    if not needs[0]:
        return None, gw, gb
    number = _NUMBERS[float(h.shape[1])]
    total /= number
    product /= number
    tilt = rows * product[:, None]
    tilt += total[:, None]
    h -= tilt
    h *= (scale if weight is None else scale * weight)[:, None]
    return _given(h, view, x), gw, gb


def by_statistics(x: Any, mean: Any, var: Any, weight: Any, bias: Any, view: Any, eps: float) -> Any:
    """Each channel shifted and scaled by given statistics, then by weight and bias: vectors."""
    factor = var + NUMBERS[var.dtype][eps]
    np.sqrt(factor, factor)
    np.reciprocal(factor, factor)
    if weight is not None:
        factor = factor * weight
    shift = mean * factor
    shift = -shift if bias is None else bias - shift
    r = x.reshape(view) * factor[:, None]
    r = np.add(r, shift[:, None], r)
    r = r.reshape(x.shape)
    return r if r.dtype is x.dtype else r.astype(x.dtype)

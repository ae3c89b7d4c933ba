"""Layer and group norm of large inputs: by blocks of samples, so that all passes over a block find it in the cache.

Layer norm has rows, with a weight for each column. A sample of group norm is a matrix of channels and positions, with
a weight for each channel; its groups of channels are standardised one by one. The weights' cotangents are the sums of
those of the blocks.

With c = x - mean, s the inverse deviation, h the cotangent times the weight and n elements, the cotangent of the input
is ``s (h - sum(h) / n - c s^2 sum(c h) / n)``. A sum over c equals the sum over x minus the mean times the sum over 1,
so c itself is needed only if the mean is so much larger than the deviation that digits would be lost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import intp
from .blas import UNSHARED_PRODUCT
from .large import row_products, row_sums
from .threads import LARGE, rows

_SHORT = 128  # NumPy has a cost for each row: shorter groups are faster in whole passes
FAR = 4.0  # deviations between mean and zero from which sums of x itself are not precise enough
_add: Any = np.add.reduce


def suits(x: Any, view: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether an input, seen as ``view`` and standardised over ``dims`` of it, is worth blocks."""
    return bool(x.size >= LARGE and dims == (1,) and view[1] >= _SHORT and x.flags.c_contiguous)


def _has_weights_by_column(shape: tuple[int, ...], view: tuple[int, ...], along: tuple[int, ...]) -> bool:
    """Whether it is layer norm; group norm of one group and one position is the same."""
    return shape[-len(along) :] == along and view[1] == math.prod(along)


def _samples(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Samples, channels and positions of group norm."""
    return shape[0], shape[1], math.prod(shape[2:])


def forward(x: Any, weight: Any, bias: Any, view: Any, eps: float, along: Any) -> tuple[Any, Any, Any, Any]:
    """The result, the means, the inverse deviations and the variances."""
    result = np.empty(x.shape, x.dtype)
    mean, scale, var = (np.empty((view[0], 1), x.dtype) for _ in range(3))
    n = view[1]
    by_column = _has_weights_by_column(x.shape, view, along)
    samples, channels, positions = (view[0], 1, n) if by_column else _samples(x.shape)
    groups = channels * positions // n
    flat, out = x.reshape(view), result.reshape(view)
    if by_column:
        weight, bias = (None if t is None else t.reshape(-1) for t in (weight, bias))

    def block(part: slice) -> None:
        here = slice(part.start * groups, part.stop * groups)
        r, s = out[here], scale[here]
        m = np.divide(row_sums(flat[here])[:, None], n, mean[here])
        np.subtract(flat[here], m, r)
        _inverse_deviation(r, var[here], s, eps)
        if _is_far(m, s):  # the sum of large numbers has lost digits that count
            rest = row_sums(r)[:, None] / n
            np.subtract(r, rest, r)
            m += rest
            _inverse_deviation(r, var[here], s, eps)
        if by_column:
            np.multiply(r, s, r)
            if weight is not None:
                np.multiply(r, weight, r)
            if bias is not None:
                np.add(r, bias, r)
            return
        r = r.reshape(-1, positions)
        np.multiply(r, _for_channels(s, weight, groups, channels), r)
        if bias is not None:
            np.add(r, np.tile(bias, part.stop - part.start)[:, None], r)

    rows(block, samples, channels * positions)
    return result, mean, scale, var


def _inverse_deviation(r: Any, var: Any, scale: Any, eps: float) -> None:
    """Fill in the variances of centred rows and the inverse deviations."""
    np.divide(row_products(r, r)[:, None], r.shape[1], var)
    np.sqrt(np.add(var, eps, scale), scale)
    np.reciprocal(scale, scale)


def _is_far(m: Any, s: Any) -> bool:
    """Whether some mean is so many deviations from zero that digits are lost."""
    return not np.maximum.reduce(abs(m * s), None) <= FAR


def _for_channels(column: Any, weight: Any, groups: int, channels: int) -> Any:
    """A number for each group, times the weight of each channel: a column with an element for each channel."""
    r = intp.repeat(column.reshape(-1, groups), channels // groups, 1)
    if weight is not None:
        r *= weight
    return r.reshape(-1, 1)


def backward(g: Any, x: Any, weight: Any, needs: Any, view: Any, along: Any, mean: Any, scale: Any) -> Any:
    """The cotangents of input, weight and bias."""
    g = np.ascontiguousarray(g)
    result = np.empty(x.shape, x.dtype)
    if _has_weights_by_column(x.shape, view, along):
        flat = [a.reshape(view) for a in (result, g, x)]
        parts = _backward_of_rows(flat, weight, needs, mean, scale)
    else:
        parts = _backward_of_groups(result, g, x, weight, view, mean, scale)
    gw = _add([p[0] for p in parts]) if needs[1] else None
    gb = _add([p[1] for p in parts]) if needs[2] else None
    return (result if needs[0] else None), gw, gb


def _centred(x: Any, m: Any, s: Any) -> tuple[Any, Any]:
    """x and its mean, or x less its mean and zero."""
    return (x - m, np.zeros_like(m)) if _is_far(m, s) else (x, m)


def _backward_of_rows(arrays: list[Any], weight: Any, needs: Any, mean: Any, scale: Any) -> list[Any]:
    result, g, x = arrays
    n = x.shape[1]
    if weight is not None:
        weight = weight.reshape(-1)

    def block(part: slice) -> tuple[Any, Any]:
        s, r = scale[part], result[part]
        c, m = _centred(x[part], mean[part], s)
        h = np.multiply(g[part], s)
        product = np.multiply(c, h, r)
        beside = np.ones((2, len(h)), h.dtype)
        beside[1] = m[:, 0]
        gw = beside.dot(product)[0] - beside.dot(h)[1] if needs[1] else None
        gb = beside.dot(g[part])[0] if needs[2] else None
        if not needs[0]:
            return gw, gb
        if weight is None:
            slope, shift = row_sums(product), row_sums(h)
        else:
            slope, shift = row_products(product, weight), row_products(h, weight)
            np.multiply(h, weight, h)
        slope, shift = _coefficients(slope[:, None], shift[:, None], m, s, n)
        np.multiply(c, slope, r)
        np.subtract(h, r, r)
        np.subtract(r, shift, r)
        return gw, gb

    return rows(block, len(x), n, UNSHARED_PRODUCT >> 1)  # each gives sums, by products with two rows


def _coefficients(slope: Any, shift: Any, m: Any, s: Any, n: int) -> tuple[Any, Any]:
    """The coefficients of x and of 1 in the term subtracted from the cotangent, which is weighted and scaled by s.

    ``slope`` and ``shift``: the sums over x times that cotangent, and over the cotangent.
    """
    slope = slope - m * shift
    slope *= s * s / n
    return slope, shift / n - m * slope


def _backward_of_groups(result: Any, g: Any, x: Any, weight: Any, view: Any, mean: Any, scale: Any) -> list[Any]:
    samples, channels, positions = _samples(x.shape)
    n = view[1]
    groups = channels * positions // n
    flat, cotangents, out = (a.reshape(samples * channels, positions) for a in (x, g, result))

    def block(part: slice) -> tuple[Any, Any]:
        here = slice(part.start * channels, part.stop * channels)
        means, s = (a[part.start * groups : part.stop * groups] for a in (mean, scale))
        m = _for_channels(means, None, groups, channels)
        c, m = _centred(flat[here], m, _for_channels(s, None, groups, channels))
        means = m.reshape(len(s), -1)[:, :1]
        h = cotangents[here]
        products, totals = row_products(c, h)[:, None], row_sums(h)[:, None]
        of_weight = ((products - m * totals).reshape(len(s), -1) * s).reshape(-1, channels)
        weights = _for_channels(np.ones_like(s), weight, groups, channels)
        slope, shift = (_add((a * weights).reshape(len(s), -1), 1)[:, None] for a in (products, totals))
        slope *= s
        shift *= s
        slope, shift = (_for_channels(a, None, groups, channels) for a in _coefficients(slope, shift, means, s, n))
        r = np.multiply(c, slope, out[here])
        np.add(r, shift, r)
        np.subtract(h * _for_channels(s, weight, groups, channels), r, r)
        return _add(of_weight, 0), _add(totals.reshape(-1, channels), 0)

    return rows(block, samples, channels * positions, 1 << 18)  # each gives sums

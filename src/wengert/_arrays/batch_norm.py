"""Normalisation by channel, on arrays seen as ``(N, C, M)``.

The forward pass has two steps, each of which needs the whole of the step before: the sums of elements and squares, and
the result. Each step goes block by block, so that it reads each block from memory once. The backward pass has two
steps as well. Small inputs go to ``batch_norm_small``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.registry import plain
from . import batch_norm_small
from .compiled import FEWEST, with_kernel
from .large import row_products, row_sums
from .library import in_lib
from .norms import widened
from .threads import LARGE, among_rows, parallel_map

View = tuple[int, int, int]
_BLOCK = 1 << 18  # elements of a block: with smaller ones, two threads meet too often
_FEW = 4096  # up to this many numbers are summed in float64
_NEAR, _NEAR_WIDENED = 4, 1e6  # a mean is not large if its square is at most this many times the variance
_SAMPLES, _SHORT = 4, 1024  # rows up to this length are short if there are at least as many samples


def _parts(view: View) -> list[tuple[slice, slice]]:
    """Samples and channels of each block."""
    n, c, m = view
    if n * c * m < LARGE << 1:  # two threads gain less than waking one costs
        return [(slice(0, n), slice(0, c))]
    rows = max(_BLOCK // m, 1)
    samples, channels = max(rows // c, 1), -(-c // -(-c // rows))
    return [
        (slice(i, i + samples), slice(j, j + channels)) for i in range(0, n, samples) for j in range(0, c, channels)
    ]


def _row_sums(x: Any) -> Any:
    """The sums ``(N, C)`` over the last dimension."""
    n, c, m = x.shape
    return x.reshape(n, c) if m == 1 else row_sums(x)


def _row_products(x: Any, y: Any) -> Any:
    """The sums ``(N, C)`` of ``x * y`` over the last dimension."""
    return (x * y).reshape(x.shape[:2]) if x.shape[2] == 1 else row_products(x, y)


def _sums(of_rows: Any, parts: Any, view: View) -> Any:
    """The two arrays ``(N, C)`` that ``of_rows`` returns for each part, summed over the samples in float64."""
    if len(parts) == 1:
        return [np.add.reduce(rows, 0, np.float64) for rows in of_rows(parts[0])]
    rows = np.empty((2, *view[:2]))

    def work(part: Any) -> None:
        rows[0][part], rows[1][part] = of_rows(part)

    parallel_map(work, parts)
    return np.add.reduce(rows, 1)


def _in_parts(work: Any, parts: Any, view: View) -> None:
    """Run ``work`` on each part, on threads, with NumPy's loops over rows."""
    if len(parts) == 1:
        work(parts[0])
    else:
        among_rows(view[2], lambda: parallel_map(work, parts))


def _moments(x: Any, parts: Any, view: View) -> tuple[Any, Any, Any]:
    """Mean and variance of each channel, and the center ``(C, 1)`` to subtract before multiplications.

    The center is the rounded mean, or ``None`` if no mean is large compared with its deviation.

    One pass over the data computes the sums of the elements and of their squares, for few numbers in float64. If means
    are too large for that, a second pass sums the squares of the deviations.
    """
    count = max(view[0] * view[2], 1)
    y = x.astype(np.float64) if x.size <= _FEW else x

    def of_rows(part: Any) -> Any:
        block = y[part]
        return _row_sums(block), _row_products(block, block)

    total, squares = _sums(of_rows, parts, view)
    mean = total / count
    square = squares / count
    shift = mean * mean
    var = square - shift
    if np.logical_and.reduce(shift <= _NEAR * var):
        return mean, var, None
    center = mean.astype(x.dtype)[:, None]
    if y.dtype is not x.dtype and np.logical_and.reduce(shift <= _NEAR_WIDENED * var):
        return mean, var, center

    def of_deviations(part: Any) -> Any:
        block = x[part] - center[part[1]]
        return _row_sums(block), _row_products(block, block)

    total, squares = _sums(of_deviations, parts, view)
    rest = total / count
    return center[:, 0] + rest, squares / count - rest * rest, center


def _beside(values: Any, x: Any) -> list[Any]:
    """Each row of values, with one value per channel, in a form that broadcasts against ``x``, which is ``(N, C, M)``.

    Short rows are written out once, so that NumPy's loops go over whole samples.
    """
    n, c, m = x.shape
    values = np.array(values, x.dtype)[:, :, None]
    if n < _SAMPLES or not 1 < m <= _SHORT:
        return list(values)
    tables = np.empty((len(values), c, m), x.dtype)
    tables[...] = values
    return list(tables)


def _scaled_and_shifted(x: Any, center: Any, factor: Any, shift: Any, parts: Any, r: Any) -> None:
    """Write ``(x - center) * factor + shift``, by channel, into r."""
    factor, shift = _beside((factor, shift), x)

    def work(part: Any) -> None:
        out, block = r[part], x[part]
        if center is not None:
            block = np.subtract(block, center[part[1]], out)
        np.multiply(block, factor[part[1]], out)
        np.add(out, shift[part[1]], out)

    _in_parts(work, parts, x.shape)


@in_lib
def normalized_channels(input: Any, weight: Any, bias: Any, view: View, eps: float, stats: Any) -> Any:
    """Each channel standardised, scaled and shifted.

    The list ``stats`` receives the mean, inverse deviation and variance in float64, and the center from ``_moments``.
    """
    if batch_norm_small.suits(input):
        r, found = batch_norm_small.norm(input, weight, bias, view, eps)
        if stats is not None:
            stats[:] = found
        return r
    return _normalized_channels(input, weight, bias, view, eps, stats)


@with_kernel("compiled_rows.channels", least=FEWEST)
def _normalized_channels(input: Any, weight: Any, bias: Any, view: View, eps: float, stats: Any) -> Any:
    x = np.ascontiguousarray(widened(input)).reshape(view)
    parts = _parts(view)
    mean, var, center = _moments(x, parts, view)
    scale = 1 / np.sqrt(var + eps)
    if stats is not None:
        stats[:] = [mean, scale, var, center]
    factor = scale if weight is None else scale * weight
    shift = (-mean if center is None else center[:, 0] - mean) * factor
    if bias is not None:
        shift += bias
    r = np.empty(input.shape, x.dtype)
    _scaled_and_shifted(x, center, factor, shift, parts, r.reshape(view))
    return r.astype(input.dtype, copy=False)


@plain
def plain_normalized_channels(lib: Any, input: Any, weight: Any, bias: Any, view: View, eps: float, stats: Any) -> Any:
    along = (view[1], 1)
    return lib.normalized(input.reshape(view), weight, bias, view, (0, 2), eps, along, None).reshape(input.shape)


@in_lib
def channel_cotangents(g: Any, input: Any, weight: Any, bias_shape: Any, needs: Any, view: View, stats: Any) -> Any:
    """The cotangents of input, weight and bias from the statistics that the forward pass left."""
    if len(stats) == 5:
        return batch_norm_small.cotangents(g, input, weight, bias_shape, needs, view, stats)
    return _channel_cotangents(g, input, weight, bias_shape, needs, view, stats)


@with_kernel("compiled_rows.channel_cotangents", 1, FEWEST)
def _channel_cotangents(g: Any, input: Any, weight: Any, bias_shape: Any, needs: Any, view: View, stats: Any) -> Any:
    x, g = (np.ascontiguousarray(widened(a)).reshape(view) for a in (input, g))
    mean, scale, _, center = stats
    parts = _parts(view)

    def of_rows(part: Any) -> Any:
        block, given = x[part], g[part]
        return _row_sums(given), _row_products(block if center is None else block - center[part[1]], given)

    total, product = _sums(of_rows, parts, view)
    left = mean if center is None else mean - center[:, 0]
    product -= left * total
    gw = (product * scale).reshape(weight.shape).astype(weight.dtype, copy=False) if needs[1] else None
    gb = total.reshape(bias_shape).astype(input.dtype, copy=False) if needs[2] else None
    if not needs[0]:
        return None, gw, gb
    count = max(view[0] * view[2], 1)
    tilt = product * scale * scale / -count
    offset = left * tilt + total / count
    gx = np.empty(input.shape, x.dtype)
    _tilted(x, g, center, tilt, offset, scale if weight is None else scale * weight, parts, gx.reshape(view))
    return gx.astype(input.dtype, copy=False), gw, gb


def _tilted(x: Any, g: Any, center: Any, tilt: Any, offset: Any, factor: Any, parts: Any, r: Any) -> None:
    """Write ``((x - center) * tilt + g - offset) * factor``, by channel, into r."""
    tilt, offset, factor = _beside((tilt, offset, factor), x)

    def work(part: Any) -> None:
        c = part[1]
        out, block = r[part], x[part]
        if center is not None:
            block = np.subtract(block, center[c], out)
        np.multiply(block, tilt[c], out)
        np.add(out, g[part], out)
        np.subtract(out, offset[c], out)
        np.multiply(out, factor[c], out)

    _in_parts(work, parts, x.shape)


@in_lib
def channels_by_statistics(input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each channel shifted and scaled by given statistics, then by weight and bias."""
    n, c = input.shape[:2]
    view = (n, c, math.prod(input.shape[2:]))
    if batch_norm_small.suits(input) and mean.ndim == var.ndim == 1:
        return batch_norm_small.by_statistics(input, mean, var, weight, bias, view, eps)
    x = np.ascontiguousarray(widened(input)).reshape(view)
    factor = 1 / np.sqrt(var + eps)
    if weight is not None:
        factor = factor * weight
    shift = -mean * factor
    if bias is not None:
        shift = shift + bias
    r = np.empty(input.shape, x.dtype)
    _scaled_and_shifted(x, None, factor, shift, _parts(view), r.reshape(view))
    return r.astype(input.dtype, copy=False)


@plain
def plain_channels_by_statistics(lib: Any, input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    x = widened(input).reshape(*input.shape[:2], -1)
    factor = 1 / lib.sqrt(var + eps)
    factor = factor if weight is None else factor * weight
    shift = -mean * factor
    shift = shift if bias is None else shift + bias
    r = x * factor[..., None] + shift[..., None]
    return r.reshape(input.shape).astype(input.dtype, copy=False)

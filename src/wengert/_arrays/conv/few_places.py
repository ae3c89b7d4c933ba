"""The three products of convolution for few places and many channels.

With few places per sample a window's rows are too short to copy fast and its columns too few for BLAS. With the
channels last, a window is a few long runs of memory, and the places of many samples are the rows of one matrix.
``c`` is the ``_Convolution`` of ``products``.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from ..blas import over_samples
from . import columns
from .columns import Ints

_MANY_BYTES = 1 << 22  # bytes of such a matrix


def _over_many(work: Any, c: Any) -> list[Any]:
    """``work(slice)`` for groups of samples, enough that their windows make a matrix of a good size."""
    most = max(1, _MANY_BYTES // (c.places * c.width * c.dtype.itemsize))

    def part(mine: slice) -> list[Any]:
        return [work(slice(i, min(i + most, mine.stop))) for i in range(mine.start, mine.stop, most)]

    return list(itertools.chain(*over_samples(part, c.samples, c.work)))


def _last(x: Any, padding: Ints) -> Any:
    """``(N, C, *size)`` as a contiguous ``(N, *size, C)`` with zeros around."""
    moved = np.moveaxis(x, 1, -1)
    if not any(padding):
        return np.ascontiguousarray(moved)
    size = moved.shape[1:-1]
    r: Any = np.zeros((len(x), *(n + 2 * p for n, p in zip(size, padding, strict=True)), x.shape[1]), x.dtype)
    r[(slice(None), *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))] = moved
    return r


def _filters_last(weight: Any) -> Any:
    """``(O, C, *kernel)`` as a matrix ``(O, kernel C)``."""
    return np.moveaxis(weight, 1, -1).reshape(len(weight), -1)


def _rows(x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """The windows of a contiguous ``(N, *size, C)`` as the rows of a matrix ``(N places, kernel C)``."""
    steps = x.strides
    inner = steps[1:-1]
    view = np.ndarray(
        (len(x), *out, *kernel, x.shape[-1]),
        x.dtype,
        x,
        0,
        (
            steps[0],
            *(s * t for s, t in zip(inner, stride, strict=True)),
            *(s * d for s, d in zip(inner, dilation, strict=True)),
            steps[-1],
        ),
    )
    return view.reshape(len(x) * math.prod(out), -1)


def convolve(c: Any, x: Any, weight: Any) -> Any:
    filters = _filters_last(weight).T
    y: Any = np.empty((c.samples, c.filters, *c.out), c.dtype)

    def work(some: slice) -> None:
        rows = _rows(_last(x[some], c.padding), c.kernel, c.stride, c.dilation, c.out)
        y[some] = np.moveaxis(rows.dot(filters).reshape(-1, *c.out, c.filters), -1, 1)

    _over_many(work, c)
    return y


def convolve_input(c: Any, g: Any, weight: Any) -> Any:
    filters = _filters_last(weight)
    r: Any = np.empty((c.samples, c.channels, *c.size), c.dtype)
    whole = [n + 2 * p for n, p in zip(c.size, c.padding, strict=True)]
    inside = [slice(p, p + n) for n, p in zip(c.size, c.padding, strict=True)]

    def work(some: slice) -> None:
        rows = _last(g[some], (0,) * len(c.out)).reshape(-1, c.filters).dot(filters)
        parts = rows.reshape(-1, *c.out, *c.kernel, c.channels)
        image = np.zeros((len(parts), *whole, c.channels), c.dtype)
        for offset, place in columns.places_of(c.kernel, c.out, c.stride, c.dilation):
            image[(slice(None), *place)] += parts[(slice(None),) * (len(c.out) + 1) + offset]
        r[some] = np.moveaxis(image[(slice(None), *inside)], -1, 1)

    _over_many(work, c)
    return r


def convolve_weight(c: Any, x: Any, g: Any) -> Any:
    def work(some: slice) -> Any:
        rows = _rows(_last(x[some], c.padding), c.kernel, c.stride, c.dilation, c.out)
        return _last(g[some], (0,) * len(c.out)).reshape(-1, c.filters).T.dot(rows)

    r = functools.reduce(operator.iadd, _over_many(work, c)).reshape(c.filters, *c.kernel, c.channels)
    return np.ascontiguousarray(np.moveaxis(r, -1, 1))

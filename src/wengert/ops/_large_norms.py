"""Layer and group norm of large inputs: by blocks of samples, so that all passes over a block find it in the cache.

A sample is a matrix of channels and positions (of layer norm a row, whose elements are the channels); its groups are
standardised one by one. The weights' cotangents are the sums of those of the blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._backends.large import row_products, row_sums
from .._backends.numpy import vector_of_ones
from .._blocks import LARGE, rows

_SHORT = 128  # NumPy starts anew for each row: shorter groups are better off in whole passes


def suits(x: Any, view: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """Whether an input, seen as ``view`` and standardised over ``dims`` of it, is worth blocks."""
    return bool(x.size >= LARGE and dims == (1,) and view[1] >= _SHORT and x.flags.c_contiguous)


@dataclass(frozen=True)
class _Samples:
    """How an input lies: ``(samples, channels, positions)``, and the length of a group; weights belong to channels."""

    shape: tuple[int, int, int]
    length: int

    @property
    def size(self) -> int:
        return self.shape[1] * self.shape[2]


def _samples(shape: tuple[int, ...], view: tuple[int, ...], along: tuple[int, ...]) -> _Samples:
    if shape[-len(along) :] == along:  # layer norm
        return _Samples((view[0], view[1], 1), view[1])
    return _Samples((shape[0], shape[1], math.prod(shape[2:])), view[1])


def _sums(x: Any, y: Any = None) -> Any:
    """The sums of the rows of x (of x * y), kept."""
    return (row_sums(x) if y is None else row_products(x, y))[:, None]


def _beside(weight: Any, layout: _Samples) -> Any:
    """Weights in the shape in which they multiply samples."""
    return weight.reshape(-1) if layout.shape[2] == 1 else weight.reshape(-1, 1)


def _blocks_of(x: Any, layout: _Samples) -> Any:
    return x.reshape(layout.shape[:2] if layout.shape[2] == 1 else layout.shape)


def forward(x: Any, weight: Any, bias: Any, view: Any, eps: float, along: Any) -> tuple[Any, Any, Any, Any]:
    """The result, the means, the inverse deviations and the variances."""
    layout = _samples(x.shape, view, along)
    n = layout.length
    result = np.empty(x.shape, x.dtype)
    mean, scale, var = (np.empty((view[0], 1), x.dtype) for _ in range(3))
    samples, out = _blocks_of(x, layout), _blocks_of(result, layout)
    groups = view[0] // max(layout.shape[0], 1)
    weight, bias = (None if t is None else _beside(t, layout) for t in (weight, bias))

    def block(part: slice) -> None:
        here = slice(part.start * groups, part.stop * groups)
        r = out[part]
        z = r.reshape(-1, n)
        mean[here] = m = _sums(samples[part].reshape(-1, n)) / n
        np.subtract(samples[part].reshape(-1, n), m, z)
        var[here] = v = _sums(z, z) / n
        v += eps
        scale[here] = s = np.divide(1, np.sqrt(v, v), v)
        z *= s
        if weight is not None:
            r *= weight
        if bias is not None:
            r += bias

    rows(block, layout.shape[0], layout.size)
    return result, mean, scale, var


def backward(g: Any, x: Any, weight: Any, needs: Any, view: Any, along: Any, mean: Any, scale: Any) -> Any:
    """The cotangents of input, weight and bias.

    With c = x - mean, s the inverse deviation, h the cotangent times the weight and n elements, the first is
    ``s (h - sum(h) / n - c s^2 sum(c h) / n)``.
    """
    layout = _samples(x.shape, view, along)
    n = layout.length
    result = np.empty(x.shape, x.dtype)
    samples, cotangents, out = (_blocks_of(a, layout) for a in (x, np.ascontiguousarray(g), result))
    groups = view[0] // max(layout.shape[0], 1)
    weight = None if weight is None else _beside(weight, layout)

    def block(part: slice) -> tuple[Any, Any]:
        here = slice(part.start * groups, part.stop * groups)
        s = scale[here]
        h = cotangents[part]
        c = out[part].reshape(-1, n)
        np.subtract(samples[part].reshape(-1, n), mean[here], c)
        gw = gb = scratch = None
        if needs[1]:
            scratch = h * out[part]
            gw = _by_channel(scratch, layout, s)
        if needs[2]:
            gb = _by_channel(h, layout, None)
        if not needs[0]:
            return gw, gb
        if weight is not None:
            h = np.multiply(h, weight, scratch)
        h = h.reshape(-1, n)
        c *= _sums(c, h) * (s * s) / -n
        c += h
        c -= _sums(h) / n
        c *= s
        return gw, gb

    parts = rows(block, layout.shape[0], layout.size)
    gw = np.add.reduce([p[0] for p in parts]) if needs[1] else None
    gb = np.add.reduce([p[1] for p in parts]) if needs[2] else None
    return (result if needs[0] else None), gw, gb


def _by_channel(x: Any, layout: _Samples, scale: Any) -> Any:
    """The sums over the samples of a block for each channel; ``scale``: a factor for each group."""
    if x.ndim == 2:  # a block is so small that BLAS starts no threads of its own
        return (vector_of_ones(len(x), x.dtype) if scale is None else scale[:, 0]).dot(x)
    x = row_sums(x)
    if scale is not None:
        groups = len(scale) // len(x)
        x = (x.reshape(len(x), groups, -1) * scale.reshape(-1, groups, 1)).reshape(x.shape)
    return np.add.reduce(x, 0)

"""Places in images and volumes: the elements around each, and their weights, or derivatives of the weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Ints = tuple[int, ...]


def _reflected(x: Any, low: float, high: float) -> tuple[Any, Any]:
    """A coordinate reflected between two ends, and the sign of its slope."""
    span = high - low
    if not span:
        return np.zeros_like(x), np.zeros_like(x)
    x = x - low
    sign = np.where(x < 0, -1, 1)
    x = np.abs(x)
    extra = np.fmod(x, span)
    even = np.floor(x / span) % 2 == 0
    return np.where(even, extra + low, span - extra + low).astype(x.dtype), np.where(even, sign, -sign)


def _inside(x: Any, n: int, padding: str, align: bool) -> tuple[Any, Any]:
    """A coordinate after padding, and its slope with respect to the coordinate before."""
    if padding == "zeros":
        return x, 1
    slope: Any = 1
    if padding == "reflection":
        x, slope = _reflected(x, 0.0, n - 1.0) if align else _reflected(x, -0.5, n - 0.5)
    return np.clip(x, 0, n - 1), slope * ((x > 0) & (x < n - 1))


def _cubic_weights(t: Any, order: int) -> Any:
    """Keys' weights (a = -0.75) of four neighbours at distances ``t + 1, t, 1 - t, 2 - t``, or a derivative in t."""
    a = -0.75
    far = np.poly1d([a, -5 * a, 8 * a, -4 * a])
    near = np.poly1d([a + 2, -(a + 3), 0, 1])
    pieces = ((far, 1, 1), (near, 0, 1), (near, 1, -1), (far, 2, -1))  # polynomial, offset, direction of its argument
    weights = []
    for polynomial, offset, direction in pieces:
        derived = polynomial.deriv(order) if order else polynomial
        argument = t + 1 if (offset, direction) == (1, 1) else t if offset == 0 else offset - t
        weights.append((derived(argument) * direction**order).astype(t.dtype))
    return weights


def _axis(c: Any, n: int, mode: str, padding: str, align: bool, order: int) -> list[tuple[Any, Any]]:
    """The neighbours along one dimension of each place: (position, weight); the weight outside the image is 0."""
    scale = (n - 1) / 2 if align else n / 2
    x = (c + 1) * c.dtype.type(scale) if align else ((c + 1) * n - 1) / 2
    x = np.where(np.isfinite(x), x, -100).astype(c.dtype)
    if mode == "bicubic":
        low = np.floor(x)
        weights = _cubic_weights(x - low, order)
        found = []
        for k, w in enumerate(weights):
            position = _inside(low + (k - 1), n, padding, align)[0]
            found.append(_weighed(position, w * scale**order, n))
        return found
    x, slope = _inside(x, n, padding, align)
    if mode == "nearest":
        return [_weighed(np.rint(x), np.ones_like(x) if not order else np.zeros_like(x), n)]
    low = np.floor(x)
    t = x - low
    if order == 0:
        weights = [1 - t, t]
    elif order == 1:
        rise = np.ones_like(t) * slope * scale
        weights = [-rise, rise]
    else:
        weights = [np.zeros_like(t)] * 2
    return [_weighed(low + k, w.astype(c.dtype), n) for k, w in enumerate(weights)]


def _weighed(position: Any, w: Any, n: int) -> tuple[Any, Any]:
    inside = (position >= 0) & (position < n)
    return np.where(inside, position, 0).astype(np.int64), (w * inside).astype(w.dtype)


def weighed_neighbours(grid: Any, size: Ints, mode: str, padding: str, align: bool, orders: Ints) -> Any:
    """Flat positions and weights ``(N, places)`` of each combination of neighbours; x comes first in a grid."""
    k = len(size)
    axes = [
        _axis(grid[..., k - 1 - d].reshape(len(grid), -1), size[d], mode, padding, align, orders[d]) for d in range(k)
    ]
    for combination in itertools.product(*axes):
        flat: Any = 0
        weight: Any = None
        for (position, w), n in zip(combination, size, strict=True):
            flat = flat * n + position
            weight = w if weight is None else weight * w
        yield flat, weight

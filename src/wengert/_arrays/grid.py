"""Places in images and volumes: the elements around each, and their weights, or derivatives of the weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Ints = tuple[int, ...]


def _reflected(lib: Any, x: Any, low: float, high: float) -> tuple[Any, Any]:
    """A coordinate reflected between two ends, and the sign of its slope."""
    span = high - low
    if not span:
        return lib.zeros_like(x), lib.zeros_like(x)
    x = x - low
    sign = lib.where(x < 0, -1, 1)
    x = lib.abs(x)
    extra = lib.fmod(x, span)
    even = lib.floor(x / span) % 2 == 0
    return lib.where(even, extra + low, span - extra + low).astype(x.dtype), lib.where(even, sign, -sign)


def _inside(lib: Any, x: Any, n: int, padding: str, align: bool) -> tuple[Any, Any]:
    """A coordinate after padding, and its slope with respect to the coordinate before."""
    if padding == "zeros":
        return x, 1
    slope: Any = 1
    if padding == "reflection":
        x, slope = _reflected(lib, x, 0.0, n - 1.0) if align else _reflected(lib, x, -0.5, n - 0.5)
    return lib.clip(x, 0, n - 1), slope * ((x > 0) & (x < n - 1))


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
        weights.append((_value(derived, argument) * direction**order).astype(t.dtype))
    return weights


def _value(polynomial: Any, x: Any) -> Any:
    """Horner's rule, on arrays of any library."""
    r = x * 0
    for c in polynomial.coeffs:
        r = r * x + float(c)
    return r


def _axis(lib: Any, c: Any, n: int, mode: str, padding: str, align: bool, order: int) -> list[tuple[Any, Any]]:
    """The neighbours along one dimension of each place: (position, weight); the weight outside the image is 0."""
    scale = (n - 1) / 2 if align else n / 2
    x = (c + 1) * c.dtype.type(scale) if align else ((c + 1) * n - 1) / 2
    x = lib.where(lib.isfinite(x), x, -100).astype(c.dtype)
    if mode == "bicubic":
        low = lib.floor(x)
        weights = _cubic_weights(x - low, order)
        found = []
        for k, w in enumerate(weights):
            position = _inside(lib, low + (k - 1), n, padding, align)[0]
            found.append(_weighed(lib, position, w * scale**order, n))
        return found
    x, slope = _inside(lib, x, n, padding, align)
    if mode == "nearest":
        return [_weighed(lib, lib.rint(x), lib.ones_like(x) if not order else lib.zeros_like(x), n)]
    low = lib.floor(x)
    t = x - low
    if order == 0:
        weights = [1 - t, t]
    elif order == 1:
        rise = lib.ones_like(t) * slope * scale
        weights = [-rise, rise]
    else:
        weights = [lib.zeros_like(t)] * 2
    return [_weighed(lib, low + k, w.astype(c.dtype), n) for k, w in enumerate(weights)]


def _weighed(lib: Any, position: Any, w: Any, n: int) -> tuple[Any, Any]:
    inside = (position >= 0) & (position < n)
    return lib.where(inside, position, 0).astype(np.int64), (w * inside).astype(w.dtype)


def weighed_neighbours(lib: Any, grid: Any, size: Ints, mode: str, padding: str, align: bool, orders: Ints) -> Any:
    """Flat positions and weights ``(N, places)`` of each combination of neighbours; x comes first in a grid."""
    k = len(size)
    axes = [
        _axis(lib, grid[..., k - 1 - d].reshape(len(grid), -1), size[d], mode, padding, align, orders[d])
        for d in range(k)
    ]
    for combination in itertools.product(*axes):
        flat: Any = 0
        weight: Any = None
        for (position, w), n in zip(combination, size, strict=True):
            flat = flat * n + position
            weight = w if weight is None else weight * w
        yield flat, weight

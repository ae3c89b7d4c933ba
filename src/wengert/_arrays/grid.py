"""Places in images and volumes: the elements around each, and their weights, or derivatives of the weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

Ints = tuple[int, ...]


def _reflected(lib: Any, x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Coordinates reflected between two ends, and the sign of their slope."""
    span = high - low
    x = x - low
    sign = lib.where(x < 0, -1, 1)
    x = lib.abs(x)
    extra = lib.fmod(x, span)
    even = lib.floor(x / span) % 2 == 0
    x = lib.where(even, extra + low, span - extra + low).astype(x.dtype)
    return lib.where(span == 0, 0, x).astype(x.dtype), lib.where(even, sign, -sign) * (span != 0)


def _inside(lib: Any, x: Any, last: Any, padding: str, align: bool) -> tuple[Any, Any]:
    """Coordinates after padding, and their slope with respect to those before; ``last``: that of the last element."""
    if padding == "zeros":
        return x, 1
    slope: Any = 1
    if padding == "reflection":
        x, slope = _reflected(lib, x, last * 0, last) if align else _reflected(lib, x, last * 0 - 0.5, last + 0.5)
    return lib.clip(x, 0, last), slope * ((x > 0) & (x < last))


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


def _weights(lib: Any, t: Any, slope: Any, scale: float, mode: str, order: int) -> list[Any]:
    """The weights of the neighbours along one dimension, or a derivative: ``t`` is how far the place is from one."""
    if mode == "bicubic":
        return [w * scale**order for w in _cubic_weights(t, order)]
    if mode == "nearest":
        return [lib.zeros_like(t) if order else lib.ones_like(t)]
    if order == 0:
        return [1 - t, t]
    rise = lib.ones_like(t) * slope * scale if order == 1 else lib.zeros_like(t)
    return [-rise, rise]


_NEIGHBOURS = {"nearest": 0, "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}  # steps from the first


def _lines(lib: Any, grid: Any, size: Ints, mode: str, padding: str, align: bool, orders: Ints) -> list[Any]:
    """For each dimension the neighbours of each place: (position, weight); the weight outside of the image is 0."""
    k, dtype = len(size), grid.dtype

    def column(values: Any) -> Any:
        return lib.asarray(list(values), dtype=dtype).reshape(k, 1, 1)

    scales = [(n - 1) / 2 if align else n / 2 for n in size]
    last = column(n - 1 for n in size)
    x = grid.reshape(len(grid), -1, k).transpose(2, 0, 1)[::-1].copy() + 1
    x = x * column(scales) if align else (x * column(size) - 1) / 2
    x = lib.where(lib.isfinite(x), x, -100).astype(dtype)
    slope: Any = 1
    if mode != "bicubic":
        x, slope = _inside(lib, x, last, padding, align)
    position = lib.rint(x) if mode == "nearest" else lib.floor(x)
    t = x - position
    position = position + lib.asarray(_NEIGHBOURS[mode], dtype=dtype).reshape(-1, 1, 1, 1)
    if mode == "bicubic":
        position = _inside(lib, position, last, padding, align)[0]
    inside = (position >= 0) & (position <= last)
    position = lib.where(inside, position, 0).astype(np.int64)
    lines = []
    for d in range(k):
        weights = _weights(lib, t[d], slope if type(slope) is int else slope[d], scales[d], mode, orders[d])
        lines.append([(position[j, d], (w * inside[j, d]).astype(dtype)) for j, w in enumerate(weights)])
    return lines


def weighed_neighbours(lib: Any, grid: Any, size: Ints, mode: str, padding: str, align: bool, orders: Ints) -> Any:
    """Flat positions and weights ``(N, places)`` of each combination of neighbours; x comes first in a grid."""
    for combination in itertools.product(*_lines(lib, grid, size, mode, padding, align, orders)):
        flat: Any = 0
        weight: Any = None
        for (at, w), n in zip(combination, size, strict=True):
            flat = flat * n + at
            weight = w if weight is None else weight * w
        yield flat, weight

"""Histograms of arrays: edges of bins, and the number of points between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.registry import plain
from . import intp
from .library import in_lib


def outer_edges(x: Any, low: float, high: float, name: str, margin: float = 1.0) -> tuple[Any, Any]:
    """The range of a histogram: the data's if none is given, widened to both sides if it is a point."""
    of_data = low == high  # in any dtype
    if not of_data or not x.size:
        left, right = x.dtype.type(low), x.dtype.type(high)
        of_data = left == right and x.size
    if of_data:
        flat = x.ravel()
        left, right = flat[x.argmin()], flat[x.argmax()]  # NumPy finds positions faster than values, that of nan first
    if not (math.isfinite(left) and math.isfinite(right)):
        raise RuntimeError(f"torch.{name}: range of [{left:g}, {right:g}] is not finite")
    if left != right:
        return left, right
    margin = x.dtype.type(margin)
    return left - margin, right + margin


def equal_bins(x: Any, bins: int, limits: Any, dim: int) -> Any:
    """The edges of bins of equal width, computed as PyTorch's linspace does, from both ends."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")
    if limits is not None:
        left, right = (x.dtype.type(v) for v in limits)
        if right < left:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {left:g} max {right:g} for dimension {dim}"
            )
        half = x.dtype.type(0.5)
        left, right = (left - half, right + half) if left == right else (left, right)
    elif not x.size:
        left, right = x.dtype.type(0), x.dtype.type(1)
    else:
        left, right = outer_edges(x, 0, 0, "histogramdd", 0.5)
    step = (right - left) / x.dtype.type(bins)
    i = np.arange(bins + 1)
    return np.where(i < (bins + 1) // 2, left + step * i, right - step * (bins - i)).astype(x.dtype)


@in_lib
def counts_between(points: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """The number of points, or their weight, in each cell of a grid of edges."""
    inside = np.ones(len(points), bool)
    cell = np.zeros(len(points), np.int64)
    for d, e in enumerate(edges):
        x = points[:, d]
        place = np.searchsorted(e, x, "right") - 1
        place[x == e[-1]] = len(e) - 2
        inside &= (place >= 0) & (x <= e[-1])
        cell = cell * (len(e) - 1) + place
    shape = tuple(len(e) - 1 for e in edges)
    size = int(np.prod(shape))
    w = None if weight is None else weight.reshape(-1)[inside].astype(np.float64)
    hist = intp.bincount(cell[inside], w, size).reshape(shape).astype(points.dtype)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            hist = hist / np.diff(e).reshape((-1,) + (1,) * (len(edges) - d - 1))
    return hist


@plain
def plain_counts_between(lib: Any, points: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    inside = lib.ones(len(points), bool)
    cell = lib.zeros(len(points), np.int64)
    for d, e in enumerate(edges):
        x = points[:, d]
        place = lib.where(x == e[-1], len(e) - 2, lib.searchsorted(e, x, "right") - 1)
        inside &= (place >= 0) & (x <= e[-1])
        cell = cell * (len(e) - 1) + place
    shape = tuple([len(e) - 1 for e in edges])
    hist = lib.zeros(math.prod(shape), np.float64)
    w = lib.ones(cell.shape) if weight is None else weight.reshape(-1).astype(np.float64)
    lib.add_at(hist, cell[inside], w[inside])
    hist = hist.reshape(shape).astype(points.dtype)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            hist = hist / (e[1:] - e[:-1]).reshape((-1,) + (1,) * (len(edges) - d - 1))
    return hist

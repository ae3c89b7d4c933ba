"""Resampling of arrays, one dim at a time.

An output element is a weighted sum of a few input elements, its *taps*: positions and weights, computed once per size,
as ATen's UpSampleKernel does.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from . import intp
from .blas import is_shared, over_samples

Scale = float | None


def _step(n: int, out: int, align_corners: bool, scale: Scale, real: Any) -> Any:
    """The distance in the source between neighbouring output elements."""
    if align_corners:
        return real(n - 1) / real(out - 1) if out > 1 else real(0)
    return real(1 / scale) if scale is not None and scale > 0 else real(n) / real(out)


def _cubic(x: Any, a: float) -> Any:
    """Keys' cubic convolution kernel."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _lanczos(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


_FILTERS = {
    "linear": (2, lambda x: np.maximum(0, 1 - np.abs(x))),
    "cubic": (4, lambda x: _cubic(x, -0.5)),
    "lanczos": (6, _lanczos),
}


@functools.lru_cache(256)
def taps(n: int, out: int, kind: str, align_corners: bool, scale: Scale, dtype: str) -> tuple[Any, Any]:
    """``(positions, weights)``, each ``(out, taps)``; weights are ``None`` where each output is one input element."""
    real = np.float64 if dtype == "d" else np.float32
    i = np.arange(out)
    if kind.startswith("nearest"):
        return _nearest(n, out, i, scale, kind == "nearest-exact"), None
    if n == out and kind == "linear":  # a copy, whatever the scale
        return np.stack([i, i], 1), np.stack([np.ones(n, real), np.zeros(n, real)], 1)
    if kind.startswith("smooth "):
        return _antialiased(n, out, kind[7:], align_corners, scale, real)
    step = _step(n, out, align_corners, scale, real)
    source = step * i.astype(real) if align_corners else step * (i.astype(real) + real(0.5)) - real(0.5)
    if kind == "linear":
        source = np.maximum(source, real(0))
        low = np.minimum(source.astype(np.int64), n - 1)
        high = np.minimum(low + 1, n - 1)
        w = np.clip(source - low.astype(real), 0, 1).astype(real)
        return np.stack([low, high], 1), np.stack([1 - w, w], 1)
    low = np.floor(source).astype(np.int64)
    t = (source - low.astype(real))[:, None]
    w = _cubic(t - np.arange(-1, 3, dtype=real), -0.75).astype(real)
    return np.clip(low[:, None] + np.arange(-1, 3), 0, n - 1), w


def _nearest(n: int, out: int, i: Any, scale: Scale, exact: bool) -> Any:
    step = np.float32(1 / scale) if scale is not None and scale > 0 else np.float32(n) / np.float32(out)
    if not exact and out == n:
        source = i
    elif not exact and out == 2 * n:
        source = i >> 1
    else:
        source = np.floor((i.astype(np.float32) + np.float32(0.5 if exact else 0)) * step).astype(np.int64)
    return np.minimum(source, n - 1)[:, None]


def _antialiased(n: int, out: int, name: str, align_corners: bool, scale: Scale, real: Any) -> tuple[Any, Any]:
    """A filter that widens with the step, so that every input element counts when an image shrinks."""
    width, kernel = _FILTERS[name]
    step = float(_step(n, out, align_corners, scale, real))
    support = width / 2 * max(step, 1.0)
    center = step * (np.arange(out) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    last = np.minimum((center + support + 0.5).astype(np.int64), n)
    count = int((last - first).max())
    positions = first[:, None] + np.arange(count)
    w = kernel((positions - center[:, None] + 0.5) / max(step, 1.0)) * (positions < last[:, None])
    w = w / w.sum(1, keepdims=True)
    return np.minimum(positions, n - 1), w.astype(real)


@functools.lru_cache(128)
def taps_matrix(n: int, out: int, kind: str, align_corners: bool, scale: Scale, dtype: str) -> Any:
    """The taps as a matrix ``(out, n)``."""
    positions, w = taps(n, out, kind, align_corners, scale, dtype)
    m = np.zeros((out, n), dtype)
    np.add.at(m, (np.arange(out)[:, None], positions), 1 if w is None else w)
    return m


_PER_MICROSECOND = 50_000  # multiplications
_DENSE = 1 << 19  # up to this many elements the taps are applied as a matrix: BLAS is faster than gathering


def apply_matrix(x: Any, d: int, m: Any) -> Any:
    """A matrix applied along one dimension."""
    lead, rest = x.shape[:d], x.shape[d + 1 :]
    last = d == x.ndim - 1
    samples = x.reshape(math.prod(lead), x.shape[d], *(() if last else (math.prod(rest),)))

    def work(some: slice) -> Any:
        return np.matmul(samples[some], m.T) if last else np.matmul(m, samples[some])

    multiplications = x.size * len(m)
    cost = multiplications / _PER_MICROSECOND if is_shared(multiplications, of_matrices=False) else 0.0
    found = over_samples(work, len(samples), cost)
    r = found[0] if len(found) == 1 else np.concatenate(found)
    return r.reshape(*lead, len(m), *rest)


def gather_taps(x: Any, d: int, positions: Any, w: Any) -> Any:
    """Taps applied by gathering, which does not spread inf and nan."""
    r = None
    for k in range(positions.shape[1]):
        part = intp.take(x, positions[:, k], d)
        if w is not None:
            part *= w[:, k].astype(x.dtype).reshape(-1, *(1,) * (x.ndim - 1 - d))
        r = part if r is None else np.add(r, part, r)
    return r


def apply_to_bytes(x: Any, d: int, *plan: Any) -> Any:
    """Taps applied to uint8 with 16-bit integers for weights, of as many binary places as the largest leaves room for.

    The source: ATen's ``compute_index_ranges_int16_weights``.
    """
    m = taps_matrix(*plan, "d")
    places = next(k for k in range(23) if k == 22 or int(0.5 + m.max() * (1 << (k + 1))) >= 1 << 15)
    weights = np.trunc(m * (1 << places) + np.copysign(0.5, m))
    half = (1 << places) >> 1
    r = apply_matrix(x.astype(np.float64), d, weights)  # sums of integers below 2**53
    return np.clip(np.floor_divide(r + half, 1 << places), 0, 255).astype(x.dtype)


def scatter_taps(g: Any, d: int, positions: Any, w: Any, n: int) -> Any:
    """The transpose of ``gather_taps``."""
    g = np.moveaxis(g, d, 0)
    r = np.zeros((n, *g.shape[1:]), g.dtype)
    for k in range(positions.shape[1]):
        part = g if w is None else g * w[:, k].astype(g.dtype).reshape(-1, *(1,) * (g.ndim - 1))
        np.add.at(r, positions[:, k], part)
    return np.moveaxis(r, 0, d)


def sum_runs(g: Any, d: int, positions: Any, n: int) -> Any:
    """``scatter_taps`` where each output is one input element: positions never fall, so equal ones are neighbours."""
    out = len(positions)
    k = out // n if n else 0
    if k * n == out and 0 < k <= 16 and np.array_equal(positions[:, 0], np.arange(out) // k):
        r = g[(slice(None),) * d + (slice(0, None, k),)].copy()
        for j in range(1, k):
            r += g[(slice(None),) * d + (slice(j, None, k),)]
        return r
    used, starts = np.unique(positions[:, 0], return_index=True)
    sums = intp.reduceat(np.add, g, starts, d)
    if len(used) == n:
        return sums
    shape = list(g.shape)
    shape[d] = n
    r = np.zeros(shape, g.dtype)
    r[(slice(None),) * d + (used,)] = sums
    return r


def may_be_dense(x: Any, n: int, out: int) -> bool:
    """Whether the taps may be applied as a matrix: zeros times inf or nan must not spread them."""
    return n * out <= _DENSE and x.dtype.kind == "f" and bool(np.isfinite(np.add.reduce(x, None)))

"""Calls of compiled kernels (``compiled``) for convolution and pooling, as in ``compiled_rows``."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from .compiled import GRAIN, SUFFIX, Kernels

Ints = tuple[int, ...]
FEW = 8  # channels below which most of a tile's vector is idle, and a product whose parts are added up is faster
_LEAST = 1 << 18  # multiplications


class _Sizes:
    """The sizes of a convolution from (N, G C, size) by (G O, C, kernel) into (N, G O, out), a ``conv_t``."""

    def __init__(
        self, lanes: int, n: int, c: int, o: int, size: Ints, kernel: Ints, out: Ints, s: Ints, p: Ints, d: Ints, g: int
    ) -> None:
        size, kernel, out = (_three(a, 1) for a in (size, kernel, out))
        s, p, d = _three(s, 1), _three(p, 0), _three(d, 1)
        taps, places = math.prod(kernel), math.prod(out)
        self.blocks = -(-o // lanes)
        self.packed = self.blocks * lanes * c * taps
        self.borders = any(p)
        padded = c * math.prod([i + 2 * q for i, q in zip(size, p, strict=True)])
        self.work = c * o * taps * places
        self.in_planes = o <= (2 if c == 1 else 1)  # more are faster as a vector, though a part of it is idle
        inside = [
            (o - 1) * t + (k - 1) * e < i + 2 * q for i, k, o, t, q, e in zip(size, kernel, out, s, p, d, strict=True)
        ]
        self.suits = all(inside) and self.work * n * g >= _LEAST and padded < 1 << 24 and min(self.work, *p, 0) >= 0
        self.sizes = (c, *size, o, *kernel, *p, *s, *d, *out, n, g, padded)


def _three(values: Ints, fill: int) -> Ints:
    return (fill,) * (3 - len(values)) + tuple(values)


_sizes = functools.lru_cache(512)(_Sizes)


@functools.cache
def _lanes(k: Kernels, outputs: int, dtype: Any) -> int:
    """The outputs that a kernel computes at once."""
    lanes = np.zeros(1, np.int64)
    k.call("conv_lanes", dtype, 1, 1, (outputs,), (), lanes)
    return int(lanes[0])


@functools.lru_cache(512)
def _weight_parts(k: Kernels, s: _Sizes, dtype: Any) -> int:
    """The parts that threads share when they compute the weights' cotangent."""
    parts = np.zeros(1, np.int64)
    k.call("conv_weight_parts", dtype, 1, 1, s.sizes, (), parts)
    return int(parts[0])


def _bordered(k: Kernels, s: _Sizes, x: Any) -> Any:
    """The images with their borders."""
    x = np.ascontiguousarray(x)
    if not s.borders:
        return x
    n, g, padded = s.sizes[20:23]
    channels, each = n * g * s.sizes[0], padded // s.sizes[0]
    r = np.empty(channels * each, x.dtype)
    k.call("conv_pad", x.dtype, channels, each, s.sizes, (), r, x)
    return r


def _images(k: Kernels, s: _Sizes, x: Any, weight: Any, bias: Any, shape: Ints, turned: bool) -> Any:
    n, g = s.sizes[20:22]
    dtype, sizes, r = x.dtype, (*s.sizes, turned), np.empty(shape, x.dtype)
    weight, bias = (a if a is None else np.ascontiguousarray(a) for a in (weight, bias))
    x = _bordered(k, s, x)
    if s.in_planes:
        k.call("conv_planes", dtype, n * g * s.sizes[4], s.work // s.sizes[4], sizes, (), r, x, weight, bias)
        return r
    packed = np.empty(g * s.packed, dtype)
    k.call("conv_pack_weights", dtype, g * s.blocks, s.packed // s.blocks, sizes, (), packed, weight)
    k.call("conv_images", dtype, n * g, GRAIN, sizes, (), r, x, packed, bias)
    return r


def _suit(*arrays: Any) -> bool:
    """Whether arrays are of one real dtype that kernels have, and one has up to three dims of places."""
    dtype = arrays[0].dtype
    alike = [a is None or (type(a) is np.ndarray and a.dtype is dtype) for a in arrays]
    return dtype in SUFFIX and 3 <= arrays[0].ndim <= 5 and all(alike)


def _is_product(kernel: Ints, stride: Ints) -> bool:
    """Whether each window is one place: a product of matrices, which is BLAS's."""
    return math.prod(kernel) == math.prod(stride) == 1


def convolve(
    k: Kernels, x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, bias: Any = None
) -> Any:
    """``products.convolve``."""
    kernel = weight.shape[2:]
    if not _suit(x, weight, bias) or _is_product(kernel, stride):
        return None
    out = tuple(
        (i + 2 * p - d * (m - 1) - 1) // s + 1
        for i, m, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    o = len(weight) // groups
    lanes = _lanes(k, o, x.dtype)
    s = _sizes(lanes, len(x), weight.shape[1], o, x.shape[2:], kernel, out, stride, padding, dilation, groups)
    return _images(k, s, x, weight, bias, (len(x), len(weight), *out), False) if s.suits else None


def convolve_weight(
    k: Kernels, x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    """``products.convolve_weight``."""
    if not _suit(x, g) or _is_product(kernel, stride):
        return None
    c, o = x.shape[1] // groups, g.shape[1] // groups
    lanes = _lanes(k, o, x.dtype)
    s = _sizes(lanes, len(x), c, o, x.shape[2:], kernel, g.shape[2:], stride, padding, dilation, groups)
    if not s.suits:
        return None
    r = np.empty((groups * o, c, *kernel), x.dtype)
    name = "conv_plane_weights" if s.in_planes else "conv_weights"
    parts = groups * o if s.in_planes else _weight_parts(k, s, x.dtype)
    k.call(name, x.dtype, parts, GRAIN, (*s.sizes, 0), (), r, _bordered(k, s, x), np.ascontiguousarray(g))
    return r


def convolve_input(
    k: Kernels, g: Any, weight: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    """``products.convolve_input``: a convolution of the cotangent with turned weights.

    With strides, places of the input that are the same number of places behind a window's take part in the same taps:
    each such phase is a convolution of its own.
    """
    kernel, rank = weight.shape[2:], len(size)
    if not _suit(g, weight) or _is_product(kernel, stride) or weight.shape[1] < FEW <= len(weight) // groups:
        return None
    if math.prod(stride) == 1:
        around = tuple([d * (m - 1) - p for d, m, p in zip(dilation, kernel, padding, strict=True)])
        return _turned(k, g, weight, size, around, dilation, groups)
    if math.prod(dilation) != 1:
        return None
    r: Any = np.zeros((len(g), groups * weight.shape[1], *size), g.dtype)
    for phase in itertools.product(*map(range, stride)):
        taps: list[Any] = []
        borders, out = [], []
        for f, n, m, s, p, o in zip(phase, size, kernel, stride, padding, g.shape[2:], strict=True):
            first, count = (f + p) % s, max(-(-(n - f) // s), 0)
            taps.append(slice(first, None, s))
            behind, ahead = len(range(first, m, s)) - 1 - (f + p) // s, (f + p) // s + count - o
            borders.append((behind, ahead))
            out.append(count)
        some = weight[(..., *taps)]
        if not some.size or not math.prod(out):
            continue
        inside = tuple(
            [slice(max(-b, 0), max(n + min(e, 0), 0)) for (b, e), n in zip(borders, g.shape[2:], strict=True)]
        )
        given = g[(..., *inside)]
        if any(e > 0 for both in borders for e in both):
            given = np.pad(given, [(0, 0), (0, 0), *[(max(b, 0), max(e, 0)) for b, e in borders]])
        part = _turned(k, given, some, tuple(out), (0,) * rank, (1,) * rank, groups)
        if part is None:
            return None
        r[(..., *[slice(f, None, s) for f, s in zip(phase, stride, strict=True)])] = part
    return r


def _turned(k: Kernels, g: Any, weight: Any, size: Ints, around: Ints, dilation: Ints, groups: int) -> Any:
    """The cotangent of an input of this size from windows one place apart."""
    o, c, kernel = len(weight) // groups, weight.shape[1], weight.shape[2:]
    one, lanes = (1,) * len(size), _lanes(k, c, g.dtype)
    s = _sizes(lanes, len(g), o, c, g.shape[2:], kernel, size, one, around, dilation, groups)
    return _images(k, s, g, weight, None, (len(g), groups * c, *size), True) if s.suits else None


# ---- pooling
def _two(values: Ints, fill: int) -> Ints:
    return (fill,) * (2 - len(values)) + tuple(values)


_SHORT = 6  # windows of a row below which NumPy's calls over all rows are faster


def window_maxima(k: Kernels, x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """``pooling.maxima_of_many`` of signals and images."""
    rank = len(kernel)
    if rank > 2 or x.dtype.char not in "fd" or not math.prod(out) or out[-1] < _SHORT:
        return None
    size, lead = x.shape[x.ndim - rank :], x.shape[: x.ndim - rank]
    r, at = np.empty((*lead, *out), x.dtype), np.empty((*lead, *out), np.int64)
    rest = (_two(kernel, 1), _two(stride, 1), _two(padding, 0), _two(dilation, 1))
    sizes = [*_two(size, 1), *_two(out, 1), *[v for two in rest for v in two]]
    planes, each = math.prod(lead), math.prod(out) * math.prod(kernel)
    k.call("max_windows", x.dtype, planes, each, sizes, (), r, at, np.ascontiguousarray(x))
    return r, at


def scattered_in_rows(k: Kernels, g: Any, indices: Any, n: int) -> Any:
    """``pooling.scattered_in_rows``, which adds where indices repeat."""
    if g.dtype not in SUFFIX or indices.dtype != np.int64:
        return None
    r = np.empty((len(g), n), g.dtype)
    sizes = (g.shape[1], n)
    k.call("windows_scatter", g.dtype, len(g), n, sizes, (), r, np.ascontiguousarray(g), np.ascontiguousarray(indices))
    return r


def part_means(k: Kernels, x: Any, size: Ints, out: Ints, back: bool) -> Any:
    """``pooling.part_means`` of signals and images."""
    rank = len(size)
    lead = x.shape[: x.ndim - rank]
    if rank > 2 or type(x) is not np.ndarray or x.dtype not in SUFFIX or not math.prod(size) * math.prod(out):
        return None
    r = np.empty((*lead, *(size if back else out)), x.dtype)
    sizes = (*_two(size, 1), *_two(out, 1))
    each = math.prod(size) + math.prod(out)
    name = "mean_parts_back" if back else "mean_parts"
    k.call(name, x.dtype, math.prod(lead), each, sizes, (), r, np.ascontiguousarray(x))
    return r

"""Calls of compiled kernels (``compiled``) for convolution and pooling, as in ``compiled_rows``."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .compiled import Kernels

Ints = tuple[int, ...]
_FLOAT = np.dtype(np.float32)
_FEW = 8  # outputs or channels below which vectors are mostly idle
_LEAST = 1 << 20  # multiplications


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
        padded = c * math.prod([i + 2 * q for i, q in zip(size, p, strict=True)]) + 64
        self.work = c * o * taps * places
        inside = [
            (o - 1) * t + (k - 1) * e < i + 2 * q for i, k, o, t, q, e in zip(size, kernel, out, s, p, d, strict=True)
        ]
        self.suits = all(inside) and self.work * n * g >= _LEAST and min(c * taps, o) >= _FEW and padded < 1 << 24
        self.sizes = (c, *size, o, *kernel, *p, *s, *d, *out, n, g, self.packed, padded)


def _three(values: Ints, fill: int) -> Ints:
    return (fill,) * (3 - len(values)) + tuple(values)


_sizes = functools.lru_cache(512)(_Sizes)


@functools.cache
def _lanes(k: Kernels) -> int:
    """The outputs that a kernel computes at once."""
    lanes = np.zeros(1, np.int64)
    k.run(k.find("conv_lanes") or 0, 1, 1, (), (), lanes)
    return int(lanes[0])


def _images(k: Kernels, s: _Sizes, x: Any, weight: Any, bias: Any, shape: Ints, turned: bool) -> Any:
    n, g = s.sizes[20:22]
    packed, r = np.empty(g * s.packed, _FLOAT), np.empty(shape, _FLOAT)
    sizes = (*s.sizes, turned)
    k.run(k.find("conv_pack_weights") or 0, g, 1, sizes, (), packed, np.ascontiguousarray(weight))
    bias = None if bias is None else np.ascontiguousarray(bias)
    k.run(k.find("conv_images") or 0, n * g, 1, sizes, (), r, np.ascontiguousarray(x), packed, bias)
    return r


def _is_float(*arrays: Any) -> bool:
    return all([a is None or (type(a) is np.ndarray and a.dtype is _FLOAT) for a in arrays])  # noqa: C419  faster so


def _is_product(kernel: Ints, stride: Ints) -> bool:
    """Whether each window is one place: a product of matrices, which is BLAS's."""
    return math.prod(kernel) == math.prod(stride) == 1


def convolve(
    k: Kernels, x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, bias: Any = None
) -> Any:
    """``products.convolve``."""
    kernel = weight.shape[2:]
    if not _is_float(x, weight, bias) or not 3 <= x.ndim <= 5 or _is_product(kernel, stride):
        return None
    out = tuple(
        (i + 2 * p - d * (m - 1) - 1) // s + 1
        for i, m, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    o = len(weight) // groups
    s = _sizes(_lanes(k), len(x), weight.shape[1], o, x.shape[2:], kernel, out, stride, padding, dilation, groups)
    return _images(k, s, x, weight, bias, (len(x), len(weight), *out), False) if s.suits else None


def convolve_weight(
    k: Kernels, x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    """``products.convolve_weight``."""
    if not _is_float(x, g) or not 3 <= x.ndim <= 5 or _is_product(kernel, stride):
        return None
    c, o = x.shape[1] // groups, g.shape[1] // groups
    s = _sizes(_lanes(k), len(x), c, o, x.shape[2:], kernel, g.shape[2:], stride, padding, dilation, groups)
    if not s.suits:
        return None
    r = np.empty((groups * o, c, *kernel), _FLOAT)
    x, g = np.ascontiguousarray(x), np.ascontiguousarray(g)
    k.run(k.find("conv_weights") or 0, groups * s.blocks, 1, (*s.sizes, 0), (), r, x, g)
    return r


def convolve_input(
    k: Kernels, g: Any, weight: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    """``products.convolve_input`` with stride one: a convolution of the cotangent with turned weights."""
    kernel = weight.shape[2:]
    if math.prod(stride) != 1 or not _is_float(g, weight) or not 3 <= g.ndim <= 5 or math.prod(kernel) == 1:
        return None
    around = tuple([d * (m - 1) - p for d, m, p in zip(dilation, kernel, padding, strict=True)])
    if min(around) < 0:
        return None
    o, c = len(weight) // groups, weight.shape[1]
    s = _sizes(_lanes(k), len(g), o, c, g.shape[2:], kernel, size, stride, around, dilation, groups)
    return _images(k, s, g, weight, None, (len(g), groups * c, *size), True) if s.suits else None


# ---- pooling
def _two(values: Ints, fill: int) -> Ints:
    return (fill,) * (2 - len(values)) + tuple(values)


def window_maxima(k: Kernels, x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """``pooling.window_maxima`` of signals and images."""
    rank = len(kernel)
    if rank > 2 or x.dtype.char not in "fd" or not math.prod(out):
        return None
    size, lead = x.shape[x.ndim - rank :], x.shape[: x.ndim - rank]
    r, at = np.empty((*lead, *out), x.dtype), np.empty((*lead, *out), np.int64)
    rest = (_two(kernel, 1), _two(stride, 1), _two(padding, 0), _two(dilation, 1))
    sizes = [*_two(size, 1), *_two(out, 1), *[v for two in rest for v in two]]
    planes, each = math.prod(lead), math.prod(out) * math.prod(kernel)
    k.call("max_windows", x.dtype, planes, each, sizes, (), r, at, np.ascontiguousarray(x))
    return r, at

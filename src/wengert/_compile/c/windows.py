"""Convolution in one to three dims, with both its derivatives, and pooling: calls of ``runtime/2_conv.h``.

Sizes stand in the calls as numbers, so that the compiler keeps a tile in registers. Work is cut among threads by images
or by blocks of outputs, which changes no digit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.blas import blas, is_shared
from ..._arrays.compiled_windows import FEW
from .pieces import GRAIN, Piece, Place, is_float, is_index

Ints = tuple[int, ...]


def _three(values: Any, fill: int) -> Ints:
    """One to three numbers, for three dims."""
    values = tuple(values)
    return (fill,) * (3 - len(values)) + values


class _Sizes:
    """The sizes of a convolution of one group: of x (C, size) by w (O, C, kernel) into (O, out)."""

    def __init__(self, x: Ints, w: Ints, out: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> None:
        self.n, self.groups = x[0], groups
        self.c, self.o = x[1] // groups, out[1] // groups
        self.size, self.kernel, self.out = _three(x[2:], 1), _three(w[2:], 1), _three(out[2:], 1)
        self.stride, self.padding, self.dilation = _three(stride, 1), _three(padding, 0), _three(dilation, 1)

    @property
    def fits(self) -> bool:
        """Whether no place that an output reads lies outside of the padded image."""
        return (
            all(
                (o - 1) * s + (k - 1) * d < i + 2 * p
                for i, k, o, s, p, d in zip(
                    self.size, self.kernel, self.out, self.stride, self.padding, self.dilation, strict=True
                )
            )
            and self.n * self.c * self.o * math.prod(self.out) * math.prod(self.kernel) > 0
        )

    @property
    def text(self) -> str:
        """A ``conv_t``."""
        v = (self.c, *self.size, self.o, *self.kernel, *self.padding, *self.stride, *self.dilation, *self.out)
        return f"(conv_t){{{', '.join(map(str, v))}}}"

    @property
    def padded(self) -> int:
        """The elements of a channel with its border."""
        return math.prod(i + 2 * p for i, p in zip(self.size, self.padding, strict=True))

    @property
    def places(self) -> int:
        return math.prod(self.out)

    @property
    def grain(self) -> int:
        """How many bands of 1,024 places by 16 outputs are worth a thread."""
        return max(GRAIN // (2 * self.c * math.prod(self.kernel) * min(self.n * self.places, 1024)), 1)


def _bordered(ctx: Any, k: _Sizes, x: Place, pieces: list[Piece]) -> Place:
    """The images with their borders."""
    x = ctx.dense(x, pieces)
    if not any(k.padding):
        return x
    channels = k.n * k.groups * k.c
    to = ctx.scratch(channels * k.padded, x.dtype)
    piece = Piece(channels, max(GRAIN // k.padded, 1))
    piece.add(f"  pad_channels({piece.pointer(to)}, {piece.pointer(x)}, {k.text}, from, to);")
    pieces.append(piece)
    return to


def _forward(ctx: Any, k: _Sizes, x: Place, w: Place, bias: Any, o: Place, flip: bool) -> list[Piece]:
    """Each image of each group, by packed weights; ``flip``: w is (C, O, kernel), turned around."""
    pieces: list[Piece] = []
    x, w = _bordered(ctx, k, x, pieces), ctx.dense(w, pieces)
    bias = None if bias is None else ctx.dense(bias, pieces)
    taps, blocks = k.c * math.prod(k.kernel), f"{k.groups} * blocks_of({k.o})"
    pack = ctx.scratch(k.groups * -(-k.o // 32) * 32 * taps, np.dtype(np.float32))  # for vectors of any width
    first = Piece(blocks, max(GRAIN // (16 * taps), 1))
    p, q = first.pointer(pack), first.pointer(w)
    first.add(f"  conv_pack({p}, {q}, {k.c}, {k.o}, {math.prod(k.kernel)}, {int(flip)}, from, to);")
    piece = Piece(f"bands_of({k.n}, {k.text}) * {blocks}", k.grain)
    names = ", ".join("0" if q is None else piece.pointer(q) for q in (o, x, pack, bias))
    piece.add(f"  conv_items({names}, {k.n}, {k.groups}, {k.text}, lanes_of({k.o}) / VL, is_flat({k.text}), from, to);")
    return [*pieces, first, piece]


def convolution(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    a, w, bias = x
    o = outs[0]
    if o.dtype != np.float32 or not is_float(*[q for q in (a, w, bias, o) if q is not None]) or not 3 <= o.ndim <= 5:
        return None
    k = _Sizes(a.shape, w.shape, o.shape, *op.p)
    return _forward(ctx, k, a, w, bias, o, False) if k.fits else None


def _transposed(
    ctx: Any, g: Place, w: Place, bias: Any, o: Place, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> list[Piece] | None:
    """The transpose of a convolution of images like ``o`` into images like ``g``."""
    if o.dtype != np.float32 or not is_float(*[q for q in (g, w, bias, o) if q is not None]) or not 3 <= o.ndim <= 5:
        return None
    k = _Sizes(o.shape, w.shape, g.shape, stride, padding, dilation, groups)
    if not k.fits:
        return None
    if set(stride) == {1} and not k.c < FEW <= k.o:
        around = tuple(
            [d * (n - 1) - p for d, n, p in zip(_three(dilation, 1), k.kernel, _three(padding, 0), strict=True)]
        )
        back = _Sizes(g.shape, w.shape, o.shape, stride, (), dilation, groups)
        back.padding = around
        if min(around) >= 0 and back.fits:
            return _forward(ctx, back, g, w, bias, o, True)
    return _by_columns(ctx, k, g, w, bias, o)


def _by_columns(ctx: Any, k: _Sizes, g: Place, w: Place, bias: Any, o: Place) -> list[Piece] | None:
    """A product that gives each tap its part, then each part added where it belongs."""
    if blas() is None:
        return None
    pieces: list[Piece] = []
    g, w = ctx.dense(g, pieces), ctx.dense(w, pieces)
    rows = k.c * math.prod(k.kernel)
    work = rows * k.places * k.o
    piece = Piece(k.n * k.groups, max(GRAIN // work, 1))
    piece.by_blas = is_shared(work, True)
    a, b, c = (piece.pointer(q) for q in (g, w, o))
    n_in, n_out = k.c * math.prod(k.size), k.o * k.places
    inner = math.prod(k.size)
    piece.add(f"  float *col = room({rows * k.places * 4});")
    piece.add(f"  for (i64 q = from; q < to; q++) {{ float *z = {c} + q * {n_in};")
    if bias is None:
        piece.add(f"    memset(z, 0, {n_in * 4});")
    else:
        e = piece.pointer(ctx.dense(bias, pieces))
        piece.add(f"    for (i64 c = 0; c < {k.c}; c++) for (i64 j = 0; j < {inner}; j++)")
        piece.add(f"      z[c * {inner} + j] = {e}[q % {k.groups} * {k.c} + c];")
    piece.add(
        f"    gemm_f(101, 112, 111, {rows}, {k.places}, {k.o}, 1, {b} + q % {k.groups} * {k.o * rows}, {rows}, "
        f"{a} + q * {n_out}, {k.places}, 0, col, {k.places});"
    )
    piece.add(f"    add_columns(z, col, {k.text}); }}")
    return [*pieces, piece]


def conv_input(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return _transposed(ctx, x[0], x[1], None, outs[0], *op.p[1:])


def convolution_transposed(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return _transposed(ctx, x[0], x[1], x[2], outs[0], *op.p[1:])


def conv_weight(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    a, g = x
    o = outs[0]
    if o.dtype != np.float32 or not is_float(a, g, o) or not 3 <= o.ndim <= 5:
        return None
    k = _Sizes(a.shape, o.shape, g.shape, *op.p[1:])
    if not k.fits:
        return None
    pieces: list[Piece] = []
    a, g = _bordered(ctx, k, a, pieces), ctx.dense(g, pieces)
    work = k.c * math.prod(k.kernel) * k.n * k.places
    piece = Piece(f"{k.groups} * blocks_of({k.o}) * cuts_of({k.groups}, {k.text})", max(GRAIN // (2 * work), 1))
    names = ", ".join(piece.pointer(q) for q in (o, a, g))
    piece.add(f"  conv_weight({names}, {k.n}, {k.groups}, {k.text}, lanes_of({k.o}) / VL, from, to);")
    return [*pieces, piece]


# ---- pooling
def _two(values: Any, fill: int) -> Ints:
    values = tuple(values)
    return (fill,) * (2 - len(values)) + values


def max_windows(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    kernel, stride, padding, dilation, out = op.p
    a, (o, at) = x[0], outs
    rank = len(kernel)
    if not is_float(a, o) or rank > 2 or not is_index(at) or not o.size:
        return None
    pieces: list[Piece] = []
    a = ctx.dense(a, pieces)
    h, w = _two(a.shape[a.ndim - rank :], 1)
    (oh, ow), (kh, kw), (sh, sw) = _two(out, 1), _two(kernel, 1), _two(stride, 1)
    (ph, pw), (dh, dw) = _two(padding, 0), _two(dilation, 1)
    planes = o.size // (oh * ow)
    piece = Piece(planes, max(GRAIN // (oh * ow * kh * kw), 1))
    s = "f" if a.dtype == np.float32 else "d"
    names = ", ".join(piece.pointer(q) for q in (o, at, a))
    piece.add(
        f"  max_pool_{s}({names}, {h}, {w}, {oh}, {ow}, {kh}, {kw}, {sh}, {sw}, {ph}, {pw}, {dh}, {dw}, from, to);"
    )
    return [*pieces, piece]


def pool_scatter(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    g, at = x
    size, _ = op.p
    o = outs[0]
    if not is_float(g, o) or not is_index(at) or not g.size:
        return None
    pieces: list[Piece] = []
    g, at = ctx.dense(g, pieces), ctx.dense(at, pieces)
    inner = math.prod(size)
    planes = o.size // inner
    if g.size % planes or at.size != g.size:
        return None
    piece = Piece(planes, max(GRAIN // inner, 1))
    s = "f" if g.dtype == np.float32 else "d"
    names = ", ".join(piece.pointer(q) for q in (o, g, at))
    piece.add(f"  pool_back_{s}({names}, {g.size // planes}, {inner}, from, to);")
    return [*pieces, piece]


def _means(ctx: Any, a: Place, o: Place, rank: int, bounds: Any, back: bool) -> list[Piece] | None:
    """Means over boxes (or, ``back``, spread over them): ``bounds`` gives C for low, high of each dim and the count."""
    if not is_float(a, o) or rank > 2 or not a.size or not o.size:
        return None
    pieces: list[Piece] = []
    a = ctx.dense(a, pieces)
    large, small = (o, a) if back else (a, o)
    h, w = _two(large.shape[large.ndim - rank :], 1)
    oh, ow = _two(small.shape[small.ndim - rank :], 1)
    planes = small.size // (oh * ow)
    piece = Piece(planes, max(GRAIN // (h * w), 1))
    p, r = piece.pointer(a), piece.pointer(o)
    t = "float" if o.dtype == np.float32 else "double"
    box = "for (i64 y = y0; y < y1; y++) for (i64 z = z0; z < z1; z++)"
    piece.add("  for (i64 q = from; q < to; q++) {")
    if back:
        piece.add(f"    memset({r} + q * {h * w}, 0, {h * w * o.dtype.itemsize});")
    piece.add(f"    for (i64 i = 0; i < {oh}; i++) for (i64 j = 0; j < {ow}; j++) {{ {bounds}")
    if back:
        piece.add(f"      const {t} g = {p}[(q * {oh} + i) * {ow} + j] / ({t})m;")
        piece.add(f"      {box} {r}[(q * {h} + y) * {w} + z] += g; }} }}")
    else:
        piece.add(f"      double s = 0; {box} s += {p}[(q * {h} + y) * {w} + z];")
        piece.add(f"      {r}[(q * {oh} + i) * {ow} + j] = ({t})(s / m); }} }}")
    return [*pieces, piece]


def mean_parts(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    back = op.name.endswith("backward")
    rank = len(op.p[0])
    large, small = (outs[0], x[0]) if back else (x[0], outs[0])
    (h, w), (oh, ow) = _two(large.shape[large.ndim - rank :], 1), _two(small.shape[small.ndim - rank :], 1)
    bounds = (
        f"const i64 y0 = i * {h} / {oh}, y1 = ((i + 1) * {h} + {oh - 1}) / {oh}, z0 = j * {w} / {ow}, "
        f"z1 = ((j + 1) * {w} + {ow - 1}) / {ow}, m = (y1 - y0) * (z1 - z0);"
    )
    return _means(ctx, x[0], outs[0], rank, bounds, back)


def mean_windows(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    back = op.name.endswith("backward")
    if back:
        _, kernel, stride, padding, _, override = op.p
    else:
        kernel, stride, padding, _, _, override = op.p
    if any(padding) or override:
        return None
    rank = len(kernel)
    large = outs[0] if back else x[0]
    h, w = _two(large.shape[large.ndim - rank :], 1)
    (kh, kw), (sh, sw) = _two(kernel, 1), _two(stride, 1)
    small = x[0] if back else outs[0]
    oh, ow = _two(small.shape[small.ndim - rank :], 1)
    if (oh - 1) * sh + kh > h or (ow - 1) * sw + kw > w:
        return None  # a window that reaches over the border
    bounds = f"const i64 y0 = i * {sh}, y1 = y0 + {kh}, z0 = j * {sw}, z1 = z0 + {kw}, m = {kh * kw};"
    return _means(ctx, x[0], outs[0], rank, bounds, back)


RULES = {
    "convolution": convolution, "conv_input": conv_input, "conv_weight": conv_weight,
    "convolution_transposed": convolution_transposed, "max_windows": max_windows, "pool_scatter": pool_scatter,
    "mean_parts": mean_parts, "mean_parts_backward": mean_parts, "mean_windows": mean_windows,
    "mean_windows_backward": mean_windows,
}  # fmt: skip

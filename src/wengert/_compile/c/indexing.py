"""Copies into parts, gathers and scatters.

Indices are checked before a program writes anything (``ctx.checked``): one that is out of range makes the program run
in NumPy, which raises eager's error. An index that the program itself computes has no rule here.
"""

from __future__ import annotations

import math
from typing import Any

from .expressions import C_TYPES
from .loops import copy
from .pieces import GRAIN, Piece, Place, dense_strides, index, is_index


def _part(o: Place, dim: int, start: int, count: int, step: int = 1) -> Place:
    """Every ``step``-th element along a dim, from ``start``."""
    shape = (*o.shape[:dim], count, *o.shape[dim + 1 :])
    strides = (*o.strides[:dim], o.strides[dim] * step, *o.strides[dim + 1 :])
    return o._replace(offset=o.offset + start * o.strides[dim], shape=shape, strides=strides)


def cat(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    parts, o = x[0] if isinstance(x[0], list) else x, outs[0]
    dim = op.p[0] % o.ndim
    pieces, at = [], 0
    for a in parts:
        if a.shape == (0,) and o.ndim != 1:
            continue
        k = a.shape[dim]
        if a.size:
            pieces.append(copy(_part(o, dim, at, k), a))
        at += k
    return pieces


def stack(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    parts, o = x[0] if isinstance(x[0], list) else x, outs[0]
    dim = op.p[0] % o.ndim
    pieces = []
    for k, a in enumerate(parts):
        to = o._replace(
            offset=o.offset + k * o.strides[dim], shape=a.shape, strides=(*o.strides[:dim], *o.strides[dim + 1 :])
        )
        pieces.append(copy(to, a))
    return pieces


def _zeros(o: Place) -> Piece:
    piece = Piece()
    piece.add(f"  memset({piece.pointer(o)}, 0, {o.size * o.dtype.itemsize});")
    return piece


def select_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    size, dim, k = op.p
    o = outs[0]
    dim %= o.ndim
    part = _part(o, dim, k % size[dim], 1)
    inside = part._replace(shape=x[0].shape, strides=(*part.strides[:dim], *part.strides[dim + 1 :]))
    return [_zeros(o), copy(inside, x[0])]


def slice_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    size, dim, start, end, step = op.p
    o = outs[0]
    dim %= o.ndim
    low, _, step = slice(start, end, step).indices(size[dim])
    part = _part(o, dim, low, x[0].shape[dim], step)
    return [_zeros(o), copy(part, x[0])]


def _along(piece: Piece, q: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """Where the element of flat number ``q`` of a shape lies."""
    terms, step = [], 1
    for size, stride in zip(shape[::-1], strides[::-1], strict=True):
        if size > 1 and stride:
            terms.append(f"({q} / {step} % {size}) * {stride}" if step > 1 else f"({q} % {size}) * {stride}")
        step *= size
    return " + ".join(terms) or "0"


def _plan(x: Place, t: Place, dim: int) -> tuple[int, tuple[int, ...]]:
    dim %= x.ndim
    return dim, tuple([0 if d == dim else s for d, s in enumerate(x.strides)])


def gather(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    a, t = x
    o = outs[0]
    if not is_index(t) or not a.ndim or a.ndim != t.ndim or a.dtype not in C_TYPES or a.dtype != o.dtype:
        return None
    dim, others = _plan(a, t, op.p[0])
    if not ctx.checked(t, 0, a.shape[dim]):
        return None
    piece = Piece(o.size, GRAIN)
    names = piece.pointer(a), piece.pointer(t), piece.pointer(o)
    piece.add(
        f"  for (i64 q = from; q < to; q++) {names[2]}[q] = {names[0]}[{_along(piece, 'q', t.shape, others)} + "
        f"{names[1]}[{_along(piece, 'q', t.shape, t.strides)}] * {a.strides[dim]}];"
    )
    return [piece]


def gather_back(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    g, t = x
    size, dim = op.p
    o = outs[0]
    if not is_index(t) or not t.ndim or g.shape != t.shape or g.dtype != o.dtype or g.dtype.kind != "f":
        return None
    dim, others = _plan(o, t, dim)
    if not ctx.checked(t, 0, size[dim]):
        return None
    piece = Piece()
    names = piece.pointer(g), piece.pointer(t), piece.pointer(o)
    piece.add(
        f"  for (i64 q = 0; q < {t.size}; q++) {names[2]}[{_along(piece, 'q', t.shape, others)} + "
        f"{names[1]}[{_along(piece, 'q', t.shape, t.strides)}] * {o.strides[dim]}] += "
        f"{names[0]}[{_along(piece, 'q', g.shape, g.strides)}];"
    )
    return [_zeros(o), piece]


def embedding(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """Rows of a matrix."""
    w, t = x
    o = outs[0]
    if not is_index(t) or w.ndim != 2 or w.dtype != o.dtype or w.dtype not in C_TYPES or w.strides[1] != 1:
        return None
    if not ctx.checked(t, 0, w.shape[0]):
        return None
    pieces: list[Piece] = []
    t = ctx.dense(t, pieces)
    n = w.shape[1]
    piece = Piece(t.size, max(GRAIN // max(n, 1), 1))
    a, k, r = piece.pointer(w), piece.pointer(t), piece.pointer(o)
    nbytes = n * w.dtype.itemsize
    piece.add(f"  for (i64 q = from; q < to; q++) memcpy({r} + q * {n}, {a} + {k}[q] * {w.strides[0]}, {nbytes});")
    return [*pieces, piece]


def take_rows(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """``x[t]`` and ``x[:, t]`` with one index of whole numbers."""
    given = x[0] if isinstance(x[0], list) else x
    if len(given) != 2 or len(op.p[0]) != 1:
        return None
    a, t = given
    dim, o = op.p[0][0], outs[0]
    if not is_index(t) or a.dtype != o.dtype or a.dtype not in C_TYPES or not isinstance(dim, int) or not o.size:
        return None
    if not ctx.checked(t, -a.shape[dim], a.shape[dim]):
        return None
    pieces: list[Piece] = []
    a, t = ctx.dense(a, pieces), ctx.dense(t, pieces)
    if o.shape != (*a.shape[:dim], *t.shape, *a.shape[dim + 1 :]):
        return None
    inner, n = math.prod(a.shape[dim + 1 :]), a.shape[dim]
    piece = Piece(o.size // inner, max(GRAIN // inner, 1))
    p, k, r = piece.pointer(a), piece.pointer(t), piece.pointer(o)
    piece.add(
        f"  for (i64 q = from; q < to; q++) memcpy({r} + q * {inner}, {p} + (q / {t.size} * {n} + "
        f"from_end({k}[q % {t.size}], {n})) * {inner}, {inner * a.dtype.itemsize});"
    )
    return [*pieces, piece]


def index_back(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """The cotangent of such rows: added up where an index comes again."""
    given = x[0] if isinstance(x[0], list) else x
    size, dims = op.p
    if len(given) != 2 or dims != (0,):
        return None
    g, t = given
    o = outs[0]
    if not is_index(t) or g.dtype != o.dtype or g.dtype.kind != "f":
        return None
    if not ctx.checked(t, -size[0], size[0]):
        return None
    pieces: list[Piece] = []
    g, t = ctx.dense(g, pieces), ctx.dense(t, pieces)
    n = math.prod(size[1:])
    if g.shape != (*t.shape, *size[1:]):
        return None
    piece = Piece()
    p, k, r = piece.pointer(g), piece.pointer(t), piece.pointer(o)
    piece.add(
        f"  for (i64 q = 0; q < {t.size}; q++) {{ {C_TYPES[o.dtype]} *z = {r} + from_end({k}[q], {size[0]}) * {n};"
    )
    piece.add(f"    IVDEP for (i64 j = 0; j < {n}; j++) z[j] += {p}[q * {n} + j]; }}")
    return [*pieces, _zeros(o), piece]


def triangle(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    a, o = x[0], outs[0]
    if a.dtype not in C_TYPES or a.ndim < 2:
        return None
    lead, (m, n), k = a.shape[:-2], a.shape[-2:], op.p[0]
    rows = math.prod(lead)
    piece = Piece(rows, max(GRAIN // (m * n), 1))
    p, r = piece.pointer(a), piece.pointer(o)
    test = f"j - i <= {k}" if op.name == "lower_triangle" else f"j - i >= {k}"
    inside = index(["i", "j"], list(a.strides[-2:]))
    piece.add(f"  for (i64 q = from; q < to; q++) for (i64 i = 0; i < {m}; i++) for (i64 j = 0; j < {n}; j++)")
    piece.add(
        f"    {r}[(q * {m} + i) * {n} + j] = {test} ? {p}[{_along(piece, 'q', lead, a.strides[:-2])} + {inside}] : 0;"
    )
    return [piece]


def repeat(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    a, o, times = x[0], outs[0], op.p[0]
    extra = o.ndim - a.ndim
    shape: list[int] = []
    to: list[int] = []
    source: list[int] = []
    steps = dense_strides(o.shape)
    for d, (count, step) in enumerate(zip(times, steps, strict=True)):
        k = 1 if d < extra else a.shape[d - extra]
        shape += [count, k]
        to += [k * step, step]
        source += [0, 0 if d < extra else a.strides[d - extra]]
    return [
        copy(o._replace(shape=tuple(shape), strides=tuple(to)), a._replace(shape=tuple(shape), strides=tuple(source)))
    ]


RULES = {
    "cat": cat, "stack": stack, "select_backward": select_backward, "slice_backward": slice_backward, "gather": gather,
    "gather_back": gather_back, "embedding": embedding, "index": take_rows, "index_back": index_back,
    "lower_triangle": triangle, "upper_triangle": triangle, "repeat": repeat,
}  # fmt: skip

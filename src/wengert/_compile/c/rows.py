"""Softmax, normalisation and cross entropy: calls of the functions on rows of ``runtime/1_rows.h``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from .expressions import C_TYPES, literal
from .pieces import GRAIN, Piece, Place, is_float, is_index

_DOUBLE = np.dtype(np.float64)


def _over(ctx: Any, x: list[Place], o: Place, n: int, call: str, tail: str = "") -> list[Piece]:
    """A function of rows of n elements, on dense copies of its operands."""
    pieces: list[Piece] = []
    given = [ctx.dense(a, pieces) for a in x]
    rows = o.size // n
    piece = Piece(rows, max(GRAIN // (4 * n), 1))
    names = [f"{piece.pointer(a)} + from * {n}" for a in (o, *given)]
    piece.add(f"  {call}_{SUFFIX[o.dtype]}({', '.join(names)}, to - from, {n}{tail});")
    _by_rows(piece, o, *given)
    return [*pieces, piece]


def _by_rows(piece: Piece, o: Place, *given: Place) -> None:
    for a in given:
        piece.part(a)
    piece.part(o, written=True)


_SOFTMAX = {
    "softmax": "softmax", "log_softmax": "log_softmax", "_softmax_backward_data": "softmax_back",
    "_log_softmax_backward_data": "log_softmax_back",
}  # fmt: skip


def softmax(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    o = outs[0]
    if x[0] in ctx.later:
        return _cross_entropy_back(ctx, ctx.later[x[0]], x[1], o)
    if not is_float(o, *x) or not o.ndim or op.p[0] % o.ndim != o.ndim - 1:
        return None
    return _over(ctx, x, o, o.shape[-1], _SOFTMAX[op.name])


def _number(v: float) -> str:
    return literal(v, _DOUBLE)


def norm_layer(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    o, (view, dims, eps, *_) = outs[0], op.p
    n = math.prod(view[1:])
    given = [a for a in x if a is not None]
    if not is_float(o, *given) or len(outs) != 1 or dims != (1,) or len(view) != 2:
        return None
    if any(a is not None and a.size != n for a in x[1:]):
        return None  # weights of groups
    pieces: list[Piece] = []
    a = ctx.dense(x[0], pieces)
    w, b = (None if q is None else ctx.dense(q, pieces) for q in x[1:])
    piece = Piece(view[0], max(GRAIN // (4 * n), 1))
    weights = [piece.pointer(q) if q is not None else "0" for q in (w, b)]
    s = SUFFIX[o.dtype]
    if w is None and b is not None:
        return None
    piece.add(
        f"  norm_rows_{s}({piece.pointer(o)} + from * {n}, {piece.pointer(a)} + from * {n}, {', '.join(weights)}, "
        f"to - from, {n}, {_number(eps)});"
    )
    for q in (w, b):
        if q is not None:
            piece.part(q, False)
    _by_rows(piece, o, a)
    return [*pieces, piece]


def by_channel(ctx: Any, call: str, x: list[Any], outs: list[Place], view: tuple[int, ...], eps: float) -> list[Piece]:
    """A function of some channels; ``None``: an operand that is not there."""
    pieces: list[Piece] = []
    given = [None if q is None else ctx.dense(q, pieces) for q in x]
    n, c, m = view
    piece = Piece(c, max(GRAIN // (4 * n * m), 1))
    names = ["0" if q is None else piece.pointer(q) for q in (*outs, *given)]
    piece.add(f"  {call}_{SUFFIX[outs[0].dtype]}({', '.join(names)}, {n}, {c}, {m}, {_number(eps)}, from, to);")
    return [*pieces, piece]


def norm_channels(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    o, (view, dims, eps, *_) = outs[0], op.p
    if len(view) != 3 or len(outs) != 1 or dims != (0, 2) or not is_float(o, *[a for a in x if a is not None]):
        return None
    return by_channel(ctx, "norm_channels", x, outs, view, eps)


def standardize(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """Forward with one operand, backward with two: ``(g, x)``."""
    o, (dims, eps, center) = outs[0], op.p
    if not center or not is_float(o, *x) or len(outs) != 1:
        return None
    back = "_back" if op.name == "standardize_backward" else ""
    if dims == (1,) and o.ndim == 2:
        n = o.shape[1]
        if back:
            return _over(ctx, x, o, n, "norm_rows_back", f", {_number(eps)}")
        pieces: list[Piece] = []
        a = ctx.dense(x[0], pieces)
        piece = Piece(o.shape[0], max(GRAIN // (4 * n), 1))
        s = SUFFIX[o.dtype]
        piece.add(
            f"  norm_rows_{s}({piece.pointer(o)} + from * {n}, {piece.pointer(a)} + from * {n}, 0, 0, to - from, {n}, "
            f"{_number(eps)});"
        )
        _by_rows(piece, o, a)
        return [*pieces, piece]
    if dims == (0, 2) and o.ndim == 3:
        return by_channel(ctx, f"norm_channels{back}", x if back else [*x, None, None], outs, o.shape, eps)
    return None


def nll(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """Of ``(N, C)`` without weights: minus the mean, or the sum, of what targets name."""
    y, t, w = x
    reduction, ignored = op.p
    o = outs[0]
    if w is not None or not is_float(y, o) or y.ndim != 2 or not is_index(t) or t.ndim != 1 or not y.size:
        return None
    rows, n = y.shape
    if not ctx.checked(t, 0, n, ignored):
        return None
    piece = Piece()
    a, k, r, c = piece.pointer(y), piece.pointer(t), piece.pointer(o), C_TYPES[o.dtype]
    at = f"{a}[i * {y.strides[0]} + {k}[i * {t.strides[0]}] * {y.strides[1]}]"
    skip = f"{k}[i * {t.strides[0]}] == {ignored if ignored is not None else 'INT64_MIN'}"
    if reduction == 0:
        piece.add(f"  for (i64 i = 0; i < {rows}; i++) {r}[i] = {skip} ? 0 : -{at};")
        return [piece]
    piece.add(f"  double s = 0; i64 m = 0; for (i64 i = 0; i < {rows}; i++) if (!({skip})) {{ s -= {at}; m++; }}")
    piece.add(f"  {r}[0] = ({c})(s{' / m' if reduction == 1 else ''});")
    return [piece]


def nll_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """Its cotangent: zeros with minus the cotangent where targets name."""
    g, t, w = x
    size, reduction, ignored = op.p
    o = outs[0]
    if w is not None or not is_float(g, o) or len(size) != 2 or not is_index(t) or t.ndim != 1 or not o.size:
        return None
    rows, n = size
    if not ctx.checked(t, 0, n, ignored):
        return None
    if reduction != 0 and t.dense and ctx.only_reader(op.outs[0], "_log_softmax_backward_data"):
        ctx.later[o] = op, x  # one loop with what reads it
        return []
    piece = Piece()
    k, r, c, q = piece.pointer(t), piece.pointer(o), C_TYPES[o.dtype], piece.pointer(g)
    index = f"{k}[i * {t.strides[0]}]"
    skip = f"{index} == {ignored if ignored is not None else 'INT64_MIN'}"
    piece.add(f"  memset({r}, 0, {o.size * o.dtype.itemsize}); i64 m = 0;")
    piece.add(f"  for (i64 i = 0; i < {rows}; i++) m += !({skip});")
    step = g.strides[0] if g.ndim else 0
    value = f"-{q}[i * {step}]" if reduction == 0 else f"-{q}[0]{' / m' if reduction == 1 else ''}"
    piece.add(f"  for (i64 i = 0; i < {rows}; i++) if (!({skip})) {r}[i * {n} + {index}] = ({c})({value});")
    return [piece]


def _cross_entropy_back(ctx: Any, later: Any, y: Place, o: Place) -> list[Piece]:
    """The cotangent of log_softmax where that of its results comes from targets alone."""
    op, (g, t, _) = later
    _, reduction, ignored = op.p
    pieces: list[Piece] = []
    y = ctx.dense(y, pieces)
    rows, n = o.shape
    piece = Piece(rows, max(GRAIN // (4 * n), 1))
    k, c, q = piece.pointer(t), C_TYPES[o.dtype], piece.pointer(g)
    none = "INT64_MIN" if ignored is None else ignored
    count = f"{rows}"
    if ignored is not None and reduction == 1:
        piece.add(f"  i64 m = 0; for (i64 i = 0; i < {rows}; i++) m += {k}[i] != {ignored};")
        count = "m"
    piece.add(f"  const {c} h = {q}[0]{f' / {count}' if reduction == 1 else ''};")
    piece.add(
        f"  nll_log_softmax_back_{SUFFIX[o.dtype]}({piece.pointer(o)} + from * {n}, {piece.pointer(y)} + from * {n}, "
        f"{k} + from, to - from, {n}, {none}, h);"
    )
    return [*pieces, piece]


RULES = {
    **dict.fromkeys(_SOFTMAX, softmax), "norm_layer": norm_layer, "norm_groups": norm_layer,
    "norm_channels": norm_channels, "standardize": standardize, "standardize_backward": standardize, "nll": nll,
    "nll_backward": nll_backward,
}  # fmt: skip

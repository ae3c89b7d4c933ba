"""LSTM layers: all steps as one call of ``runtime/2_lstm.h`` forward and one backward, and large products for the rest.

Threads have some rows of the batch each. The weights are packed before, once for all steps.
"""

from __future__ import annotations

from typing import Any

from ..._arrays.compiled import SUFFIX
from ..._arrays.recurrent import ROWS, UNITS, lstm_given
from .loops import copy
from .pieces import GRAIN, Piece, Place, is_float
from .products import blas, product, turned


def _rows(batch: int, work: int) -> Piece:
    """A piece for each row of a batch; ``work``: the multiplications of one."""
    return Piece(batch, max(min(batch // 2, ROWS), 1) if batch * work > 16 * GRAIN else 0)


def _names(piece: Piece, places: Any) -> str:
    return ", ".join("0" if p is None else piece.pointer(p) for p in places)


def _given(ctx: Any, places: Any, pieces: list[Piece]) -> list[Any]:
    return [None if p is None else ctx.dense(p, pieces) for p in places]


def lstm_layer(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    _, reverse, ends, keep = op.p
    if ends is not None or not is_float(*outs, *[p for p in x if p is not None]):
        return None
    pieces: list[Piece] = []
    input, h, c, *weights = _given(ctx, x, pieces)
    (length, batch, inputs), n, s = input.shape, h.shape[1], SUFFIX[h.dtype]
    blocks = -(-n // UNITS)
    packed = ctx.scratch(blocks * UNITS * 4 * (1 + inputs + n), h.dtype)
    first = Piece(blocks, max(GRAIN // (32 * UNITS * (inputs + n)), 1))
    lanes = "VL" if s == "f" else "(VL / 2)"
    last = f"to * {UNITS} / {lanes}"
    end = f"({n} + {lanes} - 1) / {lanes}"
    first.add(
        f"  lstm_pack_{s}({_names(first, [packed, *weights])}, {inputs}, {n}, from * {UNITS} / {lanes}, "
        f"{last} < {end} ? {last} : {end});"
    )
    piece = _rows(batch, 4 * length * n * (inputs + n))
    out, last_h, last_c, *kept = outs
    made = [out, last_h, last_c, *(kept if keep else (None, None)), None]
    piece.add(
        f"  lstm_rows_{s}({_names(piece, [*made, input, h, c, packed])}, {length}, {batch}, {inputs}, {n}, "
        f"{int(reverse)}, from, to);"
    )
    return [*pieces, first, piece]


def lstm_cotangents(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    biased, needs, reverse = op.p
    if blas() is None or not is_float(*outs, *[p for p in x if p is not None]):
        return None
    pieces: list[Piece] = []
    g, gh, gc, input, w_ih, w_hh, factors, states = _given(ctx, x, pieces)
    (length, batch, inputs), n, s = input.shape, w_hh.shape[1], SUFFIX[factors.dtype]
    rows = length * batch
    found = iter(outs)
    dx, dh, dc, dw, du, db, db_hh = [next(found) if there else None for there in lstm_given(needs, biased)]
    packed = ctx.scratch(-(-n // (4 * UNITS)) * 4 * UNITS * 4 * n, factors.dtype)
    first = Piece(4 * n, max(GRAIN // n, 1))
    first.add(f"  lstm_pack_back_{s}({_names(first, [packed, w_hh])}, {n}, from, to);")
    d = ctx.scratch(rows * 4 * n, factors.dtype).reshaped((rows, 4 * n))
    dh, dc = (ctx.scratch(batch * n, factors.dtype) if p is None else p for p in (dh, dc))
    piece = _rows(batch, 4 * length * n * n)
    piece.add(
        f"  lstm_back_{s}({_names(piece, [d, dh, dc, g, gh, gc, factors, packed])}, {length}, {batch}, {n}, "
        f"{int(reverse)}, from, to);"
    )
    pieces += [first, piece]
    if dx is not None:
        pieces += product(ctx, d, w_ih, dx.reshaped((rows, inputs))) or []
    if dw is not None and du is not None:
        pieces += product(ctx, turned(d), input.reshaped((rows, inputs)), dw) or []
        pieces += product(ctx, turned(d), states.reshaped((rows, n)), du) or []
    if db is not None and db_hh is not None:
        sums = Piece(4 * n, max(GRAIN // rows, 1))
        sums.add(f"  sum_columns_{s}({_names(sums, [db, d])}, {rows}, {4 * n}, {4 * n}, from, to, 1);")
        pieces += [sums, copy(db_hh, db)]
    return pieces


RULES = {"lstm_layer": lstm_layer, "lstm_cotangents": lstm_cotangents}

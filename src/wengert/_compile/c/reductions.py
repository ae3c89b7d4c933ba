"""Sums, means, extrema and products over any dims, as loops over rows or columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from .expressions import C_TYPES, literal
from .pieces import GRAIN, Piece, Place, dense_strides, merged

_CHUNK = 1 << 14


def _dims(x: Place, dim: Any) -> tuple[int, ...] | None:
    if dim is None:
        return tuple(range(x.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple([d % x.ndim for d in dims]) if x.ndim else ()


def _reduced(name: str, x: Place, out: Place, p: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The dims that an operator adds up."""
    if name in ("sum_all", "mean_all", "max_all", "min_all", "prod_all"):
        return tuple(range(x.ndim))
    if name == "column_sums":
        return tuple(range(x.ndim - out.ndim)) if x.ndim != out.ndim else (0,)
    if name == "sum_to":
        extra = x.ndim - out.ndim
        return tuple(range(extra)) + tuple(
            [d for d in range(extra, x.ndim) if out.shape[d - extra] == 1 and x.shape[d] != 1]
        )
    return _dims(x, p[0] if p else None)


def reduction(name: str, x: Place, out: Place, p: tuple[Any, ...], partial: Any) -> list[Piece] | None:
    """A reduction's pieces; ``None`` if there is no rule."""
    fold = {"amax": "max", "amin": "min", "max_all": "max", "min_all": "min"}.get(name, "sum")
    if x.dtype not in C_TYPES or not out.dense or not x.size:
        return None
    dims = _reduced(name, x, out, p)
    if dims is None:
        return None
    count = math.prod(x.shape[d] for d in dims)
    if out.size * count != x.size:
        return None
    if x.dtype.kind != "f" or out.dtype != x.dtype:
        if fold != "sum" or name.startswith("mean") or out.dtype.kind not in "if" or x.dtype.kind == "f":
            return None
        if out.dtype != np.int64:
            return None
    factor = 1 / count if name.startswith("mean") else 1.0
    flags = tuple([d in dims for d in range(x.ndim)])
    sizes, (strides,), kinds = merged(x.shape, [x.strides], flags)
    made = None
    if fold == "sum" and x.dtype.kind == "f":
        made = _rows(x, out, sizes, strides, kinds, factor, partial) or _columns(x, out, sizes, strides, kinds, factor)
    made = made or _any(x, out, sizes, strides, kinds, factor, fold)
    if len(made) == 1 and x.dense and kinds[:2] == [False, True] and sizes[0] == made[0].total:
        made[0].part(x)  # a step is one along the first dim
        made[0].part(out, written=True)
    return made


def _kept(sizes: list[int], strides: list[int], kinds: list[bool], q: str = "q") -> str:
    """The C expression of where the elements of kept index ``q`` begin."""
    kept = [(n, s) for n, s, k in zip(sizes, strides, kinds, strict=True) if not k]
    steps = dense_strides(tuple([n for n, _ in kept]))
    terms = []
    for d, ((n, s), step) in enumerate(zip(kept, steps, strict=True)):
        at = q if step == 1 else f"{q} / {step}"
        terms.append(f"({at if d == 0 else f'({at}) % {n}'}) * {s}")
    return " + ".join(terms) or "0"


def _factor(factor: float) -> str:
    return literal(factor, np.dtype(np.float64))


def _rows(
    x: Place, out: Place, sizes: list[int], strides: list[int], kinds: list[bool], factor: float, partial: Any
) -> list[Piece] | None:
    if not sizes or not kinds[-1] or strides[-1] != 1:
        return None
    s, c, n = SUFFIX[x.dtype], C_TYPES[x.dtype], sizes[-1]
    if len(sizes) == 1 and n >= 4 * _CHUNK:
        chunks = -(-n // _CHUNK)
        piece, last, part = Piece(chunks, GRAIN // _CHUNK), Piece(), partial(chunks)
        a, q = piece.pointer(x), piece.pointer(part)
        piece.add(
            f"  for (i64 k = from; k < to; k++) {q}[k] = sum_{s}({a} + k * {_CHUNK}, "
            f"(k + 1) * {_CHUNK} < {n} ? {_CHUNK} : {n} - k * {_CHUNK});"
        )
        q, o = last.pointer(part), last.pointer(out)
        last.add(
            f"  double t = 0; for (i64 k = 0; k < {chunks}; k++) t += {q}[k]; {o}[0] = ({c})(t * {_factor(factor)});"
        )
        return [piece, last]
    piece = Piece(out.size, max(GRAIN // max(x.size // out.size, 1), 1))
    a, o = piece.pointer(x), piece.pointer(out)
    piece.add(
        f"  for (i64 q = from; q < to; q++) {{ const {c} *r = {a} + {_kept(sizes, strides, kinds)}; double t = 0;"
    )
    outer = [(k, m, st) for k, (m, st, red) in enumerate(zip(sizes[:-1], strides, kinds, strict=False)) if red]
    loops = "".join(f"for (i64 j{k} = 0; j{k} < {m}; j{k}++) " for k, m, _ in outer)
    at = "".join(f" + j{k} * {st}" for k, _, st in outer)
    piece.add(f"    {loops}t += sum_{s}(r{at}, {n});")
    piece.add(f"    {o}[q] = ({c})(t * {_factor(factor)}); }}")
    return [piece]


def _columns(
    x: Place, out: Place, sizes: list[int], strides: list[int], kinds: list[bool], factor: float
) -> list[Piece] | None:
    if len(sizes) < 2 or kinds[-1] or strides[-1] != 1 or not kinds[-2] or sum(kinds) != 1:
        return None
    s, n, m, row = SUFFIX[x.dtype], sizes[-1], sizes[-2], strides[-2]
    f = literal(factor, x.dtype)
    if len(sizes) == 2:
        blocks = -(-n // 256)
        piece = Piece(blocks, max(GRAIN // (256 * m), 1))
        a, o = piece.pointer(x), piece.pointer(out)
        piece.add(f"  sum_columns_{s}({o}, {a}, {m}, {n}, {row}, from * 256, to * 256 < {n} ? to * 256 : {n}, {f});")
        return [piece]
    rest = out.size // n
    piece = Piece(rest, max(GRAIN // (n * m), 1))
    a, o = piece.pointer(x), piece.pointer(out)
    at = _kept(sizes[:-2], strides[:-2], kinds[:-2])
    piece.add(
        f"  for (i64 q = from; q < to; q++) sum_columns_{s}({o} + q * {n}, {a} + {at}, {m}, {n}, {row}, 0, {n}, {f});"
    )
    return [piece]


def _any(
    x: Place, out: Place, sizes: list[int], strides: list[int], kinds: list[bool], factor: float, fold: str
) -> list[Piece]:
    c, o_type = C_TYPES[x.dtype], C_TYPES[out.dtype]
    total = "double" if x.dtype.kind == "f" and fold == "sum" else o_type
    piece = Piece(out.size, max(GRAIN // max(x.size // out.size, 1), 1))
    a, o = piece.pointer(x), piece.pointer(out)
    reduced = [(k, m, st) for k, (m, st, red) in enumerate(zip(sizes, strides, kinds, strict=True)) if red]
    loops = "".join(f"for (i64 j{k} = 0; j{k} < {m}; j{k}++) " for k, m, _ in reduced)
    at = "".join(f" + j{k} * {st}" for k, _, st in reduced)
    first = "0" if fold == "sum" else "r[0]"
    piece.add(
        f"  for (i64 q = from; q < to; q++) {{ const {c} *r = {a} + {_kept(sizes, strides, kinds)}; "
        f"{total} t = {first};"
    )
    if fold == "sum":
        piece.add(f"    {loops}t += r[0{at}];")
    else:
        s = SUFFIX[x.dtype]
        piece.add(f"    {loops}t = {fold}_{s}(r[0{at}], t);")
    times = f" * {_factor(factor)}" if total == "double" and factor != 1 else ""
    piece.add(f"    {o}[q] = ({o_type})(t{times}); }}")
    return [piece]

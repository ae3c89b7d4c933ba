"""Products of matrices and vectors: calls of NumPy's own OpenBLAS, and loops for small ones.

A product that is a step of a program is a call with the layout that its operands have; nothing is copied unless neither
dim of a matrix lies without gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.blas import UNSHARED_PRODUCT, blas, is_shared
from ..._arrays.compiled import SUFFIX
from .expressions import C_TYPES
from .loops import Loop
from .pieces import GRAIN, Piece, Place, is_float

_SMALL = 2048  # multiplications that a loop does sooner than a call
_FEW_ROWS, _OFTEN = 64, 4  # of the other factor; products by one matrix
_BY_VECTOR = 1 << 18  # the same, where an operand is one row or one column


def matrix(x: Place) -> tuple[int, int] | None:
    """(transposed or not, leading dim) of a matrix as BLAS takes it."""
    (m, n), (r, c) = x.shape, x.strides
    if (c == 1 or n == 1) and (m == 1 or r >= max(n, 1)):
        return 111, max(r if m > 1 else n, n, 1)
    if (r == 1 or m == 1) and (n == 1 or c >= max(m, 1)):
        return 112, max(c if n > 1 else m, m, 1)
    return None


def leading(x: Place, lead: tuple[int, ...]) -> str:
    """Where the matrix of number ``q`` among those of leading dims begins, in C."""
    terms, step = "", 1
    for size, stride in zip(lead[::-1], x.strides[-3::-1], strict=True):
        if stride and size > 1:
            terms += f" + (q / {step} % {size}) * {stride}"
        step *= size
    return terms


def _by_vector(x: Place, y: Place) -> bool:
    """Whether a product by a vector is bound by memory, and each row of the matrix is read or written once."""
    (m, k), n = x.shape, y.shape[1]
    if m * n * k > _BY_VECTOR:
        return False
    if y.strides[1] == 1 and (k == 1 or (m == 1 and n > 1)):
        return True
    return 1 in (m, n) and x.strides[1] == 1 and y.strides[0] == 1


def turned(x: Place) -> Place:
    """A matrix's transpose, in the same memory."""
    return x._replace(shape=x.shape[::-1], strides=x.strides[::-1])


def _row(x: Place) -> Place:
    return x._replace(shape=(1, *x.shape), strides=(0, *x.strides))


def _column(x: Place) -> Place:
    return x._replace(shape=(*x.shape, 1), strides=(*x.strides, 0))


def product(ctx: Any, x: Place, y: Place, o: Place, add: bool = False) -> list[Piece] | None:
    """``o = x @ y`` of matrices, or of equally many matrices with leading dims; ``add``: plus what o holds."""
    if not is_float(x, y, o) or not o.dense:
        return None
    lead = o.shape[:-2]
    m, n, k = o.shape[-2], o.shape[-1], x.shape[-1]
    x = x._replace(shape=(*lead, m, k), strides=x.broadcast((*lead, m, k)))
    y = y._replace(shape=(*lead, k, n), strides=y.broadcast((*lead, k, n)))
    if not k:
        return None
    if not lead and (m * n * k <= _SMALL or _by_vector(x, y)):
        return [_loops(x, y, o, add)]
    pieces: list[Piece] = []
    forms = []
    for q in (x, y):
        form = matrix(q._replace(shape=q.shape[-2:], strides=q.strides[-2:]))
        if form is None:
            q = ctx.dense(q, pieces)
            form = 111, q.shape[-1]
        forms.append((q, form))
    if blas() is None:
        return None
    (x, (tx, lx)), (y, (ty, ly)) = forms
    s = SUFFIX[o.dtype]
    count = int(np.prod(lead))
    piece = Piece(count)
    piece.by_blas = is_shared(m * n * k, True)
    if count > 1 and m * n * k <= UNSHARED_PRODUCT:  # OpenBLAS does such a one on one thread
        piece.grain = max(GRAIN * 16 // (m * n * k), 1)
    a, b, c = piece.pointer(x), piece.pointer(y), piece.pointer(o)

    piece.add(
        f"  for (i64 q = from; q < to; q++) gemm_{s}(101, {tx}, {ty}, {m}, {n}, {k}, 1, {a}{leading(x, lead)}, {lx}, "
        f"{b}{leading(y, lead)}, {ly}, {int(add)}, {c} + q * {m * n}, {n});"
    )
    return [*pieces, piece]


def _loops(x: Place, y: Place, o: Place, add: bool) -> Piece:
    """A small product, which the compiler unrolls."""
    m, n, k = o.shape[0], o.shape[1], x.shape[1]
    t, s = C_TYPES[o.dtype], SUFFIX[o.dtype]
    piece = Piece()
    a, b, c = piece.pointer(x), piece.pointer(y), piece.pointer(o)
    (xr, xc), (yr, yc) = x.strides, y.strides
    old = f" + {c}[i * {n} + j]" if add else ""
    if k == 1:
        piece.add(f"  for (i64 i = 0; i < {m}; i++) {{ const {t} s = {a}[i * {xr}];")
        piece.add(f"  IVDEP for (i64 j = 0; j < {n}; j++) {c}[i * {n} + j] = s * {b}[j * {yc}]{old}; }}")
    elif yc == 1 and n > 1:
        piece.add(f"  for (i64 i = 0; i < {m}; i++) {{")
        if not add:
            piece.add(f"    for (i64 j = 0; j < {n}; j++) {c}[i * {n} + j] = 0;")
        piece.add(f"    for (i64 k = 0; k < {k}; k++) {{ const {t} s = {a}[i * {xr} + k * {xc}];")
        piece.add(
            f"    IVDEP for (i64 j = 0; j < {n}; j++) "
            f"{c}[i * {n} + j] = FMA_{s}(s, {b}[k * {yr} + j], {c}[i * {n} + j]); }} }}"
        )
    elif xc == 1 and yr == 1 and k >= 16:
        piece.add(f"  for (i64 i = 0; i < {m}; i++) for (i64 j = 0; j < {n}; j++)")
        piece.add(f"    {c}[i * {n} + j] = ({t})dot_{s}({a} + i * {xr}, {b} + j * {yc}, {k}){old};")
    else:
        piece.add(f"  for (i64 i = 0; i < {m}; i++) for (i64 j = 0; j < {n}; j++) {{ {t} s = 0;")
        piece.add(
            f"    for (i64 k = 0; k < {k}; k++) s = FMA_{s}({a}[i * {xr} + k * {xc}], {b}[k * {yr} + j * {yc}], s);"
        )
        piece.add(f"    {c}[i * {n} + j] = s{old}; }}")
    return piece


def _with(ctx: Any, x: Place, y: Place, bias: Any, o: Place) -> list[Piece] | None:
    """``x @ y + bias``."""
    if bias is None:
        return product(ctx, x, y, o)
    if not isinstance(bias, Place) or bias.dtype != o.dtype:
        return None
    loop = Loop(o.shape)
    loop.steps.append((0, "_to_copy", [bias._replace(shape=o.shape, strides=bias.broadcast(o.shape))], (), o.dtype))
    made = product(ctx, x, y, o, add=True)
    return None if made is None else [*loop.pieces({0: o}, [], None), *made]


def mat_mat(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return product(ctx, x[0], x[1], outs[0])


def mat_vec(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return product(ctx, x[0], _column(x[1]), outs[0].reshaped((outs[0].size, 1)))


def vec_mat(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return product(ctx, _row(x[0]), x[1], outs[0].reshaped((1, outs[0].size)))


def vec_vec(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    if not is_float(*x, *outs):
        return None
    pieces: list[Piece] = []
    a, b = (ctx.dense(q, pieces) for q in x)
    piece = Piece()
    t, s = C_TYPES[a.dtype], SUFFIX[a.dtype]
    p, q, o = piece.pointer(a), piece.pointer(b), piece.pointer(outs[0])
    piece.add(f"  {o}[0] = ({t})dot_{s}({p}, {q}, {a.size});")
    return [*pieces, piece]


def linear(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    """``input @ weight.T + bias`` for any rank."""
    o, a, w = outs[0], x[0], x[1]
    if w.ndim != 2 or a.ndim < 1 or not is_float(a, w, o):
        return None
    pieces: list[Piece] = []
    if a.ndim != 2:
        a = ctx.dense(a, pieces)
        a = a.reshaped((a.size // a.shape[-1], a.shape[-1]))
    rows = o.size // w.shape[0]
    weight = turned(w)
    sure = o.dense and blas() is not None and (x[2] is None or x[2].dtype == o.dtype)
    if sure and 1 < rows <= _FEW_ROWS and w.dtype == np.float32 and w.size <= GRAIN:  # each product would pack it anew
        times = sum(q.name == "linear" and q.args[1] == op.args[1] for q in ctx.plan.ops)
        weight = ctx.turned(op.args[1], w, pieces) if times >= _OFTEN else weight
    made = _with(ctx, a, weight, x[2], o.reshaped((rows, w.shape[0])))
    return None if made is None else [*pieces, *made]


def affine_mm(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return _with(ctx, x[0], x[1], x[2], outs[0]) if tuple(op.p) == (1, 1) else None


def add_product(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return product(ctx, x[1], x[2], outs[0], add=True)


RULES = {
    "mat_mat": mat_mat, "mat_vec": mat_vec, "vec_mat": vec_mat, "vec_vec": vec_vec, "matmul_nd": mat_mat,
    "bmm": mat_mat, "linear": linear, "affine_mm": affine_mm, "affine_bmm": affine_mm, "_add_product": add_product,
}  # fmt: skip

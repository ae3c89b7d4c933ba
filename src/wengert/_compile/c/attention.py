"""Attention, forward and backward, as one operator each: the weights of a block of queries never leave the cache.

The tape has attention's backward pass as the products, the masking and the softmax that its derivative formula names.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.blas import UNSHARED_PRODUCT, blas
from ..._arrays.compiled import SUFFIX
from ..plan import Plan
from ..tape import Op, Ref
from .expressions import literal
from .graph import Graph, Joined, joined
from .pieces import GRAIN, Piece, Place, is_float
from .products import leading, matrix
from .threads import products

_BACKWARD = Joined("attention_backward")


def join_attention(plan: Plan) -> None:
    """Replace the operators of each backward pass by one."""
    for op in [op for op in plan.ops if op.name == "_softmax_backward_data"]:
        graph = Graph(plan)
        found = _parts(graph, op)
        if found is None:
            continue
        args, ends, p = found
        first = min(graph.at[int(e.outs[0])] for e in ends if e is not None)
        if any(isinstance(a, Ref) and graph.at.get(int(a), -1) >= first for a in args):
            continue
        outs = [e.outs[0] for e in ends if e is not None]
        joined(plan, first, Op(_BACKWARD, args, p, outs, op.line, _backward, True, True), [e for e in ends if e])


def _parts(graph: Graph, op: Op) -> Any:
    """(operands, operators that make the cotangents of query, key and value, parameters) of a backward pass."""
    plan, values, by = graph.plan, graph.plan.values, graph.made_by

    def transposed(a: Any) -> Any:
        """What a value is the transpose of."""
        turn, n = by(a, "permute"), len(values[a].shape)
        return turn.args[0] if turn is not None and turn.p == ((*range(n - 2), n - 1, n - 2),) else None

    def scaled(a: Any, name: str) -> tuple[Any, Any]:
        """The operand and the number of a product."""
        times = by(a, name)
        return (None, None) if times is None else (times.args[0], plan.number(times.args[1]))

    softmax, product = by(op.args[1], "softmax_or_zero"), by(op.args[0], "matmul_nd")
    if softmax is None or product is None:
        return None
    scores, mask, causal = softmax.args[0], None, False
    added = by(scores, "add")
    if added is not None:
        scores, mask = added.args
    hidden = by(scores, "hide_future")
    if hidden is not None:
        scores, causal = hidden.args[0], True
    from_query = by(scores, "matmul_nd")
    g, v = product.args[0], transposed(product.args[1])
    if from_query is None or v is None:
        return None
    k = transposed(from_query.args[1])
    q, scale = scaled(from_query.args[0], "mul")
    if scale is None:  # times one
        q, scale = from_query.args[0], 1.0
    shapes = [values[a].shape for a in (g, q, k, v)]
    if k is None or len({shape[:-2] for shape in shapes}) != 1 or not _alone(values[q].dtype, *shapes[1:]):
        return None

    def times(a: Any, number: Any) -> Op | None:
        """What multiplies a value by a number, and is all that reads it."""
        if number == 1.0:
            return plan.ops[graph.at[int(a)]]
        (only, *others) = graph.read_by(a) or [None]
        return only if only is not None and not others and scaled(only.outs[0], "mul") == (a, number) else None

    def reader(a: Any, name: str, place: int, other: Any) -> Op | None:
        """The product of a value, or of its transpose, with another."""
        return next((r for r in graph.read_by(a) if r is not None and r.name == name and r.args[place] == a
                     and r.args[1 - place] == other), None)  # fmt: skip

    def turn(a: Any) -> Any:
        return next((r.outs[0] for r in graph.read_by(a) if r is not None and transposed(r.outs[0]) == a), None)

    gs, w = op.outs[0], softmax.outs[0]
    gq = reader(gs, "matmul_nd", 0, k)
    gk = reader(t, "matmul_nd", 0, q) if (t := turn(gs)) is not None else None
    gv = reader(t, "matmul_nd", 0, g) if (t := turn(w)) is not None else None
    if len(graph.read_by(gs)) != (gq is not None) + (turn(gs) is not None):
        return None  # a mask's cotangent
    ends = [None if e is None else times(e.outs[0], scale) for e in (gq, gk)]
    ends.append(gv)
    if not any(ends[:2]) or any((a is None) != (b is None) for a, b in zip((gq, gk), ends, strict=False)):
        return None
    return [g, q, k, v, mask], ends, (causal, float(scale), tuple([e is not None for e in ends]))


def _alone(dtype: Any, q: Any, k: Any, v: Any) -> bool:
    """Whether each product is one that a thread does alone, by our tiles or OpenBLAS."""
    if dtype == np.float32:
        return products()[0] not in (None, *(blas() or ()))
    return blas() is not None and min(q[-2], 1 << 10) * k[-2] * max(q[-1], v[-1]) <= UNSHARED_PRODUCT


def _weights(q: Any, k: Any, mask: Any, causal: bool, scale: float) -> Any:
    scores = q @ k.swapaxes(-1, -2) * q.dtype.type(scale)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, scores.dtype.type(-math.inf))
    scores = scores if mask is None else scores + mask
    top = scores.max(-1, keepdims=True)
    e = np.where(top == -math.inf, 0, np.exp(scores - top))
    return (e / np.where(top == -math.inf, 1, e.sum(-1, keepdims=True))).astype(q.dtype)


def _backward(g: Any, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float, needs: Any) -> Any:
    w = _weights(q, k, mask, causal, scale)
    h = g @ v.swapaxes(-1, -2)
    h = w * (h - (h * w).sum(-1, keepdims=True)) * q.dtype.type(scale)
    made = (h @ k, h.swapaxes(-1, -2) @ q, w.swapaxes(-1, -2) @ g)
    return [a for a, need in zip(made, needs, strict=True) if need]


def _rows(ctx: Any, x: Place, pieces: list[Piece]) -> Place:
    """Matrices whose rows lie without gaps."""
    form = matrix(x._replace(shape=x.shape[-2:], strides=x.strides[-2:]))
    return x if form is not None and form[0] == 111 else ctx.dense(x, pieces)


def _step(x: Place) -> int:
    return max(x.strides[-2] if x.shape[-2] > 1 else 0, x.shape[-1])


def _heads(ctx: Any, given: list[Place], mask: Any, outs: list[Place | None], call: str, p: Any) -> list[Piece] | None:
    """A function of each head. ``given``: query, key, value and further operands; ``p``: (causal, scale)."""
    q, k, v = given[:3]
    lead, made = q.shape[:-2], [o for o in outs if o is not None]
    sizes = q.shape[-2], k.shape[-2], q.shape[-1], v.shape[-1]
    if not is_float(*given, *made) or not all(sizes) or any(x.shape[:-2] != lead for x in (*given, *made)):
        return None
    if any(o.shape[-1] > 1 and o.strides[-1] != 1 for o in made) or not _alone(q.dtype, q.shape, k.shape, v.shape):
        return None
    pieces: list[Piece] = []
    given = [_rows(ctx, x, pieces) for x in given]
    steps = [*map(_step, given[:3]), 0, 0, *map(_step, given[3:]), *[0 if o is None else _step(o) for o in outs]]
    if mask is not None:
        if not is_float(mask, q) or mask.ndim > len(lead) + 2:
            return None
        shape = (*lead, *sizes[:2])
        mask = mask._replace(shape=shape, strides=mask.broadcast(shape))
        steps[3:5] = mask.strides[-2:]
    count = math.prod(lead)
    piece = Piece(count, max(GRAIN * 16 // (sizes[0] * sizes[1] * (sizes[2] + sizes[3])), 1))
    names = [
        "0" if x is None else f"{piece.pointer(x)}{leading(x, lead)}" for x in (*outs, *given[3:], *given[:3], mask)
    ]
    piece.add(f"  const i64 z[] = {{{', '.join(map(str, (*sizes, *steps)))}}};")
    piece.add(f"  for (i64 q = from; q < to; q++) {call}_{SUFFIX[q.dtype]}({', '.join(names)}, z, ")
    piece.add(f"    {literal(p[1], q.dtype)}, {int(p[0])});")
    return [*pieces, piece]


def attention(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    return _heads(ctx, x[:3], x[3], [outs[0]], "attention", op.p)


def attention_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece] | None:
    left = iter(outs)
    return _heads(ctx, [*x[1:4], x[0]], x[4], [next(left) if n else None for n in op.p[2]], "attention_back", op.p)


RULES = {"attention": attention, _BACKWARD.name: attention_backward}

"""The backward pass of a layer or batch norm with weights as one operator, and a batch norm with its mean and variance.

On the tape a backward pass is five operators (``standardize_backward`` of ``g * w``, ``standardize``, the sums of ``g``
and of ``g`` times that), each of which goes through memory. One operator computes all of a row, or of a channel, while
it is near. So does a relu after a batch norm, with what is added before it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from ..plan import Plan
from ..tape import Op, Ref, Value
from .expressions import C_TYPES
from .graph import Graph, Joined, joined
from .layout import RESHAPES
from .pieces import GRAIN, Piece, Place
from .rows import _number, by_channel

ROWS = 32  # whose sums are added up in the operands' dtype


_ROWS, _CHANNELS, _MOMENTS, _FORWARD, _RELU = map(
    Joined,
    ("norm_rows_backward", "norm_channels_backward", "channel_moments", "norm_channels_told", "norm_channels_relu"),
)


def join_norms(plan: Plan) -> None:
    """Replace the operators of each backward pass by one, and those of a mean and a variance."""
    for op in [op for op in plan.ops if op.name == "standardize_backward"]:
        graph = Graph(plan, RESHAPES)
        found = _parts(graph, op)
        if found is None:
            continue
        args, ends = found
        first = min(graph.at[int(o)] for e in ends if e is not None for o in e.outs)
        if any(graph.at.get(int(a), -1) >= first for a in args):
            continue
        p = (op.p[1], *plan.values[op.outs[0]].shape)
        info = _ROWS if len(p) == 3 else _CHANNELS
        outs = [_unread(plan, op) if e is None else e.outs[0] for e in ends]
        joined(plan, first, Op(info, args, p, outs, op.line, _backward, True, True), ends)
    for op in [op for op in plan.ops if op.name == "mean_dim" and op.p[0] == (0, 2)]:
        graph = Graph(plan, RESHAPES)
        if int(op.outs[0]) not in graph.at:
            continue
        square = graph.made_by(op.args[0], "mul")
        off = graph.made_by(square.args[0], "sub") if square is not None and len(set(square.args)) == 1 else None
        mean = graph.made_by(off.args[1], "mean_dim") if off is not None else None
        x = plan.values[op.args[0]]
        if mean is None or mean.p != op.p or op.p[1] or off.args[0] != mean.args[0] or x.dtype not in SUFFIX:  # type: ignore[union-attr]
            continue
        if plan.values[off.args[1]].shape == (x.shape[1], 1) and plan.values[mean.args[0]].dense and x.size:  # type: ignore[union-attr]
            outs, first = [mean.outs[0], op.outs[0]], graph.at[int(mean.outs[0])]
            if not _with_forward(plan, graph, mean, outs, op):
                made = Op(_MOMENTS, [mean.args[0]], x.shape, outs, op.line, _moments, True, True)
                joined(plan, first, made, [mean, op])
    for op in [op for op in plan.ops if op.name == _FORWARD.name]:
        _with_relu(plan, op)
    for op in [op for op in plan.ops if op.name == _CHANNELS.name and len(op.args) == 5]:
        _with_mask(plan, op)


def _unread(plan: Plan, op: Op) -> Ref:
    """The sums of a cotangent that another operator has added up already: a value that is new to the plan."""
    value = plan.values[op.outs[0]]
    plan.values.append(Value(len(plan.values), (value.shape[1],), value.dtype, None))
    return Ref(len(plan.values) - 1)


def _added(graph: Graph, op: Op | None, but: Any) -> Any:
    """What an operator adds to a value, if it is known when the value is and lies alike; else ``None``."""
    if op is None or op.name != "add" or op.p or not all(isinstance(a, Ref) for a in op.args):
        return None
    values, (a, b) = graph.plan.values, op.args
    other = b if a == but else a
    if a == b or any(values[q].shape != values[op.outs[0]].shape or not values[q].dense for q in (a, b)):
        return None
    return other if values[a].dtype == values[b].dtype else None


def _with_relu(plan: Plan, norm: Op) -> None:
    """Let a batch norm's loop end with the relu that alone reads it, or with a sum that a relu alone reads."""
    graph = Graph(plan)
    ends: list[Any] = [norm, *graph.read_by(norm.outs[0])]
    first = graph.at[int(norm.outs[0])]
    other = _added(graph, ends[1], norm.outs[0]) if len(ends) == 2 else None
    if other is not None:
        if graph.at.get(int(other), -1) >= first:
            return
        ends += graph.read_by(ends[1].outs[0])
    if len(ends) != 2 + (other is not None) or ends[-1] is None or ends[-1].name != "relu":
        return
    outs = [ends[-1].outs[0], *norm.outs[1:]]
    joined(plan, first, Op(_RELU, [*norm.args, other], norm.p, outs, norm.line, _rectified, True, True), ends)


def _with_mask(plan: Plan, back: Op) -> None:
    """Let a batch norm's backward pass begin with that of the relu after it, and with the sum before that."""
    graph = Graph(plan, RESHAPES)
    g, x = back.args[:2]
    mask = graph.made_by(g, "_threshold_backward")
    if mask is None or mask.p != (0,) or mask.outs[0] != g or not all(isinstance(a, Ref) for a in mask.args):
        return
    given, y = mask.args
    values, first = plan.values, graph.at[int(g)]
    if any(graph.at.get(int(a), -1) >= first for a in back.args[1:]) or values[given].shape != values[g].shape:
        return
    if any(not values[a].dense or values[a].dtype != values[x].dtype for a in (given, y, g)):
        return
    ends, more = [back, mask], None
    total = graph.plan.ops[graph.at[int(given)]] if int(given) in graph.at else None
    if total is not None and graph.read_by(given) == [mask] and graph.root(given) == given:
        more = _added(graph, total, None)
        if more is not None:
            given = next(a for a in total.args if a != more)
            ends.append(total)
    outs = back.outs if graph.read_by(g) == [back] else [*back.outs, g]
    args = [given, *back.args[1:], y, more]
    joined(plan, first, Op(_CHANNELS, args, back.p, outs, back.line, _backward_masked, True, True), ends)


def _with_forward(plan: Plan, graph: Graph, mean: Op, moments: list[Ref], op: Op) -> bool:
    """Let a batch norm, if it is of the same input, give its mean and variance, and its backward pass read them."""
    x, shape = graph.root(mean.args[0]), plan.values[mean.args[0]].shape
    for norm in plan.ops:
        if norm.name != "norm_channels" or graph.root(norm.args[0]) != x or norm.p[:2] != (shape, (0, 2)):
            continue
        first = graph.at[int(norm.outs[0])]
        given = [plan.values[a] for a in norm.args if a is not None]
        if first > graph.at[int(mean.outs[0])] or any(v.dtype != given[0].dtype or not v.dense for v in given):
            return False
        eps, outs = norm.p[2], [norm.outs[0], *moments]
        made = Op(_FORWARD, norm.args, (eps, *shape), outs, norm.line, _normalized, True, True)
        joined(plan, first, made, [norm, mean, op])
        for back in plan.ops:
            if back.name == _CHANNELS.name and back.p == (eps, *shape) and back.args[1] == x and len(back.args) == 3:
                back.args = [*back.args, *moments]
                back.lowered = _backward_told
        return True
    return False


def _parts(graph: Graph, op: Op) -> tuple[list[Ref], list[Any]] | None:
    """(cotangent, input and weight, the operators whose results are wanted) of a backward pass.

    ``None`` stands for sums of the cotangent that another norm's backward pass adds up.
    """
    values, out = graph.plan.values, graph.plan.values[op.outs[0]]
    product = graph.made_by(op.args[0], "mul")
    shape = out.shape
    if product is None or (len(shape), op.p[0]) not in ((2, (1,)), (3, (0, 2))) or not out.size or not op.p[2]:
        return None
    n = shape[1]
    x = graph.root(op.args[1])
    operands = [graph.root(a) for a in product.args if isinstance(a, Ref)]
    if len(operands) != 2:
        return None
    g, w = operands if graph.size(operands[0]) == out.size else operands[::-1]
    if graph.size(g) != out.size or graph.size(w) != n or (len(shape) == 2 and shape[0] == 1):
        return None
    rank = len(values[product.outs[0]].shape)
    if any(_along(values[a].shape, rank, shape) != n for a in product.args if graph.root(a) == w):
        return None
    if any(not values[a].dense or values[a].dtype != out.dtype for a in (g, x, w)) or out.dtype not in SUFFIX:
        return None
    sums = [r for r in graph.read_by(g) if r is not None and _sums(graph, r, shape)]
    others = [r for r in graph.read_by(g) if r is not None and r.name == _CHANNELS.name and r.args[0] == g]
    hats = [r for r in graph.read_by(x) if r is not None and r.name == "standardize" and r.p == op.p]
    for hat in hats:
        for scaled in graph.read_by(hat.outs[0]):
            if scaled is None or scaled.name != "mul" or {graph.root(a) for a in scaled.args} != {g, hat.outs[0]}:
                continue
            for total in graph.read_by(scaled.outs[0]):
                if total is not None and _sums(graph, total, shape) and (sums or others):
                    return [g, x, w], [op, total, sums[0] if sums else None]
    return None


def _along(weight: tuple[int, ...], rank: int, shape: tuple[int, ...]) -> int:
    """The size of weights along the last dim of rows, or along the second of so many dims, where channels are."""
    at = 1 if len(shape) == 2 else rank - 1
    return weight[-at] if len(weight) >= at else 0


def _sums(graph: Graph, op: Op, shape: tuple[int, ...]) -> bool:
    """Whether an operator adds up rows, or channels."""
    given, made = graph.plan.values[op.args[0]].shape, graph.plan.values[op.outs[0]].shape
    n = shape[1]
    if len(shape) == 2:
        return op.name == "column_sums" and given[1:] == (n,) and made == (n,)
    return (
        op.name == "sum_to"
        and given[:2] == shape[:2]
        and made in ((n, *[1] * (len(given) - 2)), (1, n, *[1] * (len(given) - 2)))
    )


def _backward(g: Any, x: Any, w: Any, eps: float, *shape: int) -> Any:
    along, others = (1, 0) if len(shape) == 2 else ((0, 2), (0, 2))
    g, x = (a.reshape(shape).astype(np.float64) for a in (g, x))
    d = x - x.mean(along, keepdims=True)
    r = 1 / np.sqrt((d * d).mean(along, keepdims=True) + eps)
    h, q = d * r, g * (w if len(shape) == 2 else w.reshape(-1, 1))
    inner = (q - q.mean(along, keepdims=True) - h * (q * h).mean(along, keepdims=True)) * r
    return [a.astype(w.dtype) for a in (inner, (g * h).sum(others), g.sum(others))]


def _backward_told(g: Any, x: Any, w: Any, mean: Any, variance: Any, eps: float, *shape: int) -> Any:
    return _backward(g, x, w, eps, *shape)


def _backward_masked(g: Any, x: Any, w: Any, mean: Any, variance: Any, y: Any, more: Any, *p: Any) -> Any:
    left = np.where(y <= 0, 0, g if more is None else g + more).astype(w.dtype)
    return [*_backward(left, x, w, *p), left]


def _rectified(x: Any, w: Any, b: Any, more: Any, *p: Any) -> Any:
    a, *moments = _normalized(x, w, b, *p)
    a = a if more is None else a + more
    return [np.where(a < 0, 0, a).astype(a.dtype), *moments]


def _normalized(x: Any, w: Any, b: Any, eps: float, *shape: int) -> Any:
    a = x.reshape(shape)
    mean, variance = _moments(a, *shape)
    r = (a - mean.reshape(-1, 1)) / np.sqrt(variance.reshape(-1, 1) + a.dtype.type(eps))
    r = r if w is None else r * w.reshape(-1, 1)
    return [(r if b is None else r + b.reshape(-1, 1)).reshape(x.shape), mean, variance]


def _moments(x: Any, *shape: int) -> Any:
    return [a.astype(x.dtype) for a in (x.mean((0, 2), np.float64), x.var((0, 2), np.float64))]


def norm_rows_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece]:
    eps, rows, n = op.p
    o, *sums = outs
    s, blocks = SUFFIX[o.dtype], math.ceil(rows / ROWS)
    pieces: list[Piece] = []
    given: list[Place] = [ctx.dense(a, pieces) for a in x]
    part = ctx.scratch(2 * blocks * n, o.dtype)
    piece = Piece(blocks, max(GRAIN // (8 * n * ROWS), 1))
    names = ", ".join(piece.pointer(a) for a in (o, part, *given))
    piece.add(f"  norm_rows_all_back_{s}({names}, {rows}, {n}, {ROWS}, {_number(eps)}, from, to);")
    last = Piece()
    q = last.pointer(part)
    for k, to in enumerate(sums):
        last.add(f"  sum_columns_{s}({last.pointer(to)}, {q} + {k * n}, {blocks}, {n}, {2 * n}, 0, {n}, 1);")
    return [*pieces, piece, last]


def norm_channels_backward(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece]:
    eps, n, c, m = op.p
    pieces: list[Piece] = []
    given = [None if a is None else ctx.dense(a, pieces) for a in x]
    piece = Piece(c, max(GRAIN // (8 * n * m), 1))
    operands = [*outs, None][:4] + given + [None] * (7 - len(given))
    names = ", ".join("0" if a is None else piece.pointer(a) for a in operands)
    piece.add(f"  norm_channels_all_back_{SUFFIX[outs[0].dtype]}({names}, {n}, {c}, {m}, {_number(eps)}, from, to);")
    return [*pieces, piece]


def channel_moments(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece]:
    n, c, m = op.p
    pieces: list[Piece] = []
    a = ctx.dense(x[0], pieces)
    piece = Piece(c, max(GRAIN // (4 * n * m), 1))
    s, t = SUFFIX[a.dtype], C_TYPES[a.dtype]
    p, mean, variance = (piece.pointer(q) for q in (a, *outs))
    piece.add(f"  for (i64 c = from; c < to; c++) {{ {t} m; double v;")
    piece.add(f"    channel_moments_{s}({p}, {n}, {c}, {m}, c, &m, &v); {mean}[c] = m; {variance}[c] = ({t})v; }}")
    return [*pieces, piece]


def norm_channels_told(ctx: Any, op: Any, x: list[Any], outs: list[Place]) -> list[Piece]:
    eps, *view = op.p
    return by_channel(ctx, op.name, x, outs, tuple(view), eps)


RULES = {
    _ROWS.name: norm_rows_backward, _CHANNELS.name: norm_channels_backward, _MOMENTS.name: channel_moments,
    _FORWARD.name: norm_channels_told, _RELU.name: norm_channels_told,
}  # fmt: skip

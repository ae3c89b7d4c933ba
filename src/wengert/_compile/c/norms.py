"""The backward pass of a layer norm with weights as one operator: all that it computes of a row while the row is near.

On the tape it is five operators (``standardize_backward`` of ``g * w``, ``standardize``, the sums of ``g`` and of ``g``
times that over the rows), each of which goes through memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from ..plan import Plan
from ..tape import Op, Ref
from .layout import RESHAPES
from .pieces import GRAIN, Piece, Place
from .rows import _number

ROWS = 32  # whose sums are added up in the operands' dtype


class _Info:
    name = "norm_rows_backward"


_INFO = _Info()


class _Graph:
    """A plan's operators by what they compute and what they read, through reshapes of dense values."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.at = {int(o): k for k, op in enumerate(plan.ops) for o in op.outs}
        self.readers: dict[int, list[Op]] = {}
        for op in plan.ops:
            for a in op.refs():
                self.readers.setdefault(int(a), []).append(op)
        self.ends = {*map(int, plan.results), *(int(s) for _, s in plan.updates)}

    def root(self, a: Any) -> Any:
        """The value that a value is a reshape of."""
        while isinstance(a, Ref) and int(a) in self.at:
            op = self.plan.ops[self.at[int(a)]]
            if op.name not in RESHAPES or not self.plan.values[a].dense or not self.plan.values[op.args[0]].dense:
                break
            a = op.args[0]
        return a

    def made_by(self, a: Any, name: str) -> Op | None:
        """The operator of a name whose result a value is, up to reshapes."""
        op = self.plan.ops[self.at[int(a)]] if int(a := self.root(a)) in self.at else None
        return op if op is not None and op.name == name else None

    def read_by(self, a: Any) -> list[Op]:
        """What reads a value, through reshapes; what must keep it counts too, as ``None``."""
        found: list[Any] = [None] if int(a) in self.ends else []
        for op in self.readers.get(int(a), []):
            found += self.read_by(op.outs[0]) if op.name in RESHAPES and self.root(op.outs[0]) != op.outs[0] else [op]
        return found

    def size(self, a: Any) -> int:
        return self.plan.values[a].size


def join_norms(plan: Plan) -> None:
    """Replace the operators of each backward pass of a layer norm by one."""
    for op in [op for op in plan.ops if op.name == "standardize_backward"]:
        graph = _Graph(plan)
        found = _parts(graph, op)
        if found is None:
            continue
        args, ends = found
        first = min(graph.at[int(o)] for e in ends for o in e.outs)
        if any(graph.at.get(int(a), -1) >= first for a in args):
            continue
        p = (op.p[1], *plan.values[op.outs[0]].shape)
        joined: Any = Op(_INFO, args, p, [e.outs[0] for e in ends], op.line, _backward, True, True)
        plan.ops = [*plan.ops[:first], joined, *[o for o in plan.ops[first:] if not any(o is e for e in ends)]]
        plan._remove_dead()


def _parts(graph: _Graph, op: Op) -> tuple[list[Ref], list[Op]] | None:
    """(cotangent, input and weight, the operators whose results are wanted) of a backward pass."""
    values, out = graph.plan.values, graph.plan.values[op.outs[0]]
    product = graph.made_by(op.args[0], "mul")
    if product is None or len(out.shape) != 2 or not out.size or op.p[0] != (1,) or not op.p[2]:
        return None
    rows, n = out.shape
    x = graph.root(op.args[1])
    operands = [graph.root(a) for a in product.args if isinstance(a, Ref)]
    if len(operands) != 2:
        return None
    g, w = operands if graph.size(operands[0]) == rows * n else operands[::-1]
    last = [values[a].shape[-1:] for a in product.args if graph.root(a) == w]
    if graph.size(g) != rows * n or graph.size(w) != n or rows == 1 or last != [(n,)]:
        return None
    if any(not values[a].dense or values[a].dtype != out.dtype for a in (g, x, w)) or out.dtype not in SUFFIX:
        return None
    sums = [r for r in graph.read_by(g) if r is not None and _sums_rows(graph, r, n)]
    hats = [r for r in graph.read_by(x) if r is not None and r.name == "standardize" and r.p == op.p]
    for hat in hats:
        for scaled in graph.read_by(hat.outs[0]):
            if scaled is None or scaled.name != "mul" or {graph.root(a) for a in scaled.args} != {g, hat.outs[0]}:
                continue
            for total in graph.read_by(scaled.outs[0]):
                if total is not None and _sums_rows(graph, total, n) and sums:
                    return [g, x, w], [op, total, sums[0]]
    return None


def _sums_rows(graph: _Graph, op: Op, n: int) -> bool:
    values = graph.plan.values
    return op.name == "column_sums" and values[op.args[0]].shape[1:] == (n,) and values[op.outs[0]].shape == (n,)


def _backward(g: Any, x: Any, w: Any, eps: float, rows: int, n: int) -> Any:
    g, x = (a.reshape(rows, n).astype(np.float64) for a in (g, x))
    d = x - x.mean(1, keepdims=True)
    r = 1 / np.sqrt((d * d).mean(1, keepdims=True) + eps)
    h, q = d * r, g * w
    inner = (q - q.mean(1, keepdims=True) - h * (q * h).mean(1, keepdims=True)) * r
    return [a.astype(w.dtype) for a in (inner, (g * h).sum(0), g.sum(0))]


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


RULES = {_INFO.name: norm_rows_backward}

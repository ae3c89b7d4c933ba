"""Products that are only read transposed: computed as ``y.T @ x.T``, so that what reads them finds rows.

``(x @ w.T)`` gives ``w.T`` a gradient whose transpose is added to ``w``: without this, each element of it would be read
from another row. The digits are those of the product itself, up to the order in which OpenBLAS adds.
"""

from __future__ import annotations

from ..._base.registry import ARRAYS, REGISTRY
from ..plan import Plan
from ..tape import Op, Ref, Value

_TURNS = {"matrix_t": ((),), "permute": (((1, 0),),), "transpose_dims": ((0, 1), (1, 0))}


def turn_products(plan: Plan) -> None:
    """Replace each matrix product that only transposes read; ``plan.values`` becomes a list of the plan's own."""
    readers: dict[int, list[Op]] = {}
    for op in plan.ops:
        for a in op.refs():
            readers.setdefault(int(a), []).append(op)
    ends = {*map(int, plan.results), *(int(s) for _, s in plan.updates)}
    plan.values = list(plan.values)
    gone: set[int] = set()
    ops: list[Op] = []
    for op in plan.ops:
        if op.outs and int(op.outs[0]) in gone:
            continue
        turns = readers.get(int(op.outs[0]), []) if op.name == "mat_mat" else []
        if not turns or int(op.outs[0]) in ends or not all(t.p in _TURNS.get(t.name, ()) for t in turns):
            ops.append(op)
            continue
        first, *others = [t.outs[0] for t in turns]
        x, y = (_turned(plan, ops, a, op) for a in op.args)
        ops.append(Op(op.info, [y, x], op.p, [first], op.line, op.lowered, op.many, op.fresh))
        gone.add(int(first))
        plan.alias.update((other, first) for other in others)
        gone.update(map(int, others))
    plan.ops = [plan.named(op) for op in ops]
    plan.results = [plan.at(r) for r in plan.results]
    plan.updates = [(t, plan.at(s)) for t, s in plan.updates]


def _turned(plan: Plan, ops: list[Op], a: Ref, at: Op) -> Ref:
    """The transpose of a value, as a view that is new to the plan."""
    value = plan.values[a]
    made = Value(len(plan.values), value.shape[::-1], value.dtype, None)
    made.strides = None if value.strides is None else value.strides[::-1]
    plan.values.append(made)
    ref = Ref(made.number)
    ops.append(Op(REGISTRY["matrix_t"], [a], (), [ref], at.line, ARRAYS.matrix_t))
    return ref

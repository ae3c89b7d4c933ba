"""Operators that one function of the runtime computes with fewer instructions, or with fewer passes over memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX
from ..plan import Plan
from ..tape import Op, Ref
from .graph import Graph


class _Info:
    name = "_normal_cdf"


class _Added:
    name = "_add_product"  # its result lies in the first operand's memory, which nothing else reads


def join_normal_cdf(plan: Plan) -> None:
    """Replace ``(erf(x * 0.5**0.5) + 1) * 0.5``, of the derivative of gelu, by one operator."""
    graph = Graph(plan)

    def inside(a: Any, name: str, number: float) -> Any:
        """The operand that an operator of this name has besides a number; ``None`` if it is another operator."""
        op = graph.made_by(a, name)
        if op is None or len(op.args) != 2 or op.p:
            return None
        found = [b for b in op.args if plan.number(b) is None]
        numbers = [plan.number(b) for b in op.args if plan.number(b) is not None]
        return found[0] if len(found) == 1 and abs(numbers[0] - number) < 1e-7 else None

    for k, op in enumerate(plan.ops):
        if not op.outs or plan.values[op.outs[0]].dtype not in SUFFIX:
            continue
        erf = graph.made_by(inside(inside(op.outs[0], "mul", 0.5), "add", 1.0), "erf")
        x = inside(erf.args[0], "mul", 0.5**0.5) if erf is not None else None
        if erf is not None and x is not None and plan.values[x].shape == plan.values[op.outs[0]].shape:
            f = erf.lowered
            plan.ops[k] = Op(_Info, [x], (), op.outs, op.line, lambda a, f=f: (f(a * 0.5**0.5) + 1) * 0.5, False, True)
    plan._remove_dead()


def join_added_products(plan: Plan) -> None:
    """Let ``x0 @ y0 + x1 @ y1 + ...``, the gradient of a recurrent layer's weight, be added up in one place."""
    reads = Counter(int(a) for op in plan.ops for a in op.refs())
    ends = {*map(int, plan.results), *(int(s) for _, s in plan.updates)}
    made: dict[int, Op] = {}
    began = 0  # after the last operator that does more than compute its results
    places: dict[int, int] = {}
    for k, op in enumerate(plan.ops):
        began = k if op.effect else began
        if op.name == "add" and not op.p and all(isinstance(a, Ref) for a in op.args):
            for p, m in (op.args, op.args[::-1]):
                first, product = made.get(int(p)), made.get(int(m))
                if first is None or product is None or product.name != "mat_mat" or places[int(m)] < began:
                    continue
                values = [plan.values[a] for a in (p, m, op.outs[0])]
                if (
                    first.name in ("mat_mat", _Added.name) and reads[int(p)] == reads[int(m)] == 1
                    and not ends & {int(p), int(m), int(op.outs[0])}
                    and all(v.dtype == np.float32 and v.shape == values[0].shape for v in values)
                ):  # fmt: skip
                    f = product.lowered
                    op = plan.ops[k] = Op(
                        _Added, [p, *product.args], (), op.outs, op.line, lambda p, x, y, f=f: p + f(x, y), False, True
                    )
                    break
        for o in op.outs:
            made[int(o)], places[int(o)] = op, k
    plan._remove_dead()

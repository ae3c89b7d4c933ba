"""Which operators share a loop: elementwise ones over the same elements in the same order, and sums at their end.

An operator joins the first loop that comes after everything it needs. Loops are over a shape, or, where all operands
lie densely, over a number of elements, whatever their shapes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plan import Plan
from ..tape import Op, Ref
from .expressions import C_TYPES, NAMES, expression
from .layout import RESHAPES, Layout

_SUMS = frozenset(("sum_all", "mean_all"))
MOST = 60  # operators in a loop: more need more registers than there are


# NOTE [ Chains of slow functions ]
#   Each of these takes some 80 cycles from operand to result, and 20 if many are under way at once. One that needs the
#   result of another in the same loop waits for it (the processor looks no further ahead than an element or two), which
#   is longer than it takes to write the first one's results and read them again. So it begins another loop.
_SLOW = frozenset(
    (
        "exp", "tanh", "sigmoid", "erf", "erfc", "log", "log2", "log10", "log1p", "expm1", "exp2", "sin", "cos", "tan",
        "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "_silu", "_mish", "_log_sigmoid",
        "_gelu", "_normal_cdf", "_elu", "_celu", "_softplus",
    )
)  # fmt: skip


class Group:
    """Operators that run together. ``key``: of the loop, ``None`` for an operator on its own."""

    def __init__(self, key: Any, ops: list[Op]) -> None:
        self.key = key
        self.ops = ops
        self.sums: list[Op] = []

    @property
    def flat(self) -> bool:
        return self.key is not None and self.key[0] == "flat"


class Grouping:
    """``groups``: in the order of their running; ``inside``: values that only their own loop reads."""

    def __init__(self, plan: Plan, layout: Layout) -> None:
        self.plan = plan
        self.layout = layout
        self.of: dict[int, Op] = {int(o): op for op in plan.ops for o in op.outs}
        self.groups: list[Group] = []
        self.home: dict[int, int] = {}
        self.waits: set[int] = set()  # results that need one of the slow functions in their own loop
        for op in plan.ops:
            self._place(op)
        self.inside = self._inside()

    # ---- operands
    def dense(self, a: int) -> bool:
        """Whether a value lies in C order."""
        return self.layout.places[a].dense

    def same_order(self, a: int) -> int:
        """The computed value whose elements, in their order, a dense value is: through reshapes."""
        while a in self.of and self.of[a].name in RESHAPES and int(a) in self.layout.views:
            source = self.of[a].args[0]
            if not self.dense(a) or not self.dense(source) or self.size(source) != self.size(a):
                break
            a = source
        return int(a)

    def size(self, a: int) -> int:
        return math.prod(self.layout.places[a].shape)

    def number(self, a: Any) -> Any:
        """The Python number that an operand is, or ``None``."""
        if isinstance(a, Ref):
            return self.layout.numbers.get(int(a))
        return a if isinstance(a, (int, float)) else None

    def operand(self, a: Any) -> Any:
        """What ``expression`` needs to know of an operand."""
        number = self.number(a)
        if number is not None:
            return number
        return ("x", self.layout.places[a].dtype) if isinstance(a, Ref) else a

    def fuses(self, op: Op) -> bool:
        """Whether an operator is one of a loop."""
        if op.name not in NAMES or len(op.outs) != 1 or op.effect or any(isinstance(a, list) for a in op.args):
            return False
        out = self.plan.values[op.outs[0]]
        if not out.size or out.dtype not in C_TYPES:
            return False
        shapes = [self.layout.places[r].shape for r in op.refs()]
        try:
            fits = np.broadcast_shapes(*shapes) == out.shape if shapes else False
        except ValueError:
            return False
        return fits and expression(op.name, [self.operand(a) for a in op.args], op.p, out.dtype) is not None

    def _key(self, op: Op) -> Any:
        out = self.plan.values[op.outs[0]]
        n = out.size

        def is_flat(a: Ref) -> bool:
            return self.number(a) is not None or self.size(a) == 1 or (self.size(a) == n and self.dense(a))

        return ("flat", n) if all(map(is_flat, op.refs())) else ("shape", out.shape)

    # ---- placing
    def _place(self, op: Op) -> None:
        if self.fuses(op):
            k = self._join(op)
        elif op.name in _SUMS and (k := self._sum(op)) >= 0:
            pass
        elif op.outs and int(op.outs[0]) in self.layout.views:
            k = max((self.home.get(int(a), -1) for a in op.refs()), default=-1)
            if k < 0:
                k = self._alone(op)
            else:
                self.groups[k].ops.append(op)
        else:
            k = self._alone(op)
        for o in op.outs:
            self.home[int(o)] = k

    def _alone(self, op: Op) -> int:
        self.groups.append(Group(None, [op]))
        return len(self.groups) - 1

    def _joins(self, a: int, k: int, key: Any) -> bool:
        """Whether a loop computes an operand at the element where it is needed."""
        group = self.groups[k]
        b = self.same_order(a) if key[0] == "flat" else int(a)
        op = self.of.get(b)
        if group.key != key or op is None or self.home.get(b) != k or not self._computes(group, op):
            return False
        return self.size(b) == key[1] if key[0] == "flat" else self.layout.places[b].shape == key[1]

    @staticmethod
    def _computes(group: Group, op: Op) -> bool:
        return group.key is not None and any(o is op for o in group.ops) and op.name in NAMES

    def _join(self, op: Op) -> int:
        key, least, slow = self._key(op), 0, op.name in _SLOW
        for a in op.refs():
            k = self.home.get(int(a), -1)
            if k >= 0 and self.number(a) is None:
                together = self._joins(a, k, key) and not (slow and self.same_order(a) in self.waits)
                least = max(least, k if together else k + 1)
        for k in range(least, len(self.groups)):
            group = self.groups[k]
            if group.key == key and len(group.ops) < MOST:
                group.ops.append(op)
                break
        else:
            k = len(self.groups)
            self.groups.append(Group(key, [op]))
        if slow or any(self.home.get(int(a)) == k and self.same_order(a) in self.waits for a in op.refs()):
            self.waits.update(map(int, op.outs))
        return k

    def _sum(self, op: Op) -> int:
        """The flat loop whose result an operator adds up; -1 if there is none."""
        a = op.args[0]
        out = self.plan.values[op.outs[0]]
        k = self.home.get(int(a), -1)
        if k < 0 or out.dtype.kind != "f" or out.dtype != self.layout.places[a].dtype:
            return -1
        if not self.groups[k].flat or self.size(a) < 2 or not self._joins(a, k, self.groups[k].key):
            return -1
        self.groups[k].sums.append(op)
        return k

    # ---- inside
    def _inside(self) -> set[int]:
        outside = {int(r) for r in self.plan.results} | {int(s) for _, s in self.plan.updates}
        outside |= {self.layout.places[r].memory for r in outside}
        for k, group in enumerate(self.groups):
            for op in group.ops:
                loop = self._computes(group, op)
                for a in op.refs():
                    b = self.same_order(a)
                    reads_it = loop and self.home.get(int(a), -1) == k and self._joins(a, k, group.key)
                    if not reads_it and not (op.name in RESHAPES and group.flat):
                        outside.update((int(a), b, self.layout.places[a].memory))
        kept = {self.same_order(s) for s in outside}
        return {
            int(o)
            for group in self.groups
            if group.key is not None
            for op in group.ops
            if self._computes(group, op)
            for o in op.outs
            if int(o) not in outside and int(o) not in kept
        }

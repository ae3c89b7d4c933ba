"""What makes and what reads the values of a plan, for operators of this tier that take the places of several."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..plan import Plan
from ..tape import Op, Ref


class Joined:
    """An operator of this tier alone."""

    def __init__(self, name: str) -> None:
        self.name = name


class Graph:
    """A plan's operators by what they compute and what they read.

    ``through``: the names of reshapes that are looked through where the values are dense.
    """

    def __init__(self, plan: Plan, through: Collection[str] = ()) -> None:
        self.plan = plan
        self.through = through
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
            if op.name not in self.through or not self.plan.values[a].dense or not self.plan.values[op.args[0]].dense:
                break
            a = op.args[0]
        return a

    def made_by(self, a: Any, name: str) -> Op | None:
        """The operator of a name whose result a value is, up to reshapes."""
        a = self.root(a)
        op = self.plan.ops[self.at[int(a)]] if isinstance(a, Ref) and int(a) in self.at else None
        return op if op is not None and op.name == name else None

    def read_by(self, a: Any) -> list[Op | None]:
        """What reads a value, through reshapes; what must keep it counts too, as ``None``."""
        found: list[Op | None] = [None] if int(a) in self.ends else []
        for op in self.readers.get(int(a), []):
            found += (
                self.read_by(op.outs[0]) if op.name in self.through and self.root(op.outs[0]) != op.outs[0] else [op]
            )
        return found

    def size(self, a: Any) -> int:
        return self.plan.values[a].size


def joined(plan: Plan, first: int, made: Any, ends: list[Op]) -> None:
    """Put one operator in the place of others, which begin at ``first``."""
    plan.ops = [*plan.ops[:first], made, *[o for o in plan.ops[first:] if not any(o is e for e in ends)]]
    plan._remove_dead()

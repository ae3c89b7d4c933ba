"""Results of a program that its calls use again, in turns: NOTE [ Results in turns ] in ``running``."""

from __future__ import annotations

import ctypes
import sys
from sys import getrefcount
from typing import Any

import numpy as np

from ..._arrays.memory import address_of
from .frame import Frame
from .program import CProgram
from .threads import follow, told

_MOST = 1 << 18  # bytes of all results


def _count(arrays: list[Any]) -> int:
    (o,) = arrays
    return getrefcount(o)


#: the references to an array that only its set has, seen from a function that has taken it out; -1: nobody knows
_ALONE = _count([np.empty(1)]) if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


class _Set:
    """One array for each result, and a table of addresses that names them."""

    def __init__(self, table: Any, results: list[tuple[int, Any]]) -> None:
        self.table = type(table).from_buffer_copy(table)
        self.address = ctypes.addressof(self.table)
        self.results = results  # place in the table, the value
        self.arrays: list[Any] = [None] * len(results)
        for j in range(len(results)):
            self.renew(j)

    def renew(self, j: int) -> Any:
        """Another array for a result."""
        place, value = self.results[j]
        a = np.empty(value.shape, value.dtype)
        at = address_of(a)
        self.arrays[j], self.table[place] = a, at  # nothing can come between the two
        return a


class Turns:
    """Two sets of results of a program that is called by one thread at a time."""

    def __init__(self, c: CProgram) -> None:
        self.c = c
        self.frame = frame = Frame(c)
        memories = list(dict.fromkeys(map(int, c.plan.results)))
        self.at = [memories.index(int(r)) for r in c.plan.results]
        results = [(c.memories.index(m), c.plan.values[m]) for m in memories]
        self.sets = [_Set(frame.table, results) for _ in range(2)]
        self.read = {index: strides for _, index, strides in frame.given}

    @classmethod
    def of(cls, c: CProgram, strides: list[Any]) -> Turns | None:
        """The results of a program whose inputs have these strides; ``None`` if they are not to be used again."""
        size = sum(c.plan.values[r].nbytes for r in c.plan.results)
        if not c.simple or c.filled or size > _MOST or _ALONE < 0:
            return None
        made = cls(c)
        return made if all(strides[k] == s for k, s in made.read.items()) else None

    def bind(self, inputs: list[Any]) -> None:
        """Write the addresses of inputs into the tables."""
        tables = [s.table for s in self.sets]
        for place, index, _ in self.frame.given:
            tables[0][place] = tables[1][place] = address_of(inputs[index])

    def lines(self, otherwise: str) -> list[str]:
        """The lines that run the program; ``o0``, ... are its results. ``otherwise`` if an index is out of range."""
        count = len(self.sets[0].arrays)
        lines = ["if now_told[0] != threads.requested: follow()"]
        lines += ["now, then = then, now", "address = now.address"]
        if self.c._check is not None:
            lines.append(f"if not indices(address): {otherwise}")
        if count:
            lines.append(f"{', '.join(f'm{j}' for j in range(count))}, = now.arrays")
        lines += [f"if getrefcount(m{j}) > alone: m{j} = now.renew({j})" for j in range(count)]
        lines += [f"step{k}(address)" for k in range(len(self.c._steps))]
        lines.append("before = now.arrays")
        return lines + [f"o{k} = m{at}" for k, at in enumerate(self.at)]

    def likes(self, at: int, x: Any) -> bool:
        """Whether a result is as an input's array must be."""
        a = self.sets[0].arrays[at]
        return (a.shape, a.dtype, a.strides) == x.like

    def scope(self) -> dict[str, Any]:
        """What the lines name."""
        none = [object()] * len(self.at)
        return {
            "bind": self.bind, "now": self.sets[0], "then": self.sets[1], "before": none, "none": none,
            "alone": _ALONE, "getrefcount": getrefcount, "indices": self.c._check, "follow": follow,
            "now_told": told, "threads": follow.__globals__["threads"],
            **{f"step{k}": step for k, step in enumerate(self.c._steps)},
        }  # fmt: skip

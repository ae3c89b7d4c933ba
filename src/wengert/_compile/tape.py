"""A tape: one call of a function as a list of operators on numbered values.

A value is known by its number, a ``Ref``. It has a shape and a dtype, and a source if no operator computes it. The list
is functional: no operator changes a value. A write in place is a new value, and what a tensor holds at the end that it
did not hold at the beginning is an update. Operators stand in the order of eager's calls; ``dead code`` is taken out by
``plan.Plan``. The operators are the registry's, so that ``print(program.tape)`` reads as wengert, and two of the tape's
own (``Special``): a draw from a random stream, and one parameter's step of an optimizer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np


class Ref(int):
    """The number of a value, where it stands among an operator's arguments or results."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"v{int(self)}"


class Input:
    """The source of a value that the caller gives: the payload of the tensor at ``index`` of a program's inputs.

    ``where``: how the program reaches the tensor, such as ``args[0]`` or ``self.weight``.
    """

    __slots__ = ("index", "where")

    def __init__(self, index: int, where: str) -> None:
        self.index = index
        self.where = where

    def __repr__(self) -> str:
        return self.where


class Constant:
    """The source of a value that is an array made during the trace, which nothing changes; ``array`` holds it."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def number(self) -> Any:
        """The Python number that all elements are; ``None`` if they differ or are many."""
        a = np.asarray(self.array)
        if a.dtype.kind not in "fiub" or not a.size:
            return None
        first = a.reshape(-1)[:1]
        if a.size > 1 and any(a.strides) and not (a == first).all():
            return None
        return first[0].item()

    def __repr__(self) -> str:
        number = self.number
        return f"array of shape {self.array.shape}" if number is None else repr(number)


class Value:
    """One value: ``number``, ``shape``, ``dtype`` (NumPy's), ``source`` (``Input``, ``Constant``; None: computed).

    ``strides``: eager's, in bytes; a value may lie in memory of another order only if nobody can tell.
    """

    __slots__ = ("dtype", "number", "shape", "source", "strides")

    def __init__(self, number: int, shape: tuple[int, ...], dtype: Any, source: Input | Constant | None) -> None:
        self.number = number
        self.shape = shape
        self.dtype = dtype
        self.source = source
        self.strides: tuple[int, ...] | None = None

    @property
    def dense(self) -> bool:
        """Whether eager's array is dense in row-major order."""
        step = self.dtype.itemsize
        if self.strides is None or not self.size:
            return True
        for n, s in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n != 1:
                if s != step:
                    return False
                step *= n
        return True

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of a dense array."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        kind = f"{self.number!r}: {self.dtype.name}{list(self.shape)}"
        return kind if self.source is None else f"{kind} = {self.source!r}"


class Special:
    """An operator of the tape's own. Its effect is as eager's; it is neither removed nor moved nor merged.

    ``draw``            ``lowered(*args)`` draws from the live stream and returns the array; mostly without operands
    ``check``           ``lowered(*args)`` raises if an operand's elements are not what eager accepts; no results
    ``order``           ``lowered(a)`` copies a value into memory of the order that the written tensor has
    ``optimizer_step``  operands: the parameter, its gradient; ``p = (step,)``; ``step(gradient)`` is the optimizer's
                        own step of this parameter, with its state and the hyperparameters of that moment; it writes
                        into the parameter's memory, and the result is the parameter's new value. ``step.optimizer``,
                        ``step.group``, ``step.param`` are for tiers that make a loop of it: ``optimizer._rule``
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


CHECK, DRAW, OPTIMIZER_STEP, ORDER = map(Special, ("check", "draw", "optimizer_step", "order"))


def _refs(values: Any) -> Iterator[Ref]:
    for a in values:
        if isinstance(a, Ref):
            yield a
        elif type(a) in (list, tuple):
            yield from _refs(a)


class Op:
    """One operator of a tape.

    ``info``    the registry's ``Operator``, or a ``Special``
    ``name``    its name
    ``args``    operands: ``Ref``, Python number, ``None``; a list of these for an operator on a sequence
    ``p``       parameters: plain values, and for a few operators ``Ref`` (targets, indices), also inside of tuples
    ``outs``    the numbers of the results
    ``line``    (file, line number) of the user's program
    ``lowered`` the array function that gives eager's result, called with arrays in place of ``args`` and with ``*p``
    ``many``    whether that function returns a sequence of results
    ``fresh``   whether the results have memory of their own, not an operand's
    """

    __slots__ = ("args", "fresh", "info", "is_view", "line", "lowered", "many", "name", "outs", "p")

    def __init__(
        self,
        info: Any,
        args: list[Any],
        p: tuple[Any, ...],
        outs: list[Ref],
        line: tuple[str, int] | None = None,
        lowered: Any = None,
        many: bool = False,
        fresh: bool = False,
    ) -> None:
        self.info = info
        self.name = info.name
        self.args = args
        self.p = p
        self.outs = outs
        self.line = line
        self.lowered = lowered
        self.many = many
        self.fresh = fresh
        self.is_view = bool(getattr(info, "view", False))

    @property
    def effect(self) -> bool:
        """Whether running it does more than compute its results."""
        return isinstance(self.info, Special)

    def refs(self) -> Iterator[Ref]:
        """The values among the operands and parameters."""
        return _refs((*self.args, *self.p))

    @staticmethod
    def refs_of(args: list[Any], p: tuple[Any, ...]) -> Iterator[Ref]:
        """The values among other operands and parameters."""
        return _refs((*args, *p))

    def __repr__(self) -> str:
        outs = ", ".join(map(repr, self.outs))
        given = ", ".join(map(repr, (*self.args, *(p for p in self.p if not callable(p)))))
        return f"{outs} = {self.name}({given})"


class Tape:
    """The list of operators of one call, with its values.

    ``values``    all values, by number
    ``ops``       the operators
    ``results``   the values that the call returns (or saves for backward), in order
    ``updates``   (input's number, number of its new value): what is written into the memory of inputs at the end
    ``gradients`` how many of the results, the first ones, become gradients of leaves
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.ops: list[Op] = []
        self.results: list[Ref] = []
        self.updates: list[tuple[Ref, Ref]] = []
        self.gradients = 0

    def new(self, shape: tuple[int, ...], dtype: Any, source: Input | Constant | None = None) -> Ref:
        """Number a new value."""
        ref = Ref(len(self.values))
        self.values.append(Value(ref, tuple(shape), dtype, source))
        return ref

    @property
    def inputs(self) -> list[Value]:
        """The values that the caller gives, in the order of a program's inputs."""
        found = [v for v in self.values if isinstance(v.source, Input)]
        return sorted(found, key=lambda v: v.source.index)

    def used(self) -> set[int]:
        """The numbers of values that operators read, or that are results or updates."""
        seen = {int(r) for op in self.ops for r in op.refs()}
        return seen | {int(r) for r in self.results} | {int(r) for _, r in self.updates}

    def __str__(self) -> str:
        used = self.used()
        lines = [repr(v) for v in self.values if v.source is not None and v.number in used]
        lines += map(repr, self.ops)
        lines += [f"{self.values[old].source!r} <- {new!r}" for old, new in self.updates]
        return "\n".join([*lines, f"return {', '.join(map(repr, self.results))}"])

"""What all tiers share: a tape made smaller, the life of each value, and memory for it.

``Plan`` removes copies of values that nothing changes, repeated operators and those whose results nobody reads. Then
each operator is a group of its own; a tier that fuses puts several into one. ``allocate`` gives each value that a tier
computes into memory of its own a place in one of the plan's buffers, which others have before and after it lives.

NOTE [ Aliases ]
    A result may share memory with an operand: that of a view does, and that of a reshape or a cast may. Which ones do
    was seen in the trace (``Op.fresh``), and is the same for operands of the same strides. ``roots`` of a value are the
    values in whose memory it may lie. A buffer
    is free again when nobody reads any value that may lie in it. Results of the program, and what may lie in their
    memory, never have a buffer: they are the caller's own.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from .._base.registry import REGISTRY
from .tape import CHECK, Constant, Input, Op, Ref, Tape, Value

_FOLDED = 1 << 14  # bytes of a constant that is computed when the program is made
_COPIES = frozenset(("clone", "view", "reshape", "contiguous"))
_DIVISIONS = frozenset(("_div_floor", "_div_trunc", "floor_divide", "fmod", "remainder"))
_REFUSING = frozenset((
    "_put_along", "_searchsorted", "_take_along", "cholesky_factor", "cholesky_solution", "ctc_nll", "eigen_general",
    "eigen_hermitian", "embedding", "histc", "index", "index_put", "inverse", "ldl_apply", "ldl_compact", "lu_compact",
    "multi_margin", "orthogonal", "permutation_of", "pseudo_inverse", "singular", "solve_left", "take_flat", "unpool",
))  # fmt: skip  # whose array functions raise for some elements; of others the tape has a ``check``


class Buffer:
    """A piece of memory that several values have in turn; ``values``: their numbers."""

    __slots__ = ("nbytes", "values")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.values: list[int] = []


class Plan:
    """A tape made smaller: ``ops``, ``results`` and ``updates`` name the values that are left.

    ``sharing``: whether values may have one buffer after the other; tests turn it off.
    """

    def __init__(self, tape: Tape, sharing: bool = True) -> None:
        self.tape = tape
        self.values = list(tape.values)
        self.sharing = sharing
        self.alias: dict[Ref, Ref] = {}
        self.ops: list[Op] = []
        self._simplify()
        self.results = [self.at(r) for r in tape.results]
        self.updates = [(t, self.at(s)) for t, s in tape.updates]
        self._remove_dead()
        self._join_negatives()
        self._remove_dead()
        self.groups: list[list[Op]] = [[op] for op in self.ops]
        self.buffers: list[Buffer] = []
        self.place: dict[int, Buffer] = {}

    # ---- a smaller list
    def at(self, a: Any) -> Any:
        """An operand with aliases replaced by what they are aliases of."""
        if type(a) in (list, tuple):
            return type(a)(map(self.at, a))
        while isinstance(a, Ref) and a in self.alias:
            a = self.alias[a]
        return a

    def named(self, op: Op) -> Op:
        """An operator on the values that aliases stand for."""
        return self._changed(op, [self.at(a) for a in op.args], self.at(op.p))

    def number(self, a: Any) -> Any:
        """The Python number that an operand is, ``None`` if it is not one."""
        if isinstance(a, Ref):
            source = self.values[a].source
            return source.number if isinstance(source, Constant) else None
        return a if isinstance(a, (int, float)) and not isinstance(a, bool) else None

    def _simplify(self) -> None:
        known: dict[Any, list[Ref]] = {}
        self.contents: dict[Any, int] = {}
        for value in self.values:
            if isinstance(value.source, Constant):
                self._known_constant(value)
        for op in self.tape.ops:
            args = [self.at(a) for a in op.args]
            p = self.at(op.p)
            if op.effect:
                self.ops.append(self._changed(op, args, p))
                continue
            first = args[0] if args else None
            if isinstance(first, Ref) and len(op.outs) == 1 and self._same(first, op.outs[0]) and not op.many:
                if op.name in _COPIES and not self._reordered(op):
                    self.alias[op.outs[0]] = first
                    continue
                if op.name in ("mul", "div", "pow") and len(args) == 2 and self._is_one(args[1]):
                    self.alias[op.outs[0]] = first
                    continue
                if op.name == "pow" and len(args) == 2 and self._is_number(args[1], 0):
                    value = self.values[first]
                    if value.nbytes <= _FOLDED and value.dense:
                        self._become(op, [np.ones(value.shape, value.dtype)])  # of nan, too
                        continue
            if op.name == "mul" and self._is_one(first):
                if isinstance(args[1], Ref) and self._same(args[1], op.outs[0]):
                    self.alias[op.outs[0]] = args[1]
                    continue
            if self._folds(op, args, p):
                continue
            key = _key(op, args, p)
            if key is not None:
                if key in known:
                    self.alias.update(zip(op.outs, known[key], strict=True))
                    continue
                known[key] = op.outs
            self.ops.append(self._changed(op, args, p))

    def _folds(self, op: Op, args: list[Any], p: tuple[Any, ...]) -> bool:
        """Whether an operator reads constants alone: its small results are constants from now on."""
        if any(self.values[o].nbytes > _FOLDED for o in op.outs):
            return False
        if not all(isinstance(self.values[r].source, Constant) for r in op.refs_of(args, p)):
            return False
        try:
            with np.errstate(all="ignore"):
                made = op.lowered(*map(self._array, args), *map(self._array, p))
        except Exception:  # noqa: BLE001  what the program would raise, it raises when it runs
            return False
        results = list(made) if op.many else [made]
        if any((a.shape, a.dtype) != (v.shape, v.dtype) for a, v in zip(results, self.values_of(op), strict=True)):
            return False
        self._become(op, results)
        return True

    def _become(self, op: Op, arrays: list[Any]) -> None:
        """Let an operator's results be constants."""
        for a, old in zip(arrays, self.values_of(op), strict=True):
            self.values[old.number] = new = Value(old.number, old.shape, old.dtype, Constant(np.asarray(a)))
            new.strides = old.strides
            self._known_constant(new)

    def values_of(self, op: Op) -> list[Value]:
        """An operator's results."""
        return [self.values[o] for o in op.outs]

    def _known_constant(self, value: Value) -> None:
        """Let a small constant be the first one with the same elements in the same order in memory."""
        if value.nbytes > _FOLDED:
            return
        a = value.source.array
        key = (value.dtype.str, value.shape, value.strides, a.tobytes())
        first = self.contents.setdefault(key, value.number)
        if first != value.number:
            self.alias[Ref(value.number)] = Ref(first)

    def _array(self, a: Any) -> Any:
        """An operand with constants' arrays in their places."""
        if type(a) in (list, tuple):
            return type(a)(map(self._array, a))
        return self.values[a].source.array if isinstance(a, Ref) else a

    @staticmethod
    def _changed(op: Op, args: list[Any], p: tuple[Any, ...]) -> Op:
        made = Op(op.info, args, p, op.outs, op.line, op.lowered, op.many, op.fresh)
        made.is_view = op.is_view
        return made

    def _same(self, a: Ref, b: Ref) -> bool:
        x, y = self.values[a], self.values[b]
        return x.shape == y.shape and x.dtype == y.dtype and x.strides == y.strides

    def _reordered(self, op: Op) -> bool:
        """Whether a copy has another order of dims in memory than its operand may have."""
        if op.name not in ("clone", "contiguous") or all(p is None for p in op.p):
            return False
        return op.p != ("C",) or not self.values[op.outs[0]].dense

    @staticmethod
    def _is_number(a: Any, number: int) -> bool:
        return type(a) in (int, float) and a == number

    def _is_one(self, a: Any) -> bool:
        """Whether an operand is 1, or a small constant array of ones."""
        if not isinstance(a, Ref):
            return self._is_number(a, 1)
        value = self.values[a]
        one = isinstance(value.source, Constant) and value.shape and 0 < value.nbytes <= _FOLDED
        return bool(one and value.dtype.kind in "fiu" and (value.source.array == 1).all())

    def _join_negatives(self) -> None:
        """Let ``a + -b`` be ``a - b``, and ``a + -b * c`` be ``a - b * c``: the digits are the same."""
        made = {int(op.outs[0]): op for op in self.ops if len(op.outs) == 1}
        ends = [*self.results, *(s for _, s in self.updates)]
        reads = collections.Counter([*ends, *(a for op in self.ops for a in op.refs())])
        if any(op.effect and op.info is not CHECK for op in self.ops):
            return  # what is negated may be another number by then

        def negated(a: Any) -> Any:
            """What an operand is the negative of."""
            op = made.get(int(a)) if isinstance(a, Ref) else None
            return op.args[0] if op is not None and op.lowered is np.negative else None

        for op in self.ops:
            if op.lowered is not np.add or op.p or not self._alike(op):
                continue
            for x, y in (op.args, op.args[::-1]):
                b, by = negated(y), made.get(int(y))
                if b is None and by is not None and by.lowered is np.multiply and reads[y] == 1 and self._alike(by):
                    for k in (0, 1):
                        if (c := negated(by.args[k])) is not None:
                            by.args[k], b = c, y
                            break
                if b is not None:
                    op.info, op.name, op.lowered, op.args = REGISTRY["sub"], "sub", np.subtract, [x, b]
                    break

    def _alike(self, op: Op) -> bool:
        """Whether two values of one floating dtype are the operands."""
        wanted = self.values[op.outs[0]].dtype
        return wanted.kind == "f" and all(isinstance(a, Ref) and self.values[a].dtype == wanted for a in op.args)

    def _remove_dead(self) -> None:
        needed = {*self.results, *(s for _, s in self.updates)}
        kept = []
        for op in reversed(self.ops):
            if op.effect or any(o in needed for o in op.outs) or self._refuses(op):
                kept.append(op)
                needed.update(op.refs())
        self.ops = kept[::-1]

    def _refuses(self, op: Op) -> bool:
        """Whether an operator raises for some elements, also where nobody reads its results."""
        if op.name in _DIVISIONS:
            return isinstance(op.args[1], Ref) and self.values[op.outs[0]].dtype.kind in "iu"
        return op.name in _REFUSING

    def parts(self, copied: Collection[int], owners: list[int]) -> bool:
        """Whether results that share memory in eager would not, if these are copies, as numbers always are."""
        own = range(self.tape.gradients, len(owners))  # each leaf's gradient has memory of its own
        values = [self.values[r] for r in self.results]
        shared = collections.Counter([owners[k] for k in own if owners[k] >= 0 and values[k].size])
        return any(shared[owners[k]] > 1 for k in own if k in copied or not values[k].shape)

    # ---- memory
    def roots(self) -> dict[int, frozenset[int]]:
        """The values in whose memory each value may lie."""
        found: dict[int, frozenset[int]] = {}
        for op in self.ops:
            if op.fresh:
                found.update((int(o), frozenset((int(o),))) for o in op.outs)
                continue
            lie = frozenset(r for a in op.refs() for r in found.get(int(a), (int(a),)))
            found.update((int(o), lie | {int(o)}) for o in op.outs)
        return found

    def last_reads(self, roots: dict[int, frozenset[int]]) -> dict[int, int]:
        """The index of the last group that reads a value or anything in its memory; results live to the end."""
        last: dict[int, int] = {}
        for k, group in enumerate(self.groups):
            for op in group:
                for a in (*op.refs(), *op.outs):
                    for r in roots.get(int(a), (int(a),)):
                        last[r] = k
        for s in (*self.results, *(s for _, s in self.updates)):
            for r in roots.get(int(s), (int(s),)):
                last[r] = len(self.groups)
        return last

    def allocate(
        self,
        planned: Callable[[Op], bool],
        inside: Iterable[int] = (),
        roots: dict[int, frozenset[int]] | None = None,
    ) -> None:
        """Give a buffer to the results of operators that write where they are told (``planned``).

        ``inside``: values that live only inside of a group and need no memory. ``roots``: of a tier that has its own.
        Sets ``place`` and ``buffers``. Values of the end (results, updates) get none.
        """
        roots = self.roots() if roots is None else roots
        last = self.last_reads(roots)
        inner = set(inside)
        free: dict[int, list[Buffer]] = {}
        held: dict[int, Buffer] = {}
        for k, group in enumerate(self.groups):
            for op in group:
                for o in op.outs if planned(op) else ():
                    if last[o] == len(self.groups) or o in inner:
                        continue
                    room = -(-max(self.values[o].nbytes, 1) // 64) * 64
                    pool = free.setdefault(room, [])
                    if pool and self.sharing:
                        buffer = pool.pop()
                    else:
                        buffer = Buffer(room)
                        self.buffers.append(buffer)
                    buffer.values.append(int(o))
                    self.place[int(o)] = held[int(o)] = buffer
            for n in [n for n in held if last[n] <= k]:
                free.setdefault(held[n].nbytes, []).append(held[n])
                del held[n]

    @property
    def nbytes(self) -> int:
        """The bytes of all buffers."""
        return sum(b.nbytes for b in self.buffers)


def _key(op: Op, args: list[Any], p: tuple[Any, ...]) -> Any:
    """What makes two operators the same; ``None`` if that cannot be told."""
    try:
        key = (op.name, *[tuple([_typed(x) for x in a]) if isinstance(a, list) else _typed(a) for a in args], _exact(p))
        hash(key)
    except TypeError:
        return None
    return key


def _typed(a: Any) -> Any:
    """A number with its type and sign: 1, 1.0, True and -0.0 are four."""
    return (type(a), repr(a)) if isinstance(a, (int, float, complex)) and not isinstance(a, Ref) else (type(a), a)


def _exact(p: Any) -> Any:
    return tuple([_exact(x) for x in p]) if type(p) is tuple else _typed(p)


def is_input(value: Value) -> bool:
    """Whether the caller gives a value."""
    return isinstance(value.source, Input)


def array_for(value: Value, memory: Any) -> Any:
    """A dense array of a value's shape and dtype at the beginning of a buffer's memory (uint8)."""
    if not value.nbytes:
        return np.empty(value.shape, value.dtype)
    return memory[: value.nbytes].view(value.dtype).reshape(value.shape)

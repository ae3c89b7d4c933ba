"""A plan as a C program: pieces of C in their order, with calls of operators' own functions between them.

``CProgram(plan)`` is called with the arrays of the inputs and returns the arrays of the results; what the plan
updates is written into the inputs' memory. Everything that a call writes lies in a frame of its own (``Frame``), so
that a program may run in several threads at once.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from typing import Any

import numpy as np

from ..._arrays.blas import one_thread
from ..._ops.indexing._along import Inside
from ..plan import Plan
from ..tape import CHECK, OPTIMIZER_STEP, Op, Ref
from . import attention, norms
from .blocks import in_blocks
from .cache import library
from .expressions import C_TYPES
from .frame import ALIGNED, SCRATCH, Frame
from .grouping import Group, Grouping
from .joining import join_added_products, join_normal_cdf
from .layout import Layout
from .loops import Loop, copy
from .pieces import Piece, Place, dense_strides, is_index
from .reductions import reduction
from .rules import RULES
from .steps import Call, joined
from .threads import address, follow, products
from .turning import turn_products

_REDUCTIONS = frozenset(
    ("sum_all", "mean_all", "sum_dim", "mean_dim", "sum_to", "column_sums", "amax", "amin", "max_all", "min_all")
)
_COPIES = frozenset(("view", "reshape", "clone", "contiguous", "permute", "transpose_dims", "matrix_t", "expand"))


class Unsupported(Exception):
    """There is no way to a C program; the one in NumPy runs."""


class CProgram:
    """A compiled program.

    ``source``: the C; ``calls``: names of operators that are called by their own functions; ``nbytes``: a frame's size.
    ``owners``: for each result a number that results have in common if eager's share memory; -1 for one that may lie in
    an input's memory. ``filled``: tests fill a frame with nan before each call.
    """

    def __init__(self, plan: Plan, owners: list[int] | None = None, filled: bool = False) -> None:
        self.plan = plan
        self.owners = owners
        self.filled = filled
        self._checks: list[tuple[Place, int, int, Any]] = []
        self._scratch_bytes = self._scratch_at = 0
        self._turned: dict[Any, Place] = {}
        turn_products(plan)
        join_normal_cdf(plan)
        join_added_products(plan)
        norms.join_norms(plan)
        attention.join_attention(plan)
        try:
            self.layout = Layout(plan)
        except (ValueError, TypeError, NotImplementedError) as error:
            raise Unsupported(str(error)) from None
        plan.ops = [op for op in plan.ops if not self._checks_inside(op)]
        grouping = self.grouping = Grouping(plan, self.layout)
        self._memory(grouping)
        self._segments: list[Any] = []
        self.later: dict[Place, Any] = {}  # a result that its only reader computes
        for group in grouping.groups:
            self._scratch_at = 0
            self._emit(group)
        self._drop_known_checks()
        self._write_back()
        self._segments = in_blocks(self)
        self.layout.forget()
        self.source = self._text()
        self.calls = [s.op.name for s in self._segments if isinstance(s, Call)]
        self._by_blas = any(isinstance(s, Piece) and s.by_blas for s in self._segments)
        self._load()

    # ---- memory
    def _memory(self, grouping: Grouping) -> None:
        """Where each value's memory is: of an input, a constant, a buffer, a result, or an update."""
        plan, layout = self.plan, self.layout
        plan.groups = [[*g.ops, *g.sums] for g in grouping.groups]

        def fresh(op: Op) -> bool:
            return bool(op.outs) and int(op.outs[0]) not in layout.views | layout.written

        # where values lie is the layout's to say: eager's view of a scalar is a copy, here it is a view
        roots = {o: frozenset((place.memory, o)) for o, place in layout.places.items()}
        plan.allocate(fresh, grouping.inside, roots)
        self.offsets: dict[int, int] = {}
        at, starts = 0, {}
        for buffer in plan.buffers:
            starts[id(buffer)] = at
            at += -(-buffer.nbytes // ALIGNED) * ALIGNED
        for number, buffer in plan.place.items():
            self.offsets[number] = starts[id(buffer)]
        self.roots = {layout.places[r].memory for r in plan.results}
        self._results()
        direct = self._direct(grouping)
        self.redirect: dict[int, int] = {}  # memory of a value -> memory of the input that it updates
        for old, new in plan.updates:
            if direct.get(int(new)) == int(old):
                self.redirect[int(new)] = int(old)
        for group in grouping.groups:
            for op in (*group.ops, *group.sums):
                for o in op.outs:
                    m = layout.places[o].memory
                    known = m in self.offsets or m in self.redirect or m in self.roots
                    if known or int(o) in grouping.inside or plan.values[m].source is not None or m != int(o):
                        continue
                    self.offsets[m] = at
                    at += -(-max(plan.values[m].nbytes, 1) // ALIGNED) * ALIGNED
        self.nbytes = at

    def _results(self) -> None:
        """Which results are copies, because they lie in memory that is not theirs alone, and when they are made.

        ``early``: of what inputs hold before the call; ``late``: of what they, or other results, hold after it.
        """
        plan, layout = self.plan, self.layout
        stepped = {int(op.outs[0]) for op in plan.ops if op.info is OPTIMIZER_STEP}
        written = {int(old) for old, _ in plan.updates}
        self.updated = {plan.values[old].source.index for old, _ in plan.updates}
        self.early: list[tuple[int, Place]] = []
        self.late: set[int] = set()
        self.strides: list[Any] = []
        taken: dict[int, int] = {}
        for k, r in enumerate(plan.results):
            place = layout.places[r]
            owner = k if self.owners is None else self.owners[k]
            wanted = getattr(plan.values[plan.tape.results[k]], "strides", None)
            have = tuple([s * place.dtype.itemsize for s in place.strides])
            moved = wanted is not None and any(
                a != b for a, b, n in zip(wanted, have, place.shape, strict=True) if n > 1
            )
            self.strides.append(wanted if moved and place.size and 0 not in wanted else None)
            if plan.values[place.memory].source is not None:
                if place.memory in written and int(r) not in stepped:
                    self.early.append((k, place))
                elif owner >= 0:
                    self.late.add(k)
            elif owner >= 0 and taken.setdefault(place.memory, owner) != owner:
                self.late.add(k)
        reordered = {k for k, strides in enumerate(self.strides) if strides is not None}
        if self.owners is not None and plan.parts(self.late | reordered, self.owners):
            raise Unsupported("results that share memory are copies")
        self.fresh_roots = [m for m in self.roots if plan.values[m].source is None]

    def _direct(self, grouping: Grouping) -> dict[int, int]:
        """New values that may be written into the input's memory at once: nobody reads the old value later."""
        layout = self.layout
        reads: dict[int, int] = {}
        for k, group in enumerate(grouping.groups):
            for op in (*group.ops, *group.sums):
                for a in op.refs():
                    reads[layout.places[a].memory] = k
        found: dict[int, int] = {}
        for old, new in self.plan.updates:
            place, value = layout.places[old], self.plan.values[new]
            k = grouping.home.get(int(new), -1)
            if k < 0 or int(new) in found or layout.places[new].memory != int(new) or int(new) in self.roots:
                continue
            if not place.dense or place.dtype != value.dtype or place.shape != value.shape or int(old) in self.roots:
                continue
            last = reads.get(int(old), -1)
            if last < k or (last == k and self._same_element(grouping.groups[k], int(old), int(new))):
                found[int(new)] = int(old)
        return found

    def _same_element(self, group: Group, old: int, new: int) -> bool:
        """Whether a loop reads the old value only where it writes the new one."""
        if group.key is None or group.sums:
            return False
        return all(self.layout.places[a].dense and self.layout.places[a].size == self.layout.places[new].size
                   for op in group.ops for a in op.refs() if self.layout.places[a].memory == old)  # fmt: skip

    def at(self, r: Any) -> Place:
        """A value's place, in the memory that it really has."""
        place = self.layout.places[r]
        return place._replace(memory=self.redirect.get(place.memory, place.memory))

    # ---- for the rules
    def scratch(self, n: int, dtype: Any) -> Place:
        """A place that lives as long as one operator runs."""
        at = self._scratch_at
        self._scratch_at += -(-n * dtype.itemsize // ALIGNED) * ALIGNED
        self._scratch_bytes = max(self._scratch_bytes, self._scratch_at)
        return Place(SCRATCH, at // dtype.itemsize, dtype, (n,), (1,))

    def turned(self, r: Any, place: Place, pieces: list[Piece]) -> Place:
        """The transpose of a matrix that several products read so: one copy, with its columns as rows, for all."""
        key = int(r), place
        found = self._turned.get(key)
        if found is None:
            number = SCRATCH - 1 - len(self._turned)
            self.offsets[number] = self.nbytes
            self.nbytes += -(-place.size * place.dtype.itemsize // ALIGNED) * ALIGNED
            shape = place.shape[::-1]
            found = self._turned[key] = Place(number, 0, place.dtype, shape, dense_strides(shape))
            pieces.append(copy(found, place._replace(shape=shape, strides=place.strides[::-1])))
        return found

    def dense(self, place: Place, pieces: list[Piece]) -> Place:
        """The same elements in C order: copied, if they are not."""
        if place.dense:
            return place
        to = self.scratch(place.size, place.dtype)._replace(shape=place.shape, strides=dense_strides(place.shape))
        pieces.append(copy(to, place))
        return to

    def checked(self, index: Place, low: int, high: int, but: Any = None) -> bool:
        """Whether an index can be checked before the program runs: it is an input. Then it is."""
        value = self.plan.values[index.memory] if index.memory >= 0 else None
        if value is None or value.source is None:
            return False
        check = (index, low, high, but)
        if check not in self._checks:
            self._checks.append(check)
        return True

    def _checks_inside(self, op: Op) -> bool:
        """Whether an operator is a check of indices that C makes before the program runs."""
        if op.info is not CHECK or type(op.lowered) is not Inside:
            return False
        index = self.layout.places[op.args[0]]
        return is_index(index) and self.checked(index, op.lowered.least, op.lowered.n)

    def _drop_known_checks(self) -> None:
        """Leave out eager's checks of indices that C checks itself, as many of each."""
        known = Counter(index.memory for index, *_ in self._checks)
        asked = {id(s): s.args[0].memory for s in self._segments if isinstance(s, Call) and s.op.info is CHECK}
        gone = {m for m, n in Counter(asked.values()).items() if n <= known[m]}
        self._segments = [s for s in self._segments if asked.get(id(s)) not in gone]

    def only_reader(self, r: Any, name: str) -> bool:
        """Whether the next operator is of this name, along the last dim, and is all that reads a value."""
        readers = [op for op in self.plan.ops if r in op.refs()]
        if len(readers) != 1 or readers[0].name != name or self.layout.places[r].memory in self.roots:
            return False
        home = self.grouping.home  # between the two, what this one reads may be overwritten
        if home[int(readers[0].outs[0])] != home[int(r)] + 1:
            return False
        return any(r == s for _, s in self.plan.updates) is False and readers[0].p[0] % len(self.at(r).shape) == 1

    # ---- emitting
    def _emit(self, group: Group) -> None:
        if group.key is not None:
            self._segments += self._loop(group)
            return
        for op in group.ops:
            if int(op.outs[0]) in self.layout.views if op.outs else not op.effect:  # a check has no results
                continue
            if all(not self.plan.values[o].size for o in op.outs) and not op.effect:
                continue
            made = None if op.effect else self._by_rule(op)
            self._segments += [self._call(op)] if made is None else made

    def _given(self, values: Any) -> list[Any]:
        """Operands or parameters, with places for values."""
        return [[self.at(x) for x in a] if isinstance(a, list) else self.at(a) if isinstance(a, Ref) else a
                for a in values]  # fmt: skip

    def _by_rule(self, op: Op) -> list[Piece] | None:
        try:
            args, outs = self._given(op.args), [self.at(o) for o in op.outs]
            given = [a for x in args for a in (x if isinstance(x, list) else [x]) if isinstance(a, Place)]
            if any(p.dtype not in C_TYPES for p in (*given, *outs)) or any(not p.size for p in outs):
                return None
            if op.name in RULES:
                return RULES[op.name](self, op, args, outs)
            if op.name in _REDUCTIONS:
                return reduction(op.name, args[0], outs[0], op.p, lambda n: self.scratch(n, np.dtype(np.float64)))
            if op.name in _COPIES and len(given) == 1 and given[0].dtype == outs[0].dtype:
                if int(op.outs[0]) in self.layout.copies or op.name in ("clone", "contiguous"):
                    return [copy(outs[0].reshaped(given[0].shape), given[0])]
        except (ValueError, IndexError, TypeError, AttributeError):
            pass
        return None

    def _call(self, op: Op) -> Call:
        return Call(op, self._given(op.args), self._given(op.p), [self.at(o) for o in op.outs])

    def _loop(self, group: Group) -> list[Piece]:
        grouping, layout = self.grouping, self.layout
        shape = (group.key[1],) if group.flat else group.key[1]
        loop, made, stores = Loop(shape), set(), {}
        for op in group.ops:
            if not grouping.fuses(op):
                continue
            args: list[Any] = []
            for a in op.args:
                number = grouping.number(a)
                if number is not None:
                    args.append((number,))
                    continue
                b = grouping.same_order(a) if group.flat else int(a)
                args.append(b if b in made else self._in_loop(a, shape if group.flat else None))
            o = int(op.outs[0])
            made.add(o)
            loop.steps.append((o, op.name, args, op.p, layout.places[o].dtype))
            if o not in grouping.inside:
                stores[o] = self._in_loop(Ref(o), shape if group.flat else None)
        sums = []
        for op in group.sums:
            n = grouping.size(op.args[0])
            factor = 1 / n if op.name == "mean_all" else 1.0
            sums.append((grouping.same_order(op.args[0]), self.at(op.outs[0]), factor))
        return loop.pieces(stores, sums, lambda n: self.scratch(n, np.dtype(np.float64)))

    def _in_loop(self, a: Ref, flat: Any) -> Place:
        place = self.at(a)
        if flat is None:
            return place
        return place.reshaped((1,) if place.size == 1 else flat)

    def _write_back(self) -> None:
        """What was not written into inputs at once, copied there at the end; all is read before any is written."""
        late = [(old, new) for old, new in self.plan.updates if int(new) not in self.redirect]
        late = [(old, new) for old, new in late if self.layout.places[new] != self.layout.places[old]]
        self._scratch_at = 0
        read, write = [], []
        for old, new in late:
            to, source = self.at(old), self.at(new)
            if to.dtype not in C_TYPES or source.dtype not in C_TYPES:
                raise Unsupported(f"an update of dtype {to.dtype}")
            if not to.size:
                continue
            if self.plan.values[source.memory].source is not None or source.memory in self.redirect.values():
                kept = self.scratch(source.size, source.dtype)
                kept = kept._replace(shape=source.shape, strides=dense_strides(source.shape))
                read.append(copy(kept, source))
                source = kept
            write.append(copy(to, source._replace(shape=to.shape, strides=source.broadcast(to.shape))))
        self._segments += [*read, *write]

    # ---- text
    def _text(self) -> str:
        """The program's C: each distinct piece once, then a function for each stretch between two calls."""
        self.memories: list[int] = []
        known: dict[str, str] = {}
        parts: list[str] = []
        runs: list[list[str]] = [[]]
        for s in self._segments:
            if isinstance(s, Call):
                runs.append([])
                continue
            text = s.text("@")
            if text not in known:
                known[text] = f"f{len(known)}"
                parts.append(text.replace("void @(", f"void {known[text]}(", 1))
            given = ", ".join(self._pointer(m, b) for m, b in s.arguments)
            runs[-1].append(f"  {{ void *A[] = {{{given}}}; go({known[text]}, A, {s.total}, {s.grain}); }}")
        self._runs = [bool(r) for r in runs]
        for k, lines in enumerate(runs):
            if lines:
                parts.append(f"EXPORT void run{k}(char **P) {{\n" + "\n".join(lines) + "\n}\n")
        parts.append(self._check_text())
        parts.append(
            "EXPORT void init(void **p) {\n"
            "  shared = (parallel_t)p[0]; gemm_f = (sgemm_t)p[1]; gemm_d = (dgemm_t)p[2];\n}\n"
        )
        return "\n".join(parts)

    def _pointer(self, memory: int, byte: int) -> str:
        if memory not in self.memories:
            self.memories.append(memory)
        return f"P[{self.memories.index(memory)}]{f' + {byte}' if byte else ''}"

    def _check_text(self) -> str:
        lines = ["EXPORT int64_t check(char **P) {"]
        for place, low, high, but in self._checks:
            pointer = self._pointer(place.memory, place.offset * place.dtype.itemsize)
            lines.append(f"  {{ const i64 *t = (const i64 *)({pointer}); i64 bad = 0;")
            loops, at = "", []
            for d, (n, step) in enumerate(zip(place.shape, place.strides, strict=True)):
                loops += f"for (i64 i{d} = 0; i{d} < {n}; i{d}++) "
                at.append(f"i{d} * {step}")
            index = " + ".join(at) or "0"
            spared = f" && t[{index}] != {but}" if but is not None else ""
            lines.append(
                f"    {loops}bad |= (t[{index}] < {low} || t[{index}] >= {high}){spared};\n    if (bad) return 0; }}"
            )
        return "\n".join([*lines, "  return 1;\n}\n"])

    def _load(self) -> None:
        lib = library(self.source)
        if lib is None:
            raise Unsupported("no C compiler")
        lib.init((ctypes.c_void_p * 3)(address(), *products()))
        lib.check.restype = ctypes.c_int64
        lib.check.argtypes = [ctypes.c_void_p]
        self._check = lib.check if self._checks else None
        self._steps: list[Any] = []
        calls = iter([s for s in self._segments if isinstance(s, Call)])
        for k, has in enumerate(self._runs):
            if has:
                fn = getattr(lib, f"run{k}")
                fn.argtypes, fn.restype = [ctypes.c_void_p], None
                self._steps.append(fn)
            if k + 1 < len(self._runs):
                self._steps.append(next(calls))
        self._steps = joined(self._steps)
        #: each result is an array that the program fills, and nothing else is to be done in Python
        self.simple = not self.calls and all(
            self.layout.places[r].memory == r and r in self.memories and self.plan.values[r].source is None
            and k not in self.late and self.strides[k] is None
            for k, r in enumerate(self.plan.results)
        )  # fmt: skip
        self._frames: list[Frame] = []
        self._sources = {v.number: v.source for v in self.plan.values if v.source is not None}

    # ---- running
    def __call__(self, inputs: list[Any]) -> list[Any] | None:
        """The results' arrays; ``None``, with nothing done, if an index is out of range."""
        follow()
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self)
        try:
            if not self._by_blas:
                return frame.run(inputs)
            with one_thread:  # of BLAS: products are cut in parts of fixed sizes, over the pool
                return frame.run(inputs)
        finally:
            self._frames.append(frame)

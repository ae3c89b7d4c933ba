"""A tape as Python source: a flat list of NumPy calls on planned memory, with the user's line behind each call.

The source is in ``linecache``, so that a debugger steps through it and a traceback shows it. Functions that write where
they are told (NumPy's ufuncs) get a buffer of the plan if eager's result is dense; all others make their own results.
What the program returns is the caller's own memory, as eager's results are.
"""

from __future__ import annotations

import contextlib
import itertools
import keyword
import linecache
import math
import weakref
from typing import Any

import numpy as np

from .._arrays.layouts import is_dense
from .._arrays.memory import address_of
from .calls import copied
from .plan import Plan, array_for
from .tape import DRAW, OPTIMIZER_STEP, Constant, Input, Op, Ref, Tape


class _Gone(weakref.ref["NumpyProgram"]):
    """A program that went; an interrupt in a ``__del__`` would be dropped."""

    name: str


_count = itertools.count(1).__next__
_ended: list[_Gone] = []  # the programs that are gone: the debugger may be walking through the cache meanwhile
FILL: Any = None  # tests put a number here: what buffers hold before each call
SHARING = True  # tests switch this off
LARGE = 1 << 14  # elements for each operator
_BINARY = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.greater, np.greater_equal, np.less,
    np.less_equal, np.equal, np.not_equal,
)  # fmt: skip
_IN_NAMES = str.maketrans({"-": "minus_", ".": "_", "+": None})


class Unplanned(Exception):
    """A tape that this tier cannot run."""


def planned(plan: Plan, op: Op) -> bool:
    """Whether an operator's result is written into a buffer."""
    fn = op.lowered
    if not isinstance(fn, np.ufunc) or fn.nout != 1 or fn.nin != len(op.args) or op.p or op.many:
        return False
    value = plan.values[op.outs[0]]
    return (
        op.fresh
        and bool(value.shape)
        and value.dense
        and value.size > 0
        and not any(isinstance(a, list) for a in op.args)
    )


class NumpyProgram:
    """The NumPy program of a tape.

    ``run(arrays)`` takes the inputs' arrays in order, writes what the tape updates into them, and returns the results.
    ``owners``: for each result a number that results have in common if eager's share memory.
    """

    def __init__(self, tape: Tape, title: str, owners: list[int] | None = None) -> None:
        self.tape = tape
        self.plan = plan = Plan(tape, SHARING)
        plan.allocate(lambda op: planned(plan, op))
        fresh = [op for op in plan.ops if op.fresh]
        #: whether it saves time: where elements take it, not calls, the fused functions of eager are as fast
        self.pays = sum(plan.values[o].size for op in fresh for o in op.outs) < LARGE * max(len(fresh), 1)
        self.scope: dict[str, Any] = {"array": np.array, "asarray": np.asarray, "copyto": np.copyto}
        self.constants: dict[int, tuple[str, Any]] = {}
        self.memory: list[Any] = []
        self.owners = owners
        self.written: dict[int, Ref] = {}
        self.lines: list[str] = []
        self.begins = math.inf  # the first line that does more than compute
        self._check_steps()
        self._write()
        names = ", ".join(self._input(v) for v in tape.inputs)
        body = "\n".join(f"    {line}" for line in self.lines)
        self.name = f"<compiled {title} {_count()}>"
        self.source = f"def program({names}):\n{body}\n"
        with contextlib.suppress(IndexError):  # other threads take them too
            while True:
                linecache.cache.pop(_ended.pop().name, None)
        linecache.cache[self.name] = (len(self.source), None, self.source.splitlines(True), self.name)
        exec(compile(self.source, self.name, "exec"), self.scope)
        self.gone = _Gone(self, _ended.append)
        self.gone.name = self.name
        self.program = self.scope.pop("program")

    def run(self, arrays: list[Any]) -> tuple[Any, ...]:
        """Run the program on the inputs' arrays."""
        if FILL is not None:
            for memory in self.memory:
                memory.view(np.float32).fill(FILL)
        with np.errstate(all="ignore"):
            return self.program(*arrays)

    # ---- text
    def _input(self, value: Any) -> str:
        return f"x{value.source.index}"

    def _name(self, a: Any) -> str:
        """An operand, a parameter or a constant in the text."""
        if isinstance(a, Ref):
            source = self.plan.values[a].source
            if isinstance(source, Input):
                return self._input(self.plan.values[a])
            return self._kept(source.array) if isinstance(source, Constant) else f"v{int(a)}"
        if type(a) is list:
            return f"[{', '.join(map(self._name, a))}]"
        if type(a) is tuple:
            return f"({', '.join(map(self._name, a))}{',' * (len(a) == 1)})"
        if a is None or type(a) in (bool, int, str) or (type(a) is float and math.isfinite(a)):
            return repr(a)
        return self._kept(a)

    def _kept(self, a: Any) -> str:
        known = self.constants.get(id(a))
        if known is None:
            if callable(a):
                name = getattr(a, "__name__", type(a).__name__).strip("<>").lstrip("_")
                if not name.isidentifier() or keyword.iskeyword(name):
                    name = "f"
                if name in self.scope:
                    name = f"{name}_{len(self.constants)}"
            else:
                name = f"c{len(self.constants)}"
            known = self.constants[id(a)] = (name, a)
            self.scope[name] = a
        return known[0]

    def _buffer(self, ref: Ref) -> str:
        name = f"b{int(ref)}"
        buffer: Any = self.plan.place[int(ref)]
        if not hasattr(self, "_made"):
            self._made: dict[int, Any] = {}
        if id(buffer) not in self._made:
            room = np.zeros(buffer.nbytes + 64, np.uint8)
            start = -address_of(room) % 64
            self._made[id(buffer)] = room[start : start + buffer.nbytes]
            self.memory.append(self._made[id(buffer)])
        self.scope[name] = array_for(self.plan.values[ref], self._made[id(buffer)])
        return name

    def _line(self, text: str, op: Op | None = None) -> None:
        if op is not None and op.line is not None:
            user = linecache.getline(*op.line).strip()
            text = f"{text:<48}  # {op.line[0].rpartition('/')[2]}:{op.line[1]}  {user}".rstrip()
        self.lines.append(text)

    # ---- the list
    def _write(self) -> None:
        plan = self.plan
        for op in plan.ops:
            self._operator(op)
        self.roots = plan.roots()
        overwritten = {int(old) for old, _ in plan.updates} | set(map(int, self.written))
        names: dict[Ref, str] = {}

        def safe(ref: Ref) -> str:
            """The value's name; a copy's, if writing to inputs would change it."""
            if ref not in names:
                name = self._name(ref)
                if self.roots_of(ref) & overwritten and ref not in self.written.values():
                    self._line(f"w{int(ref)} = {self._copy(ref, name)}")
                    name = f"w{int(ref)}"
                names[ref] = name
            return name_of(ref)

        def name_of(ref: Ref) -> str:
            return names[ref]

        returned = self._returned(safe)
        copies = [(old, new, safe(new)) for old, new in plan.updates if self.written.get(int(old)) != new]
        for old, _, name in copies:
            self._line(f"copyto({self._name(old)}, {name}, 'unsafe')")
        self._line(f"return ({', '.join(returned)}{',' * (len(returned) == 1)})")

    def _copy(self, ref: Ref, name: str) -> str:
        value = self.plan.values[ref]
        if value.strides is not None and not is_dense(value.shape, value.strides, value.dtype.itemsize):
            return f"{self._kept(copied)}({name})"
        return f"array({name}, order='K')"

    def roots_of(self, ref: Ref) -> frozenset[int]:
        """The values in whose memory a value may lie."""
        return self.roots.get(int(ref), frozenset((int(ref),)))

    def _returned(self, safe: Any) -> list[str]:
        """The results' names: copies of what eager's results do not share."""
        taken: dict[int, int] = {}  # a value in whose memory a result lies -> that result's owner
        apart: list[int] = []
        names = []
        for k, ref in enumerate(self.plan.results):
            owner = k if self.owners is None else self.owners[k]
            roots = self.roots_of(ref)
            given = any(self.plan.values[r].source is not None for r in roots)
            name = safe(ref)
            alone = name.startswith("w")
            if owner >= 0 and not alone and (given or any(taken.get(r, owner) != owner for r in roots)):
                self._line(f"r{k} = {self._copy(ref, name)}")
                name = f"r{k}"
                alone = True
            elif owner >= 0:
                taken.update(dict.fromkeys(roots, owner))
            if alone:
                apart.append(k)
            names.append(name)
        if self.owners is not None and self.plan.parts(apart, self.owners):
            raise Unplanned("results that share memory are copies")
        return names

    def _operator(self, op: Op) -> None:
        if op.info is OPTIMIZER_STEP or op.info is DRAW:
            self.begins = min(self.begins, len(self.lines) + 2)
        if op.info is OPTIMIZER_STEP:
            self._step(op)
            return
        given = [self._name(a) for a in (*op.args, *(op.p if op.info is not DRAW else ()))]
        if op.lowered in _BINARY and not op.p:
            self._name_numbers(op, given)
        out = op.outs[0] if op.outs else Ref(-1)
        if int(out) in self.plan.place:
            by_name = "out=" * (op.lowered in (np.maximum, np.minimum))  # they warn of a third argument
            given.append(f"{by_name}{self._buffer(out)}")
        targets = ", ".join(f"v{int(o)}" for o in op.outs) + "," * (op.many and len(op.outs) == 1)
        call = (
            f"asarray({self._kept(op.lowered)}({', '.join(given)}))"
            if op.info is DRAW
            else f"{self._kept(op.lowered)}({', '.join(given)})"
        )
        self._line(f"{targets} = {call}" if op.outs else call, op)

    def _name_numbers(self, op: Op, given: list[str]) -> None:
        """Replace numbers by arrays of them, which NumPy takes a third of the time for."""
        dtypes = {self.plan.values[a].dtype for a in op.args if isinstance(a, Ref)}
        if len(dtypes) != 1 or (dtype := dtypes.pop()).kind != "f":
            return
        for k, a in enumerate(op.args):
            if type(a) in (int, float) and abs(a) <= float(np.finfo(dtype).max):
                given[k] = f"{dtype.name}_{a!r}".translate(_IN_NAMES)
                self.scope.setdefault(given[k], np.array(a, dtype))

    def _step(self, op: Op) -> None:
        p, g = op.args
        old = self._stepped(p)
        if p != old and self.written.get(int(old)) != p:
            raise Unplanned("a parameter is written before its step")
        self._line(f"{self._kept(op.lowered)}({self._name(g)})", op)
        self._line(f"v{int(op.outs[0])} = {self._name(old)}")
        self.written[int(old)] = op.outs[0]

    def _stepped(self, ref: Ref) -> Ref:
        """The input that an optimizer's step writes."""
        for old, now in self.written.items():
            if now == ref:
                return Ref(old)
        if isinstance(self.plan.values[ref].source, Input):
            return ref
        raise Unplanned("a parameter is written before its step")

    def _check_steps(self) -> None:
        """Refuse tapes that read a parameter's old value after its step has written it."""
        roots = self.plan.roots()
        gone: set[int] = set()
        for op in self.plan.ops:
            for a in op.refs():
                if roots.get(int(a), frozenset((int(a),))) & gone:
                    raise Unplanned("a parameter's old value is read after its step")
            if op.info is OPTIMIZER_STEP:
                gone.add(int(op.args[0]))
                gone |= {r for r in roots.get(int(op.args[0]), ()) if r != int(op.args[0])}
        ends = [*self.plan.results, *(s for _, s in self.plan.updates)]
        if any(roots.get(int(r), frozenset((int(r),))) & gone for r in ends):
            raise Unplanned("a parameter's old value is read after its step")

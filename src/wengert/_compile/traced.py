"""``Traced``, the payload that knows its number on a tape, and the ``Tracer`` that writes the tape.

A traced call *is* a call: each operator computes eager's result, and is written down. So a break loses nothing, and no
effect on Python's state happens twice. A ``Traced`` is a ``Transformed`` of no transform: the hot path's test of dtypes
leads operators on it to ``transforms.bind``, which ends in ``Traced.computed``. Writes in place replace payloads, as
for the values of transforms, so the list is functional.

NOTE [ Breaks ]
    What asks a traced value for its elements (``item``, ``bool``, ``numpy``, printing) reads ``Traced.v``. That ends
    the trace: inputs get their memory back, with what was written; every other tensor becomes what it would be in
    eager mode; the rest of the call runs eagerly. A ``Traced`` of a closed trace is as good as its array: an operator
    on it gives an array.

NOTE [ Lowering ]
    With the result of the operator's own slow function (``core``) at hand, the bare array function is tried on the
    same operands. If the bits, the dtype and the strides agree, the program calls the array function, else ``core``. So
    it does for elementwise operators on integers, which are promoted and refused by the operator.
"""

from __future__ import annotations

import gc
import weakref
from sys import _getframe as getframe
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._arrays.memory import storage_of, unlocked
from .._base.errors import INTERNAL
from .._base.places import span
from .._base.registry import REGISTRY, TRANSFORMED, XP, Operator
from .._payloads.meta_rules import REFUSED
from .._payloads.transforms import DEEPEST, VALUE_DTYPES, Transformed
from .._tape.node import AccumulateGrad, Box, Node, Parts, view_of
from .._tape.replaced import _replace_views, replace_payload
from .._tape.tensor import Tensor, alias_payload, in_memory, note_view, wrap
from .._tape.view_chain import replay, root_of
from .._tape.views import count_write
from .calls import InOrder, Step
from .lowering import PLAIN, lowered, run_core
from .reads import reader
from .tape import CHECK, DRAW, OPTIMIZER_STEP, ORDER, Constant, Input, Op, Ref, Tape

TRACED_DEPTH = DEEPEST + 3  # a depth that no transform and no Meta has


class Traced(Transformed):
    """An array and its number on a tape."""

    __slots__ = ("array", "ref", "tracer")
    is_traced = True

    def __init__(self, tracer: Tracer, ref: Ref, array: Any) -> None:
        self.tag = 0
        self.tracer = tracer
        self.ref = ref
        self.array = array
        if not tracer.closed:
            tracer.living.add(self)

    @property
    def v(self) -> Any:
        """The array: it was asked for, so the trace ends (NOTE [ Breaks ])."""
        if not self.tracer.closed:
            self.tracer.stop(f"the elements of a tensor are read{reader()}")
        return self.array

    @property
    def dtype(self) -> Any:
        return VALUE_DTYPES[self.array.dtype, TRACED_DEPTH]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    size = property(lambda self: self.array.size)
    ndim = property(lambda self: self.array.ndim)
    strides = property(lambda self: self.array.strides)
    itemsize = property(lambda self: self.array.itemsize)
    nbytes = property(lambda self: self.array.nbytes)

    def payload_like(self, make: Any) -> Any:
        a = make(self.array.shape, self.array.dtype)
        return a if self.tracer.closed else Traced(self.tracer, self.tracer._constant(a), a)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.v, *args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a traced array has no attribute {name!r}")
        return getattr(self.v, name)  # the caller expects an array

    def own(self) -> Any:
        """A cotangent as the program gets it: a view, or what another leaf has already, is copied, as in eager."""
        if self.tracer.closed:
            return self
        if self.array.base is None and self.ref not in self.tracer.owned:
            self.tracer.owned.add(self.ref)
            return self
        return self._in_rows(self.array.copy())

    def _in_rows(self, made: Any) -> Any:
        """A recorded copy in rows, which is ``made``."""
        return self.tracer.record(REGISTRY["clone"], [self], [self.array], ("C",), ("C",), made)

    def laid_out(self, place: Any) -> Any:
        """The same elements in another order in memory, if that is one in rows."""
        made = self.array if self.tracer.closed else place(self.array)
        if made is self.array or not made.flags.c_contiguous:
            return self
        return self._in_rows(made)

    def primal(self) -> Any:
        return self.array if self.tracer.closed else self

    def __reduce__(self) -> Any:
        self.tracer.stop("a tensor is pickled")
        return np.asarray, (self.array,)

    def __deepcopy__(self, memo: Any) -> Any:
        self.tracer.stop("a tensor is copied by the copy module")
        return self.array.copy()

    @staticmethod
    def computed(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
        """Run one operator, and write it down if the trace goes on."""
        tracer = next((a.tracer for a in (*operands, *p) if type(a) is Traced and not a.tracer.closed), None)
        if info.written is not None and tracer is not None:
            *rest, filled = p
            made = tracer.written(info, info.written, operands, (*rest, filled is not None))
            if filled is not None:
                filled[:] = made[info.outputs :]
            return tuple(made[: info.outputs])
        if info.view:  # a number has no memory that a view could share
            for a in operands:
                if type(a) is Traced and isinstance(a.array, np.generic):
                    a.array = np.array(a.array)
        arrays = [a.array if type(a) is Traced else a for a in operands]
        plain = _plain(p)
        out = run_core(info, arrays, plain)
        if tracer is not None and info.name in REFUSED:
            tracer.stop(f"the shape of {info.called}'s result depends on elements")
            return out
        if tracer is None or tracer.closed:  # it may have been closed by what the operator itself calls
            return out
        return tracer.record(info, operands, arrays, p, plain, out)

    @staticmethod
    def with_dense(info: Operator, *args: Any) -> Any:
        """Run an operator on tensors of which only some are traced: the others are captured."""
        tensors = args[: info.arity] if info.arity >= 0 else args[0]
        tracer = next(t._payload.tracer for t in tensors if isinstance(t, Tensor) and type(t._payload) is Traced)
        taken = [tracer.captured(t) if isinstance(t, Tensor) else t for t in tensors]
        if all(type(t._payload) is Traced for t in tensors if isinstance(t, Tensor)):  # a product of other dtypes
            return info.refuse_mixed(info, *args)
        if any(isinstance(t, Tensor) and type(t._payload) is not Traced for t in taken):
            tracer.stop("an operand is no plain array")  # it is sparse, or has no data
            taken = list(tensors)
        return info.op(*taken, *args[len(taken) :]) if info.arity >= 0 else info.op(taken, *args[1:])


XP[Traced] = TRANSFORMED


def _plain(p: Any) -> Any:
    """Parameters without traced values."""
    if type(p) in (tuple, list):
        return type(p)(map(_plain, p))
    return p.array if type(p) is Traced else p


class Lifted:
    """A tensor that was there before the trace, and what it had."""

    __slots__ = ("array", "box", "grad", "node", "ref", "tensor", "traced", "version", "where", "writes")

    def __init__(self, tensor: Any, array: Any, traced: Traced, where: str) -> None:
        self.tensor = tensor
        self.array = array
        self.traced = traced
        self.ref = traced.ref
        self.box = tensor._box
        self.node = tensor._node
        self.grad = tensor._node.grad if type(tensor._node) is AccumulateGrad else None
        self.where = where
        self.version = 0 if self.box is None or self.box.cell is None else self.box.cell.version
        self.writes = 0

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor is a leaf that requires grad."""
        return type(self.node) is AccumulateGrad


class Tracer:
    """Writes the tape of one call: ``tape``; ``lifted``: the inputs; ``broken``: why the trace ended early."""

    def __init__(self, start: int) -> None:
        self.tape = Tape()
        self.start = start  # nodes with smaller numbers were there before
        self.lifted: dict[int, Lifted] = {}
        self.owners: dict[int, Lifted] = {}
        self.constants: dict[int, tuple[Ref, Any, Any]] = {}  # id -> number, array, a copy of its content
        self.living: weakref.WeakSet[Any] = weakref.WeakSet()
        self.owned: set[Ref] = set()  # the values that are a leaf's gradient
        self.before: dict[int, Any] = {}  # the tensors that were there before the trace
        self.generators: dict[int, tuple[Any, Any]] = {}  # and the state after the latest draw that was written down
        self.first_states: dict[int, tuple[Any, Any]] = {}
        self.counts: dict[int, int] = {}  # the number of writes to each input
        self.optimizers: set[int] = set()  # those whose parameters are inputs
        self.undoing: list[Any] = []  # what gives back the state of each parameter that was stepped
        self.closed = False
        self.broken: str | None = None
        self.broken_at: tuple[str, int] | None = None
        self.node_line: Any = None
        self.on_stop: Any = None
        self.holders: list[Tensor] = []  # the tensors that held a traced payload at the end

    # ---- inputs
    def lift(self, t: Tensor, where: str) -> None:
        """Make a tensor of before an input: its payload becomes one that is traced."""
        if self.closed or id(t) in self.lifted:
            return
        view = view_of(t)
        if view is not None:
            self.lift(view[0], f"{where}._base")
            if self.closed:
                return
        a = t._payload
        if isinstance(a, np.generic):
            a = alias_payload(t)
        if type(a) is not np.ndarray:
            self.stop("an input is no plain array")
            return
        owner = storage_of(a)
        other = self.owners.get(id(owner))
        if other is not None and a.size and not _related(t, other.tensor):
            self.stop("two inputs share memory")
            return
        ref = self.tape.new(a.shape, a.dtype, Input(len(self.lifted), where))
        self.tape.values[ref].strides = a.strides
        entry = Lifted(t, a, Traced(self, ref, a), where)
        self.lifted[id(t)] = entry
        self.owners[id(owner)] = entry
        t._payload = entry.traced
        if entry.box is not None:
            entry.box.a = entry.traced
        if view is not None:
            note_view(view[0], t)
        if entry.grad is not None:
            self.lift(entry.grad, f"{where}.grad")

    def captured(self, t: Tensor) -> Tensor:
        """A tensor with a plain array, made traced for one operator."""
        if type(t._payload) is Traced or not isinstance(t._payload, PLAIN):
            return t
        if id(t) in self.before and id(t) not in self.lifted:
            self.stop("a tensor is used that was found by no name")
            return wrap(t._payload, t._node)
        made = wrap(Traced(self, self._constant(t._payload), t._payload), t._node)
        made._box = t._box
        return made

    def cotangent(self, g: Any) -> Any:
        """A cotangent that the program gives, made traced: the formulas compute with it and with saved values."""
        if isinstance(g, Parts):
            return Parts({k: self.cotangent(part) for k, part in g.parts.items()})
        if self.closed or not isinstance(g, PLAIN):
            return g
        if any(t._payload is g and id(t) not in self.lifted for t in self.before.values()):
            self.stop("a tensor is used that was found by no name")
            return g
        return Traced(self, self._constant(g), g)

    def _constant(self, a: Any) -> Ref:
        known = self.constants.get(id(a))
        if known is None:
            content = np.array(a)
            ref = self.tape.new(a.shape, a.dtype, Constant(content if isinstance(a, np.generic) else a))
            self.tape.values[ref].strides = a.strides
            known = self.constants[id(a)] = (ref, a, content)
        return known[0]

    def _operand(self, a: Any) -> Any:
        if type(a) is Traced:
            return a.ref if a.tracer is self else self._constant(a.array)
        return self._constant(a) if isinstance(a, PLAIN) else a

    def _parameter(self, p: Any) -> Any:
        if type(p) in (tuple, list):
            return type(p)(map(self._parameter, p))
        return self._operand(p) if type(p) is Traced else p

    # ---- operators
    def record(self, info: Operator, operands: list[Any], arrays: list[Any], p: Any, plain: Any, out: Any) -> Any:
        """Write one operator down; its results with their numbers. ``plain``: the parameters without traced values."""
        args = [self._operand(a) for a in operands]
        fn = lowered(info, arrays, plain, out)
        many = info.outputs != 1
        results = [self._new(a) for a in out] if many else [self._new(out)]
        refs = [r.ref for r in results]  # a signal's handler may end the recording at any later line
        given = args if info.arity >= 0 else [args]
        fresh = _fresh([*arrays, *plain], out)
        self.tape.ops.append(Op(info, given, self._parameter(tuple(p)), refs, self.line(), fn, many, fresh))
        return tuple(results) if many else results[0]

    def written(self, info: Any, fn: Any, operands: list[Any], p: tuple[Any, ...]) -> list[Any]:
        """Call an array function that makes several new arrays, and write it down; ``info`` may be a name."""
        made = list(fn(*[a.array if type(a) is Traced else a for a in operands], *p))
        if self.closed:
            return made
        results = list(map(self._new, made))
        refs = [r.ref for r in results]
        info = SimpleNamespace(name=info) if isinstance(info, str) else info
        self.tape.ops.append(Op(info, list(map(self._operand, operands)), p, refs, self.line(), fn, True, True))
        return results

    def _new(self, a: Any) -> Traced:
        ref = self.tape.new(a.shape, a.dtype)
        self.tape.values[ref].strides = a.strides
        return Traced(self, ref, a)

    def line(self) -> tuple[str, int] | None:
        """The user's line that is running; in a backward pass, the line that made the node."""
        if self.node_line is not None:
            code, at = self.node_line
            if code is not None:
                if isinstance(at, int):  # an instruction: its line is found once for all that the node records
                    at = code.co_filename, span(code, at).line
                    self.node_line = code, at
                return at
        frame: Any = getframe(1)
        while frame is not None and INTERNAL[frame.f_code.co_filename]:
            frame = frame.f_back
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def draw(self, generator: Any, call: Any) -> Any:
        """A draw from a stream: done, and written down."""
        now = generator.get_state_array().tobytes()
        self.first_states.setdefault(id(generator), (generator, now))
        last = self.generators.get(id(generator))
        if last is None or last[1] != now:
            self.stop("something else moves the random stream")
        a = np.asarray(call())
        if self.closed:
            return a
        self.generators[id(generator)] = generator, generator.get_state_array().tobytes()
        result = self._new(a)
        self.tape.ops.append(Op(DRAW, [], (call,), [result.ref], self.line(), call, False, True))
        return result

    def draw_for(self, generator: Any, sampler: Any, operands: tuple[Any, ...]) -> Any:
        """A draw with operands, some of which may be traced."""
        given = [self._operand(a) for a in operands]
        arrays = [a.array if type(a) is Traced else a for a in operands]
        result = self.draw(generator, lambda: sampler(*arrays))
        if type(result) is Traced:
            op = self.tape.ops[-1]
            op.args, op.lowered = given, sampler
            op.p = ()
        return result

    def check(self, call: Any, a: Traced) -> None:
        """A check of an operand's elements that raises: done, and written down."""
        call(a.array)
        if not self.closed:
            self.tape.ops.append(Op(CHECK, [a.ref], (), [], self.line(), call))

    def replaced(self, t: Tensor, old: Any = None, counted: bool = True) -> None:
        """Count a write to an input; keep the order in memory that a written tensor has."""
        if id(t) in self.lifted:
            self.counts[id(t)] = self.counts.get(id(t), 0) + counted
        now, before = t._payload, in_memory(old)
        if type(now) is not Traced or self.closed or not isinstance(before, np.ndarray):
            return
        if now.array.shape == before.shape and now.array.strides != before.strides and before.size:
            if (view := view_of(t)) is not None:  # its base has been written
                t._payload = replay(view[0]._payload, ((view[1].name, view[2]),))
                return
            copy = InOrder(before)
            result = self._new(copy(now.array))
            self.tape.ops.append(Op(ORDER, [now.ref], (), [result.ref], self.line(), copy, False, True))
            t._payload = result

    def records_step(self, optimizer: Any, group: dict[str, Any], p: Tensor, grad: Tensor) -> bool:
        """Write one parameter's step down, if a program can do it; it is done on a copy."""
        traced: Any = p._payload
        if self.closed or type(traced) is not Traced:
            return False
        if id(optimizer) not in self.optimizers or group.get("differentiable"):
            self.stop("an optimizer that cannot be recorded")
            return False
        g: Any = self.captured(grad)._payload
        if self.closed or type(g) is not Traced:
            self.stop("a gradient of another kind")
            return False
        if any(isinstance(x, Tensor) and type(x._payload) is Traced for x in optimizer.state.get(p, {}).values()):
            self.stop("the state of an optimizer is read")
            return False
        step = Step(optimizer, group, next(k for k, q in enumerate(group["params"]) if q is p))
        self.undoing.append(step.undoing())
        new = traced.array.copy()
        p._payload = new
        try:
            step(g.array)
        finally:
            p._payload = traced
        result = self._new(new)
        self.tape.ops.append(
            Op(OPTIMIZER_STEP, [traced.ref, g.ref], (step,), [result.ref], self.line(), step, False, True)
        )
        replace_payload(p, result)
        return True

    def watch(self, info: Operator, args: tuple[Any, ...], proceed: Any) -> Any:
        """Around every operator: a tensor of before that was not lifted ends the trace."""
        if not self.closed:
            for a in args:
                for t in a if type(a) in (list, tuple) else (a,):
                    if isinstance(t, Tensor) and id(t) in self.before and id(t) not in self.lifted:
                        self.stop("a tensor is used that was found by no name")
        return proceed()

    def observe(self, node: Node, g: Any, step: Any) -> Any:
        """Around every backward step: a node of before ends the trace."""
        if self.closed:
            return step()
        if 0 < node._seq < self.start:
            self.stop("a graph is walked that was made before")
            return step()
        outer, self.node_line = self.node_line, (node._code, node._lasti)
        try:
            return step()
        finally:
            self.node_line = outer

    # ---- the end
    def stop(self, reason: str) -> None:
        """End the trace: from here on the call runs eagerly."""
        if self.closed:
            return
        self.broken = reason
        self.node_line = None
        self.broken_at = self.line()
        self.close()

    def discard(self) -> None:
        """End the trace as if the call had not been: inputs, gradients, optimizers and random streams as before."""
        self.broken_at = self.line()
        for entry in self.lifted.values():
            entry.tensor._payload = entry.traced
            if entry.tensor._node is not entry.node:
                entry.tensor._node = entry.node
            if entry.is_leaf:
                entry.node.grad = entry.grad
            for box in (entry.box, entry.tensor._box):
                if box is not None and box.cell is not None:
                    box.cell.version = entry.version
        self.counts.clear()
        for undo in reversed(self.undoing):
            undo()
        for generator, state in self.first_states.values():
            generator.set_state_array(np.frombuffer(state, np.uint8))
        self.close()

    def close(self) -> None:
        """Give every tensor its own array again."""
        self.closed = True
        if self.on_stop is not None:
            self.on_stop()
        written, other = [], set()
        for entry in self.lifted.values():
            t, now = entry.tensor, entry.tensor._payload
            if entry.box is not None:
                t._box = entry.box
            if type(now) is not Traced:  # the tensor got other memory
                other.add(id(t))
            elif now.array.shape != entry.array.shape or now.array.dtype != entry.array.dtype:
                t._payload = now.array
                if entry.box is not None:
                    entry.box.a = now.array
                entry.writes = self.counts.get(id(t), 1)
                restore_version(entry)
                other.add(id(t))
            elif now is not entry.traced:
                entry.traced.array = np.array(entry.array, order="K")  # nodes have saved what it was
                written.append((entry, now))
        for entry, now in written:
            if view_of(entry.tensor) is None:
                self._write(entry, now.array)
        for entry, now in written:
            if view_of(entry.tensor) is not None:
                self._write(entry, now.array)
        for entry in self.lifted.values():
            t = entry.tensor
            if id(t) in other:
                continue
            t._payload = entry.array
            for box in (entry.box, t._box):
                if box is not None:
                    box.a = entry.array
        replaced = {id(entry) for entry, _ in written}
        for entry in self.lifted.values():
            t = entry.tensor
            if id(t) not in other and view_of(t) is None:
                entry.writes = self.counts.get(id(t), int(id(entry) in replaced))
                restore_version(entry)
        for entry in self.lifted.values():
            if "_views" in entry.tensor.__dict__:
                _replace_views(entry.tensor)
        self.holders = self.settle()

    @staticmethod
    def _write(entry: Lifted, a: Any) -> None:
        if a is not entry.array:
            to = entry.array if entry.array.flags.writeable else unlocked(entry.array)
            np.copyto(to, a, casting="unsafe")

    def settle(self) -> list[Tensor]:
        """Give whatever still holds a traced payload the array; return the tensors among the holders."""
        living = list(self.living)
        if not living:
            return []
        ours = {id(living), id(self.__dict__)}
        holders = [x for x in gc.get_referrers(*living) if id(x) not in ours]
        tensors = [t for t in holders if issubclass(type(t), Tensor) and type(t._payload) is Traced]
        for t in tensors:  # first: a view whose array is its own is none
            if "_views" in t.__dict__ and view_of(t) is None and "_alias_of" not in t.__dict__:
                t._payload = t._payload.array
                alias_payload(t)
                _replace_views(t)
        for t in tensors:
            t._payload = in_memory(t._payload)
            t.__dict__.pop("_alias_of", None)
        for holder in holders:
            kind = type(holder)  # not isinstance, which asks an object for its __class__
            if kind in (Lifted, Op):
                continue
            if kind is Box:
                if type(holder.a) is Traced:
                    holder.a = holder.a.array
            elif issubclass(kind, Node):
                _settle_slots(holder)
            elif kind is list:
                holder[:] = [a.array if type(a) is Traced else a for a in holder]
            elif kind is dict:
                for key, a in list(holder.items()):
                    if type(a) is Traced:
                        holder[key] = a.array
        return tensors


def restore_version(entry: Lifted) -> None:
    """Count the writes of the trace in the tensor's own version cell."""
    cell = None if entry.tensor._box is None else entry.tensor._box.cell
    counted = 0 if cell is None else cell.version - entry.version
    for _ in range(entry.writes - counted):
        count_write(entry.tensor)


def _settle_slots(holder: Any) -> None:
    for cls in type(holder).__mro__:
        for name in cls.__dict__.get("__slots__", ()):
            a = getattr(holder, name, None)
            if type(a) is Traced:
                setattr(holder, name, a.array)


def _fresh(arrays: list[Any], out: Any) -> bool:
    """Whether results lie in no operand's memory, and not in one another's."""
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    given = {id(storage_of(a)) for a in arrays if isinstance(a, np.ndarray)}
    made = [id(storage_of(a)) for a in outs if isinstance(a, np.ndarray)]
    return not given.intersection(made) and len(set(made)) == len(made)


def _related(t: Tensor, other: Tensor) -> bool:
    return root_of(t) is root_of(other)

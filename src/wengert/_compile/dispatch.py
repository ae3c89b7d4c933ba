"""A compiled function: its programs, what it does where there is none, and the pieces after a break.

A call that no program fits is recorded (``record``), unless a mode is on that a program would not obey: hooks on saved
tensors, observers of operators (profilers, function modes, autocast), anomaly mode, transforms, inference tensors. Then
the function runs as it is. So it does for good after a break, with the modules that it calls compiled in its place.
"""

from __future__ import annotations

import logging
import os
import sys
import weakref
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from wengert._dynamo.exc import FailOnRecompileLimitHit, RecompileError, Unsupported

from .._base.errors import INTERNAL, noted
from .._base.forks import new_lock
from .._base.modes import MODE, anomaly, in_transform, inference_tensors, slow_always
from .._base.torch_function import STATE
from .._base.tracing import COMPILING, TRACER
from .._payloads.transforms import DEPTH
from .._tape import engine
from .._tape.node import box_of, new_port, version_of
from .._tape.promotion import default_np
from .._tape.saved import stale
from .._tape.view_chain import root_of
from .._tensor_api.override_sites import _modes as function_modes
from ..amp.autocast_mode import SETTINGS
from ..nn.modules._handles import seen
from ..nn.modules._hooked import global_hooks
from ..nn.modules.module import Module
from .captured import AsItIs, Capture, Pieces
from .counts import counters
from .guards import Guards
from .node import CompiledFunctionBackward
from .record import Recording, record
from .returned import Result, flattened
from .running import MISSED, as_it_is, call_function, run_function, shape_of
from .source import NumpyProgram, Unplanned
from .tape import DRAW, OPTIMIZER_STEP

log = logging.getLogger("torch._dynamo")
compiled_functions: Any = weakref.WeakSet()
stance: list[str] = ["default"]
TRIALS = 8  # calls, half of them eager's, that decide whether a program in NumPy runs; tests put 0 here
REST = 15
_SHORT = 1e-3  # seconds


def logs(what: str) -> bool:
    """Whether ``TORCH_LOGS`` asks for something, such as ``graph_breaks``."""
    return what in os.environ.get("TORCH_LOGS", "").replace("+", "").replace(" ", "").split(",")


def _mode() -> Any:
    """What programs depend on besides their guards; ``None`` if a mode is on that they would not obey."""
    state = MODE.get()
    if (
        slow_always
        or TRACER.get() is not None
        or engine.observers
        or anomaly
        or inference_tensors
        or DEPTH.get()
        or in_transform() is not None
        or (state is not None and (state.hooks or state.inference))
        or stance[-1] == "force_eager"
        or (seen and any(global_hooks))
        or (function_modes and STATE.get().modes)
        or SETTINGS.get().narrowing is not None
    ):
        return None
    return (state is None or state.grad, default_np())


class Program:
    """One program of a compiled function: what ``torch.compiler.program`` returns.

    ``tape``    the operators, forward and, in ``backward_tape``, backward
    ``source``  the Python source of what runs
    ``memory``  bytes of planned memory, and the values that share each buffer
    ``guards``  what must hold for it to run
    """

    def __init__(self, r: Recording, owners: list[int], title: str, backend: Any) -> None:
        self.recording = r
        self.lock = new_lock()
        self.guards = Guards(r.finder)
        self.forward = NumpyProgram(r.forward, title, owners)
        self.needed = _needed(r, self.forward)
        self.backward = None if r.backward is None else NumpyProgram(r.backward, f"{title} backward")
        self.runner = self.forward.run
        self.pays = False  # known to be faster than eager
        self.trials, self.best = TRIALS, [inf, inf]
        self.doubts = 2  # trials that are repeated, because what interrupts a short call lasts longer than the call
        self.rest = 0  # calls that eager runs before the guards are asked again
        if backend is not None:
            _lower(self, backend)
        self.written = [(k, e.writes) for k, e in enumerate(r.finder.tracer.lifted.values()) if e.writes]
        self.outputs = sum(x.output is not None for x in r.results)
        self.shape = shape_of(r)
        self.again = _may_run_again(r)
        draws = self.again and self.outputs and not r.freed
        self.drawn = tuple(g for g, _ in r.finder.tracer.first_states.values()) if draws else ()
        self.run = run_function(self)
        self.call: Any = None  # checks and runs, in one function, once it is known that the program runs

    def worth(self) -> bool:
        """Whether this call is to run the program; eager runs it where that is faster.

        C always pays, and where elements take the time, not calls, NumPy never does. Between the two the first calls
        are timed, in turns: composed operators (a GRU) are fast in eager, and long on a tape.
        """
        if getattr(self.forward, "c", None) is not None:
            self.pays, self.trials = True, 0
            return True
        if self.forward.pays and not self.trials:
            self.pays = self.best[0] <= self.best[1]
            if not self.pays and self.doubts and self.best[0] < _SHORT:
                self.doubts -= 1
                self.trials = TRIALS
        if not self.forward.pays or not self.trials:
            self.rest = REST if not self.pays and isinstance(self.forward, NumpyProgram) else 0
            return self.pays
        self.trials -= 1
        return self.trials % 2 == 0

    def timed(self, k: int, run: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the program (0) or eager (1), and note the time if it counts."""
        begin = perf_counter()
        out = run(*args, **kwargs)
        self.best[k] = min(self.best[k], perf_counter() - begin)
        return out

    def undone(self, error: BaseException) -> bool:
        """Whether eager can make the call that raised in the program: what it does has not been done yet."""
        tb = error.__traceback__
        while tb is not None:
            if tb.tb_frame.f_code is self.forward.program.__code__:
                return tb.tb_lineno < self.forward.begins
            tb = tb.tb_next
        return not self.tape.updates and not any(op.info in (DRAW, OPTIMIZER_STEP) for op in self.tape.ops)

    def settled(self) -> bool:
        """Whether what runs the program is what will run it."""
        return getattr(self.forward, "settled", True)

    tape = property(lambda self: self.recording.forward, doc="The operators of the forward pass, or the whole step.")
    backward_tape = property(lambda self: self.recording.backward, doc="The operators of the backward pass.")

    @property
    def source(self) -> str:
        """The Python source of the program, and of its backward pass."""
        return self.forward.source + ("" if self.backward is None else "\n\n" + self.backward.source)

    @property
    def memory(self) -> dict[str, Any]:
        """The bytes of planned memory, and which values share a buffer."""
        buffers = [b for p in (self.forward, self.backward) if p is not None for b in p.plan.buffers]
        return {
            "nbytes": sum(b.nbytes for b in buffers),
            "buffers": [(b.nbytes, [f"v{v}" for v in b.values]) for b in buffers],
        }

    def __repr__(self) -> str:
        return f"<program of {len(self.forward.plan.ops)} operators, {len(self.guards)} guards>"

    def _record(
        self, inputs: list[Any], outs: Any, tensors: list[Any], call: Any, states: Any, code: Any, lasti: int
    ) -> None:
        """Give the results that have a history their node. ``states``: those of random streams before the call."""
        r = self.recording
        saved, boxes = [], []
        for at in r.saved:
            if at >= 0:
                saved.append(outs[at])
            else:
                t = inputs[-1 - at]
                saved.append(t._payload)
                version_of(t)
                boxes.append(box_of(t))
        boxes += [box_of(tensors[k]) for k in self.needed]
        edges = tuple(inputs[k]._node for k in r.edges)
        again = self._outputs_again(call, inputs, states) if self.again else None
        node = CompiledFunctionBackward(self, edges, saved, boxes, again, code, lasti)
        node.outputs_meta = [(t._payload.shape, t._payload.dtype) for t in tensors]
        for k, t in enumerate(tensors):
            t._node = node if len(tensors) == 1 else new_port(node, k)

    def _outputs_again(self, call: Any, inputs: list[Any], states: Any) -> Any:
        """A function that makes the call again for a node, recorded, and leaves inputs and streams as they are."""

        def again(node: Any) -> list[Any]:
            for t in inputs:
                if version_of(t)._seq > node._seq:  # what a value was computed from, if not the value
                    stale(node, box_of(t))
            tape = self.recording.forward
            written = [inputs[tape.values[ref].source.index] for ref, _ in tape.updates]
            kept = [(t._payload, t._payload.copy(), version_of(t), version_of(t).version) for t in written]
            seqs = [cell._seq for _, _, cell, _ in kept]
            now = [(g, g.get_state_array()) for g, _ in states]
            try:
                for g, state in states:
                    g.set_state_array(state)
                leaves = flattened(call())[0]
            finally:
                for g, state in now:
                    g.set_state_array(state)
                for (a, before, cell, version), seq in zip(kept, seqs, strict=True):
                    np.copyto(a, before)
                    cell.version, cell._seq = version, seq
            return _tracked(leaves, self.recording)

        return again


def _tracked(leaves: list[Any], r: Recording) -> list[Any]:
    """The outputs of the node among the leaves of a call that was made again."""
    found: dict[int, Any] = {}
    for x, t in zip(r.leaves, leaves, strict=True):
        if isinstance(x, Result) and t._node is not None:
            of = x if x.kind == "value" else r.results[x.at] if x.kind == "result" else None
            if of is not None and of.output is not None:
                found[of.output] = t if of is x else root_of(t)
    return [found[k] for k in range(len(found))]


def _needed(r: Recording, forward: NumpyProgram) -> list[int]:
    """The outputs in whose memory saved values lie: a write to another one leaves the backward pass right."""
    lies = [forward.roots_of(ref) for ref in forward.plan.results]
    kept = frozenset().union(*[lies[at] for at in r.saved if at >= 0])
    return [x.output for x in r.results if x.output is not None and lies[x.at] & kept]


def _may_run_again(r: Recording) -> bool:
    """Whether the results come from what the inputs are after the call, and nothing happens that cannot be undone.

    Running statistics are written and not read: a result comes from what they were in no case.
    """
    if r.grads or any(op.info is OPTIMIZER_STEP for op in r.forward.ops):
        return False
    old = {int(ref) for ref, _ in r.forward.updates}
    for op in r.forward.ops if old else ():
        if not old.isdisjoint(map(int, op.refs())):
            old.update(map(int, op.outs))
    return not any(int(r.forward.results[x.at]) in old for x in r.results if x.output is not None)


def _lower(program: Program, backend: str) -> None:
    """Let another tier take over the programs, if it can."""
    try:
        from importlib import import_module

        tier = import_module(f"wengert._compile.{backend}")
    except ImportError:
        return
    lower = getattr(tier, "lower", None)
    if lower is not None:
        lower(program)


class Compiled:
    """A function and its programs."""

    def __init__(self, fn: Any, backend: Any, fullgraph: bool, dynamic: Any = None, limit: int | None = None) -> None:
        self.fn = fn
        self.backend = backend
        self.fullgraph = fullgraph
        self.limit = limit
        self.programs: dict[Any, list[Program]] = {}
        self.broken: dict[Any, str] = {}
        self.breaks: list[tuple[str, Any]] = []
        self.count = 0
        self.pieces: dict[int, Any] = {}
        self.limit_said = False
        self.strict = False  # whether ``fullgraph`` refuses what PyTorch takes too
        #: of backends that take graphs: what was given to them; ``False`` where the function itself is what runs
        self.captured: Any = Pieces(backend, dynamic) if callable(backend) else False if backend is ... else None
        compiled_functions.add(self)

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of a compiled module is not compiled

    @staticmethod
    def alone(module: Any) -> bool:
        """Whether a compiled module has no hooks, which a program would not run."""
        found = module.__dict__.pop("_compiled_call_impl")
        try:
            return not module._has_hooks()
        finally:
            module.__dict__["_compiled_call_impl"] = found

    def reset(self) -> None:
        """Forget all programs."""
        self.programs.clear()
        self.broken.clear()
        self.breaks.clear()
        self.pieces.clear()
        self.count = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.of(args, kwargs)

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call with these arguments."""
        mode = _mode()
        if mode is None:
            return self.fn(*args, **kwargs)
        programs = self.programs.get(mode, ())
        if programs and programs[0].rest:
            programs[0].rest -= 1
            return self.as_it_is(*args, **kwargs)
        for program in programs:
            if program.call is not None:
                if (lock := program.lock).locked():  # another thread may take it now: then its call is waited for
                    continue
                with lock:  # no interrupt comes between taking it and the block
                    out = program.call(program, args, kwargs, self.fn)
                if out is not MISSED:
                    if program is not programs[0]:
                        self.programs[mode] = [program, *[p for p in programs if p is not program]]
                    return out
                continue
            inputs = program.guards.check(args, kwargs)
            if inputs is None:
                continue
            if program is not programs[0]:  # the first to be asked next time
                self.programs[mode] = [program, *[p for p in programs if p is not program]]
            if not program.pays and not program.worth():
                inputs = None  # or gradients that the function replaces live until it ends, and it takes other memory
                if program.trials:
                    return program.timed(1, self.as_it_is, *args, **kwargs)
                return self.as_it_is(*args, **kwargs)
            if program.pays and program.settled():
                program.call = call_function(program)
            if not program.lock.locked():
                with program.lock:
                    if program.trials:
                        return program.timed(0, program.run, program, inputs, self.fn, args, kwargs)
                    return program.run(program, inputs, self.fn, args, kwargs)
        if mode in self.broken:
            return self._in_pieces(args, kwargs)
        if stance[-1] in ("eager_on_recompile",) and self.count:
            return self.fn(*args, **kwargs)
        if stance[-1] == "fail_on_recompile" and self.count:
            raise RuntimeError("Detected recompile when torch.compile stance is 'fail_on_recompile'")
        limit = _limit() if self.limit is None else self.limit
        if self.count >= limit:
            if not self.limit_said:
                self.limit_said = True
                log.warning("torch._dynamo hit config.recompile_limit (%d): %s runs eagerly", limit, _title(self.fn))
            if self.fullgraph or _config("fail_on_recompile_limit_hit", False):
                raise FailOnRecompileLimitHit(
                    f"Hard failure due to {'fullgraph=True' if self.fullgraph else 'fail_on_recompile_limit_hit'}"
                )
            return self.fn(*args, **kwargs) if self.captured else self._in_pieces(args, kwargs)
        if sys.getprofile() is not None:  # Python's profiler is running, and the recorder needs its place
            return self.fn(*args, **kwargs)
        return self._recorded(args, kwargs, mode)

    def as_it_is(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function, which is told that it is compiled."""
        return as_it_is(self.fn, args, kwargs)

    def _recorded(self, args: Any, kwargs: Any, mode: Any) -> Any:
        self.count += 1
        if self.count > 1 and logs("recompiles"):
            log.warning("Recompiling %s", _title(self.fn))
        if self.count > 1 and _config("error_on_recompile", False):
            self.count -= 1
            raise RecompileError(_recompiling(self.fn))
        try:
            capture = Capture(self.fn, args, kwargs, self.captured) if self.captured else None
            before = COMPILING.set(True)
            try:
                out, made, at = record(self.fn, args, kwargs, capture)
            finally:
                COMPILING.reset(before)
            if capture is not None:
                out, made = self._compiled_by_user(capture, out, made, mode)
        except BaseException:
            self.count -= 1
            raise
        if made is None:
            return out
        if not isinstance(made, str):
            try:
                program = self._program(made)
            except Unplanned as error:
                made, at = str(error), None
            else:
                self.programs.setdefault(mode, []).append(program)
                if logs("output_code"):
                    log.warning("%s", program.source)
                if logs("guards"):
                    log.warning("%s", program.guards)
                return out
        self.broken[mode] = made
        self.breaks.append((made, at))
        counters["graph_break"][made] += 1
        if logs("graph_breaks"):
            log.warning("Graph break in %s: %s%s", _title(self.fn), made, _place(at))
        if self.fullgraph and (sentence := _refused(made) or (made if self.strict else None)):
            del self.broken[mode]  # the next call is refused too
            self.count -= 1
            raise _unsupported(self.fn, sentence, made, at)
        return out

    def _compiled_by_user(self, capture: Any, out: Any, made: Any, mode: Any) -> tuple[Any, Any]:
        """(result, why there is no program), after the backend has had the last graph; ``None``: there is one."""
        if isinstance(made, str):
            capture.close(out)
            return out, made
        out, program = self.captured.recorded(capture, out, made)
        self._release(made)
        if program is None:
            return out, "a graph of torch's functions is not all of the call"
        self.programs.setdefault(mode, []).append(program)
        return out, None

    def _program(self, r: Recording) -> Program:
        counters["stats"]["unique_graphs"] += 1
        if self.captured is None:
            program: Any = Program(r, r.owners, _title(self.fn), self.backend)
        else:
            program = AsItIs(r)
        self._release(r)
        return program

    @staticmethod
    def _release(r: Recording) -> None:
        tracer = r.finder.tracer
        tracer.lifted.clear()  # what only the trace needed, the memory of the call's inputs too
        tracer.owners.clear()
        tracer.before.clear()
        tracer.constants.clear()
        r.finder.release()

    def _in_pieces(self, args: Any, kwargs: Any) -> Any:
        """Run the function as it is, with the modules below a module compiled."""
        if self.captured:
            return self.captured.run(self.fn, args, kwargs)
        owner = getattr(self.fn, "__self__", None)
        if not isinstance(owner, Module):
            return self.as_it_is(*args, **kwargs)
        taken = []
        if not seen:
            seen.append(True)
        try:
            for child in _piece_modules(owner):
                if child.__dict__.get("_compiled_call_impl") is None:
                    piece = self.pieces.get(id(child))
                    if piece is None:
                        piece = self.pieces[id(child)] = Compiled(child.forward, self.backend, False)
                    child.__dict__["_compiled_call_impl"] = piece
                    taken.append(child)
            return self.as_it_is(*args, **kwargs)
        finally:
            for child in taken:
                child.__dict__.pop("_compiled_call_impl", None)


def _piece_modules(owner: Module) -> list[Module]:
    """The modules below a module that are worth a program: a user's, and those with modules of their own."""
    return [
        child
        for child in owner.children()
        if type(child).__name__ not in ("ModuleList", "ModuleDict")
        and (not INTERNAL[_file(type(child).forward)] or any(True for _ in child.children()))
    ]


def _file(fn: Any) -> str:
    return getattr(getattr(fn, "__code__", None), "co_filename", "")


def _config(name: str, usual: Any) -> Any:
    """A switch of ``torch._dynamo.config``."""
    return getattr(sys.modules.get("wengert._dynamo.config"), name, usual)


def _limit() -> int:
    return int(min(_config("recompile_limit", 8), _config("cache_size_limit", 8)))


def _recompiling(fn: Any) -> str:
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    where = "" if code is None else f" in {code.co_filename}:{code.co_firstlineno}"
    return f"Recompiling function {getattr(code, 'co_name', _title(fn))}{where}"


def _title(fn: Any) -> str:
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, Module):
        return type(owner).__qualname__
    return str(getattr(fn, "__qualname__", type(fn).__qualname__))


def _place(at: Any) -> str:
    return "" if at is None else f'\n  File "{at[0]}", line {at[1]}'


#: how PyTorch's errors of ``fullgraph=True`` begin; what is not here (``item``, a mask, a counter) runs as it is
_REFUSED = {
    " by bool()": "Data-dependent branching", " by tolist()": "Tensor.tolist() with non-integer tensor",
    " by repr()": "repr() on tensor", " by equal()": "Data dependent operator",
    " by allclose()": "Data dependent operator",
    "graph_break() is called": "Call to `torch._dynamo.graph_break()`",
    " is disabled": "Skip calling `torch.compiler.disable()`d function",
}  # fmt: skip
_BUILTINS = ("print", "input", "open", "exec", "eval")
_TRACED = ("id", "next", "globals", "setattr", "delattr")  # by PyTorch


def _refused(reason: str) -> str | None:
    """The first line of PyTorch's error."""
    found = next((text for part, text in _REFUSED.items() if part in reason), None)
    called = reason.partition("() is called")[0] if reason.endswith("() is called") else None
    if found is not None or called is None or called in _TRACED:
        return found
    return "Failed to trace builtin operator" if called in _BUILTINS else "Attempted to call function marked as skipped"


def _unsupported(fn: Any, sentence: str, reason: str, at: Any) -> Exception:
    import linecache

    error = Unsupported(f"{sentence[:1].upper()}{sentence[1:]}\n  Explanation: {reason}, in {_title(fn)}")
    if at is not None:
        noted(error, f'Where: File "{at[0]}", line {at[1]}\n    {linecache.getline(*at).strip()}')
    return noted(
        error,
        "Why: with fullgraph=True the whole function must be one program.",
        "What to do: compute with tensors (torch.where in place of an if), or leave out fullgraph=True.",
    )

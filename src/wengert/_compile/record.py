"""One call recorded: arguments lifted, the function run, effects and results found, the backward pass written down.

``record`` returns the call's real result and a ``Recording``, or the reason why there is none. A whole step (backward
and optimizer inside) is one tape. If results have a history, the backward pass from them is traced as well, on
cotangents of ones, and cut off as a second tape: its inputs are cotangents and what the first tape saves for it.
"""

from __future__ import annotations

import gc
import sys
import threading
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from .._arrays.memory import storage_of
from .._arrays.random.generator import _living as generators
from .._arrays.random.generator import default_generator
from .._base.errors import INTERNAL
from .._base.exports import is_ours
from .._base.forks import reopened
from .._base.heap import living_of
from .._base.modes import MODE, watching
from .._base.tracebacks import shorten
from .._base.tracing import TRACER
from .._tape import engine
from .._tape.node import AccumulateGrad, Port, RemovableHandle, tick
from .._tape.promotion import default_np
from .._tape.replaced import payload_replaced
from .._tape.tensor import Tensor, wrap
from .refused import Call
from .returned import Result, Returned, flattened
from .tape import CHECK, Input, Ref, Tape
from .traced import Lifted, Traced, Tracer
from .values import KINDS, same_items
from .watch import Finder

_IMPORTS = ("_find_and_load", "_find_spec")
_SHORTEN = shorten.__code__  # what an error passes on its way out: it reads the program's text
recording = reopened(threading.RLock())  # held while tensors hold traced values


class Recording:
    """What one call was: ``forward`` (``Tape``), ``backward`` (``Tape`` or ``None``), and what it did to its inputs."""

    forward: Tape
    backward: Tape | None = None
    finder: Finder
    spec: Any
    leaves: list[Any]  # of the result: ``Result``, or a constant
    results: list[Result]
    owners: list[int]  # of the forward tape's results: equal if eager's share memory; -1 for saved values
    grads: list[tuple[int, int | None]]  # (input, index among the tape's results; None: the gradient is removed)
    saved: list[int]  # for each saved value: the index among the forward tape's results, or -1 - input
    edges: list[int]  # the inputs whose gradients the backward tape's results are
    freed = False  # whether the graph behind the results was already used up

    def __init__(self, finder: Finder) -> None:
        self.finder = finder
        self.forward = finder.tracer.tape
        self.grads, self.owners = [], []

    def add(self, a: Traced) -> int:
        """Make a value a result of the tape; its index."""
        self.forward.results.append(a.ref)
        self.owners.append(id(storage_of(a.array)))
        return len(self.owners) - 1


def record(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], within: Any = None
) -> tuple[Any, Recording | str, Any]:
    """(the call's result, its recording or why there is none, where it broke); it runs in the mode ``within``."""
    with recording:
        collecting = gc.isenabled()
        try:  # an interrupt may come as soon as the collector is off
            gc.disable()  # its callbacks would run in the program's frames, and end the recording
            return _record(fn, args, kwargs, within)
        finally:
            if collecting:
                gc.enable()


def _record(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], within: Any) -> tuple[Any, Recording | str, Any]:
    tracer = Tracer(tick())
    finder = Finder(tracer)
    modes, handle = _modes(), RemovableHandle.next_id
    tracer.before.update((id(t), t) for t in living_of(Tensor) if hasattr(t, "_payload"))  # others are being made
    for g in (default_generator, *generators):
        tracer.generators[id(g)] = g, g.get_state_array().tobytes()
    outer = sys.getprofile()
    top, aside = True, 0
    called = Call()

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal top, aside
        code = frame.f_code
        if code is _SHORTEN or (code.co_name in _IMPORTS and code.co_filename.startswith("<frozen importlib")):
            aside += (event == "call") - (event == "return")  # what these run is no part of the program
        if aside:
            return
        if event == "call":
            kind = KINDS[frame.f_code.co_filename]
            if tracer.closed:
                return
            if kind == "own":
                called.note(frame)
                if KINDS[frame.f_back.f_code.co_filename] == "user":
                    finder.own(frame)
            elif kind == "library":
                finder.entered(frame, KINDS[frame.f_back.f_code.co_filename])
            elif frame.f_code.co_name != "<module>":  # an expression of this package's templates
                was, top = top, False
                finder.function(frame, was)
        elif event == "c_call" and KINDS[frame.f_code.co_filename] == "user":
            finder.called(frame, arg)
        elif event == "return" and within is not None:
            within.returned(frame, event, arg)

    def stopped() -> None:
        leave()  # nothing more at the second time
        sys.setprofile(outer)

    tracer.on_stop = stopped
    watch, leave = watching(tracer.watch, (engine.observers, tracer.observe), (payload_replaced, tracer.replaced))
    before = TRACER.get()
    made: Recording | str = ""
    try:
        watch()
        TRACER.set(tracer)
        _lift_arguments(finder, args, kwargs)
        _lift_bound(finder, fn)
        if tracer.closed:
            return fn(*args, **kwargs), tracer.broken or "", tracer.broken_at
        sys.setprofile(profile)
        failed = None
        try:
            if within is None:
                out = fn(*args, **kwargs)
            else:
                with within:
                    out = fn(*args, **kwargs)
        except Exception as error:
            sys.setprofile(outer)
            if tracer.closed or not INTERNAL[_raised_in(error)]:
                raise
            if finder.changed() is not None or _modes() != modes or RemovableHandle.next_id != handle:
                raise called.refused(error) or error from None
            failed = f"{type(error).__name__} is raised: {error}"
        finally:
            sys.setprofile(outer)
            if failed is None:
                called.last = None  # what it holds is kept by no program
        if failed is not None:  # eager may not fail; if it does, the error is eager's
            tracer.discard()
            TRACER.set(None)
            try:
                return fn(*args, **kwargs), failed, tracer.broken_at
            except (RuntimeError, ValueError) as error:
                raise called.refused(error) or error from None
        if not tracer.closed:
            finder.finish()
            changed = finder.changed() if _modes() == modes else "the call changes a mode or NumPy's random state"
            if changed is not None:
                tracer.stop(changed)
        made = tracer.broken or ""
        if not tracer.closed:
            made = _finished(tracer, finder, out)
            if isinstance(made, str):
                tracer.stop(made)
            else:
                tracer.close()
                made = _leaked(tracer, out) or made
        if tracer.broken:
            tracer.settle()
        _own_gradients(tracer)
        return out, made, tracer.broken_at
    except BaseException:
        if not tracer.closed:
            tracer.stop("an error is raised")
        raise
    finally:
        try:
            if not tracer.closed:
                tracer.close()
        finally:
            TRACER.set(before)
            if isinstance(made, str):  # no program takes the trace apart: its inputs know it, and it knows them
                tracer.lifted.clear()
                tracer.owners.clear()


def _modes() -> Any:
    """The modes and NumPy's random state, which a call may change for what comes after."""
    state = MODE.get()
    _, key, at, *_ = np.random.get_state()  # type: ignore[misc]
    return (state is None or state.grad, state is not None and state.inference, default_np(), key.tobytes(), at)


def _raised_in(error: BaseException) -> str:
    """The file whose code raised an error."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "" if step is None else step.tb_frame.f_code.co_filename


def _own_gradients(tracer: Tracer) -> None:
    """Give gradients that share memory after the trace, which values of a tape may, memory of their own."""
    seen: set[int] = set()
    for e in tracer.lifted.values():
        grad = e.node.grad if e.is_leaf else None
        if grad is not None and grad is not e.grad and type(grad._payload) is np.ndarray:
            owner = id(storage_of(grad._payload))
            if owner in seen or owner in tracer.owners or grad._payload.base is not None:
                grad._payload = np.array(grad._payload, order="K")
            seen.add(owner)


def _lift_arguments(finder: Finder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    names = "not kwargs" if not kwargs else f"[*kwargs] == {finder.constant(list(kwargs))}"
    finder.need(f"len(args) == {len(args)} and {names}", "as many arguments")
    for k, a in enumerate(args):
        _argument(finder, a, f"args[{k}]", f"args[{k}]")
    for name, a in kwargs.items():
        _argument(finder, a, f"kwargs[{name!r}]", name)


def _argument(finder: Finder, a: Any, text: str, where: str) -> None:
    """An argument: containers are watched by their structure, since each call has new ones."""
    finder.given.add(id(a))
    if type(a) in (list, tuple) or (isinstance(a, tuple) and hasattr(a, "__match_args__")):
        kind = finder.constant(type(a))
        finder.need(f"type({text}) is {kind} and len({text}) == {len(a)}", f"{where} has {len(a)} elements")
        for k, x in enumerate(a):
            _argument(finder, x, f"{text}[{k}]", f"{where}[{k}]")
        if type(a) is list:
            finder.again.append((same_items, (a, list(a)), True))
    elif type(a) is dict:
        finder.need(
            f"type({text}) is dict and list({text}) == {finder.constant(list(a))}", f"{where} has the same keys"
        )
        for k, x in a.items():
            if isinstance(k, (str, int)):
                _argument(finder, x, f"{text}[{k!r}]", f"{where}[{k!r}]")
            else:
                finder.tracer.stop("a dict with such keys is no argument of a program")
        finder.again.append((same_items, (a, dict(a)), True))
    else:
        finder.value(a, text, where)


def _lift_bound(finder: Finder, fn: Any) -> None:
    """What is called: a function, a method, an object."""
    if finder.tracer.closed or isinstance(fn, type):
        return
    if isinstance(fn, MethodType):
        owner = fn.__self__
        if not isinstance(owner, type):
            finder.value(owner, finder.constant(owner), "self")
        fn = fn.__func__
    if not isinstance(fn, FunctionType):
        finder.value(fn, finder.constant(fn), "the function")
    elif KINDS[fn.__code__.co_filename] == "user":
        finder.hold(fn, fn.__qualname__, 0)


# ---- what it was
def _finished(tracer: Tracer, finder: Finder, out: Any) -> Recording | str:
    r = Recording(finder)
    entries = list(tracer.lifted.values())
    index = {id(e.tensor): k for k, e in enumerate(entries)}
    for ref, a, content in tracer.constants.values():
        if np.asarray(a).tobytes() != content.tobytes():
            return f"the array {ref!r} changes after it was used"
    for generator, state in tracer.generators.values():
        if generator.get_state_array().tobytes() != state:
            return "something else moves the random stream"
    for k, e in enumerate(entries):
        reason = _effect_on(tracer, e, k, r)
        if reason is not None:
            return reason
    leaves, r.spec = flattened(out)
    returned = Returned(tracer, index, r)
    reason = returned.found(leaves)
    if reason is not None:
        return reason
    r.leaves, r.results, outputs = returned.leaves, returned.results, returned.outputs
    r.saved, r.edges = [], []
    if outputs:
        reason = _backward(tracer, entries, outputs, r)
        if reason is not None:
            return reason
    r.forward.gradients = sum(at is not None for _, at in r.grads)
    return r


def _effect_on(tracer: Tracer, e: Lifted, k: int, r: Recording) -> str | None:
    """Note what the call did to one input; or why a program cannot do it."""
    t, now = e.tensor, e.tensor._payload
    if type(now) is not Traced:
        return f"the memory of {e.where} is replaced"
    if now.array.shape != e.array.shape or now.array.dtype != e.array.dtype:
        return f"{e.where} gets another shape or dtype"
    if t._node is not e.node:
        return f"the history of {e.where} changes"
    if now is not e.traced:
        if not e.array.flags.writeable:
            return f"{e.where} lies in read-only memory"
        tracer.tape.updates.append((e.ref, now.ref))
    if e.is_leaf:
        grad = e.node.grad
        if e.node._hooks is not None:
            return f"{e.where} has hooks, or memory of another order"
        if grad is not e.grad:
            if grad is None:
                r.grads.append((k, None))
            elif type(grad._payload) is not Traced or grad._node is not None or type(grad) is not Tensor:
                return f"the gradient of {e.where} is no traced tensor"
            else:
                r.grads.append((k, r.add(grad._payload)))
    return None


def _leaked(tracer: Tracer, out: Any) -> str | None:
    """Whether a tensor of the call stays somewhere where a program would not put it."""
    entries = tracer.lifted.values()
    ours = {id(t) for t in flattened(out)[0] if isinstance(t, Tensor)} | {id(e.tensor) for e in entries}
    ours |= {id(e.node.grad) for e in entries if e.is_leaf and e.node.grad is not None}
    found = [t for t in tracer.holders if id(t) not in ours and id(t) not in tracer.before]
    tracer.holders = []
    if any(_held_elsewhere(t, found) for t in found):
        gc.collect()  # a function that calls itself is a cycle, and its variables with it
        if any(_held_elsewhere(t, found) for t in found):
            return "a tensor of the call is kept by the program"
    return None


def _held_elsewhere(t: Tensor, found: list[Tensor]) -> bool:
    """Whether something else than a view's tuple, a graph or a running function refers to a tensor."""
    for holder in gc.get_referrers(t):
        kind = type(holder)
        if kind is tuple and len(holder) == 4 and holder[0] is t:
            continue  # the parent of a view
        if kind in (dict, set, list) or (hasattr(holder, "__dict__") and not isinstance(holder, type)):
            if holder is found:
                continue
            module = getattr(kind, "__module__", "")
            if is_ours(module):
                continue
            if kind is list and _is_local(holder):
                continue
            return True
        if kind.__name__ == "cell":
            return True
    return False


def _is_local(holder: Any) -> bool:
    return any(type(x).__name__ == "frame" for x in gc.get_referrers(holder))


# ---- the backward pass
def _backward(tracer: Tracer, entries: list[Lifted], outputs: list[Any], r: Recording) -> str | None:
    tape = tracer.tape
    mark = len(tape.ops)
    wanted: list[Any] = []
    for k, e in enumerate(entries):
        if e.node is not None:
            wanted.append(e.node)
            r.edges.append(k)
    reason = _hooked([t._node for t in outputs], set(map(id, wanted)))
    if reason is not None:
        return reason
    roots, cotangents = [], []
    for t in outputs:
        a = np.ones(t._payload.shape, t._payload.array.dtype)
        ref = tape.new(a.shape, a.dtype, Input(-1, "cotangent"))
        tape.values[ref].strides = a.strides
        cotangents.append(ref)
        roots.append((t._node, Traced(tracer, ref, a)))
    try:
        grads = engine.run(roots, keep=True, inputs=wanted, returned=True)
    except Exception as error:  # noqa: BLE001  the program has not asked for this pass; its own raises what it raises
        if "a second time" not in str(error):
            return f"the backward pass raises {type(error).__name__}"
        r.freed = True
        r.edges = []
        r.forward = _part(tape, tape.ops[:mark], tape.results, tape.updates, {})
        return None
    if tracer.closed:
        return tracer.broken
    assert grads is not None
    r.edges = [k for k, g in zip(r.edges, grads, strict=True) if g is not None]
    found = [g._payload for g in grads if g is not None]
    refs = []
    for g in found:
        if type(g) is not Traced:
            g = tracer.captured(wrap(g))._payload
        refs.append(g.ref)
    ops = tape.ops[mark:]
    if any(op.effect and op.info is not CHECK for op in ops):
        return "the backward pass draws or steps"
    made = {int(o) for op in ops for o in op.outs}
    reads = dict.fromkeys(int(a) for op in ops for a in op.refs())
    reads.update(dict.fromkeys(map(int, refs)))
    forward = _part(tape, tape.ops[:mark], list(tape.results), tape.updates, {})
    sources: dict[int, Input] = {}
    updated = {int(old) for old, _ in tape.updates}
    for v in reads:
        source = tape.values[v].source
        if v in made or v in set(map(int, cotangents)) or (source is not None and not isinstance(source, Input)):
            continue
        sources[v] = Input(len(r.saved), f"saved {len(r.saved)}")
        if isinstance(source, Input) and v not in updated:
            r.saved.append(-1 - source.index)
        else:
            r.saved.append(len(forward.results))
            forward.results.append(Ref(v))
            r.owners.append(-1)
    for k, c in enumerate(cotangents):
        sources[int(c)] = Input(len(r.saved) + k, f"cotangent {k}")
    r.forward = forward
    r.backward = _part(tape, ops, refs, [], sources)
    return None


def _part(tape: Tape, ops: Any, results: Any, updates: Any, sources: dict[int, Input]) -> Tape:
    """A tape of some of the operators, on the same numbers; ``sources``: what becomes an input."""
    made = Tape()
    for v in tape.values:
        ref = made.new(v.shape, v.dtype, v.source)
        made.values[ref].strides = v.strides
        if isinstance(v.source, Input) and (sources or v.source.index < 0):
            made.values[ref].source = None
        if int(ref) in sources:
            made.values[ref].source = sources[int(ref)]
    made.ops, made.results, made.updates = list(ops), list(results), list(updates)
    return made


def _hooked(roots: list[Any], ends: set[int]) -> str | None:
    """Whether the graph of a call has hooks, which a program would not run."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        n = waiting.pop()
        if type(n) is Port:
            if n._hooks is not None:
                return "a result has hooks"
        if id(n) in seen or id(n) in ends:
            continue
        seen.add(id(n))
        if n._hooks is not None and type(n) is not AccumulateGrad:
            return "a tensor or node has hooks"
        waiting.extend(m for m in n._edges() if m is not None)
    return None

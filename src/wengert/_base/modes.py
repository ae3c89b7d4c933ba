"""Modes: the reasons why an operator leaves the hot path.

``slow_if_recording`` is a plain list that is empty in an ordinary program; every operator that records tests it first.
Everything that turns recording off or watches it (no-grad, inference mode, saved-tensor hooks, a profiler, legacy
volatile tensors, tensors of a subclass that overrides operators, memory with stale views) adds one entry to the list
for as long as it lives, in any thread. The operator then looks up its own setting in ``MODE``, a context variable, so
each thread and each asyncio task has its own.

NOTE [ Interrupts ]
    Python looks for signals where a function of Python begins and after each call of a function of C. So Ctrl-C may
    come before the first line of an ``__exit__`` or a ``__del__``, which then does nothing, and the mode stays on; or
    in an ``__enter__`` that has set the mode already, whose ``__exit__`` is not called then. So modes begin in one
    step that is undone, and end in C:

    * What an entry of a context changes is one context variable, set last by ``enter``. Its value holds the one
      before as ``outer``, and ``__exit__`` is a function of C that goes back there (``leaving``).
    * An entry that changes more is one call of a function of C that makes all calls (``together``); ``__exit__``
      calls another one that undoes them (``undoing``).
    * What is counted as long as it lives holds a ``Mark``. A list has a weak reference to it, whose callback is
      ``remove`` of that list (``Marks``).
"""

from __future__ import annotations

import _io
import weakref
from _thread import _local
from collections import deque
from contextvars import ContextVar
from functools import partial
from itertools import repeat
from operator import call, itemgetter, not_
from typing import Any


class _Leaving(_io._IOBase):
    """An object whose ``__exit__``, a function of C, calls its attribute ``close`` without arguments."""

    closed = True  # so that nothing is called when the object dies


_NEVER = object()


OUTER: Any = object()


def leaving(*steps: tuple[ContextVar[Any], Any]) -> Any:
    """An ``__exit__`` of C that replaces the value of each variable by ``step(value)``, ``step`` a function of C too.

    ``OUTER`` stands for the value's attribute ``outer``, ``None`` if it has none. See NOTE [ Interrupts ]. The result
    is put into a class as it is: its arguments do not matter.
    """
    leave = _Leaving()
    ends = [map(not_, map(var.set, _stepped(iter(var.get, _NEVER), step))) for var, step in steps]
    leave.close = (ends[0] if len(ends) == 1 else map(max, *ends)).__next__  # type: ignore[assignment]
    return leave.__exit__


def _stepped(values: Any, step: Any) -> Any:
    return map(getattr, values, repeat("outer"), repeat(None)) if step is OUTER else map(step, values)


def enter(var: ContextVar[Any], value: Any) -> None:
    """Set a variable in an ``__enter__``, as the last step; an interrupt leaves it as it was."""
    before = var.get()
    try:
        var.set(value)
    except BaseException:
        var.set(before)
        raise


def together(*calls: Any) -> Any:
    """A function of C without arguments that makes these calls, once."""
    return partial(deque, map(call, calls), 0)


def unwinding() -> tuple[list[Any], Any]:
    """A list for functions of C, and a function of C that calls them, the last one first, and empties the list."""
    undo: list[Any] = [None]
    return undo, partial(deque, map(call, iter(undo.pop, None)), 0)


def begin(step: Any, undo: Any) -> None:
    """Call ``step``, a function of C, in an ``__enter__``; an interrupt right after it calls ``undo``."""
    try:
        step()
    except BaseException:
        undo()
        raise


def undoing(last: Any) -> Any:
    """An ``__exit__`` of C that calls the function that ``last``, one of C too, returns: NOTE [ Interrupts ]."""
    leave = _Leaving()
    leave.close = map(call, iter(last, _NEVER)).__next__
    return leave.__exit__


def ending(entered: ContextVar[tuple[Any, ...]]) -> Any:
    """An ``__exit__`` of C that calls ``end``, a function of C, of the last of the objects in a variable."""
    last = map(itemgetter(-1), iter(entered.get, _NEVER))
    return undoing(map(getattr, last, repeat("end")).__next__)


class Mark:
    """What an object holds as long as it counts."""

    __slots__ = ("__weakref__",)


class Marks(list[Any]):
    """A list that is not empty as long as a mark of it lives."""

    __slots__ = ()

    def mark(self, *more: list[Any]) -> Mark:
        """The mark for one more object: a living one, or a new one, which ``more`` lists have an entry for too."""
        known = self[-1]() if self else None
        if known is not None:
            return known
        made = self._new()
        for entries in (self, *more):
            entries.append(weakref.ref(made, entries.remove))
        return made

    def _new(self) -> Mark:
        return Mark()


slow_if_recording: list[Any] = []
# The subset of reasons that also concern operators on tensors without history; plain no-grad is not one of them.
slow_always: list[Any] = []


def reason() -> Mark:
    """A mark that keeps every operator off the hot path as long as it lives."""
    made = Mark()
    for reasons in (slow_if_recording, slow_always):
        reasons.append(weakref.ref(made, reasons.remove))
    return made


class State:
    """One setting of all modes; those that concern operators are counted in ``slow_if_recording`` while they live.

    Immutable. A setting dies when the last context that refers to it is deleted, so a thread or task that ends inside
    ``no_grad`` leaves nothing behind. ``outer`` is the setting to go back to.
    """

    __slots__ = ("__weakref__", "asked", "grad", "hooks", "inference", "outer", "version")
    version: Any  # what inference tensors made in this mode have in common, from the first one on

    def __init__(self, asked: bool, inference: bool, hooks: tuple[Any, ...] | None, outer: State | None):
        self.asked = asked  # what torch.is_grad_enabled() says, also in inference mode, which records nothing
        self.grad = grad = asked and not inference
        self.inference = inference
        self.hooks = hooks
        self.outer = outer
        if not grad or inference or hooks:
            slow_if_recording.append(weakref.ref(self, slow_if_recording.remove))
            if inference:
                slow_always.append(weakref.ref(self, slow_always.remove))


MODE: ContextVar[State | None] = ContextVar("wengert_mode", default=None)


def is_grad_enabled() -> bool:
    """Whether operators are being recorded in this thread or task."""
    state = MODE.get()
    return state is None or state.grad


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread or task."""
    state = MODE.get()
    return state is not None and state.inference


def saved_tensors_hooks() -> tuple[Any, ...] | None:
    """The pairs of pack and unpack functions active in this thread or task, innermost last."""
    state = MODE.get()
    return None if state is None else state.hooks


def changed(*, grad: bool | None = None, inference: bool | None = None, hooks: Any = ...) -> State:
    """A setting for a context to enter: the current one with some of its fields changed."""
    now = MODE.get()
    old_grad, old_inference, old_hooks = (True, False, None) if now is None else (now.asked, now.inference, now.hooks)
    inference = old_inference if inference is None else inference
    grad = old_grad if grad is None else grad
    return State(grad, inference, old_hooks if hooks is ... else hooks, now)


def replaced(*, grad: bool | None = None, hooks: Any = ...) -> State | None:
    """A setting to go on with in the same context, or ``None`` for the default."""
    now = MODE.get()
    made = changed(grad=grad, hooks=hooks)
    made.outer = None if now is None else now.outer
    return made if made.outer or not made.grad or made.inference or made.hooks else None


leave_mode = leaving((MODE, OUTER))


slow_hooks: list[Any] = []  # the hooks around every operator, the latest outermost
# What ``slow_hooks`` is with bfloat16's hook alone, whose ``unconcerned(args)`` tells whether it may
# be left out. Empty until the first bfloat16 array.
rounding: list[Any] = []
ahead: list[Any] = []  # weak references to objects whose ``before`` is called before every operator, on the slow path
new_tensors: list[Any] = []  # who is told of every tensor that a maker makes, while there are reasons to be slow
writes = _local()  # .op: the operator whose in-place form is running, set only while there are slow_hooks


def watch_operators(hook: Any) -> None:
    """Wrap every operator in every thread: it becomes ``hook(info, args, proceed)``, and ``proceed()`` runs it."""
    watching(hook)[0]()


def unwatch_operators(hook: Any) -> None:
    """Undo one ``watch_operators``."""
    watching(hook)[1]()


def watching(hook: Any, *entries: tuple[list[Any], Any]) -> tuple[Any, Any]:
    """Functions of C that wrap every operator in a hook and add entries to lists, and that undo it."""
    entries = ((slow_if_recording, "watched"), (slow_always, "watched"), (slow_hooks, hook), *entries)
    return tuple(together(*[partial(getattr(to, how), entry) for to, entry in entries]) for how in ("append", "remove"))


class _Hook(weakref.ref[Mark]):
    """An entry of ``slow_hooks`` that lasts as long as a mark."""

    __slots__ = ("hook",)
    hook: Any

    def __call__(self, info: Any, args: Any, proceed: Any) -> Any:  # type: ignore[override]  # nobody asks for the mark
        return self.hook(info, args, proceed)


class Watched(Marks):
    """Marks of what a hook around every operator is for: the hook lasts as long as one of them lives."""

    __slots__ = ("_hook",)

    def __init__(self, hook: Any) -> None:
        super().__init__()
        self._hook = hook

    def _new(self) -> Mark:
        made = reason()
        entry = _Hook(made, slow_hooks.remove)
        entry.hook = self._hook
        slow_hooks.append(entry)
        return made


def unhooked(*args: Any) -> bool:
    """Whether the hooks around operators may be left out for these arguments: bfloat16's, if none has that dtype."""
    # ``rounding`` first: another thread may end the last hook before there was a bfloat16 array
    return bool(rounding) and slow_hooks == rounding and rounding[0].unconcerned(args)  # type: ignore[no-any-return]


class Count(list[None]):
    """A count, mostly tested for being nonzero.

    It is a list, because the interpreter tests a list without a call and changes it atomically.
    """

    __slots__ = ()

    def add(self) -> None:
        """One more."""
        self.append(None)

    def drop(self) -> None:
        """One less."""
        self.pop()


inference_tensors = Marks()  # not empty while tensors made in inference mode live; see _tape.inference
anomaly = Count()  # 1 while anomaly mode is on
transforms = Marks()  # not empty while a transform of torch.func runs its function, in any thread


class _Running:
    """A transform while it runs its function."""

    __slots__ = ("__weakref__", "mark", "outer", "transform")

    def __init__(self, transform: transform, outer: _Running | None) -> None:
        self.transform = transform
        self.outer = outer
        self.mark = transforms.mark()


_innermost: ContextVar[_Running | None] = ContextVar("wengert_transform", default=None)


class transform:
    """Context in which a transform of torch.func runs its function: permanent changes to tensors are refused."""

    __slots__ = ("adopted", "outer", "rebound", "reverse", "variables")

    def __init__(self) -> None:
        self.reverse = False  # whether it is reverse mode's
        self.outer: transform | None = None
        self.variables: set[Any] | None = None  # the variables' nodes, of reverse mode on the program's own tape
        self.rebound: list[Any] = []  # weak references to tensors, and their replaced payload and node
        self.adopted: list[Any] = []  # weak references to tensors whose history began with a write in place

    def __enter__(self) -> transform:
        around = _innermost.get()
        self.outer = None if around is None else around.transform
        enter(_innermost, _Running(self, around))
        return self

    __exit__ = leaving((_innermost, OUTER))

    def undo(self) -> None:
        """Give the tensors that were written to their old values: a failed transform leaves nothing behind."""
        for ref, a, fn in reversed(self.rebound):
            t = ref()
            if t is not None:
                t._payload, t._node, t._box = a, fn, None
        self.rebound.clear()


class undone:
    """Context around a transform that undoes its writes to tensors from outside if it fails."""

    def __init__(self, inside: transform) -> None:
        self.inside = inside

    def __enter__(self) -> transform:
        return self.inside

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            self.inside.undo()


def running() -> Any:
    """What dies when the innermost transform ends."""
    return _innermost.get()


def in_reverse_mode() -> bool:
    """Whether one of the transforms that are running is reverse mode's."""
    now = in_transform()
    while now is not None and not now.reverse:
        now = now.outer
    return now is not None


NO_SAVED_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use "
    "case."
)


def in_transform() -> transform | None:
    """The innermost transform of torch.func that is running its function in this thread or task."""
    now = _innermost.get() if transforms else None
    return None if now is None else now.transform

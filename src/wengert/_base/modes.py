"""Modes: the reasons why an operator leaves the hot path.

``slow_if_recording`` is a plain list that is empty in an ordinary program; every operator that records tests it first.
Everything that turns recording off or watches it (no-grad, inference mode, saved-tensor hooks, a profiler, legacy
volatile tensors, tensors of a subclass that overrides operators, memory with stale views) adds one entry to the list
for as long as it lives, in any thread. The operator then looks up its own setting in ``MODE``, a context variable, so
each thread and each asyncio task has its own.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

slow_if_recording: list[Any] = []
# The subset of reasons that also concern operators on tensors without history; plain no-grad is not one of them.
slow_always: list[Any] = []


def add_reason(name: str) -> None:
    """Keep every operator off the hot path until ``drop_reason``."""
    slow_if_recording.append(name)
    slow_always.append(name)


def drop_reason(name: str) -> None:
    """Undo one ``add_reason``."""
    if slow_if_recording:  # already None when the interpreter shuts down
        slow_if_recording.remove(name)
        slow_always.remove(name)


class State:
    """One setting of all modes; all but the default (``None`` in ``MODE``) are counted in ``slow_if_recording``.

    Immutable. The count decreases when the last context that refers to the setting is deleted, so a thread or task
    that ends inside ``no_grad`` leaves nothing behind.
    """

    __slots__ = ("__weakref__", "grad", "hooks", "inference", "only_quiet")

    def __init__(self, grad: bool, inference: bool, hooks: tuple[Any, ...] | None):
        self.grad = grad
        self.inference = inference
        self.hooks = hooks
        self.only_quiet = not grad and not inference
        if inference:
            add_reason("mode")
        elif slow_if_recording is not None:  # a generator may be closed at shutdown, when modules are empty
            slow_if_recording.append("mode")

    def __del__(self) -> None:
        if self.inference:
            drop_reason("mode")
        elif slow_if_recording:
            slow_if_recording.remove("mode")


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


def changed(*, grad: bool | None = None, inference: bool | None = None, hooks: Any = ...) -> State | None:
    """A copy of the current setting with some of its fields changed."""
    now = MODE.get()
    old_grad, old_inference, old_hooks = (True, False, None) if now is None else (now.grad, now.inference, now.hooks)
    inference = old_inference if inference is None else inference
    grad = (old_grad if grad is None else grad) and not inference
    hooks = old_hooks if hooks is ... else hooks
    return None if grad and not inference and not hooks else State(grad, inference, hooks)


slow_hooks: list[Any] = []  # the hooks around every operator, the latest outermost
writes = threading.local()  # .op: the operator whose in-place form is running, set only while there are slow_hooks


def watch_operators(hook: Any) -> None:
    """Wrap every operator in every thread: it becomes ``hook(info, args, proceed)``, and ``proceed()`` runs it."""
    add_reason("watched")
    slow_hooks.append(hook)


def unwatch_operators(hook: Any) -> None:
    """Undo one ``watch_operators``."""
    slow_hooks.remove(hook)
    drop_reason("watched")


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


inference_tensors = Count()  # living tensors made in inference mode; see _tape.inference
anomaly = Count()  # 1 while anomaly mode is on
transforms = Count()  # active transforms of torch.func, in all threads
_innermost: ContextVar[transform | None] = ContextVar("wengert_transform", default=None)


class transform:
    """Context in which a transform of torch.func runs its function: permanent changes to tensors are refused."""

    __slots__ = ("adopted", "outer", "rebound", "token")

    def __enter__(self) -> transform:
        transforms.add()
        self.outer = _innermost.get()
        self.rebound: list[Any] = []  # weak references to tensors, and their replaced payload and node
        self.adopted: list[Any] = []  # weak references to tensors whose history began with a write in place
        self.token = _innermost.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        transforms.drop()
        _innermost.reset(self.token)
        if exc and exc[0] is not None:  # a failed transform leaves nothing behind
            for ref, a, fn in reversed(self.rebound):
                t = ref()
                if t is not None:
                    t._payload, t._node, t._box = a, fn, None
            self.rebound.clear()


def in_transform() -> transform | None:
    """The innermost transform of torch.func that is running its function in this thread or task."""
    return _innermost.get() if transforms else None

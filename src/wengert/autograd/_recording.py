"""The profiler's recorder of operators, backward steps and named blocks with their times.

While it records, a recorder wraps every operator (``_kinds.slow_path.watch_operators``) and every step of a backward
pass (``_tape.engine.observers``). Without a recorder these paths have no extra cost.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np

from .._base import modes
from .._base.aten_names import aten_name
from .._base.errors import program_frame
from .._tape import delivery, engine
from .._tape.node import Port, tick
from .._tape.tensor import Tensor
from . import function as _function

OPERATOR, BACKWARD, USER = 0, 1, 7  # PyTorch's RecordScope


class Span:
    """One recorded call; times are in nanoseconds."""

    __slots__ = ("args", "end", "flops", "memory", "name", "scope", "sequence", "shapes", "stack", "start")

    def __init__(self, name: str, scope: int) -> None:
        self.name = name
        self.scope = scope
        self.shapes: list[Any] = []
        self.stack: list[str] = []
        self.sequence = -1
        self.memory = 0
        self.flops = 0
        self.args: str | None = None
        self.start = self.end = perf_counter_ns()


RUNNING: ContextVar[tuple[Any, ...]] = ContextVar("wengert_recorders", default=())  # the recorders of a thread or task


class Recorder:
    """Records the calls of the thread that started it, until it is stopped."""

    def __init__(self, *, shapes: bool = False, memory: bool = False, stack: bool = False, flops: bool = False) -> None:
        self.shapes = shapes or flops
        self.memory = memory
        self.stack = stack
        self.flops = flops
        self.spans: list[Span] = []
        self.thread = 0
        self.paused = False

    def start(self, after: Callable[[], None], ends: list[Any] | None) -> None:
        """From now on, until ``end`` is called, which calls ``after``.

        It is noted in ``ends``, or is what the innermost ``with`` block calls at its end.
        """
        self.thread = threading.get_ident()
        self.began = perf_counter_ns()
        before = RUNNING.get()
        start, stop = modes.watching(
            self._operator,
            (active, self),
            (engine.observers, self._step),
            (_function.watchers, self._call),
            (delivery.leaf_observers, self._leaf),
            (modes.new_tensors, self._made),
        )
        enter: Any = partial(RUNNING.set, (*before, self))
        if ends is None:
            stop = modes.together(stop, partial(RUNNING.set, before))
        self.end = modes.together(stop, self._stopped, after)
        if ends is not None:
            enter = partial(ends.append, self.end)
        modes.begin(modes.together(start, enter), stop)

    def _stopped(self) -> None:
        """Calls that are still running end now."""
        self.ended = perf_counter_ns()
        for span in self.spans:
            if span.end == span.start:
                span.end = self.ended

    def here(self) -> bool:
        """Whether to record the current call."""
        return not self.paused and threading.get_ident() == self.thread

    def open(self, name: str, scope: int) -> Span:
        """A call begins."""
        span = Span(name, scope)
        self.spans.append(span)
        return span

    def _opened(self, name: str, args: tuple[Any, ...]) -> Span:
        """The span of an operator or a custom function, whose time begins after its facts are noted."""
        span = self.open(name, OPERATOR)
        if self.shapes:
            span.shapes = [_shape(a) for a in args]
        if self.stack:
            span.stack = _calls()
        span.start = perf_counter_ns()
        return span

    # ---- the watchers
    def _operator(self, info: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        if not self.here():
            return proceed()
        name = "linear" if info.name == "linear" else aten_name(info)  # the function; its node is that of addmm
        if getattr(getattr(modes.writes, "op", None), "__name__", "") == name:
            name += "_"
        span = self._opened(f"aten::{name}", args)
        try:
            result = proceed()
        finally:
            span.end = perf_counter_ns()
        results = result if isinstance(result, (tuple, list)) else (result,)
        first = next((r for r in results if isinstance(r, Tensor)), None)
        if first is not None and first._node is not None and first._node._seq:
            span.sequence = (first._node.fx if type(first._node) is Port else first._node)._seq
        elif modes.is_grad_enabled():
            span.sequence = tick()  # that of a node which was not needed
        if self.memory:
            span.memory = sum(_new_bytes(r) for r in results)
        if self.flops:
            from ..utils._flops import of_operator

            span.flops = of_operator(name, span.shapes, results)
        return result

    def _made(self, t: Tensor) -> None:
        """A maker's memory, as the call that takes it in PyTorch; how long that took is not known."""
        if self.here():
            span = self._opened("aten::empty", ())
            span.memory = _new_bytes(t) if self.memory else 0
            span.end = span.start + 1

    def _call(self, cls: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        if not self.here():
            return proceed()
        span = self._opened(cls.__name__, args)
        try:
            outputs, ctx = proceed()
        finally:
            span.end = perf_counter_ns()
        if ctx._next:
            span.sequence = ctx._seq
        return outputs, ctx

    def _step(self, n: Any, g: Any, step: Any) -> Any:
        if type(n) is Port or type(n) is engine.NothingArrives or not self.here():
            return step()
        return self._backward_step(n, g, step)

    def _backward_step(self, n: Any, g: Any, run: Any) -> Any:
        name = n.name()
        outer = self.open(f"autograd::engine::evaluate_function: {name}", OPERATOR)
        inner = self.open(name, BACKWARD)
        outer.sequence = inner.sequence = n._seq or -1
        if self.shapes:
            inner.shapes = [_shape(g)]
        inner.start = perf_counter_ns()
        try:
            pairs = run()
        finally:
            inner.end = perf_counter_ns()
            outer.end = perf_counter_ns()
        if self.memory and pairs is not None:
            inner.memory = sum(_new_bytes(d) for d in pairs[1::2])
        return pairs

    def _leaf(self, m: Any, g: Any, run: Any) -> Any:
        """A leaf accumulates."""
        return self._backward_step(m, g, run) if self.here() else run()


active: list[Recorder] = []


# ---- facts
def _shape(value: Any) -> list[int]:
    return list(value.shape) if isinstance(value, (Tensor, np.ndarray)) else []


def _new_bytes(value: Any) -> int:
    """The bytes allocated for a result; 0 for a view."""
    a = value._payload if isinstance(value, Tensor) else value
    if isinstance(a, np.generic):
        return a.nbytes
    return a.nbytes if isinstance(a, np.ndarray) and a.base is None else 0


def _calls() -> list[str]:
    """The user's part of the call stack, innermost call first."""
    frame = program_frame(sys._getframe(1))
    return [f"{s.filename}({s.lineno}): {s.name}" for s in reversed(traceback.extract_stack(frame))]

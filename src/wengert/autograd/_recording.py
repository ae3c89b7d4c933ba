"""Recording what runs: operators, backward steps, named blocks, each with its times.

A recorder stands around every operator (``_kinds.slow_path.watch_operators``) and around every step of a backward pass
(``_tape.engine.observers``) for as long as it records; when none does, nothing of it is on any path.
"""

from __future__ import annotations

import threading
import traceback
from time import perf_counter_ns
from typing import Any

import numpy as np

from .._base import errors as lines
from .._base import modes
from .._base.aten_names import aten_name
from .._tape import engine
from .._tape.node import Port
from .._tape.tensor import Tensor
from . import function as _function

OPERATOR, BACKWARD, USER = 0, 1, 7  # PyTorch's RecordScope


class Span:
    """One call while it is recorded; times in nanoseconds."""

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


class Recorder:
    """Records what the thread that started it runs, until it is stopped."""

    def __init__(self, *, shapes: bool = False, memory: bool = False, stack: bool = False, flops: bool = False) -> None:
        self.shapes = shapes or flops
        self.memory = memory
        self.stack = stack
        self.flops = flops
        self.spans: list[Span] = []
        self.thread = 0
        self.paused = False

    def start(self) -> None:
        """From now on."""
        self.thread = threading.get_ident()
        self.began = perf_counter_ns()
        active.append(self)
        modes.watch_operators(self._operator)
        engine.observers.append(self._step)
        _function.watchers.append(self._call)
        _watch_leaves()

    def stop(self) -> None:
        """No more; what has not ended yet ends now."""
        self.ended = perf_counter_ns()
        active.remove(self)
        modes.unwatch_operators(self._operator)
        engine.observers.remove(self._step)
        _function.watchers.remove(self._call)
        _watch_leaves()
        for span in self.spans:
            if span.end == span.start:
                span.end = self.ended

    def here(self) -> bool:
        """Whether the call that is being made is one to record."""
        return not self.paused and threading.get_ident() == self.thread

    def open(self, name: str, scope: int) -> Span:
        """A call begins."""
        span = Span(name, scope)
        self.spans.append(span)
        return span

    # ---------------------------------------------------------------------------------------------------- the watchers
    def _operator(self, info: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        if not self.here():
            return proceed()
        name = aten_name(info)
        if getattr(getattr(modes.writes, "op", None), "__name__", "") == name:
            name += "_"
        span = self.open(f"aten::{name}", OPERATOR)
        if self.shapes:
            span.shapes = [_shape(a) for a in args]
        if self.stack:
            span.stack = _calls()
        span.start = perf_counter_ns()
        try:
            result = proceed()
        finally:
            span.end = perf_counter_ns()
        results = result if isinstance(result, (tuple, list)) else (result,)
        first = next((r for r in results if isinstance(r, Tensor)), None)
        if first is not None and first._fn is not None and first._fn.seq:
            span.sequence = (first._fn.fx if type(first._fn) is Port else first._fn).seq
        if self.memory:
            span.memory = sum(_new_bytes(r) for r in results)
        if self.flops:
            from ..utils._flops import of_operator

            span.flops = of_operator(name, span.shapes, results)
        return result

    def _call(self, cls: Any, args: tuple[Any, ...], proceed: Any) -> Any:
        if not self.here():
            return proceed()
        span = self.open(cls.__name__, OPERATOR)
        if self.shapes:
            span.shapes = [_shape(a) for a in args]
        if self.stack:
            span.stack = _calls()
        try:
            outputs, ctx = proceed()
        finally:
            span.end = perf_counter_ns()
        if ctx.fx:
            span.sequence = ctx.seq
        return outputs, ctx

    def _step(self, n: Any, g: Any, step: Any) -> Any:
        if type(n) is Port or type(n) is engine.NothingArrives or not self.here():
            return step()
        return self._backward_step(n, g, step)

    def _backward_step(self, n: Any, g: Any, run: Any) -> Any:
        name = n.name()
        outer = self.open(f"autograd::engine::evaluate_function: {name}", OPERATOR)
        inner = self.open(name, BACKWARD)
        outer.sequence = inner.sequence = n.seq or -1
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

    def leaf(self, m: Any, g: Any, run: Any) -> Any:
        """A leaf accumulates."""
        return self._backward_step(m, g, run) if self.here() else run()


active: list[Recorder] = []


# ------------------------------------------------------------------------------------------------------------- leaves
_accumulate = engine.accumulate


def _accumulate_watched(m: Any, g: Any, create_graph: bool, hooks_done: bool = False) -> None:
    def run() -> None:
        _accumulate(m, g, create_graph, hooks_done)

    for recorder in tuple(active):
        run = _around(recorder, m, g, run)
    run()


def _around(recorder: Recorder, m: Any, g: Any, run: Any) -> Any:
    return lambda: recorder.leaf(m, g, run)


def _watch_leaves() -> None:
    """Leaves have no observers: the engine finds another function in the place of ``accumulate`` while we record."""
    engine.accumulate = _accumulate_watched if active else _accumulate


# --------------------------------------------------------------------------------------------------------------- facts
def _shape(value: Any) -> list[int]:
    return list(value.shape) if isinstance(value, (Tensor, np.ndarray)) else []


def _new_bytes(value: Any) -> int:
    """The size of what was allocated for a result; nothing for a view."""
    a = value._a if isinstance(value, Tensor) else value
    if isinstance(a, np.generic):
        return a.nbytes
    return a.nbytes if isinstance(a, np.ndarray) and a.base is None else 0


def _calls() -> list[str]:
    """The user's calls that led here, the innermost first."""
    frame = lines.user_frame(lines.sys._getframe(1))
    return [f"{s.filename}({s.lineno}): {s.name}" for s in reversed(traceback.extract_stack(frame))]

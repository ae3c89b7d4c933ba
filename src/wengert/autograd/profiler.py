"""``torch.autograd.profiler``: the times of operators and backward steps.

``torch.profiler`` adds schedules. The operators are wengert's: a function that PyTorch composes of several operators
may be a single one, and computations of a derivative formula on arrays are part of its backward step. A function that
makes a tensor counts as ``aten::empty``, which takes no time.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from functools import partial
from types import SimpleNamespace
from typing import Any

from .._base import modes
from .._base.errors import noted, warn
from ._recording import RUNNING, USER, Recorder, Span, active
from .profiler_util import (
    DeviceType,
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
    _format_memory,
    _format_time,
    _format_time_share,
)

__all__ = [
    "DeviceType",
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "KinetoStepTracker",
    "_format_memory",
    "_format_time",
    "_format_time_share",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]

_DEVICES = ["cuda", "xpu", "mtia", "hpu"]


def kineto_available() -> bool:
    """False: PyTorch's tracing library is not available. Traces are written without it."""
    return False


class profile:
    """A context that times every operator and every backward step in the current thread.

    ``record_shapes``: record the shapes of the operands. ``profile_memory``: record the bytes allocated for results.
    ``with_stack``: record the call stack. ``with_flops``: estimate the operations of matrix products and convolutions.
    Devices other than the CPU cause a warning.

    Options of PyTorch's tracing library and of TorchScript have no effect: ``use_kineto``, ``experimental_config``,
    ``activity_filters``, ``post_processing_timeout_s``, ``with_modules``.

    >>> import wengert as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with torch.autograd.profiler.profile() as prof:
    ...     (x * x).sum().backward()
    >>> [(e.key, e.count) for e in prof.key_averages() if e.key in ("aten::mul", "MulBackward0")]
    [('aten::mul', 1), ('MulBackward0', 1)]
    >>> print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3))
    -----...
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
            )
            use_device = "cuda"
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        if use_device is not None and use_device not in _DEVICES:
            warn(f"The {use_device} is not a valid device option.")
        elif use_device is not None:
            name = use_device.upper()
            warn(f"{name} is not available, disabling {name} profiling")
        if not use_cpu:
            raise AssertionError("No activities specified for the profiler")
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ValueError("post_processing_timeout_s must be non-negative")
        self.use_cuda = False
        self.use_device: str | None = None
        self.use_cpu = use_cpu
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.trace_id = ""
        self.entered = False
        self._recorder: Recorder | None = None
        self._function_events: EventList | None = None
        self._earlier: list[FunctionEvent] = []

    # ---- recording
    def __enter__(self) -> profile | None:
        if not self.enabled:
            off = SimpleNamespace(end=partial(RUNNING.set, RUNNING.get()))
            modes.enter(RUNNING, (*RUNNING.get(), off))
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._prepare_trace()
        self._start_trace()
        return self

    def _prepare_trace(self) -> None:
        self.entered = True
        callback = self.custom_trace_id_callback
        self.trace_id = callback() if callback is not None else f"{uuid.uuid4().int:032X}"

    def _start_trace(self, ends: list[Any] | None = None) -> None:
        if self.acc_events and self._function_events is not None:
            self._earlier = list(self._function_events)
        self._function_events = None
        self._recorder = Recorder(
            shapes=self.record_shapes, memory=self.profile_memory, stack=self.with_stack, flops=self.with_flops
        )
        self._wall = time.time_ns()
        self._recorder.start(self._finish, ends)

    __exit__ = modes.ending(RUNNING)

    def _finish(self) -> None:
        recorder = self._recorder
        assert recorder is not None
        events = EventList(
            (self._event(k, span, recorder) for k, span in enumerate(recorder.spans, 1)),
            profile_memory=self.profile_memory,
            with_flops=self.with_flops,
        )
        events._build_tree()
        if self.profile_memory:
            _count_what_ran_inside(events)
        events += self._earlier
        self._function_events = events

    def _event(self, k: int, span: Span, recorder: Recorder) -> FunctionEvent:
        step = span.name.startswith("ProfilerStep#")
        of_a_node = span.scope == 1 or span.name.startswith("autograd::engine")
        return FunctionEvent(
            k,
            "ProfilerStep*" if step else span.name,
            1,
            (span.start - recorder.began) / 1000,
            (span.end - recorder.began) / 1000,
            overload_name="",
            fwd_thread=1 if of_a_node and span.sequence >= 0 else 0,  # a leaf's step has no forward
            input_shapes=span.shapes,
            stack=span.stack,
            scope=span.scope,
            cpu_memory_usage=span.memory,
            sequence_nr=span.sequence,
            flops=span.flops,
            trace_name=span.name,
            is_user_annotation=span.scope == USER,
        )

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[Any]) -> None:
        """Pause or resume recording within the block."""
        if self._recorder is not None and any(getattr(a, "name", a) == "CPU" for a in activities):
            self._recorder.paused = not enabled

    # ---- results
    @property
    def function_events(self) -> EventList:
        """All calls, in the order of their start."""
        events = self._function_events
        if events is None:
            raise AssertionError("Expected profiling results")
        return events

    def __repr__(self) -> str:
        events = getattr(self, "_function_events", None)
        return "<unfinished torch.autograd.profile>" if events is None else repr(events)

    def __str__(self) -> str:
        events = getattr(self, "_function_events", None)
        return "<unfinished torch.autograd.profile>" if events is None else str(events)

    @functools.wraps(EventList.table)
    def table(self, *args: Any, **kwargs: Any) -> str:
        """``EventList.table`` of every call."""
        return self.function_events.table(*args, **kwargs)

    def key_averages(self, group_by_input_shape: bool = False, *args: Any, **kwargs: Any) -> EventList:
        """``EventList.key_averages`` of every call."""
        return self.function_events.key_averages(group_by_input_shape, *args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """``EventList.total_average`` of every call."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all calls, without nested calls."""
        return self.function_events.self_cpu_time_total

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """``EventList.export_stacks`` of every call."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def export_chrome_trace(
        self, path: str, metadata: dict[str, str] | None = None, use_python_export: bool = False
    ) -> None:
        """Write a file that chrome://tracing, Perfetto and TensorBoard show."""
        kinds = {0: "cpu_op", 1: "cpu_op", USER: "user_annotation"}
        pid = os.getpid()
        trace = [
            {
                "ph": "X",
                "cat": kinds[event.scope],
                "name": event.trace_name,
                "pid": pid,
                "tid": pid,
                "ts": self._wall / 1000 + event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "args": {"External id": event.id, "Sequence number": event.sequence_nr}
                | ({"Input Dims": event.input_shapes} if self.record_shapes else {})
                | ({"Call stack": ";".join(reversed(event.stack))} if self.with_stack and event.stack else {}),
            }
            for event in self.function_events
        ]
        content: dict[str, Any] = {
            "schemaVersion": 1,
            "deviceProperties": [],
            "trace_id": self.trace_id,
            "host_name": socket.gethostname(),
            "displayTimeUnit": "ms",
        }
        content.update({key: json.loads(value) for key, value in (metadata or {}).items()})
        content["traceEvents"] = trace
        content["traceName"] = path
        with open(path, "w") as file:
            json.dump(content, file)


def _count_what_ran_inside(events: EventList) -> None:
    """Attribute memory to the call that allocated it: operators often return memory that an inner call allocated."""
    for event in reversed(events):  # in the order of their start, so an inner call comes first here
        inside = sum(child.cpu_memory_usage for child in event.cpu_children)
        event.cpu_memory_usage = max(event.cpu_memory_usage, inside)


class record_function(ContextDecorator):
    """A context manager that names a block of code in the profile, or a decorator that names a function.

    >>> import wengert as torch
    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("my block"):
    ...         y = torch.ones(2) * 2
    >>> [e.name for e in prof.function_events]
    ['my block', 'aten::empty', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._spans: list[list[Span]] = []  # a decorated function may call itself

    def __enter__(self) -> record_function:
        spans = []
        for recorder in active:
            if recorder.here():
                span = recorder.open(self.name, USER)
                span.args = self.args
                spans.append(span)
        self._spans.append(spans)
        return self

    def __exit__(self, *exc: object) -> None:
        if not self._spans:
            raise AssertionError("Expected record to be set")
        for span in self._spans.pop():
            span.end = time.perf_counter_ns()

    def _call_end_callbacks_on_future(self, fut: Any) -> Any:
        """End the block when a future is done, not at the end of ``with``; return a future that is then done too."""
        if not self._spans:
            raise RuntimeError("_call_end_callbacks_on_future can only be called once.")
        spans = self._spans.pop()
        self._spans.append([])

        def end(done: Any) -> Any:
            for span in spans:
                span.end = time.perf_counter_ns()
            return done.value()

        return fut.then(end)


def _profiler_enabled() -> bool:
    """Whether a profile of the current thread is being recorded."""
    return any(recorder.here() for recorder in active)


def _record_function_enter(name: str, args: str | None = None) -> record_function:
    """Begin a block with a name; ``torch.ops.profiler._record_function_exit`` ends it."""
    return record_function(name, args).__enter__()


def _record_function_enter_new(name: str, args: str | None = None) -> record_function:
    """``_record_function_enter``; in PyTorch the handle is another."""
    return _record_function_enter(name, args)


def _record_function_exit(block: record_function) -> None:
    """End a block."""
    block.__exit__()


for _marker in (_record_function_enter, _record_function_enter_new, _record_function_exit):
    _marker.__module__ = "torch._ops.profiler"


# ---- what is not here
class _NoMarks:
    """Base of context managers that send marks to a device's own profiler."""

    tool = ""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> None:
        if self.enabled:
            raise noted(
                AssertionError("Torch not compiled with CUDA enabled")
                if self.tool == "NVTX"
                else RuntimeError("ITT functions not installed."),
                f"Why: there is no {self.tool} library here to send marks to.",
                "What to do: use torch.autograd.profiler.profile(), which times operators without one.",
            )

    def __exit__(self, *exc: object) -> None:
        pass


class emit_nvtx(_NoMarks):
    """Marks for NVIDIA's tools. Raises an error unless ``enabled=False``."""

    tool = "NVTX"


class emit_itt(_NoMarks):
    """Marks for Intel's VTune. Raises an error unless ``enabled=False``."""

    tool = "ITT"


def load_nvprof(path: str) -> EventList:
    """The events of an nvprof trace. Not supported: nvprof traces programs on NVIDIA's devices."""
    raise NotImplementedError("load_nvprof: traces of nvprof are not read; there are no CUDA devices here")


parse_nvprof_trace = load_nvprof


class EnforceUnique:
    """Raises an error for a key that occurs twice."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        """Note a key."""
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """Counts steps for several requesters; the current step is the largest of their counts."""

    _steps: dict[str, int] = {}
    _now = 0

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Begin to count for a requester."""
        cls._steps[requester] = cls._now

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget a requester."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count one step for a requester."""
        cls._steps[requester] = cls._steps.get(requester, cls._now) + 1
        cls._now = max(cls._now, *cls._steps.values())
        return cls._now

    @classmethod
    def current_step(cls) -> int:
        """The step that it is now."""
        return cls._now

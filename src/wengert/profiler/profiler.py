"""``torch.profiler.profile``: what ``autograd.profiler.profile`` records, in cycles of wait, warm-up and record."""

from __future__ import annotations

import enum
import gzip
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from .._base import modes
from .._base.errors import warn
from ..autograd import profiler as _autograd
from ..autograd._recording import RUNNING
from ..autograd.profiler_util import EventList

__all__ = [
    "ExecutionTraceObserver", "ProfilerAction", "ProfilerActivity", "profile", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """The activities to profile, of which wengert has only the CPU."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5

    def __str__(self) -> str:
        return f"ProfilerActivity.{self.name}"


def supported_activities() -> set[ProfilerActivity]:
    """The activities that wengert can profile.

    >>> import wengert as torch
    >>> torch.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


_supported_activities = supported_activities


class ProfilerAction(enum.Enum):
    """The action of a schedule at a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule of cycles: ``wait`` idle steps, ``warmup`` steps that are discarded, ``active`` steps that are kept.

    There are ``repeat`` cycles (0: no limit), after ``skip_first`` steps. ``skip_first_wait``: the first cycle does
    not wait.

    >>> import wengert as torch
    >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def plan(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return plan


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """A handler for ``on_trace_ready`` that writes each trace to a folder, under names that TensorBoard finds."""

    def write(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".gz" if use_gzip else ""
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json{ending}"))

    return write


class ExecutionTraceObserver:
    """PyTorch's execution traces, which replay a model's operators. Not supported."""

    def __init__(self) -> None:
        raise NotImplementedError("ExecutionTraceObserver: execution traces are not written; use export_chrome_trace")


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """Profiles a block or, with a schedule, the steps that calls of ``step()`` separate.

    ``activities``: only ``ProfilerActivity.CPU`` has events. ``on_trace_ready(prof)`` is called at the end of each
    cycle. ``acc_events``: keep the events of all cycles, not only the last. The other arguments are those of
    ``autograd.profiler.profile``.

    >>> import wengert as torch
    >>> x = torch.ones(2)
    >>> with torch.profiler.profile(record_shapes=True) as prof:
    ...     y = x * x
    >>> [(e.name, e.input_shapes) for e in prof.events()]
    [('aten::mul', [[2], [2]])]
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        chosen: set[Any] = set() if activities is not None else supported_activities()
        for item in activities or ():
            chosen.update([item] if isinstance(item, ProfilerActivity) else item if isinstance(item, dict) else [])
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
            (chosen.add if use_cuda else chosen.discard)(ProfilerActivity.CUDA)
        if not chosen:
            raise AssertionError("No valid profiler activities found")
        self.activities, self.record_shapes, self.profile_memory = chosen, record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules = with_stack, with_flops, with_modules
        self.execution_trace_observer, self.acc_events = execution_trace_observer, acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.schedule = schedule or (lambda _: ProfilerAction.RECORD)
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.profiler: _autograd.profile | None = None
        self.step_num = 0
        self.current_action = self._planned(0)
        self.preset_metadata: dict[str, str] = {}
        self._metadata: dict[str, str] = {}
        self._step_name: Any = None
        self._ends: list[Any] = []  # functions of C that end what a ``with`` block records

    def _planned(self, step: int) -> ProfilerAction:
        action = self.schedule(step)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise ValueError(
                "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned by a "
                "user-provided schedule"
            )
        return action

    # ---- recording
    def __enter__(self) -> profile:
        before = RUNNING.get()
        self._ends, unwind = modes.unwinding()
        leave = modes.together(unwind, partial(RUNNING.set, before))
        self.end = modes.together(leave, self.stop)
        try:
            self.start()
            RUNNING.set((*before, self))
        except BaseException:
            leave()
            raise
        return self

    __exit__ = modes.ending(RUNNING)

    def start(self) -> None:
        """Start profiling, as ``with`` does at its beginning."""
        self._change(ProfilerAction.NONE, self.current_action)
        self._name_step()

    def stop(self) -> None:
        """Stop profiling, as ``with`` does at its end."""
        self._end_step()
        self._change(self.current_action, None)

    def step(self) -> None:
        """The next step begins."""
        planned = self._planned(self.step_num + 1)
        try:
            self._end_step()
            before, self.current_action = self.current_action, planned
            self.step_num += 1
            self._change(before, planned)
            self._name_step()
        except BaseException:  # what has begun ends with the ``with`` block; ``stop`` must not look for more
            self.current_action = ProfilerAction.NONE
            raise

    def _name_step(self) -> None:
        if self.record_steps:
            self._step_name = _autograd.record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        name, self._step_name = self._step_name, None
        if name is not None:
            name.__exit__(None, None, None)

    def _change(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        """Go from one action to the next, which is ``None`` at the end."""
        over = before is ProfilerAction.RECORD_AND_SAVE or (now is None and before is ProfilerAction.RECORD)
        if before in _RECORDING and (over or now not in _RECORDING):
            if not over:
                warn(f"Incorrect schedule: RECORD followed by {getattr(now, 'name', now)}")
            self.stop_trace()
            if over and self.on_trace_ready is not None:
                self.on_trace_ready(self)
            before = ProfilerAction.NONE
        if before is ProfilerAction.WARMUP and now is ProfilerAction.NONE:
            warn("Incorrect schedule: WARMUP followed by NONE")
        if now in _RECORDING and before not in _RECORDING:
            self.prepare_trace()
            self.start_trace()

    def prepare_trace(self) -> None:
        """Make ready for a cycle."""
        if self.profiler is not None and self.acc_events:
            self.profiler._prepare_trace()
            return
        others = [a.name.lower() for a in ProfilerActivity if a in self.activities and a is not ProfilerActivity.CPU]
        self.profiler = _autograd.profile(
            use_cpu=ProfilerActivity.CPU in self.activities,
            use_device=others[0] if others else None,
            use_kineto=True,
            record_shapes=self.record_shapes,
            with_flops=self.with_flops,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
            acc_events=self.acc_events,
            custom_trace_id_callback=self.custom_trace_id_callback,
        )
        self.profiler._prepare_trace()

    def start_trace(self) -> None:
        """Begin a cycle's recording."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before starting trace")
        self.profiler._start_trace(self._ends)
        for name in ("profile_memory", "with_stack", "record_shapes", "with_modules", "with_flops"):
            if getattr(self, name):
                self.add_metadata_json(name, "1")
        self._metadata.update(self.preset_metadata)

    def stop_trace(self) -> None:
        """End a cycle's recording."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        self.profiler._recorder.end()

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pause or resume recording within the block."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    # ---- results
    def _results(self, what: str) -> _autograd.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def events(self) -> EventList:
        """The calls of the last cycle."""
        return self._results("accessing events").function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The calls summed up by name; see ``autograd.profiler.profile.key_averages``."""
        prof = self._results("getting key averages")
        return prof.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks for tools that draw flame graphs; needs ``with_stack=True``."""
        self._results("exporting stacks").export_stacks(path, metric)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the last cycle for chrome://tracing; compressed if ``path`` ends in ``.gz``."""
        prof = self._results("exporting chrome trace")
        if not path.endswith(".gz"):
            prof.export_chrome_trace(path, self._metadata)
            return
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "trace.json")
            prof.export_chrome_trace(plain, self._metadata)
            with open(plain, "rb") as source, gzip.open(path, "wb") as target:
                shutil.copyfileobj(source, target)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """PyTorch's plot of memory over time. Not supported: only the memory of operators' results is known."""
        raise NotImplementedError(
            "export_memory_timeline: when memory is freed is not recorded; profile_memory=True gives the bytes that "
            "each operator allocated"
        )

    def add_metadata(self, key: str, value: str) -> None:
        """Add a string to the trace's file."""
        self._metadata[key] = json.dumps(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the trace's file."""
        self._metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value before the profile has begun."""
        self.preset_metadata[key] = value

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Set the function that returns the traces' ids."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The latest trace's id."""
        return None if self.profiler is None else self.profiler.trace_id

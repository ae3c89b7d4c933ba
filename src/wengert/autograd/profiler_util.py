"""The events of a profile, their averages, and lists of both that print as a table."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import Any, NamedTuple

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]


class DeviceType(enum.Enum):
    """The device of an event, which in wengert is always the CPU."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    HIP = 6
    MPS = 13
    XPU = 12
    Meta = 14
    HPU = 15
    MTIA = 19
    PrivateUse1 = 20

    def __str__(self) -> str:
        return f"DeviceType.{self.name}"

    __repr__ = __str__


class Kernel(NamedTuple):
    """A device's kernel, of which the CPU has none."""

    name: str
    device: int
    duration: float


class Interval:
    """A time from ``start`` to ``end``, in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start


# ---- formats
def _format_time(time_us: float) -> str:
    """``12.000us``, ``1.500ms``, ``2.000s``."""
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if time_us >= unit:
            return f"{time_us / unit:.3f}{name}"
    return f"{time_us:.3f}us"


def _format_time_share(time_us: float, total_time_us: float) -> str:
    return f"{time_us * 100.0 / total_time_us:.2f}%" if total_time_us else "NaN"


def _format_memory(nbytes: int) -> str:
    """``17 B``, ``1.50 KB``, ``-2.00 MB``."""
    for power, name in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(nbytes) >= 1024**power:
            return f"{nbytes / 1024**power:.2f} {name}"
    return f"{nbytes} B"


class FormattedTimesMixin:
    """The times of an event or an average, as text: ``cpu_time_str`` of ``cpu_time``."""

    count: int
    cpu_time_total: float
    device_time_total: float

    @property
    def cpu_time(self) -> float:
        """Microseconds per call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Microseconds per call on a device other than the CPU: 0."""
        return self.device_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_str") and name[:-4].strip("_"):
            return _format_time(getattr(self, name[:-4]))
        if "cuda" in name:  # the name in older programs, for any device
            return getattr(self, name.replace("cuda", "device"))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


# ---- events
@dataclass(repr=False, eq=False)
class FunctionEvent(FormattedTimesMixin):
    """One call: an operator, a node's backward step, or a block with a name.

    ``time_range`` is in microseconds since the profile began. ``scope`` is 0 for an operator, 1 for a backward step
    and 7 for a user's block. ``sequence_nr`` is that of the node that the call made, or that was run.
    """

    id: int
    name: str
    thread: int
    start_us: InitVar[float]
    end_us: InitVar[float]
    overload_name: str | None = None
    fwd_thread: int | None = None
    input_shapes: Any = None
    stack: list[str] | None = None
    scope: int = 0
    use_device: str | None = None
    cpu_memory_usage: int = 0
    device_memory_usage: int = 0
    is_async: bool = False
    is_remote: bool = False
    sequence_nr: int = -1
    node_id: int = -1
    device_type: DeviceType = DeviceType.CPU
    device_index: int = 0
    device_resource_id: int | None = None
    is_legacy: bool = False
    flops: int | None = None
    trace_name: str | None = None
    concrete_inputs: list[Any] | None = None
    kwinputs: dict[str, Any] | None = None
    is_user_annotation: bool = False

    def __post_init__(self, start_us: float, end_us: float) -> None:
        self.time_range = Interval(start_us, end_us)
        if self.device_resource_id is None:
            self.device_resource_id = self.thread
        self.count = 1
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Record that ``child`` ran directly inside this event."""
        if not isinstance(child, FunctionEvent):
            raise AssertionError("Expected child to be a FunctionEvent")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Record the event inside which this one ran directly."""
        if not isinstance(parent, FunctionEvent):
            raise AssertionError("Expected parent to be a FunctionEvent")
        self.cpu_parent = parent

    @property
    def key(self) -> str:
        """The key by which calls are grouped: the name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds, including nested calls."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds, without nested calls."""
        if self.is_async:
            return 0.0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes, without nested calls."""
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    device_time_total = self_device_time_total = 0.0
    self_device_memory_usage = 0

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {self.use_device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {self.use_device}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


_FROM_FIRST = ("node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name", "input_shapes",
               "stack", "scope", "device_type", "is_legacy", "use_device", "is_user_annotation")  # fmt: skip
_SUMMED = ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total", "cpu_memory_usage",
           "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage", "count")  # fmt: skip


class FunctionEventAvg(FormattedTimesMixin):
    """The calls of one key: times and memory are sums, ``cpu_time`` is per call."""

    key: str | None = None
    use_device: str | None = None
    input_shapes: Any = None
    overload_name: str | None = None
    stack: list[str] | None = None
    scope: int | None = None
    cpu_children: Any = None
    cpu_parent: Any = None
    device_type = DeviceType.CPU
    is_async = is_remote = is_legacy = is_user_annotation = False
    count = node_id = flops = 0
    cpu_time_total = self_cpu_time_total = device_time_total = self_device_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0

    def add(self, other: Any) -> FunctionEventAvg:
        """Add another event, or average, of the same key."""
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.key = other.key
            for name in _FROM_FIRST:
                setattr(self, name, getattr(other, name))
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )


# ---- lists
class EventList(list[Any]):
    """A list of events or averages, which prints as a table."""

    def __init__(
        self,
        *args: Iterable[Any],
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(*args)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._tree_built = False

    def __str__(self) -> str:
        return self.table()

    # ---- the tree
    def _build_tree(self) -> None:
        self._populate_cpu_children()
        self._drop_repeated()
        self._give_backward_the_forward_stacks()
        self._tree_built = True

    def _populate_cpu_children(self) -> None:
        """Find the parent of each event: the innermost event of the same thread whose time encloses it."""
        by_thread: dict[Any, list[FunctionEvent]] = {}
        for event in self:
            if not event.is_async:
                by_thread.setdefault((event.thread, event.node_id), []).append(event)
        for events in by_thread.values():
            around: list[FunctionEvent] = []
            for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                while around and not _encloses(around[-1].time_range, event.time_range):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(event)
                    event.set_cpu_parent(around[-1])
                around.append(event)

    def _drop_repeated(self) -> None:
        """Merge an operator with its only child if that has the same name, as after a conversion of the dtype."""
        dropped: set[int] = set()
        for event in self:
            parent = event.cpu_parent
            if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
                parent.cpu_children = event.cpu_children
                for child in event.cpu_children:
                    child.cpu_parent = parent
                dropped.add(id(event))
        if dropped:
            self[:] = [event for event in self if id(event) not in dropped]

    def _give_backward_the_forward_stacks(self) -> None:
        stacks: dict[Any, Any] = {}
        for event in self:
            if event.stack is not None and _backward_step(event) is None:
                stacks.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self:
            step = _backward_step(event)
            if step is not None:
                event.stack = stacks.get((step.sequence_nr, step.fwd_thread), [])

    # ---- sums
    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds of all events, without nested calls."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The calls grouped by name, and optionally by input shapes and by the innermost lines of the stack."""
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += (event.stack or [])[:group_by_stack_n]
            groups.setdefault(tuple(key), FunctionEventAvg()).add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return EventList(
            groups.values(),
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events, under the key ``Total``."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total.add(event)
        total.key = "Total"
        return total

    # ---- outputs
    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The list as a text table. ``sort_by`` names an attribute such as ``"self_cpu_time_total"``, largest first."""
        from ._profiler_table import Table

        if not self:
            return ""
        events = list(self)
        if sort_by is not None:
            name = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
            events.sort(key=lambda event: getattr(event, name), reverse=True)
        table = Table(events, self._profile_memory, self._with_flops, time_unit)
        table.name_width = max_name_column_width
        table.shapes_width = max_shapes_column_width
        table.source_width = max_src_column_width
        return table.text(row_limit, header, top_level_events_only)

    def export_chrome_trace(self, path: str) -> None:
        """Write a file that chrome://tracing and Perfetto show."""
        with open(path, "w") as file:
            json.dump(
                [
                    {
                        "name": event.trace_name,
                        "ph": "X",
                        "ts": event.time_range.start,
                        "dur": event.time_range.elapsed_us(),
                        "tid": event.thread,
                        "pid": "CPU functions",
                        "args": {},
                    }
                    for event in self
                    if event.trace_name is not None
                ],
                file,
            )

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics of ``export_stacks``."""
        return [
            "self_cpu_time_total",
            "self_cuda_time_total",
            "self_xpu_time_total",
            "self_privateuse1_time_total",
        ]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write a line for each event with a stack, outermost call first, for tools that draw flame graphs."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError("metric should be one of: " + str(self.supported_export_stacks_metrics()))
        if metric != "self_cpu_time_total":
            metric = "self_device_time_total"
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, metric))
                if event.stack and value > 0:
                    calls = (call.translate(_NO_SEPARATORS) for call in reversed(event.stack))
                    file.write(f"{';'.join(calls)} {value}\n")


_NO_SEPARATORS = str.maketrans(" ;\t\n", "____")


def _encloses(outer: Interval, inner: Interval) -> bool:
    return inner.start < outer.end and inner.end <= outer.end


def _backward_step(event: FunctionEvent | None) -> FunctionEvent | None:
    """The backward step that an event is or belongs to."""
    while event is not None and event.scope != 1:
        event = event.cpu_parent
    return event


def _canonicalize_profiler_events(events: Iterable[dict[str, Any]]) -> str:
    """A line for each event of a Chrome trace, in their order in time, without what changes from run to run."""

    def line(event: dict[str, Any]) -> str:
        code = [s for s in map(str.strip, event["args"].get("stack_trace", "").split("\n")) if s.strip("^~ ")]
        node = event["args"].get("node_name", "")
        return f"event={event.get('name', '')[:30]} node={node} stack_trace={code[-1] if code else ''}"

    return "\n".join(map(line, sorted(events, key=lambda event: event.get("ts", 0))))

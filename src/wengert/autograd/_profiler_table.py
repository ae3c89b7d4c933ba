"""The profiler's table, with PyTorch's columns and layout."""

from __future__ import annotations

import math
from typing import Any

from .profiler_util import _format_memory, _format_time, _format_time_share

GAP = 2
WIDTH = 12
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


class Table:
    """One table: its columns with their widths, and a row for each event."""

    name_width: int | None = None
    shapes_width: int | None = None
    source_width: int | None = None

    def __init__(self, events: list[Any], memory: bool, with_flops: bool, unit: str | None) -> None:
        self.events = events
        self.memory = memory
        self.unit = unit
        self.overloads = any(e.overload_name for e in events)
        self.shapes = any(e.input_shapes is not None and len(e.input_shapes) > 0 for e in events)
        self.stacks = [e.stack for e in events if e.stack]
        self.node_ids = any(e.node_id != -1 for e in events)
        counts = [e.flops for e in events if with_flops and (e.flops or 0) > 0]
        self.flops_power = max(0, min(int(math.log10(min(counts)) / 3), len(FLOPS) - 1)) if counts else None
        self.total = sum(e.self_cpu_time_total for e in events)

    def columns(self) -> list[tuple[str, int, str]]:
        """The title, width and alignment of each column."""
        name = _capped(max(len(e.key) for e in self.events) + 4, self.name_width)
        titles = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
        titles += ["CPU Mem", "Self CPU Mem"] if self.memory else []
        titles += ["# of Calls"] + ["Node ID"] * self.node_ids
        columns = [("Name", name, ">")] + [("Overload Name", name, ">")] * self.overloads
        columns += [(title, WIDTH, ">") for title in titles]
        if self.shapes:
            longest = max(len(str(e.input_shapes)) for e in self.events) + 4
            columns.append(("Input Shapes", _capped(longest, self.shapes_width), ">"))
        if self.stacks:
            longest = max(len(call) for stack in self.stacks for call in stack) + 4
            columns.append(("Source Location", _capped(longest, self.source_width), "<"))
        if self.flops_power is not None:
            columns.append((f"Total {FLOPS[self.flops_power]}", WIDTH, ">"))
        return columns

    def text(self, row_limit: int, header: str | None, top_level_only: bool) -> str:
        """The whole of it."""
        columns = self.columns()
        gap = " " * GAP
        row = "".join(f"{{: {align}{width}}}{gap}" for _, width, align in columns)
        rule = "".join("-" * width + gap for _, width, _ in columns)
        double_rule = "=" * (sum(width + GAP for _, width, _ in columns) - GAP)
        lines = []
        if header is not None:
            lines += [double_rule, header]
        if top_level_only:
            lines += [double_rule, "This report only display top-level ops statistics"]
        lines += [rule, row.format(*(title for title, _, _ in columns)), rule]
        shown = [e for e in self.events if not (top_level_only and e.cpu_parent is not None)]
        source = next((i for i, (title, _, _) in enumerate(columns) if title == "Source Location"), None)
        for event in shown if row_limit < 0 else shown[:row_limit]:
            lines.append(row.format(*self.values(event, columns)))
            if source is not None:  # the further lines of its stack, and an empty one
                for call in [*event.stack[1:], ""]:
                    cells = [""] * len(columns)
                    cells[source] = _tail(call, columns[source][1])
                    lines.append(row.format(*cells))
        lines += [rule, f"Self CPU time total: {self.time(self.total)}"]
        return "\n".join(lines) + "\n"

    def time(self, us: float) -> str:
        """A time in the given unit, or in a suitable one."""
        return _format_time(us) if self.unit not in UNITS else f"{us / UNITS[self.unit]:.3f}{self.unit}"

    def values(self, event: Any, columns: list[tuple[str, int, str]]) -> list[Any]:
        """One row."""
        event.self_cpu_percent = _format_time_share(event.self_cpu_time_total, self.total)
        event.total_cpu_percent = 0 if event.is_async else _format_time_share(event.cpu_time_total, self.total)
        values = [_head(event.key, self.name_width)]
        values += [_head(event.overload_name, self.name_width)] * self.overloads
        values += [event.self_cpu_percent, self.time(event.self_cpu_time_total)]
        values += [event.total_cpu_percent, self.time(event.cpu_time_total), self.time(event.cpu_time)]
        if self.memory:
            values += [_format_memory(event.cpu_memory_usage), _format_memory(event.self_cpu_memory_usage)]
        values.append(event.count)
        values += [event.node_id] * self.node_ids
        for title, width, _ in columns:
            if title == "Input Shapes":
                values.append(str(event.input_shapes)[:width])
            elif title == "Source Location":
                values.append(_tail(event.stack[0], width) if event.stack else "")
        if self.flops_power is not None:
            values.append(f"{event.flops / 1000**self.flops_power:8.3f}" if event.flops else "--")
        return values


def _capped(width: int, cap: int | None) -> int:
    return width if cap is None else min(width, cap)


def _head(name: str, cap: int | None) -> str:
    return name if cap is None or len(name) < cap - 3 else name[: cap - 3] + "..."


def _tail(call: str, width: int) -> str:
    if len(call) <= width:
        return call
    end = call[-width:]
    return "..." + end[3:] if len(end) > 3 else end

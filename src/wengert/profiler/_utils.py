"""What PyTorch's tools do with the trace of a profile."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..fx.traceback import _FX_METADATA_REGISTRY

__all__ = ["map_recorded_events_to_aten_ops_with_stack_trace"]

_MARK = "## ", " ##"


class _Open(NamedTuple):
    """A mark that has begun: the module whose nodes are run, or one of its nodes."""

    end: float
    nodes: dict[int, dict[str, Any]]
    node: dict[str, Any] | None


def map_recorded_events_to_aten_ops_with_stack_trace(traced_data: dict[str, Any]) -> None:
    """Give the events of a Chrome trace the name and the line of the node of a graph module that they belong to.

    A graph module marks its run by events ``## file.py ##`` and those of its nodes by ``## index ##``; what the
    indices mean stands in ``torch.fx.traceback``, under the file's name. Each other event gets the ``node_name`` and
    ``stack_trace`` of the innermost node that runs on its thread at its beginning.

    >>> from wengert.fx import traceback
    >>> traceback._register_fx_metadata("f.py", {"node_metadata": {3: {"name": "relu", "stack_trace": "y = f(x)"}}})
    >>> marks = [{"cat": "cpu_op", "name": f"## {n} ##", "ts": t, "dur": 9 - t} for t, n in enumerate(["f.py", 3])]
    >>> event = {"name": "aten::relu", "ts": 2, "dur": 1}
    >>> map_recorded_events_to_aten_ops_with_stack_trace({"traceEvents": [*marks, event]})
    >>> event["args"]
    {'stack_trace': 'y = f(x)', 'node_name': 'relu'}
    """
    running: dict[Any, list[_Open]] = {}
    events = [event for event in traced_data.get("traceEvents", []) if "ts" in event and "dur" in event]
    for event in sorted(events, key=lambda event: event["ts"]):
        marks = running.setdefault(event.get("tid"), [])
        while marks and marks[-1].end <= event["ts"]:
            marks.pop()
        what = _marked(event)
        if what is None:
            node = next((mark.node for mark in reversed(marks) if mark.node), None)
            if node:
                event.setdefault("args", {}).update(
                    stack_trace=node.get("stack_trace", "No model stack trace available"),
                    node_name=node.get("name", ""),
                )
            continue
        nodes, node = marks[-1].nodes if marks else {}, None
        if what.endswith(".py"):
            nodes = _FX_METADATA_REGISTRY.get(what, {}).get("node_metadata", {})
        else:
            node = nodes.get(int(what))
        marks.append(_Open(event["ts"] + event["dur"], nodes, node))


def _marked(event: dict[str, Any]) -> str | None:
    """What an event marks the run of; ``None``: it is no mark."""
    name = event.get("name", "")
    before, after = _MARK
    if event.get("cat") != "cpu_op" or not (name.startswith(before) and name.endswith(after)):
        return None
    return name[len(before) : -len(after)]

"""Texts about graphs, for logs and errors."""

from __future__ import annotations

from typing import Any

from .._base.registry import PUBLIC
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

__all__ = ["first_call_function_nn_module_stack", "get_node_context", "lazy_format_graph_code"]


class LazyString:
    """A text that is made when it is needed."""

    def __init__(self, func: Any, *args: Any, **kwargs: Any) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self) -> str:
        return str(self.func(*self.args, **self.kwargs))


def lazy_format_graph_code(name: str, gm: GraphModule, maybe_id: int | None = None, **kwargs: Any) -> LazyString:
    """A module's readable code under a title."""
    title = name if maybe_id is None else f"{name} {maybe_id}"
    kwargs.setdefault("print_output", False)

    def text() -> str:
        shown = gm.print_readable(**kwargs)
        return f"TRACED GRAPH\n ===== {title} =====\n {gm.forward.__code__.co_filename} {shown}\n"

    return LazyString(text)


def without_data(tensor: Any) -> Any:
    """A tensor of the same shape, dtype and strides on the device ``meta``."""
    return PUBLIC["torch"]["empty_strided"](tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def first_call_function_nn_module_stack(graph: Graph) -> dict[str, Any] | None:
    """The layers around the first call of a function that has them noted."""
    calls = (n for n in graph.nodes if n.op == "call_function" and "nn_module_stack" in n.meta)
    return next((n.meta["nn_module_stack"] for n in calls), None)


def get_node_context(node: Node, num_nodes: int = 2) -> str:
    """The text of a node and of those before it."""
    lines: list[str] = []
    while len(lines) < num_nodes:
        lines.insert(0, str(node.format_node()))
        if node.op == "root":
            break
        node = node.prev
    return "\n".join(lines)

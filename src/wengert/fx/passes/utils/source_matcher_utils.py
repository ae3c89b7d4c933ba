"""The nodes of a graph that came from the same call or layer, by their ``meta``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..._naming import as_torch
from ...graph import Graph
from ...node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """Nodes that came from one source, with the nodes that they take, those that others use, and parameters."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def _source_of(node: Node, wanted: list[Any]) -> tuple[Any, Any] | None:
    """The wanted source of a node, and the name of the call."""
    if stack := node.meta.get("source_fn_stack"):
        name, source = stack[-1]
        return (source, name) if source in wanted else None
    if torch_fn := node.meta.get("torch_fn"):
        name, called = torch_fn
        if called.split(".")[1] in wanted:
            return called.split(".")[1], name
    stack = node.meta.get("nn_module_stack")
    if node.op != "call_function" or not stack:
        return None
    name, cls = list(stack.values())[-1]
    for source in wanted:
        if isinstance(source, type) and isinstance(cls, type):
            fits = issubclass(cls, source)
        elif isinstance(source, type):
            fits = cls == f"{as_torch(source.__module__)}.{source.__qualname__}"
        else:
            fits = cls == source
        if fits:
            return source, name
    return None


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """The nodes that came from each wanted source (a function, or a class of layers), one group for each call.

    Args:
        filter_fn: leave out groups with a node for which it is false.
    """
    found: dict[Any, dict[Any, list[Node]]] = {}
    for node in graph.nodes:
        if source := _source_of(node, wanted_sources):
            found.setdefault(source[0], {}).setdefault(source[1], []).append(node)
    return {
        source: [_partition(nodes, source) for nodes in calls.values() if not filter_fn or all(map(filter_fn, nodes))]
        for source, calls in found.items()
    }


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inputs: dict[Node, None] = {}
    for node in nodes:
        inputs |= dict.fromkeys([a for a in node.args if isinstance(a, Node) and a not in nodes and a.op != "get_attr"])
    outputs = [n for n in nodes if n.op != "get_attr" and any(user not in nodes for user in n.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, [n for n in nodes if n.op == "get_attr"])


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether a node of the second uses one of the first."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)

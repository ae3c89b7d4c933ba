"""Sizes of the values in a graph, and one call in place of another."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from .shape_prop import ShapeProp

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with"]


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Any, new_op: str, new_target: Any
) -> None:
    """Let every node that calls one thing call another, with the same arguments."""
    graph = Graph()
    values: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = (map_arg(a, lambda n: values[n]) for a in (node.args, node.kwargs))
            values[node] = graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            values[node] = graph.node_copy(node, lambda n: values[n])
    fx_module.graph = graph


class size_bytes(NamedTuple):
    """The bytes of a node's value, and those with its parameters."""

    output_size: int
    total_size: int


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Note in each node the bytes of its value, ``node.size_bytes``; with ``args``, run ``ShapeProp`` first."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


def get_tensor_meta(node: Node) -> Any:
    """What ``ShapeProp`` noted.

    Raises:
        RuntimeError: it was not run.
    """
    meta = node.meta.get("tensor_meta")
    if not meta:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return meta


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The bytes of a node's value, and those with its module's parameters."""
    meta = get_tensor_meta(node)
    count = meta.shape.numel()
    total = count
    if node.op == "call_module":
        total += sum(p.numel() for p in fx_module.get_submodule(str(node.target)).parameters())
    return size_bytes(meta.dtype.itemsize * count, meta.dtype.itemsize * total)

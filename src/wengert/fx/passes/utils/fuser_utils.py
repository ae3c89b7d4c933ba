"""Several nodes made one call of a submodule."""

from __future__ import annotations

import copy
from typing import Any

from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from ...proxy import Proxy
from ..tools_common import stable_topological_sort
from ._partitions import topo_sort, validate_partition
from .common import lift_subgraph_as_module

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


def fuse_as_graphmodule(
    gm: GraphModule, nodes: list[Node], module_name: str, partition_lookup_table: Any = None, *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:  # fmt: skip
    """A module that computes these nodes, which are in order; the nodes that it takes, and those that it gives.

    Raises:
        AssertionError: the nodes are not the module's, or a path leaves them and comes back.
    """
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
        if node not in gm.graph._find_nodes_lookup_table:
            raise AssertionError(f"{node} is not found in graph module {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = set(nodes)
    graph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def input_of(n: Node) -> Node:
        if n in inside:
            return copies[n]
        if n not in inputs:
            inputs[n] = graph.placeholder(n.name, type_expr=n.type)
            inputs[n].meta = copy.copy(n.meta)
        return inputs[n]

    for node in nodes:
        copies[node] = graph.node_copy(node, input_of)
    given = [node for node in nodes if any(user not in inside for user in node.users)]
    outs = tuple([copies[node] for node in given])
    graph.output(outs[0] if len(outs) == 1 and not always_return_tuple else outs)
    graph.lint()
    made, _ = lift_subgraph_as_module(gm, graph, comp_name="", class_name=module_name)
    return made, tuple(inputs), tuple(given)


def insert_subgm(
    gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...], orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:  # fmt: skip
    """Call a module made by ``fuse_as_graphmodule`` in place of the nodes that it computes."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        insertion_point = next((n for n in reversed(gm.graph.nodes) if n in orig_outputs), None)
    if insertion_point is None:
        raise AssertionError(
            "Cannot determine insertion point: no insertion_point provided and orig_outputs is empty. Pass the last "
            "partition node as insertion_point."
        )
    with gm.graph.inserting_after(insertion_point):
        call = gm.graph.call_module(name, args=orig_inputs, kwargs=None)
    with gm.graph.inserting_before(call.next):
        if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
            orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        elif orig_outputs:
            for i, node in enumerate(orig_outputs):
                node.replace_all_uses_with(Proxy(call)[i].node, propagate_meta=True)  # type: ignore[index]
            call.meta["val"] = tuple([node.meta.get("val") for node in orig_outputs])
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Remove nodes, from the last on."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule, partitions: list[Any], prefix: str = "fused_", always_return_tuple: bool = False
) -> GraphModule:
    """Make each group of nodes a call of a submodule ``fused_0``, ``fused_1``.

    >>> import wengert as torch
    >>> from wengert.fx.passes.utils.fuser_utils import fuse_by_partitions
    >>> gm = torch.fx.symbolic_trace(lambda x: (x + 1).relu().neg())
    >>> nodes = list(gm.graph.nodes)
    >>> print(fuse_by_partitions(gm, [dict.fromkeys(nodes[1:3])]).graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %fused_0 : [num_users=1] = call_module[target=fused_0](args = (%x,), kwargs = {})
        %neg : [num_users=1] = call_method[target=neg](args = (%fused_0,), kwargs = {})
        return neg
    """
    for i, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        made, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{i}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, made, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm

"""Small questions about graphs: what is called, which nodes hold tensors, which attributes nodes refer to."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._tape.tensor import Tensor
from .._naming import qualified_name
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node

__all__ = [
    "FxNetAccFusionsFinder",
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
]

NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: Any) -> str:
    """The name of a function with its module: ``torch.relu``."""
    if isinstance(k, str):
        return k
    module = k.__module__.replace("torch._ops", "torch.ops")
    return f"acc_ops.{k.__name__}" if "acc_ops" in module else f"{module}.{k.__name__}"


def get_node_target(submodules: Mapping[str, Any], node: Node) -> str:
    """What a node calls: the class of a module, the name of a function or method."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_module":
        return _type_name(submodules[node.target])
    if node.op == "call_function":
        name = qualified_name(node.target)
        return f"acc_ops.{name.rpartition('.')[2]}" if "acc_ops" in name else name
    return str(node.target)


def _type_name(module: Any) -> str:
    import wengert as torch

    return torch.typename(getattr(module, "_base_class_origin", module))


def is_node_output_tensor(node: Node) -> bool:
    """Whether ``meta["type"]`` says that a node's value is a tensor."""
    type_ = node.meta.get("type")
    return type_ is not None and issubclass(type_, Tensor)


class FxNetAccFusionsFinder:
    """Finds the nodes that must stay together because they hand each other what is no tensor.

    Args:
        module: a module on which ``ShapeProp`` was run.
        acc_nodes: the nodes that a backend supports; those that cannot stay together are taken out.
    """

    @dataclass
    class FusionGroup:
        """One group, with its inputs, and its nodes whose neighbours were not looked at."""

        top_node_idx: int
        nodes: set[Node]
        inputs: set[Node]
        nodes_need_process: set[Node]

        def add_node(self, node: Node) -> None:
            """Add a node."""
            if node not in self.nodes:
                self.nodes_need_process.add(node)
                self.nodes.add(node)
                self.inputs.discard(node)
                self.inputs.update(n for n in _calls(node.all_input_nodes) if n not in self.nodes)

    def __init__(self, module: GraphModule, acc_nodes: set[Node]) -> None:
        self.module, self.acc_nodes = module, acc_nodes
        self.nodes = list(module.graph.nodes)
        self.node_index = {node: i for i, node in enumerate(self.nodes)}

    def recursive_add_node(self, fusion_group: Any, inputs: Any, visited: set[Node] | None = None) -> bool:
        """Add the nodes of paths that lead from the group back to it; whether one of the inputs is on such a path."""
        for node in _calls(list(inputs)):
            if visited is not None:
                if node in visited:
                    continue
                visited.add(node)
            if self.node_index[node] < fusion_group.top_node_idx:
                continue
            if node in fusion_group.nodes:
                return True
            if self.recursive_add_node(fusion_group, node.all_input_nodes, visited):
                fusion_group.add_node(node)
                return True
        return False

    def __call__(self) -> dict[Node, set[Node]]:
        found: dict[Node, set[Node]] = {}
        for node in _calls(list(self.acc_nodes)):
            if node in found or "tensor_meta" in node.meta or node not in self.acc_nodes:
                continue
            group = self.FusionGroup(self.node_index[node], {node}, set(node.all_input_nodes), {node})
            while group.nodes_need_process:
                self._grow(group, group.nodes_need_process.pop())
            if group.nodes <= self.acc_nodes:
                found.update(dict.fromkeys(group.nodes, group.nodes))
            else:
                self.acc_nodes -= group.nodes
        return found

    def _grow(self, group: Any, node: Node) -> None:
        self.recursive_add_node(group, group.inputs, set())
        near = [] if "tensor_meta" in node.meta else list(node.users)
        near += [n for n in node.all_input_nodes if "tensor_meta" not in n.meta]
        for other in _calls(near):
            if other not in group.nodes:
                group.add_node(other)
                group.top_node_idx = min(group.top_node_idx, self.node_index[other])
                self.recursive_add_node(group, group.inputs, set())


def _calls(nodes: Any) -> list[Node]:
    return [n for n in nodes if n.op in CALLABLE_NODE_OPS]


def _in_order(gm: GraphModule, before: Callable[[Node, int], tuple[int, int]], error: type[Exception]) -> GraphModule:
    """Give a module a graph of the same nodes that defines before it uses.

    Args:
        before: a key for a node and the number of nodes that were ready before it; the least is taken first.
    """
    nodes = list(gm.graph.nodes)
    waits = {node: len(node.all_input_nodes) for node in nodes}
    graph, count = Graph(), 0
    copies: dict[Node, Node] = {}
    ready: list[tuple[tuple[int, int], Node]] = []

    def add(node: Node) -> None:
        nonlocal count
        heapq.heappush(ready, (before(node, count), node))
        count += 1

    for node in nodes:
        if waits[node] == 0:
            add(node)
    while ready:
        _, node = heapq.heappop(ready)
        copies[node] = graph.node_copy(node, lambda n: copies[n])
        for user in node.users:
            waits[user] -= 1
            if waits[user] == 0:
                add(user)
    if len(copies) != len(nodes):
        raise error(f"Input graph has cycles, unable to add {[n for n in nodes if waits[n]]}")
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Put the nodes in an order that defines before it uses, and change it as little as that allows.

    Raises:
        AssertionError: the graph has a cycle.
    """
    place = {node: i for i, node in enumerate(gm.graph.nodes)}
    return _in_order(gm, lambda node, _: (place[node], 0), AssertionError)


_FIRST = frozenset(["add", "mul", "sub", "floordiv", "truediv", "mod", "le", "lt", "ge", "gt", "eq", "ne"])


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Put the nodes in an order that defines before it uses, arithmetic of numbers first.

    Raises:
        RuntimeError: the graph has a cycle.
    """

    def before(node: Node, count: int) -> tuple[int, int]:
        target: Any = node.target
        at_once = node.op == "call_function" and getattr(operator, getattr(target, "__name__", ""), 0) is target
        return (0, -count) if at_once and target.__name__ in _FIRST and node.all_input_nodes else (1, count)

    return _in_order(gm, before, RuntimeError)

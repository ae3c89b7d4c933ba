"""Small questions about graphs: what is called, which nodes hold tensors, which attributes nodes refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._tape.tensor import Tensor
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort"]

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
        return node._pretty_print_target(node.target)
    return str(node.target)


def _type_name(module: Any) -> str:
    import wengert as torch

    return torch.typename(getattr(module, "_base_class_origin", module))


def is_node_output_tensor(node: Node) -> bool:
    """Whether ``meta["type"]`` says that a node's value is a tensor."""
    type_ = node.meta.get("type")
    return type_ is not None and issubclass(type_, Tensor)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Put the nodes in an order that defines before it uses, and change it as little as that allows.

    Raises:
        AssertionError: the graph has a cycle.
    """
    graph = gm.graph
    waiting, done, at = list(graph.nodes), set(), graph._root
    while waiting:
        later = []
        for node in waiting:
            if all(n in done for n in node.all_input_nodes):
                at.append(node)
                done.add(node)
                at = node
            else:
                later.append(node)
        if len(later) == len(waiting):
            raise AssertionError(f"Input graph has cycles, unable to add {waiting}")
        waiting = later
    return gm


legalize_graph = stable_topological_sort

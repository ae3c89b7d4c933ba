"""Modules for parts of graphs, and whether two graphs are the same."""

from __future__ import annotations

from typing import Any

from ....nn.modules.module import Module
from ...graph import Graph
from ...graph_module import GraphModule
from .matcher_utils import SubgraphMatcher

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module with the given submodules."""

    def __init__(self, d: dict[str, Module]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """A module for a graph of nodes copied from another's, with the attributes that they refer to.

    Returns:
        The module, and the new dotted name of each attribute.
    """
    holder, names = HolderModule({}), {}
    for node in subgraph.nodes:
        if node.op in ("call_module", "get_attr"):
            *path, last = node.target.split(".")
            to: Any = holder
            source: Any = gm
            for name in path:
                if not hasattr(to, name):
                    to.add_module(name, HolderModule({}))
                to, source = getattr(to, name), getattr(source, name)
            names[node.target] = f"{comp_name}.{node.target}"
            setattr(to, last, getattr(source, last))
    return GraphModule(holder, subgraph, class_name), names


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs have the same inputs, outputs, nodes and connections."""
    return len(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)) > 0

"""``SubgraphMatcherWithNameNodeMap``: a matcher whose pattern names some of its nodes."""

from __future__ import annotations

from typing import Any

from ....utils._pytree import tree_flatten, tree_unflatten
from ...graph import Graph
from ...graph_module import GraphModule
from ...node import Node
from .matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """Take the dict of names from what a pattern returns."""
    node = gm.graph.output_node()
    info = gm.graph._codegen.pytree_info
    output = tree_unflatten(list(node.args[0]), info.out_spec)
    if not isinstance(output, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(output) < 2:
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *out, names = output
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    leaves, spec = tree_flatten(out)
    node.args = (leaves,)
    gm.graph._codegen.pytree_info = info._replace(out_spec=spec)
    gm.recompile()
    return gm, names


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """A matcher for a pattern that returns, last, a dict of its nodes by name; matches have ``name_node_map``."""

    def __init__(self, pattern_gm: GraphModule, *args: Any, **kwargs: Any) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, *args, **kwargs)

    def match(self, graph: Graph, *args: Any) -> list[InternalMatch]:
        """The places where the pattern fits."""
        found = super().match(graph, *args)
        for match in found:
            match.name_node_map.update({name: match.nodes_map[n] for name, n in self.name_node_map.items()})
        return found

"""``SubgraphMatcher``: the places in a graph that do what a pattern does."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from ....nn.modules.module import Module
from ....utils._aten import OpOverload
from ...graph import Graph
from ...node import Node
from ._partitions import validate_partition

__all__ = ["InternalMatch", "SubgraphMatcher"]

_ENDS = ("placeholder", "output")


@dataclass
class InternalMatch:
    """A place where a pattern was found.

    Attributes:
        anchors: the pattern's results that nothing in it uses.
        nodes_map: the nodes of the graph, or constants, by the nodes of the pattern.
        placeholder_nodes, returning_nodes: what stands for the pattern's inputs, and its results.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


class SubgraphMatcher:
    """Finds a pattern in graphs.

    Args:
        pattern: the graph to look for.
        match_output: the pattern's output is the graph's.
        match_placeholder: the pattern's inputs are inputs of the graph.
        remove_overlapping_matches: of matches that share nodes, give the first.
        ignore_literals: let constants differ.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else [n for n in output.all_input_nodes if len(n.users) == 1]

    # ---- single nodes
    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        from ...graph_module import _get_attr

        ours, other = (_get_attr(n.graph.owning_module, n.target) for n in (pn, gn))
        if isinstance(ours, Module) or not hasattr(ours, "dtype"):
            raise RuntimeError(f"Unsupported type {ours} when matching attributes")
        return type(ours) is type(other)

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in _ENDS:
            return True
        return self._match_attributes(pn, gn) if pn.op == "get_attr" else pn.target == gn.target

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        if isinstance(pn, Node) and pn.op == "placeholder":
            return bool(match.nodes_map.setdefault(pn, gn) == gn)
        if isinstance(pn, Node) or isinstance(gn, Node):
            return False
        return type(gn) is type(pn) and bool(gn == pn)

    def _match_args(self, ours: Any, others: Any, match: InternalMatch) -> bool:
        if len(ours) != len(others):
            return False
        for a, b in zip(ours, others, strict=True):
            if isinstance(a, Node) and isinstance(b, Node):
                found = self._match_nodes(a, b, match)
            elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
                found = self._match_args(a, b, match)
            else:
                found = self._match_literals(a, b, match) or self.ignore_literals
            if not found:
                return False
        return True

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Whether a node and all that it is computed from match; fills the match's map."""
        if pn in match.nodes_map:
            return bool(match.nodes_map[pn] is gn)
        if any(gn is n for n in match.nodes_map.values()) or not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs):
            ours, others = ([*n.args, *n.kwargs.values()] for n in (pn, gn))
        elif pn.op == "call_function" and isinstance(pn.target, OpOverload):
            normal = [n.normalized_arguments(None, normalize_to_only_use_kwargs=True) for n in (pn, gn)]
            if None in normal:
                return False
            ours, others = (list(each.kwargs.values()) for each in normal)
        else:
            return False
        return self._match_args(ours, others, match)

    # ---- graphs
    def _is_contained(self, nodes_map: dict[Node, Any]) -> bool:
        """Whether only the results are used outside of the match."""
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            user in inside for gn, pn in inside.items() if pn not in self.pattern_returning_nodes for user in gn.users
        )

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            nodes = {gn for pn, gn in match.nodes_map.items() if pn.op not in _ENDS}
            if not nodes & taken:
                kept.append(match)
                taken |= nodes
        return kept

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is found in a graph."""
        candidates = [
            (anchor, [n for n in graph.nodes if self._nodes_are_equal(anchor, n, node_name_match)])
            for anchor in self.pattern_anchors
        ]
        candidates = [(anchor, nodes) for anchor, nodes in candidates if nodes]
        matches: list[InternalMatch] = []

        def search(index: int, match: InternalMatch) -> None:
            """Match the anchors from this one on, in every way."""
            if index == len(candidates):
                match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor, nodes = candidates[index]
            for node in nodes:
                trial = copy.copy(match)
                if self._match_nodes(anchor, node, trial, node_name_match):
                    search(index + 1, trial)

        if candidates:
            search(0, InternalMatch(anchors=self.pattern_anchors))
        matches = [m for m in matches if self._is_contained(m.nodes_map)]
        if not self.remove_overlapping_matches:
            return matches
        valid = [m for m in matches if validate_partition([gn for pn, gn in m.nodes_map.items() if pn.op not in _ENDS])]
        return self._remove_overlapping_matches(valid)

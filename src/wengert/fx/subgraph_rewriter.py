"""``replace_pattern``: every place in a graph that looks like a pattern, by another graph."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from ._compatibility import compatibility
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _get_attr, _has_attr
from .node import Node
from .passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


@compatibility(is_backward_compatible=True)
class Match(NamedTuple):
    """A place where a pattern was found: the node where it ends, and the nodes of the graph by those of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that were put in its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace every part of a graph that does what a pattern does.

    Args:
        gm: the module, whose graph is changed.
        pattern, replacement: functions, modules or graphs with the same numbers of inputs and outputs. Functions are
            traced. The pattern's inputs match any value.

    Returns:
        The places, none of which overlap.

    >>> import wengert as torch
    >>> gm = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y) * 2)
    >>> len(torch.fx.replace_pattern(gm, lambda a, b: torch.relu(a + b), lambda a, b: torch.maximum(a, b)))
    1
    >>> [n.name for n in gm.graph.nodes]
    ['x', 'y', 'maximum', 'mul', 'output']
    """
    return [Match(m.anchor, m.nodes_map) for m in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """``replace_pattern`` where all filters are true.

    Args:
        match_filters: functions of the match, the graph and the pattern's graph.
        ignore_literals: let constants differ.
        replacement_callback: gives the replacement for each match.
        node_name_match: also take nodes whose names contain this.
    """
    return _replace_pattern(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match
    )


def _graph_of(what: Any) -> Graph:
    if isinstance(what, Graph):
        return what
    return (what if isinstance(what, GraphModule) else symbolic_trace(what)).graph


def _replace_pattern(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: Any = None,
    ignore_literals: bool = False,
    replacement_callback: Any = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    matches = [
        match
        for match in matcher.match(graph, node_name_match=node_name_match)
        if all(accepts(match, graph, pattern_graph) for accepts in match_filters or ())
    ]
    if isinstance(replacement, Graph) or callable(replacement):
        common = _graph_of(replacement)
    elif replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    changed: dict[Node, Node] = {}  # nodes that an earlier match replaced
    done = []
    for match in matches:
        made = common if replacement_callback is None else replacement_callback(match, graph, pattern_graph)
        new = _replace_one(graph, pattern_graph, made, match, changed)
        done.append(ReplacedPatterns(match.anchors[0], match.nodes_map, new))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _replace_one(
    graph: Graph, pattern: Graph, replacement: Graph, match: InternalMatch, changed: dict[Node, Node]
) -> list[Node]:
    """Put a copy of the replacement in the place of one match; the new nodes."""
    inputs = [n for n in replacement.nodes if n.op == "placeholder"]
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")
    values: dict[Node, Any] = {}
    for i, (inside, outside) in enumerate(zip(inputs, list(match.placeholder_nodes), strict=True)):
        values[inside] = changed.get(outside, outside) if isinstance(outside, Node) else outside
        if values[inside] is not outside:
            match.placeholder_nodes[i] = values[inside]
            for key, node in match.nodes_map.items():
                if node is outside:
                    match.nodes_map[key] = values[inside]
                    break
    with graph.inserting_before(_place_for(graph, match)):
        results = graph.graph_copy(replacement, values)
    results = (results,) if isinstance(results, Node) else results
    new = [v for v in values.values() if v not in match.placeholder_nodes]
    if len(match.returning_nodes) != len(results):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
    for old, result in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(result)
        changed[old] = result
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    return new


def _place_for(graph: Graph, match: InternalMatch) -> Node:
    """The node before which a replacement stands: the first that uses a result, else the one after the last result."""
    users = {user for n in match.returning_nodes for user in n.users}
    for n in graph.nodes:
        if n in users:
            return n
    after = None
    for n in reversed(graph.nodes):
        if n in match.returning_nodes:
            break
        after = n
    if after is None:
        raise AssertionError("The insert point can't be None")
    return after


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Copy what the new nodes refer to from the replacement; remove what no node refers to any more."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _has_attr(gm, node.target):
            continue
        if not _has_attr(replacement, node.target):
            raise RuntimeError(
                'Attempted to create a "', node.op, f'" node during subgraph rewriting with target {node.target}, but '
                "the referenced attribute does not exist in the replacement GraphModule",
            )  # fmt: skip
        value = copy.deepcopy(_get_attr(replacement, node.target))
        if isinstance(value, Module):
            gm.add_submodule(node.target, value)
        else:
            setattr(gm, node.target, value)
    gm.graph.lint()

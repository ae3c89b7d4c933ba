"""``split_by_tags``: a graph's nodes divided among submodules by their ``tag``."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from ...nn.modules.container import ModuleList
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..proxy import Proxy
from .tools_common import CALLABLE_NODE_OPS, is_node_output_tensor
from .utils import HolderModule, lift_subgraph_as_module

__all__ = [
    "Component", "getattr_recursive", "move_non_tensor_nodes_on_boundary", "setattr_recursive", "split_by_tags",
]  # fmt: skip


def getattr_recursive(obj: Any, name: str) -> Any:
    """What a dotted name refers to, or None."""
    for part in name.split("."):
        obj = obj._modules.get(part) if isinstance(obj, ModuleList) else getattr(obj, part, None)
        if obj is None:
            return None
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set what a dotted name refers to."""
    path, _, last = attr.rpartition(".")
    setattr(getattr_recursive(obj, path) if path else obj, last, value)


@dataclass
class Component:
    """The part with one tag: its graph, and the nodes that it takes and gives."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule, tags: list[str], return_fqn_mapping: bool = False, return_tuple: bool = False,
    GraphModuleCls: Any = GraphModule,
) -> Any:  # fmt: skip
    """A module with a submodule for each tag, in the order of ``tags``; every call in the graph has one.

    Args:
        return_fqn_mapping: return also the new dotted names of layers and attributes.
        return_tuple: let each submodule give a tuple.

    >>> import wengert as torch
    >>> from wengert.fx.passes.split_utils import split_by_tags
    >>> gm = torch.fx.symbolic_trace(lambda x: torch.relu(x).neg())
    >>> gm.graph.find_nodes(op="call_function", target=torch.relu)[0].tag = "a"
    >>> gm.graph.find_nodes(op="call_method")[0].tag = "b"
    >>> [n.name for n in split_by_tags(gm, ["a", "b"]).graph.nodes]
    ['x', 'a', 'b', 'output']
    """
    split = _Split(gm, tags)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            split.main[node] = split.graph.placeholder(node.name, type_expr=node.type)
            split.main[node].meta = copy.copy(node.meta)
        elif node.op not in ("output", "get_attr"):
            split.place(node)
    output = gm.graph.output_node()
    attributes = split.attributes_of(output)
    names: dict[str, str] = {}
    for part in split.parts.values():
        names |= split.finish(part, return_tuple)
    split.graph.output(map_arg(output.args[0], split.main.__getitem__))
    root = HolderModule({name: part.gm for name, part in split.parts.items() if part.gm is not None})
    split.graph._codegen = gm.graph._codegen
    for name, target in attributes.items():
        setattr(root, name, getattr_recursive(gm, target))
    made = GraphModuleCls(root, split.graph)
    return (made, names) if return_fqn_mapping else made


class _Split:
    """One division: the parts, and the new node of each."""

    def __init__(self, gm: GraphModule, tags: list[str]) -> None:
        self.gm, self.graph = gm, Graph()
        self.parts = {tag: Component(Graph(), i, tag) for i, tag in enumerate(tags)}
        self.of: dict[Node, Component] = {}
        self.copies: dict[Node, Node] = {}
        self.main: dict[Node, Node] = {}
        self.used: dict[Node, None] = {}

    def place(self, node: Node) -> None:
        """Copy a call into its part."""
        if not hasattr(node, "tag"):
            raise AssertionError(f"Node does not have tag: {node.format_node()}")
        part = self.of[node] = self.parts[node.tag]
        before = max([self.of[n].order for n in node.all_input_nodes if n in self.of], default=0)
        if part.order < before:
            raise AssertionError(
                f"Component {part.name} order must be >= max of its upstream components, order={part.order} "
                f"and max={before}"
            )
        made: Any = part.graph.node_copy(node, lambda n: self.input_of(n, part))
        made.tag = node.tag
        self.copies[node] = made

    def input_of(self, n: Node, part: Component) -> Node:
        if n.op == "get_attr":
            if n not in part.getattr_maps:
                part.getattr_maps[n] = part.graph.get_attr(str(n.target), type_expr=n.type)
                part.getattr_maps[n].meta = copy.copy(n.meta)
            return part.getattr_maps[n]
        if self.of.get(n) is part:
            return self.copies[n]
        if n not in part.orig_inputs:
            part.orig_inputs.append(n)
            part.input_placeholders.append(part.graph.placeholder(n.name, type_expr=n.type))
            part.input_placeholders[-1].meta = copy.copy(n.meta)
            self.used[n] = None
        return part.input_placeholders[part.orig_inputs.index(n)]

    def attributes_of(self, output: Node) -> dict[str, str]:
        """The attributes that the graph returns; what else it returns is used in the main graph."""
        found = {}
        for n in output.all_input_nodes:
            if n.op == "get_attr":
                self.main[n] = self.graph.get_attr(n.name, type_expr=n.type)
                found[n.name] = str(n.target)
            else:
                self.used[n] = None
        for n in self.used:
            if n.op != "placeholder":
                self.of[n].orig_outputs.append(n)
        return found

    def finish(self, part: Component, return_tuple: bool) -> dict[str, str]:
        """Make a part a module and call it."""
        outs = tuple([self.copies[n] for n in part.orig_outputs])
        single = len(outs) == 1 and not return_tuple
        part.graph.output(outs[0] if single else outs)
        part.gm, names = lift_subgraph_as_module(self.gm, part.graph, part.name)
        call = self.graph.call_module(part.name, tuple([self.main[n] for n in part.orig_inputs]))
        for i, n in enumerate(part.orig_outputs):
            self.main[n] = call if single else Proxy(call)[i].node  # type: ignore[index]
        return names


def move_non_tensor_nodes_on_boundary(subgraphs: list[Any]) -> None:
    """Move values that are no tensors out of a backend's pieces, into the piece that uses them.

    With a node go those that need it. A node stays whose users, or theirs, are in several other pieces.

    Args:
        subgraphs: the pieces (``splitter_base.Subgraph``), which are changed.
    """
    piece_of = {node: i for i, piece in enumerate(subgraphs) for node in piece.nodes}

    def others(node: Node) -> set[int]:
        return {piece_of[user] for user in _calls(node.users, piece_of)} - {piece_of[node]}

    for i, piece in enumerate(subgraphs):
        waiting = [n for n in piece.nodes if not is_node_output_tensor(n) and others(n)] if piece.is_acc else []
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop(0)
            if node in seen or piece_of[node] != i:
                continue
            seen.add(node)
            if len(targets := others(node)) != 1:
                print(  # noqa: T201  what programs read
                    f"Cannot move non-tensor node {node.name} on boundary because it has children in multiple subgraphs"
                )
                continue
            (target,) = targets
            for moved in _needing(node, piece_of, i, target):
                piece.nodes.remove(moved)
                subgraphs[target].nodes.append(moved)
                piece_of[moved] = target
                places = [f"{'acc' if subgraphs[k].is_acc else 'gpu'}_{k}" for k in (i, target)]
                print(  # noqa: T201
                    f"In order move the non-tensor node {node.name} on boundary, moved node {moved.name} from "
                    f"{places[0]} to {places[1]}"
                )
            if piece_of[node] == target:
                parents = _calls(node.all_input_nodes, piece_of)
                waiting += [p for p in parents if not is_node_output_tensor(p) and p not in seen and piece_of[p] == i]


def _calls(nodes: Any, piece_of: dict[Node, int]) -> list[Node]:
    return [n for n in nodes if n.op in CALLABLE_NODE_OPS and n in piece_of]


def _needing(node: Node, piece_of: dict[Node, int], piece: int, target: int) -> list[Node]:
    """A node and those of its piece that need it; none if one of another piece than the target does."""
    found: dict[Node, None] = {}
    stack = [node]
    while stack:
        n = stack.pop()
        if n in found or piece_of[n] == target:
            continue
        if piece_of[n] != piece:
            return []
        found[n] = None
        stack += _calls(n.users, piece_of)
    return list(found)

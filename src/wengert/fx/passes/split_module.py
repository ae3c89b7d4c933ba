"""``split_module``: a graph's nodes divided among submodules, which the new graph calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...nn.modules.module import Module
from .._compatibility import compatibility
from .._lazy_graph_module import _make_graph_module
from ..graph import Graph
from ..graph_module import GraphModule, _get_attr
from ..node import Node, map_arg
from ..proxy import Proxy

__all__ = ["Partition", "split_module", "split_module_simple"]


@compatibility(is_backward_compatible=True)
class Partition:
    """One part: its nodes, the values that it takes and gives, and the parts that come before and after it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
            f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool = False,
    keep_original_node_name: bool = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Put each node into the submodule that a function names: ``submod_0``, ``submod_1``, ...

    Args:
        m: the module to divide.
        root_m: not used; the attributes are those of ``m``.
        split_callback: the number or name of a node's part.
        qualname_map: filled with the former name of each submodule of a part.
        keep_original_order: call the parts in the order of their first nodes, else in one that their uses allow.
        keep_original_node_name, keep_original_input_name: keep the names of nodes, and of the values parts take.
        partition_affix: put before the parts' names.
        tuple_return: let parts with one result return a tuple too.

    Raises:
        RuntimeError: parts need each other's results.

    >>> import wengert as torch
    >>> from wengert.fx.passes.split_module import split_module
    >>> gm = torch.fx.symbolic_trace(lambda x: (x + 1).relu())
    >>> parts = split_module(gm, gm, lambda node: int(node.op == "call_method"))
    >>> [name for name, _ in parts.named_children()]
    ['submod_0', 'submod_1']
    >>> torch.equal(parts(torch.ones(2)), gm(torch.ones(2)))
    True
    """
    named = (partition_affix, keep_original_node_name, keep_original_input_name)
    split = _Split(m, split_callback, *named)
    order = split.in_order()
    split.add_inputs(order)
    split.copy_nodes(qualname_map)
    return split.base(list(split.partitions) if keep_original_order else order, tuple_return, keep_original_order)


def split_module_simple(
    m: GraphModule, node_to_partition: Mapping[Node, int], *, partition_affix: str | None = None
) -> GraphModule:
    """``split_module`` by a table of the numbers of all nodes that compute, in the order of their first nodes.

    >>> import wengert as torch
    >>> from wengert.fx.passes.split_module import split_module_simple
    >>> gm = torch.fx.symbolic_trace(lambda x: x.sin().cos())
    >>> parts = split_module_simple(gm, {n: int(n.name == "cos") for n in gm.graph.nodes if n.op == "call_method"})
    >>> [name for name, _ in parts.named_children()]
    ['submod_0', 'submod_1']
    """
    return split_module(m, m, node_to_partition.__getitem__, keep_original_order=True, partition_affix=partition_affix)


class _Split:
    """One division: the parts by name, and the part of each node."""

    def __init__(self, m: GraphModule, callback: Any, affix: str | None, node_names: bool, input_names: bool) -> None:
        self.m, self.node_names, self.input_names = m, node_names, input_names
        self.partitions: dict[str, Partition] = {}
        self.of: dict[Node, Partition] = {}
        self.nodes = {node.name: node for node in m.graph.nodes}
        for node in m.graph.nodes:
            if node.op not in ("placeholder", "get_attr", "output"):
                name = str(callback(node)) if affix is None else f"{affix}_{callback(node)}"
                part = self.of[node] = self.partitions.setdefault(name, Partition(name))
                part.node_names.append(node.name)
        for node in m.graph.nodes:
            if node.op not in ("placeholder", "get_attr"):
                map_arg((node.args, node.kwargs), lambda used, user=node: self.use(used, user))

    def use(self, used: Node, user: Node) -> None:
        """Note that one node uses another."""
        source, target = self.of.get(used), self.of.get(user)
        if source is target:
            return
        if source is not None:
            source.outputs.setdefault(used.name)
            if target is not None:
                source.dependents.setdefault(target.name)
                target.dependencies.setdefault(source.name)
        if target is not None:
            target.inputs.setdefault(used.name)

    def in_order(self) -> list[str]:
        """The parts in an order that makes values before they are used."""
        ready = [name for name, part in self.partitions.items() if not part.dependencies]
        order = []
        while ready:
            name = ready.pop()
            order.append(name)
            for dependent in self.partitions[name].dependents:
                waiting = self.partitions[dependent].dependencies
                del waiting[name]
                if not waiting:
                    ready.append(dependent)
        if len(order) != len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return order

    def add_inputs(self, order: list[str]) -> None:
        """Give each part's graph its placeholders; a module that is an argument is taken over instead."""
        for part in [self.partitions[name] for name in order]:
            kept: dict[str, None] = {}
            whole = [n for n in part.inputs if self.is_module(self.nodes[n])]
            for name in [*[n for n in part.inputs if n not in whole], *whole]:
                node: Any = self.nodes[name]
                if name in whole:
                    made = part.graph.get_attr(node.target)
                    part.targets[node.target] = _get_attr(self.m, node.target)
                else:
                    shown = name if self.input_names else f"arg_{len(kept)}"
                    made = part.graph.placeholder(shown, type_expr=node.type)
                    kept[name] = None
                made.meta = node.meta.copy()
                part.environment[node] = made
            part.inputs = kept

    def is_module(self, node: Node) -> bool:
        return node.op == "get_attr" and isinstance(_get_attr(self.m, str(node.target)), Module)

    def copy_nodes(self, qualname_map: dict[str, str] | None) -> None:
        """Copy each node into its part's graph."""
        for node, part in self.of.items():
            target: Any = node.target
            if node.op == "call_module":
                target = target.replace(".", "_")
                part.targets[target] = _get_attr(self.m, str(node.target))
                if qualname_map is not None:
                    qualname_map[f"{part.submod_name}.{target}"] = str(node.target)
            args, kwargs = (map_arg(a, lambda n, p=part: p.environment[n]) for a in (node.args, node.kwargs))
            name = node.name if self.node_names else None
            made = part.graph.create_node(node.op, target, args, kwargs, name, node.type)
            made.meta = node.meta.copy()
            part.environment[node] = made

    def base(self, order: list[str], tuple_return: bool, late: bool) -> GraphModule:
        """The module that calls the parts; ``late``: its ``get_attr`` nodes stand before the parts that use them."""
        graph, attributes, values = Graph(), {}, {}

        def copy(node: Node) -> None:
            target: Any = node.target
            if node.op == "placeholder":
                default = node.args[0] if node.args else inspect.Signature.empty
                args = node.args if self.node_names else None
                made = (
                    graph.create_node("placeholder", node.name, args=args, type_expr=node.type)
                    if self.node_names
                    else graph.placeholder(target, type_expr=node.type, default_value=default)
                )
            elif node.op == "get_attr":
                made = graph.get_attr(target)
                attributes[target] = _get_attr(self.m, target)
            else:
                return
            made.meta = node.meta.copy()
            values[node.name] = made

        for node in self.m.graph.nodes:
            if not late or node.op == "placeholder" or not order:
                copy(node)
        for part in [self.partitions[name] for name in order]:
            results = tuple([part.environment[self.nodes[name]] for name in part.outputs])
            several = len(results) > 1 or (tuple_return and len(results) == 1)
            part.graph.output(results[0] if len(results) == 1 and not tuple_return else results)
            for name in part.inputs:
                if name not in values:
                    copy(self.nodes[name])
            attributes[part.submod_name] = _make_graph_module(part.targets, part.graph)
            call = graph.call_module(part.submod_name, tuple([values[name] for name in part.inputs]))
            proxy = Proxy(call)
            for i, name in enumerate(part.outputs):
                values[name] = proxy[i].node if several else call  # type: ignore[index]
        output = self.m.graph.output_node()
        for node in output.all_input_nodes:
            if node.name not in values:
                copy(node)
        graph.output(map_arg(output.args[0], lambda n: values[n.name]))
        made = _make_graph_module(attributes, graph)
        made.meta["partition_names"] = {part.submod_name for part in self.partitions.values()}
        return made

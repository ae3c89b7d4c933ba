"""Graphs in which operators are divided: in place of each that a table has stand the nodes of the table's function."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ...nn.modules.module import Module
from ...utils._aten import OpOverload
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg


class _Declined(Exception):
    """A function of the table returned ``NotImplemented``: the operator stays."""


class Divider:
    """Copies a graph, with operators divided.

    Args:
        new: the graph that is written.
        table: functions by operator.
        root: the module that gets the tensors which these functions make of numbers.
        value: what a node of the copied graph computes.
        trace: ``make_fx``.
    """

    def __init__(
        self, new: Graph, table: Mapping[Any, Any], root: Any, value: Callable[[Node], Any], trace: Callable[..., Any]
    ) -> None:
        self.new, self.table, self.root, self.value, self.trace = new, table, root, value, trace
        self.names = Tracer()
        self.names.root = root

    def copy(self, graph: Graph, known: dict[Node, Any], source: Any) -> Any:
        """Write the nodes that are not ``known``; the graph's result. ``source``: what has its attributes."""
        for node in graph.nodes:
            if node in known:
                continue
            args, kwargs = map_arg((node.args, node.kwargs), known.__getitem__)
            if node.op == "output":
                return args[0]
            if node.op == "get_attr" and isinstance(getattr(source, str(node.target), None), GraphModule):
                setattr(self.root, str(node.target), self._function(getattr(source, str(node.target))))
            if node.target is operator.getitem and isinstance(args[0], (list, tuple)):
                known[node] = args[0][args[1]]
            elif node.op != "call_function" or node.target not in self.table:
                known[node] = self._plain(node, args, kwargs)
            else:
                try:
                    known[node] = self._divided(node, known)
                except _Declined:
                    known[node] = self._plain(node, args, kwargs)
        return None

    def _function(self, module: GraphModule) -> GraphModule:
        """The graph of a function that ``cond`` or a loop is given, divided."""
        new, root = Graph(), Module()
        new.output(Divider(new, self.table, root, self.value, self.trace).copy(module.graph, {}, module))
        return GraphModule(root, new, type(module).__name__)

    def _plain(self, node: Node, args: Any, kwargs: Any) -> Node:
        name = node.name if node.op != "call_function" else None
        if isinstance(node.target, OpOverload):
            name = self.new._target_to_str(node.target.overloadpacket.__name__)
        made = self.new.create_node(node.op, node.target, args, kwargs, name, node.type)
        made.meta = dict(node.meta)
        return made

    def _divided(self, node: Node, known: dict[Node, Any]) -> Any:
        """What stands in a node's place: the nodes that its function's graph returns."""
        inputs = [n for n in node.all_input_nodes if isinstance(self.value(n), Tensor)]

        def function(*tensors: Tensor) -> Any:
            given = dict(zip(inputs, tensors, strict=True))
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: given[n] if n in given else self.value(n))
            result = self.table[node.target](*args, **kwargs)
            if result is NotImplemented:
                raise _Declined
            return result

        inner = self.trace(function, self.table)(*[self.value(n).detach() for n in inputs])
        nodes: dict[Node, Any] = dict(
            zip(inner.graph.find_nodes(op="placeholder"), map(known.get, inputs), strict=True)
        )
        for attribute in inner.graph.find_nodes(op="get_attr"):
            name = self.names.get_fresh_qualname("_tensor_constant")
            self.root.register_buffer(name, getattr(inner, attribute.target))
            nodes[attribute] = self.new.get_attr(name)
        return Divider(self.new, {}, self.root, self.value, self.trace).copy(inner.graph, nodes, inner)


def divided(tracer: Any, table: Mapping[Any, Any], trace: Callable[..., Any]) -> None:
    """Divide the operators of what a tracer has written."""

    def value(node: Node) -> Any:
        if "val" in node.meta:
            return node.meta["val"]
        args, kwargs = map_arg((node.args, node.kwargs), value)
        return node.target(*args, **kwargs)  # type: ignore[operator]

    old = tracer.graph
    new = tracer.graph = Graph(tracer_cls=old._tracer_cls)
    new.set_codegen(old._codegen)
    with torch.no_grad():
        new.output(Divider(new, table, tracer.root, value, trace).copy(old, {}, tracer.root))

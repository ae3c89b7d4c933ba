"""Graphs in which operators are divided: in place of each that a table has stand the nodes of the table's function."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import wengert as torch

from ..._base.constants import make_size
from ..._tape.tensor import Tensor
from ...nn.modules.module import Module
from ...utils._aten import OpOverload
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ._sizes import SizedTensor
from ._symbols import Number


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
        symbolic: whether sizes may differ.
    """

    def __init__(
        self, new: Graph, table: Mapping[Any, Any], root: Any, value: Callable[[Node], Any], trace: Callable[..., Any],
        symbolic: bool = False,
    ) -> None:  # fmt: skip
        self.new, self.table, self.root, self.value, self.trace = new, table, root, value, trace
        self.symbolic = symbolic
        self.names = Tracer()
        self.names.root = root

    def copy(self, graph: Graph, known: dict[Node, Any], source: Any) -> Any:
        """Write the nodes that are not ``known``; the graph's result. ``source``: what has its attributes."""
        for node in graph.nodes:
            if node in known:
                continue
            # a number is read from the node that the graph around this one has for it
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: known.get(n, n))
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
        new.output(Divider(new, self.table, root, self.value, self.trace, self.symbolic).copy(module.graph, {}, module))
        return GraphModule(root, new, type(module).__name__)

    def _plain(self, node: Node, args: Any, kwargs: Any) -> Node:
        name = node.name if node.op != "call_function" else None
        if isinstance(node.target, OpOverload):
            packet = node.target.overloadpacket.__name__
            name = self.new._target_to_str(f"{packet}_int" if packet == "sym_size" else packet)
        made = self.new.create_node(node.op, node.target, args, kwargs, name, node.type)
        made.meta = dict(node.meta)
        return made

    def _divided(self, node: Node, known: dict[Node, Any]) -> Any:
        """What stands in a node's place: the nodes that its function's graph returns."""
        inputs = [n for n in node.all_input_nodes if isinstance(self.value(n), Tensor)]

        def function(*tensors: Tensor) -> Any:
            given = dict(zip(inputs, tensors, strict=True))
            args, kwargs = map_arg(
                (node.args, node.kwargs), lambda n: given[n] if n in given else _read_from(self.value(n), known[n])
            )
            result = self.table[node.target](*args, **kwargs)
            if result is NotImplemented:
                raise _Declined
            return result

        mode = "symbolic" if self.symbolic else "real"
        table, values = self.table, [self.value(n).detach() for n in inputs]
        if table[node.target] is not node.target:
            inner = self.trace(function, table, mode)(*values)
        else:  # what the operator itself is composed of
            table = {op: f for op, f in table.items() if op is not node.target}
            try:
                inner = self.trace(function, table, mode)(*values)
            except NotImplementedError as e:  # of no operators
                raise _Declined from e
        if self.symbolic:
            _name_sizes(inner, inputs)
        placeholders = inner.graph.find_nodes(op="placeholder")
        nodes: dict[Node, Any] = dict(zip(placeholders, map(known.get, inputs), strict=True))
        for attribute in inner.graph.find_nodes(op="get_attr"):
            name = self.names.get_fresh_qualname("_tensor_constant")
            self.root.register_buffer(name, getattr(inner, attribute.target))
            nodes[attribute] = self.new.get_attr(name)
        return Divider(self.new, {}, self.root, self.value, self.trace).copy(inner.graph, nodes, inner)


def _read_from(value: Any, node: Any) -> Any:
    """A value that a part of the graph is given, as one that is read from a node."""
    if isinstance(value, Number):
        value = copy.copy(value)
        value.written = node
    return value


def _name_sizes(inner: Any, inputs: list[Node]) -> None:
    """Let the sizes of a part's nodes be those that its inputs have in the graph."""
    known = inner.shape_env.known
    sizes: dict[str, Any] = {}
    for node, placeholder in zip(inputs, inner.graph.find_nodes(op="placeholder"), strict=True):
        for size, own in zip(node.meta.get("sizes", ()), placeholder.meta["val"].shape, strict=False):
            if isinstance(own, Number):
                sizes.setdefault(str(own), size)
    for node in inner.graph.nodes:
        value = node.meta.get("val")
        with suppress(KeyError):  # no input has it
            if isinstance(value, Number):
                node.meta["val"] = known.with_sizes(value, sizes)
            elif isinstance(value, SizedTensor):
                node.meta["sizes"] = make_size(tuple([known.with_sizes(n, sizes) for n in value.shape]))


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
        divider = Divider(new, table, tracer.root, value, trace, tracer.sizes is not None)
        new.output(divider.copy(old, {}, tracer.root))

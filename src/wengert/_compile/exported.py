"""``torch._dynamo.export``: a call as one graph whose module is called as the function was.

The graph is that of ``captured``, with arguments in place of the tensors that are inputs and attributes in place of the
others; ``aten_graph=True`` gives the operators of ``make_fx`` with the same notes of where they come from.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from wengert._dynamo.exc import Unsupported

from .._base.errors import noted, warn
from .._tape.tensor import Tensor
from ..fx import traceback as fx_traceback
from ..fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from ..fx.experimental.proxy_tensor import make_fx
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.interpreter import Interpreter
from ..fx.node import Node
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree
from .captured import Capture, Pieces


class ExportResult(NamedTuple):
    """A graph, and what else it needs to hold: nothing that is known."""

    graph_module: GraphModule
    guards: Any


def export(
    f: Any, *extra_args: Any, aten_graph: bool = False, pre_dispatch: bool = False, decomposition_table: Any = None,
    tracing_mode: str = "symbolic", dynamic_shapes: Any = None, specialize_float: bool = True,
    assume_static_by_default: bool = False, same_signature: bool = True, disable_constraint_solver: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False, _log_export_usage: bool = True,
    constraints: Any = None, **extra_kwargs: Any,
) -> Any:  # fmt: skip
    """``export(f)(*args)`` runs a function or module and gives what it asked of ``torch`` as a graph.

    Args:
        aten_graph: divide it into the operators of ``torch.ops.aten``.
        decomposition_table: functions that stand in place of operators, for ``aten_graph``.

    Raises:
        Unsupported: the call is no single graph: it takes elements out of tensors.

    >>> import wengert as torch
    >>> gm, guards = torch._dynamo.export(lambda x, k: x.sin() * k)(torch.zeros(2), 3)
    >>> [n.name for n in gm.graph.nodes], gm(torch.zeros(2), 3)
    (['l_x_', 'arg1', 'sin', 'mul', 'output'], tensor([0., 0.]))
    """

    def inner(*args: Any, **kwargs: Any) -> ExportResult:
        gm = _captured(f, args, kwargs)
        if aten_graph:
            gm = _divided(gm, args, kwargs, decomposition_table, pre_dispatch)
        return ExportResult(gm, set())

    if not extra_args and not extra_kwargs:
        return inner
    warn(
        "export(f, *args, **kwargs) is deprecated, use export(f)(*args, **kwargs) instead.  If you don't migrate, we "
        "may break your export call in the future if your user defined kwargs conflict with future kwargs added to "
        "export(f).",
        FutureWarning,
    )
    return inner(*extra_args, **extra_kwargs)


class _Graphs(Pieces):
    """The graphs of one call, which no backend compiles."""

    noted: Capture

    def __init__(self) -> None:
        super().__init__(None)
        self.found: list[tuple[Graph, list[Tensor]]] = []

    def compiled(self, graph: Graph, inputs: list[Tensor]) -> Any:
        """Keep a graph."""
        self.found.append((graph, inputs))

    def capture(self, fn: Any, args: Any, kwargs: Any) -> Capture:
        """Keep what notes the call."""
        self.noted = super().capture(fn, args, kwargs)
        return self.noted


def _captured(f: Callable[..., Any], args: Any, kwargs: Any) -> GraphModule:
    graphs = _Graphs()
    out = graphs.run(f.__call__ if isinstance(f, Module) else f, args, kwargs)
    if len(graphs.found) != 1:
        raise noted(
            Unsupported("the call is no single graph"),
            f"Why: it has {len(graphs.found)} parts, since Python takes elements out of tensors, or computes nothing.",
        )
    ((graph, inputs),) = graphs.found
    return _with_arguments(graph, inputs, graphs.noted, f, (args, kwargs), out)


def _with_arguments(graph: Graph, inputs: list[Tensor], capture: Capture, f: Any, call: Any, out: Any) -> GraphModule:
    """The graph with the call's arguments as inputs."""
    leaves, in_spec = pytree.tree_flatten(call)
    made, root, copied = Graph(), Module(), {}
    old = dict(zip(map(id, inputs), graph.find_nodes(op="placeholder"), strict=True))
    tensors: dict[int, Any] = {}
    for i, leaf in enumerate(leaves):
        node = made.placeholder(f"arg{i}")
        if id(leaf) in old:
            node._rename(old[id(leaf)].name)
            node.meta = dict(old[id(leaf)].meta)
            copied[old[id(leaf)]] = node
        tensors[id(leaf)] = node
    attributes = {node: t for t, node in zip(inputs, old.values(), strict=True) if node not in copied}

    def moved(n: Node) -> Node:
        if n not in copied:
            copied[n] = _attribute(made, root, attributes[n], capture.attributes.get(id(attributes[n])), n)
        return copied[n]

    for n in graph.nodes:
        if n.op not in ("placeholder", "output"):
            copied[n] = made.node_copy(n, moved)
    flat, out_spec = pytree.tree_flatten(out)
    made.output([_result(x, capture, copied, tensors) for x in flat])
    names = list(inspect.signature(getattr(f, "forward", f)).bind(*call[0], **call[1]).arguments)
    made.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, in_spec, out_spec)))
    return GraphModule(root, made)


def _result(x: Any, capture: Capture, copied: dict[Node, Node], tensors: dict[int, Any]) -> Any:
    if not isinstance(x, Tensor):
        return x
    return tensors[id(x)] if id(x) in tensors else copied[capture.nodes[id(x)]]


def _attribute(graph: Graph, root: Module, tensor: Tensor, path: str | None, old: Node) -> Node:
    """A node that reads a tensor that is no argument."""
    name = re.sub(r"\W", "_", path or f"_tensor_constant{len(root._buffers)}")
    if not hasattr(root, name):
        if isinstance(tensor, Parameter):
            root.register_parameter(name, tensor)
        else:
            root.register_buffer(name, tensor)
    node = graph.get_attr(name)
    node.meta = dict(old.meta)
    return node


def _divided(gm: GraphModule, args: Any, kwargs: Any, table: Any, pre_dispatch: bool) -> GraphModule:
    """The graph in operators of ``torch.ops.aten``, with the notes of the nodes that they come from."""
    leaves, _ = pytree.tree_flatten((args, kwargs))
    codegen = gm.graph._codegen
    plain = Graph()
    plain.output(plain.graph_copy(gm.graph, {}))
    flat = GraphModule(gm, plain)

    def run(*args: Any) -> Any:
        with fx_traceback.preserve_node_meta():
            return Interpreter(flat).run(*args)

    made = make_fx(run, table, "aot", pre_dispatch=pre_dispatch)(*leaves)
    for i, node in enumerate(made.graph.find_nodes(op="placeholder")):
        node.target = f"arg{i}"
    made.graph.set_codegen(codegen)
    made.recompile()
    return made

"""``cond`` and loops in ONNX: ``If`` and ``Loop``, whose graphs use names from outside; ``map``, ``scan`` in steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ..fx.node import Node
from ..utils._higher_order import cond, map_impl, scan
from ._building import Builder, Value

Graphs = list[Callable[[list[Value]], list[Value]]]


def written(b: Builder, node: Node) -> list[Value]:
    """Emit a call; its results."""
    op: Any = node.target
    owner = node.graph.owning_module
    functions = [_function(b, getattr(owner, node.args[k].target)) for k in op.functions]  # type: ignore[union-attr]
    lists = [[b.value(n) for n in node.args[k]] for k in op.operands]  # type: ignore[union-attr]
    b.node = node
    if op is cond:
        return _if(b, b.value(node.args[0]), functions, lists[0])
    if op in (map_impl, scan):
        return _steps(b, functions[0], lists[0] if op is scan else [], *lists[op is scan :])
    return _loop(b, functions, *lists)


def _function(b: Builder, module: Any) -> Callable[[list[Value]], list[Value]]:
    """What emits the nodes of a module's graph, for these inputs."""

    def emitted(given: list[Value]) -> list[Value]:
        inputs = iter(given)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                b.values[node] = next(inputs)
            elif node.op == "output":
                results = node.args[0]
                return [b.value(n) for n in (results if isinstance(results, (list, tuple)) else [results])]
            elif node.op != "get_attr":
                b.run(node)
        return []

    return emitted


def _graph(b: Builder, name: str, inputs: list[Any], emitted: Callable[[], list[Value]]) -> tuple[Any, list[Value]]:
    """What a function emits as a graph, and its results."""
    nodes, b.nodes = b.nodes, []
    results = emitted()
    named = [Value(b.fresh(name), v.dtype, v.shape) for v in results]
    for value, made in zip(results, named, strict=True):  # a result may be a value from outside
        b.nodes.append(
            b.onnx.helper.make_node("Identity", [value.name], [made.name], name=b.fresh(f"node_{made.name}"))
        )
    b.captured |= {i for n in b.nodes for i in n.input}
    graph = b.onnx.helper.make_graph(b.nodes, b.fresh(name), inputs, [b.info(v) for v in named])
    b.nodes = nodes
    return graph, named


def _emitted(b: Builder, op: str, *inputs: Any, like: list[Value], **graphs: Any) -> list[Value]:
    names = b.emit(op, *inputs, outputs=len(like), **graphs)
    names = [names] if len(like) == 1 else names
    return [Value(name, v.dtype, v.shape) for name, v in zip(names, like, strict=True)]


def _if(b: Builder, pred: Value, branches: Graphs, operands: list[Value]) -> list[Value]:
    node = b.node
    (yes, like), (no, _) = (_graph(b, f"{node.name}_{i}", [], lambda f=f: f(operands)) for i, f in enumerate(branches))
    b.node = node
    return _emitted(b, "If", pred, like=like, then_branch=yes, else_branch=no)


def _loop(b: Builder, functions: Graphs, carried: list[Value], additional: list[Value]) -> list[Value]:
    node, (condition, body) = b.node, functions
    first = condition([*carried, *additional])[0]
    count, going, *inputs = [
        Value(b.fresh(f"{node.name}_{name}"), dtype, shape)
        for name, dtype, shape in (
            ("count", torch.int64, ()), ("going", torch.bool, ()), *[("in", v.dtype, v.shape) for v in carried]
        )
    ]  # fmt: skip

    def step() -> list[Value]:
        made = body([*inputs, *additional])
        return [condition([*made, *additional])[0], *made]

    graph, (_, *like) = _graph(b, f"{node.name}_out", [b.info(v) for v in (count, going, *inputs)], step)
    b.node = node
    return _emitted(b, "Loop", None, first, *carried, like=like, body=graph)


def _steps(b: Builder, function: Any, carry: list[Value], xs: list[Value], additional: list[Value]) -> list[Value]:
    node, rows = b.node, list[list[Value]]()
    for i in range(b.size(xs[0], 0)):
        b.node = node
        taken = [Value(b.emit("Gather", x, b.const(i, torch.int64), axis=0), x.dtype, x.shape[1:]) for x in xs]
        made = function([*carry, *taken, *additional])
        carry, row = made[: len(carry)], made[len(carry) :]
        rows.append(row)
    b.node = node
    stacked = []
    for parts in zip(*rows, strict=True):
        flat = [b.emit("Unsqueeze", v, b.const([0], torch.int64)) for v in parts]
        shape = (len(rows), *parts[0].shape)
        stacked.append(Value(b.emit("Concat", *flat, axis=0), parts[0].dtype, shape))
    return [*carry, *stacked]

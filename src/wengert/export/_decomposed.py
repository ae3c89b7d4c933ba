"""``run_decompositions``: a program's graph with the functions of a table in place of operators.

Where sizes may differ, the graph is divided at several sizes, and one graph is made of what the divisions agree on, as
it is of traces.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import wengert as torch

from ..fx.experimental._decomposing import Divider
from ..fx.experimental._symbols import Number, hint_of
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.experimental.proxy_tensor import make_fx
from ..fx.graph import Graph
from ..fx.node import Node, map_arg
from ..nn.modules.module import Module
from ._composite import SHARING, overloads_of
from ._dynamic import merged_at, other_sizes
from ._functional import Functional
from ._tracing import Trace
from .dynamic_shapes import DynamicSize, root_of
from .graph_signature import ExportGraphSignature, InputKind

Tensor = torch.Tensor


def decomposed(program: Any, table: Any) -> tuple[Graph, ExportGraphSignature, Module]:
    """The divided graph, its signature, and the module that has its graphs of functions.

    Raises:
        NotImplementedError: a function makes a tensor of numbers.
        UserError: what a function does depends on a size that may differ.
    """
    numbers = {n.meta["symbol"]: n.meta["hint"] for n in program.graph.nodes if type(n.meta.get("hint")) is int}
    numbers = {s: hint for s, hint in numbers.items() if s in program.range_constraints and s.isidentifier()}
    if not program.dynamic and not numbers:
        return _divided(program, table, {})
    users = [
        node
        for node, spec in zip(program.graph.nodes, program.graph_signature.input_specs, strict=False)
        if spec.kind is InputKind.USER_INPUT
    ]
    found = [DynamicSize(leaf, dim, *root_of(text)) for (leaf, dim), text in program.dynamic.items()]
    base = {s.symbol: (users[s.leaf].meta["val"].shape[s.dim] - s.shift) // s.scale for s in found}
    base |= numbers
    sizes = [base, *other_sizes(base, program.range_constraints, found)]
    traces = []
    for tried in sizes:
        graph, signature, root = _divided(program, table, tried)
        traces.append(Trace(graph, signature, {}, None, [], [], {}, root))
    merged_at(traces, sizes, found)
    return traces[0].graph, traces[0].signature, traces[0].root


def _divided(program: Any, table: Any, sizes: dict[Symbol, int]) -> tuple[Graph, ExportGraphSignature, Module]:
    """The divided graph, for these sizes: without writes, and without the operators of the table."""

    def value(node: Node) -> Any:
        return _value(node, sizes)

    specs, source = program.graph_signature.input_specs, program.graph_module
    new, root = Graph(), Module()
    composed = {op: op for op in overloads_of(SHARING)} | {op: f for op, f in table.items() if op is f}
    new.output(Divider(new, composed, root, value, make_fx).copy(program.graph, {}, source))
    _keep_names(program.graph, new)
    writer = Functional(plain := Graph(), lambda node: _example(node, sizes))
    result = writer.copy(new)
    mutated, mutations = writer.mutations(new, specs)
    plain.output((*mutated, *result))
    last = Graph()
    whole = Divider(last, table, root, value, make_fx).copy(plain, {}, root)
    if any(True for _ in root.buffers()):
        raise NotImplementedError("run_decompositions(): a function of the table makes a tensor of numbers")
    last.output(whole)
    _keep_names(plain, last)
    last.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or "_assert" in str(node.target))
    for node in last.nodes:
        if isinstance(node.meta.get("val"), Tensor):
            node.meta["val"] = _resized(node, sizes).to("meta")
    outputs = [
        replace(spec, arg=replace(spec.arg, name=made.name)) if isinstance(made, Node) else spec
        for spec, made in zip([*mutations, *program.graph_signature.output_specs], whole, strict=True)
    ]
    return last, replace(program.graph_signature, output_specs=outputs), root


def _keep_names(old: Graph, new: Graph) -> None:
    for before, after in zip(old.find_nodes(op="placeholder"), new.find_nodes(op="placeholder"), strict=True):
        after.name = before.name


def _value(node: Node, sizes: dict[Symbol, int]) -> Any:
    """What a node computes for these sizes, with zeros for elements."""
    if "symbol" in node.meta:
        return _computed(node.meta["symbol"], sizes, node.meta.get("val", node.meta.get("hint")))
    value = node.meta.get("val")
    return _laid_out(value, tuple(_resized(node, sizes).shape)) if isinstance(value, Tensor) else value


def _example(node: Node, sizes: dict[Symbol, int]) -> Any:
    """What a node computes for these sizes, with numbers in place of what is computed of them."""
    value = _value(node, sizes)
    if isinstance(value, Number) and all(
        isinstance(a, (int, float)) or "symbol" in getattr(a, "meta", ()) for a in node.args
    ):
        return node.target(*map_arg(node.args, lambda n: hint_of(_example(n, sizes))))  # type: ignore[operator]
    return value


def _laid_out(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Zeros of a shape that lie in memory as a tensor of another does, of which views depend."""
    if shape == like.shape:
        return torch.empty_strided(shape, like.stride(), dtype=like.dtype).zero_()
    order = sorted(range(like.ndim), key=lambda d: -like.stride(d))
    made = torch.zeros([shape[d] for d in order], dtype=like.dtype)
    return made.permute([order.index(d) for d in range(like.ndim)])


def _resized(node: Node, sizes: dict[Symbol, int]) -> Tensor:
    value: Tensor = node.meta["val"]
    symbolic = node.meta.get("symbolic_shape")
    if symbolic is None:
        return value
    shape = [_computed(s, sizes, n) if isinstance(s, str) else s for s, n in zip(symbolic, value.shape, strict=True)]
    return torch.empty(shape, dtype=value.dtype, device="meta")


def _computed(text: str, sizes: dict[Symbol, int], otherwise: Any) -> Any:
    """The value of a sum of products of sizes: ``2*s27*s77 + 1``; ``otherwise``: that of another text."""
    if not set(re.findall(r"[a-z]\w*", text)) <= sizes.keys() or not re.fullmatch(r"[\w+*\- ]+", text):
        return otherwise
    total = 0
    for sign, term in re.findall(r"(^|\+|-)\s*([^+\- ][^+\-]*)", text.replace("+ -", "- ")):
        factors = [int(f) if f.isdigit() else sizes[Symbol(f)] for f in term.strip().split("*")]
        total += math.prod(factors) * (-1 if sign == "-" else 1)
    return total

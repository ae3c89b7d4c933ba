"""Sizes that may differ: a module is traced with other sizes, and one graph is made of what the traces agree on.

A number that differs between the traces becomes an expression of the sizes (sums of products of them), which the graph
computes. Where operators differ, a number is no such expression, a constant has other values or the graph's results
are not the module's, the size is not dynamic, and the error names the operator.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import wengert as torch

from ..fx.experimental._control_flow import lift
from ..fx.experimental._symbols import Number
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.graph_module import GraphModule
from ..fx.interpreter import Interpreter
from ..fx.node import Node
from ..nn.modules.module import Module
from ..utils._higher_order import HigherOrderOperator
from ._compared import Compared, holding, leaves_of
from ._recording import Recorder
from ._tracing import Trace, line_of, traced, user_error
from .dynamic_shapes import Dim, DimHint, DynamicSize, ValueRanges, linear
from .graph_signature import ConstantArgument, InputKind, SymIntArgument

Tensor = torch.Tensor


def traced_with_sizes(
    mod: Module, leaves: list[Any], in_spec: Any, found: list[DynamicSize], known: dict[Symbol, Dim | DimHint]
) -> tuple[Trace, list[DynamicSize], dict[Symbol, ValueRanges]]:
    """A module's trace in which some sizes may differ, these sizes, and their bounds.

    Sizes without a name become equal to others where the module needs it, and ``Dim.AUTO`` constant.

    Raises:
        UserError: a size does not differ.
    """
    while True:
        made = _attempt(mod, leaves, in_spec, found, known)
        if isinstance(made, tuple):
            return made
        symbol = made.symbol
        for group in itertools.islice(_groups(leaves, found, symbol, known), 50):
            one = min(group, key=lambda s: int(s[1:]))  # PyTorch takes the lesser of equal ones
            joined = [s._replace(symbol=one) if s.symbol in group else s for s in found]
            again = _attempt(mod, leaves, in_spec, joined, known)
            if isinstance(again, tuple):
                return again
            if again.symbol not in group:
                found = joined
                break
        else:
            if not isinstance(known[symbol], DimHint) or known[symbol].kind != "AUTO":
                raise made
            found = [s for s in found if s.symbol != symbol]


def _attempt(mod: Module, leaves: list[Any], in_spec: Any, found: list[DynamicSize], known: Any) -> Any:
    """The trace, its sizes and bounds, or the error with its ``symbol``."""
    trace = traced(mod, leaves, in_spec, None, _places(found))
    if not found:
        return trace, found, {}
    try:
        return trace, found, made_dynamic(mod, trace, in_spec, found, known)
    except Exception as e:
        if not hasattr(e, "symbol"):
            raise
        return e


def _groups(leaves: list[Any], found: list[DynamicSize], symbol: Symbol, known: Any) -> Iterator[list[Symbol]]:
    """The sizes without a name that may be one with this one: the examples have the same number; small groups first."""
    base = {s.symbol: leaves[s.leaf].shape[s.dim] for s in found if isinstance(known[s.symbol], DimHint)}
    equal = [s for s, number in base.items() if number == base.get(symbol)]
    for n in range(2, len(equal) + 1):
        yield from (list(group) for group in itertools.combinations(equal, n) if symbol in group)


def made_dynamic(
    mod: Module, trace: Trace, in_spec: Any, found: list[DynamicSize], known: dict[Symbol, Dim | DimHint]
) -> dict[Symbol, ValueRanges]:
    """Let some sizes of a trace differ: its graph is changed.

    Raises:
        UserError: one of them does not.
    """
    symbols = list(dict.fromkeys(size.symbol for size in found))
    ranges = {s: _range(known[s]) for s in symbols}
    base: dict[Symbol, int] = {}
    for size in found:
        value = (trace.inputs[size.leaf].shape[size.dim] - size.shift) // size.scale
        if base.setdefault(size.symbol, value) != value:
            raise _violated(size.symbol, f"it is {base[size.symbol]} in one input and {value} in another", None)
    if outside := [s for s in symbols if not ranges[s].lower <= base[s] <= ranges[s].upper]:
        raise _violated(outside[0], f"the example's size {base[outside[0]]} is outside of {ranges[outside[0]]}", None)
    sizes = [base, *other_sizes(base, ranges, found)]
    traces = [trace]
    for tried in sizes[1:]:
        leaves = _resized(trace.inputs, found, tried)
        changed = next(s for s in symbols if tried[s] != base[s])
        try:
            traces.append(traced(mod, leaves, in_spec, None, _places(found)))
        except Exception as e:
            raise _violated(
                changed, f"with {tried[changed]} in place of {base[changed]} {Recorder.last} fails: {e}", None
            ) from e
    merged = _Merged(trace, traces, sizes, found)
    merged.constants()
    merged.nodes()
    merged.name_sizes()
    merged.outputs(trace)
    merged.comparisons(ranges, known)
    for made, tried in zip(traces, sizes, strict=True):
        _check_results(mod, trace, made, next((s for s in symbols if tried[s] != base[s]), symbols[0]))
    bounds = {size: ranges[size.symbol] for size in found}
    return {size.text: ValueRanges(size.of(b.lower), size.of(b.upper)) for size, b in bounds.items()} | ranges


def merged_at(traces: list[Trace], sizes: list[dict[Symbol, int]], found: list[DynamicSize]) -> None:
    """Make the first of several graphs, each for other sizes, the graph of all: it is changed."""
    merged = _Merged(traces[0], traces, sizes, found)
    merged.known |= {n.meta["symbol"]: n for n in merged.graph.nodes if n.meta.get("symbol") in merged.symbols}
    merged.nodes()
    merged.outputs(traces[0])


def _places(found: list[DynamicSize]) -> set[tuple[int, int]]:
    return {(size.leaf, size.dim) for size in found}


def _range(dim: Dim | DimHint) -> ValueRanges:
    return ValueRanges(2 if dim.min is None else dim.min, math.inf if dim.max is None else dim.max)


def other_sizes(
    base: dict[Symbol, int], ranges: dict[Symbol, ValueRanges], found: list[DynamicSize]
) -> list[dict[Symbol, int]]:
    """Sizes to trace with: two others of each, and others of all."""
    others = {}
    for symbol, size in base.items():
        floor = max([2, *[-((s.shift - 2) // s.scale) for s in found if s.symbol == symbol]])
        near = sorted(
            (1, 3, 2, 5, 4, -1, -2, -3), key=lambda d, s=size, r=ranges[symbol]: not r.lower <= s + d <= r.upper
        )
        first, *rest = [size + d for d in near if size + d >= floor]
        least = int(max(floor, ranges[symbol].lower))  # which a branch may tell from the example's
        others[symbol] = list(dict.fromkeys([first, *([least] if least != size else []), *rest]))[:3]
    tried = [base | {s: v} for s, values in others.items() for v in values[:2]]
    if len(base) > 1:
        tried.append({s: values[-1] for s, values in others.items()})
        tried.append({s: values[i % len(values)] for i, (s, values) in enumerate(others.items())})
    return tried


def _resized(inputs: list[Any], found: list[DynamicSize], sizes: dict[Symbol, int]) -> list[Any]:
    """The inputs with rows repeated or left out."""
    made = list(inputs)
    for size in found:
        old = made[size.leaf]
        rows = torch.arange(size.of(sizes[size.symbol])) % max(old.shape[size.dim], 1)
        made[size.leaf] = old.detach().index_select(size.dim, rows).requires_grad_(old.requires_grad)
    return made


def _violated(symbol: Symbol, why: str, node: Node | None) -> Exception:
    name = symbol.shown
    notes = [f"Why: {why}."]
    if node is not None:
        notes.append(f"Where: {node.target} in {line_of(node)}")
    notes.append(f"What to do: leave {name} out of dynamic_shapes, or compute with x.shape instead of its value.")
    error: Any = user_error("CONSTRAINT_VIOLATION", f"Constraints violated ({name})! {why}", *notes)
    error.symbol = symbol
    return error  # type: ignore[no-any-return]


class _Merged:
    """One graph of several traces."""

    def __init__(
        self, trace: Trace, traces: list[Trace], sizes: list[dict[Symbol, int]], found: list[DynamicSize]
    ) -> None:
        self.graph, self.traces, self.sizes = trace.graph, traces, sizes
        self.symbols = list(sizes[0])
        self.lists = [list(t.graph.nodes) for t in traces]
        users = [
            n
            for n, s in zip(self.lists[0], trace.signature.input_specs, strict=False)
            if s.kind is InputKind.USER_INPUT
        ]
        plain = {s.symbol for s in found if s.text == s.symbol}
        self.sources = {
            s.symbol: (users[s.leaf], s.dim, s.scale, s.shift)
            for s in reversed(found)
            if s.text == s.symbol or s.symbol not in plain
        }
        self.known: dict[Any, Node] = {}
        self.last_input = self.lists[0][len(trace.signature.input_specs) - 1]
        ordered = sorted(self.symbols)
        terms = [()] + [(s,) for s in ordered] + list(itertools.combinations(ordered, 2))
        self.terms: list[tuple[Symbol, ...]] = terms  # type: ignore[assignment]
        self.unknown = len([s for s in trace.ranges if s[0] == "u"])

    def changed(self, values: list[Any]) -> Symbol:
        """The size to name in an error: the one that differs in the first trace with another value."""
        sizes = next((s for s, v in zip(self.sizes, values, strict=True) if v != values[0]), self.sizes[-1])
        return next((s for s in self.symbols if sizes[s] != self.sizes[0][s]), self.symbols[0])

    def constants(self) -> None:
        """Constants are the same in all traces."""
        for name, value in self.traces[0].constants.items():
            twins = [t.constants.get(name) for t in self.traces]
            same = [t is not None and t.shape == value.shape and torch.equal(t, value) for t in twins]
            if not all(same):
                raise _violated(self.changed(same), f"the constant {name} depends on it", None)

    def nodes(self) -> None:
        """Compare the traces, node by node."""
        self._compared(self.lists, [t.root for t in self.traces], None)

    def _compared(self, lists: list[list[Node]], roots: list[Module], place: Node | None) -> None:
        """Compare lists of nodes; ``place``: the node ahead of which sizes are computed, where it is another's."""
        for nodes in zip(*lists, strict=False):
            node = nodes[0]
            calls = [(n.op, n.target, n.name) for n in nodes]
            if any(call != calls[0] for call in calls):
                other = next(n for n in nodes if n.target != node.target or n.name != node.name)
                raise _violated(
                    self.changed(calls), f"the module calls {node.target} or {other.target}, as the size is", node
                )
            with self.graph.inserting_before(place or node):
                node.args = self.merged([n.args for n in nodes], node)
                node.kwargs = self.merged([n.kwargs for n in nodes], node)
            if isinstance(node.target, HigherOrderOperator):
                self._functions(nodes, roots, place or node)
            self.note_shape(nodes)
            if "hint" in node.meta:
                value = node.meta.get("val")
                if isinstance(value, Number) and isinstance(value.known, Compared):
                    sides = [a.meta["symbol"] if isinstance(a, Node) else a for a in node.args]
                    node.meta["symbol"] = value.known._texted(value.made[0].__name__, sides)
                else:
                    node.meta["symbol"] = self.joined([n.meta["symbol"] for n in nodes])
        counts = [len(nodes) for nodes in lists]
        if len(set(counts)) > 1:
            raise _violated(
                self.changed(counts), "the module calls more or fewer operators, as the size is", lists[0][-2]
            )

    def _functions(self, nodes: Any, roots: list[Module], place: Node) -> None:
        """Merge the graphs of the functions that ``cond`` or a loop is given; sizes become operands."""
        modules = []
        for k in nodes[0].target.functions:
            inner: list[Any] = [getattr(root, n.args[k].target) for root, n in zip(roots, nodes, strict=True)]
            self._compared([list(m.graph.nodes) for m in inner], inner, place)
            modules.append(inner[0])
        lift(nodes[0], modules)

    def comparisons(self, ranges: dict[Symbol, ValueRanges], known: dict[Symbol, Dim | DimHint]) -> None:
        """Bound sizes to those for which all comparisons hold that the module has made."""
        named = [{n.name: n for n in nodes} for nodes in self.lists]
        terms: dict[tuple[Node, int], Any] = {}
        for place in {place for event in self.traces[0].compared for place in leaves_of(event)}:
            twins = [nodes.get(place[0].name) for nodes in named]
            if all(twin is not None for twin in twins):
                coefficients = self.fitted([twin.meta["val"].shape[place[1]] for twin in twins])  # type: ignore[union-attr]
                if coefficients is not None:
                    terms[place] = [(c, term) for c, term in zip(coefficients, self.terms, strict=False) if c]
        for event in self.traces[0].compared:
            if terms.keys() >= set(leaves_of(event)):
                for symbol in {s for place in leaves_of(event) for _, term in terms[place] for s in term}:
                    ranges[symbol] = self._bounded(event, terms, symbol, ranges[symbol], known[symbol])

    def _bounded(self, event: Any, terms: Any, symbol: Symbol, bounds: ValueRanges, dim: Dim | DimHint) -> ValueRanges:
        low, high = holding(event, terms, self.sizes[0], symbol, int(max(bounds.lower, 2)), bounds.upper)
        if low <= max(bounds.lower, 2) and high >= bounds.upper:
            return bounds
        source, size = symbol.shown, self.sizes[0][symbol]
        if low == high:
            raise _violated(
                symbol, f"You marked {source} as dynamic but your code specialized it to be a constant ({size})", None
            )
        if isinstance(dim, Dim):
            most = "" if math.isinf(high) else f" and {source} <= {high}"
            why = (
                f"Not all values of {source} in the specified range satisfy the generated guard {low} <= {source}{most}"
            )
            raise _violated(symbol, why, None)
        return ValueRanges(low, high)

    def outputs(self, trace: Trace) -> None:
        """Say in the signature which results are sizes."""
        output: Any = next(n for n in reversed(self.graph.nodes) if n.op == "output")
        for spec, arg in zip(trace.signature.output_specs, output.args[0], strict=True):
            if isinstance(spec.arg, ConstantArgument) and isinstance(arg, Node):
                spec.arg = SymIntArgument(arg.name)

    def merged(self, given: list[Any], node: Node) -> Any:
        """One argument for the traces' arguments."""
        first = given[0]
        if isinstance(first, (list, tuple)) and not isinstance(first, Node):
            if len({len(g) for g in given}) > 1:
                counts = [len(g) for g in given]
                raise _violated(self.changed(counts), f"{node.target} is given {counts[0]} or {counts[-1]} items", node)
            return type(first)([self.merged([g[i] for g in given], node) for i in range(len(first))])
        if isinstance(first, dict):
            return {k: self.merged([g[k] for g in given], node) for k in first}
        if isinstance(first, Node):
            if any(g.name != first.name for g in given):
                names = [g.name for g in given]
                raise _violated(self.changed(names), f"{node.target} is given other values, as the size is", node)
            return first
        if all(type(g) is type(first) and (g == first or g != g) for g in given):
            return first
        coefficients = self.fitted(given) if all(type(g) is int for g in given) else None
        if coefficients is None:
            text = (
                f"{node.target} is given {first!r} or {given[-1]!r}, as the size is {self.sizes[0]} or {self.sizes[-1]}"
            )
            raise _violated(self.changed(given), text, node)
        return self.expression(coefficients)

    def fitted(self, values: Any) -> tuple[int, ...] | None:
        """The coefficients with which sums of products of the sizes give these values."""
        for count in (1 + len(self.symbols), len(self.terms)):
            terms = self.terms[:count]
            if count > len(values):
                continue
            table = np.array([[math.prod(s[x] for x in term) for term in terms] for s in self.sizes], float)
            solution = np.rint(np.linalg.lstsq(table, np.array(values, float), rcond=None)[0])
            if (table @ solution == np.array(values)).all():
                return tuple(int(c) for c in solution)
        return None

    def expression(self, coefficients: tuple[int, ...]) -> Node:
        """The node that computes an expression of the sizes."""
        if coefficients in self.known:
            return self.known[coefficients]
        rest, total = coefficients[0], None  # type: int, Any
        for c, term in zip(coefficients, self.terms, strict=False):
            if c == 0 or not term:
                continue
            *_, scale, shift = self.sources.get(term[0], (1, 0))
            of_input = (scale, shift) != (1, 0) and len(term) == 1 and c % scale == 0
            product: Any = self.read(term[0]) if of_input else self.size(term[0])
            if of_input:
                c, rest = c // scale, rest - c // scale * shift
            for symbol in term[1:]:
                product = self.graph.call_function(operator.mul, (product, self.size(symbol)))
            if c != 1:
                product = self.graph.call_function(operator.mul, (product, c))
            total = product if total is None else self.graph.call_function(operator.add, (total, product))
        if rest:
            total = self.graph.call_function(operator.add if rest > 0 else operator.sub, (total, abs(rest)))
        self.known[coefficients] = total
        total.meta["symbol"] = self.text(coefficients)
        return total

    def read(self, symbol: Symbol) -> Node:
        """The node that reads the size of an input that a symbol stands in."""
        source, dim, scale, shift = self.sources[symbol]
        line = self.line(symbol)
        if line not in self.known:
            with self.graph.inserting_after(self.last_input):
                self.known[line] = self.graph.call_function(torch.ops.aten.sym_size.int, (source, dim))
            self.known[line].meta["symbol"] = linear(symbol, scale, shift)
        return self.known[line]

    def line(self, symbol: Symbol) -> tuple[int, ...]:
        """The coefficients of the size of an input that a symbol stands in."""
        *_, scale, shift = self.sources[symbol]
        return (shift, *[scale * (term == (symbol,)) for term in self.terms[1 : 1 + len(self.symbols)]])

    def size(self, symbol: Symbol) -> Node:
        """The node that gives a symbol's number."""
        if symbol not in self.known:
            node, (_, _, scale, shift) = self.read(symbol), self.sources[symbol]
            if shift:
                node = self.graph.call_function(operator.sub if shift > 0 else operator.add, (node, abs(shift)))
                node.meta["symbol"] = linear(symbol, scale, 0)
            if scale > 1:
                node = self.graph.call_function(operator.floordiv, (node, scale))
                node.meta["symbol"] = symbol
            self.known[symbol] = node
        return self.known[symbol]

    def name_sizes(self) -> None:
        """Name the sizes as PyTorch, which writes all in the inputs' order, after those that were asked for."""
        used = len([s for s in self.sources if s in self.known])
        place = self.last_input
        for i, symbol in enumerate(reversed(self.sources)):
            node = self.known.get(symbol)
            if node is not None and node.target is torch.ops.aten.sym_size.int:
                place.append(node)
                place, node.name = node, f"sym_size_int_{used + i}"

    def text(self, coefficients: tuple[int, ...]) -> str:
        """``3*s77 + 1``."""
        parts = []
        for c, term in zip(coefficients, self.terms, strict=False):
            if c and term:
                parts.append("*".join([*([str(c)] if c != 1 else []), *term]))
        if coefficients[0]:
            parts.append(str(coefficients[0]))
        return " + ".join(parts).replace("+ -", "- ")

    def note_shape(self, nodes: Any) -> None:
        """Note a value's sizes, those that differ as expressions."""
        shapes = [n.meta["val"].shape for n in nodes if isinstance(n.meta.get("val"), Tensor)]
        if len(shapes) != len(nodes) or len({len(s) for s in shapes}) > 1:
            return
        found: list[Any] = []
        known = [n.meta.get("symbolic_shape", n.meta["val"].shape) for n in nodes]
        for sizes, texts in zip(zip(*shapes, strict=True), zip(*known, strict=True), strict=True):
            if isinstance(texts[0], str):  # it depends on values too
                found.append(self.joined(list(texts)))
                continue
            coefficients = self.fitted(sizes)
            if len(set(sizes)) == 1:
                found.append(sizes[0])
            elif coefficients is not None:
                found.append(self.text(coefficients))
            else:
                found.append(f"u{self.unknown}")
                self.unknown += 1
        nodes[0].meta["symbolic_shape"] = tuple(found)

    def joined(self, texts: list[Any]) -> str:
        """The text of a number that depends on values, and with its constant on sizes: ``u0 + 2`` and ``u0 + 5``."""
        parts = [re.fullmatch(r"(.*?)(?: ([+-]) (\d+))?", str(t)) for t in texts]
        stems = {p[1] for p in parts if p is not None}
        rest = self.fitted([int(f"{p[2] or ''}{p[3] or 0}") for p in parts if p is not None])
        if len(set(texts)) == 1:
            return str(texts[0])
        if len(stems) > 1 or rest is None:
            self.unknown += 1
            return f"u{self.unknown - 1}"
        return f"{stems.pop()} + {self.text(rest)}"


def _check_results(mod: Module, trace: Trace, tried: Trace, symbol: Symbol) -> None:
    """The graph computes what the module computed."""
    random = any("rand" in str(n.target) or "dropout" in str(n.target) for n in trace.graph.nodes)
    held = dict(mod.named_parameters()) | dict(mod.named_buffers()) | trace.constants
    held = {name: t.detach().clone() for name, t in held.items()}
    inputs = iter([x.detach().clone() if isinstance(x, Tensor) else x for x in tried.inputs])
    given = [
        next(inputs) if spec.kind is InputKind.USER_INPUT else held[str(spec.target)]
        for spec in trace.signature.input_specs
    ]
    with torch.no_grad():
        results = Interpreter(GraphModule(trace.root, trace.graph)).run(*given)
    for i, (made, expected) in enumerate(zip(results, tried.outputs, strict=True)):
        if isinstance(made, Tensor) and (
            made.shape != expected.shape
            or not (random or torch.allclose(made.double(), expected.detach().double(), 1e-4, 1e-5, equal_nan=True))
        ):
            raise _violated(symbol, f"output {i} of the graph is not the module's", None)

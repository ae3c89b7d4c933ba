"""PyTorch's derivative formulas in its operators' names: what ``make_fx`` writes for the backward step of a call.

NOTE [ A backward step as PyTorch writes it ]: the nodes of a call are steps, and each has a formula, so the cotangents
go back through the steps. Every operator of a formula is run when it is written. What comes out must be what wengert's
own formula gave; otherwise the nodes are taken back, and the operators of wengert's formula are written.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor, wrap
from ...utils._aten import OpOverload, not_intercepted
from ...utils._aten_schemas import matching
from ...utils._python_dispatch import _disable_current_modes
from ..node import Node, map_aggregate
from ._formulas import FORMULAS, HELPERS, Unknown, sum_to


@functools.cache
def _table() -> dict[str, list[tuple[tuple[str, ...], Any, frozenset[str]]]]:
    """The formulas of each operator: the arguments, the compiled expression, and the names in it."""
    table = {}
    for line in FORMULAS.replace("\n  ", " ").strip().split("\n"):
        names, _, text = line.partition(": ")
        lines: list[tuple[tuple[str, ...], str]] = []
        steps: list[str] = []
        for part in text.split("; "):
            left, equals, right = part.partition(" = ")
            owners = tuple(left.split(", "))
            if equals and left.replace(", ", "").isidentifier() and owners[0] not in ("q", "p", "zero", "g"):
                lines.append((owners, ""))
                steps, part = [], right
            left, equals, right = part.partition(" = ")
            if equals and left.split(", ")[0] in ("q", "p", "zero", "g"):
                steps.append(part)
                continue
            lines[-1] = lines[-1][0], "\n".join([*steps, f"answer = {part}"])
        made = [(owners, compile(code, "derivatives", "exec"), code) for owners, code in lines]
        for name in names.split():
            table[name] = [(o, c, frozenset(c.co_names)) for o, c, _ in made]
    return table


def formulas(node: Node) -> Any:
    """Those of a node's operator, or None."""
    if not isinstance(node.target, OpOverload):
        return None
    name = node.target.__name__
    table = _table()
    return table.get(name) or table.get(name.removesuffix(".default")) or table.get(name.partition(".")[0])


def saved_results(node: Node) -> list[Node]:
    """The results that the backward step needs and PyTorch saves detached."""
    names = frozenset().union(*(names for _, _, names in formulas(node) or ()))
    items = [n for n in node.users if n.target is operator.getitem]
    return (items[:1] or [node]) * ("result" in names) + items[1:] * ("saved" in names)


def _operator(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return self.writer.run(name, (self, other), {}, "Tensor" if isinstance(other, Written) else "Scalar")

    return method


class Written:
    """A node and its value, with the operators as methods: what a formula computes with."""

    def __init__(self, writer: Writer, node: Node, value: Tensor) -> None:
        self.writer, self.node, self.value = writer, node, value

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "dtype", "numel", "is_contiguous", "device", "layout"):
            sizes = self.writer.tracer.sizes
            if sizes is not None and name in ("shape", "numel"):
                sizes.give(self.node, name == "numel")
            return getattr(self.value, name)
        return functools.partial(getattr(self.writer, name), self)

    def __neg__(self) -> Any:
        return self.writer.neg(self)

    __add__ = __radd__ = _operator("add")
    __mul__ = __rmul__ = _operator("mul")
    __sub__, __rsub__, __truediv__ = _operator("sub"), _operator("rsub"), _operator("div")

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other


class Writer:
    """Runs operators and writes their nodes."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.made: list[Node] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.run(name, args, kwargs)

    def value(self, node: Node) -> Any:
        """What a node computes."""
        found = node.meta.get("val")
        if found is None:
            if node.op != "call_function":
                raise Unknown
            args, kwargs = map_aggregate(
                (node.args, node.kwargs), lambda a: self.value(a) if isinstance(a, Node) else a
            )
            found = node.meta["val"] = node.target(*args, **kwargs)  # type: ignore[operator]
        return found

    def of(self, a: Any) -> Any:
        """An argument of a node, with values beside nodes."""
        if isinstance(a, (list, tuple)):
            return [self.of(x) for x in a]
        if isinstance(a, Node):
            value = self.value(a)
            return Written(self, a, value) if isinstance(value, Tensor) else a
        return a

    def run(self, name: str, args: Any, kwargs: Any, overload: str | None = None) -> Any:
        """Run an operator and write it."""
        nodes: dict[int, Node] = {}

        def plain(a: Any) -> Any:
            if isinstance(a, Written):
                nodes[id(a.value)] = a.node
                return a.value
            if isinstance(a, (list, tuple)):
                return [plain(x) for x in a]
            return a

        args, kwargs = tuple(plain(a) for a in args), {k: plain(v) for k, v in kwargs.items()}
        found = matching(name, args, kwargs)
        if found is None:
            raise Unknown(name)
        chosen, placed, named = found
        target = getattr(
            getattr(torch.ops.aten, name), overload if overload and chosen in ("Tensor", "Scalar") else chosen
        )
        result = target(*placed, **named)

        def shown(a: Any) -> Any:
            if isinstance(a, (list, tuple)):
                return type(a)(shown(x) for x in a)
            return nodes[id(a)] if isinstance(a, Tensor) else a

        return self.note(self.write(target, shown(placed), {k: shown(v) for k, v in named.items()}), result)

    def write(self, target: Any, args: Any, kwargs: Any) -> Node:
        node: Node = self.tracer.call(target, args, kwargs)
        self.made.append(node)
        return node

    def note(self, node: Node, result: Any) -> Any:
        node.meta["val"] = result
        if isinstance(result, (tuple, list)):
            items = []
            for i, item in enumerate(result):
                items.append(self.note(self.write(operator.getitem, (node, i), {}), item))
            return items
        return Written(self, node, result)

    def note_product(self, written: Written, dims: Any) -> None:
        """A formula reads the product of some sizes."""
        if self.tracer.sizes is not None:
            self.tracer.sizes.give_product(written.node, dims)

    def undo(self) -> None:
        """Take back all nodes."""
        for node in reversed(self.made):
            self.tracer.graph.erase_node(node)


class _Names(dict[str, Any]):
    """The names of a formula: arguments, functions of this module, operators."""

    def __init__(self, writer: Writer, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.writer = writer

    def __missing__(self, name: str) -> Any:
        if name in HELPERS:
            return HELPERS[name]
        if name in ("list", "range", "len", "float"):
            raise KeyError(name)
        return getattr(self.writer, name)


# ---- back through the steps
def derived(
    tracer: Any, steps: list[Node], saved: dict[Node, Node], grads: dict[Node, Any], wanted: set[Node]
) -> tuple[Writer, list[tuple[Node, Written]]]:
    """Write the backward step of a call.

    Args:
        steps: the nodes of the call.
        saved: the detached results of steps that need theirs.
        grads: the nodes and values of the cotangents, by the nodes of the results.
        wanted: the nodes of the operands whose gradients are wanted.

    Raises:
        Unknown: it cannot be.
    """
    writer = Writer(tracer)
    held: dict[Node, Written] = {node: Written(writer, *given) for node, given in grads.items()}
    needed = set(wanted)
    for node in steps:
        if needed.intersection(node.all_input_nodes):
            needed.add(node)
    found: list[tuple[Node, Written]] = []
    try:
        giving = nullcontext() if tracer.sizes is None else tracer.sizes.giving((), {})
        with _disable_current_modes(), not_intercepted(), torch.no_grad(), giving:
            for node in reversed(steps):
                if node.target is operator.getitem or node not in needed:
                    continue
                for owner, gradient in _one(writer, node, saved, held, needed):
                    if owner in wanted:
                        found.append((owner, gradient))
                    else:
                        held[owner] = held[owner] + gradient if owner in held else gradient  # type: ignore[operator]
    except Exception as error:
        writer.undo()
        raise Unknown from error
    return writer, found


def _one(
    writer: Writer, node: Node, saved: dict[Node, Node], held: dict[Node, Written], needed: set[Node]
) -> Iterator[tuple[Node, Written]]:
    """The gradients of one step's operands."""
    target: Any = node.target
    schema = target._schema
    given = dict(zip([a.name for a in schema.arguments], node.args, strict=False)) | node.kwargs
    values = {a.name: writer.of(given.get(a.name, a.default)) for a in schema.arguments}
    items = {n.args[1]: n for n in node.users if n.target is operator.getitem}
    if items:
        grads = {i: held[n] for i, n in items.items() if n in held}
        values |= {f"result{i}": writer.of(n) for i, n in items.items()}
        values["grads"], values["results"] = grads, [values[f"result{i}"] for i in sorted(items)]  # type: ignore[type-var]
        if not grads:
            return
        values["grad"] = next(iter(grads.values()))
    elif node in held:
        values["grad"] = held[node]
    else:
        return

    def detached(n: Node) -> Written:
        return writer.note(writer.write(torch.ops.aten.detach.default, (saved[n],), {}), writer.value(n))  # type: ignore[no-any-return]

    values["saved"] = lambda written: detached(written.node)
    found = formulas(node)
    if found is None:
        raise Unknown
    if "mask" in values:
        values["mask_"] = values.pop("mask")
    values.setdefault("dim", None)
    if any("result" in names for _, _, names in found):
        values["result"] = detached(items.get(0, node))
    answers: dict[str, Any] = {}
    for owners, code, names in found:
        want = [_wants(given.get(owner), needed) for owner in owners]
        if not any(want):
            continue
        space = _Names(writer, {**values, "mask": want} if "mask" in names else values)
        exec(code, {}, space)  # the table above
        answer = space["answer"]
        answers |= zip(owners, answer if len(owners) > 1 else [answer], strict=False)
    for argument in schema.arguments:
        owner, answer = given.get(argument.name), answers.get(argument.name)
        pairs = zip(owner, answer, strict=True) if isinstance(owner, (list, tuple)) and answer else [(owner, answer)]
        for n, gradient in pairs:
            if n in needed and isinstance(gradient, Written):
                yield n, sum_to(gradient, list(writer.value(n).shape))


def _wants(owner: Any, needed: set[Node]) -> bool:
    owners = owner if isinstance(owner, (list, tuple)) else (owner,)
    return any(isinstance(n, Node) and n in needed for n in owners)


class WrittenCall:
    """How a call with a history was written.

    Attributes:
        nodes: its nodes.
        saved: detached results, by those.
        outputs: the nodes of its results by number.
        inputs: the histories of its operands, and their nodes.
        inner: the histories that only its own steps have.
        found: the gradients that are written, by the nodes of the operands.
    """

    def __init__(self, nodes: Any, saved: Any, outputs: Any, inputs: Any) -> None:
        self.nodes, self.saved, self.outputs, self.inputs = nodes, saved, outputs, inputs
        self.inner: set[Any] = set()
        self.found: list[Any] = []

    def placed(self, pairs: Any) -> list[Node | None] | None:
        """The node of each cotangent of a step, or None if one is not among the written ones."""
        placed: list[Node | None] = []
        for edge, payload in zip(pairs[::2], pairs[1::2], strict=True):
            if edge in self.inner:
                placed.append(None)
                continue
            nodes = [node for e, node in self.inputs if e is edge]
            for owner, written in self.found if payload is not None else ():
                if owner in nodes and _near(written.value, wrap(payload)):
                    placed.append(written.node)
                    self.found.remove((owner, written))
                    break
            else:
                return None
        return placed


def _near(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, 1e-3, 1e-5, equal_nan=True)

"""Numbers in an exported graph: the symbols behind the operators that give them, and what is asserted of them."""

from __future__ import annotations

import operator
from typing import Any

import wengert as torch

from ..fx.experimental._symbols import Check, Number, Poly, Symbol, SymInt
from ..fx.experimental._unbacked import MOST, Unbacked
from ..fx.node import Node


def write_numbers(unbacked: Unbacked) -> None:
    """Write the symbols behind the operators that give them, with what is asserted of them."""
    unbacked.note_shapes()
    writer = _Writer(unbacked)
    for symbol in list(unbacked.known.symbols.values()):
        writer.bind(symbol)
    writer.replace_sizes()


class _Writer:
    """Writes sizes and what is asserted into a graph that is complete."""

    def __init__(self, unbacked: Unbacked) -> None:
        self.unbacked, self.known, self.graph = unbacked, unbacked.known, unbacked.recorder.graph
        self.bound: dict[str, Node] = {}
        self.origin: dict[str, Any] = {}  # what nodes tell of the line that they belong to
        self.waiting = list(self.known.checks)
        self.order = {node: i for i, node in enumerate(self.graph.nodes)}

    def bind(self, symbol: Symbol) -> None:
        """Write one symbol, its bounds, and what is asserted of it and of those before it."""
        node = symbol.node
        self.origin = {k: v for k, v in node.meta.items() if k in ("stack_trace", "nn_module_stack", "torch_fn")}
        if node.target is operator.getitem and symbol.dim is not None:  # PyTorch writes it anew
            with self.graph.inserting_after(node.args[0]):
                symbol.node = self.graph.call_function(operator.getitem, node.args)
            symbol.node.meta = dict(node.meta)
            node.replace_all_uses_with(symbol.node)
            self.graph.erase_node(node)
            node = symbol.node
        after: Any = node
        if symbol.dim is not None:
            with self.graph.inserting_after(after):
                node = after = self.graph.create_node(
                    "call_function", torch.ops.aten.sym_size.int, (symbol.node, symbol.dim), name="sym_size_int"
                )
            node.meta |= self.origin | {"symbol": symbol.name, "val": SymInt(self.known, symbol), "hint": symbol.hint}
        self.bound[symbol.name] = node
        if isinstance(symbol.hint, float):
            return
        compared = node
        bounds = [(operator.ge, symbol.lower, ">="), (operator.le, symbol.upper, "<=")]
        bounds = [b for b in bounds if abs(b[1]) < MOST]
        if bounds and isinstance(symbol.hint, bool):
            compared = after = self._after(after, torch.sym_ite, (node, 1, 0))
        for function, limit, sign in bounds:
            condition = self._after(after, function, (compared, int(limit)))
            after = self._assert(condition, f"{symbol.name} {sign} {int(limit)}")
        for check in list(self.waiting):
            if check.names <= self.bound.keys():
                self.waiting.remove(check)
                after = self._check(after, check)

    def _after(self, after: Node, function: Any, args: Any) -> Node:
        with self.graph.inserting_after(after):
            made: Node = self.graph.call_function(function, args)
        made.meta |= self.origin
        return made

    def _assert(self, condition: Node, text: str) -> Node:
        message = f"Runtime assertion failed for expression {text} on node '{condition.name}'"
        condition.meta |= {"symbol": text, "hint": True}
        with self.graph.inserting_after(condition):
            made: Node = self.graph.create_node(
                "call_function", torch.ops.aten._assert_scalar.default, (condition, message), {},
                name="_assert_scalar_default",
            )  # fmt: skip
        made.meta |= self.origin
        return made

    def _check(self, after: Node, check: Check) -> Node:
        made: list[Node] = [after]
        a, b = (self.built(x, made) for x in check.sides)
        if check.function is operator.ne:
            made.append(self._after(made[-1], operator.eq, (a, b)))
            made.append(self._after(made[-1], torch.sym_not, (made[-1],)))
        else:
            made.append(self._after(made[-1], check.function, (a, b)))
        return self._assert(made[-1], check.text)

    def built(self, value: Any, made: list[Node]) -> Any:
        """A number as nodes behind the last of ``made``."""
        if isinstance(value, Poly):
            return self.of_poly(value, made)
        if not isinstance(value, Number):
            return value
        poly = self.known.poly(value)
        if poly is not None and all(s in self.bound for term in poly for s in term):
            return self.of_poly(poly, made)
        if isinstance(value.made, Symbol):
            return self.bound[value.made.name]
        args = tuple([self.built(a, made) for a in value.made[1]])
        made.append(self._after(made[-1], value.made[0], args))
        return made[-1]

    def of_poly(self, poly: Poly, made: list[Node]) -> Any:
        """A polynomial as nodes behind the last of ``made``: numbers come first, as PyTorch writes them."""

        def joined(function: Any, parts: list[Any]) -> Any:
            total = parts[0]
            for part in parts[1:]:
                made.append(self._after(made[-1], function, (total, part)))
                made[-1].meta |= {"symbol": str(poly), "hint": function(*[_of_node(a) for a in (total, part)])}
                total = made[-1]
            return total

        terms = sorted(poly.ordered(), key=lambda pair: bool(pair[0]))
        sums = [
            joined(operator.mul, [*([c] if c != 1 or not term else []), *[self.bound[s] for s in term]])
            for term, c in terms
        ]
        return joined(operator.add, sums) if sums else 0

    def replace_sizes(self) -> None:
        """Put the symbols in place of the sizes that the program asked for, and leave out what nothing needs."""
        for node in self.known.written.values():
            poly = self.known.poly(node.meta["val"])
            made = [node]
            bound = poly is not None and all(s in self.bound for term in poly for s in term)
            new = self.of_poly(poly, made) if bound else node
            if new is not node:
                node.replace_all_uses_with(new, delete_user_cb=lambda user, new=made: user not in new)
                self.graph.erase_node(node)
        for node in reversed(list(self.graph.nodes)):
            if "symbol" in node.meta and not node.users and node.op == "call_function":
                self.graph.erase_node(node)


def _of_node(a: Any) -> Any:
    return a.meta["hint"] if isinstance(a, Node) else a

"""Sizes that may differ, in ``make_fx(tracing_mode="symbolic")``.

The function runs on the examples, and is told of their sizes as numbers. What it compares holds as it does for the
examples, and is noted as a guard. Each operator runs beside it with other sizes (``_unbacked``), so that the sizes of
results are known as sums of products of symbols. A size that an operator is given is written as the node that has it.
"""

from __future__ import annotations

import functools
import math
import operator
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import wengert as torch

from ..._base.constants import make_size
from ..._base.torch_function import DISABLED
from ..._tape.tensor import Tensor
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload
from ...utils._higher_order import HigherOrderOperator
from .._naming import place_of
from .._utils import without_data
from ..node import Node, map_aggregate
from ._makers import MAKERS, with_numbers
from ._parts import PARTS, part
from ._shape_env import ShapeEnv
from ._symbols import Known, Number, Poly, Symbol, SymBool, SymFloat, SymInt, hint_of, numbers_in, size_name
from ._unbacked import SIZE_QUESTIONS, TRIED, Counted, Unbacked

_OPPOSITES = {
    operator.eq: operator.ne, operator.ne: operator.eq, operator.lt: operator.ge, operator.ge: operator.lt,
    operator.gt: operator.le, operator.le: operator.gt,
}  # fmt: skip
_TAKE = frozenset(["item", "tolist", "__bool__", "__int__", "__float__", "__index__"])
_NO_SIZES = frozenset(["dim", "dims", "kernel_size", "stride", "padding", "dilation", "output_padding", "groups"])
_OF_NUMBERS = ("sym_", "_check", "_constrain")  # functions of numbers that know them


class Guarded(Known):
    """The numbers of one ``make_fx``: those of the inputs have the examples' values, on which comparisons depend."""

    def __init__(self, tracer: Any) -> None:
        super().__init__(tracer)
        self.env = ShapeEnv(self)
        self.ids: set[int] = set()
        self.of_hint: dict[int, Symbol] = {}  # equal sizes are one symbol, as in PyTorch
        self.nodes: dict[str, Node] = {}  # of numbers that are computed, by their texts

    def symbol_of(self, node: Node, dim: int | None, hint: int, source: str) -> Symbol | None:
        """The symbol of an input's size, or of an input that is an ``int``; None: 0 and 1 are what they are."""
        if 0 <= hint <= 1:
            return None
        if hint not in self.of_hint:
            name = size_name(source, self.ids)
            symbol = Symbol(name, node, dim, hint, 2 if dim is not None else -math.inf, math.inf)
            symbol.backed, self.symbols[name] = True, symbol
            self.tracer.pick(symbol)
            self.of_hint[hint] = symbol
        found = self.of_hint[hint]
        if dim is None and found.dim is not None:  # nothing has to be read for it
            found.node, found.dim = node, None
        return found

    def computed(self, function: Callable[..., Any], args: Any) -> Any:
        result = super().computed(function, args)
        if isinstance(result, (SymInt, SymFloat)):
            for a in args:
                if isinstance(a, Number) and type(a) is type(result) and str(a) == str(result):
                    return a
            self.node_of(result)  # PyTorch writes what is computed at once, and takes back what nothing needs
        return result

    def node_of(self, value: Any) -> Any:
        if not isinstance(value, SymInt):
            return super().node_of(value)
        text, made = str(value), value.made
        symbol = self.symbols.get(text)
        if symbol is not None and symbol.dim is None:
            return symbol.node
        if value.written is None and isinstance(made, tuple) and not isinstance(made[0], Node):
            value.written = self.nodes.get(text)
        node = super().node_of(value)
        if isinstance(node, Node):
            self.nodes.setdefault(text, node)
        return node

    def _written(self, value: Number) -> Node:
        if isinstance(value.made, tuple) and isinstance(value.made[0], _Numel):
            target = torch.ops.aten.sym_numel.default
            return self.tracer.create_node("call_function", target, (value.made[0].node,), {}, name="sym_numel_default")  # type: ignore[no-any-return]
        return super()._written(value)

    def written_size(self, node: Node, dim: int, text: str) -> Node:
        return super().written_size(node, dim, f"{node.name} {dim}")  # one for each place

    def holds_within_bounds(self, value: Number) -> bool | None:
        """``truth``, if nothing else were known."""
        facts, self.facts = self.facts, {}
        try:
            return self.truth(value)
        finally:
            self.facts = facts

    def with_sizes(self, value: Any, sizes: dict[Any, int]) -> Any:
        """A number for other sizes of the inputs."""
        if not isinstance(value, Number):
            return value
        if isinstance(value.made, tuple) and not isinstance(value.made[0], Node):
            function, args = value.made
            return function(*[self.with_sizes(a, sizes) for a in args])
        poly = self.poly(value)
        return sum(c * math.prod(sizes[s] for s in term) for term, c in poly.items())  # KeyError: no input has it

    def poly(self, value: Any) -> Any:
        if isinstance(value, SymInt) and isinstance(value.made, tuple) and isinstance(value.made[0], _Numel):
            return functools.reduce(Poly.times, map(self.poly, value.made[1]))
        return super().poly(value)

    def _backed(self, value: Number) -> bool:
        found = self.difference(value)
        names = {s for term in found[1] for s in term} if found is not None else self.names_in(value)
        if not names <= self.symbols.keys():
            names = self.names_in(value)
        return all(self.symbols[s].backed for s in names)

    def decided(self, value: Number) -> bool:
        """The truth of a comparison: a guard, if it depends on the inputs' sizes."""
        known = self.truth(value)
        if known is None:
            if not self._backed(value):
                raise self.unknown("Could not guard on data-dependent expression", value)
            known = bool(value.at(None))
            self.guard(value if known else self._negated(value))
        return known

    def _negated(self, value: Number) -> SymBool:
        function, args = value.made
        if function in _OPPOSITES:
            return SymBool(self, (_OPPOSITES[function], args))
        return SymBool(self, (torch.sym_not, (value,)))

    def guard(self, value: Number) -> None:
        """A comparison holds for the graph."""
        self.env.guards.append(value)
        self.expect(value)

    def constant_of(self, value: Number, start: str, around: str = "") -> Any:
        if not self._backed(value):
            return super().constant_of(value, start, around)
        number = value.at(None)
        if isinstance(value, SymInt):
            self.decided(operator.eq(value, number))
        return number

    def unite(self, poly: Poly) -> bool:
        before = set(self.replaced)
        found = super().unite(poly)
        for name in self.replaced.keys() - before:  # what computes a symbol has its bounds
            symbol, value = self.symbols[name], self.replaced[name]
            for limit, relation in ((symbol.lower, "ge"), (symbol.upper, "le")):
                if not math.isinf(limit):
                    self._narrow(value.plus(Poly({(): int(limit)}), -1), relation)
        return found

    def _narrow(self, poly: Poly, name: str) -> bool:
        single = super()._narrow(poly, name)
        if not single:
            poly = self.not_less_than_zero(poly, name)
            for term, c in list(poly.items()):
                if len(term) != 1 or term[0] not in self.symbols:
                    continue
                rest = Poly({t: n for t, n in poly.items() if t != term})
                most, symbol = self.bounds(rest)[1], self.symbols[term[0]]
                if math.isinf(most):
                    continue
                if c > 0:
                    symbol.lower = max(symbol.lower, math.ceil(-most / c))
                else:
                    symbol.upper = min(symbol.upper, math.floor(most / -c))
            self.changed()
        return single


class Sizes(Unbacked):
    """The sizes of one ``make_fx``."""

    taken_by = "_local_scalar_dense"
    known: Guarded
    knows = Guarded

    def __init__(self, tracer: Any) -> None:
        super().__init__(tracer, True)
        self.last: Node | None = None  # the last node that has run with other sizes
        # the numbers that the program gives to the function that runs, by type and value
        self.given: dict[tuple[type, Any], Number] = {}
        self.read: list[Node] = []  # the nodes of whose tensors a formula reads the sizes
        self.operands: list[Node] = []  # those of the tensors that the program gives to the function
        self.plain: set[Any] = set()  # numbers that are no sizes, though they may be equal to some
        # of a value that it is given both ways: what it is at each place, in turn
        self.turns: dict[tuple[type, Any], Iterator[Any]] = {}
        self.of_hint: dict[int, SymInt] = {}  # sizes by their values in the example
        self.derived: dict[str, tuple[Node, int]] = {}  # sizes that are no polynomials of others

    def pick(self, symbol: Symbol) -> None:
        """Choose the other numbers of a symbol: greater ones, which the numbers divide that divide the example's."""
        if not symbol.backed:
            super().pick(symbol)
            return
        rng, hint = random.Random(symbol.name), symbol.hint
        near = [hint + 12 * k for k in range(1, 9)]
        others = [n for n in near if symbol.lower <= n <= symbol.upper]
        if len(others) < TRIED:
            span = range(int(max(symbol.lower, hint - 30)), int(min(symbol.upper, hint + 30)) + 1)
            others = [n for n in span if n != hint] or [hint]
        rng.shuffle(others)
        symbol.others = (others * TRIED)[:TRIED]

    def poly_of(self, node: Node, dim: int) -> Poly:
        """A size as a polynomial; one that is none is a symbol of its own, of which the inputs' sizes decide."""
        before = len(self.known.symbols)
        found = super().poly_of(node, dim)
        unknown = any(not s.backed for s in list(self.known.symbols.values())[:before])
        for symbol in list(self.known.symbols.values())[before:]:
            symbol.backed, self.derived[symbol.name] = not unknown, (node, dim)
        return found

    def run_again(self) -> None:
        super().run_again()
        for name, (node, dim) in self.derived.items():
            if node in self.tried:
                self.known.symbols[name].others = [self.size_of(node, dim, k) for k in range(TRIED)]

    def numbers_of(self, node: Node) -> list[Any]:
        """Also how many elements operands have, and the products of lists."""
        tensors = [self.sizes_of(n) for n in node.all_input_nodes if n in self.tried]
        lists = [a for a in node.args if isinstance(a, (list, tuple)) and not any(n in self.tried for n in a)]
        given = [[n.meta["val"] if isinstance(n, Node) else n for n in a if n is not None] for a in lists]
        return [*[self.known.number((_Numel(node), tuple(n))) for n in [*tensors, *given]], *super().numbers_of(node)]

    def _unite(self, call: Any, node: Node) -> None:
        """Find the sizes that have to be equal for an operator not to fail, or to be as they are."""
        if not self._runs_without_data(call):
            self._as_operands(call, node)
            return
        super()._unite(call, node)
        for n in node.all_input_nodes if not self._run(call) else ():
            value = n.meta.get("val")
            for size in self.sizes_of(n) if n in self.tried else [value]:
                if isinstance(size, SymInt):
                    self.known.expect(operator.eq(size, size.at(None)))
                    if self._run(call):
                        return

    def _runs_without_data(self, call: Any) -> bool:
        try:
            with self.recorder.dispatch.silent(), torch._C.DisableTorchFunction(), torch.no_grad():
                call.run(self, None)
        except Exception:  # noqa: BLE001 - whatever the operator raises
            return False
        return True

    def _as_operands(self, call: Any, node: Node) -> None:
        """Take results for as large as operands of the same sizes: the operator cannot be asked."""
        for n in call.nodes:
            for operand in node.all_input_nodes:
                if operand in self.tried and operand.meta["val"].shape == n.meta["val"].shape:
                    self.tried[n] = self.tried[operand]
                    break

    # ---- inputs
    def input(self, leaf: Any, node: Node, i: int) -> Any:
        """What the function is given for an input."""
        env = self.known.env
        if type(leaf) is int:
            symbol = self.known.symbol_of(node, None, leaf, f"input{i}")
            if symbol is None:
                env.inputs.append(leaf)
                return leaf
            number = SymInt(self.known, symbol)
            node.meta |= {"symbol": symbol.name, "val": number, "hint": leaf}
            env.inputs.append(number)
            return number
        if not isinstance(leaf, Tensor):
            env.inputs.append(None)
            return leaf
        shape: list[Any] = list(leaf.shape)
        symbols = [self.known.symbol_of(node, d, n, f"input{i}.size()[{d}]") for d, n in enumerate(shape)]
        for d, symbol in enumerate(symbols):
            if symbol is not None:
                number = SymInt(self.known, (node, d))
                self.numbers[node, d], self.polys[node, d] = number, Poly({(symbol.name,): 1})
                self.of_hint[shape[d]] = shape[d] = number
        env.inputs.append((shape, leaf.stride(), leaf.storage_offset()))
        if any(symbols):
            self.calls.append(_Input(node, symbols, leaf))
            self._run(self.calls[-1])
        return leaf

    # ---- calls of the program
    def call(self, write: Callable[..., Any], func: Any, args: Any, kwargs: Any) -> Any:
        """What a public function gives: ``write`` runs and writes it."""
        name = place_of(func)[1]
        if name in SIZE_QUESTIONS and args and isinstance(args[0], Tensor):
            self.settle()
            sizes = self.sizes(args[0])
            if name in ("numel", "nelement") and any(isinstance(n, Number) for n in sizes):
                return self._numel(self.recorder.known_node(args[0]), sizes)
            return SIZE_QUESTIONS[name](sizes, func, *args, **kwargs)
        if name in _TAKE and not self.recorder.is_constant(args[0]):
            self.settle()
            return self.taken(name, args[0])
        if name.startswith(_OF_NUMBERS):
            return func(*args, **kwargs)
        if name in PARTS:
            self.settle()
            result = PARTS[name](self, *args, **kwargs)
            if result is not NotImplemented:
                return result
        if name in MAKERS:
            args, kwargs = with_numbers(name, args, kwargs, self._as_number)
        with self.giving(args, kwargs):
            args, kwargs = map_aggregate((args, kwargs), hint_of)
            if name == "__getitem__":
                result = part(self, *args, item=functools.partial(_item, write, func))
            else:
                result = write(func, args, kwargs)
            if self.given and not isinstance(result, Tensor):
                result = _mapped(result, lambda n: self.given.get((type(n), n), n))
        self.settle()
        return result

    def overload(self, op: OpOverload, *args: Any) -> Any:
        """What an overload gives that is given numbers."""
        with self.giving(args, {}):
            result = op(*map_aggregate(args, hint_of))
        self.settle()
        return result

    def _as_number(self, a: Tensor) -> Any:
        return a if a.dim() or self.recorder.is_constant(a) else self.item(a)

    def _numel(self, node: Any, sizes: Any) -> SymInt:
        return SymInt(self.known, (_Numel(node), tuple(sizes)))

    @contextmanager
    def giving(self, args: Any, kwargs: Any) -> Iterator[None]:
        """A context in which a function runs that is given these arguments."""
        former = self.given, self.plain, self.read, self.turns, self.operands
        self.given, self.read = {}, []
        for number in numbers_in((args, kwargs)):
            value = number.at(None)
            self.given.setdefault((type(value), value), number)
            self.known.node_of(number)
        leaves = pytree.tree_leaves(_without_slices((args, kwargs)))
        self.plain = {a for a in leaves if type(a) is int}
        found = [self.recorder.known_node(a) for a in leaves if isinstance(a, Tensor)]
        self.operands = [node for node in found if node in self.tried]
        places: dict[tuple[type, Any], list[Any]] = {}
        for leaf in leaves:
            value = hint_of(leaf)
            if type(value) in (int, float):
                places.setdefault((type(value), value), []).append(leaf)
        self.turns = {
            key: cycle(both) for key, both in places.items() if len({isinstance(leaf, Number) for leaf in both}) > 1
        }
        try:
            yield
        finally:
            self.given, self.plain, self.read, self.turns, self.operands = former

    def give(self, node: Node, whole: bool) -> None:
        """A formula reads the sizes of a node's tensor, or how many elements it has."""
        sizes = self.sizes_of(node) if node in self.tried else []
        self.read.append(node)
        for size in sizes:
            if isinstance(size, Number):
                self.given.setdefault((int, size.at(None)), size)
        if whole and any(isinstance(size, Number) for size in sizes):
            number = self._numel(node, sizes)
            self.given[int, number.at(None)] = number

    def give_product(self, node: Node, dims: Any) -> None:
        """A formula reads the product of some sizes of a node's tensor."""
        sizes = self.sizes_of(node) if node in self.tried else []
        product = math.prod([sizes[d] for d in dims if d < len(sizes)])
        if isinstance(product, Number):
            self.given[int, product.at(None)] = product

    def is_given(self, value: Any) -> bool:
        """Whether the program gives this number as one that may differ."""
        return type(value) in (int, float) and (type(value), value) in self.given

    # ---- nodes
    def symbolic(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The arguments of a node, with the numbers of sizes in place of the examples'."""
        if not isinstance(target, OpOverload) or target._schema is None:
            return args, kwargs  # also for an item of results, which are settled together
        self.settle()
        inputs: list[Node] = []
        map_aggregate((args, kwargs), lambda a: inputs.append(a) if isinstance(a, Node) else None)
        names = [a.name for a in target._schema.arguments]
        placed = [self._replaced(a, name, inputs) for a, name in zip(args, names, strict=False)]
        return (*placed, *args[len(placed) :]), {k: self._replaced(v, k, inputs) for k, v in kwargs.items()}

    def _replaced(self, value: Any, name: str, inputs: list[Node]) -> Any:
        """An argument with numbers in place of their values: the program's, and those of arguments that are sizes."""
        if name in _NO_SIZES:
            return value
        is_size = name.endswith(("size", "sizes", "shape"))
        nodes = [node for node in (*self.read, *inputs, *self.operands) if node in self.tried] if is_size else []
        shapes = [self.sizes_of(node) for node in nodes]

        def of(n: Any, place: int = -1) -> Any:
            if type(n) not in (int, float):
                return n
            if self.is_given(n) and not (self.read and is_size):
                found = next(self.turns.get((type(n), n), iter(())), self.given[type(n), n])
                return self.known.node_of(found) if isinstance(found, Number) else n
            if not is_size or n in self.plain or n < 2:
                return n
            return self.known.node_of(self._size_of(n, place, shapes, inputs))

        if is_size and isinstance(value, (list, tuple)):
            whole = next((shape for shape in shapes if list(map(hint_of, shape)) == list(value)), None)
            if whole is not None and not self.plain:
                return [self.known.node_of(size) for size in whole]
            return [of(n, place) for place, n in enumerate(value)]
        return map_aggregate(value, of)

    def _size_of(self, n: int, place: int, shapes: list[list[Any]], inputs: list[Node]) -> Any:
        """The number of this value among the sizes that are known, or the product of some of an operand's."""
        for here in (True, False):
            for shape in shapes:
                for dim, size in enumerate(shape):
                    if isinstance(size, Number) and size.at(None) == n and (dim == place or not here):
                        return size
        if n in self.of_hint:
            return self.of_hint[n]
        for node in inputs:
            sizes = self.sizes_of(node) if node in self.tried else []
            for start in range(len(sizes)):
                product: Any = sizes[start]
                for size in sizes[start + 1 :]:
                    if (hint := hint_of(product) * hint_of(size)) > n:
                        break
                    product = product * size
                    if hint == n:
                        return product
        return n

    def settle(self) -> None:
        """Run the nodes that were written with other sizes."""
        graph = self.recorder.graph
        node = graph._root.next if self.last is None else self.last.next
        while node.op != "root":
            known = "symbol" in node.meta or node.target is operator.getitem
            if node.op == "call_function" and not known and not isinstance(node.target, HigherOrderOperator):
                if not self._settle(node):
                    return
            self.last, node = node, node.next

    def _settle(self, node: Node) -> bool:
        """Run a node; False: what it gives is not yet known."""
        self.recorder.describe(node)
        value = node.meta.get("val")
        if isinstance(value, Tensor):
            self.ran(node, [node], node.target)
        elif isinstance(value, (tuple, list)):
            items = [n for n in node.users if n.target is operator.getitem and isinstance(n.meta.get("val"), Tensor)]
            places = [n.args[1] for n in items]
            self.ran(node, items, lambda *args, **kwargs: [node.target(*args, **kwargs)[i] for i in places])  # type: ignore[operator, index, misc]
        return value is not None or node.next.op != "root"

    def ran(self, node: Node, nodes: list[Node], op: Any = None) -> None:
        before = len(self.calls)
        super().ran(node, nodes, op)
        if len(self.calls) > before and isinstance(self.calls[-1], Counted):
            self._count_once(self.calls[-1], node)
        operands = [n for n in node.all_input_nodes if n in self.tried or isinstance(n.meta.get("val"), Number)]
        held = [s for n in operands for s in (self.sizes_of(n) if n in self.tried else [n.meta["val"]])]
        known = {str(s): s for s in reversed(held) if isinstance(s, SymInt)}
        for n in nodes:
            for dim, size in enumerate(self.sizes_of(n) if n in self.tried else ()):
                if isinstance(size, SymInt):
                    size = self.numbers[n, dim] = known.get(str(size), size)  # an operand's, if it is the same
                    self.of_hint.setdefault(size.at(None), size)

    def _count_once(self, call: Counted, node: Node) -> None:
        """What is counted again is as many."""
        for other in self.calls[:-1]:
            if isinstance(other, Counted) and (other.of.target, other.of.args) == (node.target, node.args):
                names = call.symbol.name, other.symbol.name
                self.known.unite(Poly({(names[0],): 1, (names[1],): -1}))
                return

    def finish(self) -> None:
        """Take back the numbers that nothing needs, and note the sizes that differ."""
        self.settle()
        for node in reversed(list(self.recorder.graph.nodes)):
            if "symbol" in node.meta and not node.users and node.op == "call_function":
                if not isinstance(node.target, OpOverload) or "sym_" in str(node.target):
                    self.recorder.graph.erase_node(node)
        self.note_shapes()
        for node in self.tried:
            node.meta["sizes"] = make_size(tuple(self.sizes_of(node)))

    def show_values(self) -> None:
        """Let the values of nodes be tensors whose sizes may differ."""
        for node in self.tried:
            if "sizes" in node.meta:
                with torch._C.DisableTorchFunction():
                    node.meta["val"] = value = without_data(node.meta["val"]).as_subclass(SizedTensor)
                value.sizes = node.meta.pop("sizes")


class SizedTensor(Tensor):
    """A tensor without data whose sizes may differ: what a node of a graph gives."""

    sizes: torch.Size
    __torch_function__ = DISABLED  # no function has to look for it

    @property
    def shape(self) -> torch.Size:
        """The sizes: numbers of the graph's ``shape_env``."""
        return self.sizes

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them."""
        return self.sizes if dim is None else self.sizes[dim]

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return f"FakeTensor(..., size=({', '.join(map(str, self.sizes))}))"


class _Numel:
    """The product of all sizes of a node's tensor."""

    __name__ = "Numel"

    def __init__(self, node: Node) -> None:
        self.node = node

    def __call__(self, *sizes: int) -> int:
        return math.prod(sizes)


class _Input:
    """An input, which has other sizes itself."""

    def __init__(self, node: Node, symbols: list[Symbol | None], leaf: Tensor) -> None:
        self.nodes, self.symbols, self.leaf = [node], symbols, leaf

    def run(self, unbacked: Unbacked, k: int) -> Any:
        """The input for the ``k``-th other numbers, with dims in the example's order of memory."""
        pairs = zip(self.symbols, self.leaf.shape, strict=True)
        shape = [n if symbol is None else unbacked.known.value(symbol, k) for symbol, n in pairs]
        order = sorted(range(len(shape)), key=lambda d: (-self.leaf.stride(d), d))
        made = torch.empty([shape[d] for d in order], dtype=self.leaf.dtype, device="meta")
        return made.permute([order.index(d) for d in range(len(shape))])


def _item(write: Callable[..., Any], func: Any, x: Tensor, key: Any) -> Tensor:
    return write(func, (x, key), {})  # type: ignore[no-any-return]


def _mapped(result: Any, fn: Callable[[Any], Any]) -> Any:
    if isinstance(result, torch.Size):
        return make_size(tuple(map(fn, result)))
    return pytree.tree_map(fn, result)


def _without_slices(tree: Any) -> Any:
    if isinstance(tree, slice):
        return [tree.start, tree.stop, tree.step]
    if isinstance(tree, (list, tuple)):
        return [_without_slices(t) for t in tree]
    if isinstance(tree, dict):
        return [_without_slices(t) for t in tree.values()]
    return tree

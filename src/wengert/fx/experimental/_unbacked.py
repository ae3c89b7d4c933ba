"""Sizes that depend on what tensors hold: operators after ``nonzero`` run with other counts too.

An operator of ``_COUNTED`` gives a size that is a new symbol. The operators after it run beside the program on tensors
without data, for some other numbers of each symbol: so a size that differs is known as such, and as a sum of products
of symbols where it is one. An operator that fails for other numbers holds where two sizes are equal, which is then
asserted when the program runs.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import wengert as torch

from ..._base.constants import make_size
from ...utils import _pytree as pytree
from .._utils import without_data
from ..node import Node, map_aggregate, map_arg
from ._symbols import Known, Number, Poly, Symbol, SymBool, SymInt, hint_of

Tensor = torch.Tensor
TRIED = 4
_FILLED = 1 << 22  # elements that are made for an operator that needs data
MOST = 2**63 - 2  # rows that a tensor may have

# The results with a counted size, and the dim of it, by operator; ``dim``: the argument that tells it.
_COUNTED: dict[str, tuple[tuple[int, ...], Any]] = {
    "nonzero": ((0,), 0), "argwhere": ((0,), 0), "masked_select": ((0,), 0), "bincount": ((0,), 0),
    "nonzero_numpy": ((), 0), "where.default": ((), 0), "_unique2": ((0, 2), 0), "unique_consecutive": ((0, 2), "dim"),
    "unique_dim": ((0, 2), "dim"), "repeat_interleave": ((0,), "dim"), "_unique": ((0,), 0),
    "one_hot": ((0,), -1),
}  # fmt: skip
_UNBOUNDED = frozenset(["bincount", "one_hot", "repeat_interleave"])
_CONVERSIONS: dict[str, Any] = {"__int__": int, "__index__": int, "__float__": float}
_RESHAPING = frozenset(["resize_", "resize_as_", "squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_",
                        "as_strided_", "set_", "moveaxis_"])  # fmt: skip


# What asks for sizes, of the sizes, the function and its arguments.
SIZE_QUESTIONS: dict[str, Callable[..., Any]] = {
    "shape": lambda sizes, func, *_: sizes,
    "size": lambda sizes, func, self, dim=None: sizes if dim is None else sizes[dim],
    **dict.fromkeys(
        ("numel", "nelement"),
        lambda sizes, func, *_: functools.reduce(
            operator.mul, [s for s in sizes if type(s) is not int or s != 1] or [1]
        ),
    ),
    "__len__": lambda sizes, func, self: operator.index(sizes[0]) if sizes else func(self),
}


@contextmanager
def extremes_of_numbers() -> Iterator[None]:
    """A context in which Python's ``max`` and ``min`` know numbers that are not known, as in PyTorch."""
    plain = builtins.max, builtins.min

    def of(function: Any, symbolic: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(a, Number) for a in args) and len(args) > 1:
                return functools.reduce(symbolic, args)
            return function(*args, **kwargs)

        return call

    builtins.max, builtins.min = of(max, torch.sym_max), of(min, torch.sym_min)
    try:
        yield
    finally:
        builtins.max, builtins.min = plain


class Unbacked:
    """The numbers of one recording, and the sizes of its tensors for other numbers.

    Attributes:
        taken_by: the operator that takes a number out of a tensor.
        known, knows: what is known of the numbers, and its class.

    Args:
        recorder: writes the nodes.
        bounded: whether the inputs' sizes are known, which bound what is counted.
    """

    taken_by = "item"
    known: Known
    knows: type[Known] = Known

    def __init__(self, recorder: Any, bounded: bool) -> None:
        self.recorder, self.bounded = recorder, bounded
        self.known = self.knows(self)
        self.known.changed = self.run_again
        self.create_node = recorder.create_node
        self.calls: list[Any] = []  # those that run with other numbers
        self.tried: dict[Node, list[Tensor]] = {}
        self.polys: dict[tuple[Node, int], Poly] = {}
        self.numbers: dict[tuple[Node, int], Any] = {}
        self.counts = {"u": 0, "zuf": 0}

    # ---- numbers
    def symbol(self, node: Node, dim: int | None, hint: Any, lower: float, upper: float) -> Symbol:
        """A new unknown number."""
        stem = "zuf" if isinstance(hint, float) else "u"
        name = f"{stem}{self.counts[stem]}"
        self.counts[stem] += 1
        made = self.known.symbols[name] = Symbol(name, node, dim, hint, lower, upper)
        self.pick(made)
        return made

    def pick(self, symbol: Symbol) -> None:
        """Choose the other numbers of a symbol: of the example's sign, within its bounds, 0 and 1 only if need be."""
        if isinstance(symbol.hint, bool):
            symbol.others = [k % 2 == 0 for k in range(TRIED)]
            return
        rng = random.Random(symbol.name)
        if isinstance(symbol.hint, float):
            symbol.others = [symbol.hint + rng.randint(1, 9) for _ in range(TRIED)]
            return
        low, high = max(symbol.lower, 2), symbol.upper
        if symbol.hint < 0:
            low, high = max(symbol.lower, symbol.hint - 9), -1
        fitting = [n for n in range(int(low), int(min(high, low + 12)) + 1) if n != symbol.hint]
        rng.shuffle(fitting)
        if not fitting:
            fitting = [symbol.hint] if symbol.lower == symbol.upper else [symbol.hint + 1, symbol.hint + 2]
        symbol.others = (fitting * TRIED)[:TRIED]

    def item(self, tensor: Tensor) -> Any:
        """The number that ``item()`` takes out of a tensor."""
        node = self.recorder.create_node(
            "call_function", getattr(torch.ops.aten, self.taken_by).default, (self.recorder.node_of(tensor),), {},
            name=self.taken_by,
        )  # fmt: skip
        with torch._C.DisableTorchFunction():
            value = tensor.item()
        bounds = (0, 1) if isinstance(value, bool) else (-math.inf, math.inf)
        number = self.known.number(self.symbol(node, None, value, *bounds))
        node.meta |= {"symbol": number.made.name, "val": number, "hint": value}
        number.written = node
        return number

    def taken(self, name: str, tensor: Tensor) -> Any:
        """What a method gives that takes numbers out of a tensor.

        Raises:
            GuardOnDataDependentSymNode: it is no ``item()``.
        """
        if name == "tolist" and tensor.dim():
            return [self.taken(name, part) for part in tensor.unbind()]
        if name in ("numpy", "__array__"):
            raise RuntimeError(".numpy() is not supported for tensor subclasses.")
        number = (
            self.item(tensor)
            if name not in ("equal", "allclose", "__contains__")
            else self.item(tensor.eq(tensor).all())
        )
        if name in ("item", "tolist"):
            return number
        if name == "__int__" and number.symbolic == "float":
            name = "__float__"
        return _CONVERSIONS.get(name, bool)(number)

    def sizes(self, tensor: Tensor) -> Any:
        """The sizes of a tensor, with numbers for those that are not known."""
        node = self.recorder.known_node(tensor)
        if node in self.tried:
            return make_size(tuple(self.sizes_of(node)))
        with torch._C.DisableTorchFunction():
            return tensor.shape

    def sizes_of(self, node: Node) -> list[Any]:
        """The sizes of a node's tensor."""
        shape = _shape(node.meta["val"])
        return [self.size(node, dim, size) if node in self.tried else size for dim, size in enumerate(shape)]

    def most(self, node: Node) -> float:
        """The greatest number of a tensor's elements."""
        if not self.bounded or math.prod(_shape(node.meta["val"])) <= 2:
            return MOST
        polys = [self.known.poly(size) for size in self.sizes_of(node)]
        most = MOST if None in polys else self.known.bounds(functools.reduce(Poly.times, polys))[1]
        return MOST if most >= MOST else int(most)

    def size(self, node: Node, dim: int, size: int) -> Any:
        """One size of a tensor."""
        if all(_shape(t)[dim] == size for t in self.tried[node]):
            return size
        if (node, dim) not in self.numbers:
            self.numbers[node, dim] = SymInt(self.known, (node, dim))
            self.poly_of(node, dim)
        return self.numbers[node, dim]

    def size_of(self, node: Node, dim: int, k: int | None) -> int:
        """A size in the example, or for the ``k``-th other numbers."""
        tensor = self.tried[node][k] if k is not None and node in self.tried else node.meta["val"]
        return int(_shape(tensor)[dim])

    def poly_of(self, node: Node, dim: int) -> Poly:
        """A size as a polynomial of symbols; one that is none is a symbol of its own."""
        if (node, dim) not in self.polys:
            values = [self.size_of(node, dim, k) for k in (None, *range(TRIED))]
            found = self.fitted(values)
            if found is None:
                made = self.symbol(node, dim, values[0], 0, math.inf)
                made.others = values[1:]
                found = Poly({(made.name,): 1})
            self.polys[node, dim] = found
        return self.polys[node, dim]

    def fitted(self, values: list[int]) -> Poly | None:
        """The polynomial that has these values in the example and for other numbers."""
        known = self.known
        names = [s for s, symbol in known.symbols.items() if s not in known.replaced and type(symbol.hint) is int]
        at = {s: [known.value(known.symbols[s], k) for k in (None, *range(TRIED))] for s in names}
        rows: list[tuple[Poly, list[int]]] = [(Poly({(s,): 1}), at[s]) for s in reversed(names)]
        for a, b in itertools.combinations_with_replacement(reversed(names), 2):
            pair = list(zip(at[a], at[b], strict=True))
            rows.append((Poly.of([((a,), 1), ((b,), 1)]), [x + y for x, y in pair]))
            rows.append((Poly({tuple(sorted((a, b))): 1}), [x * y for x, y in pair]))
        for number in known.computed_numbers:
            rows += [(known.poly(number) or Poly(), [number.at(k) for k in (None, *range(TRIED))])]
        for poly, row in rows:
            i = next((i for i in range(1, len(row)) if row[i] != row[0]), None)
            if i is None or (values[i] - values[0]) % (row[i] - row[0]):
                continue
            factor = (values[i] - values[0]) // (row[i] - row[0])
            rest = values[0] - factor * row[0]
            if factor and all(factor * r + rest == v for r, v in zip(row, values, strict=True)):
                return Poly.of([*[(t, c * factor) for t, c in poly.items()], ((), rest)])
        return None

    # ---- operators
    def note(self, node: Node, result: Any) -> None:
        """An operator has run."""
        self.ran(node, [self.recorder.node_of(t) for t in pytree.tree_leaves(result) if isinstance(t, Tensor)])

    def follow(self, node: Node, function: Callable[..., Any], *sources: Node) -> None:
        """A node gives what has the sizes that a function of other nodes' tensors has."""
        if any(n in self.tried for n in sources):
            self.calls.append(_Call(function, sources, {}, [node]))
            self._run(self.calls[-1])

    def ran(self, node: Node, nodes: list[Node], op: Any = None) -> None:
        """An operator has run, or ``op`` in its place, which gives what ``nodes`` are."""
        inputs, name = node.all_input_nodes, getattr(getattr(node.target, "overloadpacket", None), "__name__", "")
        counted = _COUNTED.get(name, _COUNTED.get(str(node.target).removeprefix("aten.")))
        if counted is not None and not _counts(node, name):
            counted = None
        masks = name == "index" and any(_is_mask(n) for n in inputs)
        if counted is None and not masks and not any(n in self.tried or _number(n) is not None for n in inputs):
            return
        if not nodes:
            return
        if counted is not None:
            call: Any = Counted(self, node, nodes, *counted)
        elif masks:
            call = _Masked(self, node, nodes)
        elif name[-1:] == "_" and name not in _RESHAPING:
            call = _Call(_first, node.args[:1], {}, nodes)
        else:
            call = _Call(op or node.target, node.args, node.kwargs, nodes)
        self.calls.append(call)
        if not self._run(call) and not self._run_with_less(call, node):
            self._unite(call, node)
        for n in nodes:
            for size in self.sizes_of(n) if n in self.tried else ():
                self._is_size(size)

    def _is_size(self, size: Any) -> None:
        """What is the size of a tensor is not negative."""
        name = str(size)
        if type(size) is SymInt and name in self.known.symbols and self.known.symbols[name].lower < 0:
            self.known.expect(operator.ge(SymInt(self.known, self.known.symbols[name]), 0))

    def _run_with_less(self, call: Any, node: Node) -> bool:
        """Run an operator with numbers that are no greater than the example's: some may be too great for a tensor."""
        kept = {s: symbol.others for s, symbol in self.known.symbols.items()}
        for n in node.all_input_nodes:
            for name in self.known.names_in(_number(n)):
                symbol = self.known.symbols[name]
                if type(symbol.hint) is int and not symbol.backed:
                    less = list(range(int(max(symbol.lower, 0)), symbol.hint)) or [symbol.hint]
                    symbol.others = [less[-1 - k % len(less)] for k in range(TRIED)]
        if all(symbol.others is kept[s] for s, symbol in self.known.symbols.items()):
            return False
        for c in self.calls[:-1]:
            self._run(c)
        if self._run(call):
            return True
        for s, others in kept.items():
            self.known.symbols[s].others = others
        self.run_again()
        return False

    def _run(self, call: Any) -> bool:
        """Run an operator for all other numbers; False: it fails for some."""
        try:
            with self.recorder.dispatch.silent(), torch._C.DisableTorchFunction(), torch.no_grad():
                results = [pytree.tree_leaves(call.run(self, k)) for k in range(TRIED)]
        except Exception:  # noqa: BLE001 - whatever the operator raises
            return False
        if any(len(r) != len(call.nodes) for r in results):
            raise self.known.unknown("Could not guard on data-dependent expression", self._first_unknown(call) == 0)
        for i, node in enumerate(call.nodes):
            found = [r[i] for r in results]
            size = _shape(node.meta["val"])
            if any(_shape(t) != size for t in found):
                self.tried[node] = found
            else:
                self.tried.pop(node, None)
        return True

    def _first_unknown(self, call: Any) -> Any:
        """A number that decides how many results an operator has."""
        inputs = call.nodes[0].args[0].all_input_nodes if call.nodes[0].target is operator.getitem else []
        sizes = [s for n in inputs for s in ([_number(n)] if _number(n) is not None else self.sizes_of(n))]
        return next(s for s in sizes if isinstance(s, SymInt))

    def run_again(self) -> None:
        """What is known has changed: choose other numbers, and run the operators for them."""
        for symbol in self.known.symbols.values():
            if any(not symbol.lower <= n <= symbol.upper for n in symbol.others):
                self.pick(symbol)
        for call in self.calls:
            self._run(call)

    def numbers_of(self, node: Node) -> list[Any]:
        """The sizes of an operator's operands, its numbers, and the sums of those in lists."""
        numbers = list[Any]()
        for n in node.all_input_nodes:
            val = n.meta.get("val")
            numbers += self.sizes_of(n) if isinstance(val, Tensor) else [val]
        map_aggregate((node.args, node.kwargs), lambda a: numbers.append(a) if type(a) is int else a)
        for a in node.args:
            if isinstance(a, (list, tuple)) and any(isinstance(n, Node) and _number(n) is not None for n in a):
                numbers.append(functools.reduce(operator.add, [_number(n) if isinstance(n, Node) else n for n in a]))
        return numbers

    def _unite(self, call: Any, node: Node) -> None:
        """Find the sizes of a call that have to be equal for it not to fail; they are, which is asserted."""
        known, numbers = self.known, self.numbers_of(node)
        unknown = [n for n in numbers if isinstance(n, SymInt)]
        kept = dict(known.replaced), {s: (v.lower, v.upper, v.others) for s, v in known.symbols.items()}
        pairs = [
            (a, b) for a in unknown for b in numbers if a is not b and a.at(None) == hint_of(b) and str(a) != str(b)
        ]
        for a, b in [*pairs, *[(a, a.at(None)) for a in unknown]]:
            check = known.check(SymBool(known, (operator.eq, (a, b))))
            if not known.unite(known.poly(a).plus(known.poly(b), -1)):  # type: ignore[union-attr, arg-type]
                continue
            if self._run(call) or self._run_with_less(call, node):
                known.checks.append(check)
                return
            known.replaced = dict(kept[0])
            for s, before in kept[1].items():
                known.symbols[s].lower, known.symbols[s].upper, known.symbols[s].others = before
            self.run_again()
        known.checks += [known.check(SymBool(known, (operator.eq, (a, a.at(None))))) for a in unknown]

    def note_shapes(self) -> None:
        """Note the sizes that differ, as texts."""
        for node in self.tried:
            sizes = self.sizes_of(node)
            node.meta["symbolic_shape"] = tuple([s if type(s) is int else str(s) for s in sizes])

    def at(self, tree: Any, k: int | None) -> Any:
        """Arguments for the ``k``-th other numbers; None: for the example's, without data."""

        def one(n: Node) -> Any:
            number = _number(n)
            if n not in self.tried:
                return n.meta["val"] if number is None else number.at(k)
            return without_data(n.meta["val"]) if k is None else self.tried[n][k]

        return map_arg(tree, one)


class _Call(NamedTuple):
    """An operator that ran with numbers that are not known: nodes in place of tensors."""

    op: Any
    args: Any
    kwargs: Any
    nodes: list[Node]

    def run(self, unbacked: Unbacked, k: int | None) -> Any:
        """The results for the ``k``-th other numbers."""
        args, kwargs = unbacked.at(self.args, k), unbacked.at(self.kwargs, k)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": "meta"}
        try:
            return self.op(*args, **kwargs)
        except Exception:
            count = sum(t.numel() for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor))
            if k is None or count > _FILLED:
                raise
            result = self.op(*_filled(args), **_filled(kwargs))  # it may need data
            return pytree.tree_map_only(Tensor, without_data, result)


def _first(t: Any) -> Any:
    return t


def _shape(t: Tensor) -> tuple[int, ...]:
    """The sizes, which no mode is asked for."""
    return t._payload.shape  # type: ignore[no-any-return]


def _number(node: Node) -> Number | None:
    value = node.meta.get("val")
    return value if isinstance(value, Number) else None


def _filled(tree: Any) -> Any:
    return map_aggregate(tree, lambda t: torch.zeros(t.shape, dtype=t.dtype) if isinstance(t, Tensor) else t)


def _counts(node: Node, name: str) -> bool:
    """Whether a call counts; the program may have said how many there are."""
    if name == "repeat_interleave":
        return "Tensor" in str(node.target) and node.kwargs.get("output_size") is None
    return name != "one_hot" or (*node.args, -1)[1] == -1


class Counted:
    """An operator whose results have as many rows as it counts.

    Args:
        places: the results that do; none: all.
        dim: which of their sizes, or the argument that tells.
    """

    def __init__(self, unbacked: Unbacked, node: Node, nodes: list[Node], places: tuple[int, ...], dim: Any) -> None:
        self.nodes, self.of, self.source = nodes, node, node.args[0]
        if not isinstance(dim, int):
            dim = node.kwargs.get("dim", next((a for a in node.args[1:] if type(a) is int), None))
        first = nodes[0].meta["val"]
        self.dim = (dim or 0) % max(first.dim(), 1)
        hint = first.shape[self.dim]
        shapes = [n.meta["val"].shape for n in nodes]
        self.places = [
            i for i in places or range(len(nodes)) if i < len(nodes) and (i == 0 or shapes[i][:1] == (hint,))
        ]
        upper = math.inf if str(node.target).split(".")[1] in _UNBOUNDED else unbacked.most(self.source)  # type: ignore[arg-type]
        self.symbol = unbacked.symbol(nodes[0], self.dim, hint, 0, upper)

    def run(self, unbacked: Unbacked, k: int) -> Any:
        """The results for the ``k``-th other numbers."""
        count, source, made = unbacked.known.value(self.symbol, k), unbacked.at(self.source, k), []
        before = self.source.meta["val"].shape  # type: ignore[union-attr]
        for i, node in enumerate(self.nodes):
            val = node.meta["val"]
            shape = list(val.shape)
            if len(shape) == len(before):  # other sizes are the input's
                shape = [s if a == b else a for a, b, s in zip(shape, before, source.shape, strict=True)]
            if i in self.places:
                shape[self.dim if i == 0 or len(self.places) == len(self.nodes) else 0] = count
            made.append(torch.empty(shape, dtype=val.dtype, device="meta"))
        return made


class _Masked:
    """``x[mask]``: an index of truth values counts its true ones."""

    def __init__(self, unbacked: Unbacked, node: Node, nodes: list[Node]) -> None:
        self.args, self.nodes = node.args, nodes
        indices: Any = node.args[1]
        given = [i for i, index in enumerate(indices) if index is not None]
        adjacent = given == list(range(given[0], given[-1] + 1))
        place = given[0] if adjacent else 0
        mask = next(n for n in indices if n is not None and _is_mask(n))
        self.symbol = unbacked.symbol(nodes[0], place, nodes[0].meta["val"].shape[place], 0, unbacked.most(mask))

    def run(self, unbacked: Unbacked, k: int) -> Any:
        """The result for the ``k``-th other numbers."""
        x, indices = unbacked.at(self.args, k)
        count = unbacked.known.value(self.symbol, k)
        made: list[Any] = []
        for index, node in zip(indices, self.args[1], strict=True):  # type: ignore[arg-type]
            if node is not None and _is_mask(node):
                if index.shape != x.shape[len(made) : len(made) + index.dim()]:
                    raise IndexError("The shape of the mask does not match the shape of the indexed tensor")
                made += [torch.empty(count, dtype=torch.int64, device="meta")] * index.dim()
            else:
                made.append(slice(None) if index is None else index)
        return x[tuple(made)]


def _is_mask(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.dtype in (torch.bool, torch.uint8)

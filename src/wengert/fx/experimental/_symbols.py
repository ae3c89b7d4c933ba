"""Numbers of a program that is traced: ``u0``, taken out of a tensor, sizes, and what is computed of them.

A ``Number`` is no ``int``: what would need its value (a branch, ``range``, an index of a list) is an error, in place of
a constant of the example. Sums and products of integers are kept as polynomials, which tell whether a comparison holds
for every value.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import wengert as torch

from ..._base.errors import noted
from ..node import Node

Term = tuple[str, ...]


class Poly(dict[Term, int]):
    """A sum of products of symbols, with whole coefficients: ``{("u0",): 2, (): 1}``."""

    @classmethod
    def of(cls, terms: Any) -> Poly:
        """The sum of pairs of a product and a coefficient."""
        made = cls()
        for term, c in terms:
            made[term] = made.get(term, 0) + c
        return cls({term: c for term, c in made.items() if c})

    def plus(self, other: Poly, factor: int = 1) -> Poly:
        """``self + factor * other``."""
        return Poly.of([*self.items(), *[(term, c * factor) for term, c in other.items()]])

    def times(self, other: Poly) -> Poly:
        """The product."""
        return Poly.of([(tuple(sorted(a + b)), c * d) for a, c in self.items() for b, d in other.items()])

    def constant(self) -> int | None:
        """The number that it is, or None."""
        return self.get((), 0) if all(not term for term in self) else None

    def ordered(self) -> list[tuple[Term, int]]:
        """The products, those of most symbols first."""
        return sorted(self.items(), key=lambda pair: (-len(pair[0]), [(len(s), s) for s in pair[0]]))

    def __str__(self) -> str:
        parts = ["*".join([*([str(c)] if c != 1 or not term else []), *term]) for term, c in self.ordered()]
        return " + ".join(parts).replace("+ -", "- ").replace("-1*", "-") or "0"


class SizeName(str):
    """The name of a size that may differ.

    Attributes:
        shown: what the program calls it: a ``Dim``'s name, or the place of the size.
    """

    shown: str
    __slots__ = ("shown",)

    def __repr__(self) -> str:
        return str(self)


def size_name(source: str, ids: set[int]) -> SizeName:
    """PyTorch's name of the size of a place: a number made from the place's text; ``ids``: those that are taken."""
    number = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 100
    while number in ids:
        number += 1
    ids.add(number)
    name = SizeName(f"s{number}")
    name.shown = source
    return name


class Symbol:
    """One unknown number.

    Attributes:
        node: the node that gives it: a tensor's, of whose size ``dim`` it is, or that of ``item()``.
        lower, upper: its bounds.
        hint: the example's.
        others: numbers that it may be too, with which sizes are tried.
        backed: whether comparisons may depend on the example's.
    """

    def __init__(self, name: str, node: Node, dim: int | None, hint: Any, lower: float, upper: float) -> None:
        self.name, self.node, self.dim, self.hint = name, node, dim, hint
        self.lower, self.upper, self.size_like = lower, upper, dim is not None
        self.backed = False
        self.others: list[Any] = []


class Check(NamedTuple):
    """What is asserted when a program runs: a comparison's function, its sides, and its text."""

    function: Callable[..., Any]
    sides: list[Any]
    text: str
    names: set[str]


class SymNode(NamedTuple):
    """What programs ask of a number: its expression, the example's value, and what is known of sizes."""

    expr: str
    hint: Any
    shape_env: Any


class Number:
    """A number that is known when the program runs.

    Attributes:
        written: its node, once it has one.
        made: a ``Symbol``; a size, as its tensor's node and dim; or a function and its arguments.
    """

    symbolic = "int"  # what operators take it as

    def __init__(self, known: Any, made: Any) -> None:
        self.known, self.made = known, made
        self.written: Node | None = None

    def at(self, k: int | None) -> Any:
        """The number in the example (None), or for the ``k``-th other numbers of the symbols."""
        return self.known.value(self.made, k)

    @property
    def node(self) -> SymNode:
        """What PyTorch keeps of a number."""
        return SymNode(str(self), self.at(None), getattr(self.known, "env", None))

    def sym_computed(self, function: Callable[..., Any], args: Any) -> Any:
        """The result of a function of this number and others."""
        if function is torch.sym_float and isinstance(self, SymFloat):
            return self
        return self.known.computed(function, args)

    def __index__(self) -> int:
        return int(self.known.constant_of(self, "Could not extract specialized integer from data-dependent expression"))

    def __float__(self) -> float:
        return float(self.known.constant_of(self, "Could not guard on data-dependent expression"))

    def __int__(self) -> int:
        return self.__index__()

    def __bool__(self) -> bool:
        return bool(self.known.decided(self if self.symbolic == "bool" else operator.ne(self, 0)))

    def __str__(self) -> str:
        return str(self.known.text(self))

    __repr__ = __str__
    __hash__ = object.__hash__

    def __round__(self, ndigits: int | None = None) -> Any:
        return self.sym_computed(round, (self, ndigits))


class SymInt(Number, torch.SymInt):  # type: ignore[misc]
    """An integer."""


class SymFloat(Number, torch.SymFloat):  # type: ignore[misc]
    """A float."""

    symbolic = "float"

    def __int__(self) -> int:
        start = "Could not extract specialized integer from data-dependent expression"
        return int(self.known.constant_of(self, start, "TruncToInt"))


class SymBool(Number, torch.SymBool):  # type: ignore[misc]
    """A truth value."""

    symbolic = "bool"


_KINDS: dict[type, type[Number]] = {bool: SymBool, int: SymInt, float: SymFloat}
_ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow", "and", "or")
_RELATIONS = {"eq": "Eq({}, {})", "ne": "Ne({}, {})", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}",
              "ge": "{} >= {}"}  # fmt: skip
_TEXTS = {
    "floordiv": "({}//{})", "mod": "Mod({}, {})", "truediv": "IntTrueDiv({}, {})", "pow": "{}**{}", "and_": "{} & {}",
    "or_": "{} | {}", "sym_max": "Max({1}, {0})", "sym_min": "Min({1}, {0})", "sym_not": "~{}", "neg": "-{}",
    "abs": "Abs({})", "round": "round({})", "add": "{} + {}", "sub": "{} - {}", "mul": "{1}*{0}",
    "sym_ite": "ite({}, {}, {})",
    "sym_float": "ToFloat({})", "sym_int": "TruncToInt({})",
} | _RELATIONS  # fmt: skip
_GE_ZERO = {"ge": (1, 0), "gt": (1, -1), "le": (-1, 0), "lt": (-1, -1)}  # as a - b >= 0: its factor, and what is added


def _method(function: Callable[..., Any], swapped: bool) -> Any:
    def method(self: Number, *other: Any) -> Any:
        if any(not isinstance(x, (int, float, Number)) for x in other):
            return NotImplemented
        args = (*other, self) if swapped else (self, *other)
        if any(isinstance(a, (float, SymFloat)) for a in args):
            args = tuple([torch.sym_float(a) for a in args])
        return self.sym_computed(function, args)

    return method


for _name in _ARITHMETIC:
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Number, f"__{_name}__", _method(_function, False))
    setattr(Number, f"__r{_name}__", _method(_function, True))
for _name in (*_RELATIONS, "neg", "abs"):
    setattr(Number, f"__{_name}__", _method(getattr(operator, _name), False))


class Known:
    """The numbers of one program, and what is known of them."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.symbols: dict[str, Symbol] = {}
        self.replaced: dict[str, Poly] = {}  # symbols that are computed of others
        self.facts: dict[str, Poly | None] = {}  # by their texts; polynomials that are not negative
        self.checks: list[Check] = []  # what is asserted when the program runs
        self.changed: Callable[[], None] = lambda: None  # called when other numbers have to be tried
        self.written: dict[str, Node] = {}  # sizes, by their texts
        self.computed_numbers: list[Number] = []  # those that are written

    # ---- values
    def number(self, made: Any) -> Any:
        """The number of a symbol, a size or a call."""
        value = self.value(made, None)
        return _KINDS[type(value)](self, made) if type(value) in _KINDS else value

    def value(self, made: Any, k: int | None) -> Any:
        """A number in the example, or with the ``k``-th other numbers."""
        if isinstance(made, Symbol):
            known = self.replaced.get(made.name)
            if known is not None and k is not None:
                return sum(c * math.prod(self.value(self.symbols[s], k) for s in term) for term, c in known.items())
            return made.hint if k is None else made.others[k]
        if isinstance(made[0], Node):
            node, dim = made
            return self.tracer.size_of(node, dim, k)
        function, args = made
        return function(*[a.at(k) if isinstance(a, Number) else a for a in args])

    def computed(self, function: Callable[..., Any], args: Any) -> Any:
        """The result of a function, a number where it is not known."""
        result = self.number((function, args))
        poly = self.poly(result) if isinstance(result, SymInt) else None
        return result if poly is None or poly.constant() is None else poly.constant()

    def poly(self, value: Any) -> Any:
        """An integer as a polynomial; None: it is none."""
        if type(value) in (int, bool):
            return Poly.of([((), int(value))])
        if not isinstance(value, SymInt):
            return None
        made = value.made
        if isinstance(made, Symbol):
            return self.resolved(Poly({(made.name,): 1}))
        if isinstance(made[0], Node):
            found = self.tracer.poly_of(*made)
            return None if found is None else self.resolved(found)
        name, parts = made[0].__name__, [self.poly(a) for a in made[1]]
        if any(p is None for p in parts):
            return None
        if name in ("add", "sub"):
            return parts[0].plus(parts[1], 1 if name == "add" else -1)
        if name in ("mul", "neg"):
            return parts[0].times(parts[1] if name == "mul" else Poly({(): -1}))
        if name in _TEXTS:
            return Poly({(self._texted(name, parts),): 1})
        return None

    def resolved(self, poly: Poly) -> Poly:
        """A polynomial without symbols that are computed of others, or are known."""
        made = Poly()
        for term, c in poly.items():
            product = Poly({(): c})
            for s in term:
                symbol, known = self.symbols.get(s), self.replaced.get(s)
                if symbol is not None and symbol.lower == symbol.upper:
                    known = Poly.of([((), int(symbol.lower))])
                product = product.times(Poly({(s,): 1}) if known is None else self.resolved(known))
            made = made.plus(product)
        return made

    # ---- texts
    def text(self, value: Any) -> str:
        """``2*u0 + 1``."""
        if not isinstance(value, Number):
            return str(value)
        poly = self.poly(value)
        if poly is not None:
            return str(poly)
        if isinstance(value.made, Symbol):
            return value.made.name if value.symbolic != "bool" else f"Eq({value.made.name}, 1)"
        return self._texted(value.made[0].__name__, value.made[1])

    def _texted(self, name: str, args: Any) -> str:
        texts = [self.text(a) if isinstance(a, Number) else str(a) for a in args]
        return _TEXTS.get(name, f"{name}({', '.join(texts)})").format(*texts)

    def names_in(self, value: Any) -> set[str]:
        """The symbols that a number is computed of."""
        if not isinstance(value, Number):
            return set()
        if isinstance(value.made, Symbol):
            return {value.made.name}
        if isinstance(value.made[0], Node):
            return {s for term in self.poly(value) or () for s in term if s in self.symbols}
        return {s for a in value.made[1] for s in self.names_in(a)}

    def unknown(self, start: str, value: Number, around: str = "") -> Exception:
        """The error of a program that needs a number."""
        from .symbolic_shapes import GuardOnDataDependentSymNode

        text = f"{around}({value})" if around else str(value)
        sizes = [s for s in sorted(self.names_in(value)) if self.symbols[s].size_like]
        return noted(
            GuardOnDataDependentSymNode(
                f"{start} {text} (unhinted: {text}).  (Size-like symbols: {', '.join(sizes) or 'none'})"
            ),
            "Why: the number depends on the inputs' values; the graph would hold the example's.",
            "What to do: compute it with operators, as torch.where(condition, a, b) in place of a branch, or say what "
            "holds with torch._check(...).",
        )

    # ---- what holds
    def bounds(self, poly: Poly) -> tuple[float, float]:
        """The least and the greatest value of a polynomial."""
        low = high = 0.0
        for term, c in poly.items():
            ends = [(1.0, 1.0)] + [self._bounds_of(s) for s in term]
            least, most = 1.0, 1.0
            for a, b in ends:
                corners = [0.0 if 0 in (x, y) else x * y for x in (least, most) for y in (a, b)]
                least, most = min(corners), max(corners)
            low, high = low + min(c * least, c * most), high + max(c * least, c * most)
        return low, high

    def _bounds_of(self, name: str) -> tuple[float, float]:
        symbol = self.symbols.get(name)
        if symbol is not None:
            return symbol.lower, symbol.upper
        return (0, math.inf) if name.startswith("Mod(") else (-math.inf, math.inf)

    def not_negative(self, poly: Poly) -> bool:
        """Whether a polynomial is 0 or more for every value."""
        rests = [self.resolved(poly.plus(fact, -1)) for fact in self.facts.values() if fact is not None]
        return any(self.bounds(p)[0] >= 0 for p in (self.resolved(poly), *rests))

    def difference(self, value: Number) -> tuple[str, Poly] | None:
        """A comparison of integers as its name and the difference of its sides."""
        if isinstance(value.made, Symbol) or isinstance(value.made[0], Node):
            return None
        name = value.made[0].__name__
        sides = [self.poly(a) for a in value.made[1]]
        if name not in _RELATIONS or sides[0] is None or sides[1] is None:
            return None
        return name, sides[0].plus(sides[1], -1)

    def truth(self, value: Number) -> bool | None:
        """Whether a comparison holds for every value (True) or for none; None: for some."""
        if str(value) in self.facts:
            return True
        found = self.difference(value)
        if found is None:
            return None
        name, poly = found
        if name in _GE_ZERO:
            sign, rest = _GE_ZERO[name]
            signed = poly.times(Poly({(): sign}))
            if self.not_negative(signed.plus(Poly({(): 1}), rest)):
                return True
            return False if self.not_negative(poly.times(Poly({(): -sign})).plus(Poly({(): 1}), -rest - 1)) else None
        negative = poly.times(Poly({(): -1}))
        equal = None
        if self.not_negative(poly) and self.not_negative(negative):
            equal = True
        elif f"Ne({', '.join(map(self.text, value.made[1]))})" in self.facts or any(
            self.not_negative(p.plus(Poly({(): 1}), -1)) for p in (poly, negative)
        ):
            equal = False
        return equal if equal is None or name == "eq" else not equal

    def decided(self, value: Number) -> bool:
        """The truth of a comparison.

        Raises:
            GuardOnDataDependentSymNode: it depends on the inputs' values.
        """
        known = self.truth(value)
        if known is None:
            raise self.unknown("Could not guard on data-dependent expression", value)
        self.node_of(value)
        return known

    def constant_of(self, value: Number, start: str, around: str = "") -> Any:
        """The number that Python needs.

        Raises:
            GuardOnDataDependentSymNode: it depends on the inputs' values.
        """
        raise self.unknown(start, value, around)

    def expect(self, value: Number) -> None:
        """A comparison holds, which is asserted when the program runs."""
        self.node_of(value)
        if self.truth(value) is True:
            return
        text, check, found = str(value), self.check(value), self.difference(value)
        bounded = found is not None and found[0] in ("ge", "le") and self._narrow(found[1], found[0])
        if not bounded:
            self.checks.append(check)
        self.facts[text] = None
        if found is None:
            return
        name, poly = found
        if name in _GE_ZERO:
            self.facts[text] = self.not_less_than_zero(poly, name)
            self._narrow(poly, name)
        elif name == "eq":
            self.unite(poly)

    def check(self, value: Number) -> Check:
        """What is known now of a comparison that will be asserted; PyTorch writes the lesser side first."""
        if isinstance(value.made, Symbol):
            return Check(operator.eq, [value, True], str(value), self.names_in(value))
        function, args = value.made
        sides = []
        for a in args:
            poly = self.poly(a)
            known = poly is not None and all(s in self.symbols for term in poly for s in term)
            sides.append(poly if known and isinstance(a, Number) else a)
        if function is operator.gt:
            return Check(function, sides, f"{self.text(args[1])} < {self.text(args[0])}", self.names_in(value))
        return Check(function, sides, str(value), self.names_in(value))

    @staticmethod
    def not_less_than_zero(poly: Poly, name: str) -> Poly:
        """What is not negative, if a polynomial compares so with 0."""
        sign, rest = _GE_ZERO[name]
        return poly.times(Poly({(): sign})).plus(Poly({(): 1}), rest)

    def _narrow(self, poly: Poly, name: str) -> bool:
        """Take a comparison with 0 into the bounds of a symbol; False: it is none of one symbol."""
        poly = self.not_less_than_zero(poly, name)
        terms = [term for term in poly if term]
        if len(terms) != 1 or len(terms[0]) != 1 or terms[0][0] not in self.symbols:
            return False
        symbol, c, limit = self.symbols[terms[0][0]], poly[terms[0]], -poly.get((), 0)
        if c > 0:
            symbol.lower = max(symbol.lower, -(-limit // c))
        else:
            symbol.upper = min(symbol.upper, limit // c)
        self.changed()
        return True

    def unite(self, poly: Poly) -> bool:
        """A polynomial is 0: one of its symbols is computed of the others; False: none can be."""
        own = [term[0] for term, c in poly.items() if len(term) == 1 and abs(c) == 1 and term[0] in self.symbols]
        if not own or any(s not in self.symbols for term in poly for s in term):
            return False
        name = max(own, key=lambda s: self._rank(s, poly))
        rest = Poly({term: c for term, c in poly.items() if term != (name,)})
        value = rest.times(Poly({(): -poly[(name,)]}))
        constant = value.constant()
        if constant is not None:
            symbol = self.symbols[name]
            symbol.lower, symbol.upper = max(symbol.lower, constant), min(symbol.upper, constant)
        else:
            self.replaced[name] = value
        self.changed()
        return True

    def _rank(self, name: str, poly: Poly) -> Any:
        """How well a symbol can be computed of the others in a sum that is 0: best as a sum of sizes."""
        if not self.symbols[name].backed:
            return True, False, int(name.lstrip("zuf"))
        is_sum = all(c * poly[(name,)] < 0 for term, c in poly.items() if term != (name,))
        return False, is_sum, int(name.lstrip("us"))

    # ---- nodes
    def node_of(self, value: Any) -> Any:
        """The node of a number; the number itself if it is known."""
        if not isinstance(value, Number):
            return value
        poly = self.poly(value)
        if poly is not None and poly.constant() is not None:
            return poly.constant()
        if value.written is None:
            value.written = self._written(value)
            value.written.meta |= {"symbol": str(value), "val": value, "hint": value.at(None)}
            if value.symbolic == "int" and not isinstance(value.made, Symbol):
                self.computed_numbers.append(value)
        return value.written

    def _written(self, value: Number) -> Node:
        if isinstance(value.made, Symbol) and value.made.dim is None:
            return value.made.node
        create = self.tracer.create_node
        if isinstance(value.made, Symbol) or isinstance(value.made[0], Node):
            node, dim = (value.made.node, value.made.dim) if isinstance(value.made, Symbol) else value.made
            return self.written_size(node, dim, str(value))
        function, args = value.made
        return create("call_function", function, tuple([self.node_of(a) for a in args]), {})  # type: ignore[no-any-return]

    def written_size(self, node: Node, dim: Any, text: str) -> Node:
        """The node of a tensor's size, one for each text."""
        if text not in self.written:
            self.written[text] = self.tracer.create_node(
                "call_function", torch.ops.aten.sym_size.int, (node, dim), {}, name="sym_size_int"
            )
        return self.written[text]


def hint_of(n: Any) -> Any:
    """The example's value of a number; anything else as it is."""
    return n.at(None) if isinstance(n, Number) else n


def numbers_in(tree: Any) -> Iterator[Number]:
    """The numbers in arguments."""
    if isinstance(tree, Number):
        yield tree
    elif isinstance(tree, dict):
        for v in tree.values():
            yield from numbers_in(v)
    elif isinstance(tree, (list, tuple)):
        for v in tree:
            yield from numbers_in(v)
    elif isinstance(tree, slice):
        yield from numbers_in((tree.start, tree.stop, tree.step))

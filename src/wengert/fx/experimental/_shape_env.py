"""``ShapeEnv``: the symbols of a graph whose sizes may differ, and what was compared of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from ._symbols import Number, SizeName, Symbol, hint_of

__all__ = ["ConstantSource", "LocalSource", "ShapeEnv"]


_PYTHONS = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}",
    "floordiv": "({} // {})", "mod": "({} % {})",
}  # fmt: skip


class LocalSource(NamedTuple):
    """An input that is a variable of a function.

    >>> LocalSource("x").name
    "L['x']"
    """

    local_name: str
    is_input: bool = False

    @property
    def name(self) -> str:
        """How guards call it."""
        return f"L[{self.local_name!r}]"


class ConstantSource(NamedTuple):
    """An input that has no place.

    >>> ConstantSource("input0").name
    'input0'
    """

    source_name: str

    @property
    def name(self) -> str:
        """How guards call it."""
        return self.source_name


class ShapeEnv:
    """The symbols of one graph of ``make_fx(tracing_mode="symbolic")``: its ``shape_env``.

    Attributes:
        guards: the comparisons that held for the examples.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.proxy_tensor import make_fx
    >>> gm = make_fx(lambda x: x.cos() if x.size(0) < 20 else x, tracing_mode="symbolic")(torch.ones(3))
    >>> gm.shape_env.produce_guards([x.meta["val"] for x in gm.graph.find_nodes(op="placeholder")], ["x"])
    ["2 <= L['x'].size()[0] and L['x'].size()[0] <= 19"]
    """

    def __init__(self, known: Any = None) -> None:
        self.known = known
        self.guards: list[Any] = []
        self.inputs: list[Any] = []  # numbers; of tensors the sizes, strides and offset

    @property
    def backed_var_to_val(self) -> dict[SizeName, int]:
        """The symbols and the examples' sizes."""
        symbols = {} if self.known is None else self.known.symbols
        return {SizeName(name): s.hint for name, s in symbols.items() if s.backed and name[0] == "s"}

    var_to_val = backed_var_to_val

    @property
    def replacements(self) -> dict[SizeName, Any]:
        """The symbols that are computed of others, or are known."""
        if self.known is None:
            return {}
        fixed = {name: s.lower for name, s in self.known.symbols.items() if s.lower == s.upper}
        return {SizeName(name): value for name, value in {**fixed, **self.known.replaced}.items()}

    def get_nontrivial_guards(self) -> list[Any]:
        """The comparisons that do not hold for all sizes within their bounds."""
        return [g for g in self.guards if self.known.holds_within_bounds(g) is None]

    def format_guards(self, verbose: bool = False) -> str:
        """The comparisons, a line for each."""
        return "\n".join(f" - {guard}" for guard in self.guards)

    def _places(self, names: Any) -> Iterator[tuple[str, Any, Any]]:
        """Each number of the inputs: its text, how it is found in an input, and the number."""
        for i, (given, name) in enumerate(zip(self.inputs, names, strict=False)):
            source = f"L[{name!r}]" if isinstance(name, str) else name.name
            if not isinstance(given, tuple):
                if given is not None:
                    yield source, lambda args, i=i: args[i], given
                continue
            shape, strides, offset = given
            for d, n in enumerate(shape):
                yield f"{source}.size()[{d}]", lambda args, i=i, d=d: args[i].size(d), n
            for d, stride in enumerate(strides):
                dense = math.prod(map(hint_of, shape[d + 1 :]))
                number = math.prod(shape[d + 1 :]) if stride == dense else stride
                yield f"{source}.stride()[{d}]", lambda args, i=i, d=d: args[i].stride(d), number
            yield f"{source}.storage_offset()", lambda args, i=i: args[i].storage_offset(), offset

    def _own_symbol(self, number: Any) -> str | None:
        """The name of the symbol that a number is."""
        text = str(number)
        return text if isinstance(number, Number) and text in self.known.symbols else None

    def produce_guards(
        self, placeholders: Any, sources: Any, *_: Any, _simplified: bool = False, ignore_static: bool = True, **__: Any
    ) -> list[str]:
        """What inputs have to fulfil, as texts in which ``sources`` are their names."""
        first: dict[str, str] = {}
        made: list[str] = []
        for text, _find, number in self._places(sources):
            if (name := self._own_symbol(number)) is not None:
                first.setdefault(name, text)
        for text, _find, number in () if _simplified else self._places(sources):
            name = self._own_symbol(number)
            if not (name is not None and first[name] == text) and (
                not ignore_static or not str(number).lstrip("-").isdigit()
            ):
                made.append(f"{text} == {self._in_sources(number, first)}")
        made += list(dict.fromkeys(self._in_sources(guard, first) for guard in self.get_nontrivial_guards()))
        for name, source in first.items():
            symbol: Symbol = self.known.symbols[name]
            parts = [f"{symbol.lower} <= {source}"] * (symbol.lower > (2 if _simplified else -math.inf))
            parts += [f"{source} <= {symbol.upper}"] * (symbol.upper < math.inf)
            made += [" and ".join(parts)] * bool(parts)
        return made

    def _in_sources(self, value: Any, first: dict[str, str]) -> str:
        made = getattr(value, "made", None)
        template = _PYTHONS.get(made[0].__name__) if isinstance(made, tuple) and callable(made[0]) else None
        if template is None:
            return re.sub(r"\bs\d+\b", lambda found: first.get(found[0], found[0]), str(value))
        parts = [self._in_sources(arg, first) for arg in made[1]]  # type: ignore[index]
        if template[0] == "(":
            parts = [f"({part})" if " " in part or "*" in part else part for part in parts]
        return template.format(*parts)

    def bind_symbols(self, placeholders: Any, args: Any) -> dict[SizeName, int]:
        """The numbers that these inputs give the symbols."""
        found: dict[SizeName, int] = {}
        for _text, find, number in self._places(["" for _ in args]):
            name = self._own_symbol(number)
            if name is not None and found.setdefault(SizeName(name), find(args)) != find(args):
                raise AssertionError(f"{found[SizeName(name)]} != {find(args)}")
        return found

    def evaluate_guards_for_args(self, placeholders: Any, args: Any, *, ignore_static: bool = True) -> bool:
        """Whether the graph is one for these inputs."""
        try:
            found = self.bind_symbols(placeholders, args)
        except AssertionError:  # sizes that are one symbol differ
            return False
        symbols = self.known.symbols
        if any(not symbols[name].lower <= n <= symbols[name].upper for name, n in found.items()):
            return False
        for _text, find, number in self._places(["" for _ in args]):
            if isinstance(number, Number) and self.known.with_sizes(number, found) != find(args):
                return False
        for guard in self.guards:
            with suppress(KeyError):  # of a size that no input has
                if not self.known.with_sizes(guard, found):
                    return False
        return True

"""``Dim``: sizes that may differ from the example's; and which sizes of which inputs ``dynamic_shapes`` means."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import wengert as torch

from .._base.errors import noted
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.experimental._symbols import size_name
from ..utils import _pytree as pytree

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims"]


class DimHint:
    """A size without a name: ``Dim.AUTO``, ``Dim.DYNAMIC``, ``Dim.STATIC``, and ``Dim.AUTO(min=2, max=8)``."""

    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.kind, self.min, self.max = kind, min, max

    def __call__(self, min: int | None = None, max: int | None = None) -> DimHint:
        if self.kind == "STATIC":
            raise TypeError("'DimHint' object is not callable")
        return DimHint(self.kind, min, max)

    def __repr__(self) -> str:
        bounds = [f"{k}={v}" for k, v in (("min", self.min), ("max", self.max)) if v is not None]
        return f"DimHint({', '.join([self.kind, *bounds])})"


class Dim:
    """A size with a name, the same wherever it is given.

    ``Dim.AUTO`` and ``Dim.DYNAMIC`` are sizes without a name; ``Dim.STATIC`` and None leave a size as it is.

    >>> import wengert as torch
    >>> batch = torch.export.Dim("batch", min=1, max=64)
    >>> batch, batch.min, batch.max
    (Dim('batch', min=1, max=64), 1, 64)
    >>> batch, 2 * batch + 1
    (Dim('batch', min=1, max=64), 2*batch + 1)
    """

    AUTO, STATIC, DYNAMIC = DimHint("AUTO"), DimHint("STATIC"), DimHint("DYNAMIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min, self.max = 0 if min is None else min, max
        if self.max is not None and self.max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name

    def __repr__(self) -> str:
        bounds = [
            f"{k}={v}" for k, v in (("min", self.min), ("max", self.max)) if v is not None and (k, v) != ("min", 2)
        ]
        return f"Dim({', '.join([repr(self.__name__), *bounds])})"

    def _line(self) -> tuple[Dim, int, int]:
        """The size without ``scale`` and ``shift`` that this one is made of, and these."""
        return self, 1, 0

    def _derived(self, what: str, number: Any, scale: int, shift: int) -> Dim:
        if type(number) is not int or scale < 1:
            asked = "a positive integer" if "multiply" in what else "an integer"
            raise NotImplementedError(
                f"Attempted to {what.format(number, self.__name__)}, where {asked} was expected. {_INCREASING}"
            )
        root, before, start = self._line()
        return _DerivedDim(root, before * scale, start * scale + shift)

    def __add__(self, other: Any) -> Dim:
        return self._derived("add {} to {}", other, 1, other)

    def __sub__(self, other: Any) -> Dim:
        return self._derived("subtract {} from {}", other, 1, -other if type(other) is int else 0)

    def __rsub__(self, other: Any) -> Dim:
        raise NotImplementedError(f"Attempted to negate {self.__name__}. {_INCREASING}")

    def __mul__(self, other: Any) -> Dim:
        return self._derived("multiply {} with {}", other, other if type(other) is int else 1, 0)

    __radd__, __rmul__ = __add__, __mul__


_INCREASING = "(Only increasing linear operations with integer coefficients are supported.)"


class _DerivedDim(Dim):
    """A size computed of another: ``2 * Dim("n") + 1``."""

    def __init__(self, root: Dim, scale: int, shift: int) -> None:
        self.root, self.scale, self.shift = root, scale, shift
        self.__name__ = linear(root.__name__, scale, shift)

    @property
    def min(self) -> int:  # type: ignore[override]
        """The least size."""
        least = self.fn(self.root.min)
        if least < 0:
            name = self.root.__name__
            raise AssertionError(
                f"Expected derived min value of {self.__name__} to be >= 0. Please specify an appropriate min value "
                f"for {name} (currently {self.root.min})."
            )
        return least

    @property
    def max(self) -> int | None:  # type: ignore[override]
        """The largest size, if there is one."""
        return None if self.root.max is None else self.fn(self.root.max)

    def __repr__(self) -> str:
        return self.__name__

    def _line(self) -> tuple[Dim, int, int]:
        return self.root, self.scale, self.shift

    def fn(self, number: int) -> int:
        """The size for a number of the root."""
        return self.scale * number + self.shift


def linear(name: str, scale: int, shift: int) -> str:
    """A size as text: ``2*s77 - 1``."""
    rest = f" {'-' if shift < 0 else '+'} {abs(shift)}" if shift else ""
    return f"{f'{scale}*' if scale > 1 else ''}{name}{rest}"


def root_of(text: Symbol) -> tuple[Symbol, int, int]:
    """The symbol of a size, with the factor and the summand that make the size of it."""
    found = re.fullmatch(r"(?:(\d+)\*)?(s\d+)(?: ([+-]) (\d+))?", text)
    if found is None or found[0] == found[2]:
        return text, 1, 0
    scale, name, sign, shift = found.groups()
    symbol = Symbol(name)
    symbol.shown = name
    return symbol, int(scale or 1), int(f"{sign or ''}{shift or 0}")


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several ``Dim``.

    >>> import wengert as torch
    >>> torch.export.dims("b", "t")
    (Dim('b', min=0), Dim('t', min=0))
    """
    return tuple([Dim(name, min=min, max=max) for name in names])


@dataclasses.dataclass
class Constraint:
    """For annotations."""


class ShapesCollection(dict[int, Any]):
    """Specifications by tensor, in place of a structure like that of the arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def __setitem__(self, t: Any, shape: Any) -> None:
        self.kept.append(t)
        super().__setitem__(id(t), shape)

    def dynamic_shapes(self, m: Any, args: Any, kwargs: Any = None) -> Any:
        """The specifications as a structure like the arguments'."""
        names = named_arguments(m, args, kwargs or {})
        return pytree.tree_map(lambda t: self.get(id(t)), names)


class AdditionalInputs:
    """For annotations: ``dynamic_shapes`` names what may differ."""


class ValueRanges(NamedTuple):
    """The bounds of a number."""

    lower: float
    upper: float
    whole: bool = True

    def __repr__(self) -> str:
        infinite = "int_oo" if self.whole else "oo"
        texts = [f"{'-' * (v < 0)}{infinite}" if math.isinf(v) else str(v) for v in (self.lower, self.upper)]
        return f"VR[{', '.join(texts)}]"


class DynamicSize(NamedTuple):
    """One size of one input that may differ: its leaf, its place, and the number that it is made of."""

    leaf: int
    dim: int
    symbol: Symbol
    scale: int = 1
    shift: int = 0

    @property
    def text(self) -> Symbol:
        """``2*s77 + 1``."""
        if (self.scale, self.shift) == (1, 0):
            return self.symbol
        made = Symbol(linear(self.symbol, self.scale, self.shift))
        made.shown = linear(self.symbol.shown, self.scale, self.shift)
        return made

    def of(self, number: Any) -> Any:
        """The size where the symbol is this number."""
        return self.scale * number + self.shift


def named_arguments(mod: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by the parameters' names, in the order of the call."""
    signature = inspect.signature(mod.forward)
    signature.bind(*args, **kwargs)
    return {**signature.bind_partial(*args).arguments, **kwargs}


def dynamic_sizes(
    mod: Any, args: Any, kwargs: Any, leaves: list[Any], dynamic_shapes: Any
) -> tuple[list[DynamicSize], dict[Symbol, Dim | DimHint]]:
    """The sizes that ``dynamic_shapes`` means, and what it says of each.

    Raises:
        UserError: it does not fit the arguments.
    """
    if not dynamic_shapes:
        return [], {}
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    named = named_arguments(mod, args, kwargs)
    if isinstance(dynamic_shapes, dict):
        if unknown := [k for k in dynamic_shapes if k not in named]:
            raise _unfitting(f"has the names {unknown}, the inputs are {list(named)}")
        specs = [dynamic_shapes.get(name) for name in named]
    else:
        specs = list(dynamic_shapes)
        if len(specs) != len(named):
            raise _unfitting(f"has {len(specs)} items for {len(named)} inputs")
    found: list[DynamicSize] = []
    known: dict[Symbol, Dim | DimHint] = {}
    named_dims: dict[str, Symbol] = {}
    ids: set[int] = set()
    places = {id(leaf): i for i, leaf in enumerate(leaves)}
    asked = [
        (f"L{path}.size()[{dim}]", tensor, dim, size)
        for path, tensor, of_tensor in _pairs_of(named, specs)
        for dim, size in _sizes(of_tensor, tensor)
    ]
    symbols = {source: size_name(source, ids) for source, *_ in asked}
    for source, tensor, dim, size in sorted(asked, key=lambda place: isinstance(place[3], _DerivedDim)):
        symbol, (root, scale, shift) = symbols[source], size._line() if isinstance(size, Dim) else (size, 1, 0)
        if isinstance(size, Dim):
            symbol.shown = root.__name__
            first = named_dims.get(root.__name__)
            if first is not None and repr(known[first]) != repr(root):
                raise _unfitting(f"has two Dims of the name {root.__name__}")
            if first is not None and size is root and int(first[1:]) > int(symbol[1:]):  # PyTorch takes the lesser
                found = [other._replace(symbol=symbol) if other.symbol == first else other for other in found]
                del known[first]
            elif first is not None:
                symbol = first
            named_dims[root.__name__] = symbol
        known[symbol] = root
        found.append(DynamicSize(places[id(tensor)], dim, symbol, scale, shift))
    order = {(places[id(tensor)], dim): i for i, (_, tensor, dim, _) in enumerate(asked)}
    found.sort(key=lambda size: order[size.leaf, size.dim])
    _check_derived(found, [(source, tensor.shape[dim], size) for source, tensor, dim, size in asked])
    return found, known


def _check_derived(found: list[DynamicSize], asked: list[tuple[str, int, Any]]) -> None:
    """The examples' sizes are what derived sizes say of them."""
    plain = {s.symbol: value for s, (_, value, size) in zip(found, asked, strict=True) if s.text == s.symbol}
    derived = [(place, *rest) for place, rest in zip(found, asked, strict=True) if isinstance(rest[2], _DerivedDim)]
    for place, source, value, size in derived:
        root, number = size.root.__name__, plain.get(place.symbol)
        if number is None and (value - size.shift) % size.scale:
            text = f"shape[{place.dim}] = {value} of input Tensor to be of the form {size}, where {root} is an integer"
            raise _user_error("CONSTRAINT_VIOLATION", f"Expected {text}")
        number = plain.setdefault(place.symbol, (value - size.shift) // size.scale)
        if size.fn(number) != value or size.min > value:
            text = f"{source} to be equal to {size}, where {root} = {number}, but got {value}"
            raise _user_error("CONSTRAINT_VIOLATION", f"Expected input {text}")


def _pairs_of(named: dict[str, Any], specs: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    for (name, value), spec in zip(named.items(), specs, strict=True):
        yield from _pairs(f"[{name!r}]", value, spec)


def _pairs(path: str, value: Any, spec: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, torch.Tensor):
        yield path, value, spec
    elif isinstance(value, (list, tuple)) and spec is not None:
        for i, (v, s) in enumerate(zip(value, spec, strict=True)):
            yield from _pairs(f"{path}[{i}]", v, s)
    elif isinstance(value, dict) and spec is not None:
        for key, v in value.items():
            yield from _pairs(f"{path}[{key!r}]", v, spec.get(key))


def _sizes(spec: Any, tensor: Any) -> list[tuple[int, Any]]:
    if isinstance(spec, (Dim, DimHint)):
        raise _unfitting(f"has {spec!r} for a tensor of shape {list(tensor.shape)}")
    pairs = spec.items() if isinstance(spec, dict) else enumerate(spec or ())
    found = []
    for dim, size in pairs:
        if size is None or size is Dim.STATIC or isinstance(size, int):
            continue
        if isinstance(size, DimHint) and size.kind == "AUTO" and tensor.shape[dim] < 2:  # as PyTorch takes 0 and 1
            continue
        if not isinstance(size, (Dim, DimHint)) or not -tensor.ndim <= dim < tensor.ndim:
            raise _unfitting(f"has {size!r} for dim {dim} of a tensor of shape {list(tensor.shape)}")
        found.append((dim % tensor.ndim, size))
    return found


def _unfitting(what: str) -> Exception:
    return noted(
        _user_error(
            "INVALID_INPUT", f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: it {what}"
        ),
        "What to do: give a dict by the names of forward's parameters, or a tuple with one item for each.",
    )


def _user_error(kind: str, message: str) -> Exception:
    from .._dynamo.exc import UserError, UserErrorType

    return UserError(UserErrorType[kind], message)

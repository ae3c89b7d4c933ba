"""``Dim``: sizes that may differ from the example's; and which sizes of which inputs ``dynamic_shapes`` means."""

from __future__ import annotations

import dataclasses
import inspect
import math
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
        bounds = [f"{k}={v}" for k, v in (("min", self.min or None), ("max", self.max)) if v is not None]
        return f"Dim({', '.join([repr(self.__name__), *bounds])})"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several ``Dim``.

    >>> import wengert as torch
    >>> torch.export.dims("b", "t")
    (Dim('b'), Dim('t'))
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
    """One size of one input that may differ: its leaf, its place, and the name of the size."""

    leaf: int
    dim: int
    symbol: Symbol


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
    for path, tensor, of_tensor in _pairs_of(named, specs):
        for dim, size in _sizes(of_tensor, tensor):
            source = f"L{path}.size()[{dim}]"
            symbol = size_name(source, ids)
            if isinstance(size, Dim):
                symbol.shown = size.__name__
                first = named_dims.get(size.__name__)
                if first is not None and repr(known[first]) != repr(size):
                    raise _unfitting(f"has two Dims of the name {size.__name__}")
                if first is not None and int(first[1:]) > int(symbol[1:]):  # PyTorch takes the lesser of equal ones
                    found = [other._replace(symbol=symbol) if other.symbol == first else other for other in found]
                    del known[first]
                elif first is not None:
                    symbol = first
                named_dims[size.__name__] = symbol
            known[symbol] = size
            found.append(DynamicSize(places[id(tensor)], dim, symbol))
    return found, known


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
    from .._dynamo.exc import UserError, UserErrorType

    return noted(
        UserError(
            UserErrorType.INVALID_INPUT,
            f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: it {what}",
        ),
        "What to do: give a dict by the names of forward's parameters, or a tuple with one item for each.",
    )

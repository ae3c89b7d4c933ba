"""``Dim``: sizes that may differ from the example's; and which sizes of which inputs ``dynamic_shapes`` means."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

import wengert as torch

from .._base.errors import noted
from ..utils import _pytree as pytree

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims"]


class _Hint(Enum):
    AUTO = 1
    STATIC = 2
    DYNAMIC = 3

    def __repr__(self) -> str:
        return f"Dim.{self.name}"


class Dim:
    """A size with a name, the same wherever it is given.

    ``Dim.AUTO`` and ``Dim.DYNAMIC`` are sizes without a name; ``Dim.STATIC`` and None leave a size as it is.

    >>> import wengert as torch
    >>> batch = torch.export.Dim("batch", min=1, max=64)
    >>> batch, batch.min, batch.max
    (Dim('batch', min=1, max=64), 1, 64)
    """

    AUTO, STATIC, DYNAMIC = _Hint.AUTO, _Hint.STATIC, _Hint.DYNAMIC

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


class DynamicSize(NamedTuple):
    """One size of one input that may differ: its leaf, its place, the name of the size, and what was asked for."""

    leaf: int
    dim: int
    symbol: str
    asked: Any = None


def named_arguments(mod: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by the parameters' names, in the order of a call."""
    bound = inspect.signature(mod.forward).bind(*args, **kwargs)
    return dict(bound.arguments)


def dynamic_sizes(
    mod: Any, args: Any, kwargs: Any, leaves: list[Any], dynamic_shapes: Any
) -> tuple[list[DynamicSize], dict[str, Dim]]:
    """The sizes that ``dynamic_shapes`` means, and the named ones among them.

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
    known: dict[str, Dim] = {}
    places = {id(leaf): i for i, leaf in enumerate(leaves)}
    for value, spec in zip(named.values(), specs, strict=True):
        for tensor, of_tensor in _pairs(value, spec):
            for dim, size in _sizes(of_tensor, tensor):
                if isinstance(size, Dim):
                    if known.setdefault(size.__name__, size) is not size and repr(known[size.__name__]) != repr(size):
                        raise _unfitting(f"has two Dims of the name {size.__name__}")
                    symbol = size.__name__
                else:
                    symbol = f"s{len(found)}"
                found.append(DynamicSize(places[id(tensor)], dim, symbol, size))
    return found, known


def _pairs(value: Any, spec: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, torch.Tensor):
        yield value, spec
    elif isinstance(value, (list, tuple)) and spec is not None:
        for v, s in zip(value, spec, strict=True):
            yield from _pairs(v, s)
    elif isinstance(value, dict) and spec is not None:
        for key, v in value.items():
            yield from _pairs(v, spec.get(key))


def _sizes(spec: Any, tensor: Any) -> list[tuple[int, Any]]:
    pairs = spec.items() if isinstance(spec, dict) else enumerate(spec or ())
    found = []
    for dim, size in pairs:
        if size in (None, Dim.STATIC) or isinstance(size, int):
            continue
        if not isinstance(size, (Dim, _Hint)) or not -tensor.ndim <= dim < tensor.ndim:
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

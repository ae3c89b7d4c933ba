"""The arguments of PyTorch's operators: which overload a call belongs to, and how a graph shows its arguments.

``_aten_texts`` has their schemas; ``add_`` has the arguments of ``add``.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from typing import Any, NamedTuple

from .._base import constants
from .._base.constants import contiguous_format
from .._base.dtypes import dtype
from .._tape.tensor import Tensor
from ._aten_texts import OPTIONS, TEXT

# Operators that take a number where they have a tensor, as PyTorch's parser of arguments does.
_NUMBERS = frozenset(["add", "sub", "mul", "div", "multiply", "subtract", "divide", "true_divide", "floor_divide"])
_ALIASES = {"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x1": "self", "x2": "other"}


class Mismatch(Exception):
    """A call does not fit an overload."""


class Argument(NamedTuple):
    """One parameter of an overload."""

    name: str
    type: str
    default: Any
    required: bool
    keyword_only: bool

    def converted(self, value: Any, numbers: bool) -> Any:
        """A value as PyTorch hands it to the operator; ``Mismatch`` if it does not fit."""
        kind = self.type
        if kind.endswith("?"):
            if value is None:
                return None
            kind = kind[:-1]
        found = re.fullmatch(r"(.+?)\[(\d*)\]", kind)
        if found is None:
            return _scalar(value, kind, numbers)
        kind, count = found.groups()
        if isinstance(value, (list, tuple)):
            return [None if v is None and kind[-1] == "?" else _scalar(v, kind.rstrip("?"), False) for v in value]
        if count and kind != "T":
            return [_scalar(value, kind, False)] * int(count)
        if kind.startswith("T") and isinstance(value, Tensor) and self.name == "indices":
            return [value]
        raise Mismatch


def _scalar(value: Any, kind: str, numbers: bool) -> Any:
    symbolic = getattr(type(value), "symbolic", None)  # a number that is known when a graph runs
    if symbolic is not None:
        if kind in ("S", symbolic) or (kind == "float" and symbolic == "int") or (kind == "T" and numbers):
            return value
    elif kind == "T":
        if isinstance(value, Tensor) or (numbers and isinstance(value, (bool, int, float, complex))):
            return value
    elif kind == "S":
        if isinstance(value, (bool, int, float, complex)):
            return value
    elif kind == "int":
        if not isinstance(value, (bool, float, str, Tensor)) and hasattr(value, "__index__"):
            return operator.index(value)
    elif kind == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif kind == "Device":
        if isinstance(value, (str, constants.device)):
            return constants.device(value)
    elif isinstance(value, _TYPES[kind]):
        return value
    raise Mismatch


_TYPES: dict[str, Any] = {
    "bool": bool, "str": str, "dtype": dtype, "Layout": constants.layout, "Format": constants.memory_format,
    "Gen": object,
}  # fmt: skip


class Schema(NamedTuple):
    """One overload of an operator."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]

    def bound(self, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The value of each argument that is given; ``Mismatch`` if the call is not one of this overload."""
        placed = [a for a in self.arguments if not a.keyword_only]
        args = _gathered(args, placed)
        if len(args) > len(placed):
            raise Mismatch
        names = {a.name for a in self.arguments}
        given: dict[str, Any] = {a.name: value for a, value in zip(placed, args, strict=False)}
        for key, value in kwargs.items():
            name = key if key in names else _ALIASES.get(key, key)
            if name not in names or name in given:
                raise Mismatch
            given[name] = value
        numbers = self.name.rstrip("_") in _NUMBERS
        values = {}
        for i, a in enumerate(self.arguments):
            if a.name in given:
                values[a.name] = a.converted(given[a.name], numbers and i > 0)
            elif a.required:
                raise Mismatch
        return values

    def shown(self, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments as a graph shows them: by place up to the last that is not its default, then keywords."""
        placed = [(a, values.get(a.name, a.default)) for a in self.arguments if not a.keyword_only]
        while placed and not placed[-1][0].required and _same(placed[-1][1], placed[-1][0].default):
            placed.pop()
        named = {a.name: values[a.name] for a in self.arguments if a.keyword_only and a.name in values}
        usual = {a.name: a.default for a in self.arguments}
        return tuple([v for _, v in placed]), {k: v for k, v in named.items() if not _same(v, usual[k])}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and any(hasattr(type(x), "symbolic") for x in a):
        return False
    return a is b or (type(a) is type(b) and not isinstance(a, Tensor) and bool(a == b))


def _gathered(args: Any, placed: list[Argument]) -> Any:
    """Arguments with ``x.view(2, 3)`` as ``x.view([2, 3])``: the last parameter may be a list without brackets."""
    first = len(placed) - 1
    if first < 0 or placed[first].type != "int[]" or len(args) <= first:
        return args
    rest = args[first:]
    if all(hasattr(v, "__index__") and not isinstance(v, (bool, Tensor)) for v in rest):
        return (*args[:first], list(rest))
    return args


@functools.cache
def _paragraphs() -> dict[str, str]:
    """The overloads' text by the operator's name."""
    found = {}
    for paragraph in re.split(r"\n(?! )", TEXT.strip().replace("OPTIONS", OPTIONS)):
        names, _, overloads = re.sub(r"\s+", " ", paragraph).partition(": ")
        found.update(dict.fromkeys(names.split(), overloads))
    return found


@functools.cache
def schemas(name: str) -> tuple[Schema, ...]:
    """The overloads of an operator in the order in which a call is matched; none for one that is not declared.

    >>> [s.overload for s in schemas("add")]
    ['Tensor', 'Scalar']
    """
    text = _paragraphs().get(name) or _paragraphs().get(name.removesuffix("_"), "")
    return tuple([_parsed(name, part) for part in text.split(" | ")] if text else ())


def _parsed(name: str, text: str) -> Schema:
    overload, _, inside = text.partition("(")
    arguments, keyword_only = [], False
    for part in re.split(r",\s*(?![^\[]*\])", inside.rstrip(")")):
        if part == "*":
            keyword_only = True
        elif part:
            declared, _, default = part.partition("=")
            kind, _, own = declared.rpartition(" ")
            arguments.append(Argument(own, kind, _default(default, kind), not default, keyword_only))
    return Schema(name, overload, tuple(arguments))


def _default(text: str, kind: str) -> Any:
    if text == "torch.contiguous_format":
        return contiguous_format
    value = ast.literal_eval(text) if text else None
    found = re.search(r"\[(\d+)\]", kind)
    return [value] * int(found[1]) if found and isinstance(value, (int, float)) else value


def matching(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]] | None:
    """The overload that a call belongs to and its arguments as a graph shows them, or None.

    >>> matching("max_pool2d", (Tensor([[1.0]]), 2), {"padding": 1})
    ('default', (tensor([[1.]]), [2, 2], [], [1, 1]), {})
    """
    for schema in schemas(name):
        try:
            values = schema.bound(args, kwargs)
        except Mismatch:
            continue
        return schema.overload, *schema.shown(values)
    return None


def out_name(overload: str) -> str:
    """The name of the overload that writes what another one returns into ``out``.

    >>> out_name("default"), out_name("Tensor_Scalar")
    ('out', 'Tensor_Scalar_out')
    """
    if overload == "Tensor_mode":
        return "out_mode"
    overload = overload.replace("dim_IntList", "IntList")
    return "out" if overload in ("default", "Tensor") else f"{overload}_out"


def matching_out(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[str, tuple[Any, ...], dict[str, Any]] | None:
    """``matching`` for a call with ``out``."""
    found = matching(name, args, {k: v for k, v in kwargs.items() if k != "out"})
    return found and (out_name(found[0]), found[1], {**found[2], "out": kwargs["out"]})


def factory_defaults(name: str) -> dict[str, Any]:
    """What PyTorch's parser adds to the keywords of an operator that makes tensors.

    >>> factory_defaults("zeros_like")
    {'pin_memory': False}
    """
    known = schemas(name)
    if not known or name in ("to", "_to_copy") or all(a.name != "pin_memory" for a in known[0].arguments):
        return {}
    if name.endswith("_like") or name.startswith("new_"):
        return {"pin_memory": False}
    return {"device": constants.device("cpu"), "pin_memory": False}

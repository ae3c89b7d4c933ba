"""Unique names: of a graph's nodes, and of the variables in its code."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from typing import Any, NamedTuple

_ILLEGAL_CHARACTERS = re.compile("[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")
_BEFORE_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


class CustomBuiltin(NamedTuple):
    """An object that all generated code finds in its globals, and the line that imports it into a module."""

    import_str: str
    obj: Any


ILLEGAL: dict[str, Any] = {**{k: object() for k in keyword.kwlist}, **vars(builtins)}
CUSTOM_BUILTINS: dict[str, CustomBuiltin] = {}


def register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    """Give all generated code a global name."""
    CUSTOM_BUILTINS[name] = CustomBuiltin(import_str, obj)
    ILLEGAL[name] = obj


register_custom_builtin("inf", "from math import inf", math.inf)
register_custom_builtin("nan", "from math import nan", math.nan)
register_custom_builtin("NoneType", "NoneType = type(None)", type(None))


def snake_case(text: str) -> str:
    """``"BatchNorm"`` -> ``"batch_norm"``, as nodes are named."""
    return _BEFORE_CAPITAL.sub(r"_\1", text).lower()


class Namespace:
    """Names that are unique, shadow no builtin, and belong to one object each."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A new name like ``candidate``; an object that has one already keeps it."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        match = _NUMBERED.match(candidate)
        if match is None:
            candidate = _ILLEGAL_CHARACTERS.sub("_", candidate) or "_unnamed"
            if candidate[0].isdigit():
                candidate = f"_{candidate}"
            match = _NUMBERED.match(candidate)
            assert match is not None
        base, number = match.group(1, 2)
        if number is None or candidate in self._used_names:
            count = self._base_count.get(base, 0)
            if ILLEGAL.get(candidate, obj) is not obj:
                count += 1
                candidate = f"{base}_{count}"
        else:
            count = int(number)
        while candidate in self._used_names:
            count += 1
            candidate = f"{base}_{count}"
        self._used_names.add(candidate)
        self._base_count[base] = count
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Note the name of an object that has none yet."""
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: Any, name: str) -> None:
        if obj not in self._obj_to_name:
            raise AssertionError(f"Object {obj} is not in _obj_to_name")
        self._obj_to_name[obj] = name
        self._used_names.add(name)

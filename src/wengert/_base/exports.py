"""The list of a module's public names, for modules whose public names are what they define."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def own_names(namespace: dict[str, Any]) -> list[str]:
    """The names of the classes, functions and instances of own classes that a module defines: its ``__all__``.

    >>> own_names({"__name__": "m", "F": type("F", (), {"__module__": "m"}), "_G": 1})
    ['F']
    """
    home = namespace["__name__"]
    return sorted(
        name
        for name, value in namespace.items()
        if not (name.startswith("_") or isinstance(value, ModuleType)) and getattr(value, "__module__", None) == home
    )

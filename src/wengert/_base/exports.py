"""The list of a module's public names, for modules whose public names are what they define; whose a module is."""

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


PACKAGE = __name__.partition(".")[0]


def is_ours(module: str | None) -> bool:
    """Whether a module is this package's, by its own name or by PyTorch's, which it has under ``wengert run``.

    >>> is_ours("torch.nn.functional"), is_ours("numpy")
    (True, False)
    """
    return (module or "").partition(".")[0] in (PACKAGE, "torch")

"""``torch.utils``: ``data``, ``checkpoint``, ``benchmark``, ... Each is imported when it is first named."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def set_module(obj: Any, mod: str) -> None:
    """Say which module an object belongs to, for printing.

    Raises:
        TypeError: ``mod`` is not a text.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""``torch.backends.opt_einsum``: the order in which ``einsum`` contracts is its own; the package is not used."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ._switches import switched

__all__ = ["flags", "get_opt_einsum", "is_available", "set_flags"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False."""
    return False


def get_opt_einsum() -> Any:
    """``None``: the package is not used."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set those switches that are not None; what they were."""
    names = globals()
    before = names["enabled"], names["strategy"]
    names.update({k: v for k, v in (("enabled", _enabled), ("strategy", _strategy)) if v is not None})
    return before


def flags(enabled: bool | None = None, strategy: str | None = None) -> AbstractContextManager[None]:
    """A context in which the switches are these."""
    return switched(__name__, enabled=enabled, strategy=strategy)

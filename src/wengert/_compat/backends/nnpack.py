"""``torch.backends.nnpack``: not there."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ._switches import switched

__all__ = ["flags", "is_available", "set_flags"]

enabled = False


def is_available() -> bool:
    """False."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the switch; what it was."""
    before = globals()["enabled"]
    globals()["enabled"] = _enabled
    return (before,)


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """A context in which the switch is this."""
    return switched(__name__, enabled=enabled)

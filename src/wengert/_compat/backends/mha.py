"""``torch.backends.mha``: the switch of a second path of ``nn.MultiheadAttention``; here there is one."""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """The switch."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch."""
    global _enabled
    _enabled = value

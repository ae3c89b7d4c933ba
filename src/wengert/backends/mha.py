"""``torch.backends.mha``: the switch of a faster path of ``nn.MultiheadAttention`` in inference; here there is one path."""

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

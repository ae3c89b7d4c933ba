"""``torch.backends.cpu``."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """``"DEFAULT"``: which instructions are used is NumPy's own choice."""
    return "DEFAULT"

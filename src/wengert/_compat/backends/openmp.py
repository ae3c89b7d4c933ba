"""``torch.backends.openmp``, which wengert's threads do not use; see ``torch.set_num_threads``."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False."""
    return False

"""``torch.backends.openmp``: not what wengert's threads are; ``torch.set_num_threads`` is for those."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False."""
    return False

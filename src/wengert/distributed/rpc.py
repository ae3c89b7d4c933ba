"""``torch.distributed.rpc``, which has only ``is_available``, as in PyTorch built without it.

>>> from wengert.distributed import rpc
>>> rpc.is_available()
False
"""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False: there are no other processes."""
    return False

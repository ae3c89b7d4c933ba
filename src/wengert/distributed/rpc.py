"""``torch.distributed.rpc``, which is not there: as in a PyTorch that was built without it, there is only the question.

>>> from wengert.distributed import rpc
>>> rpc.is_available()
False
"""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """False: no other process can be called."""
    return False

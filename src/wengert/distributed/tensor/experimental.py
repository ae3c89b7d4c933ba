"""``torch.distributed.tensor.experimental``: a context for distributed tensors, which has no effect."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

__all__ = ["implicit_replication"]


def implicit_replication() -> Any:
    """A context that does nothing."""
    return nullcontext()

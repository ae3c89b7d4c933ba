"""Where PyTorch has ``DistributedDataParallel``, and programs import it from."""

from __future__ import annotations

from . import DistributedDataParallel

__all__ = ["DistributedDataParallel"]

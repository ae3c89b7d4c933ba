"""``DistributedDataParallel``, in the module from which programs import it."""

from __future__ import annotations

from . import DistributedDataParallel

__all__ = ["DistributedDataParallel"]

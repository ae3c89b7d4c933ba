"""``torch.distributed.optim``: optimizers whose state lies in several processes. For ``isinstance``."""

from __future__ import annotations

from .._absent import dummy

__all__ = ["DistributedOptimizer", "ZeroRedundancyOptimizer"]

DistributedOptimizer = dummy("DistributedOptimizer")
ZeroRedundancyOptimizer = dummy("ZeroRedundancyOptimizer")

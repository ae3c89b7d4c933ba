"""``torch.distributed.optim``: a class of distributed optimizers for ``isinstance``, without instances."""

from __future__ import annotations

from .._absent import dummy

__all__ = ["DistributedOptimizer", "ZeroRedundancyOptimizer"]

DistributedOptimizer = dummy("DistributedOptimizer")
ZeroRedundancyOptimizer = dummy("ZeroRedundancyOptimizer")

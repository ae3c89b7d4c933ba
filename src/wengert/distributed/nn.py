"""``torch.distributed.nn``: differentiable collective operations, which raise an error without other processes."""

from __future__ import annotations

from . import _refusing

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]

all_gather = _refusing("nn.all_gather")
all_reduce = _refusing("nn.all_reduce")
all_to_all = _refusing("nn.all_to_all")
broadcast = _refusing("nn.broadcast")
gather = _refusing("nn.gather")
reduce = _refusing("nn.reduce")
reduce_scatter = _refusing("nn.reduce_scatter")
scatter = _refusing("nn.scatter")

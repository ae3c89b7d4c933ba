"""``torch.distributed.optim``: optimizers whose state lies in several processes, or that average models.

``DistributedOptimizer``, which works through ``rpc``, is not there: a name for ``isinstance``.
"""

from ..._base.absent import absent_class
from .post_localSGD_optimizer import PostLocalSGDOptimizer
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

DistributedOptimizer = absent_class("DistributedOptimizer")

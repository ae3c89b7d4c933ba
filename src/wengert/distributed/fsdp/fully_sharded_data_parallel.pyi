# Made by tools/make_stubs.py; do not edit.
from ..._base.absent import BackwardPrefetch as BackwardPrefetch
from ..._base.absent import CPUOffload as CPUOffload
from ..._base.absent import FullStateDictConfig as FullStateDictConfig
from ..._base.absent import FullyShardedDataParallel as FullyShardedDataParallel
from ..._base.absent import MixedPrecision as MixedPrecision
from ..._base.absent import ShardedStateDictConfig as ShardedStateDictConfig
from ..._base.absent import ShardingStrategy as ShardingStrategy
from ..._base.absent import StateDictType as StateDictType

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "MixedPrecision",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictType",
]

# Made by tools/make_stubs.py; do not edit.
from ..._base.absent import BackwardPrefetch as BackwardPrefetch, CPUOffload as CPUOffload, FullStateDictConfig as FullStateDictConfig, FullyShardedDataParallel as FullyShardedDataParallel, MixedPrecision as MixedPrecision, ShardedStateDictConfig as ShardedStateDictConfig, ShardingStrategy as ShardingStrategy, StateDictType as StateDictType

"""``torch.distributed.fsdp``: classes of sharded modules for ``isinstance``, without instances."""

from __future__ import annotations

from .._absent import dummy, refusing

__all__ = [
    "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullyShardedDataParallel", "MixedPrecision",
    "MixedPrecisionPolicy", "OffloadPolicy", "ShardingStrategy", "fully_shard",
]  # fmt: skip

(
    CPUOffload, CPUOffloadPolicy, FSDPModule, FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy,
    OffloadPolicy, ShardingStrategy,
) = (dummy(name) for name in __all__[:-1])  # fmt: skip
fully_shard = refusing(
    "fully_shard", RuntimeError, "torch.distributed.fsdp.fully_shard: wengert computes in one process"
)

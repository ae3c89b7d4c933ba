"""``torch.distributed._composable.fsdp``; see ``torch.distributed.fsdp``."""

from ..fsdp import FSDPModule, MixedPrecisionPolicy, OffloadPolicy, fully_shard

__all__ = ["FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "fully_shard"]

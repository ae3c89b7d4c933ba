"""``torch.distributed._composable``, where ``torch.distributed.fsdp.fully_shard`` was before."""

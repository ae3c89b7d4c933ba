"""``torch.distributed.checkpoint``: of it there is what one process needs, the functions on state dicts of models."""

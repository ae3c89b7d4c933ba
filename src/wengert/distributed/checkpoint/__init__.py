"""``torch.distributed.checkpoint``: only the functions on state dicts of models, which one process can use."""

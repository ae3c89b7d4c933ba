"""``torch.distributed.elastic``: what the programs of a launcher that restarts them import."""

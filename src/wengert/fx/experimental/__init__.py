"""``torch.fx.experimental``: queries about PyTorch's tracer, which never runs."""

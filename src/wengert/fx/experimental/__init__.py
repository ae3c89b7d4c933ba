"""``torch.fx.experimental``: what libraries ask of PyTorch's tracer when none is at work."""

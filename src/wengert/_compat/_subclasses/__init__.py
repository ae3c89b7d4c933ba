"""``torch._subclasses``: what libraries ask about tensors that PyTorch's compiler makes. There are none."""

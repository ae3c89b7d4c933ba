"""``torch._subclasses``: queries about tensors of PyTorch's compiler, of which there are none."""

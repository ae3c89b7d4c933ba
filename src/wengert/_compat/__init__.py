"""PyTorch's modules that do little in wengert, under their own names: `wengert.cuda` is `_compat/cuda/`."""

"""PyTorch's modules that have little to do here, under their own names: `wengert.cuda` is `_compat/cuda/`."""

"""``torch.distributed.algorithms._checkpoint``: modules that compute activations anew (``checkpoint_wrapper``)."""

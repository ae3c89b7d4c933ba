"""``torch.functional``: functions that are also at ``torch.NAME``, by the module that PyTorch has them in."""

from ._methods import namespace

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
    "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
]  # fmt: skip

globals().update({name: namespace("torch")[name] for name in __all__})

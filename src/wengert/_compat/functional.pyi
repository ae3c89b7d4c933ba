# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from collections.abc import Sequence
from typing import Any
from .._tape.tensor import Tensor
from .. import block_diag as block_diag, broadcast_tensors as broadcast_tensors, cartesian_prod as cartesian_prod, cdist as cdist, chain_matmul as chain_matmul, einsum as einsum, istft as istft, meshgrid as meshgrid, norm as norm, pca_lowrank as pca_lowrank, split as split, stft as stft, svd_lowrank as svd_lowrank, tensordot as tensordot, unravel_index as unravel_index
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least one dimension."""
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least two dimensions; a vector becomes a row."""
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least three dimensions: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to."""
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, *, out: Tensor | None = None) -> Any:
    """Deprecated in PyTorch: see ``linalg.lu_factor``."""
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The unique elements, or slices along a dim, always sorted."""
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The first element of each run of equal elements, or of equal slices along a dim."""

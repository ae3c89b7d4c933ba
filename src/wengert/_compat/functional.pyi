# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int, str as _str, tuple as _tuple
from collections.abc import Sequence
from typing import Any
from .._base.dtypes import dtype as _dtype
from .._tape.tensor import Ints, Tensor
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least one dimension."""
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least two dimensions; a vector becomes a row."""
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Each tensor with at least three dimensions: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A block diagonal matrix of tensors with at most two dimensions."""
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to."""
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> _tuple[Tensor, ...]:
    """The tensors expanded to their common shape."""
def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """The rows of the Cartesian product of vectors."""
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The p-norm distance of each row of ``(*, P, M)`` and each row of ``(*, R, M)``: ``(*, P, R)``."""
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.multi_dot``."""
def einsum(*args: Any) -> Tensor:
    """Sum of products over dimensions named by letters: ``einsum("ij,jk->ik", a, b)`` is a product of matrices."""
def istft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
    """The signal whose ``stft`` is ``input``, ``(B, N, frames)`` or ``(N, frames)``, in the sense of least squares."""
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, *, out: Tensor | None = None) -> Any:
    """Deprecated in PyTorch: see ``linalg.lu_factor``."""
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: _str | None = None) -> _tuple[Tensor, ...]:
    """Expand vectors to views on the grid that they span, with one dimension for each vector."""
def norm(input: Tensor, p: Any | _str | None = 'fro', dim: Ints | None = None, keepdim: _bool = False, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Norm of the elements as one vector, or of the vectors along dims; ``"nuc"`` is the nuclear norm of matrices."""
def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> _tuple[Tensor, Tensor, Tensor]:
    """``svd_lowrank`` of A minus the means of its columns; the columns of V are the principal directions."""
def split(tensor: Tensor, split_size_or_sections: Any = None, dim: _int = 0, *, split_size: Any = None) -> _tuple[Tensor, ...]:
    """Split along a dimension into views of one size (the last may be smaller) or of the sizes in a list."""
def stft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
    """The Fourier transforms of windows that move along a signal: ``(B, L)`` or ``(L,)`` to ``(B, N, frames)``."""
def svd_lowrank(A: Tensor, q: _int | None = 6, niter: _int | None = 2, M: Tensor | None = None) -> _tuple[Tensor, Tensor, Tensor]:
    """U, S, V of about the q largest singular values of A (of ``A - M``), by a random estimate of its range."""
def tensordot(a: Tensor, b: Tensor, dims: Ints = 2, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over some dimensions of a and as many of b."""
def unique(input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The unique elements, or slices along a dim, always sorted."""
def unique_consecutive(input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
    """The first element of each run of equal elements, or of equal slices along a dim."""
def unravel_index(indices: Tensor, shape: Ints) -> _tuple[Tensor, ...]:
    """Convert flat indices in row-major order to one tensor of indices for each dimension."""

"""Random matrices with given properties, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor


def noncontiguous_like(t: Tensor) -> Tensor:
    """A copy that is not contiguous: a leaf that requires grad if ``t`` does."""
    if not t.is_contiguous() and t._base is not None:
        return t
    result = torch.empty(tuple(t.shape) + (2,), dtype=t.dtype).select(-1, 1)
    result.copy_(t.detach())
    return result.requires_grad_(t.requires_grad)


def random_square_matrix_of_rank(l: int, rank: int, dtype: Any = torch.double, device: Any = "cpu") -> Tensor:
    """A square matrix of this rank."""
    u, s, v = torch.svd(torch.randn(l, l, dtype=dtype))
    for i in range(l):
        s[i] = 0 if i >= rank else 1 if s[i] == 0 else s[i]
    return u.mm(torch.diag(s).to(dtype)).mm(v.transpose(0, 1))


def _with_singular_values(a: Tensor, values: Callable[[int, Any], Tensor]) -> Tensor:
    """Matrices with other singular values: ``values(number of them, real dtype)``, a row for all or one for each."""
    u, _, vh = torch.linalg.svd(a, full_matrices=False)
    s = values(min(a.shape[-2:]), a.real.dtype if a.is_complex() else a.dtype)
    return (u * s.unsqueeze(-2).to(a.dtype)) @ vh


def random_well_conditioned_matrix(
    *shape: int, dtype: Any, device: Any = "cpu", mean: float = 1.0, sigma: float = 0.001
) -> Tensor:
    """Matrices whose singular values are about ``mean``."""

    def values(k: int, real: Any) -> Tensor:
        return (torch.randn((*shape[:-2], k), dtype=real) * sigma + mean).sort(-1, descending=True).values

    return _with_singular_values(torch.rand(shape, dtype=dtype), values)


def random_symmetric_matrix(l: int, *batches: int, **kwargs: Any) -> Tensor:
    """A matrix that is its transpose."""
    a = torch.randn(*batches, l, l, dtype=kwargs.get("dtype", torch.double))
    return (a + a.mT).div_(2)


def make_symmetric_matrices(*shape: int, device: Any, dtype: Any) -> Tensor:
    """Matrices that are their transposes."""
    a = torch.testing.make_tensor(shape, device=device, dtype=dtype)
    return (a + a.mT).div_(2)


def random_hermitian_matrix(l: int, *batches: int, **kwargs: Any) -> Tensor:
    """A matrix that is its conjugate transpose."""
    a = torch.randn(*batches, l, l, dtype=kwargs.get("dtype", torch.double))
    return (a + a.mH).div_(2)


def random_symmetric_psd_matrix(l: int, *batches: int, **kwargs: Any) -> Tensor:
    """A symmetric positive semidefinite matrix."""
    a = torch.randn(*batches, l, l, dtype=kwargs.get("dtype", torch.double))
    return a @ a.mT


def random_hermitian_psd_matrix(
    matrix_size: int, *batch_dims: int, dtype: Any = torch.double, device: Any = "cpu"
) -> Tensor:
    """A Hermitian positive semidefinite matrix."""
    a = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype)
    return a @ a.mH


def random_symmetric_pd_matrix(matrix_size: int, *batch_dims: int, **kwargs: Any) -> Tensor:
    """A symmetric positive definite matrix."""
    dtype = kwargs.get("dtype", torch.double)
    a = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype)
    return a @ a.mT + torch.eye(matrix_size, dtype=dtype)


def make_symmetric_pd_matrices(*shape: int, device: Any, dtype: Any) -> Tensor:
    """Symmetric positive definite matrices."""
    a = torch.testing.make_tensor(shape, device=device, dtype=dtype)
    return a @ a.mT + torch.eye(shape[-1], dtype=dtype) * 1e-5


def random_hermitian_pd_matrix(matrix_size: int, *batch_dims: int, dtype: Any, device: Any = "cpu") -> Tensor:
    """A Hermitian positive definite matrix."""
    a = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype)
    return a @ a.mH + torch.eye(matrix_size, dtype=dtype)


def make_fullrank_matrices_with_distinct_singular_values(
    *shape: int, device: Any, dtype: Any, requires_grad: bool = False
) -> Tensor:
    """Matrices of full rank whose singular values are 2, 3, 4 and so on."""

    def values(k: int, real: Any) -> Tensor:
        s = torch.arange(2, k + 2, dtype=real)
        s[1::2] *= -1.0
        return s.add_(1.0)

    with torch.no_grad():
        x = _with_singular_values(torch.testing.make_tensor(shape, device=device, dtype=dtype), values)
    return x.requires_grad_(requires_grad)


def random_fullrank_matrix_distinct_singular_value(matrix_size: int, *batch_dims: int, **kwargs: Any) -> Tensor:
    """A matrix of full rank whose singular values are 2/(n+1), 3/(n+1) and so on."""
    dtype = kwargs.get("dtype", torch.double)
    a = torch.randn(*batch_dims, matrix_size, matrix_size, dtype=dtype)
    return _with_singular_values(a, lambda k, real: torch.arange(1.0, k + 1, dtype=real).mul_(1.0 / (k + 1)))


def random_matrix(rows: int, columns: int, *batch_dims: int, **kwargs: Any) -> Tensor:
    """A matrix, singular or not, with distinct singular values."""
    dtype = kwargs.get("dtype", torch.double)
    if kwargs.get("silent", False) and not torch._C.has_lapack:
        return torch.ones(rows, columns, dtype=dtype)
    a = torch.randn(*batch_dims, rows, columns, dtype=dtype)
    if a.numel() == 0:
        return a

    def values(k: int, real: Any) -> Tensor:
        s = torch.linspace(1 / (k + 1), 1, k, dtype=real)
        if kwargs.get("singular", False):
            s[k - 1] = 0
            if k > 2:
                s[0] = 0
        return s

    return _with_singular_values(a, values)


def random_lowrank_matrix(rank: int, rows: int, columns: int, *batch_dims: int, **kwargs: Any) -> Tensor:
    """A matrix of at most this rank."""
    b = random_matrix(rows, rank, *batch_dims, **kwargs)
    c = random_matrix(rank, columns, *batch_dims, **kwargs)
    return b.matmul(c)

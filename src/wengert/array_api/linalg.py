"""The standard's extension ``linalg``: PyTorch's functions on operands of one dtype."""

from __future__ import annotations

from typing import Any

import wengert as torch
from wengert import outer
from wengert.linalg import (
    cholesky,
    det,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_power,
    qr,
    slogdet,
    svd,
    svdvals,
)

from ._dtypes import together
from ._reductions import Axis, over, sum

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


def matmul(x1: torch.Tensor, x2: torch.Tensor, /) -> torch.Tensor:
    """The product of matrices.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.matmul(torch.ones(1, 2), torch.ones(2, 1, dtype=xp.float64))
    tensor([[2.]], dtype=torch.float64)
    """
    return torch.matmul(*together(x1, x2))


def matrix_transpose(x: torch.Tensor, /) -> torch.Tensor:
    """Matrices with rows and columns exchanged.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.matrix_transpose(torch.ones(4, 2, 3)).shape
    torch.Size([4, 3, 2])
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose needs at least two dimensions, not {x.ndim}")
    return x.mT


def tensordot(x1: torch.Tensor, x2: torch.Tensor, /, *, axes: Any = 2) -> torch.Tensor:
    """The sum of products over axes: a number of them, or those of each array.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.tensordot(torch.ones(2, 3), torch.ones(2, 3))
    tensor(6.)
    """
    x1, x2 = together(x1, x2)
    return torch.tensordot(x1, x2, dims=axes)


def vecdot(x1: torch.Tensor, x2: torch.Tensor, /, *, axis: int = -1) -> torch.Tensor:
    """The sum over an axis of products, with the conjugate of ``x1``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.vecdot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"the sizes of axis {axis} differ: {x1.shape[axis]} and {x2.shape[axis]}")
    x1, x2 = together(x1, x2)
    return torch.sum((x1.conj() if x1.is_complex() else x1) * x2, axis, dtype=x1.dtype)


def cross(x1: torch.Tensor, x2: torch.Tensor, /, *, axis: int = -1) -> torch.Tensor:
    """The cross product of vectors of three elements.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    x1, x2 = together(x1, x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"a cross product is of 3 and 3 elements, not {x1.shape[axis]} and {x2.shape[axis]}")
    return torch.linalg.cross(*torch.broadcast_tensors(x1, x2), dim=axis)


def solve(x1: torch.Tensor, x2: torch.Tensor, /) -> torch.Tensor:
    """``x`` in ``x1 @ x = x2``; ``x2`` is a vector only if it has one dimension.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.solve(2 * torch.eye(2), torch.tensor([2., 4.]))
    tensor([1., 2.])
    """
    x1, x2 = together(x1, x2)
    if x2.ndim != 1 and x2.shape == x1.shape[:-1]:
        x2 = x2[None]  # otherwise PyTorch takes a batch of vectors for it
    return torch.linalg.solve(x1, x2)


def trace(x: torch.Tensor, /, *, offset: int = 0, dtype: Any = None) -> torch.Tensor:
    """The sum of a diagonal.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.trace(torch.ones(2, 3, 3))
    tensor([3., 3.])
    """
    return sum(torch.linalg.diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_norm(x: torch.Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> torch.Tensor:
    """A norm of matrices.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.matrix_norm(torch.ones(2, 2), ord=1)
    tensor(2.)
    """
    return torch.linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_rank(x: torch.Tensor, /, *, rtol: Any = None) -> torch.Tensor:
    """The number of singular values above ``rtol`` times the greatest.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    return torch.linalg.matrix_rank(x, rtol=rtol)


def pinv(x: torch.Tensor, /, *, rtol: Any = None) -> torch.Tensor:
    """The pseudo-inverse of matrices.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.pinv(2 * torch.eye(2))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]])
    """
    return torch.linalg.pinv(x, rtol=rtol)


def vector_norm(x: torch.Tensor, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> torch.Tensor:
    """A norm over axes, of all elements without ``axis``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.linalg.vector_norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    return over(lambda x, dim, keepdim=False: torch.linalg.vector_norm(x, ord, dim, keepdim), x, axis, keepdims)

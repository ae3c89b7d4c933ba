"""``torch.sparse``: functions of sparse COO tensors, and the classes of old programs.

>>> import wengert as torch
>>> a = torch.eye(2).to_sparse().requires_grad_()
>>> y = torch.sparse.mm(a, torch.tensor([[1.], [2.]]))
>>> y.sum().backward()
>>> a.grad
tensor(indices=tensor([[0, 1],
                       [0, 1]]),
       values=tensor([1., 2.]),
       size=(2, 2), nnz=2, layout=torch.sparse_coo)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._kinds.dims import normal_dim
from ._ops.names.sparse import (
    coalesce,
    is_sparse,
    matrix_product,
    recorded_by,
    sparse_coo_tensor,
    stored_at,
    to_dense,
    values,
)
from ._tape.tensor import Tensor, wrap
from ._tensor_api.legacy_types import TYPES

__all__ = ["addmm", "log_softmax", "mm", "softmax", "sum"]


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, at least one of them sparse; the result is sparse if both are.

    The gradient of a sparse matrix is sparse: it has the elements that the matrix stores.
    """
    if not is_sparse(mat1) and not is_sparse(mat2):
        return mat1 @ mat2  # type: ignore[no-any-return,operator]
    return matrix_product(mat1, mat2, "SparseAddmmBackward0" if not is_sparse(mat2) else "SparseSparseMatmulBackward0")


def _legacy_type(name: str) -> Any:
    """The class of ``torch.sparse.FloatTensor(indices, values, size)`` and similar names in old programs."""
    dtype = TYPES[name].dtype

    def make(*args: Any) -> Tensor:
        if len(args) >= 2 and isinstance(args[0], Tensor):
            return sparse_coo_tensor(args[0], args[1], *args[2:3], dtype=dtype)
        return sparse_coo_tensor(size=args[0] if args and not isinstance(args[0], int) else args, dtype=dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"*Legacy:* a sparse tensor of ``{dtype}``: ``torch.sparse_coo_tensor`` today."
    return make


globals().update({name: _legacy_type(name) for name in TYPES if name not in ("BFloat16Tensor", "BoolTensor")})


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)`` for a sparse ``mat1``.

    >>> import wengert as torch
    >>> torch.sparse.addmm(torch.ones(2, 1), torch.eye(2).to_sparse(), torch.tensor([[1.], [2.]]))
    tensor([[2.],
            [3.]])
    """
    return beta * mat + alpha * mm(mat1, mat2)  # type: ignore[no-any-return,operator]


def sum(input: Tensor, dim: int | tuple[int, ...] | None = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor's elements, over all dims or some.

    The result is sparse if a sparse dim is left. The gradient stores the same elements as ``input``.

    >>> import wengert as torch
    >>> torch.sparse.sum(torch.tensor([[0., 1.], [2., 3.]]).to_sparse(), 1).to_dense()
    tensor([1., 5.])
    """
    if dtype is not None:
        input = input.to(dtype)  # type: ignore[attr-defined]
    if not is_sparse(input):
        return input.sum() if dim is None else input.sum(dim)  # type: ignore[attr-defined,no-any-return]
    if dim is None:
        return values(coalesce(input)).sum()  # type: ignore[attr-defined,no-any-return]
    dims = sorted({normal_dim(d, input.ndim, "sum") for d in (dim if isinstance(dim, (tuple, list)) else (dim,))})
    return _sum_of_dims(input, dims)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Softmax along a dimension over the stored elements: the others count as minus infinity.

    >>> import wengert as torch
    >>> x = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 4.], (2, 3))
    >>> torch.sparse.softmax(x, 1).values()
    tensor([1.0000, 0.5000, 0.5000])
    """
    return _over_stored(input, dim, dtype, "softmax")


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``."""
    return _over_stored(input, dim, dtype, "log_softmax")


def _over_stored(input: Tensor, dim: int, dtype: Any, name: str) -> Tensor:
    t: Any = input if dtype is None else input.to(dtype)  # type: ignore[attr-defined]
    if not is_sparse(t):
        return getattr(t, name)(dim)  # type: ignore[no-any-return]
    t = coalesce(t)
    x, v = t._payload, values(t)
    n = len(x.indices)
    dim = normal_dim(dim, x.ndim, name)
    if dim >= n:
        result = getattr(v, name)(dim - n + 1)
    else:
        others = np.delete(x.indices, dim, 0)
        _, line = np.unique(others, axis=1, return_inverse=True)  # the line along dim of each element
        line = line.reshape(-1)
        most = np.full((line.max(initial=-1) + 1, *x.values.shape[1:]), -np.inf, x.values.dtype)
        np.maximum.at(most, line, x.values)
        at, top = wrap(line), wrap(most[line])
        shifted = v - top  # type: ignore[operator]
        powers = shifted.exp()
        total = wrap(np.zeros_like(most)).index_add(0, at, powers)  # type: ignore[attr-defined]
        result = powers / total[at] if name == "softmax" else shifted - total.log()[at]
    label = "SparseSoftmaxBackward0" if name == "softmax" else "SparseLogSoftmaxBackward0"
    return stored_at(x.indices, result, x.shape, True, label)


def _sum_of_dims(input: Tensor, dims: list[int]) -> Tensor:
    from ._payloads.sparse import summed

    x = input._payload.coalesce()
    n = len(x.indices)
    left = [d for d in range(n) if d not in dims]
    dense = tuple(d - n + 1 for d in dims if d >= n)

    def formula(g: Tensor) -> Tensor:
        g = to_dense(g)
        picked: Any = g[tuple(x.indices[left])] if left else g.unsqueeze(0)  # type: ignore[attr-defined]
        for d in dense:
            picked = picked.unsqueeze(d)
        return stored_at(x.indices, picked.expand(x.values.shape), x.shape, True)

    return recorded_by("SparseSumBackward0", summed(x, dims), (input,), formula)

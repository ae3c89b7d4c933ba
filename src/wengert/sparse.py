"""``torch.sparse``: functions of sparse tensors (COO, CSR, CSC), and the classes of old programs.

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

import functools
from typing import Any

import numpy as np

from ._base.constants import sparse_coo, sparse_csc, sparse_csr, strided
from ._base.dtypes import BY_NUMPY, bool_
from ._base.registry import PUBLIC
from ._kinds.dims import normal_dim
from ._kinds.out import write_out
from ._ops.names.sparse import (
    CHECKED,
    coalesce,
    is_compressed,
    is_sparse,
    matrix_product,
    recorded_by,
    sparse_coo_tensor,
    stored_at,
    to_dense,
    values,
)
from ._ops.shape.broadcasting import expand_size
from ._payloads.sparse_errors import missing
from ._tape.error_text import expect_tensors
from ._tape.tensor import Tensor, wrap
from ._tape.view_chain import with_node_name
from ._tensor_api.legacy_types import TYPES

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax",
    "spdiags", "sum",
]  # fmt: skip


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, at least one of them sparse; the result is sparse if both are.

    The gradient of a sparse matrix is sparse: it has the elements that the matrix stores.
    """
    expect_tensors("_sparse_mm", sparse=mat1, dense=mat2)
    if is_compressed(mat1) or is_compressed(mat2):
        from ._ops.names import compressed

        return compressed.sparse_product(mat1, mat2)
    for t in (mat2, mat1):
        normal_dim(-2, t.ndim, "_sparse_mm")
    if not is_sparse(mat1) and not is_sparse(mat2):
        for k, t in enumerate((mat2, mat1), 1):  # PyTorch multiplies the transposes
            if t.ndim != 2:
                raise RuntimeError(f"mat{k} must be a matrix, got {t.ndim}-D tensor")
        return (mat2.transpose(-2, -1) @ mat1.transpose(-2, -1)).transpose(-2, -1)
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
    expect_tensors("_sparse_addmm", input=mat, mat1=mat1, mat2=mat2)
    if is_compressed(mat1) or is_compressed(mat2) or is_compressed(mat):
        return PUBLIC["torch"]["addmm"](mat, mat1, mat2, beta=beta, alpha=alpha)
    if mat1.ndim == mat2.ndim == 2:
        expand_size((mat1.shape[0], mat2.shape[1]), mat._payload)
    layouts = ["Sparse" if is_sparse(t) else "Strided" for t in (mat, mat1, mat2)]
    if layouts[0] == "Sparse":
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if layouts[2] == "Sparse":
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got "
            f"'mat1' with layout {layouts[1]} and 'mat2' with layout Sparse"
        )
    return with_node_name(beta * mat + alpha * mm(mat1, mat2), "SparseAddmmBackward0")


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` at the indices of the CSR matrix ``input``, computed nowhere else.

    >>> import wengert as torch
    >>> pattern = torch.eye(2).to_sparse_csr()
    >>> torch.sparse.sampled_addmm(pattern, torch.ones(2, 3), torch.ones(3, 2)).values()
    tensor([4., 4.])
    """
    expect_tensors("sparse_sampled_addmm", input=input, mat1=mat1, mat2=mat2)
    from ._ops.names.compressed import sampled_addmm as compute

    if out is not None:
        return write_out(out, compute, (input, mat1, mat2, beta, alpha))
    return compute(input, mat1, mat2, beta, alpha)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix with the rows of ``diagonals`` on the diagonals with these offsets.

    Element j of a row stands in column j, as in ``scipy.sparse.spdiags``.

    Args:
        diagonals: one diagonal, or a matrix with a row for each.
        offsets: of dtype int64: 0 is the main diagonal, positive ones are above it.
        shape: the two sizes of the matrix.
        layout: ``torch.sparse_coo`` (the default), ``torch.sparse_csr`` or ``torch.sparse_csc``.

    >>> import wengert as torch
    >>> torch.sparse.spdiags(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([0, 1]), (2, 2)).to_dense()
    tensor([[1., 4.],
            [0., 2.]])
    """
    expect_tensors("_spdiags", diagonals=diagonals, offsets=offsets)
    rows: Any = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    steps = np.atleast_1d(np.asarray(offsets._payload))
    sizes = tuple(int(n) for n in shape)
    for wrong, message in (
        (diagonals.ndim not in (1, 2), "Diagonals must be vector or matrix"),
        (len(sizes) != 2, "Output shape must be 2d"),
        (steps.ndim != 1, "Offsets must be scalar or vector"),
        (
            rows.shape[0] != len(steps),
            f"Number of diagonals ({rows.shape[0]}) does not match the number of offsets ({len(steps)})",
        ),
        (
            layout not in (None, sparse_coo, sparse_csr, sparse_csc),
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {_layout_name(layout)}",
        ),
        (steps.dtype != np.int64, f"Offset Tensor must have dtype Long but got {BY_NUMPY[steps.dtype].scalar_name}"),
        (len(np.unique(steps)) != len(steps), "Offset tensor contains duplicate values"),
    ):
        if wrong:
            raise RuntimeError(message)
    which, column = np.indices(tuple(rows.shape)).reshape(2, -1)
    row = column - steps[which]
    inside = (row >= 0) & (row < sizes[0]) & (column < sizes[1])
    places = np.array([row[inside], column[inside]])
    values = rows.reshape(-1)[wrap(inside.nonzero()[0])]
    made = sparse_coo_tensor(wrap(places), values, sizes)
    return made if layout in (None, sparse_coo) else made.to_sparse(layout=layout)


def _layout_name(layout: Any) -> str:
    from ._payloads.compressed_errors import layout_name

    return layout_name(layout)


class check_sparse_tensor_invariants:
    """Whether constructors of sparse tensors check their indices: a context manager, a decorator, and a switch.

    >>> import wengert as torch
    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse_csr_tensor([0, 1, 3], [0, 1], [1, 2])
    Traceback (most recent call last):
    RuntimeError: `crow_indices[..., -1] == nnz` is not satisfied.
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether indices are checked."""
        return CHECKED.get()

    @staticmethod
    def enable() -> None:
        """Check indices from now on."""
        CHECKED.set(True)

    @staticmethod
    def disable() -> None:
        """Check indices no longer."""
        CHECKED.set(False)

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.saved_state = CHECKED.get()
        CHECKED.set(self.state)

    def __exit__(self, *error: Any) -> None:
        CHECKED.set(bool(self.saved_state))
        self.saved_state = None

    def __call__(self, function: Any) -> Any:
        """Decorate a function, in which indices are checked, or not."""

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """``gradcheck``, or a partial of it, for functions that take or return sparse tensors.

    With ``masked=True`` only the elements that a sparse tensor stores are varied, else all.

    >>> import wengert as torch
    >>> check = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
    >>> check(lambda x: x.to_sparse_csr(), torch.eye(2, dtype=torch.float64).to_sparse().requires_grad_())
    True
    """

    def check(func: Any, inputs: Any, **kwargs: Any) -> Any:
        masked = kwargs.pop("masked", False)
        given = inputs if isinstance(inputs, (list, tuple)) else (inputs,)
        varied = {i: t for i, t in enumerate(given) if _is_sparse_leaf(t)}
        patterns = {i: t.detach() if masked else _filled(t.detach()) for i, t in varied.items()}

        def on_values(*args: Any) -> Any:
            full = [_with_values(patterns[i], a) if i in patterns else a for i, a in enumerate(args)]
            made = func(*full)
            outputs = tuple(made) if isinstance(made, (list, tuple)) else (made,)
            dense = tuple(o.to_dense(masked_grad=masked) if _is_sparse_leaf(o) else o for o in outputs)
            return dense if isinstance(made, (list, tuple)) else dense[0]

        args = [_stored(patterns[i]).clone().requires_grad_() if i in patterns else t for i, t in enumerate(given)]
        return gradcheck(on_values, tuple(args), **kwargs)

    return check


def _is_sparse_leaf(t: Any) -> bool:
    return isinstance(t, Tensor) and t.requires_grad and t.layout is not strided


def _filled(t: Any) -> Any:
    """A sparse tensor that stores all elements of another."""
    ones = t.to_dense().new_ones(t.shape, dtype=bool_)
    parts = {"sparse_dim": t.sparse_dim()} if is_sparse(t) else {"layout": t.layout, "dense_dim": t.dense_dim()}
    return t.to_dense().sparse_mask(ones.to_sparse(**parts))


def _stored(t: Any) -> Tensor:
    return t._values() if is_sparse(t) else t.values()


def _with_values(t: Any, values: Tensor) -> Tensor:
    if is_sparse(t):
        return stored_at(t._payload.indices, values, t._payload.shape, t._payload.coalesced)
    from ._ops.names.compressed import with_values

    return with_values(t._payload, values)


def sum(input: Tensor, dim: int | tuple[int, ...] | None = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor's elements, over all dims or some.

    The result is sparse if a sparse dim is left. The gradient stores the same elements as ``input``.

    >>> import wengert as torch
    >>> torch.sparse.sum(torch.tensor([[0., 1.], [2., 3.]]).to_sparse(), 1).to_dense()
    tensor([1., 5.])
    """
    expect_tensors("_sparse_sum", input=input)
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return values(coalesce(input)).sum()
    if not is_sparse(input):
        raise missing("_indices", "SparseCsrCPU" if is_compressed(input) else "CPU")
    dims = sorted({normal_dim(d, input.ndim, "sum") for d in (dim if isinstance(dim, (tuple, list)) else (dim,))})
    return _sum_of_dims(input, dims)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Softmax along a dimension over the stored elements: the others count as minus infinity.

    >>> import wengert as torch
    >>> x = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3., 4., 4.], (2, 3))
    >>> torch.sparse.softmax(x, 1).values()
    tensor([1.0000, 0.5000, 0.5000])
    """
    expect_tensors("_sparse_softmax", input=input)
    return _over_stored(input, dim, dtype, "softmax")


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``."""
    expect_tensors("_sparse_log_softmax", input=input)
    return _over_stored(input, dim, dtype, "log_softmax")


def _over_stored(input: Tensor, dim: int, dtype: Any, name: str) -> Tensor:
    t: Any = input if dtype is None else input.to(dtype)
    if not is_sparse(t):
        raise missing(f"_sparse_{name}", "SparseCsrCPU" if is_compressed(t) else "CPU")
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
        shifted = v - top
        powers = shifted.exp()
        total = wrap(np.zeros_like(most)).index_add(0, at, powers)
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
        picked: Any = g[tuple(x.indices[left])] if left else g.unsqueeze(0)
        for d in dense:
            picked = picked.unsqueeze(d)
        return stored_at(x.indices, picked.expand(x.values.shape), x.shape, True)

    return recorded_by("SparseSumBackward0", summed(x, dims), (input,), formula)

"""``torch.lobpcg``: the largest or smallest eigenvalues of a symmetric problem ``A x = e B x``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.errors import noted
from ..._base.registry import PUBLIC, TENSORS, public
from ..._tape.tensor import Tensor
from .public import adjoint, cholesky, solve_triangular


@public("torch.lobpcg")
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) eigenvalues (*, k) and eigenvectors (*, m, k) of symmetric A (*, m, m).

    With a positive-definite B, those of ``A x = e B x``. They come from a full decomposition and are as exact as the
    dtype allows, so a start (``X``, ``iK``) and the parameters of the iteration (``niter``, ``tol``, ``method``,
    ``ortho_*``) have no effect; ``n`` and the shape of X are checked as in PyTorch.

    >>> values, vectors = torch.lobpcg(torch.diag(torch.tensor([1., 5., 3., 4.])), k=1)
    >>> values
    tensor([5.])
    """
    shape = tuple(A._payload.shape)
    m = shape[-1]
    assert shape[-2] == m, f"A must be square, got shape {A.shape}"
    assert B is None or tuple(B._payload.shape) == shape, f"A and B must have same shape, got {A.shape} vs {B.shape}"
    if tracker is not None:
        raise noted(
            NotImplementedError("lobpcg: tracker= is not supported"), "Why: there are no iterations to be tracked."
        )
    k = (1 if X is None else X._payload.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X._payload.shape[-1]
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    if X is None:  # PyTorch's start: later draws are those of PyTorch
        for _ in range(int(np.prod(shape[:-2]))):
            PUBLIC["torch"]["randn"](m, n, dtype=A.dtype)
    else:
        assert tuple(X._payload.shape[-2:]) == (m, n), f"X shape mismatch: got {X.shape}, expected {(m, n)}"
    return _pairs(A, B, k, largest is None or largest)


def _pairs(A: Any, B: Any, k: int, largest: bool) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors; ``B = L L^H`` turns the problem into that of ``L^-1 A L^-H``."""
    A = (A + adjoint(A)) / 2
    L = None
    if B is not None:
        L = cholesky((B + adjoint(B)) / 2)
        A = adjoint(solve_triangular(L, adjoint(solve_triangular(L, A, upper=False)), upper=False))
    values, vectors = TENSORS.eigen_hermitian(A, "L")
    last = values._payload.ndim - 1
    m = values._payload.shape[-1]
    first, end = (m - k, m) if largest else (0, k)
    values, vectors = (
        TENSORS.slice_dim(values, last, first, end, 1),
        TENSORS.slice_dim(vectors, last + 1, first, end, 1),
    )
    if largest:
        values, vectors = TENSORS.flip_dims(values, (last,)), TENSORS.flip_dims(vectors, (last + 1,))
    if L is not None:
        vectors = solve_triangular(adjoint(L), vectors, upper=True)
    return values, vectors

"""Products of Householder reflections, and the QR decomposition that leaves them: LAPACK's orgqr, ormqr and geqrf."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import column_order, in_columns
from ..._arrays.scipy_functions import from_scipy
from ..._base.dtypes import BY_NUMPY
from ..._base.registry import TENSORS, public
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import laid_out, receives
from ..._kinds.out import exactly, safely
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import require
from ..._payloads.batching import for_each_example
from ..._payloads.transforms import refuse_tangents
from ..._tape.promotion import logical_dtype
from ..._tape.refusal import UndefinedGradBackward, refusing
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from ..._tensor_api.construct import placed_beside
from .matmul import dtype_name, matmul
from .public import adjoint, matrix_shape

Geqrf = return_type("geqrf", "a", "tau")


@public("linalg.householder_product")
@with_out(safely("torch.linalg.householder_product"))
@laid_out(in_columns)
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections ``1 - tau_i v_i v_i^H``; v_i is column i of A below a one.

    >>> a, tau = torch.geqrf(torch.tensor([[3., 1.], [4., 2.]]))
    >>> torch.linalg.householder_product(a, tau)
    tensor([[-0.6000, -0.8000],
            [-0.8000,  0.6000]])
    """
    m, n = matrix_shape("linalg.householder_product", A, "input")[-2:]
    if m < n:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    k, ranks = tau._payload.shape[-1], (tau._payload.ndim, A._payload.ndim)
    if n < k:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if ranks[0] != ranks[1] - 1:
        raise RuntimeError(
            "torch.linalg.householder_product: Expected tau to have one dimension less than input, but got tau.ndim "
            f"equal to {ranks[0]} and input.ndim is equal to {ranks[1]}"
        )
    if logical_dtype(tau) is not logical_dtype(A):
        raise RuntimeError(
            f"torch.linalg.householder_product: tau dtype {dtype_name(tau)} does not match input dtype {dtype_name(A)}"
        )
    A, tau = receives(A), receives(tau)
    require(A, "fc", "orgqr_cpu")
    Q = placed_beside(A, np.broadcast_to(np.eye(m, n, dtype=logical_dtype(A)), (*A._payload.shape[:-2], m, n)).copy())
    for i in range(k - 1, -1, -1):
        Q = _reflected(Q, _reflector(A, i, m), TENSORS.select(tau, tau._payload.ndim - 1, i))
    if not k and (A._node is not None or tau._node is not None):  # without a reflection no gradient is defined
        return refusing(UndefinedGradBackward, None, (Q,), (A._node, tau._node))[0]
    return with_node_name(Q, "LinalgHouseholderProductBackward0")


def _reflector(A: Any, i: int, m: int) -> Any:
    """Column i of A below a one, zeros above."""
    rank = A._payload.ndim
    v = TENSORS.slice_dim(TENSORS.slice_dim(A, rank - 1, i, i + 1, 1), rank - 2, i + 1, m, 1)
    v = TENSORS.constant_pad_nd(v, (0, 0, i + 1, 0), 0)
    one = np.zeros((m, 1), logical_dtype(A))
    one[i] = 1
    return v + placed_beside(A, one)


def _reflected(Q: Any, v: Any, tau: Any) -> Any:
    scale = TENSORS.reshape(tau, (*tau._payload.shape, 1, 1))
    return Q - scale * matmul(v, matmul(adjoint(v), Q))


@public("torch.orgqr Tensor.orgqr")
@with_out(safely("torch.linalg.householder_product"))
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """``linalg.householder_product`` under its older name.

    >>> a, tau = torch.geqrf(torch.tensor([[3., 1.], [4., 2.]]))
    >>> torch.orgqr(a, tau)
    tensor([[-0.6000, -0.8000],
            [-0.8000,  0.6000]])
    """
    return householder_product(input, input2)


@public("torch.ormqr Tensor.ormqr")
@with_out(
    exactly(
        "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{Result} and result has "
        "dtype {Out}"
    )
)
@laid_out(in_columns)
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """The product of the reflections of ``householder_product`` (or its adjoint) and a matrix, from either side.

    >>> a, tau = torch.geqrf(torch.tensor([[3., 1.], [4., 2.]]))
    >>> torch.ormqr(a, tau, torch.eye(2))
    tensor([[-0.6000, -0.8000],
            [-0.8000,  0.6000]])
    """
    tau, other = input2, input3
    for name, t in (("input", input), ("other", other)):
        if t._payload.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    m, n = input._payload.shape[-2:]
    side = -2 if left else -1
    rows = other._payload.shape[side]
    if rows < tau._payload.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if rows != m:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau._payload.shape[-1] != min(rows, n):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    for name, t, dims in (("tau", tau, 1), ("other", other, 2)):
        batch = t._payload.shape[: t._payload.ndim - dims]
        if len(batch) != input._payload.ndim - 2:
            less = "one dimension less than" if dims == 1 else "the same number of dimensions as"
            raise RuntimeError(
                f"torch.ormqr: Expected {name} to have {less} input, but got {name}.ndim equal to {t._payload.ndim} "
                f"and input.ndim is equal to {input._payload.ndim}"
            )
        if batch != input._payload.shape[:-2]:
            raise RuntimeError(
                f"torch.ormqr: Expected batch dimensions of {name} to be equal to input.shape[:-2], but got "
                f"{list(batch)}"
            )
        if logical_dtype(t) is not logical_dtype(input):
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype"
                f"{BY_NUMPY[logical_dtype(input)].scalar_name} and {name} has dtype "
                f"{BY_NUMPY[logical_dtype(t)].scalar_name}"
            )
    input, tau, other = receives(input), receives(tau), receives(other, column_order(other._payload.ndim))
    if not left:
        return without_view(adjoint(ormqr(input, tau, adjoint(other), True, not transpose)), "OrmqrBackward0")
    k = tau._payload.shape[-1]
    if not k:
        return other.clone()
    for i in range(k) if transpose else range(k - 1, -1, -1):
        t = TENSORS.select(tau, tau._payload.ndim - 1, i)
        other = _reflected(
            other, _reflector(input, i, m), TENSORS.conj(t) if transpose and logical_dtype(t).kind == "c" else t
        )
    return with_node_name(other, "OrmqrBackward0")


@public("torch.geqrf Tensor.geqrf")
@with_out(safely("torch.geqrf", "a"))
def geqrf(input: Tensor) -> Any:
    """R and the reflections of a QR decomposition, as LAPACK's geqrf leaves them; no derivative.

    >>> torch.geqrf(torch.tensor([[3., 1.], [4., 2.]])).tau
    tensor([1.6000, 0.0000])
    """
    matrix_shape("torch.geqrf", input, "input")
    require(input, "fc", "geqrf_cpu")
    refuse_tangents("geqrf", input)
    if (each := for_each_example(geqrf, input)) is not None:
        return each
    a = np.asarray(input.detach()._payload)
    lead, (m, n) = a.shape[:-2], a.shape[-2:]
    r, tau = np.empty(a.shape, a.dtype), np.zeros((*lead, min(m, n)), a.dtype)
    scipy_qr = from_scipy("linalg").qr

    for index in np.ndindex(*lead):
        (raw, t), _ = scipy_qr(a[index], mode="raw", check_finite=False)
        r[index], tau[index] = raw, t
    return Geqrf((wrap(in_columns(r)), wrap(tau)))

"""LU factors: ``torch.linalg.lu`` and its like, and the older functions of ``torch``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import column_order, in_columns, in_rows
from ..._base.registry import TENSORS, public
from ..._kinds.dims import EVERY_DIM
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import lay, receives
from ..._kinds.out import EXACT
from ..._kinds.slow_path import refuse_elements
from ..._payloads.meta import on_meta
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from ..._tensor_api.construct import placed_beside
from ..random._common import closed, opened
from .decompositions import unpack_lu
from .matmul import matmul
from .public import Lu, LuFactor, LuFactorEx, LuUnpack, _info, _kernel_floats, adjoint, same_batch, square_size


def _lu_input(A: Any, name: str) -> None:
    if A._payload.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A._payload.shape)} instead"
        )
    if A._payload.size:
        _kernel_floats("lu_cpu", A)


@public("linalg.lu_factor")
@with_out(EXACT)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """L and U of ``A = P L U`` in one matrix, and the rows that were exchanged (from 1).

    >>> torch.linalg.lu_factor(torch.tensor([[1., 2.], [2., 1.]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    LU, pivots, _ = _factored(A, pivot, "torch.linalg.lu_factor", True)
    return LuFactor((LU, pivots))


def _factored(A: Tensor, pivot: Any, name: str, checked: Any) -> tuple[Tensor, Tensor, Tensor]:
    """LU, its pivots and, for each matrix, 0 or the place of its first zero pivot, which is an error if ``checked``."""
    _lu_input(A, "torch.lu_factor")
    LU, pivots = TENSORS.lu_compact(A, bool(pivot))
    if on_meta(A):
        return LU, pivots, _info(A)
    lu, tags = opened(LU.detach()._payload)
    zero = np.einsum("...ii->...i", lu[..., : min(lu.shape[-2:]), : min(lu.shape[-2:])]) == 0
    info = np.asarray(
        np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else np.zeros(lu.shape[:-2]), np.int32
    )
    bad = np.flatnonzero(info)
    if checked and bad.size:
        i = info.flat[bad[0]]
        which = f"(Batch element {bad[0]}): " if info.ndim else ""
        raise RuntimeError(
            f"{name}: {which}U[{i},{i}] is zero and using it on lu_solve would result in a division by zero. If you "
            "still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, "
            "pivot)"
        )
    return LU, pivots, placed_beside(A, closed(info, tags))


@public("linalg.lu_factor_ex")
@with_out(EXACT)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """``lu_factor`` and, for each matrix, 0 or the place of the first zero pivot.

    >>> torch.linalg.lu_factor_ex(torch.tensor([[1., 2.], [2., 1.]])).info
    tensor(0, dtype=torch.int32)
    """
    return LuFactorEx(_factored(A, pivot, "torch.linalg.lu_factor_ex", check_errors))


def _check_pivots(pivots: Any, m: int, too_small: str, too_large: str) -> None:
    for bad, text in ((lambda a: a.min() < 1, too_small), (lambda a: a.max() > m, too_large)):
        refuse_elements(pivots._payload, bad, text + "Did you properly pass the result of lu_factor?")


def _permutation(pivots: Any, m: int, dtype: Any) -> Any:
    return cast(TENSORS.permutation_of(pivots.detach(), m), dtype)


_OUTSIDE = "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."


@public("torch.lu_unpack")
@with_out(EXACT)
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from the results of ``lu_factor``; a factor that is not wanted is empty.

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[1., 2.], [2., 1.]]))
    >>> torch.lu_unpack(LU, pivots).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    if unpack_pivots and logical_dtype(LU_pivots).name != "int32":
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
            "function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    dtype = logical_dtype(LU_data)
    empty = wrap(np.zeros(0, dtype))
    if unpack_pivots:
        _check_pivots(LU_pivots, LU_data._payload.shape[-2], _OUTSIDE, _OUTSIDE)
    P = _permutation(LU_pivots, LU_data._payload.shape[-2], dtype) if unpack_pivots else empty
    if not unpack_data:
        return LuUnpack((P, empty, empty))
    L, U = (with_node_name(cast(factor, dtype), "LuUnpackBackward0") for factor in unpack_lu(TENSORS, LU_data))
    return LuUnpack((P, L, U))


@public("linalg.lu")
@with_out(EXACT)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """``A = P L U`` with a permutation, a lower triangular matrix with ones on its diagonal, and an upper one.

    >>> torch.linalg.lu(torch.tensor([[1., 2.], [2., 1.]])).U
    tensor([[2.0000, 1.0000],
            [0.0000, 1.5000]])
    """
    _lu_input(A, "linalg.lu")
    LU, pivots = TENSORS.lu_compact(A, bool(pivot))
    dtype = logical_dtype(A)
    L, U = (with_node_name(cast(factor, dtype), "LinalgLuBackward0") for factor in unpack_lu(TENSORS, LU))
    P = _permutation(pivots, A._payload.shape[-2], dtype) if pivot else wrap(np.zeros(0, dtype))
    return Lu((P, L, U))


_adjoint = adjoint  # the name is lu_solve's parameter


@public("linalg.lu_solve")
@with_out(EXACT)
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with ``A X = B`` (or ``X A = B``, or with ``A^H``) from the LU factorization of A.

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[1., 2.], [2., 1.]]))
    >>> torch.linalg.lu_solve(LU, pivots, torch.tensor([[3.], [3.]]))
    tensor([[1.],
            [1.]])
    """
    square_size("torch.linalg.lu_solve", LU)
    LU, B = same_batch(LU, B)
    if LU._payload.size:
        _kernel_floats("linalg.lu_solve_cpu", LU)
    _check_pivots(
        pivots,
        LU._payload.shape[-2],
        "Pivots given to lu_solve must all be greater or equal to 1. ",
        "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). ",
    )
    rows, columns = EVERY_DIM[B._payload.ndim], column_order(B._payload.ndim)
    LU = receives(LU, rows)
    if left:
        X = lay(_solved(LU, pivots, receives(B, columns), adjoint), in_columns)
    else:
        X = lay(without_view(_adjoint(_solved(LU, pivots, _adjoint(receives(B, rows)), not adjoint))), in_rows)
    return with_node_name(X, "LinalgLuSolveBackward0")


def _solved(LU: Any, pivots: Any, B: Any, adjoint: bool) -> Any:
    P = _permutation(pivots, LU._payload.shape[-1], logical_dtype(LU))
    if adjoint:
        W = TENSORS.triangular_solve_left(_adjoint(LU), B, False, False)
        return matmul(P, TENSORS.triangular_solve_left(_adjoint(LU), W, True, True))
    W = TENSORS.triangular_solve_left(LU, matmul(P.mT, B), False, True)
    return TENSORS.triangular_solve_left(LU, W, True, False)

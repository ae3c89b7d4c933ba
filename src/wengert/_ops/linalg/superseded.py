"""Functions of matrices that ``linalg`` has under other names, and that warn of it as in PyTorch."""

from __future__ import annotations

from typing import Any

from ..._arrays.layouts import in_columns, in_rows
from ..._base.errors import warn_once
from ..._base.registry import TENSORS, public
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import laid_out, lay
from ..._kinds.out import ANY, EXACT, safely, write_out
from ..._kinds.slow_path import check_arguments
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from .einsum import multi_dot
from .lu import lu_factor_ex, lu_solve
from .public import OldQr, TriangularSolve, cholesky, qr, same_batch, same_dtypes_of_system, square_size


def superseded(old: str, new: str, advice: str) -> None:
    """Warn of a function that ``linalg`` has too; ``new`` ends as in PyTorch's text, with a blank or without."""
    warn_once(
        f"torch.{old} is deprecated in favor of torch.linalg.{new}and will be removed in a future PyTorch release.\n"
        + advice
    )


@public("torch.cholesky Tensor.cholesky")
@with_out(safely("cholesky"))
def old_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.cholesky``.

    >>> torch.cholesky(torch.tensor([[4., 2.], [2., 2.]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    superseded(
        "cholesky", "cholesky ", "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
        "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive definite) inputs.",
    )  # fmt: skip
    square_size("cholesky", input)
    L = with_node_name(cholesky(input, upper=upper), "CholeskyBackward0")
    return L if L._payload.size else lay(L, in_rows)


@public("torch.qr Tensor.qr")
@with_out(EXACT)
def old_qr(input: Tensor, some: bool = True) -> Any:
    """Deprecated in PyTorch: see ``linalg.qr``.

    >>> torch.qr(torch.tensor([[3., 1.], [4., 2.]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    superseded(
        "qr", "qr ", "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    )  # fmt: skip
    return OldQr(qr(input, "reduced" if some else "complete"))


@public("torch.triangular_solve Tensor.triangular_solve")
@with_out(EXACT)
@laid_out(in_columns)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """Deprecated in PyTorch: see ``linalg.solve_triangular``.

    >>> torch.triangular_solve(torch.tensor([[2.], [4.]]), 2 * torch.eye(2)).solution
    tensor([[1.],
            [2.]])
    """
    superseded(
        "triangular_solve", "solve_triangular",
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B).",
    )  # fmt: skip
    check_arguments("triangular_solve", b, A, upper, transpose, unitriangular)
    same_dtypes_of_system(b, A)
    A, b = same_batch(A, b)
    source = A.mT if transpose else A
    X = TENSORS.triangular_solution(b, source, bool(upper) != bool(transpose), bool(unitriangular))
    return TriangularSolve((X, A.clone()))


@public("torch.lu Tensor.lu")
@with_out(ANY)
def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Deprecated in PyTorch: see ``linalg.lu_factor``.

    >>> torch.lu(torch.tensor([[1., 2.], [2., 1.]]))
    (tensor([[2.0000, 1.0000],
            [0.5000, 1.5000]]), tensor([2, 2], dtype=torch.int32))
    """
    superseded(
        "lu", "lu_factor / torch.linalg.lu_factor_ex ", "LU, pivots = torch.lu(A, compute_pivots)\n"
        "should be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    )  # fmt: skip
    LU, pivots, info = lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@public("torch.lu_solve Tensor.lu_solve")
@with_out(EXACT)
def old_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.lu_solve``.

    >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[1., 2.], [2., 1.]]))
    >>> torch.lu_solve(torch.tensor([[3.], [3.]]), LU, pivots)
    tensor([[1.],
            [1.]])
    """
    superseded(
        "lu_solve", "lu_solve", "Note that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)",
    )  # fmt: skip
    return lu_solve(LU_data, LU_pivots, b)


@public("torch.chain_matmul")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Deprecated in PyTorch: see ``linalg.multi_dot``.

    >>> torch.chain_matmul(torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1))
    tensor([[6.]])
    """
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters.",
    )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for m in matrices:
        if m._payload.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {m._payload.ndim}, expected 2 instead.")
    if len(matrices) > 1:
        return multi_dot(matrices, out=out)
    return matrices[0].clone() if out is None else write_out(out, Tensor.clone, matrices)

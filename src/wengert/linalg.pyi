# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Sequence
from typing import Any
from . import return_types as _return_types
from ._base.dtypes import dtype as _dtype
from ._tape.tensor import Ints, Tensor
from . import det as det, matmul as matmul, matrix_exp as matrix_exp, matrix_power as matrix_power
class LinAlgError(RuntimeError): ...
def cholesky(A: Tensor, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """The lower triangular L with ``L L^H = A`` (or the upper one) of Hermitian positive-definite matrices."""
def cholesky_ex(A: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_cholesky_ex:
    """``cholesky`` and, for each matrix, 0 or the order of the minor that is not positive-definite."""
def cond(A: Tensor, p: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number of matrices in a norm (see ``matrix_norm``); the ratio of singular values by default."""
def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The cross products of the vectors of length 3 along ``dim``; the other dimensions broadcast."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """``torch.diagonal`` of the last two dimensions."""
def eig(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_eig:
    """Eigenvalues and eigenvectors (columns of length one) of square matrices, complex whatever A is."""
def eigh(A: Tensor, UPLO: _str = 'L', *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_eigh:
    """Eigenvalues (ascending) and orthonormal eigenvectors (columns) of Hermitian matrices."""
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex whatever A is."""
def eigvalsh(A: Tensor, UPLO: _str = 'L', *, out: Tensor | None = None) -> Tensor:
    """The eigenvalues of Hermitian matrices, in ascending order."""
def householder_product(A: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of reflections ``1 - tau_i v_i v_i^H``; v_i is column i of A below a one."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of each square matrix."""
def inv_ex(A: Tensor, *, check_errors: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_inv_ex:
    """The inverses and, for each matrix, 0 or the position of the zero pivot that makes it singular."""
def ldl_factor(A: Tensor, *, hermitian: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_ldl_factor:
    """L and D with ``A = L D L^T`` (``L^H`` if ``hermitian``), D with blocks of size 1 and 2, in one compact matrix."""
def ldl_factor_ex(A: Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_ldl_factor_ex:
    """``ldl_factor`` and, for each matrix, 0 or the place (from 1) of a zero in D; an error with ``check_errors``."""
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: _bool = False, out: Tensor | None = None) -> Tensor:
    """X with ``A X = B`` for the decomposition of A that ``ldl_factor`` made; (*, n, k), the batches broadcast."""
def lstsq(A: Tensor, B: Tensor, rcond: _float | None = None, *, driver: _str | None = None, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_lstsq:
    """X that minimises ``|A X - B|``, the squared residuals of its columns, A's rank and its singular values."""
def lu(A: Tensor, *, pivot: _bool = True, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_lu:
    """``A = P L U`` with a permutation, a lower triangular matrix with ones on its diagonal, and an upper one."""
def lu_factor(A: Tensor, *, pivot: _bool = True, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_lu_factor:
    """L and U of ``A = P L U`` in one matrix, and the rows that were exchanged (from 1)."""
def lu_factor_ex(A: Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_lu_factor_ex:
    """``lu_factor`` and, for each matrix, 0 or the place of the first zero pivot."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: _bool = True, adjoint: _bool = False, out: Tensor | None = None) -> Tensor:
    """X with ``A X = B`` (or ``X A = B``, or with ``A^H``) from the LU factorization of A."""
def matrix_norm(A: Tensor, ord: Any = 'fro', dim: Ints = (-2, -1), keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf (sums of columns, singular values, sums of rows)."""
def matrix_rank(A: Tensor, tol: Any = None, hermitian: _bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """The number of singular values above ``max(atol, rtol * largest)``."""
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of several matrices, in the order of multiplication that costs least."""
def norm(A: Tensor, ord: Any | _str | None = None, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Norm of a vector (``ord`` a number) or of matrices (``ord`` a number or ``"fro"``, ``"nuc"``), as in NumPy."""
def pinv(A: Tensor, rcond: Any = None, hermitian: _bool = False, *, atol: Any = None, rtol: Any = None, out: Tensor | None = None) -> Tensor:
    """The Moore-Penrose inverse; singular values up to ``max(atol, rtol * largest)`` count as zero."""
def qr(A: Tensor, mode: _str = 'reduced', *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_qr:
    """``A = Q R`` with orthonormal columns and an upper triangular factor; ``mode``: "reduced", "complete" or "r"."""
def slogdet(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_slogdet:
    """The sign of each determinant and the logarithm of its absolute value."""
def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """X with ``A X = B`` (``X A = B`` if not ``left``) for square A; B holds columns, or is a vector of each batch."""
def solve_ex(A: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_solve_ex:
    """``solve`` and LAPACK's info for each matrix, which is not 0 where A is singular."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: _bool, left: _bool = True, unitriangular: _bool = False, out: Tensor | None = None) -> Tensor:
    """X with ``A X = B`` (``X A = B`` if not ``left``) for triangular A, of which only that triangle is read."""
def svd(A: Tensor, full_matrices: _bool = True, *, driver: _str | None = None, out: Tensor | Sequence[Tensor] | None = None) -> _return_types.linalg_svd:
    """``A = U diag(S) Vh``: singular values, descending, between orthonormal columns and rows."""
def svdvals(A: Tensor, *, driver: _str | None = None, out: Tensor | None = None) -> Tensor:
    """The singular values of matrices, in descending order."""
def tensorinv(A: Tensor, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the map ``tensordot(A, x)``, whose output has the first ``ind`` dimensions of A."""
def tensorsolve(A: Tensor, B: Tensor, dims: Ints | None = None, *, out: Tensor | None = None) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A are moved to its end first."""
def vander(x: Tensor, *, N: _int | None = None) -> Tensor:
    """The powers 0 to N - 1 of each element, along a new last dimension."""
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Dot products of the vectors along ``dim``, x conjugated; the other dimensions broadcast."""
def vector_norm(x: Tensor, ord: _int | _float = 2, dim: Ints | None = None, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Norm of the elements as one vector, or of the vectors along dims. ``ord`` is any number, 0, inf or -inf."""

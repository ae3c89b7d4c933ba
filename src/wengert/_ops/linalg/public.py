"""``torch.linalg`` and the older functions of ``torch``: checks, shapes and names around ``decompositions``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.layouts import column_order, in_columns, in_rows
from ..._arrays.library import lib
from ..._arrays.linalg import begun_cholesky, lu_of, minor_of, position_text
from ..._base.dtypes import BLAS_DTYPES
from ..._base.errors import LinAlgError
from ..._base.registry import TENSORS, public, publish
from ..._kinds.dims import EVERY_DIM
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import lay, receives
from ..._kinds.out import EXACT, exactly, safely
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import check_arguments, refuse_elements
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from ..._tensor_api.construct import placed_beside
from ..random._common import closed, opened
from .matmul import dtype_name, same_dtype

publish(LinAlgError, "linalg.LinAlgError")

Eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
Eig = return_type("linalg_eig", "eigenvalues", "eigenvectors")
Svd = return_type("linalg_svd", "U", "S", "Vh")
OldSvd = return_type("svd", "U", "S", "V")
Qr = return_type("linalg_qr", "Q", "R")
OldQr = return_type("qr", "Q", "R")
Slogdet = return_type("linalg_slogdet", "sign", "logabsdet")
OldSlogdet = return_type("slogdet", "sign", "logabsdet")
InvEx = return_type("linalg_inv_ex", "inverse", "info")
CholeskyEx = return_type("linalg_cholesky_ex", "L", "info")
SolveEx = return_type("linalg_solve_ex", "result", "info")
LuFactor = return_type("linalg_lu_factor", "LU", "pivots")
LuFactorEx = return_type("linalg_lu_factor_ex", "LU", "pivots", "info")
Lu = return_type("linalg_lu", "P", "L", "U")
LuUnpack = return_type("lu_unpack", "P", "L", "U")
TriangularSolve = return_type("triangular_solve", "solution", "cloned_coefficient")


# ---- checks
def matrix_shape(name: str, A: Any, what: str = "A") -> tuple[int, ...]:
    """The shape of A, which must be a matrix or a batch of matrices."""
    if not isinstance(A, Tensor):
        expect_tensors(name.replace(".", "_"), **{what: A})
    shape = tuple(A._payload.shape)
    if len(shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {what} must have at least 2 dimensions.")
    return shape


def square_size(name: str, A: Any) -> int:
    shape = matrix_shape(name, A)
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
        )
    return shape[-1]


def floating(name: str, A: Any) -> None:
    """Raise PyTorch's error unless A is floating or complex."""
    if logical_dtype(A).kind not in "fcV":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {dtype_name(A)}")


def floats(name: str, A: Any, kernel: str | None = None) -> None:
    """Raise PyTorch's error unless A is floating or complex and not half precision."""
    if A._payload.dtype not in BLAS_DTYPES:
        floating(name, A)
        no_half(name, A, kernel)


def matrix_floats(name: str, A: Any, kernel: str | None = None) -> None:
    """Raise PyTorch's errors unless A is a matrix or a batch of matrices that ``floats`` takes."""
    a = getattr(A, "_payload", None)
    if type(a) is not np.ndarray or a.ndim < 2 or a.dtype not in BLAS_DTYPES:
        matrix_shape(name, A)
        floats(name, A, kernel)


def square_floats(name: str, A: Any, kernel: str | None = None, refuse: Any = floats) -> None:
    """Raise PyTorch's errors unless A is a square matrix or a batch of them that ``floats``, or ``refuse``, takes."""
    a = getattr(A, "_payload", None)
    if type(a) is not np.ndarray or a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.dtype not in BLAS_DTYPES:
        square_size(name, A)
        refuse(name, A, kernel)


# Kernels that matrices without elements never reach.
_WITHOUT_ELEMENTS = ("lu_cpu", "ldl_factor_kernel_cpu", "linalg_svd_cpu", "cholesky_cpu", "linalg_eigh_cpu")


def no_half(name: str, A: Any, kernel: str | None) -> None:
    if logical_dtype(A).itemsize == 2 and (A._payload.size or kernel not in _WITHOUT_ELEMENTS):
        if kernel is not None:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype_name(A)}'")
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {dtype_name(A)}")


def _kernel_floats(kernel: str, A: Any) -> None:
    """Raise the kernel's own error for dtypes that it lacks."""
    if A._payload.dtype in BLAS_DTYPES:
        return
    dtype = logical_dtype(A)
    half = dtype.itemsize == 2 and dtype.kind in "fV" and (A._payload.size or kernel not in _WITHOUT_ELEMENTS)
    if dtype.kind not in "fcV" or half:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype_name(A)}'")


def _info(A: Any) -> Any:
    """LAPACK's int32 info for each matrix where nothing went wrong."""
    return placed_beside(A, np.zeros(tuple(A._payload.shape[:-2]), np.int32))


def _infos(A: Any, of: Any) -> Any:
    """The info of each matrix, computed by the function ``of``."""
    a = opened(A.detach()._payload)[0]
    r = np.zeros(a.shape[:-2], np.int32)
    for index in np.ndindex(*r.shape):
        r[index] = of(a[index])
    return r


def beside(A: Any, a: Any) -> Any:
    """A tensor of an array that was made of all of A's memory, the dims of its vmaps in front."""
    return placed_beside(A, a if type(A._payload) is np.ndarray else closed(a, opened(A.detach()._payload)[1]))


def _zero_pivot(a: Any) -> int:
    return lu_of(a)[2]


def _one_by_one(A: Any, infos: Any, of: Any, failed: Any = lambda a: math.nan) -> Any:
    """``of`` each matrix whose info is 0, ``failed`` of the others."""
    a = opened(A.detach()._payload)[0]
    r = np.empty(a.shape, a.dtype)
    for index in np.ndindex(*infos.shape):
        r[index] = (failed if infos[index] else of)(a[index])
    return r


def adjoint(t: Any) -> Any:
    return TENSORS.conj(t.mT) if logical_dtype(t).kind == "c" else t.mT


# ---- inverse, determinant
@public("linalg.inv torch.inverse torch.linalg_inv Tensor.inverse")
@with_out(EXACT)
def inv(A: Tensor) -> Tensor:
    """The inverse of each square matrix.

    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    square_floats("linalg.inv", A)
    return TENSORS.inverse(A)


@public("linalg.inv_ex")
@with_out(EXACT)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverses and, for each matrix, 0 or the position of the zero pivot that makes it singular.

    >>> torch.linalg.inv_ex(2 * torch.eye(2)).info
    tensor(0, dtype=torch.int32)
    """
    square_floats("linalg.inv", A)
    try:
        return InvEx((TENSORS.inverse(A), _info(A)))
    except LinAlgError as error:
        if check_errors:
            raise LinAlgError(str(error).replace("linalg.inv:", "linalg.inv_ex:")) from None
    infos = _infos(A, _zero_pivot)
    return InvEx((beside(A, _one_by_one(A, infos, lib.linalg.inv)), beside(A, infos)))


def _det_floats(name: str, A: Any, kernel: str | None) -> None:
    if A._payload.size:
        floats(name, A, kernel)
    floating(name, A)


@public("linalg.det torch.det Tensor.det")
@with_out(EXACT)
def det(A: Tensor) -> Tensor:
    """The determinant of each square matrix; its derivative is right for singular matrices too.

    >>> torch.linalg.det(torch.tensor([[1., 2.], [3., 4.]]))
    tensor(-2.)
    """
    square_floats("linalg.det", A, "lu_cpu", _det_floats)
    return TENSORS.determinant(A)


@public("linalg.slogdet")
@with_out(EXACT)
def slogdet(A: Tensor) -> Any:
    """The sign of each determinant and the logarithm of its absolute value.

    >>> torch.linalg.slogdet(torch.tensor([[0., 1.], [2., 0.]])).sign
    tensor(-1.)
    """
    square_floats("linalg.slogdet", A)
    return Slogdet(TENSORS.sign_logdet(A))


@public("torch.slogdet Tensor.slogdet")
@with_out(EXACT)
def old_slogdet(input: Tensor) -> Any:
    """See ``linalg.slogdet``.

    >>> torch.slogdet(torch.tensor([[0., 1.], [2., 0.]]))
    torch.return_types.slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(0.6931))
    """
    return OldSlogdet(slogdet(input))


@public("torch.logdet Tensor.logdet")
def logdet(input: Tensor) -> Tensor:
    """The logarithm of each determinant: nan where it is negative, -inf where it is zero.

    >>> torch.logdet(torch.tensor([[2., 0.], [0., 3.]]))
    tensor(1.7918)
    """
    square_floats("logdet", input)
    sign, log = TENSORS.sign_logdet(input)
    if logical_dtype(input).kind == "c":
        return TENSORS.log(sign) + log
    if input._node is None and isinstance(sign._payload, np.generic):  # nothing shows PyTorch's choice by elements
        return wrap(np.array(math.nan, sign._payload.dtype)) if sign._payload == -1.0 else log
    return TENSORS.where(sign == -1.0, wrap(np.array(math.nan, logical_dtype(input))), log)


# ---- systems of equations
def _solve_shapes(name: str, A: Any, B: Any, left: bool) -> tuple[Any, Any, bool]:
    """A and B with the same batch, and whether B was a (batch of) vector(s), of which one for many A is a column."""
    square_size(name, A)
    a, b = tuple(A._payload.shape), tuple(B._payload.shape)
    if A._payload.dtype is not B._payload.dtype:
        same_dtype(name, A=A, B=B)
    vector = len(b) == 1 or b == a[:-1]
    if vector:
        if not left:
            raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False")
        if b == a[:-1]:
            return A, B, True
        B = TENSORS.reshape(B, (*b, 1))
        b = (*b, 1)
    _check_equation(name, a, b, left)
    return *same_batch(A, B), vector


def _check_equation(name: str, a: tuple[int, ...], b: tuple[int, ...], left: bool) -> None:
    if a[-1] != b[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )


def same_dtypes_of_system(b: Any, A: Any) -> None:
    """Raise the error of PyTorch's older solvers unless both sides have the same dtype."""
    if logical_dtype(b) is not logical_dtype(A):
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {dtype_name(b)} and A of type "
            f"{dtype_name(A)} instead."
        )


def same_batch(A: Any, B: Any) -> tuple[Any, Any]:
    """A and B broadcast to common batch dimensions."""
    a, b = tuple(A._payload.shape), tuple(B._payload.shape)
    if a[:-2] == b[:-2]:
        return A, B
    try:
        lead = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        from ..._tape.error_text import broadcast_error

        raise broadcast_error(np.empty(a[:-2], bool), np.empty(b[:-2], bool)) from None
    return tuple(
        t if tuple(t._payload.shape[:-2]) == lead else TENSORS.expand(t, (*lead, *t._payload.shape[-2:]))
        for t in (A, B)
    )


@public("linalg.solve")
@with_out(EXACT)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with ``A X = B`` (``X A = B`` if not ``left``) for square A; B holds columns, or is a vector of each batch.

    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    A, B, vector = _solve_shapes("linalg.solve", A, B, left)
    floats("linalg.solve", A, "lu_cpu")
    if left and not vector:
        return TENSORS.solve_left(A, B)
    if left and B._payload.ndim < A._payload.ndim:
        X = TENSORS.solve_left(A, B)
        return X if X._payload.ndim == 1 else lay(X, in_columns)
    if left:
        X, place = TENSORS.solve_left(A, B), in_columns
    else:
        X, place = TENSORS.solve_left(receives(A, EVERY_DIM[A._payload.ndim]).mT, B.mT).mT, in_rows
    return lay(without_view(X.squeeze(-1) if vector else X, "LinalgSolveExBackward0"), place)


@public("linalg.solve_ex")
@with_out(EXACT)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """``solve`` and LAPACK's info for each matrix, which is not 0 where A is singular.

    >>> torch.linalg.solve_ex(2 * torch.eye(2), torch.tensor([2., 4.])).result
    tensor([1., 2.])
    """
    try:
        return SolveEx((solve(A, B, left=left), _info(A)))
    except LinAlgError:
        if check_errors:
            raise
    nan = solve(eye_of(A), B, left=left).detach() * math.nan
    return SolveEx((nan, beside(A, _infos(A, _zero_pivot))))


def eye_of(A: Any) -> Any:
    """Identity matrices of A's shape and dtype."""
    a = np.zeros(tuple(A._payload.shape), logical_dtype(A))
    a[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    return placed_beside(A, a)


@public("linalg.solve_triangular")
@with_out(exactly("expected scalar type {Result} but found {Out}"))
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with ``A X = B`` (``X A = B`` if not ``left``) for triangular A, of which only that triangle is read.

    >>> torch.linalg.solve_triangular(torch.tensor([[1., 1.], [0., 2.]]), torch.tensor([[3.], [4.]]), upper=True)
    tensor([[1.],
            [2.]])
    """
    name = "linalg.solve_triangular"
    square_size(name, A)
    matrix_shape(name, B, "B")
    _check_equation(name, tuple(A._payload.shape), tuple(B._payload.shape), left)
    if logical_dtype(A).kind == logical_dtype(B).kind == "f":  # PyTorch does not ask
        B = cast(B, logical_dtype(A))
    same_dtype(name, A=A, B=B)
    A, B = same_batch(A, B)
    if left:
        return TENSORS.triangular_solve_left(A, B, bool(upper), bool(unitriangular))
    n = A._payload.ndim
    A, B = receives(A, EVERY_DIM[n]), receives(B, column_order(n))
    X = TENSORS.triangular_solve_left(A.mT, B.mT, not upper, bool(unitriangular))
    return lay(without_view(X.mT, "LinalgSolveTriangularBackward0"), in_columns)


# ---- Cholesky
@public("linalg.cholesky")
@with_out(EXACT)
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with ``L L^H = A`` (or the upper one) of Hermitian positive-definite matrices.

    >>> torch.linalg.cholesky(torch.tensor([[4., 2.], [2., 2.]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    square_floats("linalg.cholesky", A, "cholesky_cpu")
    return TENSORS.cholesky_factor(A, bool(upper))  # type: ignore[no-any-return]


@public("linalg.cholesky_ex")
@with_out(EXACT)
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """``cholesky`` and, for each matrix, 0 or the order of the minor that is not positive-definite.

    >>> torch.linalg.cholesky_ex(torch.tensor([[4., 2.], [2., 2.]])).L
    tensor([[2., 0.],
            [1., 1.]])
    """
    try:
        return CholeskyEx((cholesky(A, upper=upper), _info(A)))
    except LinAlgError:
        if check_errors:
            raise
    read = adjoint(A) if upper else A  # of which the lower triangle is read
    infos = _infos(read, minor_of)
    r = np.tril(_one_by_one(read, infos, lib.linalg.cholesky, begun_cholesky))
    return CholeskyEx((beside(A, r.swapaxes(-1, -2).conj() if upper else r), beside(A, infos)))


@public("torch.cholesky_solve Tensor.cholesky_solve")
@with_out(safely("cholesky_solve"))
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """X with ``A X = input`` where ``A = L L^H`` (``L^H L`` if ``upper``) and L is ``input2``.

    >>> torch.cholesky_solve(torch.tensor([[8.], [4.]]), 2 * torch.eye(2))
    tensor([[2.],
            [1.]])
    """
    B, L = input, input2
    same_dtypes_of_system(B, L)
    for name, t in (("b", B), ("u", L)):
        if t._payload.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {t._payload.ndim} dimensions instead"
            )
    if L._payload.shape[-1] != L._payload.shape[-2]:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {L._payload.shape[-2]} by "
            f"{L._payload.shape[-1]} matrices"
        )
    if L._payload.shape[-1] != B._payload.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L._payload.shape[-1]} by "
            f"{L._payload.shape[-1]} but "
            f"each b matrix is {B._payload.shape[-2]} by {B._payload.shape[-1]}"
        )
    L, B = same_batch(L, B)
    _kernel_floats("cholesky_solve_cpu", L)
    return TENSORS.cholesky_solution(B, L, bool(upper))


@public("torch.cholesky_inverse Tensor.cholesky_inverse")
@with_out(safely("cholesky_inverse"))
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of ``A = L L^H`` (``L^H L`` if ``upper``).

    >>> torch.cholesky_inverse(2 * torch.eye(2)).diagonal()
    tensor([0.2500, 0.2500])
    """
    square_size("cholesky_inverse", L)
    _kernel_floats("cholesky_inverse_out_cpu", L)
    a = L._payload
    if type(a) is np.ndarray and (zeros := np.argwhere(a.diagonal(0, -2, -1) == 0)).size:
        *index, place = zeros[0].tolist()
        raise LinAlgError(
            f"cholesky_inverse: {position_text(tuple(index), a.shape[:-2])}The diagonal element {place + 1} is zero, "
            "the inversion could not be completed because the input matrix is singular."
        )
    return with_node_name(cholesky_solve(eye_of(L), L, upper), "CholeskyInverseBackward0")


# ---- eigen- and singular values
def _check_eigh(A: Any, UPLO: str) -> str:
    """The triangle that is used, in capitals."""
    square_floats("linalg.eigh", A, "linalg_eigh_cpu", lambda _, A, kernel: _kernel_floats(kernel, A))
    if UPLO == "L":
        return UPLO
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@public("linalg.eigh")
@with_out(EXACT)
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues (ascending) and orthonormal eigenvectors (columns) of Hermitian matrices.

    Vectors are unique up to a factor of absolute value one only: a loss must not depend on it. The derivative with
    respect to vectors is not finite where eigenvalues are equal; with respect to values it is.

    >>> torch.linalg.eigh(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([1., 2.])
    """
    return Eigh._make(TENSORS.eigen_hermitian(A, _check_eigh(A, UPLO)))


@public("linalg.eigvalsh")
@with_out(EXACT)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices, in ascending order.

    >>> torch.linalg.eigvalsh(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([1., 2.])
    """
    triangle = _check_eigh(A, UPLO)
    if A._node is None and type(A._payload) is np.ndarray and A._payload.dtype in BLAS_DTYPES:
        return wrap(lib.linalg.eigvalsh(A._payload, triangle))
    return TENSORS.eigen_hermitian(A, triangle)[0]  # type: ignore[no-any-return]


def _check_eig(A: Any, name: str) -> None:
    square_size(name, A)
    if logical_dtype(A).kind not in "fcV":
        raise RuntimeError(f"Unknown Complex ScalarType for {dtype_name(A)}")
    _kernel_floats("linalg_eig_out_cpu", A)
    text = "torch.linalg.eig: input tensor should not contain infs or NaNs."
    refuse_elements(A._payload, lambda a: not np.isfinite(a).all(), text)


@public("linalg.eig")
@with_out(safely("torch.linalg.eig", "eigenvalues"))
def eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors (columns of length one) of square matrices, complex whatever A is.

    >>> torch.linalg.eig(torch.tensor([[2., 0.], [0., 1.]])).eigenvalues
    tensor([2.+0.j, 1.+0.j])
    """
    _check_eig(A, "linalg.eig")
    return Eig(TENSORS.eigen_general(A))


@public("linalg.eigvals")
@with_out(safely("torch.linalg.eigvals", "eigenvalues"))
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex whatever A is.

    >>> torch.linalg.eigvals(torch.tensor([[0., -1.], [1., 0.]])).abs()
    tensor([1., 1.])
    """
    _check_eig(A, "linalg.eigvals")
    return TENSORS.eigen_general(A)[0]


def _check_svd(A: Any, driver: Any = None) -> None:
    if driver is not None:
        check_arguments("linalg_svd", A, driver=driver)
    matrix_floats("linalg.svd", A, "linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@public("linalg.svd")
@with_out(EXACT)
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """``A = U diag(S) Vh``: singular values, descending, between orthonormal columns and rows.

    ``full_matrices``: U and Vh are square; vectors without a singular value are not determined and have no derivative.

    >>> torch.linalg.svd(torch.tensor([[3., 0.], [0., 4.]])).S
    tensor([4., 3.])
    """
    _check_svd(A, driver)
    return Svd._make(TENSORS.singular(A, bool(full_matrices)))


@public("linalg.svdvals")
@with_out(EXACT)
def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values of matrices, in descending order.

    >>> torch.linalg.svdvals(torch.tensor([[3., 0.], [0., 4.]]))
    tensor([4., 3.])
    """
    _check_svd(A, driver)
    if A._node is None and isinstance(A._payload, np.ndarray) and A._payload.dtype.itemsize > 2:
        return wrap(lib.linalg.svd(A._payload, compute_uv=False))
    return TENSORS.singular(A, False)[1]


@public("torch.svd Tensor.svd")
@with_out(EXACT)
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Deprecated in PyTorch: ``linalg.svd`` with V rather than its adjoint.

    >>> torch.svd(torch.tensor([[3., 0.], [0., 2.]])).S
    tensor([3., 2.])
    """
    _check_svd(input)
    U, S, Vh = TENSORS.singular(input, not some)
    if not compute_uv:
        m, n = input._payload.shape[-2:]
        shapes = [(*input._payload.shape[:-2], k, k) for k in (m, n)]
        U, V = (placed_beside(input, np.zeros(shape, logical_dtype(input))) for shape in shapes)
        return OldSvd((U, S, V))
    return OldSvd((U, S, adjoint(Vh)))


@public("linalg.qr")
@with_out(EXACT)
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """``A = Q R`` with orthonormal columns and an upper triangular factor; ``mode``: "reduced", "complete" or "r".

    >>> torch.linalg.qr(torch.tensor([[3., 1.], [4., 2.]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    matrix_floats("linalg.qr", A, "geqrf_cpu")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return Qr._make(TENSORS.orthogonal(A, mode))

"""Inverses, systems of equations and determinants of matrices, and what the formulas of linear algebra share.

``mul`` is a product of (batches of) matrices, ``H`` the conjugate transpose; both work on arrays, Tensors and values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.library import in_lib
from ..._kinds.general import general
from ..._tape.saved import is_complex


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive-definite, or an iteration did not converge."""


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


# -------------------------------------------------------------------------------------------- what formulas are made of
def H(xp: Any, a: Any) -> Any:
    """Conjugate transpose."""
    return xp.conj(a.mT) if is_complex(a) else a.mT


def mul(xp: Any, *matrices: Any) -> Any:
    """The product of matrices from left to right."""
    r = matrices[0]
    for m in matrices[1:]:
        r = xp.matmul_nd(r, m)
    return r


def column(xp: Any, v: Any) -> Any:
    """Vectors as columns."""
    return xp.reshape(v, (*v.shape, 1))


def row(xp: Any, v: Any) -> Any:
    """Vectors as rows."""
    return xp.reshape(v, (*v.shape[:-1], 1, v.shape[-1]))


def with_diagonal(xp: Any, v: Any) -> Any:
    """Matrices with these diagonals."""
    return xp.embed_diagonal(v, 0, v.ndim - 1, v.ndim)


def diagonal(xp: Any, m: Any) -> Any:
    """The diagonals of matrices."""
    return xp.diagonal_view(m, 0, m.ndim - 2, m.ndim - 1)


def eye_like(xp: Any, m: Any) -> Any:
    """Identity matrices like square matrices."""
    return with_diagonal(xp, diagonal(xp, xp.zeros_like(m)) + 1.0)


def part(xp: Any, m: Any, dim: int, start: int, end: int) -> Any:
    """Some rows (``dim`` -2) or columns (-1)."""
    return xp.slice_dim(m, m.ndim + dim, start, end, 1)


def solve_tri(xp: Any, a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """``a^-1 b`` for triangular a."""
    return xp.triangular_solve_left(a, b, upper, unit)


def solve_tri_right(xp: Any, b: Any, a: Any, upper: bool, unit: bool = False) -> Any:
    """``b a^-1`` for triangular a."""
    return xp.triangular_solve_left(a.mT, b.mT, not upper, unit).mT


def triangle(xp: Any, m: Any, upper: bool, offset: int = 0) -> Any:
    """The upper triangle from a diagonal on, or the lower one."""
    return xp.upper_triangle(m, offset) if upper else xp.lower_triangle(m, -offset)


def _plain(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """Matrices in the last two dimensions: what stands in front is a batch already."""
    return getattr(U, info.name)(*inner, *p)


def spd(rng: Any, *shape: int) -> Any:
    """Positive-definite matrices, for samples."""
    x = rng.standard_normal((*shape, shape[-1]))
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])


def _square(rng: Any, *shape: int) -> Any:
    return rng.standard_normal((*shape, shape[-1])) + 2 * np.eye(shape[-1])


def one_by_one(parameter: Any) -> Any:
    """Samples of an operator that reads one triangle: its derivative is the Hermitian one, as in PyTorch, and is what a
    numeric derivative finds only where a matrix has nothing but a diagonal. tests/ops/test_ops_linalg.py does the
    rest.
    """
    return lambda rng: [((rng.uniform(0.5, 2, s),), (parameter,)) for s in ((1, 1), (3, 1, 1))]


def _each(shape: tuple[int, ...]) -> Any:
    return np.ndindex(*shape)


def _position(index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"(Batch element {np.ravel_multi_index(index, shape)}): " if shape else ""


# ---------------------------------------------------------------------------------------------------------- the inverse
def lu_of(a: Any) -> tuple[Any, Any, int]:
    """LAPACK's LU of one matrix: the factors, the pivots from 0, and the 1-based place of the first zero pivot."""
    from scipy.linalg.lapack import get_lapack_funcs

    if not a.size:
        return a.copy(), np.zeros(min(a.shape), np.int32), 0
    (getrf,) = get_lapack_funcs(("getrf",), (a,))
    lu, pivots, info = getrf(a)
    return np.ascontiguousarray(lu), pivots, max(info, 0)


def first_singular(a: Any) -> tuple[str, int]:
    """Which matrix of a batch has a zero pivot, and where."""
    lead = a.shape[:-2]
    for index in _each(lead):
        info = lu_of(a[index])[2]
        if info:
            return _position(index, lead), info
    return "", 0


@in_lib
def inverses(a: Any) -> Any:
    """The inverses; PyTorch's error if one does not exist."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        where, info = first_singular(a)
        raise LinAlgError(
            f"linalg.inv: {where}The diagonal element {info or a.shape[-1]} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        ) from None


@general(
    grad=lambda xp, g, result: -mul(xp, result.mT, g, result.mT),
    node="LinalgInvExBackward0",
    libname="inverses",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ()), ((np.zeros((0, 0)),), ())],
)
def inverse(A):
    """The inverse of each matrix: ``d(A^-1) = -A^-1 dA A^-1``."""


@in_lib
def solutions(a: Any, b: Any) -> Any:
    """``a^-1 b``."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        where, _ = first_singular(a)
        raise LinAlgError(
            f"torch.linalg.solve: {where}The solver failed because the input matrix is singular."
        ) from None


@general(
    grad={
        "A": lambda xp, g, A, result: -mul(xp, xp.solve_left(A.mT, g), result.mT),
        "B": lambda xp, g, A: xp.solve_left(A.mT, g),
    },
    tensors=2,
    node="LinalgSolveExBackward0",
    libname="solutions",
    batch="shape",
    dtypes="fc",
    samples=lambda rng: [
        ((_square(rng, 3), rng.standard_normal((3, 2))), ()),
        ((_square(rng, 2, 2), rng.standard_normal((2, 2, 1))), ()),
    ],
)
def solve_left(A, B):
    """``A^-1 B`` for batches of the same shape."""


def _trsm(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """BLAS's triangular solve of one pair of matrices; a zero on the diagonal gives inf, as in PyTorch."""
    from scipy.linalg.blas import get_blas_funcs

    if not b.size or not a.size:
        return b.copy()
    (trsm,) = get_blas_funcs(("trsm",), (a, b))
    # the transpose of a row-major matrix is the column-major one that BLAS wants
    return np.ascontiguousarray(trsm(1, a.T, b, 0, lower=upper, trans_a=1, diag=unit))


@in_lib
def triangular_solutions(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """``a^-1 b`` of the upper or lower triangle of a, whose diagonal counts as ones if ``unit``."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.ndim == 2:
        return _trsm(a, b, upper, unit)
    lead = a.shape[:-2]
    if math.prod(lead) > 4 and a.shape[-1] <= 32:
        t = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
        if unit:
            t = t + np.eye(a.shape[-1], dtype=a.dtype)
        if np.all(np.einsum("...ii->...i", t)):
            return np.linalg.solve(t, b)
    r = np.empty(b.shape, b.dtype)
    for index in _each(lead):
        r[index] = _trsm(a[index], b[index], upper, unit)
    return r


@general(
    grad={
        "A": lambda xp, g, A, result, upper, unit: triangle(
            xp, -mul(xp, solve_tri(xp, A.mT, g, not upper, unit), result.mT), upper, int(unit)
        ),
        "B": lambda xp, g, A, upper, unit: solve_tri(xp, A.mT, g, not upper, unit),
    },
    tensors=2,
    node="LinalgSolveTriangularBackward0",
    libname="triangular_solutions",
    batch="shape",
    dtypes="fc",
    samples=lambda rng: (
        [
            ((_square(rng, 3), rng.standard_normal((3, 2))), (upper, unit))
            for upper in (False, True)
            for unit in (False, True)
        ]
        + [((_square(rng, 6, 2), rng.standard_normal((6, 2, 1))), (True, False))]
    ),
)
def triangular_solve_left(A, B, upper, unit):
    """``A^-1 B`` where only one triangle of A counts."""


def _factor_cotangent(xp: Any, g: Any, input2: Any, result: Any, upper: bool) -> Any:
    """PyTorch's: of the whole factor, also of the triangle that is not read, as programs expect it."""
    pulled = mul(xp, xp.cholesky_solution(g, input2, upper), xp.conj(result).mT)
    both = pulled + xp.conj(pulled).mT
    return -mul(xp, input2, both) if upper else -mul(xp, both, input2)


@general(
    grad={
        "self": lambda xp, g, input2, upper: xp.cholesky_solution(g, input2, upper),
        "input2": _factor_cotangent,
    },
    tensors=2,
    holomorphic=False,
    node="CholeskySolveBackward0",
    batch="shape",
    dtypes="fc",
    samples=lambda rng: [
        ((rng.standard_normal((*lead, 1, 2)), rng.uniform(0.5, 2, (*lead, 1, 1))), (upper,))
        for lead in ((), (3,))
        for upper in (False, True)
    ],
)
def cholesky_solution(lib, self, input2, upper):
    """``A^-1 B`` where ``A = L L^H`` (``L^H L`` if ``upper``)."""
    adjoint = np.conj(input2.swapaxes(-1, -2))
    first, second = (adjoint, input2) if upper else (input2, adjoint)
    return triangular_solutions(second, triangular_solutions(first, self, False, False), True, False)


# --------------------------------------------------------------------------------------------------------- determinants
def _cofactors(a: Any) -> Any:
    """The derivative of the determinant, for singular matrices too: with ``a = U S V`` it is ``|U| |V| U adj(S) V``."""
    n = a.shape[-1]
    if not n:
        return np.zeros_like(a)
    u, s, vh = np.linalg.svd(a)
    others = np.ones_like(s)
    for i in range(n):
        others[..., i] = np.prod(np.delete(s, i, -1), -1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    r = (u.conj() * others[..., None, :]) @ vh.conj()
    return (r * sign[..., None, None]).astype(a.dtype, copy=False)


def _cofactor_grad(xp: Any, g: Any, self: Any) -> Any:
    """``d cof = |A| (tr(A^-1 dA) A^-T - (A^-1 dA A^-1)^T)``; that of a singular matrix is refused."""
    t = xp.inverse(self).mT
    n = self.ndim
    along = xp.sum_dim(g * t, (n - 2, n - 1), True)
    return (along * t - mul(xp, t, g.mT, t)) * column(xp, column(xp, xp.determinant(self)))


@general(
    grad=_cofactor_grad,
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ())],
)
def cofactors(lib, self):
    """The matrix of each matrix's cofactors."""
    return _cofactors(self)


@in_lib
def determinants(a: Any) -> Any:
    """The determinants."""
    return np.linalg.det(a)


@general(
    grad=lambda xp, g, self: column(xp, column(xp, g)) * xp.cofactors(self),
    node="LinalgDetBackward0",
    libname="determinants",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [
        ((_square(rng, 3),), ()),
        ((_square(rng, 2, 2),), ()),
        ((np.array([[1.0]]),), ()),
    ],
)
def determinant(self):
    """The determinant of each matrix."""


def _slogdet_grad(xp: Any, g: Any, A: Any, result0: Any) -> Any:
    g_sign, g_log = g
    scale = g_log
    if is_complex(A) and g_sign is not None:
        turn = xp.imag(xp.conj(g_sign) * result0)
        scale = xp.complex(xp.zeros_like(turn) if g_log is None else g_log, -turn)
    if scale is None:
        return xp.zeros_like(A)
    return column(xp, column(xp, scale)) * H(xp, xp.inverse(A))


@general(
    grad=_slogdet_grad,
    outputs=2,
    differentiable=(True, True),
    holomorphic=False,
    absent=True,
    node="LinalgSlogdetBackward0",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ())],
)
def sign_logdet(lib, A):
    """The sign of each determinant and the logarithm of its absolute value: ``d log|A| = tr(A^-1 dA)``."""
    sign, log = lib.linalg.slogdet(A)
    return sign, log

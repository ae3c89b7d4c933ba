"""Inverses, systems of equations and decompositions of (batches of) matrices: the primitives of linear algebra.

The derivatives are the ones of ATen's ``FunctionsManual.cpp``; each names the paper or gives the derivation in a line.
A decomposition is unique only up to signs, phases and order, and degenerate where values coincide: the derivatives of
vectors divide by differences of values, those of values alone do not and stay finite. A formula is given ``None`` for
an output that nothing used, so a loss of singular values only never sees that division.

Those of ``dtypes="f"`` take complex matrices as well; as their results have a free phase then, a numeric derivative of
them means nothing, and tests/test_ops_linalg.py differentiates losses that do not depend on it.

``mul`` is a product of (batches of) matrices, ``H`` the conjugate transpose; both work on arrays, Tensors and values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._backends.numpy import in_lib
from .._general import general
from .._saved import is_complex


class LinAlgError(RuntimeError):
    """A matrix is singular, not positive-definite, or an iteration did not converge."""


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


# ---------------------------------------------------------------------------------------------------- what formulas are made of
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
    numeric derivative finds only where a matrix has nothing but a diagonal. tests/test_ops_linalg.py does the rest."""
    return lambda rng: [((rng.uniform(0.5, 2, s),), (parameter,)) for s in ((1, 1), (3, 1, 1))]


def _each(shape: tuple[int, ...]) -> Any:
    return np.ndindex(*shape)


def _position(index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"(Batch element {np.ravel_multi_index(index, shape)}): " if shape else ""


# ---------------------------------------------------------------------------------------------------------------- the inverse
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
            f"linalg.inv: {where}The diagonal element {info or a.shape[-1]} is zero, the inversion could not be completed "
            "because the input matrix is singular."
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
    samples=lambda rng: [
        ((_square(rng, 3), rng.standard_normal((3, 2))), (upper, unit)) for upper in (False, True) for unit in (False, True)
    ]
    + [((_square(rng, 6, 2), rng.standard_normal((6, 2, 1))), (True, False))],
)
def triangular_solve_left(A, B, upper, unit):
    """``A^-1 B`` where only one triangle of A counts."""


# -------------------------------------------------------------------------------------------------------------- determinants
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


@general(
    grad=lambda xp, g, self: _cofactor_grad(xp, g, self),
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ())],
)
def cofactors(lib, self):
    """The matrix of each matrix's cofactors."""
    return _cofactors(self)


def _cofactor_grad(xp: Any, g: Any, a: Any) -> Any:
    """``d cof = |A| (tr(A^-1 dA) A^-T - (A^-1 dA A^-1)^T)``; the second derivative of a singular matrix is refused."""
    t = xp.inverse(a).mT
    n = a.ndim
    along = xp.sum_dim(g * t, (n - 2, n - 1), True)
    return (along * t - mul(xp, t, g.mT, t)) * column(xp, column(xp, xp.determinant(a)))


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


def _slogdet_grad(xp: Any, g: Any, a: Any, sign: Any) -> Any:
    g_sign, g_log = g
    scale = g_log
    if is_complex(a) and g_sign is not None:
        turn = xp.imag(xp.conj(g_sign) * sign)
        scale = xp.complex(xp.zeros_like(turn) if g_log is None else g_log, -turn)
    if scale is None:
        return xp.zeros_like(a)
    return column(xp, column(xp, scale)) * H(xp, xp.inverse(a))


@general(
    grad=lambda xp, g, A, result0: _slogdet_grad(xp, g, A, result0),
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


# ------------------------------------------------------------------------------------------------------------------ Cholesky
def _minor_of(a: Any) -> int:
    from scipy.linalg.lapack import get_lapack_funcs

    (potrf,) = get_lapack_funcs(("potrf",), (a,))
    return int(potrf(a, lower=True)[1])


@in_lib
def cholesky_factors(a: Any, upper: bool) -> Any:
    """Lower triangular factors of the lower triangles, or upper ones of the upper."""
    if upper:
        return cholesky_factors(a.swapaxes(-1, -2).conj(), False).swapaxes(-1, -2).conj()
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        lead = a.shape[:-2]
        for index in _each(lead):
            info = _minor_of(a[index])
            if info:
                raise LinAlgError(
                    f"linalg.cholesky: {_position(index, lead)}The factorization could not be completed because the input is "
                    f"not positive-definite (the leading minor of order {info} is not positive-definite)."
                ) from None
        raise


def _cholesky_grad(xp: Any, g: Any, L: Any) -> Any:
    """Murray, Differentiation of the Cholesky decomposition (2016): ``L^-H sym(tril(L^H gL)) L^-1``."""
    x = mul(xp, H(xp, L), g)
    half = (xp.lower_triangle(x, 0) + H(xp, xp.lower_triangle(x, -1))) * 0.5
    y = solve_tri(xp, H(xp, L), half, True)
    return solve_tri_right(xp, y, L, False)


@general(
    grad=lambda xp, g, result, upper: (
        _cholesky_grad(xp, H(xp, g), H(xp, result)) if upper else _cholesky_grad(xp, g, result)
    ),
    holomorphic=False,
    node="LinalgCholeskyExBackward0",
    libname="cholesky_factors",
    batch=_plain,
    dtypes="f",
    samples=one_by_one(False),
)
def cholesky_factor(self, upper):
    """The lower triangular L with ``L L^H = A`` of Hermitian positive-definite matrices A, or the upper one, ``L^H``."""


# -------------------------------------------------------------------------------------------------------------- eigenvalues
def _values_part(xp: Any, VhgV: Any, L: Any, g_values: Any) -> Any:
    """``V^H gV / (L_j - L_i)`` off the diagonal, and the cotangent of the values on it."""
    n = L.ndim
    difference = row(xp, L) - column(xp, L)
    difference = difference + with_diagonal(xp, xp.zeros_like(L) + 1.0)
    r = VhgV / difference
    r = r - with_diagonal(xp, xp.diagonal_view(r, 0, n - 1, n))
    return r if g_values is None else r + with_diagonal(xp, g_values)


def _eigh_grad(xp: Any, g: Any, L: Any, V: Any) -> Any:
    gL, gV = g
    if gV is None:
        return mul(xp, V * row(xp, gL), H(xp, V))
    return mul(xp, V, _values_part(xp, mul(xp, H(xp, V), gV), L, gL), H(xp, V))


@general(
    grad=lambda xp, g, result0, result1: _eigh_grad(xp, g, result0, result1),
    outputs=2,
    holomorphic=False,
    absent=True,
    node="LinalgEighBackward0",
    batch=_plain,
    dtypes="f",
    samples=one_by_one("L"),
)
def eigen_hermitian(lib, self, uplo):
    """Eigenvalues in ascending order and orthonormal eigenvectors of Hermitian matrices, from one triangle."""
    values, vectors = lib.linalg.eigh(self, uplo)
    return values, vectors


def _eig_grad(xp: Any, g: Any, L: Any, V: Any, real: bool) -> Any:
    """Boeddeker et al., On the computation of complex-valued gradients (2019), 4.77, with unit eigenvectors."""
    gL, gV = g
    Vh = H(xp, V)
    if gV is None:
        inner = column(xp, gL) * Vh
    else:
        x = mul(xp, Vh, gV)
        own = xp.real(diagonal(xp, x))
        x = x - mul(xp, Vh, V) * row(xp, own)
        inner = mul(xp, _values_part(xp, x, xp.conj(L), gL), Vh)
    r = xp.solve_left(Vh, inner)
    return xp.real(r) if real else r


@general(
    grad=lambda xp, g, self_dtype, result0, result1: _eig_grad(xp, g, result0, result1, self_dtype.kind != "c"),
    outputs=2,
    holomorphic=False,
    absent=True,
    node="LinalgEigBackward0",
    batch=_plain,
    dtypes="f",
    samples=lambda rng: [
        ((np.diag([1.0, 2.0, 4.0]) + 0.2 * rng.standard_normal((3, 3)),), ()),
        ((np.diag([1.0, 3.0]) + 0.2 * rng.standard_normal((2, 2, 2)),), ()),
    ],
)
def eigen_general(lib, self):
    """Eigenvalues and eigenvectors of length one of any square matrices; complex always."""
    dtype = lib.result_type(self.dtype, lib.complex64)
    if not self.size:
        return lib.zeros(self.shape[:-1], dtype), lib.zeros(self.shape, dtype)
    values, vectors = lib.linalg.eig(self)
    return values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


# ------------------------------------------------------------------------------------------------------------ singular values
def _svd_grad(xp: Any, g: Any, U: Any, S: Any, Vh: Any, full: bool) -> Any:
    """Townsend, Differentiating the singular value decomposition (2016)."""
    gU, gS, gVh = g
    k, m, n = S.shape[-1], U.shape[-2], Vh.shape[-1]
    if full:  # the further columns span what is left; they are not determined, and count for nothing
        U, Vh = part(xp, U, -1, 0, k), part(xp, Vh, -2, 0, k)
        gU = None if gU is None else part(xp, gU, -1, 0, k)
        gVh = None if gVh is None else part(xp, gVh, -2, 0, k)
    if gU is None and gVh is None:
        return mul(xp, U * row(xp, gS), Vh)

    def skew(a: Any) -> Any:
        return a - H(xp, a)

    S2 = S * S
    E = row(xp, S2) - column(xp, S2) + with_diagonal(xp, xp.zeros_like(S) + 1.0)
    UhgU = None if gU is None else skew(mul(xp, H(xp, U), gU))
    inner = None if UhgU is None else (UhgU / E) * row(xp, S)
    if gVh is not None:
        right = column(xp, S) * (skew(mul(xp, Vh, H(xp, gVh))) / E)
        inner = right if inner is None else inner + right
    if gS is not None:
        inner = inner + with_diagonal(xp, gS)
    if UhgU is not None and gVh is not None and is_complex(UhgU):
        inner = inner + with_diagonal(xp, diagonal(xp, UhgU) / (S * 2.0))
    if m > k and gU is not None:
        r = mul(xp, U, inner)
        w = gU / row(xp, S)
        return mul(xp, r + w - mul(xp, U, mul(xp, H(xp, U), w)), Vh)
    if n > k and gVh is not None:
        r = mul(xp, inner, Vh)
        w = gVh / column(xp, S)
        return mul(xp, U, r + w - mul(xp, mul(xp, w, H(xp, Vh)), Vh))
    return mul(xp, U, inner, Vh)


@general(
    grad=lambda xp, g, result0, result1, result2, full: _svd_grad(xp, g, result0, result1, result2, full),
    outputs=3,
    holomorphic=False,
    absent=True,
    node="LinalgSvdBackward0",
    batch=_plain,
    dtypes="f",
    samples=lambda rng: [
        ((rng.standard_normal((3, 3)),), (False,)),
        ((rng.standard_normal((4, 2)),), (False,)),
        ((rng.standard_normal((2, 2, 3)),), (False,)),
        ((rng.standard_normal((2, 2)),), (True,)),
    ],
)
def singular(lib, A, full):
    """``U S V^H``: singular values in descending order between orthonormal columns and rows."""
    u, s, vh = lib.linalg.svd(A, full)
    return u, s, vh


# ------------------------------------------------------------------------------------------------------------------------ QR
def _qr_square_grad(xp: Any, gQ: Any, gR: Any, Q: Any, R: Any) -> Any:
    """``(gQ + Q copyltu(gR R^H - Q^H gQ)) R^-H`` for at least as many rows as columns."""
    x = None if gR is None else mul(xp, gR, H(xp, R))
    if gQ is not None:
        y = mul(xp, H(xp, Q), gQ)
        x = -y if x is None else x - y
    t = xp.upper_triangle(x, 0)
    d = diagonal(xp, t)
    symmetric = t + H(xp, t) - with_diagonal(xp, d if not is_complex(d) else xp.conj(d))
    if is_complex(d):  # the diagonal's real part, once
        symmetric = symmetric - with_diagonal(xp, (d - xp.conj(d)) * 0.5)
    r = mul(xp, Q, symmetric)
    if gQ is not None:
        r = r + gQ
    return solve_tri_right(xp, r, H(xp, R), False)


def _qr_grad(xp: Any, g: Any, Q: Any, R: Any, mode: str) -> Any:
    """Walter, Lehmann, On algorithmic differentiation of the QR decomposition (2010); wide matrices block by block."""
    gQ, gR = g
    m, n = R.shape[-2], R.shape[-1]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _qr_square_grad(xp, gQ, gR, Q, R)
    # A = (X | Y) = Q (U | V): Y = Q V
    U, V = part(xp, R, -1, 0, m), part(xp, R, -1, m, n)
    gU = None if gR is None else part(xp, gR, -1, 0, m)
    gV = None if gR is None else part(xp, gR, -1, m, n)
    if gV is not None:
        through = mul(xp, mul(xp, Q, V), H(xp, gV))
        gQ = through if gQ is None else gQ + through
    gX = _qr_square_grad(xp, gQ, gU, Q, U)
    gY = xp.zeros_like(mul(xp, Q, V)) if gV is None else mul(xp, Q, gV)
    return xp.cat([gX, gY], gX.ndim - 1)


@general(
    grad=lambda xp, g, result0, result1, mode: _qr_grad(xp, g, result0, result1, mode),
    outputs=2,
    holomorphic=False,
    absent=True,
    node="LinalgQrBackward0",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [
        ((rng.standard_normal((3, 3)),), ("reduced",)),
        ((rng.standard_normal((2, 4, 2)),), ("reduced",)),
        ((rng.standard_normal((2, 4)),), ("reduced",)),
        ((rng.standard_normal((3, 3)),), ("complete",)),
    ],
)
def orthogonal(lib, A, mode):
    """``Q R`` with orthonormal columns and an upper triangular factor."""
    if mode == "r":
        return lib.zeros(0, A.dtype), lib.linalg.qr(A, "r")
    q, r = lib.linalg.qr(A, mode)
    return q, r


# ------------------------------------------------------------------------------------------------------------------------ LU
def _lu_grad(xp: Any, gL: Any, gU: Any, P: Any, L: Any, U: Any) -> Any:
    """ATen's ``plu_backward``: ``P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H``, with the blocks that stick out."""
    m, n = L.shape[-2], U.shape[-1]
    k = min(m, n)
    L1, U1 = part(xp, L, -2, 0, k), part(xp, U, -1, 0, k)
    gL1, gU1 = part(xp, gL, -2, 0, k), part(xp, gU, -1, 0, k)
    more = None
    if m > k:  # L2 = A2 U^-1
        gL2, L2 = part(xp, gL, -2, k, m), part(xp, L, -2, k, m)
        more = solve_tri_right(xp, gL2, H(xp, U1), False)
        gU1 = gU1 - mul(xp, H(xp, L2), more)
    elif n > k:  # U2 = L^-1 A2
        gU2, U2 = part(xp, gU, -1, k, n), part(xp, U, -1, k, n)
        more = solve_tri(xp, H(xp, L1), gU2, True, True)
        gL1 = gL1 - mul(xp, more, H(xp, U2))
    phi = xp.lower_triangle(mul(xp, H(xp, L1), gL1), -1) + xp.upper_triangle(mul(xp, gU1, H(xp, U1)), 0)
    r = solve_tri_right(xp, solve_tri(xp, H(xp, L1), phi, True, True), H(xp, U1), False)
    if more is not None:
        r = xp.cat([r, more], r.ndim - (2 if m > k else 1))
    return mul(xp, P, r)


def _compact_grad(xp: Any, g: Any, lu: Any, pivots: Any) -> Any:
    """From the cotangent of the compact form: its triangles are those of L (without the diagonal) and U."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    L, U = unpack_lu(xp, lu)
    gL = xp.lower_triangle(part(xp, g, -1, 0, k), -1)
    gU = xp.upper_triangle(part(xp, g, -2, 0, k), 0)
    P = xp._to_copy(xp.permutation_of(pivots, m), _dtype_of(lu))
    return _lu_grad(xp, gL, gU, P, L, U)


def _dtype_of(a: Any) -> Any:
    from .._saved import payload_dtype
    from .._values import plain_dtype

    return plain_dtype(payload_dtype(a))


def unpack_lu(xp: Any, lu: Any) -> tuple[Any, Any]:
    """L (with its ones) and U of the compact form."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    L = xp.lower_triangle(part(xp, lu, -1, 0, k), -1)
    ones = xp.embed_diagonal(diagonal(xp, xp.zeros_like(L)) + 1.0, 0, L.ndim - 2, L.ndim - 1)
    if m > k:
        ones = xp.constant_pad_nd(ones, (0, 0, 0, m - k), 0)
    return L + ones, xp.upper_triangle(part(xp, lu, -2, 0, k), 0)


@general(
    grad=lambda xp, g, result0, result1: _compact_grad(xp, g, result0, result1),
    outputs=2,
    differentiable=(True, False),
    holomorphic=False,
    node="LinalgLuFactorExBackward0",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [
        ((_square(rng, 3),), (True,)),
        ((rng.standard_normal((2, 4, 2)),), (True,)),
        ((rng.standard_normal((2, 3)),), (True,)),
    ],
)
def lu_compact(lib, A, pivot):
    """L and U in one matrix, and the rows (from 1) that were exchanged."""
    lead, (m, n) = A.shape[:-2], A.shape[-2:]
    lu = lib.empty(A.shape, A.dtype)
    pivots = lib.empty((*lead, min(m, n)), lib.int32)
    for index in _each(lead):
        if pivot:
            lu[index], rows, _ = lu_of(A[index])
            pivots[index] = rows + 1
        else:
            lu[index] = _lu_without_pivots(A[index])
            pivots[index] = lib.arange(1, min(m, n) + 1)
    return lu, pivots


def _lu_without_pivots(a: Any) -> Any:
    lu = a.copy()
    for i in range(min(a.shape)):
        lu[i + 1 :, i] /= lu[i, i]
        lu[i + 1 :, i + 1 :] -= np.outer(lu[i + 1 :, i], lu[i, i + 1 :])
    return lu


@general(batch=_plain, dtypes="i", samples=lambda rng: [((np.array([2, 3, 3]),), (3,))], why_not="of integers")
def permutation_of(lib, pivots, m):
    """The permutation matrix P of exchanged rows (from 1): ``A = P L U``."""
    lead = pivots.shape[:-1]
    order = lib.broadcast_to(lib.arange(m), (*lead, m)).copy()
    for index in _each(lead):
        line = order[index]
        for i, j in enumerate(pivots[index]):
            line[i], line[j - 1] = line[j - 1], line[i]
    return (order[..., None, :] == lib.arange(m)[:, None]).astype(lib.float64)


# --------------------------------------------------------------------------------------------- pseudo-inverses, exponentials
def _pinv_grad(xp: Any, g: Any, A: Any, P: Any) -> Any:
    """Golub, Pereyra, The differentiation of pseudo-inverses (1973), in ATen's order of products."""
    m, n = A.shape[-2:]
    Ph, gh = H(xp, P), H(xp, g)
    if m <= n:
        K = mul(xp, gh, P)
        KPh = mul(xp, K, Ph)
        return -H(xp, mul(xp, P, K)) + KPh - mul(xp, mul(xp, A, P), KPh) + mul(xp, mul(xp, Ph, P), gh - mul(xp, K, A))
    K = mul(xp, P, gh)
    PhK = mul(xp, Ph, K)
    return -H(xp, mul(xp, K, P)) + mul(xp, mul(xp, gh - mul(xp, A, K), P), Ph) + PhK - mul(xp, mul(xp, PhK, P), A)


@general(
    grad=lambda xp, g, self, result: _pinv_grad(xp, g, self, result),
    holomorphic=False,
    node="LinalgPinvBackward0",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)),), (0.0, None, False)),
        ((rng.standard_normal((2, 2, 3)),), (0.0, None, False)),
        ((_square(rng, 3),), (0.0, None, False)),
    ],
)
def pseudo_inverse(lib, self, atol, rtol, hermitian):
    """``V S^-1 U^H`` of the singular values above ``max(atol, rtol * largest)``."""
    if not self.size:
        return lib.zeros((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    if hermitian:
        values, vectors = lib.linalg.eigh(self)
        s, u, vh = lib.abs(values), vectors, (vectors * lib.sign(values)[..., None, :]).swapaxes(-1, -2).conj()
    else:
        u, s, vh = lib.linalg.svd(self, False)
    floor = threshold(s, atol, rtol, self)
    kept = s > floor[..., None]
    inverse_s = lib.where(kept, 1 / lib.where(kept, s, 1), 0).astype(s.dtype)
    return lib.matmul(vh.swapaxes(-1, -2).conj() * inverse_s[..., None, :], u.swapaxes(-1, -2).conj())


def threshold(s: Any, atol: Any, rtol: Any, a: Any) -> Any:
    """Below what a singular value counts as zero: ``max(atol, rtol * largest)``."""
    largest = np.max(s, -1, initial=0)
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(s.dtype).eps if not np.any(np.asarray(atol) > 0) else 0.0
    return np.maximum(np.asarray(atol), np.asarray(rtol) * largest).astype(s.dtype)


def _expm_grad(xp: Any, g: Any, A: Any) -> Any:
    """The Frechet derivative of exp at ``A^T`` along g is a block of ``exp((A^T, g; 0, A^T))`` (Mathias 1996)."""
    n = A.shape[-1]
    t = A.mT
    zeros = xp.zeros_like(t)
    d = A.ndim
    block = xp.cat([xp.cat([t, g], d - 1), xp.cat([zeros, t], d - 1)], d - 2)
    return part(xp, part(xp, xp.exp_matrix(block), -2, 0, n), -1, n, 2 * n)


@general(
    grad=lambda xp, g, self: _expm_grad(xp, g, self),
    node="LinalgMatrixExpBackward0",
    batch=_plain,
    dtypes="fc",
    samples=lambda rng: [((rng.standard_normal((3, 3)),), ()), ((rng.standard_normal((2, 2, 2)),), ())],
)
def exp_matrix(lib, self):
    """``1 + A + A A / 2 + ...``."""
    from scipy.linalg import expm

    if not self.size:
        return self.copy()
    lead = self.shape[:-2]
    if not lead:
        return expm(self).astype(self.dtype, copy=False)
    r = lib.empty(self.shape, self.dtype)
    for index in _each(lead):
        r[index] = expm(self[index])
    return r

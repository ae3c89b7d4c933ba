"""Decompositions of (batches of) matrices: Cholesky, eigenvalues, singular values, QR, LU; pseudo-inverse, exponential.

The derivatives are those of ATen's ``FunctionsManual.cpp``; each names the paper or gives the derivation in a line.
A decomposition is unique only up to signs, phases and order, and degenerate where values coincide: the derivatives of
vectors divide by differences of values, those of values alone do not and stay finite. A formula receives ``None`` as
the cotangent of an unused output, so a loss of singular values only never makes that division.

Operators with ``dtypes="f"`` take complex matrices as well. Their results then have a free phase, so a numeric
derivative has no meaning, and tests/ops/test_ops_linalg.py differentiates losses that do not depend on the phase.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.layouts import as_columns, columns
from ..._arrays.linalg import lu_of, lu_without_pivots, threshold
from ..._arrays.scipy_functions import from_scipy
from ..._base.registry import on_host, plain_body
from ..._kinds.general import general
from ..._payloads.transforms import dtype_of
from ..._tape.saved import is_complex
from .inverses import (
    H,
    _plain,
    _square,
    column,
    diagonal,
    mul,
    one_by_one,
    part,
    row,
    solve_tri,
    solve_tri_right,
    with_diagonal,
)

_MATRICES: dict[str, Any] = {"layout": columns, "holomorphic": False, "batch": _plain}


# ---- Cholesky
def _cholesky_grad(xp: Any, g: Any, L: Any) -> Any:
    """Murray, Differentiation of the Cholesky decomposition (2016): ``L^-H sym(tril(L^H gL)) L^-1``."""
    x = mul(xp, H(xp, L), g)
    half = (xp.lower_triangle(x, 0) + H(xp, xp.lower_triangle(x, -1))) * 0.5
    return solve_tri(xp, H(xp, L), solve_tri_right(xp, half, L, False), True)


def _cholesky_jvp(xp: Any, tangents: Any, result: Any, self: Any, upper: bool) -> Any:
    """``L phi(L^-1 dA L^-H)``, phi being the lower triangle with half of the diagonal."""
    L, dA = H(xp, result) if upper else result, tangents[0]
    inner = solve_tri_right(xp, solve_tri(xp, L, dA, False), H(xp, L), True)
    dL = mul(xp, L, (xp.lower_triangle(inner, 0) + xp.lower_triangle(inner, -1)) * 0.5)
    return H(xp, dL) if upper else dL


@general(
    jvp=_cholesky_jvp,
    grad=lambda xp, g, result, upper: (
        _cholesky_grad(xp, H(xp, g), H(xp, result)) if upper else _cholesky_grad(xp, g, result)
    ),
    node="LinalgCholeskyExBackward0",
    libname="cholesky_factors",
    dtypes="f",
    samples=one_by_one(False),
    **_MATRICES,
)
def cholesky_factor(self, upper):
    """The lower triangular L with ``L L^H = A`` of Hermitian positive-definite matrices, or the upper one, ``L^H``."""


# ---- eigenvalues
def _values_part(xp: Any, VhgV: Any, L: Any, g_values: Any) -> Any:
    """``V^H gV / (L_j - L_i)`` off the diagonal, and the cotangent of the values on it."""
    n = L.ndim
    difference = row(xp, L) - column(xp, L)
    difference = difference + with_diagonal(xp, xp.zeros_like(L) + 1.0)
    r = VhgV / difference
    r = r - with_diagonal(xp, xp.diagonal_view(r, 0, n - 1, n))
    return r if g_values is None else r + with_diagonal(xp, g_values)


def _invariant(name: str, what: str, *turned: Any) -> None:
    """Refuse cotangents of a function of phases that the vectors do not determine.

    ``turned``: products of vectors and their cotangents. The imaginary parts of the diagonals must add up to zero.
    """
    if turned and all(type(x) is np.ndarray for x in turned) and is_complex(turned[0]):
        parts = [x.diagonal(0, -2, -1).imag for x in turned]
        if not np.allclose(parts[0], -parts[1] if len(parts) > 1 else 0, 1e-2, 1e-2):
            raise RuntimeError(
                f"{name}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
                "specified loss function depends on this quantity, so it is ill-defined."
            )


def _eigh_grad(xp: Any, g: Any, result0: Any, result1: Any) -> Any:
    gL, gV = g
    if gV is None:
        return mul(xp, result1 * row(xp, gL), H(xp, result1))
    x = mul(xp, H(xp, result1), gV)
    _invariant("linalg_eigh_backward", "eigenvectors", x)
    skew = (x - H(xp, x)) * 0.5  # so that the cotangent is Hermitian, as PyTorch's
    return mul(xp, result1, _values_part(xp, skew, result0, gL), H(xp, result1))


def _eigh_jvp(xp: Any, tangents: Any, result: Any, self: Any, uplo: str) -> Any:
    L, V = result
    x = mul(xp, H(xp, V), mul(xp, tangents[0], V))
    n = L.ndim
    values = xp.diagonal_view(x, 0, n - 1, n)
    return xp.real(values) if is_complex(values) else values, mul(xp, V, _values_part(xp, x, L, None))


@general(
    grad=_eigh_grad,
    jvp=_eigh_jvp,
    outputs=2,
    absent=True,
    node="LinalgEighBackward0",
    dtypes="f",
    samples=one_by_one("L"),
    **_MATRICES,
)
def eigen_hermitian(lib, self, uplo):
    """Eigenvalues in ascending order and orthonormal eigenvectors of Hermitian matrices, from one triangle."""
    return tuple(lib.linalg.eigh(self, uplo))


def _eig_grad(xp: Any, g: Any, L: Any, V: Any, real: bool) -> Any:
    """Boeddeker et al., On the computation of complex-valued gradients (2019), 4.77, with unit eigenvectors."""
    gL, gV = g
    Vh = H(xp, V)
    if gV is None:
        inner = column(xp, gL) * Vh
    else:
        x = mul(xp, Vh, gV)
        _invariant("linalg_eig_backward", "eigenvectors", x)
        own = xp.real(diagonal(xp, x))
        x = x - mul(xp, Vh, V) * row(xp, own)
        inner = mul(xp, _values_part(xp, x, xp.conj(L), gL), Vh)
    r = xp.solve_left(Vh, inner)
    return xp.real(r) if real else r


@general(
    grad=lambda xp, g, self_dtype, result0, result1: _eig_grad(xp, g, result0, result1, self_dtype.kind != "c"),
    outputs=2,
    absent=True,
    node="LinalgEigBackward0",
    dtypes="f",
    samples=lambda rng: [
        ((np.diag([1.0, 2.0, 4.0]) + 0.2 * rng.standard_normal((3, 3)),), ()),
        ((np.diag([1.0, 3.0]) + 0.2 * rng.standard_normal((2, 2, 2)),), ()),
    ],
    **_MATRICES,
)
def eigen_general(lib, self):
    """Eigenvalues and eigenvectors of length one of any square matrices; complex always."""
    dtype = lib.result_type(self.dtype, lib.complex64)
    if not self.size:
        return lib.zeros(self.shape[:-1], dtype), lib.zeros(self.shape, dtype)
    values, vectors = lib.linalg.eig(self)
    return values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


# ---- singular values
def _svd_grad(xp: Any, g: Any, result0: Any, result1: Any, result2: Any, full: bool) -> Any:
    """Townsend, Differentiating the singular value decomposition (2016)."""
    gU, gS, gVh = g
    k, m, n = result1.shape[-1], result0.shape[-2], result2.shape[-1]
    if full:  # the further columns span the complement; they are not determined and have no derivative
        result0, result2 = part(xp, result0, -1, 0, k), part(xp, result2, -2, 0, k)
        gU = None if gU is None else part(xp, gU, -1, 0, k)
        gVh = None if gVh is None else part(xp, gVh, -2, 0, k)
    if gU is None and gVh is None:
        return mul(xp, result0 * row(xp, gS), result2)

    def skew(a: Any) -> Any:
        return a - H(xp, a)

    S2 = result1 * result1
    E = row(xp, S2) - column(xp, S2) + with_diagonal(xp, xp.zeros_like(result1) + 1.0)
    UhgU = None if gU is None else skew(mul(xp, H(xp, result0), gU))
    VhgV = None if gVh is None else skew(mul(xp, result2, H(xp, gVh)))
    _invariant("svd_backward", "singular vectors", *[x for x in (UhgU, VhgV) if x is not None])
    inner = None if UhgU is None else (UhgU / E) * row(xp, result1)
    if VhgV is not None:
        right = column(xp, result1) * (VhgV / E)
        inner = right if inner is None else inner + right
    if gS is not None:
        inner = inner + with_diagonal(xp, gS)
    if UhgU is not None and gVh is not None and is_complex(UhgU):
        inner = inner + with_diagonal(xp, diagonal(xp, UhgU) / (result1 * 2.0))
    if m > k and gU is not None:
        r = mul(xp, result0, inner)
        w = gU / row(xp, result1)
        return mul(xp, r + w - mul(xp, result0, mul(xp, H(xp, result0), w)), result2)
    if n > k and gVh is not None:
        r = mul(xp, inner, result2)
        w = gVh / column(xp, result1)
        return mul(xp, result0, r + w - mul(xp, mul(xp, w, H(xp, result2)), result2))
    return mul(xp, result0, inner, result2)


@general(
    grad=_svd_grad,
    outputs=3,
    absent=True,
    node="LinalgSvdBackward0",
    dtypes="f",
    samples=lambda rng: [
        ((rng.standard_normal((3, 3)),), (False,)),
        ((rng.standard_normal((4, 2)),), (False,)),
        ((rng.standard_normal((2, 2, 3)),), (False,)),
        ((rng.standard_normal((2, 2)),), (True,)),
    ],
    **_MATRICES,
)
def singular(lib, A, full):
    """``U S V^H``: singular values in descending order between orthonormal columns and rows."""
    if A.dtype.itemsize == 2:  # no elements
        return tuple([r.astype(A.dtype) for r in lib.linalg.svd(A.astype("float32"), full)])
    return tuple(lib.linalg.svd(A, full))


# ---- QR
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
    return as_columns(solve_tri_right(xp, r, H(xp, R), False))


def _qr_grad(xp: Any, g: Any, result0: Any, result1: Any, mode: str) -> Any:
    """Walter, Lehmann, On algorithmic differentiation of the QR decomposition (2010); wide matrices block by block."""
    gQ, gR = g
    m, n = result1.shape[-2], result1.shape[-1]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _qr_square_grad(xp, gQ, gR, result0, result1)
    # A = (X | Y) = result0 (U | V): Y = result0 V
    U, V = part(xp, result1, -1, 0, m), part(xp, result1, -1, m, n)
    gU = None if gR is None else part(xp, gR, -1, 0, m)
    gV = None if gR is None else part(xp, gR, -1, m, n)
    if gV is not None:
        through = mul(xp, mul(xp, result0, V), H(xp, gV))
        gQ = through if gQ is None else gQ + through
    gX = _qr_square_grad(xp, gQ, gU, result0, U)
    gY = xp.zeros_like(mul(xp, result0, V)) if gV is None else mul(xp, result0, gV)
    return xp.cat([gX, gY], gX.ndim - 1)


@general(
    grad=_qr_grad,
    outputs=2,
    absent=True,
    node="LinalgQrBackward0",
    samples=lambda rng: [
        ((rng.standard_normal((3, 3)),), ("reduced",)),
        ((rng.standard_normal((2, 4, 2)),), ("reduced",)),
        ((rng.standard_normal((2, 4)),), ("reduced",)),
        ((rng.standard_normal((3, 3)),), ("complete",)),
    ],
    **_MATRICES,
)
def orthogonal(lib, A, mode):
    """``Q R`` with orthonormal columns and an upper triangular factor."""
    if mode == "r":
        return lib.zeros(0, A.dtype), lib.linalg.qr(A, "r")
    return tuple(lib.linalg.qr(A, mode))


# ---- LU
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


def _compact_grad(xp: Any, g: Any, result0: Any, result1: Any) -> Any:
    """The derivative for the compact form, whose triangles are those of L (without the diagonal) and U."""
    m, n = result0.shape[-2:]
    k = min(m, n)
    L, U = unpack_lu(xp, result0)
    gL = xp.lower_triangle(part(xp, g, -1, 0, k), -1)
    gU = xp.upper_triangle(part(xp, g, -2, 0, k), 0)
    P = xp._to_copy(xp.permutation_of(result1, m), dtype_of(result0))
    return _lu_grad(xp, gL, gU, P, L, U)


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
    grad=_compact_grad,
    outputs=2,
    differentiable=(True, False),
    node="LinalgLuFactorExBackward0",
    samples=lambda rng: [
        ((_square(rng, 3),), (True,)),
        ((rng.standard_normal((2, 4, 2)),), (True,)),
        ((rng.standard_normal((2, 3)),), (True,)),
    ],
    **_MATRICES,
)
def lu_compact(lib, A, pivot):
    """L and U in one matrix, and the rows (from 1) that were exchanged."""
    lead, (m, n) = A.shape[:-2], A.shape[-2:]
    lu = lib.empty(A.shape, A.dtype)
    pivots = lib.empty((*lead, min(m, n)), lib.int32)
    for index in np.ndindex(*lead):
        if pivot:
            lu[index], rows, _ = lu_of(A[index])
            pivots[index] = rows + 1
        else:
            lu[index] = lu_without_pivots(A[index])
            pivots[index] = lib.arange(1, min(m, n) + 1)
    return lu, pivots


@general(batch=_plain, dtypes="i", samples=lambda rng: [((np.array([2, 3, 3]),), (3,))], no_derivative="of integers")
def permutation_of(lib, pivots, m):
    """The permutation matrix P of exchanged rows (from 1): ``A = P L U``."""
    lead = pivots.shape[:-1]
    order = lib.broadcast_to(lib.arange(m), (*lead, m)).copy()
    for index in np.ndindex(*lead):
        line = order[index]
        for i, j in enumerate(pivots[index]):
            line[i], line[j - 1] = line[j - 1], line[i]
    return (order[..., None, :] == lib.arange(m)[:, None]).astype(lib.float64)


@plain_body
def plain_permutation_of(lib, pivots, m):
    order = lib.zeros((*pivots.shape[:-1], m), np.int64) + lib.arange(m)
    for i in range(pivots.shape[-1]):
        j = pivots[..., i : i + 1].astype(np.int64) - 1
        here, there = order[..., i : i + 1].copy(), lib.take_along_axis(order, j, -1)
        order[..., i : i + 1] = there
        lib.put_along_axis(order, j, here, -1)
    return (order[..., None, :] == lib.arange(m)[:, None]).astype(np.float64)


# ---- pseudo-inverses, exponentials
def _pinv_grad(xp: Any, g: Any, self: Any, result: Any) -> Any:
    """Golub, Pereyra, The differentiation of pseudo-inverses (1973), in ATen's order of products."""
    m, n = self.shape[-2:]
    Ph, gh = H(xp, result), H(xp, g)
    if m <= n:
        K = mul(xp, gh, result)
        KPh = mul(xp, K, Ph)
        return as_columns(
            -H(xp, mul(xp, result, K))
            + KPh
            - mul(xp, mul(xp, self, result), KPh)
            + mul(xp, mul(xp, Ph, result), gh - mul(xp, K, self))
        )
    K = mul(xp, result, gh)
    PhK = mul(xp, Ph, K)
    return as_columns(
        -H(xp, mul(xp, K, result))
        + mul(xp, mul(xp, gh - mul(xp, self, K), result), Ph)
        + PhK
        - mul(xp, mul(xp, PhK, result), self)
    )


@general(
    grad=_pinv_grad,
    holomorphic=False,
    node="LinalgPinvBackward0",
    batch=_plain,
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
    floor = threshold(lib, s, atol, rtol, self)
    kept = s > floor[..., None]
    inverse_s = lib.where(kept, 1 / lib.where(kept, s, 1), 0).astype(s.dtype)
    return lib.matmul(vh.swapaxes(-1, -2).conj() * inverse_s[..., None, :], u.swapaxes(-1, -2).conj())


def _expm_grad(xp: Any, g: Any, self: Any) -> Any:
    """The Frechet derivative of exp at ``A^T`` along g is a block of ``exp((A^T, g; 0, A^T))`` (Mathias 1996)."""
    n = self.shape[-1]
    t = self.mT
    zeros = xp.zeros_like(t)
    d = self.ndim
    block = xp.cat([xp.cat([t, g], d - 1), xp.cat([zeros, t], d - 1)], d - 2)
    return part(xp, part(xp, xp.exp_matrix(block), -2, 0, n), -1, n, 2 * n)


@general(
    grad=_expm_grad,
    node="LinalgMatrixExpBackward0",
    batch=_plain,
    samples=lambda rng: [((rng.standard_normal((3, 3)),), ()), ((rng.standard_normal((2, 2, 2)),), ())],
)
def exp_matrix(lib, self):
    """``1 + A + A A / 2 + ...``."""
    expm = np.errstate(all="ignore")(from_scipy("linalg").expm)
    if not self.size:
        return self.copy()
    lead = self.shape[:-2]
    if not lead:
        return expm(self).astype(self.dtype, copy=False)
    r = lib.empty(self.shape, self.dtype)
    for index in np.ndindex(*lead):
        r[index] = expm(self[index])
    return r


@plain_body
def plain_exp_matrix(lib, self):
    if not self.size:
        return self.copy()
    # Higham, The scaling and squaring method revisited (2005): the Pade approximant of degree 13
    halvings = max(0, math.ceil(math.log2(max(float(lib.abs(self).sum(-2).max()), 1e-30) / 4)))
    a = self / 2**halvings
    b = [math.factorial(26 - k) * math.comb(13, k) / math.factorial(26) for k in range(14)]
    one = lib.eye(a.shape[-1], dtype=a.dtype)
    a2 = lib.matmul(a, a)
    odd, even = b[13] * one, b[12] * one
    for k in range(11, 0, -2):
        odd, even = lib.matmul(a2, odd) + b[k] * one, lib.matmul(a2, even) + b[k - 1] * one
    odd = lib.matmul(a, odd)
    r = lib.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        r = lib.matmul(r, r)
    return r


on_host("lu_compact")

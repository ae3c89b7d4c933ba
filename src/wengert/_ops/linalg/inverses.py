"""Inverses, systems of equations and determinants of matrices, and functions for the formulas of linear algebra.

``mul`` is a product of (batches of) matrices, ``H`` the conjugate transpose; both work on arrays, Tensors and values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import as_columns, columns
from ..._arrays.linalg import cofactor_matrices, triangular_solutions
from ..._base.registry import plain_body
from ..._kinds.general import general
from ..._tape.saved import is_complex


# ---- helpers for formulas
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
    """The batching rule for matrices in the last two dimensions: leading dimensions are a batch anyway."""
    return getattr(U, info.name)(*inner, *p)


def _square(rng: Any, *shape: int) -> Any:
    return rng.standard_normal((*shape, shape[-1])) + 2 * np.eye(shape[-1])


def one_by_one(parameter: Any) -> Any:
    """Samples for an operator that reads one triangle: matrices of size 1 by 1.

    Its derivative is the Hermitian one, as in PyTorch, which equals a numeric derivative only if a matrix has nothing
    but a diagonal. tests/ops/test_ops_linalg.py covers larger matrices.
    """
    return lambda rng: [((rng.uniform(0.5, 2, s),), (parameter,)) for s in ((1, 1), (3, 1, 1))]


# ---- the inverse


@general(
    layout=columns,
    grad=lambda xp, g, result: -mul(xp, result.mT, g, result.mT),
    node="LinalgInvExBackward0",
    libname="inverses",
    batch=_plain,
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ()), ((np.zeros((0, 0)),), ())],
)
def inverse(A):
    """The inverse of each matrix: ``d(A^-1) = -A^-1 dA A^-1``."""


def _solve_grad(xp: Any, g: Any, A: Any, result: Any) -> Any:
    r = xp.solve_left(A.mT, g)
    if r.ndim < A.ndim:  # vectors
        r, result = column(xp, r), column(xp, result)
    return -mul(xp, r, result.mT)


@general(
    layout=columns,
    grad={
        "A": _solve_grad,
        "B": lambda xp, g, A: xp.solve_left(A.mT, g),
    },
    tensors=2,
    node="LinalgSolveExBackward0",
    libname="solutions",
    batch="shape",
    samples=lambda rng: [
        ((_square(rng, 3), rng.standard_normal((3, 2))), ()),
        ((_square(rng, 2, 2), rng.standard_normal((2, 2, 1))), ()),
        ((_square(rng, 3), rng.standard_normal(3)), ()),
        ((_square(rng, 2, 2), rng.standard_normal((2, 2))), ()),
    ],
)
def solve_left(A, B):
    """``A^-1 B`` for batches of the same shape; of vectors if B has one dimension less."""


@general(
    layout=columns,
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
    """``A^-1 B`` for triangular A; only that triangle is read."""


def _triangular_jvp(xp: Any, tangents: Any, result: Any, self: Any, A: Any, upper: bool, unit: bool) -> Any:
    """PyTorch's tangent: that of A counts as a whole, including the triangle that is not read."""
    db, dA = tangents
    pushed = db if dA is None else -mul(xp, dA, result) if db is None else db - mul(xp, dA, result)
    return solve_tri(xp, A, pushed, upper, unit)


@general(
    layout=columns,
    grad={
        "self": lambda xp, g, A, upper, unit: solve_tri(xp, A.mT, g, not upper, unit),
        "A": lambda xp, g, A, result, upper, unit: triangle(
            xp, -mul(xp, solve_tri(xp, A.mT, g, not upper, unit), result.mT), upper, int(unit)
        ),
    },
    jvp=_triangular_jvp,
    tensors=2,
    node="TriangularSolveBackward0",
    batch="shape",
    samples=lambda rng: [((rng.standard_normal((1, 2)), rng.uniform(0.5, 2, (1, 1))), (True, False))],
)
def triangular_solution(lib, self, A, upper, unit):
    """``A^-1 B`` for ``torch.triangular_solve``."""
    return lib.triangular_solutions(A, self, upper, unit)


def _factor_cotangent(xp: Any, g: Any, input2: Any, result: Any, upper: bool) -> Any:
    """PyTorch's cotangent of the whole factor, including the triangle that is not read: programs expect it."""
    pulled = mul(xp, xp.cholesky_solution(g, input2, upper), xp.conj(result).mT)
    both = pulled + xp.conj(pulled).mT
    return -mul(xp, input2, both) if upper else -mul(xp, both, input2)


@general(
    layout=columns,
    grad={"self": lambda xp, g, input2, upper: xp.cholesky_solution(g, input2, upper), "input2": _factor_cotangent},
    tensors=2,
    holomorphic=False,
    node="CholeskySolveBackward0",
    batch="shape",
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


@plain_body
def plain_cholesky_solution(lib, self, input2, upper):
    adjoint = input2.swapaxes(-1, -2).conj()
    first, second = (adjoint, input2) if upper else (input2, adjoint)
    return lib.triangular_solutions(second, lib.triangular_solutions(first, self, False, False), True, False)


# ---- determinants


def _cofactor_grad(xp: Any, g: Any, self: Any) -> Any:
    """``d cof = |A| (tr(A^-1 dA) A^-T - (A^-1 dA A^-1)^T)``; raises for a singular matrix."""
    t = xp.inverse(self).mT
    n = self.ndim
    along = xp.sum_dim(g * t, (n - 2, n - 1), True)
    return (along * t - mul(xp, t, g.mT, t)) * column(xp, column(xp, xp.determinant(self)))


@general(
    layout=columns,
    grad=_cofactor_grad,
    batch=_plain,
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ())],
)
def cofactors(lib, self):
    """The matrix of each matrix's cofactors."""
    return cofactor_matrices(self)


@plain_body
def plain_cofactors(lib, self):
    n = self.shape[-1]
    if not n:
        return lib.zeros(self.shape, self.dtype)
    u, s, vh = lib.linalg.svd(self)
    others = [s[..., [j for j in range(n) if j != i]].prod(-1) for i in range(n)]
    sign = lib.linalg.det(u) * lib.linalg.det(vh)
    r = lib.matmul(u.conj() * lib.stack(others, -1)[..., None, :], vh.conj())
    return (r * sign[..., None, None]).astype(self.dtype, copy=False)


@general(
    grad=lambda xp, g, self: column(xp, column(xp, g)) * xp.cofactors(self),
    node="LinalgDetBackward0",
    batch=_plain,
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ()), ((np.array([[1.0]]),), ())],
)
def determinant(lib, self):
    """The determinant of each matrix."""
    return lib.linalg.det(self) if self.dtype.itemsize > 2 else lib.ones(self.shape[:-2], self.dtype)  # no elements


def _slogdet_grad(xp: Any, g: Any, A: Any, result0: Any) -> Any:
    g_sign, g_log = g
    scale = g_log
    if is_complex(A) and g_sign is not None:
        turn = xp.imag(xp.conj(g_sign) * result0)
        scale = xp.complex(xp.zeros_like(turn) if g_log is None else g_log, -turn)
    if scale is None:
        return xp.zeros_like(A)
    return column(xp, column(xp, scale)) * as_columns(H(xp, xp.inverse(A)))


@general(
    grad=_slogdet_grad,
    outputs=2,
    differentiable=(True, True),
    holomorphic=False,
    absent=True,
    node="LinalgSlogdetBackward0",
    batch=_plain,
    samples=lambda rng: [((_square(rng, 3),), ()), ((_square(rng, 2, 2),), ())],
)
def sign_logdet(lib, A):
    """The sign of each determinant and the logarithm of its absolute value: ``d log|A| = tr(A^-1 dA)``."""
    return tuple(lib.linalg.slogdet(A))

"""Bunch-Kaufman decompositions of symmetric matrices, definite or not: ``linalg.ldl_factor``, ``linalg.ldl_solve``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import columns
from ..._arrays.linalg import lapack_ldl, solved_by_ldl
from ..._base.errors import LinAlgError
from ..._base.registry import TENSORS, on_host, public
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import EXACT
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import refuse_elements
from ..._payloads.meta import on_meta
from ..._payloads.transforms import Transformed
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..elementwise._common import not_derived, refuse_forward
from .matmul import dtype_name
from .public import floats, same_dtypes_of_system, square_size

LdlFactor = return_type("linalg_ldl_factor", "LD", "pivots")
LdlFactorEx = return_type("linalg_ldl_factor_ex", "LD", "pivots", "info")


def _symmetric(rng: Any, n: int = 3) -> Any:
    a = rng.standard_normal((n, n))
    return a + a.T


@general(
    layout=columns,
    grad={"A": not_derived("linalg_ldl_factor_ex")},
    jvp=refuse_forward("aten::linalg_ldl_factor_ex"),
    outputs=3,
    differentiable=(True, False, False),
    node="NotImplemented",
    batch=lambda U, info, inner, mine, p: U.ldl_compact(inner[0], *p),
    samples=lambda rng: [((_symmetric(rng),), (False,)), ((_symmetric(rng, 4),), (True,))],
)
def ldl_compact(lib, A, hermitian):
    """L and D in one matrix, LAPACK's pivots (from 1; negative: a block of two), and its infos."""
    lead, n = A.shape[:-2], A.shape[-1]
    ld, pivots, info = A.copy(), lib.empty(A.shape[:-1], lib.int32), lib.zeros(lead, lib.int32)
    if not A.size:
        return ld, pivots, info
    factor = lapack_ldl("trf", A, hermitian)
    for index in lib.ndindex(*lead):
        d, rows, info[index] = factor(A[index], lower=1, lwork=max(64 * n, 1))
        ld[index] = lib.tril(d)
        pivots[index] = rows
    return ld, pivots, info


def _factored(rng: Any) -> Any:
    return np.diag([2.0, -1.0, 4.0]) + np.tril(rng.standard_normal((3, 3)), -1)


@general(
    layout=columns,
    tensors=3,
    grad={
        "LD": not_derived("linalg_ldl_solve"),
        "B": lambda xp, g, LD, pivots, hermitian: (
            xp.conj(xp.ldl_apply(LD, pivots, xp.conj(g), True)) if hermitian else xp.ldl_apply(LD, pivots, g, False)
        ),
    },
    batch=("core", (2, 1, 2)),
    samples=lambda rng: [
        ((_factored(rng), np.array([1, 2, 3], np.int32), rng.standard_normal((3, 2))), (False,)),
        ((_factored(rng), np.array([-2, -2, 3], np.int32), rng.standard_normal((3, 1))), (True,)),
    ],
)
def ldl_apply(lib, LD, pivots, B, hermitian):
    """``A^-1 B`` for the decomposition of A."""
    lead = lib.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    r = lib.array(lib.broadcast_to(B, (*lead, *B.shape[-2:])))
    if not r.size:
        return r
    ld, rows = lib.broadcast_to(LD, (*lead, *LD.shape[-2:])), lib.broadcast_to(pivots, (*lead, pivots.shape[-1]))
    for index in lib.ndindex(*lead):
        r[index] = solved_by_ldl(lib, ld[index], rows[index], r[index], hermitian)
    return r


@public("linalg.ldl_factor")
@with_out(EXACT)
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """L and D with ``A = L D L^T`` (``L^H`` if ``hermitian``), D with blocks of size 1 and 2, in one compact matrix.

    A: (*, n, n), symmetric or Hermitian, of which the lower triangle is read. Returns (LD, pivots), as LAPACK's sytrf
    leaves them, for ``ldl_solve``. It cannot be differentiated.

    >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[4., 2.], [2., 5.]]))
    >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[6.], [7.]]))
    tensor([[1.],
            [1.]])
    """
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    _refuse_singular("torch.linalg.ldl_factor", info)
    return LdlFactor((LD, pivots))


@public("linalg.ldl_factor_ex")
@with_out(EXACT)
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """``ldl_factor`` and, for each matrix, 0 or the place (from 1) of a zero in D; an error with ``check_errors``.

    >>> torch.linalg.ldl_factor_ex(torch.tensor([[4., 2.], [2., 2.]])).info
    tensor(0, dtype=torch.int32)
    """
    square_size("torch.linalg.ldl_factor_ex", A)
    floats("torch.linalg.ldl_factor_ex", A, "ldl_factor_kernel_cpu")
    result = TENSORS.ldl_compact(A, bool(hermitian))
    if check_errors:
        _refuse_singular("torch.linalg.ldl_factor_ex", result[2])
    return LdlFactorEx(result)


def _refuse_singular(name: str, info: Tensor) -> None:
    if on_meta(info):
        return
    values = info.detach()._payload
    while isinstance(values, Transformed):
        values = values.v
    bad = np.asarray(values) != 0
    if bad.any():
        where = "" if not bad.ndim else f"(Batch element {int(np.argmax(bad.reshape(-1)))}): "
        place = int(np.asarray(values).reshape(-1)[int(np.argmax(bad.reshape(-1)))])
        raise LinAlgError(f"{name}: {where}The diagonal element {place} of D is zero: the matrix is singular.")


@public("linalg.ldl_solve")
@with_out(EXACT)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X with ``A X = B`` for the decomposition of A that ``ldl_factor`` made; (*, n, k), the batches broadcast.

    >>> LD, pivots = torch.linalg.ldl_factor(torch.tensor([[2., 0.], [0., 4.]]))
    >>> torch.linalg.ldl_solve(LD, pivots, torch.tensor([[2.], [4.]]))
    tensor([[1.],
            [1.]])
    """
    name = "torch.linalg.ldl_solve"
    expect_tensors("linalg_ldl_solve", LD=LD, pivots=pivots, B=B)
    n = square_size(name, LD)
    shape = tuple(B._payload.shape)
    if len(shape) < 2:
        if not shape:
            raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    if shape[-2] != n:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is {shape[-2]} by "
            f"{shape[-1]}"
        )
    same_dtypes_of_system(B, LD)
    if logical_dtype(pivots).kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {dtype_name(pivots)}")
    if tuple(LD._payload.shape[:-1]) != tuple(pivots._payload.shape):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots._payload.shape)} instead"
        )
    text = "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Did you properly pass the result of ldl_factor?"
    refuse_elements(pivots._payload, lambda a: not a.all(), text)
    return TENSORS.ldl_apply(LD, pivots.detach(), B, bool(hermitian))


on_host("ldl_compact", "ldl_apply")

"""Linear equations, inverses and determinants of batches of matrices; PyTorch's errors for singular ones."""

from __future__ import annotations

import functools
import math
import sys
import types
from functools import partial
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS, BY_NUMPY, FLOAT32, FLOAT64
from .._base.errors import LinAlgError
from .._base.registry import plain
from .half import is_half, rounded_once
from .library import ARITHMETIC, in_lib, lib, putmask, silent_functions
from .scipy_functions import from_scipy

_EPSILON = {d: float(np.finfo(d).eps) for d in (FLOAT32, FLOAT64)}
_FLAGLESS = sys.platform in ("emscripten", "wasi")  # WebAssembly


def position_text(index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"(Batch element {np.ravel_multi_index(index, shape)}): " if shape else ""


def lu_of(a: Any) -> tuple[Any, Any, int]:
    """LAPACK's LU of one matrix: the factors, the pivots from 0, and the 1-based place of the first zero pivot."""
    get_lapack_funcs = from_scipy("linalg.lapack").get_lapack_funcs

    if not a.size:
        return a.copy(), np.zeros(min(a.shape), np.int32), 0
    (getrf,) = get_lapack_funcs(("getrf",), (a,))
    lu, pivots, info = getrf(a)
    return np.ascontiguousarray(lu), pivots, max(info, 0)


def first_singular(a: Any) -> tuple[str, int]:
    """The first matrix of a batch with a zero pivot, as the message names it, and the place of the pivot."""
    lead = a.shape[:-2]
    for index in np.ndindex(*lead):
        info = lu_of(a[index])[2]
        if info:
            return position_text(index, lead), info
    return "", 0


# ---- one real matrix: NumPy's functions in Python take two to six times as long as the loops that they call
_NUMPYS: Any = silent_functions(np.linalg.inv)
_LOOPS: Any = None if _FLAGLESS else getattr(np.linalg, "_umath_linalg", None)


def _looped(name: str, otherwise: Any) -> Any:
    """``otherwise``, a function of one or two arrays, by NumPy's loop of this name for real matrices, in float64 as
    there; ``otherwise`` raises where it fails."""
    loop = getattr(_LOOPS, name, None)

    def run(a: Any, *more: Any) -> Any:
        dtype = a.dtype
        if loop is None or type(a) is not np.ndarray or a.ndim != 2 or not a.size or dtype not in BLAS_FLOATS:
            return (rounded_once(otherwise) if is_half(dtype) else otherwise)(a, *more)
        if more and ((b := more[0]).dtype is not dtype or type(b) is not np.ndarray or b.ndim != 2 or not b.size):
            return otherwise(a, *more)
        try:
            if dtype is FLOAT64:
                r = loop(a, *more)
            else:
                r = loop(a.astype(FLOAT64), b.astype(FLOAT64)) if more else loop(a.astype(FLOAT64))
        except ARITHMETIC:  # in a program that makes errors of warnings
            return otherwise(a, *more)
        first = r[0] if type(r) is tuple else r
        if type(first) is np.ndarray:
            first = first.item(0)
        if first != first:  # nan is all that LAPACK's failures leave
            return otherwise(a, *more)
        if dtype is FLOAT64:
            return r
        return tuple([_narrow(x) for x in r]) if type(r) is tuple else _narrow(r)

    return run


def _narrow(x: Any) -> Any:
    """A loop's result in float32, a matrix in the order of LAPACK's."""
    return x.astype(FLOAT32, "F") if type(x) is np.ndarray else np.float32(x)  # a number's ``astype`` takes longer


_inv, _cholesky = _looped("inv", _NUMPYS.inv), _looped("cholesky_lo", _NUMPYS.cholesky)
_det, _slogdet = _looped("det", _NUMPYS.det), _looped("slogdet", _NUMPYS.slogdet)
_solve = _looped("solve", _NUMPYS.solve)
_TRIANGLES = {"L": "lo", "U": "up"}
_EIGH = {u: _looped(f"eigh_{loop}", partial(_NUMPYS.eigh, UPLO=u)) for u, loop in _TRIANGLES.items()}
_EIGVALSH = {u: _looped(f"eigvalsh_{loop}", partial(_NUMPYS.eigvalsh, UPLO=u)) for u, loop in _TRIANGLES.items()}
_SVD = {True: _looped("svd_f", _NUMPYS.svd), False: _looped("svd_s", partial(_NUMPYS.svd, full_matrices=False))}
_SVDVALS = _looped("svd", partial(_NUMPYS.svd, compute_uv=False))


def _eigh(a: Any, uplo: str = "L") -> Any:
    return _EIGH[uplo](a)


def _eigvalsh(a: Any, uplo: str = "L") -> Any:
    return _EIGVALSH[uplo](a)


def _svd(a: Any, full: bool = True, compute_uv: bool = True) -> Any:
    return _SVD[full](a) if compute_uv else _SVDVALS(a)


def _qr(a: Any, mode: str = "reduced") -> Any:
    plain = type(a) is np.ndarray and a.ndim == 2 and a.size and a.dtype in BLAS_FLOATS
    if mode != "reduced" or not plain or _QR is None:
        return _NUMPYS.qr(a, mode)
    dtype = a.dtype
    h = a.astype(FLOAT64)  # a copy, which the loop writes
    q = _LOOPS.qr_reduced(h, _QR(h))
    r = h[: min(h.shape)]
    putmask(r, _below(r.shape), _ZERO)
    return q.astype(dtype, "F"), r.astype(dtype, "F")


_QR, _ZERO = getattr(_LOOPS, "qr_r_raw", None), lib.ZEROS[FLOAT64]


@functools.lru_cache(64)
def _below(shape: tuple[int, int]) -> Any:
    """A mask of the elements below the diagonal."""
    return np.tri(*shape, -1, bool)


_fast: Any = types.ModuleType("wengert._arrays.linalg.fast")
_fast.__dict__.update(
    inv=_inv, solve=_solve, cholesky=_cholesky, det=_det, slogdet=_slogdet, eigh=_eigh, eigvalsh=_eigvalsh, svd=_svd,
    qr=_qr, __getattr__=lambda name: getattr(_NUMPYS, name),
)  # fmt: skip
in_lib(_fast, "linalg")


def _completed(function: Any) -> Any:
    """A function of NumPy that raises NumPy's error if LAPACK failed.

    NumPy learns of that by a floating-point flag. WebAssembly has no such flags: there the result is nan, that is all.
    """
    if not _FLAGLESS:
        return function

    def run(*arrays: Any) -> Any:
        r = function(*arrays)
        if np.isnan(r).any() and not any(np.isnan(a).any() for a in arrays):
            raise np.linalg.LinAlgError
        return r

    return run


_completed_inv, _completed_solve, _completed_cholesky = map(_completed, (_inv, _solve, _cholesky))


@in_lib
def inverses(a: Any) -> Any:
    """The inverses. Raises PyTorch's error if one does not exist."""
    try:
        return _completed_inv(a)
    except np.linalg.LinAlgError:
        where, info = first_singular(a)
        raise LinAlgError(
            f"linalg.inv: {where}The diagonal element {info or a.shape[-1]} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        ) from None


@plain
def plain_inverses(lib: Any, a: Any) -> Any:
    return lib.linalg.inv(a)


@in_lib
def solutions(a: Any, b: Any) -> Any:
    """``a^-1 b``, of vectors if b has one dimension less."""
    if b.ndim < a.ndim:
        return solutions(a, b[..., None])[..., 0]
    try:
        return _completed_solve(a, b)
    except np.linalg.LinAlgError:
        where, _ = first_singular(a)
        raise LinAlgError(
            f"torch.linalg.solve: {where}The solver failed because the input matrix is singular."
        ) from None


@plain
def plain_solutions(lib: Any, a: Any, b: Any) -> Any:
    return lib.linalg.solve(a, b[..., None])[..., 0] if b.ndim < a.ndim else lib.linalg.solve(a, b)


def _trsm(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """BLAS's triangular solve of one pair of matrices; a zero on the diagonal gives inf, as in PyTorch."""
    get_blas_funcs = from_scipy("linalg.blas").get_blas_funcs

    if not b.size or not a.size:
        return b.copy()
    (trsm,) = get_blas_funcs(("trsm",), (a, b))
    # the transpose of a row-major matrix is the column-major one that BLAS wants
    return np.ascontiguousarray(trsm(1, a.T, b, 0, lower=upper, trans_a=1, diag=unit))


@in_lib
def triangular_solutions(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """``a^-1 b`` of the upper or lower triangle of a, whose diagonal counts as ones if ``unit``."""
    if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
        raise NotImplementedError(f"\"triangular_solve_cpu\" not implemented for '{BY_NUMPY[a.dtype].scalar_name}'")
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.ndim == 2:
        return _trsm(a, b, upper, unit)
    lead = a.shape[:-2]
    if math.prod(lead) > 4 and a.shape[-1] <= 32:
        t = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
        if unit:
            t = t + np.eye(a.shape[-1], dtype=a.dtype)
        if np.all(np.einsum("...ii->...i", t)):
            return _NUMPYS.solve(t, b)
    r = np.empty(b.shape, b.dtype)
    for index in np.ndindex(*lead):
        r[index] = _trsm(a[index], b[index], upper, unit)
    return r


@plain
def plain_triangular_solutions(lib: Any, a: Any, b: Any, upper: bool, unit: bool) -> Any:
    t = lib.triu(a, int(unit)) if upper else lib.tril(a, -int(unit))
    return lib.linalg.solve(t + lib.eye(a.shape[-1], dtype=a.dtype) if unit else t, b)


def cofactor_matrices(a: Any) -> Any:
    """The derivative of the determinant, for singular matrices too: with ``a = U S V`` it is ``|U| |V| U adj(S) V``."""
    n = a.shape[-1]
    if not n:
        return np.zeros_like(a)
    numbers = ~np.isnan(a).any((-2, -1), keepdims=True)  # of nan no singular values are found
    u, s, vh = _svd(np.where(numbers, a, 0))
    others = np.ones_like(s)
    for i in range(n):
        others[..., i] = np.prod(np.delete(s, i, -1), -1)
    sign = _det(u) * _det(vh)
    r = (u.conj() * others[..., None, :]) @ vh.conj()
    return np.where(numbers, r * sign[..., None, None], np.nan).astype(a.dtype, copy=False)


# ---- decompositions
def minor_of(a: Any) -> int:
    """The order of the first minor that is not positive-definite, or 0."""
    factor, info = _potrf(a)
    return int(info) or (int(np.isnan(factor.diagonal()).argmax()) + 1 if _has_nan_pivot(factor) else 0)


def begun_cholesky(a: Any) -> Any:
    """What LAPACK leaves of a matrix that is not positive-definite: the columns up to that minor are factored."""
    return _potrf(a)[0]


def _potrf(a: Any) -> Any:
    (potrf,) = from_scipy("linalg.lapack").get_lapack_funcs(("potrf",), (a,))
    return potrf(a, lower=True)


def _has_nan_pivot(factor: Any) -> bool:
    """Whether a Cholesky factor has one: OpenBLAS goes on after it, and all that follow are nan."""
    if factor.ndim == 2 and factor.size:
        last = factor.item(-1)
        return bool(last != last)
    return bool(np.isnan(factor[..., -1:, -1:]).any())


def lu_without_pivots(a: Any) -> Any:
    lu = a.copy()
    for i in range(min(a.shape)):
        lu[i + 1 :, i] /= lu[i, i]
        lu[i + 1 :, i + 1 :] -= np.outer(lu[i + 1 :, i], lu[i, i + 1 :])
    return lu


def threshold(lib: Any, s: Any, atol: Any, rtol: Any, a: Any) -> Any:
    """The bound below which a singular value counts as zero: ``max(atol, rtol * largest)``."""
    if rtol is None and type(atol) is float and type(s) is np.ndarray and s.ndim == 1 and s.size:
        rtol = max(a.shape) * _EPSILON[s.dtype] if not atol > 0 else 0.0
        return s.dtype.type(max(s.item(s.argmax()) * rtol, atol))
    largest = s.max(-1) if s.shape[-1] else s.sum(-1)
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(s.dtype).eps if not np.any(np.asarray(atol) > 0) else 0.0
    return lib.maximum(largest * lib.table(np.asarray(rtol)), lib.table(np.asarray(atol))).astype(s.dtype)


def lapack_ldl(name: str, a: Any, hermitian: bool) -> Any:
    """LAPACK's routine for the dtype, of Hermitian matrices or of symmetric ones."""
    get_lapack_funcs = from_scipy("linalg").get_lapack_funcs

    kind = "he" if hermitian and a.dtype.kind == "c" else "sy"
    return get_lapack_funcs((kind + name,), (a,))[0]


def solved_by_ldl(lib: Any, ld: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """LAPACK's sytrs: b through P L, then D, then (P L)^T, block by block. (Not in every SciPy.)"""
    blocks, k = [], 0
    while k < len(pivots):
        size = 1 if pivots[k] > 0 else 2
        blocks.append((k, size))
        k += size
    b = b.copy()
    for k, size in blocks:
        last, row = k + size - 1, abs(pivots[k]) - 1
        b[[last, row]] = b[[row, last]]
        b[k + size :] -= ld[k + size :, k : k + size] @ b[k : k + size]
        d = ld[k : k + size, k : k + size].copy()
        if hermitian:
            lib.fill_diagonal(d, d.diagonal().real)
        if size == 2:
            d[0, 1] = lib.conj(d[1, 0]) if hermitian else d[1, 0]
        b[k : k + size] = lib.linalg.solve(d, b[k : k + size])
    for k, size in reversed(blocks):
        below = ld[k + size :, k : k + size]
        b[k : k + size] -= (lib.conj(below) if hermitian else below).T @ b[k + size :]
        last, row = k + size - 1, abs(pivots[k]) - 1
        b[[last, row]] = b[[row, last]]
    return b


@in_lib
def cholesky_factors(a: Any, upper: bool) -> Any:
    """Lower triangular factors of the lower triangles, or upper ones of the upper."""
    if upper:
        return cholesky_factors(a.swapaxes(-1, -2).conj(), False).swapaxes(-1, -2).conj()
    try:
        factors = _completed_cholesky(a)
        if not _has_nan_pivot(factors):
            return factors
        raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        lead = a.shape[:-2]
        for index in np.ndindex(*lead):
            info = minor_of(a[index])
            if info:
                raise LinAlgError(
                    f"linalg.cholesky: {position_text(index, lead)}The factorization could not be completed because "
                    f"the input is not positive-definite (the leading minor of order {info} is not positive-definite)."
                ) from None
        raise


@plain
def plain_cholesky_factors(lib: Any, a: Any, upper: bool) -> Any:
    if upper:
        return lib.cholesky_factors(a.swapaxes(-1, -2).conj(), False).swapaxes(-1, -2).conj()
    return lib.linalg.cholesky(a)

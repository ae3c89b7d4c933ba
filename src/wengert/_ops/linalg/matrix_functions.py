"""Functions of matrices: least squares, pseudo-inverse, rank, norms, powers, exponential, cross products, ..."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..._arrays.layouts import always_rows, in_rows
from ..._arrays.library import lib
from ..._base.constants import type_name
from ..._base.dtypes import FLOAT16, FLOATING, INEXACT, float32
from ..._base.errors import warn_once
from ..._base.registry import TENSORS, public, publish
from ..._kinds.dims import normal_dim
from ..._kinds.fronts import in_usual_call
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import lay
from ..._kinds.linear import bilinear, linear
from ..._kinds.out import EXACT, Rule, RuleOf, exactly, safely
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import check_arguments, require
from ..._payloads.meta import no_kernel, on_meta
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tensor_api.construct import placed_beside
from ..random._common import closed, opened
from ..reduce.norms import _vector_norm
from .decompositions import threshold
from .lu import lu_factor
from .matmul import dtype_name, matmul
from .public import (
    adjoint,
    beside,
    eye_of,
    floating,
    inv,
    inv_ex,
    matrix_shape,
    no_half,
    same_batch,
    solve,
    square_size,
    svdvals,
)

Lstsq = return_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


# ---- least squares, pseudo-inverse, rank, norms
def _tolerance(t: Any) -> Any:
    return np.asarray(t.detach()._payload) if isinstance(t, Tensor) else t


@public("linalg.pinv")
@with_out(safely("linalg.pinv"))
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The Moore-Penrose inverse; singular values up to ``max(atol, rtol * largest)`` count as zero.

    ``rtol`` is the larger size times the dtype's epsilon by default.

    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    shape = tuple(A._payload.shape)
    if len(shape) < 2 or logical_dtype(A).kind not in "fc" or logical_dtype(A).itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({dtype_name(A)}{{{list(shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    if rcond is not None:
        rtol = rcond
    if hermitian and A._payload.size:
        square_size("linalg.eigh", A)
    return TENSORS.pseudo_inverse(A, 0.0 if atol is None else _tolerance(atol), _tolerance(rtol), bool(hermitian))


@public("torch.pinverse Tensor.pinverse")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """``linalg.pinv`` with another name for its relative tolerance.

    >>> torch.pinverse(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    check_arguments("pinverse", input, rcond)
    return pinv(input, rtol=rcond)


@public("linalg.lstsq")
@with_out(safely("torch.linalg.lstsq", "solution"))
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """X that minimises ``|A X - B|``, the squared residuals of its columns, A's rank and its singular values.

    ``driver``: "gelsy" (default), "gels", "gelsd" or "gelss"; only the last two give singular values. The derivative is
    that of ``pinv(A) B``.

    >>> torch.linalg.lstsq(torch.tensor([[1.], [1.]]), torch.tensor([[1.], [3.]])).solution
    tensor([[2.0000]])
    """
    name = "torch.linalg.lstsq"
    if A._payload.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B._payload.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    m, n = A._payload.shape[-2:]
    vector = A._payload.ndim - 1 == B._payload.ndim and tuple(A._payload.shape[:-1]) == tuple(B._payload.shape)
    if vector:
        B = TENSORS.reshape(B, (*B._payload.shape, 1))
    if logical_dtype(A) is not logical_dtype(B):
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {dtype_name(A)} and "
            f"other's dtype {dtype_name(B)}"
        )
    if B._payload.shape[-2] != m:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")
    no_half("linalg.lstsq", A, None)
    A, B = same_batch(A, B)
    if on_meta(A):
        raise no_kernel("linalg_lstsq.out")
    X = lay(matmul(TENSORS.pseudo_inverse(A, 0.0, rcond, False), B.contiguous()), lambda x: _first_rows(x, max(m, n)))
    a, tags = opened(A.detach()._payload)
    s = lib.linalg.svd(a, compute_uv=False)
    rank = (s > threshold(lib, s, 0.0, rcond, a)[..., None]).sum(-1)
    residuals = TENSORS.abs(TENSORS.reshape(X, (-1,))[:0])  # with a history, as PyTorch's
    if m > n and driver != "gelsy" and np.all(rank == n):
        residuals = (TENSORS.abs(matmul(A, X) - B) ** 2).sum(-2)
    if driver == "gels":
        rank_out = placed_beside(A, np.zeros(0, np.int64))
    else:
        rank_out = placed_beside(A, closed(np.asarray(rank, np.int64), tags))
    values = placed_beside(A, closed(s, tags) if driver in ("gelsd", "gelss") else np.zeros(0, s.dtype))
    if vector:
        X = TENSORS.reshape(X, tuple(X._payload.shape[:-1]))
    return Lstsq((X, residuals, rank_out, values))


def _first_rows(x: Any, rows: int) -> Any:
    """The matrices as the first rows of column-major ones, which LAPACK solved in place of the right-hand sides."""
    *lead, n, k = x.shape
    whole = np.empty((*lead, k, rows), x.dtype)[..., :n].swapaxes(-2, -1)
    whole[...] = x
    return whole


@public("linalg.matrix_rank")
@with_out(safely("torch.linalg.matrix_rank"))
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The number of singular values above ``max(atol, rtol * largest)``.

    >>> torch.linalg.matrix_rank(torch.ones(3, 3))
    tensor(1)
    """
    matrix_shape("torch.linalg.matrix_rank", A, "input")
    if logical_dtype(A).kind not in "fc" or logical_dtype(A).itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if on_meta(A):
        return placed_beside(A, np.zeros(A._payload.shape[:-2], np.int64))
    a = opened(A._payload if A._node is None else A.detach()._payload)[0]
    if hermitian:
        square_size("torch.linalg.matrix_rank", A)
        s = np.abs(lib.linalg.eigvalsh(a))
    else:
        s = lib.linalg.svd(a, compute_uv=False)
    if tol is not None:
        atol, rtol = tol, 0.0
    floor = threshold(lib, s, 0.0 if atol is None else _tolerance(atol), _tolerance(rtol), a)
    rank = np.count_nonzero(s > floor) if s.ndim == 1 else (s > floor[..., None]).sum(-1)
    return beside(A, np.asarray(rank, np.int64))


@public("linalg.matrix_norm")
@with_out(exactly("linalg.matrix_norm expected out tensor dtype {Result} but got: {Out}"))
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf (sums of columns, singular values, sums of rows).

    >>> torch.linalg.matrix_norm(torch.tensor([[3., 4.]]))
    tensor(5.)
    """
    name = "linalg.matrix_norm"
    matrix_shape(name, A)
    if A._payload.dtype not in INEXACT:
        floating(name, A)
    rank = A._payload.ndim
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        count = " ".join(map(str, dim)) if isinstance(dim, (tuple, list)) else dim
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {count}")
    first, second = normal_dim(dim[0], rank), normal_dim(dim[1], rank)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if dtype is not None:
        A = A.to(dtype)
    if ord == "fro":
        return _vector_norm(A, 2, None if rank == 2 else (first, second), keepdim)
    if ord == "nuc":
        no_half("linalg.matrix_norm", A, None)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        return _by_singular_values(A, ord, first, second, keepdim)
    summed, other = (first, second) if abs(ord) == 1 else (second, first)
    r = TENSORS.abs(A).sum(summed, keepdim)
    if not keepdim and other > summed:
        other -= 1
    return _extremum(r, ord, other, keepdim)


def _extremum(r: Any, ord: Any, dim: int, keepdim: bool) -> Any:
    """The largest norm of a matrix's rows or columns, or the smallest; of none the largest is zero."""
    if ord < 0:
        return r.amin(dim, keepdim)
    return r.amax(dim, keepdim) if r._payload.shape[dim] else r.sum(dim, keepdim)


def _by_singular_values(A: Any, ord: Any, first: int, second: int, keepdim: bool) -> Any:
    rank = A._payload.ndim
    rest = [d for d in range(rank) if d not in (first, second)]
    moved = A if (first, second) == (rank - 2, rank - 1) else TENSORS.permute(A, (*rest, first, second))
    s = svdvals(moved)
    r = s.sum(-1) if ord == "nuc" else _extremum(s, ord, -1, False)
    if keepdim:
        r = TENSORS.reshape(r, tuple(1 if d in (first, second) else n for d, n in enumerate(A._payload.shape)))
    return r


@public("linalg.cond")
@with_out(safely("linalg.cond"))
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of matrices in a norm (see ``matrix_norm``); the ratio of singular values by default.

    >>> torch.linalg.cond(torch.tensor([[4., 0.], [0., 2.]]))
    tensor(2.)
    """
    if A._payload.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        s = svdvals(A)
        if not s._payload.shape[-1]:
            return wrap(np.zeros(tuple(A._payload.shape[:-2]), s._payload.dtype))
        n = s._payload.shape[-1]
        largest, smallest = TENSORS.select(s, s._payload.ndim - 1, 0), TENSORS.select(s, s._payload.ndim - 1, n - 1)
        return smallest / largest if p == -2 else largest / smallest
    square_size("linalg.cond", A)
    if not A._payload.shape[-1]:
        return wrap(np.zeros(tuple(A._payload.shape[:-2]), np.zeros(0, logical_dtype(A)).real.dtype))
    inverse = inv_ex(A)[0]
    r = matrix_norm(A, p) * matrix_norm(inverse, p)
    return r if p == "nuc" else TENSORS.where(r != r, wrap(np.array(math.inf, logical_dtype(r))), r)


# ---- powers, products
@public("linalg.matrix_exp torch.matrix_exp Tensor.matrix_exp")
@with_out
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential ``1 + A + A A / 2 + ...`` of each square matrix.

    >>> torch.matrix_exp(torch.tensor([[0., 1.], [0., 0.]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    square_size("linalg.matrix_exp", A)
    floating("linalg.matrix_exp", A)
    return TENSORS.exp_matrix(A)


def _matrix_power_rule(A: Any, n: int) -> Rule:
    """A product or an inverse is computed in ``out`` itself, a power of two copied into it."""
    return safely("matrix_power") if n in (0, 1) or (abs(n) > 2 and not abs(n) & (abs(n) - 1)) else EXACT


@public("linalg.matrix_power torch.matrix_power Tensor.matrix_power")
@with_out(RuleOf(_matrix_power_rule))
def matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th power of each square matrix, by repeated squaring; if n is negative, the power of its inverse.

    >>> torch.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type_name(n)}")
    square_size("linalg.matrix_power", A)
    if n == 0:
        ones = TENSORS.where(wrap(np.zeros((), np.bool_)), A, eye_of(A))  # they depend on A, with a derivative of zero
        return lay(ones, in_rows)
    if abs(n) == 1:
        return A.clone() if n == 1 else inv(A)
    if n < 0:
        A, n = inv(A), -n
    result = None
    while n:
        if n & 1:
            result = A if result is None else matmul(result, A)
        n >>= 1
        if n:
            A = matmul(A, A)
    return result  # type: ignore[return-value]


def _cross_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    size = next(v.shape[0] for v, m in zip(inner, mine, strict=True) if m)
    wide = [v if m else U.expand(v, (size, *v.shape)) for v, m in zip(inner, mine, strict=True)]
    return U.cross_product(*wide, p[0] + 1)


@bilinear(
    layout=always_rows,
    self=lambda xp, g, self, other, dim: xp.cross_product(other, g, dim),
    other=lambda xp, g, self, other, dim: xp.cross_product(g, self, dim),
    node="LinalgCrossBackward0",
    batch=_cross_batch,
    dtypes="fci",
    samples=[((3,), (3,), (0,)), ((2, 3), (2, 3), (1,)), ((3, 2), (3, 2), (0,))],
)
def cross_product(lib, self, other, dim):
    """The cross products of the vectors along a dim."""
    a, b = (x.swapaxes(dim, 0) for x in (self, other))
    r = lib.empty(a.shape, a.dtype)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        r[i] = a[j] * b[k] - a[k] * b[j]
    return r.swapaxes(0, dim)


@public("linalg.cross")
@with_out(EXACT)
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of the vectors of length 3 along ``dim``; the other dimensions broadcast.

    >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    expect_tensors("cross", input=input, other=other)
    a, b = tuple(input._payload.shape), tuple(other._payload.shape)
    if len(a) != len(b):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = normal_dim(dim, len(a))
    if a[d] != 3 or b[d] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[d]} and {b[d]}")
    if a != b:
        from ..nn.loss import broadcast_pair

        input, other = broadcast_pair(input, other)
    require(input, "fhciu", "cross")
    return TENSORS.cross_product(input, other, d)


@public("torch.cross Tensor.cross")
@with_out(EXACT)
def old_cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """``linalg.cross``; ``dim`` is the first dimension of size 3 by default.

    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
    """
    expect_tensors("cross", input=input, other=other)
    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\n"
            "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
            "The default value of dim will change to agree with that of linalg.cross in a future release."
        )
        found = [d for d, n in enumerate(input._payload.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return cross(input, other, dim=dim)


def _traced(xp: Any, g: Any, self_shape: Any) -> Any:
    n = min(self_shape)
    line = xp.expand(xp.reshape(g, (1,)), (n,))
    square = xp.embed_diagonal(line, 0, 0, 1)
    if self_shape[0] == self_shape[1]:
        return square
    return xp.constant_pad_nd(square, (0, self_shape[1] - n, 0, self_shape[0] - n), 0)


@linear(
    transpose=_traced,
    node="TraceBackward0",
    batch=lambda U, info, inner, mine, p: U.sum_dim(U.diagonal_view(inner[0], 0, 1, 2), (1,), False),
    samples=[((3, 3), ()), ((2, 4), ())],
)
def trace_of(lib, self):
    """The sum of the diagonal of a matrix."""
    return lib.sum_of_all(self.diagonal())


@public("torch.trace Tensor.trace")
@partial(in_usual_call, name="trace_of", unless='a.ndim != 2 or a.dtype.kind == "b"')
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal.

    >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    if input._payload.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._payload.ndim}")
    require(input, "fhciu", "trace")
    return TENSORS.trace_of(input)


# ---- low-rank estimates
def _range_of(A: Any, q: int, niter: int, M: Any) -> Any:
    """Orthonormal columns that span most of A's range: Halko, Martinsson, Tropp (2009), algorithm 4.4."""
    from ..._base.registry import PUBLIC

    known = logical_dtype(A).kind in "fc"
    X = PUBLIC["torch"]["randn"](A._payload.shape[-1], q, dtype=A.dtype if known else float32)
    Ah = adjoint(A)
    if M is not None:
        A = A - M
        Ah = adjoint(A)
    X = matmul(A, X)
    require(X, "fc", "geqrf_cpu")
    X = TENSORS.orthogonal(X, "reduced")[0]
    for _ in range(niter):
        X = TENSORS.orthogonal(matmul(Ah, X), "reduced")[0]
        X = TENSORS.orthogonal(matmul(A, X), "reduced")[0]
    return X


@public("torch.svd_lowrank")
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S, V of about the q largest singular values of A (of ``A - M``), by a random estimate of its range.

    >>> _ = torch.manual_seed(0)
    >>> torch.svd_lowrank(torch.tensor([[3., 0.], [0., 2.]]), q=2)[1]
    tensor([3.0000, 2.0000])
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    m, n = A._payload.shape[-2:]
    if m < n:
        U, S, V = svd_lowrank(adjoint(A), q, niter, None if M is None else adjoint(M))
        return V, S, U
    Q = _range_of(A, q, niter, M)
    B = matmul(adjoint(Q), A if M is None else A - M)
    U, S, Vh = TENSORS.singular(B, False)
    return matmul(Q, U), S, adjoint(Vh)


@public("torch.pca_lowrank")
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """``svd_lowrank`` of A minus the means of its columns; the columns of V are the principal directions.

    >>> _ = torch.manual_seed(0)
    >>> torch.pca_lowrank(torch.tensor([[3., 0.], [-3., 0.]]), q=1)[1]
    tensor([4.2426])
    """
    m, n = A._payload.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(-2, True)
    return svd_lowrank(A, q, niter)


# ---- the rest
@public("linalg.vander")
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of each element, along a new last dimension.

    >>> torch.linalg.vander(torch.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    if logical_dtype(x).kind in "bV" or logical_dtype(x) == FLOAT16:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {dtype_name(x)}"
        )
    if not x._payload.ndim:
        x = TENSORS.reshape(x, (1,))
    n = x._payload.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return _powers(x, n)


def _powers(x: Tensor, n: int) -> Tensor:
    if logical_dtype(x).kind in "biu":
        x = cast(x, np.dtype(np.int64))
    wide = TENSORS.expand(TENSORS.reshape(x, (*x._payload.shape, 1)), (*x._payload.shape, n - 1))
    powers = wide.cumprod(-1)
    ones = placed_beside(x, np.ones((*x._payload.shape, 1), logical_dtype(powers)))
    return TENSORS.cat([ones, powers], powers._payload.ndim - 1)


@public("torch.vander")
def old_vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, descending unless ``increasing``.

    >>> torch.vander(torch.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x._payload.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._payload.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    if n < 2:
        return placed_beside(x, np.ones((x._payload.shape[0], n), logical_dtype(x)))
    r = _powers(x, n)
    return r if increasing else r.flip(-1)


@public("linalg.tensorinv")
@with_out(safely("tensorinv"))
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map ``tensordot(A, x)``, whose output has the first ``ind`` dimensions of A.

    >>> torch.linalg.tensorinv(2 * torch.eye(2), ind=1)
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = tuple(A._payload.shape)
    front, back = shape[:ind], shape[ind:]
    if math.prod(front) != math.prod(back):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(back)} != {math.prod(front)}"
        )
    n = math.prod(front)
    return TENSORS.reshape(inv(TENSORS.reshape(A, (n, n))), (*back, *front))


@public("linalg.tensorsolve")
@with_out(safely("tensorsolve"))
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A are moved to its end first.

    >>> torch.linalg.tensorsolve(2 * torch.eye(2), torch.tensor([2., 4.]))
    tensor([1., 2.])
    """
    rank = A._payload.ndim
    if dims is not None:
        moved = [normal_dim(d, rank) for d in ((dims,) if isinstance(dims, int) else dims)]
        A = TENSORS.permute(A, (*(d for d in range(rank) if d not in moved), *moved))
    shape = tuple(A._payload.shape[B._payload.ndim :])
    n = math.prod(shape)
    if n != B._payload.size:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim]), but got "
            f"{n} != {B._payload.size}"
        )
    if logical_dtype(A) in FLOATING:
        require(A, "f", "lu_cpu")
    return TENSORS.reshape(solve(TENSORS.reshape(A, (n, n)), TENSORS.reshape(B, (n,))), shape)


@public("torch.gesv Tensor.gesv")
def gesv(B: Tensor, A: Tensor) -> tuple[Tensor, Tensor]:
    """X with ``A X = B``, and the factors L and U of A in one matrix: PyTorch 0.4's name of ``torch.linalg.solve``.

    >>> import wengert as torch
    >>> torch.gesv(torch.tensor([[2.], [2.]]), torch.tensor([[2., 0.], [0., 4.]]))[0]
    tensor([[1.0000],
            [0.5000]])
    """
    return solve(A, B), lu_factor(A.detach())[0]


def _removed(name: str, more: str) -> None:
    def gone(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. {more}")

    gone.__name__ = gone.__qualname__ = name
    gone.__doc__ = f"Removed from PyTorch. {more}"
    publish(gone, f"torch.{name} Tensor.{name}")


_removed("solve", "`torch.solve` is deprecated in favor of `torch.linalg.solve`.")
_removed("lstsq", "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.")
_removed("eig", "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`.")
_removed("matrix_rank", "Please use the `torch.linalg.matrix_rank` function instead.")
_removed("symeig", "The default behavior has changed from using the upper triangular portion to the lower one.")

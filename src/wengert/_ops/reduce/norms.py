"""Norms of vectors: ``norm``, ``linalg.vector_norm``, ``linalg.norm`` of vectors, ``dist``, ``renorm``.

Their gradients at zero are PyTorch's subgradient 0. Norms of matrices are in ``linalg``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.layouts import in_rows, iterated, rows
from ..._arrays.sums import count_of
from ..._arrays.threads import LARGE, elementwise
from ..._base.constants import type_name
from ..._base.dtypes import as_dtype, promote_types
from ..._base.registry import ARRAYS, PUBLIC, REGISTRY, TENSORS, publish
from ..._kinds.dims import EVERY_DIM, as_int, normal_dim, rank
from ..._kinds.general import general
from ..._kinds.laid_out import lay
from ..._kinds.out import EXACT, exactly
from ..._tape.error_text import broadcast_error, expect_tensor
from ..._tape.inplace import inplace_of
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..elementwise._common import plain_number
from .sums import Dims, dtype_text, in_dtype, is_kind, reduction, restored, wanted_dims

if TYPE_CHECKING:
    from ..._base.dtypes import dtype as DType

INF = float("inf")
Order = int | float


# ---- the formula
def norm_grad(xp: Any, g: Any, self: Any, result: Any, ord: Order, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The cotangent of a vector norm (PyTorch's ``norm_backward``, with no division by zero at any order)."""
    if ord == 0:
        return None
    g = restored(xp, g, self.shape, dim, keepdim)
    if ord == 1:
        return xp.sgn(self) * g
    norm = restored(xp, result, self.shape, dim, keepdim)
    if ord in (INF, -INF):
        mask = xp._ties(xp.abs(self), norm, True)
        return xp.sgn(self) * xp.where(mask, g / xp._tie_count(mask, norm, dim), 0.0)
    if ord < 1:
        size = xp.abs(self)
        zero = size == 0
        power = xp.where(zero, 0.0, xp.where(zero, 1.0, size) ** (ord - 1))
        return xp.sgn(self) * power * g * norm ** (1 - ord)
    zero = norm == 0
    safe = xp.where(zero, 1.0, norm)
    g = xp.where(zero, 0.0, g)
    if ord == 2:
        if xp is ARRAYS and self.size >= LARGE and self.dtype.kind == "f":
            scale = g / safe
            sizes = abs(scale)
            if sizes.min() > 1e-30 and sizes.max() < 1e30:  # no overflow or underflow: one pass instead of two
                return elementwise(np.multiply, self, scale)
        return g * (self / safe)
    if ord < 2:
        return xp.sgn(self) * xp.abs(self) ** (ord - 1) * (g / safe ** (ord - 1))
    return self * xp.abs(self) ** (ord - 2) * (g / safe ** (ord - 1))


_SAMPLES = [
    *(((3, 4), (p, (1,), False)) for p in (0, 1, 2, 3, 1.5, 0.5, -1, INF, -INF)),
    ((2, 3, 4), (2, (0, 2), True)),
    ((2, 3), (3.5, (0, 1), False)),
    ((), (2, (), False)),
]


@general(layout=rows, grad=norm_grad, holomorphic=False, batch=("dim", ("dim",)), samples=_SAMPLES)
def linalg_vector_norm(lib, self, ord, dim, keepdim):
    """The vector norm of some order over some dims."""
    if self.dtype.itemsize == 2:
        return vector_norm_over(lib, self.astype(lib.float32), ord, dim, keepdim).astype(self.dtype)
    if ord == 0:
        return lib.add.reduce(self != 0, dim, None, None, keepdim).astype(self.real.dtype)
    if ord == 2:
        if self.dtype.kind == "f":
            return lib.sqrt(lib.sum_of_squares(self, dim, keepdim))
        return lib.sqrt(lib.add.reduce(self.real * self.real + self.imag * self.imag, dim, None, None, keepdim))
    size = lib.abs(self)
    if ord == INF:
        return lib.maximum.reduce(size, dim, None, None, keepdim)
    if ord == -INF:
        return lib.minimum.reduce(size, dim, None, None, keepdim)
    if ord == 1 or count_of(self.shape, dim) == 1:
        return lib.sum_over(size, dim, keepdim)
    return lib.sum_over(size**ord, dim, keepdim) ** (1.0 / ord)


vector_norm_over: Any = REGISTRY["linalg_vector_norm"].decl


# ---- public functions
_PLAIN = (int, float)


def _vector_norm(x: Tensor, ord: Any, dim: Dims, keepdim: bool, dtype: DType | None = None) -> Tensor:
    try:
        ndim = x._payload.ndim
    except AttributeError:
        ndim = rank(x, "linalg_vector_norm")
    dims = EVERY_DIM[ndim] if dim is None else wanted_dims(dim, ndim, "linalg_vector_norm")
    if dtype is None and type(ord) in _PLAIN and type(a := x._payload) is np.ndarray and a.size and a.dtype.kind == "f":
        return linalg_vector_norm(x, ord, dims, keepdim)
    order = _order(ord)
    _check_floating(x)
    if dtype is not None:
        _check_dtype(x, as_dtype(dtype, "linalg_vector_norm"))
        x = in_dtype(x, dtype, "linalg_vector_norm")
    shape = x._payload.shape
    if 0 in shape and (order < 0 or order == INF):
        _refuse_empty(ord, shape, dims, dim)
    return linalg_vector_norm(x, order, dims, keepdim)


@reduction("linalg.vector_norm", out_rule=EXACT)
def vector_norm(
    x: Tensor, ord: Order = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Norm of the elements as one vector, or of the vectors along dims. ``ord`` is any number, 0, inf or -inf.

    >>> x = torch.tensor([3., -4.])
    >>> torch.linalg.vector_norm(x), torch.linalg.vector_norm(x, 1), torch.linalg.vector_norm(x, float("inf"))
    (tensor(5.), tensor(7.), tensor(4.))
    """
    return _vector_norm(x, ord, dim, keepdim, dtype)


def _check_floating(x: Tensor) -> None:
    if not is_kind(x, "fcV"):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {dtype_text(x)}"
        )


def _check_dtype(x: Tensor, wanted: DType) -> None:
    text = "linalg.vector_norm: "
    if not (wanted.is_floating_point or wanted.is_complex):
        raise RuntimeError(f"{text}dtype should be floating point or complex, but got {wanted.scalar_name}")
    if wanted.is_complex != x.dtype.is_complex:
        kind = "complex" if x.dtype.is_complex else "real"
        raise RuntimeError(f"{text}dtype should be {kind} for {kind} inputs, but got {wanted.scalar_name}")
    if promote_types(x.dtype, wanted) is not wanted:
        raise RuntimeError(
            f"{text}the dtype of the input ({x.dtype.scalar_name}) should be convertible without narrowing to the "
            f"specified dtype ({wanted.scalar_name})"
        )


def _order(ord: Any) -> Order:
    if isinstance(ord, (int, float)) and not isinstance(ord, (bool, np.generic)):
        return ord
    if isinstance(ord, Tensor) and not ord._payload.ndim:
        return ord._payload.item()
    if hasattr(ord, "item") and not isinstance(ord, Tensor):
        return ord.item()
    raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type_name(ord)}")


def _refuse_empty(ord: Any, shape: tuple[int, ...], dims: tuple[int, ...], dim: Any) -> None:
    if dim is None or dim == ():
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    for d in dims:
        if not shape[d]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on the dimension {d}because this dimension is empty "
                "and the operation does not have an identity"
            )


@reduction("torch.norm Tensor.norm", out_rule=EXACT)
def norm(
    input: Tensor, p: Order | str | None = "fro", dim: Dims = None, keepdim: bool = False, dtype: DType | None = None
) -> Tensor:
    """Norm of the elements as one vector, or of the vectors along dims; ``"nuc"`` is the nuclear norm of matrices.

    >>> x = torch.tensor([[3., 4.], [6., 8.]], requires_grad=True)
    >>> x.norm(dim=1)
    tensor([ 5., 10.], grad_fn=<LinalgVectorNormBackward0>)
    """
    if not isinstance(p, str):
        return _vector_norm(input, 2 if p is None else p, dim, keepdim, dtype)
    if p == "fro" and dim is None:
        return _vector_norm(input, 2, None, keepdim, dtype)
    dims: Any = range(rank(input, "norm")) if dim is None else (dim,) if hasattr(dim, "__index__") else dim
    if p == "fro" and len(dims) <= 2:
        return _vector_norm(input, 2, dim, keepdim, dtype)
    return _matrix_norm(input, p, tuple(dims), keepdim, dtype)


@reduction("linalg.norm", out_rule=exactly("linalg.norm expected out tensor dtype {Result} but got: {Out}"))
def linalg_norm(
    A: Tensor, ord: Order | str | None = None, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Norm of a vector (``ord`` a number) or of matrices (``ord`` a number or ``"fro"``, ``"nuc"``), as in NumPy.

    Without ``ord`` it is the 2-norm of all elements. ``dim``: an int for vectors, two ints for matrices.

    >>> torch.linalg.norm(torch.tensor([[3., 4.], [0., 0.]]))
    tensor(5.)
    """
    ndim = rank(A, "linalg_norm")
    dims: Any = None if dim is None else (dim,) if hasattr(dim, "__index__") else tuple(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")
    if ord is None:
        return _vector_norm(A, 2, dim, keepdim, dtype)
    if isinstance(ord, str) or (ndim if dims is None else len(dims)) == 2:
        return _matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype)
    return _vector_norm(A, ord, dim, keepdim, dtype)


def _matrix_norm(A: Tensor, ord: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Tensor:
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    return PUBLIC["linalg"]["matrix_norm"](A, ord, dims, keepdim, dtype=dtype)


_difference = iterated(operator.sub)


def _dist_grad(xp: Any, g: Any, self: Any, other: Any, p: Order, result: Any) -> tuple[Any, Any]:
    difference = _difference(self, other)
    d = norm_grad(xp, g, difference, result, p, tuple(range(difference.ndim)), False)
    if d is None:
        return None, None
    pairs = (d, self), (-d, other)
    return tuple([c if c.shape == t.shape else xp.sum_to(c, tuple(t.shape)) for c, t in pairs])


def _dist_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, y = inner
    if all(mine) and x.ndim != y.ndim:  # keep the batch dimension in front of the dimensions that broadcast
        n = max(x.ndim, y.ndim)
        x, y = (U.reshape(v, (v.shape[0],) + (1,) * (n - v.ndim) + tuple(v.shape[1:])) for v in (x, y))
    elif not all(mine):
        batched, other = (x, y) if mine[0] else (y, x)
        if batched.ndim <= other.ndim:
            batched = U.reshape(
                batched, (batched.shape[0],) + (1,) * (other.ndim + 1 - batched.ndim) + tuple(batched.shape[1:])
            )
        x, y = (batched, other) if mine[0] else (other, batched)
    difference = x - y
    return U.linalg_vector_norm(difference, p[0], tuple(range(1, difference.ndim)), False)


@general(
    tensors=2,
    promote=True,
    grad=_dist_grad,
    holomorphic=False,
    batch=_dist_batch,
    samples=[((3, 4), (3, 4), (2,)), ((3, 4), (4,), (3,)), ((3,), (3,), (1,)), ((), (), (2,))],
)
def dist(lib, self, other, p):
    """The norm of ``self - other``, broadcasting."""
    difference = self - other
    return vector_norm_over(lib, difference, p, tuple(range(difference.ndim)), False)


@reduction("torch.dist Tensor.dist")
def dist_public(input: Tensor, other: Tensor, p: Order = 2) -> Tensor:
    """The p-norm of ``input - other``, broadcasting.

    >>> torch.dist(torch.tensor([1., 2.]), torch.tensor([4., 6.]))
    tensor(5.)
    """
    rank(input, "dist")
    expect_tensor("dist", "other", 2, other)
    if is_kind(input, "b") or is_kind(other, "b"):
        TENSORS.sub(input, other)  # which refuses it
    if not (is_kind(input, "fcV") or is_kind(other, "fcV")):
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {dtype_text(input)} instead."
        )
    try:
        return dist(input, other, p)
    except ValueError:
        raise broadcast_error(input, other) from None


@reduction("torch.renorm Tensor.renorm", out_rule=EXACT)
def renorm(input: Tensor, p: Order, dim: int, maxnorm: float) -> Tensor:
    """Scale each slice along ``dim`` whose p-norm is above ``maxnorm`` down to that norm.

    >>> torch.renorm(torch.tensor([[3., 4.], [0.3, 0.4]]), 2, 0, 1.)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    ndim = rank(input, "renorm")
    dim = as_int(dim, "renorm")
    p, maxnorm = plain_number(p), plain_number(maxnorm)
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {ndim} dimensions")
    dim = normal_dim(dim, ndim, "renorm")
    _check_floating(input)
    norms = linalg_vector_norm(input, p, tuple(d for d in range(ndim) if d != dim), True)
    long = norms > maxnorm
    shrunk = maxnorm / (TENSORS.where(long, norms, maxnorm) + 1e-7)
    return lay(with_node_name(input * TENSORS.where(long, shrunk, 1.0), "RenormBackward0"), in_rows)


publish(inplace_of(renorm, "renorm_"), "Tensor.renorm_")

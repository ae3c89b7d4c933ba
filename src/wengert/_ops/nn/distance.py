"""Distances and directions of vectors: ``normalize``, ``cosine_similarity``, ``cdist``, ... and the losses on them.

All are composed of other operators, in the order in which PyTorch composes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays.layouts import always_rows
from ..._base.dtypes import BLAS_FLOATS, BY_NUMPY
from ..._base.grad_mode import no_grad
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import ordered, receives
from ..._kinds.slow_path import require
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name
from ..elementwise._common import plain_number
from ..linalg.matmul import dtype_name
from .loss import broadcast_pair, reduce_values, reduction_code


@public("nn.functional.normalize")
@with_out
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """The vectors along ``dim`` divided by their p-norm, or by ``eps`` if that is larger.

    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.], [0., 0.]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    lengths = input.norm(p, dim, True).clamp_min(eps)
    return ordered(input / lengths, input, lengths)


def _length(x: Any, dim: int, eps: float) -> Any:
    """The 2-norm along a dim, at least eps; the bound is not recorded, so that the gradient is that of the norm."""
    n = x.norm(2, dim, True)
    if n._node is None:
        return n.clamp_min(eps)
    n = n.clone()
    a = n._payload
    if type(a) is np.ndarray:
        np.maximum(a, eps, out=a)
    else:
        with no_grad():
            n.clamp_min_(eps)
    return n


@public("torch.cosine_similarity nn.functional.cosine_similarity")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between the vectors along ``dim``; the other dimensions broadcast.

    >>> torch.cosine_similarity(torch.tensor([[1., 0.]]), torch.tensor([[1., 1.]]))
    tensor([0.7071])
    """
    eps = plain_number(eps)
    dtype = common_dtype((x1, x2))
    if dtype.kind not in "fV":
        name = BY_NUMPY[dtype].scalar_name
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {name}")
    x1, x2 = cast(x1, dtype), cast(x2, dtype)
    if tuple(x1.shape) != tuple(x2.shape):
        x1, x2 = broadcast_pair(x1, x2)
    return ((x1 / _length(x1, dim, eps)) * (x2 / _length(x2, dim, eps))).sum(dim)


@public("torch.pairwise_distance nn.functional.pairwise_distance")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension.

    >>> torch.pairwise_distance(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.]]))
    tensor([5.0000])
    """
    expect_tensors("pairwise_distance", x1=x1, x2=x2)
    return with_node_name(with_node_name(x1 - x2 + eps, "AddBackward1").norm(p, -1, keepdim), "NormBackward1")


def _cdist_grads(xp: Any, g: Any, x1: Any, x2: Any, needs: Any, result: Any) -> tuple[Any, Any]:
    """The cotangents: with ``w = g / distance`` (0 where distance is 0), ``sum_j w_ij (x1_i - x2_j)``: two products."""
    w = g / xp.where(result == 0, 1, result)
    w = xp.where(result == 0, 0, w)
    n = w.ndim
    first = second = None
    if needs[0]:
        first = x1 * xp.sum_dim(w, (n - 1,), True) - xp.matmul_nd(w, x2)
    if needs[1]:
        second = x2 * xp.sum_dim(w.mT, (n - 1,), True) - xp.matmul_nd(w.mT, x1)
    return first, second


@general(
    layout=always_rows,
    grad=_cdist_grads,
    tensors=2,
    node="CdistBackward0",
    batch="shape",
    dtypes="f",
    samples=[((3, 2), (4, 2), ()), ((2, 3, 2), (2, 1, 2), ()), ((2, 1), (3, 1), ())],
)
def euclidean_distances(lib, x1, x2):
    """The distance of each row of x1 and each row of x2."""
    if x1.shape[-2] <= 25 and x2.shape[-2] <= 25:
        d = x1[..., :, None, :] - x2[..., None, :, :]
        return lib.sqrt(lib.vecdot(d, d))
    norms1, norms2 = (lib.vecdot(x, x) for x in (x1, x2))
    square = lib.matmul(x1, x2.swapaxes(-1, -2))
    square *= -2
    square += norms1[..., :, None]
    square += norms2[..., None, :]
    lib.maximum(square, 0, out=square)
    return lib.sqrt(square, square)


@plain_body
def plain_euclidean_distances(lib, x1, x2):
    d = x1[..., :, None, :] - x2[..., None, :, :]
    return lib.sqrt((d * d).sum(-1))


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@public("torch.cdist")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance of each row of ``(*, P, M)`` and each row of ``(*, R, M)``: ``(*, P, R)``.

    >>> torch.cdist(torch.tensor([[0., 0.]]), torch.tensor([[3., 4.], [0., 1.]]))
    tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._payload, x2._payload
    if p == 2 and a.dtype is b.dtype and a.dtype in BLAS_FLOATS and a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1]:
        return euclidean_distances(x1, x2)
    for name, t in (("X1", x1), ("X2", x2)):
        if logical_dtype(t).kind not in "fV":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {dtype_name(t)}")
        if t._payload.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {t._payload.ndim}D")
    if x1._payload.shape[-1] != x2._payload.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._payload.shape[-1]} X2: {x2._payload.shape[-1]}"
        )
    if logical_dtype(x1) is not logical_dtype(x2):
        raise RuntimeError(f"expected scalar type {dtype_name(x1)} but found {dtype_name(x2)}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    product = compute_mode == "use_mm_for_euclid_dist" or (
        compute_mode == "use_mm_for_euclid_dist_if_necessary" and max(x1._payload.shape[-2], x2._payload.shape[-2]) > 25
    )
    if x1._payload.size and x2._payload.size and not (p == 2 and product):
        require(x1, "f", "cdist")
    from ..linalg.public import same_batch

    x1, x2 = same_batch(x1, x2)
    if p == 2:
        return euclidean_distances(x1, x2)
    a, b = x1._payload.shape, x2._payload.shape
    if 0 in (*a, *b):
        x1, x2 = receives(x1), receives(x2)
    d = TENSORS.reshape(x1, (*a[:-1], 1, a[-1])) - TENSORS.reshape(x2, (*b[:-2], 1, *b[-2:]))
    return _norms(d, p, "CdistBackward0")


def _norms(d: Tensor, p: float, node: str) -> Tensor:
    """The norms of differences; that of order 0 has a derivative of zeros."""
    norms = d.norm(p, -1)
    if not p:
        norms = norms.masked_fill(d.isnan().any(-1), math.nan)
        norms = TENSORS.where(wrap(np.zeros((), np.bool_)), d.sum(-1), norms)
    return with_node_name(norms, node)


@public("torch.pdist nn.functional.pdist")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances of all pairs of rows: the upper triangle of ``cdist(input, input)``, row by row.

    >>> torch.pdist(torch.tensor([[0., 0.], [3., 4.], [0., 1.]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input._payload.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._payload.ndim}D")
    if logical_dtype(input).kind not in "fV":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input._payload.shape[0] > 1 and input._payload.size:
        require(input, "f", "pdist")
    i, j = (wrap(k) for k in np.triu_indices(input._payload.shape[0], 1))
    return _norms(input[i] - input[j], p, "PdistBackward0")


@public("nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos(x1, x2)`` where the target is 1, ``max(0, cos(x1, x2) - margin)`` where it is -1.

    >>> x, y = torch.tensor([[1., 0.]]), torch.tensor([[0., 1.]])
    >>> torch.nn.functional.cosine_embedding_loss(x, y, torch.tensor([1]))
    tensor(1.)
    """
    code = reduction_code(reduction, size_average, reduce)
    rank = target._payload.ndim
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1._payload.ndim != rank + 1 or input2._payload.ndim != rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
            f"{list(input1._payload.shape)} and {list(input2._payload.shape)}."
        )
    tiny = 1e-12
    product = (input1 * input2).sum(rank)
    square1 = (input1 * input1).sum(rank) + tiny
    square2 = (input2 * input2).sum(rank) + tiny
    cosine = product / TENSORS.sqrt(square1 * square2)
    zeros = TENSORS.zeros_like(cosine)
    near = TENSORS.where(target == 1, 1 - cosine, zeros)
    apart = TENSORS.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return reduce_values(near + apart, code)


def _triplet_losses(distance: Any, anchor: Any, positive: Any, negative: Any, margin: float, swap: bool) -> Any:
    """The losses of both functions, each of a triplet."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    a, p, n = (t._payload.ndim for t in (anchor, positive, negative))
    if not a == p == n:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a}D, positive {p}D, and negative {n}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = TENSORS.minimum(far, distance(positive, negative))
    return (margin + near - far).clamp_min(0)


@public("nn.functional.triplet_margin_loss")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))`` with d the ``pairwise_distance``.

    ``swap``: the negative counts with its distance from the positive if that is smaller.

    >>> F = torch.nn.functional
    >>> F.triplet_margin_loss(torch.tensor([[0.]]), torch.tensor([[1.]]), torch.tensor([[1.5]]))
    tensor(0.5000)
    """
    code = reduction_code(reduction, size_average, reduce)
    losses = _triplet_losses(lambda x, y: pairwise_distance(x, y, p, eps), anchor, positive, negative, margin, swap)
    return reduce_values(losses, code)


@public("nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``triplet_margin_loss`` with a given distance function.

    >>> F = torch.nn.functional
    >>> x, y, z = torch.tensor([[0.]]), torch.tensor([[1.]]), torch.tensor([[1.5]])
    >>> F.triplet_margin_with_distance_loss(x, y, z)
    tensor(0.5000)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    losses = _triplet_losses(distance_function or pairwise_distance, anchor, positive, negative, margin, swap)
    return reduce_values(losses, reduction_code(reduction))

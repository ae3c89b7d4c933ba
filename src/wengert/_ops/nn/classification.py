"""Losses over classes: ``nll_loss`` and the margin losses. The module ``cross_entropy`` has the cross entropy.

``nll`` picks one element per sample along dim 1; it is linear in its input, and ``nll_backward`` is its transpose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.along import all_below
from ..._arrays.layouts import always_rows, needless
from ..._arrays.losses import (
    IN_PYTHON,
    MEAN,
    NONE,
    SUM,
    places_of_targets,
    total_at_targets,
    total_margins,
    weights_of_targets,
)
from ..._arrays.softmax_large import row_starts
from ..._base.dtypes import BLAS_FLOATS, INT64
from ..._base.errors import noted
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import general, named_by
from ..._kinds.slow_path import require
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import placed_beside
from ..indexing._along import bad_index
from ..linalg.matmul import dtype_name
from ..random._common import check_elements
from .loss import reduce_values, reduction_code, refuse_weight_grad


# ---- negative log-likelihoods
def _nll_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """The batching rule: fold vmap's dimension into the samples, and take a mean within each element of the batch."""
    from ..._payloads.batching import loop

    x, target, weight = inner
    reduction, ignore_index = p
    if mine[2]:
        return loop(info, inner, mine, p)
    size = (x if mine[0] else target).shape[0]
    if not mine[0]:
        x = U.expand(x, (size, *x.shape))
    if not mine[1]:
        target = U.expand(target, (size, *target.shape))
    rank = x.ndim - 1
    folded = x if rank == 1 else U.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))
    flat = target if rank == 1 else U.reshape(target, (target.shape[0] * target.shape[1], *target.shape[2:]))
    each = U.nll(folded, flat, weight, NONE, ignore_index)
    each = U.reshape(each, tuple(target.shape))
    if reduction == NONE:
        return each
    dims = tuple(range(1, each.ndim))
    total = U.sum_dim(each, dims, False) if dims else each
    if reduction == SUM:
        return total
    return total / _total_weights(U, folded, flat, weight, ignore_index, target, dims)


def _total_weights(U: Any, folded: Any, flat: Any, weight: Any, ignore_index: int, target: Any, dims: Any) -> Any:
    ones = U.zeros_like(folded) + -1.0
    weights = U.reshape(U.nll(ones, flat, weight, NONE, ignore_index), tuple(target.shape))
    return U.sum_dim(weights, dims, False) if dims else weights


def _nll_backward_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    from ..._payloads.batching import loop

    g, target, weight = inner
    size, reduction, ignore_index = p
    if mine[2]:
        return loop(info, inner, mine, p)
    b = (g if mine[0] else target).shape[0]
    if not mine[0]:
        g = U.expand(g, (b, *g.shape))
    if not mine[1]:
        target = U.expand(target, (b, *target.shape))
    flat = target if len(size) == 1 else U.reshape(target, (target.shape[0] * target.shape[1], *target.shape[2:]))
    folded = size if len(size) > 1 else (1, *size)
    folded = (b * folded[0], *folded[1:])
    if reduction != NONE:
        if reduction == MEAN:
            zeros = U.zeros(folded, weight.dtype if weight is not None else g.dtype)
            g = g / _total_weights(U, zeros, flat, weight, ignore_index, target, tuple(range(1, target.ndim)))
        g = U.expand(U.reshape(g, (b, *(1,) * (target.ndim - 1))), tuple(target.shape))
    g = U.reshape(g, tuple(flat.shape))
    return U.reshape(U.nll_backward(g, flat, weight, folded, NONE, ignore_index), (b, *size))


def _nll_samples(rng: Any) -> Any:
    weight = rng.uniform(0.5, 2, 3)
    found = []
    for reduction in (NONE, MEAN, SUM):
        for w in (None, weight):
            found += [
                ((rng.uniform(-2, 2, (4, 3)), np.array([0, 2, 1, 2]), w), (reduction, -100)),
                ((rng.uniform(-2, 2, (4, 3)), np.array([0, 1, 1, 2]), w), (reduction, 1)),
                ((rng.uniform(-2, 2, 3), np.array(2), w), (reduction, -100)),
                ((rng.uniform(-2, 2, (2, 3, 2)), np.array([[0, 1], [2, 2]]), w), (reduction, 0)),
                ((rng.uniform(-2, 2, (4, 3)), np.array([0, 1, 1, 2]), w), (reduction, None)),
            ]
    return found


def _nll_backward_samples(rng: Any) -> Any:
    found = []
    for (x, target, w), (reduction, ignored) in _nll_samples(rng):
        shape = target.shape if reduction == NONE else ()
        found.append(
            ((rng.uniform(-1, 1, shape) if shape else np.array(0.7), target, w), (x.shape, reduction, ignored))
        )
    return found


@needless("{a}.ndim < 3")
def _samples_in_rows(fn: Any) -> Any:
    """Row-major losses; those of a matrix are so."""
    return always_rows(fn)


@general(
    layout=_samples_in_rows,
    grad={
        "self": lambda xp, g, self_shape, target, weight, reduction, ignore_index: xp.nll_backward(
            g, target, weight, self_shape, reduction, ignore_index
        )
    },
    tensors=3,
    node="NllLossBackward0",
    batch=_nll_batch,
    dtypes="f",
    samples=_nll_samples,
    piecewise=True,
)
def nll(lib, self, target, weight, reduction, ignore_index):
    """Minus the element of each sample that its target names, weighted; classes are along dim 1 (or the only one)."""
    if not self.size:
        return (
            self.dtype.type(math.nan if reduction == MEAN else 0) if reduction else lib.zeros(target.shape, self.dtype)
        )
    if weight is None and ignore_index is None and self.ndim == 2:
        if self.size <= IN_PYTHON and reduction != NONE and self.dtype in BLAS_FLOATS:
            total = self.dtype.type(0.0 - total_at_targets(self, target))  # no -0., as in PyTorch
            return total if reduction == SUM else total / len(self)  # rounded before, as in PyTorch
        r = intp.take(self, target + row_starts(*self.shape))
        if reduction == NONE:
            return -r
        total = 0 - lib.sum_of_all(r)
        return total if reduction == SUM else total / r.size
    index, keep = places_of_targets(self.shape, target, ignore_index)
    r = -self[index]
    if self.ndim == 1:
        r = r + 0  # no -0., as in the sums
    w = weights_of_targets(self.dtype, index, keep, weight, target.shape)
    if w is not None:
        r = r * w
        if keep is not None:
            r = lib.where(keep, r, r.dtype.type(0))
    if reduction == NONE:
        return r
    total = lib.add.reduce(r, None)
    if reduction == SUM:
        return total
    return total / (r.dtype.type(r.size) if w is None else lib.add.reduce(w, None))


@plain_body
def plain_nll(lib, self, target, weight, reduction, ignore_index):
    rows = lib.moveaxis(self, 1, -1) if self.ndim > 1 else self[None]
    target = target.reshape(rows.shape[:-1])
    keep = lib.ones(target.shape, bool) if ignore_index is None else target != ignore_index
    place = lib.where(keep, target, 0)
    w = keep.astype(self.dtype) if weight is None else weight[place] * keep
    losses = lib.where(keep, -lib.take_along_axis(rows, place[..., None], -1)[..., 0] * w, 0)
    if reduction == NONE:
        return losses if self.ndim > 1 else losses.reshape(())
    return losses.sum() if reduction == SUM else losses.sum() / w.sum()


named_by("nll", "self_shape", lambda shape: "NllLoss2DBackward0" if len(shape) > 2 else "NllLossBackward0")


@general(
    grad={
        "g": lambda xp, h, target, weight, reduction, ignore_index: xp.nll(h, target, weight, reduction, ignore_index)
    },
    tensors=3,
    batch=_nll_backward_batch,
    dtypes="f",
    samples=_nll_backward_samples,
)
def nll_backward(lib, g, target, weight, size, reduction, ignore_index):
    """Zeros with minus the weighted cotangent at the element that each target names."""
    r = lib.zeros(size, g.dtype)
    if not r.size:
        return r
    if weight is None and ignore_index is None and len(size) == 2:
        r.reshape(r.size)[target + row_starts(*size)] = -g if reduction != MEAN else -g / target.size
        return r
    index, keep = places_of_targets(size, target, ignore_index)
    w = weights_of_targets(g.dtype, index, keep, weight, target.shape)
    if reduction == MEAN:
        g = g / (g.dtype.type(target.size) if w is None else lib.add.reduce(w, None))
    value = -g if w is None else -g * w
    if keep is not None:
        value = lib.where(keep, value, g.dtype.type(0))
    r[index] = value
    return r


@plain_body
def plain_nll_backward(lib, g, target, weight, size, reduction, ignore_index):
    rows = lib.zeros((*size[:1], *size[2:], size[1]) if len(size) > 1 else (1, *size), g.dtype)
    target = target.reshape(rows.shape[:-1])
    keep = lib.ones(target.shape, bool) if ignore_index is None else target != ignore_index
    place = lib.where(keep, target, 0)
    w = keep.astype(g.dtype) if weight is None else weight[place] * keep
    g = -g * w if reduction != MEAN else -g * w / w.sum()
    lib.add_at(rows.reshape(-1), lib.along(rows.shape, place[..., None], rows.ndim - 1).reshape(-1), g.reshape(-1))
    return lib.moveaxis(rows, -1, 1) if len(size) > 1 else rows[0]


def _check_classes(target: Any, n: int, ignore_index: int) -> None:
    """Raise PyTorch's error unless every target is a class."""
    check_elements(lambda a: _check_class_numbers(a, n, ignore_index), target._payload)


def _check_class_numbers(a: Any, n: int, ignore_index: int) -> None:
    if not a.size or (np.min(a) >= 0 and np.max(a) < n):
        return
    wrong = (a != ignore_index) & ((a < 0) | (a >= n))
    if np.any(wrong):
        raise noted(
            IndexError(f"Target {np.asarray(a)[wrong].flat[0]} is out of bounds."),
            f"Why: a target is the number of a class, from 0 to {n - 1} here (dim 1 of the input counts the classes).",
            "What to do: give the last layer as many outputs as there are classes, or count the classes from 0.",
            code="W013",
        )


def _check_nll(input: Any, target: Any, weight: Any) -> None:
    a, t = input._payload, target._payload
    if not a.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if a.ndim == 1:
        if t.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if t.size != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.size}")
    elif t.ndim and a.shape[0] != t.shape[0]:
        raise ValueError(f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({t.shape[0]}).")
    elif a.ndim == 2 and t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    elif a.ndim == 4 and t.ndim != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {t.ndim}"
        )
    elif a.ndim == 4 and (a.shape[0], *a.shape[2:]) != tuple(t.shape):
        raise RuntimeError(f"size mismatch (got input: {list(a.shape)} , target: {list(t.shape)}")
    elif a.ndim > 2 and (a.shape[0], *a.shape[2:]) != tuple(t.shape):
        raise RuntimeError(f"Expected target size {[a.shape[0], *a.shape[2:]]}, got {list(t.shape)}")
    n = a.shape[0 if a.ndim == 1 else 1]
    if weight is not None and tuple(weight.shape) != (n,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {n} classes or no classes but got weight tensor of shape: "
            f"{list(weight.shape)}"
        )


def nll_nd(input: Any, target: Any, weight: Any, code: int, ignore_index: int) -> Any:
    """Check the arguments and call ``nll``, with ``ignore_index`` of ``None`` if no target is ignored."""
    a, t = getattr(input, "_payload", None), getattr(target, "_payload", None)
    if (
        weight is None
        and type(a) is type(t) is np.ndarray
        and a.ndim == 2
        and t.ndim == 1
        and t.dtype is INT64
        and a.dtype.kind == "f"
        and len(t) == len(a) > 0
        and not 0 <= ignore_index < a.shape[1]
        and all_below(t, a.shape[1])
    ):
        return nll(input, target, None, code, None)
    expect_tensors("nll_loss_nd", input=input, target=target)
    _check_nll(input, target, weight)
    if logical_dtype(target).name not in ("int64", "uint8"):
        raise noted(
            RuntimeError(f"expected target dtype to be Long or Byte, but got {dtype_name(target)}"),
            "Why: a target of shape (N,) holds the numbers of classes; floats of the input's shape would be "
            "probabilities.",
            "What to do: target.long(); for one output and two classes, binary_cross_entropy_with_logits takes floats.",
            code="W012",
        )
    require(input, "fh", "nll_loss2d_forward_out_frame" if input._payload.ndim > 2 else "nll_loss_out_frame")
    if weight is not None:
        if logical_dtype(weight) is not logical_dtype(input):
            raise RuntimeError(f"expected scalar type {dtype_name(input)} but found {dtype_name(weight)}")
        refuse_weight_grad("nll_loss_forward", weight=weight)
    _check_classes(target, input._payload.shape[0 if input._payload.ndim == 1 else 1], ignore_index)
    if input._payload.ndim == 1 and target._payload.ndim == 1:
        target = TENSORS.reshape(target, ())
    result = nll(input, target, weight, code, ignore_index)
    if code == NONE and input._payload.ndim in (3, *range(5, 65)):  # PyTorch's kernel has images' dims alone
        return TENSORS.view(result, tuple(result._payload.shape))
    return result


@public("nn.functional.nll_loss")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood: minus the element of ``input`` that each target names.

    ``input`` holds log-probabilities, ``(N, C)``, ``(C,)`` or ``(N, C, d1, ...)``; ``target`` the classes, int64, of
    the shape without C. The mean is weighted by ``weight`` and skips targets equal to ``ignore_index``.

    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.], [-3., -4.]]), torch.tensor([0, 1]))
    tensor(2.5000)
    """
    return nll_nd(input, target, weight, reduction_code(reduction, size_average, reduce), ignore_index)


# ---- margin losses
def _classes(n: int, like: Tensor) -> Any:
    """The class numbers 0 to n - 1, as a constant."""
    return placed_beside(like, np.arange(n))


def _check_rows(a: Any) -> None:
    if a.ndim > 2 or (a.ndim and a.shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(a.shape)}"
        )


def _at_targets(xp: Any, x: Any, target: Any) -> Any:
    """The element of each row that its target names, as a column."""
    return -xp.reshape(xp.nll(x, target, None, NONE, None), (x.shape[0], 1))


def _put_at_targets(xp: Any, column: Any, target: Any, shape: Any) -> Any:
    """Zeros with an element of the column in each row, at its target: the transpose of ``_at_targets``."""
    return -xp.nll_backward(xp.reshape(column, (shape[0],)), target, None, tuple(shape), NONE, None)


def _multi_margin_grad(
    xp: Any, g: Any, self: Any, target: Any, weight: Any, reduction: int, p: int, margin: float
) -> Any:
    rows, n = shape = self.shape
    z = self - _at_targets(xp, self, target) + margin
    slope = xp.where(z > 0, z * 2 if p == 2 else xp.zeros_like(z) + 1, 0)
    if weight is not None:
        slope = slope * _at_targets(xp, xp.expand(weight, tuple(shape)), target)
    slope = slope - _put_at_targets(xp, _at_targets(xp, slope, target), target, shape)
    g = g / (n * rows if reduction == MEAN else n)
    slope = slope * (g if reduction else xp.reshape(g, (rows, 1)))
    return slope - _put_at_targets(xp, xp.sum_dim(slope, (1,), False), target, shape)


def _multi_margin_samples(rng: Any) -> Any:
    return [
        ((rng.uniform(-2, 2, (4, 3)), np.array([0, 2, 1, 2]), weight), (reduction, p, 0.7))
        for reduction in (NONE, MEAN, SUM)
        for p in (1, 2)
        for weight in (None, rng.uniform(0.5, 2, 3))
    ]


@general(
    grad={"self": _multi_margin_grad},
    tensors=3,
    node="MultiMarginLossBackward0",
    batch="loop",
    dtypes="f",
    samples=_multi_margin_samples,
)
def multi_margin(lib, self, target, weight, reduction, p, margin):
    """``max(0, margin - x[target] + x[j]) ** p``, the mean over the classes, that of the target counting as 0."""
    rows, n = self.shape
    if type(self) is np.ndarray and 0 < self.size <= IN_PYTHON and weight is None and reduction != NONE:
        total = total_margins(self, target, p, margin)
        return self.dtype.type(total / (n if reduction == SUM else self.size))
    places = target + row_starts(rows, n)
    z = lib.subtract(self, intp.take(self, places)[:, None], order="C")  # in rows, as ``places`` counts
    z += margin
    z = lib.fmax(z, lib.ZEROS[z.dtype], out=z)  # nan is not above zero
    z.reshape(z.size)[places] = 0
    if p == 2:
        z *= z
    if weight is not None:
        z *= weight[target][:, None]
    if reduction == NONE:
        return lib.sum_over(z, 1) / n
    return lib.sum_of_all(z) / (n if reduction == SUM else z.size or math.nan)


@plain_body
def plain_multi_margin(lib, self, target, weight, reduction, p, margin):
    n = self.shape[1]
    z = lib.fmax(self - lib.take_along_axis(self, target[:, None], 1) + margin, 0)
    z = lib.where(lib.arange(n) == target[:, None], 0, z**p)
    z = z if weight is None else z * weight[target][:, None]
    if reduction == NONE:
        return z.sum(1) / n
    return z.sum() / (n if reduction == SUM else z.size or math.nan)


@public("nn.functional.multi_margin_loss")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``sum(max(0, margin - x[target] + x[j]) ** p) / C`` over the classes other than the target; p is 1 or 2.

    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.1, 0.5, 0.9]]), torch.tensor([2]))
    tensor(0.2667)
    """
    code = reduction_code(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    a, t = input._payload, target._payload
    if weight is None and type(a) is type(t) is np.ndarray and a.ndim == 2 and t.ndim == 1 and t.dtype is INT64:
        if len(t) == len(a) > 0 and a.dtype in BLAS_FLOATS and a.shape[1] and all_below(t, a.shape[1]):
            return multi_margin(input, target, None, code, p, margin)
    if weight is not None and weight._payload.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _check_rows(a)
    n = a.shape[-1] if a.ndim else 1
    if weight is not None and weight._payload.shape != (n,):
        raise RuntimeError(f"inconsistent weight size, expected {n} but got {list(weight._payload.shape)}")
    single = a.ndim < 2
    rows = 1 if single else a.shape[0]
    if (t.size if single else (t.ndim == 1 and t.shape[0])) != rows:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{rows}], but got {list(t.shape)}. Input has shape {list(a.shape)}."
        )
    if logical_dtype(target) != INT64:
        raise RuntimeError(f"expected scalar type Long but found {dtype_name(target)}")
    if bad_index(target, n) is not None:
        raise RuntimeError("target out of range")
    require(input, "f", "multi_margin_loss_cpu_kernel")
    if weight is not None:
        if logical_dtype(weight) is not logical_dtype(input):
            raise RuntimeError(f"expected scalar type {dtype_name(input)} but found {dtype_name(weight)}")
        refuse_weight_grad("multi_margin_loss", weight=weight)
    if a.ndim == 2:
        return multi_margin(input, target, weight, code, p, margin)
    losses = multi_margin(TENSORS.reshape(input, (1, n)), TENSORS.reshape(target, (1,)), weight, code, p, margin)
    return losses if code else TENSORS.reshape(losses, ())


@public("nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """``sum(max(0, 1 - x[target] + x[j])) / C`` over pairs of a target and another class.

    A row of ``target`` lists classes; the first negative one ends the list.

    >>> F = torch.nn.functional
    >>> F.multilabel_margin_loss(torch.tensor([[0.1, 0.5, 0.9]]), torch.tensor([[2, -1, 0]]))
    tensor(0.2667)
    """
    code = reduction_code(reduction, size_average, reduce)
    _check_rows(input._payload)
    if tuple(input.shape) != tuple(target.shape):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    require(input, "f", "multilabel_margin_loss_forward_out_frame")
    single = input._payload.ndim < 2
    n = input._payload.shape[-1] if input._payload.ndim else 1
    rows = 1 if single else input._payload.shape[0]
    if bad_index(target + 1, n + 1) is not None:
        raise RuntimeError("argument #2 'target' is out of range")
    x, y = TENSORS.reshape(input, (rows, n)), TENSORS.reshape(target, (rows, n))
    listed = (y < 0).cumsum(1) == 0
    places = TENSORS.where(listed, y, TENSORS.zeros_like(y))
    named = (
        (TENSORS.reshape(places, (rows, n, 1)) == _classes(n, places)) & TENSORS.reshape(listed, (rows, n, 1))
    ).any(1)
    z = (TENSORS.reshape(x, (rows, 1, n)) - TENSORS.reshape(x.gather(1, places), (rows, n, 1)) + 1).clamp_min(0)
    counts = TENSORS.reshape(listed, (rows, n, 1)) & ~TENSORS.reshape(named, (rows, 1, n)) & (z > 0)  # nan is not
    losses = TENSORS.sum_dim(TENSORS.where(counts, z, TENSORS.zeros_like(z)), (1, 2), False) / n
    result = reduce_values(TENSORS.reshape(losses, ()) if single else losses, code)
    return with_node_name(result, "MultilabelMarginLossBackward0")


@public("nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy with logits, averaged over the classes (the last dimension).

    >>> F = torch.nn.functional
    >>> F.multilabel_soft_margin_loss(torch.tensor([[0., 2.]]), torch.tensor([[1., 0.]]))
    tensor(1.4100)
    """
    code = reduction_code(reduction, size_average, reduce)
    losses = -(target * TENSORS._log_sigmoid(input) + (1 - target) * TENSORS._log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    class_dim = input._payload.ndim - 1  # also where the target has more dims
    return reduce_values(losses.sum(class_dim) / input._payload.shape[class_dim], code)

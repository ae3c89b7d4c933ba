"""Losses between a prediction and a target of the same shape: squared and absolute errors, margins.

A loss with a derivative of its own is one node, as in PyTorch. Its parameters are ``reduction`` (0 none, 1 mean, 2 sum)
and then those of the formula. The others are composed, as PyTorch composes them.
"""

from __future__ import annotations

import math
from typing import Any

from ..._arrays.large import large
from ..._arrays.layouts import iterated
from ..._arrays.losses import MEAN, NONE, REDUCTIONS, reduced_losses
from ..._arrays.threads import LARGE
from ..._base.dtypes import BY_NUMPY, FLOATING, INEXACT, get_default_dtype
from ..._base.errors import warn
from ..._base.registry import ARRAYS, TENSORS, public
from ..._kinds.general import general
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.error_text import common_shape, expect_tensors, of_python
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor

# ---- reductions
LEGACY_WARNING = "size_average and reduce args will be deprecated, please use reduction='{}' instead."


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction for PyTorch 0.4's two flags; a flag that is ``None`` counts as true."""
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def reduction_code(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """``reduction`` as a number; the older arguments ``size_average`` and ``reduce`` take precedence over it."""
    if size_average is not None or reduce is not None:
        name = legacy_reduction(size_average, reduce)
        warn(LEGACY_WARNING.format(name))
        return REDUCTIONS[name]
    code_or_none = REDUCTIONS.get(reduction)
    if code_or_none is None:
        if reduction == "elementwise_mean":
            warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
            return MEAN
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code_or_none


def times_slope(xp: Any, g: Any, self: Any, target: Any, slope: Any, *p: Any) -> Any:
    """A slope at the difference of input and target, times the cotangent; in blocks for large arrays, and in rows."""

    def product(self: Any, target: Any, g: Any) -> Any:
        return slope(xp, self - target, *p) * g

    if xp is not ARRAYS:
        return product(self, target, g)
    r = large(product, self, target, g)
    return r if r.ndim < 2 or r.flags.c_contiguous else r.copy()


def shared(g: Any, reduction: int, shape: Any) -> Any:
    """The cotangent of each single loss; for a mean or a sum a number that broadcasts."""
    if reduction != MEAN:
        return g
    n = math.prod(shape)
    return g * (1.0 / n if n else math.nan)


def reduce_values(r: Any, reduction: int) -> Any:
    """The reduction on Tensors and on the results of composed losses."""
    return r if reduction == NONE else r.mean() if reduction == MEAN else r.sum()


def loss_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """The batching rule of an elementwise loss with ``reduction`` before the formula's own parameters."""
    size = next(v.shape[0] for v, m in zip(inner, mine, strict=True) if m)
    ranks = [getattr(v, "ndim", 0) - m for v, m in zip(inner, mine, strict=True)]
    rank = ranks[0]
    shape = next(tuple(v.shape)[m:] for v, m in zip(inner[:1], mine[:1], strict=True))
    operands = []
    for k, (v, m, own) in enumerate(zip(inner, mine, ranks, strict=True)):
        if v is not None and m and own < rank:
            v = U.reshape(v, (size, *(1,) * (rank - own), *v.shape[1:]))
        elif v is not None and not m and k < 2:
            v = U.expand(v, (size, *shape))
        operands.append(v)
    i = info.params.index("reduction") - info.arity
    each = getattr(U, info.name)(*operands, *p[:i], NONE, *p[i + 1 :])
    if p[i] == NONE:
        return each
    dims = tuple(range(1, rank + 1))
    if not dims:
        return each
    return U.mean_dim(each, dims, False) if p[i] == MEAN else U.sum_dim(each, dims, False)


IN_PYTHON = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")  # PyTorch's are: they ask the target's size first


def _fit(name: str, input: Any, target: Any, kernel: str | None = None) -> tuple[Any, Any]:
    """Two operands in one shape and dtype; different shapes broadcast with PyTorch's warning."""
    try:
        a, b = input._payload, target._payload
    except AttributeError:
        if name in IN_PYTHON:
            raise of_python(lambda: target.size() == input.size()) from None
        return expect_tensors(name, input=input, target=target)
    if a.shape != b.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )
        input, target = broadcast_pair(input, target)
    if a.dtype is not b.dtype:
        dtype = common_dtype((input, target))
        input, target = cast(input, dtype), cast(target, dtype)
    if kernel is not None and input._payload.dtype not in FLOATING:
        require(input, "fh", kernel)
    return input, target


def broadcast_pair(x: Any, y: Any) -> tuple[Any, Any]:
    shape = common_shape(x, y)
    return tuple(t if tuple(t.shape) == shape else TENSORS.expand(t, shape) for t in (x, y))


def weighted(losses: Any, weight: Any, input: Any, reduction: str) -> Any:
    """Losses times weights of the input's size; the mean is over the weights."""
    if tuple(weight.shape) != tuple(input.shape):
        raise ValueError("Weights and input must have the same size.")
    if reduction not in REDUCTIONS:
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    losses = losses * weight
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / weight.sum()


def refuse_weight_grad(name: str, **weights: Any) -> None:
    """Raise PyTorch's error for weights that require grad: a loss has no derivative with respect to them."""
    for argument, t in weights.items():
        if t is not None and t._node is not None and _recording():
            raise RuntimeError(
                f"The function '{name}' is not differentiable with respect to argument '{argument}'. This input "
                "cannot have requires_grad True."
            )


def _recording() -> bool:
    from ..._base.modes import is_grad_enabled

    return is_grad_enabled()


# ---- squares and lines
def _both(d: Any, needs: Any) -> Any:
    """The cotangents of input and target of a loss of their difference."""
    return d if needs[0] else None, -d if needs[1] else None


def _identity(xp: Any, d: Any) -> Any:
    return d


_PAIRS = [((3, 4), (3, 4), (r,)) for r in (0, 1, 2)] + [((), (), (1,))]


@general(
    grad=lambda xp, g, self, target, needs, reduction: _both(
        times_slope(xp, shared(g, reduction, self.shape) * 2.0, self, target, _identity), needs
    ),
    tensors=2,
    node="MseLossBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=_PAIRS,
    own_derivative=True,
)
def squared_error(lib, self, target, reduction):
    """Squared differences, their mean or their sum."""
    if self.size >= LARGE:
        return reduced_losses(lib, lambda self, target: (self - target) ** 2, reduction, self, target)
    d = self - target
    if reduction == NONE or not 0 < d.size < 65536 or d.ndim == 0 or d.dtype.itemsize < 4:
        return lib.reduced(d * d, reduction)
    flat = d.reshape(d.size)
    total = lib.product(flat, flat)  # one pass; for long vectors the pairwise sum of `reduced` is more exact
    return total / d.size if reduction == MEAN else total


@public("nn.functional.mse_loss")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean of the squared differences of input and target (``reduction``: "mean", "sum" or "none").

    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    a, b = _fit("mse_loss", input, target, "mse_cpu" if weight is None else None)
    if weight is not None:
        return weighted((a - b) ** 2, weight, input, reduction)
    return squared_error(a, b, reduction_code(reduction, size_average, reduce))


@public("nn.functional.l1_loss")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Mean of the absolute differences of input and target.

    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([2., 5.]))
    tensor(2.)
    """
    a, b = _fit("l1_loss", input, target)
    losses = TENSORS.abs(a - b)
    if weight is not None:
        return weighted(losses, weight, input, reduction)
    return reduce_values(losses, reduction_code(reduction, size_average, reduce))


def _bent_slope(xp: Any, d: Any, bend: float, steep: float) -> Any:
    return xp.where(xp.abs(d) >= bend, xp.sign(d) * steep, d * (steep / bend))


def _bent(lib: Any, self: Any, target: Any, reduction: int, bend: float, steep: float) -> Any:
    """A parabola up to a difference of ``bend``, beyond it its tangent of slope ``steep``."""

    def losses(self: Any, target: Any) -> Any:
        d = lib.abs(self - target)
        number = lib.NUMBERS[d.dtype]
        line = d - number[0.5 * bend]
        parabola = d * d * number[0.5 * steep / bend]
        return lib.chosen(d < number[bend], parabola, line if steep == 1 else line * number[steep])

    return reduced_losses(lib, losses, reduction, self, target)


@general(
    grad=lambda xp, g, self, target, needs, reduction, beta: _both(
        times_slope(xp, shared(g, reduction, self.shape), self, target, _bent_slope, beta, 1.0), needs
    ),
    tensors=2,
    node="SmoothL1LossBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=[((3, 4), (3, 4), (r, b)) for r in (0, 1, 2) for b in (1.0, 0.3)],
    own_derivative=True,
)
def smooth_l1(lib, self, target, reduction, beta):
    """A parabola up to a difference of beta, a line beyond."""
    return _bent(lib, self, target, reduction, beta, 1.0)


@public("nn.functional.smooth_l1_loss")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``0.5 d^2 / beta`` where the difference ``|d|`` is below beta, ``|d| - 0.5 beta`` elsewhere.

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1., 2.]), torch.tensor([2., 5.]))
    tensor(1.5000)
    """
    code = reduction_code(reduction, size_average, reduce)
    input, target = _fit("smooth_l1_loss", input, target, "smooth_l1_cpu" if beta else None)
    if beta == 0:
        return reduce_values(TENSORS.abs(input - target), code)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return smooth_l1(input, target, code, float(beta))


@general(
    layout=iterated,
    grad=lambda xp, g, self, target, needs, reduction, delta: _both(
        times_slope(xp, shared(g, reduction, self.shape), self, target, _bent_slope, delta, delta), needs
    ),
    tensors=2,
    node="HuberLossBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=[((3, 4), (3, 4), (r, b)) for r in (0, 1, 2) for b in (1.0, 0.3)],
    own_derivative=True,
)
def huber(lib, self, target, reduction, delta):
    """A parabola up to a difference of delta, its tangent beyond."""
    return _bent(lib, self, target, reduction, delta, delta)


@public("nn.functional.huber_loss")
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """``0.5 d^2`` where ``|d| <= delta``, ``delta (|d| - 0.5 delta)`` elsewhere.

    >>> torch.nn.functional.huber_loss(torch.tensor([1., 2.]), torch.tensor([2., 5.]))
    tensor(1.5000)
    """
    dtype = logical_dtype(input)
    input, target = _fit(
        "huber_loss", input, target if target._payload.dtype is dtype else cast(target, dtype), "huber_cpu"
    )
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return huber(input, target, reduction_code(reduction), float(delta))
    losses = huber(input, target, NONE, float(delta))
    if reduction == "mean" and tuple(weight.shape) == tuple(input.shape):
        return (losses * weight).mean()
    return weighted(losses, weight, input, reduction)


# ---- margins
@general(
    grad=lambda xp, g, self, target, needs, reduction: (
        -target * xp.sigmoid(-target * self) * shared(g, reduction, self.shape) if needs[0] else None,
        -self * xp.sigmoid(-target * self) * shared(g, reduction, self.shape) if needs[1] else None,
    ),
    tensors=2,
    node="SoftMarginLossBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=_PAIRS,
    own_derivative=True,
)
def soft_margin(lib, self, target, reduction):
    """``log(1 + exp(-target * self))``."""
    return lib.reduced(lib.log1p(lib.exp(-target * self)), reduction)


@public("nn.functional.soft_margin_loss")
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1.

    >>> torch.nn.functional.soft_margin_loss(torch.tensor([0., 2.]), torch.tensor([1., 1.]))
    tensor(0.4100)
    """
    code = reduction_code(reduction, size_average, reduce)
    if type(input) is type(target) is Tensor:
        a, t = input._payload, target._payload
        if a.shape == t.shape and a.dtype is t.dtype and a.dtype in FLOATING and target._node is None:
            return soft_margin(input, target, code)
    if (shape := tuple(input.shape)) != tuple(target.shape):
        input, target = broadcast_pair(input, target)
        if (both := tuple(input.shape)) != shape:
            raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(both)}")
    refuse_weight_grad("soft_margin_loss", target=target)
    dtype, given = logical_dtype(input), logical_dtype(target)
    if dtype.kind == "b":
        TENSORS.neg(input)
    if dtype not in INEXACT or given.kind == "c" != dtype.kind:
        computed = BY_NUMPY[given] if given.kind == "c" else get_default_dtype()
        raise RuntimeError(
            f"result type {computed.scalar_name} can't be cast to the desired output type {BY_NUMPY[dtype].scalar_name}"
        )
    return no_complex_grad("soft_margin_loss", soft_margin(input, cast(target, dtype), code))


@public("nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.25, 2.]), torch.tensor([-1, 1]))
    tensor(1.3750)
    """
    code = reduction_code(reduction, size_average, reduce)
    expect_tensors("hinge_embedding_loss", input=input, target=target)
    zero = TENSORS.zeros_like(input)
    apart = TENSORS.where(target != 1, (margin - input).clamp_min(0), zero)
    near = TENSORS.where(target != -1, input, zero)
    return reduce_values(apart + near, code)


@public("nn.functional.margin_ranking_loss")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``.

    >>> F = torch.nn.functional
    >>> F.margin_ranking_loss(torch.tensor([1.]), torch.tensor([3.]), torch.tensor([1.]))
    tensor(2.)
    """
    code = reduction_code(reduction, size_average, reduce)
    if not input1._payload.ndim == input2._payload.ndim == target._payload.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    apart = input1 - input2
    return reduce_values((-target * apart + float(margin)).clamp_min(0), code)

"""Losses that are negative log likelihoods, of probabilities, logits, rates and Gaussians; and ``kl_div``."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..._arrays.layouts import iterated
from ..._arrays.losses import MEAN, NONE, REDUCTIONS, SUM, in_unit_interval, reduced_losses
from ..._base.dtypes import FLOATING
from ..._base.errors import noted, warn
from ..._base.registry import TENSORS, public
from ..._kinds.general import general
from ..._kinds.slow_path import require
from ..._tape.error_text import common_shape, expect_tensors
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor
from ..linalg.matmul import dtype_name
from ..random._common import check_elements
from ..reduce.sums import is_kind
from .loss import loss_batch, reduce_values, reduction_code, refuse_weight_grad, shared


# ---- binary likelihoods
def _weighted_cotangent(g: Any, weight: Any, reduction: int, shape: Any) -> Any:
    g = shared(g, reduction, shape)
    return g if weight is None else g * weight


def _bce_slope(xp: Any, g: Any, x: Any, t: Any) -> Any:
    variance = (1.0 + -x) * x
    return g * (x - t) / xp.where(variance > 1e-12, variance, xp.zeros_like(variance) + 1e-12)


def _bce_samples(weights: Any) -> Any:
    def samples(rng: Any) -> Any:
        return [
            ((rng.uniform(0.2, 0.8, (3, 4)), rng.uniform(0, 1, (3, 4)), *w), (r,))
            for r in (NONE, MEAN, SUM)
            for w in weights(rng)
        ]

    return samples


@general(
    grad={
        "self": lambda xp, g, self, target, weight, reduction: _bce_slope(
            xp, _weighted_cotangent(g, weight, reduction, self.shape), self, target
        ),
        "target": lambda xp, g, self, weight, reduction: (
            _weighted_cotangent(g, weight, reduction, self.shape) * (xp.log(1.0 + -self) - xp.log(self))
        ),
    },
    tensors=3,
    node="BinaryCrossEntropyBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=_bce_samples(lambda rng: [(None,), (np.full((3, 4), 2.0),)]),
)
def bernoulli_nll(lib, self, target, weight, reduction):
    """Cross entropy of probabilities; a logarithm counts as at least -100, so that 0 and 1 give finite losses."""

    def losses(self: Any, target: Any, weight: Any) -> Any:
        r = (target - lib.ONES[target.dtype]) * lib.limited(lib.log1p(-self), -100.0, None)
        r -= target * lib.limited(lib.log(self), -100.0, None)
        return r if weight is None else r * weight

    return reduced_losses(lib, losses, reduction, self, target, weight)


@public("nn.functional.binary_cross_entropy")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities ``input`` with targets between 0 and 1, of the same size.

    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)
    """
    code = reduction_code(reduction, size_average, reduce)
    usual = type(input) is type(target) is Tensor and input._payload.shape == target._payload.shape
    if not usual and tuple(target.shape) != tuple(input.shape):
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    for t in (target, weight):
        if t is not None and logical_dtype(t) is not logical_dtype(input):
            raise RuntimeError(f"Found dtype {dtype_name(t)} but expected {dtype_name(input)}")
    if weight is not None:
        refuse_weight_grad("binary_cross_entropy", weight=weight)
    require(input, "fh", "binary_cross_entropy")
    for name, t in (("input", input), ("target", target)):
        if type(t._payload) is np.ndarray:
            _refuse_outside(name, t._payload)
        else:
            check_elements(partial(_refuse_outside, name), t._payload)
    if weight is not None and tuple(weight.shape) != tuple(input.shape):
        _check_weight(input, weight)
        weight = TENSORS.expand(weight, tuple(input.shape))
    return bernoulli_nll(input, target, weight, code)


def _check_weight(input: Any, weight: Any) -> None:
    """Refuse weights that losses of the input's shape cannot be multiplied by in place."""
    shape, both = tuple(input._payload.shape), common_shape(input, weight)
    if both != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(both)}")


def _refuse_outside(name: str, a: Any) -> None:
    if not in_unit_interval(a):
        raise noted(
            RuntimeError(f"all elements of {name} should be between 0 and 1"),
            "Why: this loss takes probabilities.",
            "What to do: binary_cross_entropy_with_logits takes the scores of a layer as they are; or input.sigmoid().",
            code="W023",
        )


def _logit_slope(xp: Any, x: Any, t: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return xp.sigmoid(x) - t
    positive = pos_weight * t
    return (positive + 1.0 - t) * xp.sigmoid(x) - positive


def _logit_target_slope(xp: Any, x: Any, pos_weight: Any) -> Any:
    return -x if pos_weight is None else xp._log_sigmoid(-x) - pos_weight * xp._log_sigmoid(x)


@general(
    layout=iterated,
    grad={
        "self": lambda xp, g, self, target, weight, pos_weight, reduction: (
            _logit_slope(xp, self, target, pos_weight) * _weighted_cotangent(g, weight, reduction, self.shape)
        ),
        "target": lambda xp, g, self, weight, pos_weight, reduction: (
            _logit_target_slope(xp, self, pos_weight) * _weighted_cotangent(g, weight, reduction, self.shape)
        ),
    },
    tensors=4,
    node="BinaryCrossEntropyWithLogitsBackward0",
    batch=loss_batch,
    dtypes="f",
    samples=_bce_samples(
        lambda rng: [(None, None), (np.full((3, 4), 2.0), None), (None, np.array([0.5, 1.0, 2.0, 3.0]))]
    ),
)
def bernoulli_logits_nll(lib, self, target, weight, pos_weight, reduction):
    """Cross entropy of sigmoid(self): ``(1 - t) x + log(1 + exp(-x))``, which neither overflows nor cancels."""

    def losses(self: Any, target: Any, weight: Any, pos_weight: Any) -> Any:
        log_sigmoid = lib.limited(self, None, 0) - lib.log1p(lib.exp(-lib.abs(self)))
        if pos_weight is not None:
            log_sigmoid *= 1 + (pos_weight - 1) * target
        r = (lib.ONES[target.dtype] - target) * self
        r -= log_sigmoid
        return r if weight is None else r * weight

    return reduced_losses(lib, losses, reduction, self, target, weight, pos_weight)


@public("nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy of ``sigmoid(input)`` with targets between 0 and 1; ``pos_weight`` weighs the positive part.

    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0., 1000.]), torch.tensor([1., 1.]))
    tensor(0.3466)
    """
    code = reduction_code(reduction, size_average, reduce)
    if type(input) is type(target) is Tensor and weight is None and pos_weight is None:
        a, t = input._payload, target._payload
        if a.shape == t.shape and a.dtype is t.dtype and a.dtype in FLOATING:
            return bernoulli_logits_nll(input, target, None, None, code)
    expect_tensors("binary_cross_entropy_with_logits", input=input, target=target)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    given = [t for t in (input, target, weight, pos_weight) if t is not None]
    dtype, wanted = logical_dtype(input), logical_dtype(target)  # the result has the latter
    if any(logical_dtype(t) is not dtype for t in given):
        if wanted.kind in "iub":
            raise RuntimeError(
                f"result type {dtype_name(input)} can't be cast to the desired output type {dtype_name(target)}"
            )
        dtype = common_dtype(given)
        input, target, weight, pos_weight = (  # type: ignore[assignment]  # only the weights may be None
            None if t is None else cast(t, dtype) for t in (input, target, weight, pos_weight)
        )
    refuse_weight_grad("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    for weights in (pos_weight, weight):
        if weights is not None:
            _check_weight(input, weights)
    require(input, "fh", "log_sigmoid_cpu")
    return cast(bernoulli_logits_nll(input, target, weight, pos_weight, code), wanted)


# ---- composed likelihoods
@public("nn.functional.kl_div")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)`` for log-probabilities input; "batchmean" divides by the size of the batch.

    >>> F = torch.nn.functional
    >>> F.kl_div(torch.tensor([0.5]).log(), torch.tensor([1.]), reduction="sum")
    tensor(0.6931)
    """
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
        )
    if input._payload.dtype not in FLOATING or target._payload.dtype not in FLOATING:
        for what, kinds in (("Complex", "c"), ("Integral", "iub")):
            if is_kind(input, kinds) or is_kind(target, kinds):
                raise RuntimeError(f"kl_div: {what} inputs not supported.")
    code = SUM if by_batch else reduction_code(reduction, size_average, reduce)
    if log_target:
        losses = TENSORS.exp(target) * (target - input)
    else:
        losses = TENSORS.xlogy(target, target) - target * input
    result = reduce_values(losses, code)
    return result / input._payload.shape[0] if by_batch and input._payload.ndim else result


@public("nn.functional.poisson_nll_loss")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution with rate ``exp(input)`` (or ``input``).

    ``full`` adds Stirling's approximation of ``log(target!)`` where the target is above 1.

    >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0.]), torch.tensor([2.]))
    tensor(1.)
    """
    code = reduction_code(reduction, size_average, reduce)
    expect_tensors("poisson_nll_loss", input=input, target=target)
    losses = TENSORS.exp(input) - target * input if log_input else input - target * TENSORS.log(input + eps)
    if full:
        stirling = target * TENSORS.log(target) - target + 0.5 * TENSORS.log(target * (2 * math.pi))
        losses += stirling.masked_fill(target <= 1, 0)
    return reduce_values(losses, code)


@public("nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log-likelihood under normal distributions with means ``input`` and variances ``var`` (at least eps).

    >>> F = torch.nn.functional
    >>> F.gaussian_nll_loss(torch.tensor([1.]), torch.tensor([3.]), torch.tensor([1.]))
    tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = TENSORS.zeros_like(input) + var
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    shape, var_shape = tuple(input.shape), tuple(var.shape)
    if var_shape != shape:
        if shape[:-1] == var_shape:
            var = TENSORS.reshape(var, (*var_shape, 1))
        elif len(shape) != len(var_shape) or sum(y for x, y in zip(shape, var_shape, strict=True) if x != y) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    from ..._base.grad_mode import no_grad

    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (TENSORS.log(var) + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduce_values(losses, REDUCTIONS[reduction])

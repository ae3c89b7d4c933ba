"""Normalisation by channel: ``batch_norm`` and ``instance_norm``.

The bodies are in ``_arrays.batch_norm``; under vmap they are those of ``normalization``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.batch_norm import View
from ..._arrays.layouts import as_channels_of, channels_last
from ..._arrays.library import NUMBERS
from ..._base.dtypes import FLOATING
from ..._base.grad_mode import no_grad
from ..._base.registry import ARRAYS, TENSORS, public
from ..._kinds.dims import out_of_range
from ..._kinds.general import general
from ..._kinds.slow_path import require
from ..._payloads.transforms import Batched
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..create.convert import contiguous
from ..linalg.matmul import dtype_name
from ..shape.strided import normal_index
from .loss import refuse_weight_grad
from .normalization import (
    CHANNELS,
    _check_float,
    _norm_batch,
    _norm_grads,
    _refuse_single,
    check_mixed,
    fits,
    norm_groups,
)


# ---- operators
def _channel_grads(
    xp: Any,
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    needs: Any,
    view: Any,
    dims: Any,
    eps: float,
    along: Any,
    stats: Any,
) -> tuple[Any, Any, Any]:
    if stats and xp is ARRAYS:
        gx, *others = xp.lib.channel_cotangents(g, input, weight, bias_shape, needs, view, stats)
        return as_channels_of(gx, input), *others
    return _norm_grads(xp, g, input, weight, bias_shape, needs, view, dims, eps, along, None)


@general(
    layout=channels_last,
    grad=_channel_grads,
    tensors=3,
    node="NativeBatchNormBackward0",
    batch=_norm_batch,
    dtypes="f",
    samples=[
        ((3, 2, 2), (2,), (2,), ((3, 2, 2), (0, 2), 1e-5, (2, 1), None)),
        ((4, 2), (2,), None, ((4, 2, 1), (0, 2), 1e-5, (2,), None)),
    ],
)
def norm_channels(lib, input, weight, bias, view, dims, eps, along, stats):
    """Each channel standardised over the batch."""
    if len(view) == 3:
        return lib.normalized_channels(input, weight, bias, view, eps, stats)
    return lib.normalized(input, weight, bias, view, dims, eps, along, stats)  # with vmap's dimension in front


def _by_statistics(xp: Any, var: Any, weight: Any, eps: float, along: Any) -> Any:
    """The factor of each channel."""
    scale = xp.reshape((var + eps) ** -0.5, along)
    return scale if weight is None else scale * xp.reshape(weight, along)


@general(
    layout=channels_last,
    grad={
        "input": lambda xp, g, input_like, running_var, weight, eps, along: as_channels_of(
            g * _by_statistics(xp, running_var, weight, eps, along), input_like
        ),
        "weight": lambda xp, g, input, running_mean, running_var, weight_shape, eps, along: xp.reshape(
            xp.sum_to(
                g * (input - xp.reshape(running_mean, along)) * _by_statistics(xp, running_var, None, eps, along), along
            ),
            weight_shape,
        ),
        "bias": lambda xp, g, bias_shape, along: xp.reshape(xp.sum_to(g, along), bias_shape),
    },
    tensors=5,
    node="NativeBatchNormBackward0",
    batch="loop",
    dtypes="f",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2, 2)), rng.standard_normal(2), rng.uniform(0.5, 2, 2), *weights), (1e-5, (2, 1)))
        for weights in ((None, None), (rng.standard_normal(2), rng.standard_normal(2)))
    ],
)
def norm_by_statistics(lib, input, running_mean, running_var, weight, bias, eps, along):
    """Each channel shifted and scaled by given statistics, then by weight and bias."""
    return lib.channels_by_statistics(input, running_mean, running_var, weight, bias, eps)


# ---- public functions
@public("nn.functional.batch_norm")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of ``(N, C, *)`` standardised over the batch (``training``) or by the running statistics.

    While training, ``running_mean`` and ``running_var`` (unbiased) move towards the batch's by ``momentum``.

    >>> torch.nn.functional.batch_norm(torch.tensor([[1.], [3.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    shape = tuple(input._payload.shape)
    c = shape[1] if len(shape) > 1 else 0
    view = (*shape[:1], c, math.prod(shape[2:]))
    statistics = (running_mean, running_var)
    dtype = input._payload.dtype
    usual = c and eps > 0 and view[0] * view[2] > 1 and dtype in FLOATING
    known = training or (running_mean is not None and running_var is not None)
    if not (usual and known and _alike(c, dtype, statistics, True) and _alike(c, dtype, (weight, bias), False)):
        _check(input, shape, view, statistics, weight, bias, training, eps)
        if len(shape) < 2:  # without a dimension of channels
            if math.prod(shape):
                raise out_of_range(1, len(shape))
            return input.clone()
        if not math.prod(shape):
            out = input.clone()
            out = out if weight is None else out * weight[0]
            return out if bias is None else out + bias[0]
    along = (c, *(1,) * (len(shape) - 2))
    if not training:
        return norm_by_statistics(input, running_mean, running_var, weight, bias, eps, along)
    stats: list[Any] = []
    result = norm_channels(input, weight, bias, view, (0, 2), eps, along, stats)
    if running_mean is not None and running_var is not None:
        _update(running_mean, running_var, input, stats, view, momentum)
    return result


def _alike(c: int, dtype: Any, vectors: Any, constant: bool) -> bool:
    """Whether the given vectors have one element of the dtype for each channel and, if ``constant``, no history."""
    for t in vectors:
        if t is not None:
            a = t._payload
            if a.size != c or a.dtype is not dtype or (constant and t._node is not None):
                return False
    return True


def _check(
    input: Any, shape: Any, view: View, statistics: Any, weight: Any, bias: Any, training: bool, eps: float
) -> None:
    """Raise PyTorch's errors."""
    running_mean, running_var = statistics
    c = view[1]
    if training and (not shape or view[0] * view[2] == 1):
        _refuse_single(input.shape)
    if eps < 0 or (training and eps == 0):
        word = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {word}, but got {eps}")
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for what, t in given.items():
        if t is None:
            if not training and what.startswith("running"):
                raise RuntimeError(f"{what} must be defined in evaluation mode")
        elif t._payload.size != c:
            raise RuntimeError(f"{what} should contain {c} elements not {t._payload.size}")
    if input._payload.size:
        require(input, "fh", "batch_norm")
        _check_dtypes(input, weight, bias, running_mean, running_var)
    refuse_weight_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)


def _check_dtypes(input: Any, *vectors: Any) -> None:
    """Refuse other dtypes than the input's, as PyTorch: the first vector tells whether all of them may be float32."""
    given, dtype = [t for t in vectors if t is not None], logical_dtype(input)
    if given and logical_dtype(given[0]) is not dtype:
        check_mixed(input, *given)
        return
    for t in given:
        if logical_dtype(t) is not dtype:
            raise RuntimeError(f"expected scalar type {dtype_name(input)} but found {dtype_name(t)}")


_SHARED_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
    "were not batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be "
    "False.If you are using a prebuilt module and do not need eval mode, please see the functorch website for "
    "resources on how to patch your module to work with vmap"
)


def _refuse_shared(input: Any, mean: Any) -> None:
    """Refuse to write statistics that the examples of a ``vmap`` share."""
    if isinstance(input._payload, Batched) and not isinstance(mean._payload, Batched):
        raise RuntimeError(_SHARED_STATISTICS)


def _update(mean: Any, var: Any, input: Any, stats: Any, view: Any, momentum: float) -> None:
    """Move the running statistics towards the batch's."""
    n, c, m = view
    count = n * m
    unbiased = momentum * count / max(count - 1, 1)
    if stats and isinstance(input._payload, np.ndarray):
        if type(mean._payload) is type(var._payload) is np.ndarray and mean._node is var._node is None:
            for a, batch, share in ((mean._payload, stats[0], momentum), (var._payload, stats[2], unbiased)):
                moved = (batch * NUMBERS[batch.dtype][share]).astype(a.dtype)
                np.multiply(a, NUMBERS[a.dtype][1 - momentum], a)
                np.add(a, moved if a.ndim == 1 else moved.reshape(a.shape), a)  # PyTorch counts no write either
            return
        batch_mean, batch_var = (wrap(s.astype(mean._payload.dtype, copy=False)) for s in stats[::2])
    else:  # the values of a transform
        _refuse_shared(input, mean)
        x = TENSORS.reshape(input.detach(), view)
        batch_mean = TENSORS.mean_dim(x, (0, 2), False)
        deviation = x - TENSORS.reshape(batch_mean, (c, 1))
        batch_var = TENSORS.mean_dim(deviation * deviation, (0, 2), False)
    with no_grad():  # no write is counted, as above
        mean.data.mul_(1 - momentum).add_(batch_mean * momentum)
        var.data.mul_(1 - momentum).add_(batch_var * unbiased)


@public("torch.batch_norm")
def torch_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """``nn.functional.batch_norm`` with its arguments in another order.

    >>> x = torch.tensor([[1.], [3.]])
    >>> torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@public("nn.functional.instance_norm")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample of ``(N, C, *)`` standardised by itself.

    Running statistics move towards the mean of the samples' statistics; without ``use_input_stats`` the channels are
    standardised by them.

    >>> torch.nn.functional.instance_norm(torch.tensor([[[1., 3.]]]), eps=0.)
    tensor([[[-1.,  1.]]])
    """
    shape = tuple(input._payload.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    input = contiguous(input)  # as in PyTorch, whatever the layout
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
        statistics = (s.to(input.dtype if weight is None else weight.dtype) for s in (running_mean, running_var))
        return batch_norm(input, *statistics, weight, bias, False, momentum, eps).view(shape)
    n, c = shape[:2]
    if not fits(input, CHANNELS, (c,), weight, bias):
        _check_float(input, "batch_norm", weight, bias)
    if running_mean is not None or running_var is not None:
        refuse_weight_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)
    if not n * c and (weight is not None or bias is not None):
        normal_index(0, (0,), 0)  # PyTorch selects from the weights, once for each sample, and raises an error
    m = math.prod(shape[2:])
    result = norm_groups(input, weight, bias, (n * c, m), (1,), eps, (c, *(1,) * (len(shape) - 2)), [])
    if running_mean is not None and running_var is not None:
        _refuse_shared(input, running_mean)
        with no_grad():
            x = TENSORS.reshape(input.detach(), (n, c, m))
            mean = TENSORS.mean_dim(x, (2,), True)
            var = TENSORS.mean_dim((x - mean) * (x - mean), (2,), False) * (m / max(m - 1, 1))
            running_mean.copy_(running_mean * (1 - momentum) + TENSORS.mean_dim(mean, (0, 2), False) * momentum)
            running_var.copy_(running_var * (1 - momentum) + TENSORS.mean_dim(var, (0,), False) * momentum)
    return TENSORS.reshape(result, shape)


@public("torch.instance_norm")
def torch_instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """``nn.functional.instance_norm`` with its arguments in another order.

    >>> x = torch.tensor([[[1., 3.]]])
    >>> torch.instance_norm(x, None, None, None, None, True, 0.1, 0., False)
    tensor([[[-1.,  1.]]])
    """
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)

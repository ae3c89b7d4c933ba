"""Normalisation by channel: ``batch_norm`` and ``instance_norm``.

The work is done on ``(N, C, M)``, block after block, so that a block is read from memory once for each of the three
things that need all of the one before: the means, the variances, the result. On the way back there are two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._backends.numpy import in_lib, vector_of_ones
from .._blocks import LARGE, cut_parts, each
from .._dispatch import logical_dtype
from .._general import general
from .._grad_mode import no_grad
from .._registry import RAW, T, public
from .._tensor import Tensor, alias_payload, wrap
from .loss import refuse_weight_grad
from .matmul import dtype_name
from .normalization import _check_float, _norm_batch, _norm_grads, _refuse_single, _widened, norm_groups

View = tuple[int, int, int]
_BLOCK = 1 << 16  # elements of a block
_FEW = 1024  # so many numbers or fewer are added up by a product with ones
_SAMPLES, _SHORT = 4, 1024  # from so many samples on, rows up to this length are short


# --------------------------------------------------------------------------------------------------------------- bodies
def _parts(view: View) -> list[tuple[slice, slice]]:
    """Samples and channels of each block."""
    n, c, m = view
    if n * c * m < LARGE:
        return [(slice(0, n), slice(0, c))]
    return [
        (part[0], slice(0, c)) if len(part) == 1 else (slice(part[0], part[0] + 1), part[1])
        for part in cut_parts((n, c), max(_BLOCK // m, 1))
    ]


def _row_sums(x: Any) -> Any:
    """The sums ``(N, C)`` over the last dimension."""
    n, c, m = x.shape
    if m == 1:
        return x.reshape(n, c)
    if m > LARGE:
        return np.add.reduce(x, 2)
    return x.reshape(n * c, m).dot(vector_of_ones(m, x.dtype)).reshape(n, c)


def _row_products(x: Any, y: Any) -> Any:
    """The sums ``(N, C)`` of ``x * y`` over the last dimension."""
    return (x * y).reshape(x.shape[:2]) if x.shape[2] == 1 else np.vecdot(x, y)


def _over_samples(sums: Any) -> Any:
    """The sums over all samples."""
    n = len(sums)
    if n == 1:
        return sums[0]
    if n <= _FEW:
        return vector_of_ones(n, sums.dtype).dot(sums)
    return np.add.reduce(sums, 0, np.float64).astype(sums.dtype)


def _beside(values: Any, view: View) -> Any:
    """A value for each channel, to be broadcast against ``(N, C, M)``.

    Short rows are written out once, so that NumPy's loops go over whole samples.
    """
    n, c, m = view
    if n < _SAMPLES or not 1 < m <= _SHORT:
        return values[:, None]
    r = np.empty((c, m), values.dtype)
    r[...] = values[:, None]
    return r


def _scaled_and_shifted(x: Any, factor: Any, shift: Any, parts: Any) -> Any:
    """``x * factor + shift`` by channel."""
    r = np.empty_like(x)
    factor, shift = _beside(factor, x.shape), _beside(shift, x.shape)

    def work(part: Any) -> None:
        out = r[part]
        np.multiply(x[part], factor[part[1]], out)
        np.add(out, shift[part[1]], out)

    each(work, parts)
    return r


@in_lib
def normalized_channels(input: Any, weight: Any, bias: Any, view: View, eps: float, stats: Any) -> Any:
    """Each channel standardised, scaled and shifted; ``stats`` is given mean, inverse deviation and variance."""
    x = np.ascontiguousarray(_widened(input)).reshape(view)
    count = max(view[0] * view[2], 1)
    parts = _parts(view)
    sums = np.empty(view[:2], x.dtype)

    def add_up(part: Any) -> None:
        sums[part] = _row_sums(x[part])

    each(add_up, parts)
    mean = _over_samples(sums) / count
    center = _beside(mean, view)

    def add_squares(part: Any) -> None:
        r = x[part] - center[part[1]]
        sums[part] = _row_products(r, r)

    each(add_squares, parts)
    var = _over_samples(sums) / count
    scale = 1 / np.sqrt(var + eps)
    if stats is not None:
        stats[:] = [mean, scale, var]
    factor = scale if weight is None else scale * weight
    shift = -mean * factor
    if bias is not None:
        shift += bias
    return _scaled_and_shifted(x, factor, shift, parts).reshape(input.shape).astype(input.dtype, copy=False)


@in_lib
def channel_cotangents(g: Any, input: Any, weight: Any, bias_shape: Any, needs: Any, view: View, stats: Any) -> Any:
    """The cotangents of input, weight and bias from the statistics that the forward pass left."""
    x, g = (np.ascontiguousarray(_widened(a)).reshape(view) for a in (input, g))
    mean, scale, _ = stats
    parts = _parts(view)
    center = _beside(mean, view)
    sums, products = np.empty(view[:2], x.dtype), np.empty(view[:2], x.dtype)

    def add_up(part: Any) -> None:
        sums[part] = _row_sums(g[part])
        products[part] = _row_products(x[part] - center[part[1]], g[part])

    each(add_up, parts)
    total, product = _over_samples(sums), _over_samples(products)
    gw = (product * scale).reshape(weight.shape).astype(weight.dtype, copy=False) if needs[1] else None
    gb = total.reshape(bias_shape).astype(input.dtype, copy=False) if needs[2] else None
    if not needs[0]:
        return None, gw, gb
    count = max(view[0] * view[2], 1)
    tilt, offset = _beside(product * scale * scale / -count, view), _beside(total / count, view)
    factor = _beside(scale if weight is None else scale * weight, view)
    gx = np.empty_like(x)

    def work(part: Any) -> None:
        c = part[1]
        r = gx[part]
        np.subtract(x[part], center[c], r)
        np.multiply(r, tilt[c], r)
        np.add(r, g[part], r)
        np.subtract(r, offset[c], r)
        np.multiply(r, factor[c], r)

    each(work, parts)
    return gx.reshape(input.shape).astype(input.dtype, copy=False), gw, gb


@in_lib
def channels_by_statistics(input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each channel shifted and scaled by given statistics, then by weight and bias."""
    n, c = input.shape[:2]
    view = (n, c, math.prod(input.shape[2:]))
    x = np.ascontiguousarray(_widened(input)).reshape(view)
    factor = 1 / np.sqrt(var + eps)
    if weight is not None:
        factor = factor * weight
    shift = -mean * factor
    if bias is not None:
        shift = shift + bias
    factor, shift = factor.astype(x.dtype, copy=False), shift.astype(x.dtype, copy=False)
    return _scaled_and_shifted(x, factor, shift, _parts(view)).reshape(input.shape).astype(input.dtype, copy=False)


# ------------------------------------------------------------------------------------------------------------ operators
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
    if stats and xp is RAW:
        return xp.lib.channel_cotangents(g, input, weight, bias_shape, needs, view, stats)  # type: ignore[no-any-return]
    return _norm_grads(xp, g, input, weight, bias_shape, needs, view, dims, eps, along, None)


@general(
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
    """By how much each channel is multiplied."""
    scale = xp.reshape((var + eps) ** -0.5, along)
    return scale if weight is None else scale * xp.reshape(weight, along)


@general(
    grad={
        "input": lambda xp, g, running_var, weight, eps, along: g * _by_statistics(xp, running_var, weight, eps, along),
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
        (
            (rng.standard_normal((3, 2, 2)), rng.standard_normal(2), rng.uniform(0.5, 2, 2), *weights),
            (1e-5, (2, 1)),
        )
        for weights in ((None, None), (rng.standard_normal(2), rng.standard_normal(2)))
    ],
)
def norm_by_statistics(lib, input, running_mean, running_var, weight, bias, eps, along):
    """Each channel shifted and scaled by given statistics, then by weight and bias."""
    return lib.channels_by_statistics(input, running_mean, running_var, weight, bias, eps)


# ------------------------------------------------------------------------------------------------------ what users call
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
    """
    shape = tuple(input._a.shape)
    if training:
        _refuse_single(input.shape)
    if eps < 0 or (training and eps == 0):
        word = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {word}, but got {eps}")
    c = shape[1] if len(shape) > 1 else 0
    for what, t in (("running_mean", running_mean), ("running_var", running_var)):
        if t is None and not training:
            raise RuntimeError(f"{what} must be defined in evaluation mode")
        if t is not None and t._a.size != c:
            raise RuntimeError(f"{what} should contain {c} elements not {t._a.size}")
    for what, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._a.size != c:
            raise RuntimeError(f"{what} should contain {c} elements not {t._a.size}")
    if logical_dtype(input).kind in "iub":
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{dtype_name(input)}'")
    refuse_weight_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)
    along = (c, *(1,) * (len(shape) - 2))
    if not training:
        return norm_by_statistics(input, running_mean, running_var, weight, bias, eps, along)
    stats: list[Any] = []
    view = (shape[0], c, math.prod(shape[2:]))
    result = norm_channels(input, weight, bias, view, (0, 2), eps, along, stats)
    if running_mean is not None and running_var is not None:
        _update(running_mean, running_var, input, stats, view, momentum)
    return result


def _update(mean: Any, var: Any, input: Any, stats: Any, view: Any, momentum: float) -> None:
    """Move the running statistics towards the batch's."""
    n, c, m = view
    count = n * m
    unbiased = momentum * count / max(count - 1, 1)
    if stats and isinstance(input._a, np.ndarray):
        if type(mean._a) is type(var._a) is np.ndarray and mean._fn is var._fn is None:
            for running, batch, share in ((mean, stats[0], momentum), (var, stats[2], unbiased)):
                a = alias_payload(running)
                a *= 1 - momentum
                a += batch.reshape(a.shape) * share  # no write that versions count, as in PyTorch
            return
        batch_mean, batch_var = (wrap(s.astype(mean._a.dtype, copy=False)) for s in stats[::2])
    else:  # the values of a transform
        x = T.reshape(input.detach(), view)
        batch_mean = T.mean_dim(x, (0, 2), False)
        deviation = x - T.reshape(batch_mean, (c, 1))
        batch_var = T.mean_dim(deviation * deviation, (0, 2), False)
    with no_grad():
        mean.mul_(1 - momentum).add_(batch_mean * momentum)
        var.mul_(1 - momentum).add_(batch_var * unbiased)


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
    """``nn.functional.batch_norm`` with its arguments in another order."""
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

    Running statistics move towards the mean of the samples' statistics; without ``use_input_stats`` they are what
    standardises.
    """
    shape = tuple(input._a.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps).view(shape)
    n, c = shape[:2]
    _check_float(input, "batch_norm", weight, bias)
    refuse_weight_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)
    m = math.prod(shape[2:])
    result = norm_groups(input, weight, bias, (n * c, m), (1,), eps, (c, *(1,) * (len(shape) - 2)), [])
    if running_mean is not None and running_var is not None:
        with no_grad():
            x = T.reshape(input.detach(), (n, c, m))
            mean = T.mean_dim(x, (2,), True)
            var = T.mean_dim((x - mean) * (x - mean), (2,), False) * (m / max(m - 1, 1))
            running_mean.mul_(1 - momentum).add_(T.mean_dim(mean, (0, 2), False) * momentum)
            running_var.mul_(1 - momentum).add_(T.mean_dim(var, (0,), False) * momentum)
    return T.reshape(result, shape)


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
    """``nn.functional.instance_norm`` with its arguments in another order."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)

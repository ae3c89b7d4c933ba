"""Normalisation by channel: ``batch_norm`` and ``instance_norm``.

The work is done on ``(N, C, M)``, block after block, so that a block is read from memory once for each of the two
things that need all of the one before: the sums of elements and squares, and the result. The way back has two as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import batch_norm_small
from ..._arrays.library import NUMBERS, in_lib, vector_of_ones
from ..._arrays.threads import LARGE, among_rows, each
from ..._base.dtypes import FLOATING
from ..._base.grad_mode import no_grad
from ..._base.registry import RAW, T, public
from ..._kinds.general import general
from ..._kinds.slow_path import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..linalg.matmul import dtype_name
from .loss import refuse_weight_grad
from .normalization import _check_float, _norm_batch, _norm_grads, _refuse_single, _widened, norm_groups

View = tuple[int, int, int]
_BLOCK = 1 << 18  # elements of a block: with smaller ones, two threads meet too often
_FEW = 4096  # so many numbers are summed in float64
_NEAR, _NEAR_WIDENED = 4, 1e6  # a mean whose square is at most so many times the variance is not large
_SAMPLES, _SHORT = 4, 1024  # from so many samples on, rows up to this length are short


# --------------------------------------------------------------------------------------------------------------- bodies
def _parts(view: View) -> list[tuple[slice, slice]]:
    """Samples and channels of each block."""
    n, c, m = view
    if n * c * m < LARGE << 1:  # two threads gain less than waking one costs
        return [(slice(0, n), slice(0, c))]
    rows = max(_BLOCK // m, 1)
    samples, channels = max(rows // c, 1), -(-c // -(-c // rows))
    return [
        (slice(i, i + samples), slice(j, j + channels)) for i in range(0, n, samples) for j in range(0, c, channels)
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


def _sums(of_rows: Any, parts: Any, view: View) -> Any:
    """What ``of_rows`` gives for each part, two arrays ``(N, C)``, summed over the samples; in float64."""
    if len(parts) == 1:
        return [np.add.reduce(rows, 0, np.float64) for rows in of_rows(parts[0])]
    rows = np.empty((2, *view[:2]))

    def work(part: Any) -> None:
        rows[0][part], rows[1][part] = of_rows(part)

    each(work, parts)
    return np.add.reduce(rows, 1)


def _in_parts(work: Any, parts: Any, view: View) -> None:
    """``work`` on each part, on threads, with NumPy's loops over rows."""
    if len(parts) == 1:
        work(parts[0])
    else:
        among_rows(view[2], lambda: each(work, parts))


def _moments(x: Any, parts: Any, view: View) -> tuple[Any, Any, Any]:
    """Mean and variance of each channel, and what is to be taken off, ``(C, 1)``, before anything is multiplied.

    That is the mean, rounded, or ``None`` where means are not large beside deviations.

    One look at the data gives the sums of the elements and of their squares, of a few numbers in float64. Where means
    are too large for that the squares of the deviations are summed in a second look.
    """
    count = max(view[0] * view[2], 1)
    y = x.astype(np.float64) if x.size <= _FEW else x

    def of_rows(part: Any) -> Any:
        block = y[part]
        return _row_sums(block), _row_products(block, block)

    total, squares = _sums(of_rows, parts, view)
    mean = total / count
    square = squares / count
    shift = mean * mean
    var = square - shift
    if np.logical_and.reduce(shift <= _NEAR * var):
        return mean, var, None
    center = mean.astype(x.dtype)[:, None]
    if y.dtype is not x.dtype and np.logical_and.reduce(shift <= _NEAR_WIDENED * var):
        return mean, var, center

    def of_deviations(part: Any) -> Any:
        block = x[part] - center[part[1]]
        return _row_sums(block), _row_products(block, block)

    total, squares = _sums(of_deviations, parts, view)
    rest = total / count
    return center[:, 0] + rest, squares / count - rest * rest, center


def _beside(values: Any, x: Any) -> list[Any]:
    """For each row of values, one a channel, what broadcasts against ``x``, which is ``(N, C, M)``.

    Short rows are written out once, so that NumPy's loops go over whole samples.
    """
    n, c, m = x.shape
    values = np.array(values, x.dtype)[:, :, None]
    if n < _SAMPLES or not 1 < m <= _SHORT:
        return list(values)
    tables = np.empty((len(values), c, m), x.dtype)
    tables[...] = values
    return list(tables)


def _scaled_and_shifted(x: Any, center: Any, factor: Any, shift: Any, parts: Any, r: Any) -> None:
    """``(x - center) * factor + shift`` by channel, into r."""
    factor, shift = _beside((factor, shift), x)

    def work(part: Any) -> None:
        out, block = r[part], x[part]
        if center is not None:
            block = np.subtract(block, center[part[1]], out)
        np.multiply(block, factor[part[1]], out)
        np.add(out, shift[part[1]], out)

    _in_parts(work, parts, x.shape)


@in_lib
def normalized_channels(input: Any, weight: Any, bias: Any, view: View, eps: float, stats: Any) -> Any:
    """Each channel standardised, scaled and shifted.

    ``stats`` is given mean, inverse deviation and variance in float64, and what ``_moments`` says is to be taken off.
    """
    if batch_norm_small.suits(input):
        r, found = batch_norm_small.norm(input, weight, bias, view, eps)
        if stats is not None:
            stats[:] = found
        return r
    x = np.ascontiguousarray(_widened(input)).reshape(view)
    parts = _parts(view)
    mean, var, center = _moments(x, parts, view)
    scale = 1 / np.sqrt(var + eps)
    if stats is not None:
        stats[:] = [mean, scale, var, center]
    factor = scale if weight is None else scale * weight
    shift = (-mean if center is None else center[:, 0] - mean) * factor
    if bias is not None:
        shift += bias
    r = np.empty(input.shape, x.dtype)
    _scaled_and_shifted(x, center, factor, shift, parts, r.reshape(view))
    return r.astype(input.dtype, copy=False)


@in_lib
def channel_cotangents(g: Any, input: Any, weight: Any, bias_shape: Any, needs: Any, view: View, stats: Any) -> Any:
    """The cotangents of input, weight and bias from the statistics that the forward pass left."""
    if len(stats) == 5:
        return batch_norm_small.cotangents(g, input, weight, bias_shape, needs, view, stats)
    x, g = (np.ascontiguousarray(_widened(a)).reshape(view) for a in (input, g))
    mean, scale, _, center = stats
    parts = _parts(view)

    def of_rows(part: Any) -> Any:
        block, given = x[part], g[part]
        return _row_sums(given), _row_products(block if center is None else block - center[part[1]], given)

    total, product = _sums(of_rows, parts, view)
    left = mean if center is None else mean - center[:, 0]
    product -= left * total
    gw = (product * scale).reshape(weight.shape).astype(weight.dtype, copy=False) if needs[1] else None
    gb = total.reshape(bias_shape).astype(input.dtype, copy=False) if needs[2] else None
    if not needs[0]:
        return None, gw, gb
    count = max(view[0] * view[2], 1)
    tilt = product * scale * scale / -count
    offset = left * tilt + total / count
    gx = np.empty(input.shape, x.dtype)
    _tilted(x, g, center, tilt, offset, scale if weight is None else scale * weight, parts, gx.reshape(view))
    return gx.astype(input.dtype, copy=False), gw, gb


def _tilted(x: Any, g: Any, center: Any, tilt: Any, offset: Any, factor: Any, parts: Any, r: Any) -> None:
    """``((x - center) * tilt + g - offset) * factor`` by channel, into r."""
    tilt, offset, factor = _beside((tilt, offset, factor), x)

    def work(part: Any) -> None:
        c = part[1]
        out, block = r[part], x[part]
        if center is not None:
            block = np.subtract(block, center[c], out)
        np.multiply(block, tilt[c], out)
        np.add(out, g[part], out)
        np.subtract(out, offset[c], out)
        np.multiply(out, factor[c], out)

    _in_parts(work, parts, x.shape)


@in_lib
def channels_by_statistics(input: Any, mean: Any, var: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each channel shifted and scaled by given statistics, then by weight and bias."""
    n, c = input.shape[:2]
    view = (n, c, math.prod(input.shape[2:]))
    if batch_norm_small.suits(input) and mean.ndim == var.ndim == 1:
        return batch_norm_small.by_statistics(input, mean, var, weight, bias, view, eps)
    x = np.ascontiguousarray(_widened(input)).reshape(view)
    factor = 1 / np.sqrt(var + eps)
    if weight is not None:
        factor = factor * weight
    shift = -mean * factor
    if bias is not None:
        shift = shift + bias
    r = np.empty(input.shape, x.dtype)
    _scaled_and_shifted(x, None, factor, shift, _parts(view), r.reshape(view))
    return r.astype(input.dtype, copy=False)


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
    c = shape[1] if len(shape) > 1 else 0
    view = (*shape[:1], c, math.prod(shape[2:]))
    statistics = (running_mean, running_var)
    usual = c and eps > 0 and view[0] * view[2] > 1 and input._a.dtype in FLOATING
    known = training or (running_mean is not None and running_var is not None)
    if not (usual and known and _sized(c, statistics, True) and _sized(c, (weight, bias), False)):
        _check(input, shape, view, statistics, weight, bias, training, eps)
    along = (c, *(1,) * (len(shape) - 2))
    if not training:
        return norm_by_statistics(input, running_mean, running_var, weight, bias, eps, along)
    stats: list[Any] = []
    result = norm_channels(input, weight, bias, view, (0, 2), eps, along, stats)
    if running_mean is not None and running_var is not None:
        _update(running_mean, running_var, input, stats, view, momentum)
    return result


def _sized(c: int, vectors: Any, constant: bool) -> bool:
    """Whether those that are given have one element for each channel, and, of constants, no history."""
    for t in vectors:  # noqa: SIM110  a generator takes three times as long
        if t is not None and (t._a.size != c or (constant and t._fn is not None)):
            return False
    return True


def _check(
    input: Any, shape: Any, view: View, statistics: Any, weight: Any, bias: Any, training: bool, eps: float
) -> None:
    """PyTorch's errors."""
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
        elif t._a.size != c:
            raise RuntimeError(f"{what} should contain {c} elements not {t._a.size}")
    if logical_dtype(input).kind in "iub":
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{dtype_name(input)}'")
    refuse_weight_grad("native_batch_norm", running_mean=running_mean, running_var=running_var)


def _update(mean: Any, var: Any, input: Any, stats: Any, view: Any, momentum: float) -> None:
    """Move the running statistics towards the batch's."""
    n, c, m = view
    count = n * m
    unbiased = momentum * count / max(count - 1, 1)
    if stats and isinstance(input._a, np.ndarray):
        if type(mean._a) is type(var._a) is np.ndarray and mean._fn is var._fn is None:
            for a, batch, share in ((mean._a, stats[0], momentum), (var._a, stats[2], unbiased)):
                moved = (batch * NUMBERS[batch.dtype][share]).astype(a.dtype)
                np.multiply(a, NUMBERS[a.dtype][1 - momentum], a)
                np.add(a, moved if a.ndim == 1 else moved.reshape(a.shape), a)  # PyTorch counts no write either
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

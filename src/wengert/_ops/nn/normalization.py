"""Normalisation by mean and deviation: ``layer_norm``, ``group_norm``, ``rms_norm``. ``batch_norm`` has its module.

All of them standardise a view of the input over some of its dimensions, then scale and shift. ``standardize`` is the
first step; its Jacobian is symmetric, so ``standardize_backward`` is its own transpose, and second derivatives consist
of the two.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..._arrays import norms_small
from ..._arrays.layouts import as_channels_of, is_channels_last
from ..._arrays.norms import Dims, Ints, sums_over, widened
from ..._arrays.sums import count_of
from ..._base.constants import Size
from ..._base.dtypes import FLOAT32, FLOATING
from ..._base.errors import noted
from ..._base.registry import ARRAYS, REGISTRY, TENSORS, plain_body, public
from ..._kinds.dims import EVERY_DIM
from ..._kinds.general import general
from ..._kinds.laid_out import lay, with_channels_of
from ..._kinds.slow_path import require
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name

# ---- operators
_SAMPLES = [
    ((3, 4), ((1,), 1e-5, True)),
    ((3, 4), ((1,), 1e-2, False)),
    ((3, 2, 4), ((0, 2), 1e-5, True)),
    ((3, 2, 1), ((0, 2), 1e-1, True)),
    ((0, 4), ((1,), 1e-5, True)),
]


@general(
    grad=lambda xp, g, self, dims, eps, center: xp.standardize_backward(g, self, dims, eps, center),
    batch=("dim", ("dims",)),
    node="MulBackward0",
    dtypes="f",
    samples=_SAMPLES,
)
def standardize(lib, self, dims, eps, center):
    """``(x - mean) / sqrt(var + eps)`` over some dimensions; without the mean unless ``center``."""
    r = lib.standardized(widened(self), dims, eps, center)[0]
    return r if r.dtype is self.dtype else r.astype(self.dtype)


def _standardize_second(xp: Any, h: Any, g: Any, self: Any, dims: Dims, eps: float, center: bool) -> Any:
    """The derivative of ``<h, J(x) g>`` in x: with s the inverse deviation, z = s (x - mean) and n elements it is
    ``-s/n (z <h, J g> + J g <h, z> + J h <g, z>)``."""
    n = count_of(self.shape, dims)
    z = xp.standardize(self, dims, eps, center)
    c = self - xp.mean_dim(self, dims, True) if center else self
    s = (xp.mean_dim(c * c, dims, True) + eps) ** -0.5
    jg = xp.standardize_backward(g, self, dims, eps, center)
    jh = xp.standardize_backward(h, self, dims, eps, center)
    total = z * xp.sum_dim(h * jg, dims, True) + jg * xp.sum_dim(h * z, dims, True) + jh * xp.sum_dim(g * z, dims, True)
    return total * s * (-1.0 / max(n, 1))


@general(
    grad={
        "g": lambda xp, h, self, dims, eps, center: xp.standardize_backward(h, self, dims, eps, center),
        "self": _standardize_second,
    },
    tensors=2,
    batch=("dim", ("dims",)),
    dtypes="f",
    samples=[(s, s, p) for s, p in _SAMPLES],
)
def standardize_backward(lib, g, self, dims, eps, center):
    """The cotangent of ``standardize``'s input: the symmetric Jacobian at self, applied to g."""
    dtype = self.dtype
    g, x = widened(g), widened(self)
    n = max(count_of(x.shape, dims), 1)
    z, scale, _, _ = lib.standardized(x, dims, eps, center)
    z *= sums_over(z, dims, g) / -n
    z += g
    if center:
        z -= sums_over(g, dims) / n
    z *= scale
    return z.astype(dtype, copy=False)


@plain_body
def plain_standardize_backward(lib, g, self, dims, eps, center):
    g = widened(g)
    z, scale, _, _ = lib.standardized(widened(self), dims, eps, center)
    r = g - z * (z * g).mean(dims, keepdims=True)
    r = r - g.mean(dims, keepdims=True) if center else r
    return (r * scale).astype(self.dtype, copy=False)


def _norm_grads(
    xp: Any,
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    needs: Any,
    view: Any,
    dims: Dims,
    eps: float,
    along: Any,
    stats: Any,
) -> tuple[Any, Any, Any]:
    if stats and xp is ARRAYS:
        if len(stats) == 1:
            return norms_small.cotangents(g, input, weight, bias_shape, needs, view, along, stats[0])
        return xp.lib.norm_cotangents(g, input, weight, bias_shape, needs, view, dims, along, stats)
    shape = tuple(input.shape)
    gx = gw = gb = None
    if needs[0]:
        gh = g if weight is None else g * xp.reshape(weight, along)
        gx = xp.reshape(xp.standardize_backward(xp.reshape(gh, view), xp.reshape(input, view), dims, eps, True), shape)
    if needs[1]:
        z = xp.reshape(xp.standardize(xp.reshape(input, view), dims, eps, True), shape)
        gw = xp.reshape(_summed(xp, g * z, along), tuple(weight.shape))
    if needs[2]:
        gb = xp.reshape(_summed(xp, g, along), bias_shape)
    return gx, gw, gb


def _group_grads(
    xp: Any,
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    needs: Any,
    view: Any,
    dims: Dims,
    eps: float,
    along: Any,
    stats: Any,
) -> tuple[Any, ...]:
    gx, *others = _norm_grads(xp, g, input, weight, bias_shape, needs, view, dims, eps, along, stats)
    return as_channels_of(gx, input), *others


def _summed(xp: Any, g: Any, along: Any) -> Any:
    """A cotangent summed to the shape in which weight and bias broadcast to the input."""
    k = len(along)
    if tuple(g.shape[-k:]) == along and g.ndim > k:  # the last dimensions: columns of a matrix
        return xp.column_sums(xp.reshape(g, (math.prod(g.shape[:-k]), math.prod(along))))
    return xp.sum_to(g, along)


def _norm_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, weight, bias = inner
    view, dims, eps, along, *_ = p
    size = next(v.shape[0] for v, m in zip(inner, mine, strict=True) if m)
    if not mine[0]:
        x = U.expand(x, (size, *x.shape))
    shifted = ((size, *view), tuple(d + 1 for d in dims), eps, along, None)
    if not mine[1] and not mine[2]:
        return getattr(U, info.name)(x, weight, bias, *shifted)
    r = getattr(U, info.name)(x, None, None, *shifted)
    for t, many, combine in ((weight, mine[1], U.mul), (bias, mine[2], U.add)):
        if t is not None:
            place = (*((size,) + (1,) * (r.ndim - 1 - len(along)) if many else ()), *along)
            r = combine(r, U.reshape(t, place))
    return r


def _normalizer(node: str, samples: Any, grad: Any = _norm_grads) -> Any:
    """The common declaration of the norms with weights."""
    return general(
        grad=grad, tensors=3, node=node, batch=_norm_batch, dtypes="f", samples=samples, libname="normalized"
    )


@_normalizer(
    "NativeLayerNormBackward0",
    [
        ((3, 4), (4,), (4,), ((3, 4), (1,), 1e-5, (4,), None)),
        ((2, 3, 2), (3, 2), (3, 2), ((2, 6), (1,), 1e-5, (3, 2), None)),
        ((3, 4), None, None, ((3, 4), (1,), 1e-5, (4,), None)),
    ],
)
def norm_layer(input, weight, bias, view, dims, eps, along, stats):
    """The input standardised over the last dimensions, scaled and shifted."""


@_normalizer(
    "NativeGroupNormBackward0",
    [
        ((2, 4, 3), (4,), (4,), ((4, 6), (1,), 1e-5, (4, 1), None)),
        ((2, 4, 3), None, (4,), ((4, 6), (1,), 1e-5, (4, 1), None)),
    ],
    _group_grads,
)
def norm_groups(input, weight, bias, view, dims, eps, along, stats):
    """The input standardised over groups of channels, scaled and shifted."""


def _viewed(n: Any) -> tuple[str, ...]:
    """PyTorch's ``instance_norm``, a group for each channel, standardises a view and repeats the weight."""
    x, view = (n.values[n.plan.uses.index(name)] for name in ("input", "view"))
    return ("input", "weight") if view[0] == math.prod(x.a.shape[:2]) else ()


REGISTRY["norm_groups"].node.viewed = property(_viewed)


# ---- public functions
def _check_float(t: Any, kernel: str, *others: Any) -> None:
    check_mixed(t, *others)
    require(t, "fh", kernel)


def check_mixed(t: Any, *others: Any) -> None:
    """Refuse other dtypes than the input's, but for float32 beside a half-precision input, as under autocast."""
    found = [logical_dtype(o) for o in others if o is not None]
    own = logical_dtype(t)
    if found.count(own) == len(found):
        return
    if any(dtype is not FLOAT32 for dtype in found):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if own.kind not in "fV" or own.itemsize != 2:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _normalized_shape(
    name: str, input: Any, normalized_shape: Any, star: str, *given: tuple[str, Any]
) -> tuple[int, ...]:
    if not isinstance(normalized_shape, (tuple, list)):
        from ..._base.constants import type_name

        raise TypeError(
            f"{name}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type_name(normalized_shape)}"
        )
    shape = tuple(int(n) for n in normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for what, t in given:
        if t is not None and tuple(t.shape) != shape:
            raise RuntimeError(
                f"Expected {what} to be of same shape as normalized_shape, but got {what} of shape {list(t.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if tuple(input._payload.shape[-len(shape) :]) != shape:
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{star}{sizes}], but got input of size"
            f"{list(input._payload.shape)}"
        )
    return shape


_SEQUENCES: frozenset[Any] = frozenset((tuple, list, Size))


def fits(input: Any, own: slice, shape: Any, *weights: Any) -> bool:
    """Whether the usual arguments were given: plain floating tensors of one dtype, the weights of a shape that is the
    part ``own`` of the input's."""
    try:
        a = input._payload
        dtype = a.dtype
        if dtype not in FLOATING or a.shape[own] != shape:
            return False
        for t in weights:
            if t is not None and (t._payload.shape != shape or t._payload.dtype is not dtype):
                return False
    except AttributeError:
        return False
    return True


CHANNELS = slice(1, 2)


@cache
def _epsilon(dtype: Any) -> float:
    """The usual ``eps`` of ``rms_norm``, that of the dtype in which it computes."""
    return float(np.finfo(np.float32 if dtype.itemsize == 2 else dtype).eps)


@public("torch.layer_norm nn.functional.layer_norm")
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = False,
) -> Tensor:
    """Each sample standardised over its last dimensions, which are ``normalized_shape``, then scaled and shifted.

    >>> torch.nn.functional.layer_norm(torch.tensor([[1., 2., 3.]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
    """
    shape = tuple(normalized_shape) if type(normalized_shape) in _SEQUENCES else ()
    if not (shape and fits(input, slice(-len(shape), None), shape, weight, bias)):
        if isinstance(input, Tensor):
            check_mixed(input, weight, bias)
        shape = _normalized_shape("layer_norm", input, normalized_shape, ", ", ("weight", weight), ("bias", bias))
        _check_float(input, "LayerNormKernelImpl", weight, bias)
    whole = input._payload.shape
    if len(shape) == 1 and len(whole) == 2:
        return norm_layer(input, weight, bias, whole, (1,), eps, shape, [])
    view = (math.prod(whole[: len(whole) - len(shape)]), math.prod(shape))
    return norm_layer(input, weight, bias, view, (1,), eps, shape, [])


@public("torch.rms_norm nn.functional.rms_norm")
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The last dimensions divided by their root mean square; ``eps`` is the dtype's by default.

    >>> torch.rms_norm(torch.tensor([3., 4.]), (2,))
    tensor([0.8485, 1.1314])
    """
    shape = tuple(normalized_shape) if type(normalized_shape) in _SEQUENCES else ()
    if not (shape and fits(input, slice(-len(shape), None), shape, weight)):
        shape = _normalized_shape("rms_norm", input, normalized_shape, "", ("weight", weight))
        require(input, "fhc", "rms_norm")
    dtype = logical_dtype(input)
    if eps is None:
        eps = _epsilon(dtype)
    if weight is not None and dtype.itemsize == 2:  # the product is rounded once, and to input's dtype
        wide = rms_norm(input.float(), normalized_shape, weight.float(), eps)
        return wide.to(input.dtype)
    a = input._payload
    whole = tuple(a.shape)
    dims = EVERY_DIM[len(whole)][-len(shape) :]
    other_order = type(a) is np.ndarray and not a.flags.c_contiguous
    if dtype.kind == "c":  # PyTorch squares without taking absolute values
        r = input * (TENSORS.mean_dim(input * input, dims, True) + eps) ** -0.5
    elif len(shape) == 1 or (other_order and is_channels_last(a)):
        r = standardize(input, dims, eps, False)
        if other_order:
            lay(r, lambda made: as_channels_of(made, a))
    else:
        rows = TENSORS.reshape(input, (math.prod(whole[: len(whole) - len(shape)]), math.prod(shape)))
        r = with_node_name(TENSORS.reshape(standardize(rows, (1,), eps, False), whole), "MulBackward0")
    return r if weight is None else r * weight


@public("torch.group_norm nn.functional.group_norm")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Each group of channels of ``(N, C, *)`` standardised within its sample, then scaled and shifted by channel.

    >>> torch.group_norm(torch.tensor([[1., 3., 5., 9.]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    shape = tuple(input._payload.shape)
    ones = (1,) * (len(shape) - 2)
    n, c, m = (*shape[:2], math.prod(shape[2:])) if len(shape) > 1 else (0, 0, 0)
    usual = num_groups > 0 and not c % num_groups and n * c * m != num_groups
    if not (usual and fits(input, CHANNELS, (c,), weight, bias)):
        _check_groups(input, shape, num_groups, weight, bias)
    view = (n * num_groups, c // num_groups * m)
    return with_channels_of(input, norm_groups(input, weight, bias, view, (1,), eps, (c, *ones), []))


def _check_groups(input: Any, shape: Any, num_groups: int, weight: Any, bias: Any) -> None:
    """Raise PyTorch's errors."""
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    n, c = shape[:2]
    _refuse_single([n * c // num_groups, num_groups, *shape[2:]])
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for what, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != (c,):
            raise RuntimeError(
                f"Expected {what} to be a vector of size equal to the number of channels in input, but got {what} of "
                f"shape {list(t.shape)} and input of shape {list(shape)}"
            )
    _check_float(input, "GroupNormKernelImpl", weight, bias)


def _refuse_single(size: Any) -> None:
    """Raise PyTorch's error for channels with one value, which have no deviation."""
    if math.prod((size[0], *size[2:])) == 1:
        raise noted(
            ValueError(f"Expected more than 1 value per channel when training, got input size {size}"),
            "Why: the mean and deviation of a batch are those of its samples, and one value has no deviation.",
            "What to do: model.eval() to use a trained model; in training, DataLoader(..., drop_last=True) leaves out "
            "a last batch of one.",
            code="W021",
        )


@public("nn.functional.local_response_norm")
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element divided by ``(k + alpha * mean of squares over size neighbouring channels) ** beta``.

    >>> torch.nn.functional.local_response_norm(torch.ones(1, 2, 1), 2).flatten()
    tensor([1.0000, 0.9999])
    """
    rank = input._payload.ndim
    if rank < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {rank} dimensions)")
    if not input._payload.size:
        return input
    from .pool import avg_pool2d, avg_pool3d

    n, c = input._payload.shape[:2]
    if rank == 3:
        square = TENSORS.constant_pad_nd((input * input).unsqueeze(1), (0, 0, size // 2, (size - 1) // 2), 0)
        mean = avg_pool2d(square, (size, 1), 1).squeeze(1)
        return input / (mean * alpha + k) ** beta
    square = TENSORS.reshape(input * input, (n, 1, c, math.prod(input._payload.shape[2:]), 1))
    square = TENSORS.constant_pad_nd(square, (0, 0, 0, 0, size // 2, (size - 1) // 2), 0)
    mean = TENSORS.reshape(avg_pool3d(square, (size, 1, 1), 1), tuple(input._payload.shape))
    return input / (mean * alpha + k) ** beta


# ---- with the statistics
def _with_statistics(
    result: Any, input: Any, view: Ints, dims: Dims, eps: float, shape: Any, differentiable: bool = False
) -> Any:
    """The result, the means and the inverse deviations."""
    x = TENSORS.reshape(input if differentiable else input.detach(), view)
    dtype = x.dtype
    x = x.float() if dtype.itemsize == 2 else x
    mean = TENSORS.mean_dim(x, dims, True)
    deviation = x - mean
    scale = (TENSORS.mean_dim(deviation * deviation, dims, True) + eps) ** -0.5
    return result, TENSORS.reshape(mean, shape).to(dtype), TENSORS.reshape(scale, shape).to(dtype)


@public("torch.native_layer_norm")
def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``layer_norm``, the means and the inverse deviations.

    >>> torch.native_layer_norm(torch.tensor([1., 3.]), (2,), None, None, 0.)[0]
    tensor([-1.,  1.])
    """
    k = len(normalized_shape)
    lead = tuple(input._payload.shape[: input._payload.ndim - k])
    view = (math.prod(lead), math.prod(normalized_shape))
    result = layer_norm(input, normalized_shape, weight, bias, eps)
    return _with_statistics(result, input, view, (1,), eps, (*lead, *(1,) * k))


@public("torch.native_group_norm")
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``group_norm``, the means and the inverse deviations.

    >>> torch.native_group_norm(torch.tensor([[[1., 3.]]]), None, None, 1, 1, 2, 1, 0.)[1]
    tensor([[2.]])
    """
    result = group_norm(input, group, weight, bias, eps)
    view = (N * group, C // group * HxW)
    return _with_statistics(result, input, view, (1,), eps, (N, group), True)

"""The public functions that put maxima back where they were, and p-norms of windows."""

from __future__ import annotations

import math
from typing import Any

from ..._arrays.layouts import is_channels_last
from ..._base.registry import TENSORS, public
from ..._kinds.slow_path import require
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tensor_api.settings import alert_not_deterministic
from ..indexing._along import bad_index
from ..linalg.matmul import dtype_name
from .pool import Ints, avg_pool1d, avg_pool2d, avg_pool3d, first, max_pool1d, max_pool2d, max_pool3d, per_dim


def _unpooled_size(input: Any, kernel: Ints, stride: Ints, padding: Ints, output_size: Any) -> Ints:
    k = len(kernel)
    default = tuple(
        (n - 1) * s + w - 2 * p for n, s, w, p in zip(input._payload.shape[-k:], stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return default
    if len(output_size) == k + 2:
        output_size = output_size[2:]
    if len(output_size) != k:
        raise ValueError(
            f"output_size should be a sequence containing {k} or {k + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for d, (n, m, s) in enumerate(zip(output_size, default, stride, strict=True)):
        if not m - s < n < m + s:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {m - s} and {m + s})')
    return tuple(int(n) for n in output_size)


def _max_unpool(k: int, input: Any, indices: Any, kernel: Any, stride: Any, padding: Any, output_size: Any) -> Any:
    name = f"max_unpool{k}d"
    if input._payload.ndim not in (k + 1, k + 2):
        raise RuntimeError(
            f"Input to max_unpooling{k}d should be a {k + 1}d or {k + 2}d Tensor, but got a tensor with "
            f"{input._payload.ndim} dimensions."
        )
    require(input, "fh", f"{name}_channels_last" if k == 2 and is_channels_last(input._payload) else name)
    kernel = per_dim(name, "kernel_size", kernel, k)
    stride = kernel if stride is None else per_dim(name, "stride", stride, k)
    size = _unpooled_size(input, kernel, stride, per_dim(name, "padding", padding, k), output_size)
    if logical_dtype(indices).name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {dtype_name(indices)}")
    if tuple(indices._payload.shape) != tuple(input._payload.shape):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input._payload.shape)}) but got "
            f"indices tensor with shape: {list(indices._payload.shape)}"
        )
    alert_not_deterministic(f"max_unpooling{k}d_forward_out")
    wrong = bad_index(indices, math.prod(size))
    if wrong is not None:
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, size))})"
        )
    return TENSORS.unpool(input, indices, size)


@public("nn.functional.max_unpool2d")
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool2d`` put back where its indices say, zeros elsewhere.

    >>> F = torch.nn.functional
    >>> F.max_unpool2d(*F.max_pool2d(torch.arange(4.).view(1, 2, 2), 2, return_indices=True), 2)
    tensor([[[0., 0.],
             [0., 3.]]])
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional.max_unpool3d")
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool3d`` put back where its indices say.

    >>> F = torch.nn.functional
    >>> values, indices = F.max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 2, return_indices=True)
    >>> F.max_unpool3d(values, indices, 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 7.])
    """
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional.max_unpool1d")
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool1d`` put back where its indices say.

    >>> F = torch.nn.functional
    >>> F.max_unpool1d(*F.max_pool1d(torch.tensor([[1., 3.]]), 2, return_indices=True), 2)
    tensor([[0., 3.]])
    """
    kernel, pads = first(kernel_size), first(padding)
    step = kernel if stride is None else first(stride)
    size = _unpooled_size(input, (kernel,), (step,), (pads,), output_size)
    d = input._payload.ndim
    values, places = (TENSORS.unsqueeze_dim(t, d) for t in (input, indices))
    return TENSORS.squeeze_dim(_max_unpool(2, values, places, (kernel, 1), (step, 1), (pads, 0), (*size, 1)), d)


def _lp_pool(k: int, input: Any, norm_type: float, kernel: Any, stride: Any, ceil_mode: bool) -> Any:
    highest, mean = ((max_pool1d, avg_pool1d), (max_pool2d, avg_pool2d), (max_pool3d, avg_pool3d))[k - 1]
    if norm_type == math.inf:
        return highest(TENSORS.abs(input), kernel, stride, 0, 1, ceil_mode)
    if norm_type == -math.inf:
        return -highest(-TENSORS.abs(input), kernel, stride, 0, 1, ceil_mode)
    r = mean(input**norm_type, kernel, stride, 0, ceil_mode)
    n = math.prod(per_dim("lp_pool", "kernel_size", kernel, k))
    return ((TENSORS.sign(r) * TENSORS.relu(TENSORS.abs(r))) * n) ** (1.0 / norm_type)


@public("nn.functional.lp_pool1d")
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window of signals, p being ``norm_type``.

    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3., 4.]]), 2, 2)
    tensor([[5.]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional.lp_pool2d")
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window of images.

    >>> torch.nn.functional.lp_pool2d(torch.tensor([[[3., 4.]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional.lp_pool3d")
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The p-norm of each window of volumes.

    >>> torch.nn.functional.lp_pool3d(torch.tensor([[[[3., 4.]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)

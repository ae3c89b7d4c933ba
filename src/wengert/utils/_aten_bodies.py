"""PyTorch's operators that no public function computes from their arguments, by the operator's name.

``torch.ops.aten.NAME.OVERLOAD(...)`` calls the body ``NAME_OVERLOAD`` or ``NAME`` here before it looks for a public
function. The operators without ``native_`` or ``_`` in their names are composed of others in PyTorch too.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

import wengert as torch
import wengert.nn.functional as F

from .._base.registry import TENSORS
from .._ops.nn.conv import per_dim
from .._tape.tensor import Tensor, wrap

_REDUCTIONS = ("none", "mean", "sum")
_INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


# ---- shapes and indices
def slice(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return self[(_ALL,) * (dim % self.ndim) + (builtins.slice(start, end, step),)]


_ALL = builtins.slice(None)


def index(self: Any, indices: Any) -> Any:
    return self[tuple(_ALL if i is None else i for i in indices)]


def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    return index_put_(self.clone(), indices, values, accumulate)


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    if accumulate:
        return self.index_put_(tuple(indices), values, accumulate=True)
    self[tuple(_ALL if i is None else i for i in indices)] = values
    return self


_unsafe_index = index


def alias(self: Any) -> Any:
    return self.view(self.shape)


def lift_fresh(self: Any) -> Any:
    return self


def lift_fresh_copy(self: Any) -> Any:
    return self.clone()


def numpy_T(self: Any) -> Any:
    return self.T


def matrix_H(self: Any) -> Any:
    return self.H


def mT(self: Any) -> Any:
    return self.mT


def mH(self: Any) -> Any:
    return self.mH


def real(self: Any) -> Any:
    return self.real


def imag(self: Any) -> Any:
    return self.imag


def _unsafe_view(self: Any, size: Any) -> Any:
    return self.reshape(size)


def _local_scalar_dense(self: Any) -> Any:
    return self.item()


def _to_copy(self: Any, *, dtype: Any = None, **_: Any) -> Any:
    return self.clone() if dtype is None else self.to(dtype, copy=True)


def to_dtype_layout(self: Any, *, dtype: Any = None, copy: bool = False, **_: Any) -> Any:
    return self.to(self.dtype if dtype is None else dtype, copy=copy)


def to_device(self: Any, device: Any, dtype: Any, non_blocking: bool = False, copy: bool = False) -> Any:
    return self.to(device=device, dtype=dtype, copy=copy)


def _assert_tensor_metadata(
    a: Any, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None, layout: Any = None
) -> None:
    if dtype is not None and a.dtype != dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype} Got: {a.dtype}")


def tensordot(self: Any, other: Any, dims_self: Any, dims_other: Any) -> Any:
    return torch.tensordot(self, other, dims=(dims_self, dims_other))


def _unique2(self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    values, inverse, counts = torch.unique(self, sorted, return_inverse=True, return_counts=True)
    nothing = self.new_empty(0, dtype=torch.int64)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


def copy(self: Any, src: Any, non_blocking: bool = False) -> Any:
    return self.clone().copy_(src)


def zero(self: Any) -> Any:
    return torch.zeros_like(self)


def sym_size(self: Any, dim: int | None = None) -> Any:
    return self.shape if dim is None else self.shape[dim]


# ---- elementwise
def elu(self: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    return TENSORS._elu(self, alpha, scale, input_scale)


def log_sigmoid_forward(self: Any) -> Any:
    return F.logsigmoid(self), self.new_empty(0)


def log_sigmoid(self: Any) -> Any:
    return F.logsigmoid(self)


def _prelu_kernel(self: Any, weight: Any) -> Any:
    return torch.where(self > 0, self, weight * self)


def _softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    return self.softmax(dim)


def _log_softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    return self.log_softmax(dim)


# ---- losses
def _loss(name: str) -> Any:
    """A loss whose reduction is a number, at the place where PyTorch's operator has it."""
    function = getattr(F, name)

    def body(self: Any, target: Any, reduction: int = 1, *rest: Any) -> Any:
        named = {_AFTER_REDUCTION[name]: rest[0]} if rest else {}
        return function(self, target, reduction=_REDUCTIONS[reduction], **named)

    return body


_AFTER_REDUCTION = {"smooth_l1_loss": "beta", "huber_loss": "delta"}
mse_loss, l1_loss, smooth_l1_loss = _loss("mse_loss"), _loss("l1_loss"), _loss("smooth_l1_loss")
huber_loss, soft_margin_loss = _loss("huber_loss"), _loss("soft_margin_loss")
multilabel_margin_loss = _loss("multilabel_margin_loss")


def binary_cross_entropy(self: Any, target: Any, weight: Any = None, reduction: int = 1) -> Any:
    return F.binary_cross_entropy(self, target, weight, reduction=_REDUCTIONS[reduction])


def multi_margin_loss(
    self: Any, target: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1
) -> Any:
    return F.multi_margin_loss(self, target, p, margin, weight, reduction=_REDUCTIONS[reduction])


def cross_entropy_loss(
    self: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    return F.cross_entropy(
        self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction],
        label_smoothing=label_smoothing,
    )  # fmt: skip


def nll_loss_nd(self: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    return F.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])


nll_loss = nll_loss2d = nll_loss_nd


def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    kept = target != ignore_index
    total = self.new_tensor(float(kept.sum())) if weight is None else weight[target[kept]].sum()
    return nll_loss_nd(self, target, weight, reduction, ignore_index), total if reduction else self.new_zeros(())


nll_loss2d_forward = nll_loss_forward


def _mean(name: str, place: int) -> Any:
    """A loss that takes the mean where nothing is said; ``torch.NAME`` does not reduce then."""
    function = getattr(torch, name)

    def body(*args: Any, **named: Any) -> Any:
        if len(args) <= place:
            named.setdefault("reduction", 1)
        return function(*args, **named)

    return body


kl_div, ctc_loss = _mean("kl_div", 2), _mean("ctc_loss", 5)
binary_cross_entropy_with_logits = _mean("binary_cross_entropy_with_logits", 4)
cosine_embedding_loss = _mean("cosine_embedding_loss", 4)
hinge_embedding_loss, margin_ranking_loss = _mean("hinge_embedding_loss", 3), _mean("margin_ranking_loss", 4)
triplet_margin_loss = _mean("triplet_margin_loss", 7)


# ---- layers
def native_dropout(input: Any, p: float, train: bool | None) -> Any:
    kept = F.dropout(torch.ones_like(input), p, train is not False)
    return input * kept, kept != 0


def native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return grad_output * mask * scale


def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    rstd = (input.var(dims, correction=0, keepdim=True) + eps).rsqrt()
    return F.layer_norm(input, normalized_shape, weight, bias, eps), input.mean(dims, keepdim=True), rstd


def native_group_norm(input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float) -> Any:
    parts = input.reshape(N, group, -1)
    rstd = (parts.var(-1, correction=0) + eps).rsqrt()
    return F.group_norm(input, group, weight, bias, eps), parts.mean(-1), rstd


def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> Any:
    if not training:
        output = F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        return output, input.new_empty(0), input.new_empty(0)
    dims = [d for d in range(input.ndim) if d != 1]
    mean, rstd = input.mean(dims), (input.var(dims, correction=0) + eps).rsqrt()
    return F.batch_norm(input, running_mean, running_var, weight, bias, True, momentum, eps), mean, rstd


_native_batch_norm_legit = cudnn_batch_norm = native_batch_norm


def _native_batch_norm_legit_no_stats(
    input: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> Any:
    return native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def _native_batch_norm_legit_no_training(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float, eps: float
) -> Any:
    return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


def _scaled_dot_product_flash_attention_for_cpu(
    query: Any, key: Any, value: Any, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    output = F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -torch.inf)
    return output, (scores if attn_mask is None else scores + attn_mask).logsumexp(-1)


def _adaptive_avg_pool2d(self: Any, output_size: Any) -> Any:
    return F.adaptive_avg_pool2d(self, output_size)


def _adaptive_avg_pool3d(self: Any, output_size: Any) -> Any:
    return F.adaptive_avg_pool3d(self, output_size)


def _adaptive_max(n: int) -> Any:
    return lambda self, output_size: getattr(F, f"adaptive_max_pool{n}d")(self, output_size, return_indices=True)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_adaptive_max(n) for n in (1, 2, 3))


def _pool(name: str) -> Any:
    """A pooling whose stride ``[]`` is the size of its window."""
    function = getattr(F, name)
    return lambda self, kernel_size, stride=(), *rest: function(self, kernel_size, stride or None, *rest)


avg_pool1d, avg_pool2d, avg_pool3d = _pool("avg_pool1d"), _pool("avg_pool2d"), _pool("avg_pool3d")
max_pool1d, max_pool2d, max_pool3d = _pool("max_pool1d"), _pool("max_pool2d"), _pool("max_pool3d")
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = (
    _pool(f"max_pool{n}d_with_indices") for n in (1, 2, 3)
)


def im2col(self: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return F.unfold(self, kernel_size, dilation, padding, stride)


def col2im(self: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return F.fold(self, output_size, kernel_size, dilation, padding, stride)


def constant_pad_nd(self: Any, pad: Any, value: Any = 0) -> Any:
    return F.pad(self, pad, "constant", value)


def _padded(mode: str) -> Any:
    return lambda self, padding: F.pad(self, padding, mode)


reflection_pad1d = reflection_pad2d = reflection_pad3d = _padded("reflect")
replication_pad1d = replication_pad2d = replication_pad3d = _padded("replicate")


def grid_sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    return F.grid_sample(
        input, grid, _INTERPOLATIONS[interpolation_mode], _PADDINGS[padding_mode], align_corners=align_corners
    )


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    return F.affine_grid(theta, size, align_corners)


def _upsample(mode: str, aligned: bool) -> tuple[Any, Any]:
    """The overloads ``vec`` and ``default`` of an interpolation."""

    def vec(input: Any, output_size: Any, *rest: Any) -> Any:
        corners = {"align_corners": rest[0]} if aligned else {}
        return F.interpolate(input, output_size, None if output_size else rest[-1], mode, **corners)

    def default(self: Any, output_size: Any, *rest: Any) -> Any:
        scales = rest[1:] if aligned else rest
        corners = {"align_corners": rest[0]} if aligned else {}
        if scales and None not in scales:
            return F.interpolate(self, None, list(scales), mode, **corners)
        return F.interpolate(self, output_size, None, mode, **corners)

    return vec, default


for _name, _mode, _aligned in (
    ("nearest1d", "nearest", False), ("nearest2d", "nearest", False), ("nearest3d", "nearest", False),
    ("linear1d", "linear", True), ("bilinear2d", "bilinear", True), ("trilinear3d", "trilinear", True),
    ("bicubic2d", "bicubic", True),
):  # fmt: skip
    globals()[f"upsample_{_name}_vec"], globals()[f"upsample_{_name}"] = _upsample(_mode, _aligned)
for _n in (1, 2):
    _vec, _default = _upsample("nearest-exact", False)
    globals()[f"_upsample_nearest_exact{_n}d_vec"], globals()[f"_upsample_nearest_exact{_n}d"] = _vec, _default


def repeat_interleave_Tensor(repeats: Any, *, output_size: Any = None) -> Any:
    return torch.arange(len(repeats)).repeat_interleave(repeats)


# ---- what formulas of PyTorch's call
def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Any,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of a convolution's input, weight and bias; ``None`` where ``output_mask`` is false."""
    n = input.ndim - 2
    geometry = tuple(
        per_dim(name, v, n) for name, v in (("stride", stride), ("padding", padding), ("dilation", dilation))
    )
    kernel = tuple(weight.shape[2:])
    x = w = b = None
    if output_mask[0]:
        if transposed:
            x = TENSORS.convolution(grad_output, weight, None, *geometry, groups)
        else:
            x = TENSORS.conv_input(grad_output, weight, tuple(input.shape[2:]), *geometry, groups)
    if output_mask[1]:
        pair = (grad_output, input) if transposed else (input, grad_output)
        w = TENSORS.conv_weight(*pair, kernel, *geometry, groups)
    if output_mask[2]:
        b = grad_output.sum((0, *range(2, n + 2)))
    return x, w, b


def _new_zeros_with_same_feature_meta(self: Tensor, other: Tensor, *, self_num_batch_dims: int = 0) -> Tensor:
    """Zeros of ``other``'s geometry for each of the leading ``self_num_batch_dims`` dimensions of ``self``."""
    sizes = tuple(self.shape[:self_num_batch_dims])
    held = other.untyped_storage().nbytes() // other._payload.itemsize
    steps = tuple(math.prod(sizes[k + 1 :]) * held for k in range(len(sizes)))
    memory = wrap(np.zeros(math.prod(sizes) * held, other._payload.dtype))
    return memory.as_strided((*sizes, *other.shape), (*steps, *other.stride()), other.storage_offset())


def slice_inverse(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """The tensor of ``src``'s geometry of whose memory ``self`` shows a slice."""
    return self.as_strided(src.shape, src.stride(), src.storage_offset())

"""PyTorch's operators that no public function computes from their arguments, by the operator's name.

``torch.ops.aten.NAME.OVERLOAD(...)`` calls the body ``NAME_OVERLOAD`` or ``NAME`` here before it looks for a public
function. The operators without ``native_`` or ``_`` in their names are composed of others in PyTorch too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as torch
import wengert.nn.functional as F

from .._base.registry import TENSORS
from .._ops.nn.conv import per_dim
from .._tape.tensor import Tensor, wrap
from .._tensor_api.layout import SliceInverse

_REDUCTIONS = ("none", "mean", "sum")
_INTERPOLATIONS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")

_ALL = slice(None)


def _of_self(function: Any) -> Any:
    """A function whose first parameter is called ``self`` in the operator."""

    def body(self: Any, *args: Any, **named: Any) -> Any:
        return function(self, *args, **named)

    return body


# ---- shapes and indices
def index(self: Any, indices: Any) -> Any:
    return self[tuple(_ALL if i is None else i for i in indices)]


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    if accumulate:
        return self.index_put_(tuple(indices), values, accumulate=True)
    self[tuple(_ALL if i is None else i for i in indices)] = values
    return self


def _assert_tensor_metadata(
    a: Any, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None, layout: Any = None
) -> None:
    if dtype is not None and a.dtype != dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype} Got: {a.dtype}")


def _assert_scalar(self: Any, assert_msg: str) -> None:
    if not self:
        raise RuntimeError(assert_msg)


def _unique2(self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    values, inverse, counts = torch.unique(self, sorted, return_inverse=True, return_counts=True)
    nothing = self.new_empty(0, dtype=torch.int64)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


def unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    values, inverse, counts = torch.unique_consecutive(self, True, True, dim)
    nothing = self.new_empty(0, dtype=torch.int64)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


# ---- losses
def _loss(name: str, parameters: str = "reduction") -> Any:
    """A loss whose reduction is a number. ``parameters``: the operator's, after input and target, in its order."""
    function, names = getattr(F, name), parameters.split()

    def body(self: Any, target: Any, *args: Any, **named: Any) -> Any:
        named |= zip(names[: len(args)], args, strict=True)
        return function(self, target, **named | {"reduction": _REDUCTIONS[named.get("reduction", 1)]})

    return body


nll_loss_nd = _loss("nll_loss", "weight reduction ignore_index")


def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    kept = target != ignore_index
    total = kept.sum().to(self.dtype) if weight is None else weight[target[kept]].sum()
    return nll_loss_nd(self, target, weight, reduction, ignore_index), total if reduction else self.new_zeros(())


def _in_place(fn: Any) -> Any:
    return lambda self: fn(self, inplace=True)


def _mean(name: str, place: int) -> Any:
    """A loss that takes the mean where nothing is said; ``torch.NAME`` does not reduce then."""
    function = getattr(torch, name)

    def body(*args: Any, **named: Any) -> Any:
        if len(args) <= place:
            named.setdefault("reduction", 1)
        return function(*args, **named)

    return body


# ---- layers
def native_dropout(input: Any, p: float, train: bool | None) -> Any:
    kept = F.dropout(torch.ones_like(input), p, train is not False)
    return input * kept, kept != 0


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


def _native_batch_norm_legit_functional(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> Any:
    kept = running_mean.clone(), running_var.clone()
    return *native_batch_norm(input, weight, bias, *kept, training, momentum, eps), *kept


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


def _adaptive_max(n: int) -> Any:
    return lambda self, output_size: getattr(F, f"adaptive_max_pool{n}d")(self, output_size, return_indices=True)


def _pool(name: str) -> Any:
    """A pooling whose stride ``[]`` is the size of its window."""
    function = getattr(F, name)
    return lambda self, kernel_size, stride=(), *rest: function(self, kernel_size, stride or None, *rest)


def _padded(mode: str) -> Any:
    return lambda self, padding: F.pad(self, padding, mode)


def grid_sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    return F.grid_sample(
        input, grid, _INTERPOLATIONS[interpolation_mode], _PADDINGS[padding_mode], align_corners=align_corners
    )


def _upsample(mode: str) -> tuple[tuple[str, Any], ...]:
    """The overloads ``vec`` and ``default`` of an interpolation."""
    aligned = "nearest" not in mode

    def vec(input: Any, output_size: Any, *rest: Any) -> Any:
        corners = {"align_corners": rest[0]} if aligned else {}
        return F.interpolate(input, output_size, None if output_size else rest[-1], mode, **corners)

    def default(self: Any, output_size: Any, *rest: Any) -> Any:
        scales = rest[1:] if aligned else rest
        corners = {"align_corners": rest[0]} if aligned else {}
        if scales and None not in scales:
            return F.interpolate(self, None, list(scales), mode, **corners)
        return F.interpolate(self, output_size, None, mode, **corners)

    return ("_vec", vec), ("", default)


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
    result = self.as_strided(src.shape, src.stride(), src.storage_offset())
    result._view = (self, SliceInverse, *result._view[2:])
    return result


# ---- by name
BODIES: dict[str, Any] = {
    **{name: value for name, value in globals().items() if getattr(value, "__module__", None) == __name__},
    # shapes and indices
    "slice": lambda self, dim=0, start=None, end=None, step=1: self[
        (_ALL,) * (dim % self.ndim) + (slice(start, end, step),)
    ],
    "_unsafe_index": index,
    "index_put": lambda self, indices, values, accumulate=False: index_put_(self.clone(), indices, values, accumulate),
    "alias": lambda self: self.view(self.shape),
    "lift_fresh": lambda self: self,
    "lift_fresh_copy": lambda self: self.clone(),
    "numpy_T": lambda self: self.T,
    "matrix_H": lambda self: self.H,
    "mT": lambda self: self.mT,
    "mH": lambda self: self.mH,
    "real": lambda self: self.real,
    "imag": lambda self: self.imag,
    "_unsafe_view": lambda self, size: self.reshape(size),
    "_reshape_alias_copy": lambda self, size, stride: self.as_strided(size, stride).clone(),
    "_local_scalar_dense": lambda self: self.item(),
    "_to_copy": lambda self, *, dtype=None, **_: self.clone() if dtype is None else self.to(dtype, copy=True),
    "to_dtype_layout": lambda self, *, dtype=None, copy=False, **_: self.to(dtype or self.dtype, copy=copy),
    "to_device": lambda self, device, dtype, non_blocking=False, copy=False: self.to(
        device=device, dtype=dtype, copy=copy
    ),
    "tensordot": lambda self, other, dims_self, dims_other: torch.tensordot(self, other, (dims_self, dims_other)),
    "copy": lambda self, src, non_blocking=False: self.clone().copy_(src),
    "zero": _of_self(torch.zeros_like),
    "nonzero_numpy": lambda self: list(self.nonzero(as_tuple=True)),
    "sym_size": lambda self, dim=None: self.shape if dim is None else self.shape[dim],
    "sym_stride": lambda self, dim=None: self.stride() if dim is None else self.stride(dim),
    "sym_storage_offset": lambda self: self.storage_offset(),
    "sym_numel": lambda self: self.numel(),
    "repeat_interleave_Tensor": lambda repeats, *, output_size=None: torch.arange(len(repeats)).repeat_interleave(
        repeats
    ),
    "_nested_get_values": lambda self: self.values(),
    "_nested_get_offsets": lambda self: self.offsets(),
    "_nested_get_lengths": lambda self: self.lengths(),
    # elementwise
    "elu": lambda self, alpha=1, scale=1, input_scale=1: TENSORS._elu(self, alpha, scale, input_scale),
    "gelu_": lambda self, *, approximate="none": self.copy_(F.gelu(self, approximate=approximate)),
    "elu_": lambda self, alpha=1, scale=1, input_scale=1: self.copy_(TENSORS._elu(self, alpha, scale, input_scale)),
    **{f"{name}_": _in_place(getattr(F, name)) for name in ("hardsigmoid", "hardswish", "mish", "relu6", "silu")},
    "log_sigmoid_forward": lambda self: (F.logsigmoid(self), self.new_empty(0)),
    "log_sigmoid": _of_self(F.logsigmoid),
    "_prelu_kernel": lambda self, weight: torch.where(self > 0, self, weight * self),
    "_softmax": lambda self, dim, half_to_float: self.softmax(dim),
    "_log_softmax": lambda self, dim, half_to_float: self.log_softmax(dim),
    # losses
    **{name: _loss(name) for name in ("mse_loss", "l1_loss", "soft_margin_loss", "multilabel_margin_loss")},
    "smooth_l1_loss": _loss("smooth_l1_loss", "reduction beta"),
    "huber_loss": _loss("huber_loss", "reduction delta"),
    "binary_cross_entropy": _loss("binary_cross_entropy", "weight reduction"),
    "multi_margin_loss": _loss("multi_margin_loss", "p margin weight reduction"),
    "cross_entropy_loss": _loss("cross_entropy", "weight reduction ignore_index label_smoothing"),
    "nll_loss": nll_loss_nd,
    "nll_loss2d": nll_loss_nd,
    "nll_loss2d_forward": nll_loss_forward,
    **{
        name: _mean(name, place)
        for name, place in {
            "kl_div": 2,
            "ctc_loss": 5,
            "binary_cross_entropy_with_logits": 4,
            "cosine_embedding_loss": 4,
            "hinge_embedding_loss": 3,
            "margin_ranking_loss": 4,
            "triplet_margin_loss": 7,
        }.items()
    },
    # layers
    "_native_batch_norm_legit": native_batch_norm,
    "cudnn_batch_norm": native_batch_norm,
    "_native_batch_norm_legit_no_stats": lambda input, weight, bias, training, momentum, eps: native_batch_norm(
        input, weight, bias, None, None, training, momentum, eps
    ),
    "_adaptive_avg_pool2d": _of_self(F.adaptive_avg_pool2d),
    "_adaptive_avg_pool3d": _of_self(F.adaptive_avg_pool3d),
    **{f"adaptive_max_pool{n}d": _adaptive_max(n) for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": _pool(f"{kind}_pool{n}d") for kind in ("avg", "max") for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": _pool(f"max_pool{n}d_with_indices") for n in (1, 2, 3)},
    "im2col": _of_self(F.unfold),
    "col2im": _of_self(F.fold),
    "constant_pad_nd": lambda self, pad, value=0: F.pad(self, pad, "constant", value),
    **{
        f"{kind}_pad{n}d": _padded(mode)
        for kind, mode in (("reflection", "reflect"), ("replication", "replicate"))
        for n in (1, 2, 3)
    },
    "grid_sampler_2d": grid_sampler,
    "grid_sampler_3d": grid_sampler,
    "affine_grid_generator": F.affine_grid,
    **{f"upsample_nearest{n}d{overload}": body for n in (1, 2, 3) for overload, body in _upsample("nearest")},
    **{f"_upsample_nearest_exact{n}d{overload}": body for n in (1, 2) for overload, body in _upsample("nearest-exact")},
    **{
        f"upsample_{mode}{n}d{overload}": body
        for mode, n in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2))
        for overload, body in _upsample(mode)
    },
}
for _name, _body in BODIES.items():
    if _body.__name__ == "<lambda>":
        _body.__name__ = _body.__qualname__ = _name  # for errors

# the names that PyTorch divides into other operators, and those that give a number
DIVIDED = frozenset({
    "_local_scalar_dense", "adaptive_max_pool1d", "avg_pool1d", "cosine_embedding_loss", "cross_entropy_loss",
    "ctc_loss", "grid_sampler", "hinge_embedding_loss", "imag", "kl_div", "l1_loss", "log_sigmoid", "mH", "mT",
    "margin_ranking_loss", "matrix_H", "max_pool1d", "max_pool2d", "max_pool3d", "multilabel_margin_loss", "nll_loss",
    "nll_loss2d", "nll_loss_nd", "numpy_T", "real", "sym_numel", "sym_size", "sym_storage_offset", "sym_stride",
    "tensordot", "to", "triplet_margin_loss",
})  # fmt: skip

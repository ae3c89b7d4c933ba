"""PyTorch's derivative formulas in its operators' names, for ``_derivatives``.

``FORMULAS`` has them as PyTorch's ``derivatives.yaml`` does: for each operator, its differentiable arguments and an
expression of ``grad`` (``grads`` of several results), the arguments, ``result``, and functions and methods that are
operators. A line with several arguments gives all of their derivatives. ``q = ...;`` computes a part first, in the
order in which PyTorch does. ``mask`` says of which of a line's arguments derivatives are needed. ``HELPERS`` are the
functions that are no operators.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import wengert as torch

FORMULAS = """
_log_softmax: self = _log_softmax_backward_data(grad, result, dim, self.dtype)
_prelu_kernel: self, weight = _prelu_kernel_backward(grad, self, weight)
_safe_softmax _softmax: self = _softmax_backward_data(grad, result, dim, self.dtype)
_to_copy: self = grad._to_copy(**options(self))
_adaptive_avg_pool2d: self = _adaptive_avg_pool2d_backward(grad, self)
_adaptive_avg_pool3d: self = _adaptive_avg_pool3d_backward(grad, self)
_unsafe_view reshape view: self = reshaped(grad, size_of(self))
abs: self = grad * self.sgn()
acos: self = grad * -((1 - self * self).rsqrt())
adaptive_max_pool2d: self = adaptive_max_pool2d_backward(grad, self, result1)
add: other = times(grad, alpha); self = grad
addcdiv: self = grad; tensor1 = q = value / tensor2; grad * q; tensor2 = q = tensor2 * tensor2; p = tensor1 * value;
  p = p / q; -grad * p
addcmul: self = grad; tensor1 = q = tensor2 * value; grad * q; tensor2 = q = tensor1 * value; grad * q
addmm: mat1 = times(grad.mm(mat2.t()), alpha); mat2 = times(right(mat1, mat2, grad, 't'), alpha); self = times(grad,
  beta)
alias clone contiguous lift_fresh: self = grad
amax amin: self = extreme(grad, result, self, dim, keepdim)
asin: self = grad * (1 - self * self).rsqrt()
atan: self = grad / (self * self + 1)
atan2: self, other = q = other * other; p = self * self + q; q = p.reciprocal().masked_fill(p.eq(0), 0); (grad *
  other * q, grad * -self * q)
avg_pool1d avg_pool2d: self = avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode,
  count_include_pad, divisor_override)
baddbmm: batch1 = times(grad.bmm(batch2.transpose(1, 2)), alpha); batch2 = times(batch1.transpose(1, 2).bmm(grad),
  alpha); self = times(grad, beta)
binary_cross_entropy: self = binary_cross_entropy_backward(grad, self, target, weight, reduction)
binary_cross_entropy_with_logits: self = of_logits(grad, self, target, weight, pos_weight, reduction)
bmm: mat2 = self.transpose(1, 2).bmm(grad); self = grad.bmm(mat2.transpose(1, 2))
cat: tensors = parts_of(grad, tensors, dim)
celu: self = elu_backward(grad, alpha, 1, 1.0 / alpha, False, self)
clamp: self = zero = number(grad, 0.0); between(grad, self, min, max, zero)
clamp_min: self = zero = number(grad, 0.0); where(self.ge(min), grad, zero)
clamp_max: self = zero = number(grad, 0.0); where(self.le(max), grad, zero)
constant_pad_nd: self = constant_pad_nd(grad, [-n for n in pad])
convolution: input, weight, bias = convolution_backward(grad, input, weight, [0] if bias is None else size_of(bias),
  stride, padding, dilation, transposed, output_padding, groups, mask)
cos: self = grad * -self.sin()
cosh: self = grad * self.sinh()
cumsum: self = grad.flip([dim]).cumsum(dim).flip([dim]) if self.ndim else grad
diagonal: self = diagonal_backward(grad, size_of(self), offset, dim1, dim2)
div: other = q = self / other / other; -grad * q; self = grad.div(other)
dot: self = grad * tensor; tensor = grad * self
elu: self = elu_backward(grad, alpha, scale, input_scale, False, self)
embedding: weight = embedding_dense_backward(grad, indices, weight.shape[0], padding_idx, scale_grad_by_freq)
erf: self = q = (-self.pow(2)).exp(); q * 1.1283791670955126 * grad
exp: self = grad * result
expand: self = sum_to(grad, size_of(self))
expm1: self = grad * (result + 1)
flip: self = grad.flip(dims)
gather: self = zeros_for(grad, self).scatter_add(dim, index, grad)
gelu: self = gelu_backward(grad, self, approximate=approximate)
glu: self = glu_backward(grad, self, dim)
hardsigmoid: self = hardsigmoid_backward(grad, self)
hardswish: self = hardswish_backward(grad, self)
hardtanh: self = hardtanh_backward(grad, self, min_val, max_val)
huber_loss: self = huber_loss_backward(grad, self, target, reduction, delta); target = huber_loss_backward(grad,
  target, self, reduction, delta)
im2col: self = col2im(grad, list(self.shape[-2:]), kernel_size, dilation, padding, stride)
index: self = index_put(zeros_like(grad, self), indices, grad, True)
index_select: self = zeros_like(grad, self).index_add(dim, index, grad)
leaky_relu: self = leaky_relu_backward(grad, self, negative_slope, False)
lerp.Scalar: end = grad * weight; self = grad * (1 - weight)
linalg_vector_norm: self = norm_slope(grad, self, result, ord, dim, keepdim)
log: self = grad / self
log1p: self = grad / (self + 1)
log2: self = grad / (self * 0.6931471805599453)
log10: self = grad / (self * 2.3025850929940456)
log_sigmoid_forward: self = log_sigmoid_backward(grad, self, result1)
logsumexp: self = g, r = restored(grad, self, dim, keepdim), restored(result, self, dim, keepdim); g * (self -
  r).exp()
masked_fill: self = masked_fill(grad, mask_, 0)
max.dim min.dim kthvalue median.dim mode: self = scattered(restored(grad, self, dim, keepdim), restored(result1,
  self, dim, keepdim), self, dim)
max min: self = evenly(grad, self, result)
max_pool2d_with_indices: self = max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation,
  ceil_mode, result1)
maximum: other = shared(grad, self, other).masked_fill_(self.gt(other), 0); self = shared(grad, self,
  other).masked_fill_(self.lt(other), 0)
mean: self = grad.expand(size_of(self)) / self.numel()
mean.dim: self = restored(grad, self, dim, keepdim).expand(size_of(self)) / counted(self, dim)
minimum: other = shared(grad, self, other).masked_fill_(self.lt(other), 0); self = shared(grad, self,
  other).masked_fill_(self.gt(other), 0)
mish: self = mish_backward(grad, self)
mm: mat2 = right(self, mat2, grad, 't'); self = grad.mm(mat2.t())
mse_loss: self = mse_loss_backward(grad, self, target, reduction); target = mse_loss_backward(grad, target, self,
  reduction)
mul: other = grad * self; self = grad.mul(other)
mv: self = grad.view([grad.shape[0], 1]) * vec; vec = self.t().mv(grad)
native_batch_norm: input, weight, bias = native_batch_norm_backward(grad, input, weight, running_mean, running_var,
  result1, result2, training, eps, mask)
native_dropout: input = native_dropout_backward(grad, result1, 1 / (1 - p))
native_group_norm: input, weight, bias = q, p = saved(result1), saved(result2); native_group_norm_backward(grad if
  grad.is_contiguous() else grad.clone(memory_format=contiguous_format), input, q, p, weight, N, C, HxW, group,
  mask)
native_layer_norm: input, weight, bias = native_layer_norm_backward(grad, input, normalized_shape, result1, result2,
  weight, bias, mask)
neg: self = grad.neg()
nll_loss_forward: self = nll_loss_backward(grad, self, target, weight, reduction, ignore_index, result1)
nll_loss2d_forward: self = nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, result1)
permute: self = grad.permute(inverse(dims))
pixel_shuffle: self = grad.pixel_unshuffle(upscale_factor)
pixel_unshuffle: self = grad.pixel_shuffle(downscale_factor)
pow.Tensor_Scalar: self = q = self.pow(exponent - 1.0) * float(exponent); grad * q
pow.Tensor_Tensor: exponent = unknown(result); self = q = exponent * self.pow(exponent - 1); p = grad * q; zero =
  number(grad, 0.0); where(exponent.eq(0.0), zero, p)
prod.dim_int: self = prod_slope(restored(grad, self, dim, keepdim), restored(result, self, dim, keepdim), self, dim)
pow.Scalar: exponent = q = result * log_of(self); grad * q
reciprocal: self = q = result * result; -grad * q
relu: self = threshold_backward(grad, result, 0)
repeat: self = unrepeated(grad, repeats, self)
roll: self = grad.roll([-n for n in shifts], dims)
rsqrt: self = q = result.pow(3); grad * -0.5 * q
rsub: other = grad; self = times(-grad, alpha)
select: self = select_backward(grad, size_of(self), dim, index)
sgn sign floor ceil round trunc: self = zeros_like(grad, self)
sigmoid: self = sigmoid_backward(grad, result)
silu: self = silu_backward(grad, self)
sin: self = grad * self.cos()
sinh: self = grad * self.cosh()
slice: self = slice_backward(grad, size_of(self), dim, 0 if start is None else start, end, step)
smooth_l1_loss: self = smooth_l1_loss_backward(grad, self, target, reduction, beta); target =
  smooth_l1_loss_backward(grad, target, self, reduction, beta)
softplus: self = softplus_backward(grad, self, beta, threshold)
sort topk: self = scattered(grad, result1, self, -1 if dim is None else dim)
split: self = joined(grads, results, self, dim)
split_with_sizes: self = joined(grads, results, self, dim)
sqrt: self = grad / (result * 2)
squeeze: self = unsqueezed(grad, self, dim)
stack: tensors = rows_of(grad, tensors, dim)
std.correction: self = q = (grad / (result * 2)).masked_fill_(result.eq(0), 0); var_slope(q, self, dim, correction,
  keepdim)
sub: other = times(-grad, alpha); self = grad
sum: self = grad.expand(size_of(self))
sum.dim_IntList: self = restored(grad, self, dim, keepdim).expand(size_of(self))
t: self = grad.t()
tan: self = grad * (result.pow(2) + 1)
tanh: self = tanh_backward(grad, result)
threshold: self = threshold_backward(grad, self, threshold)
transpose: self = grad.transpose(dim0, dim1)
tril: self = grad.tril(diagonal)
triu: self = grad.triu(diagonal)
unbind: self = stacked(grads, results, dim)
unsqueeze: self = grad.squeeze(dim)
upsample_bicubic2d: self = upsample_bicubic2d_backward(grad, output_size, size_of(self), align_corners, scales_h,
  scales_w)
upsample_bilinear2d: self = upsample_bilinear2d_backward(grad, output_size, size_of(self), align_corners, scales_h,
  scales_w)
upsample_nearest2d: self = upsample_nearest2d_backward(grad, output_size, size_of(self), scales_h, scales_w)
var.correction: self = var_slope(grad, self, dim, correction, keepdim)
where.self: other = zero = number(grad, 0); where(condition, zero, grad); self = zero = number(grad, 0);
  where(condition, grad, zero)
"""


class Unknown(Exception):
    """There is no formula, or an operator of it does not run here."""


HELPERS: dict[str, Any] = {
    "contiguous_format": torch.contiguous_format,
    "size_of": lambda x: list(x.shape),
    "times": lambda x, number: x if number == 1 else x * number,
    "number": lambda x, value: x.writer.scalar_tensor(value, dtype=x.dtype, layout=x.layout, device=x.device),
    "inverse": lambda dims: [[d % len(dims) for d in dims].index(i) for i in range(len(dims))],
    "rows_of": lambda x, tensors, dim: [x.select(dim, i) for i in range(len(tensors))],
    "log_of": math.log,
    "scattered": lambda x, index, self, dim: zeros_for(x, self).scatter(dim, index, x),
    "zeros_like": lambda x, like: x.new_zeros(list(like.shape), **options(like)),
}


def _helper(function: Any) -> Any:
    HELPERS[function.__name__] = function
    return function


@_helper
def reshaped(x: Any, size: list[int]) -> Any:
    try:
        x.value.view(size)
    except RuntimeError:
        return x.clone(memory_format=torch.contiguous_format)._unsafe_view(size)
    return x.view(size)


def _dims(x: Any, dim: Any) -> list[int]:
    dims = [dim] if isinstance(dim, int) else list(range(x.ndim)) if not dim else list(dim)
    return sorted(d % x.ndim for d in dims)


@_helper
def restored(x: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    """With the dimensions of a reduction again."""
    if keepdim or x.ndim == self.ndim or not self.ndim or (not isinstance(dim, int) and not dim):
        return x
    if isinstance(dim, int):
        return x.unsqueeze(dim)
    for d in _dims(self, dim):
        x = x.unsqueeze(d)
    return x


@_helper
def counted(self: Any, dim: Any) -> int:
    shape: list[int] = list(self.shape)
    self.note_product(_dims(self, dim))
    return functools.reduce(operator.mul, [shape[d] for d in _dims(self, dim)], 1)


@_helper
def options(x: Any) -> dict[str, Any]:
    return {"dtype": x.dtype, "layout": x.layout, "device": x.device}


@_helper
def zeros_for(x: Any, like: Any) -> Any:
    return x.new_zeros(list(like.shape))


@_helper
def right(x: Any, y: Any, grad: Any, turn: str) -> Any:
    """The derivative of a product by its right operand: turned twice if that lies in columns, as PyTorch does."""
    if y.value.stride()[0] == 1 and y.value.stride()[1] == y.shape[0]:
        return grad.t().mm(x).t()
    return x.t().mm(grad)


@_helper
def sum_to(x: Any, shape: list[int]) -> Any:
    if list(x.shape) == shape:
        return x
    lead = x.ndim - len(shape)
    dims = [*range(lead), *(d for d in range(lead, x.ndim) if shape[d - lead] == 1 != x.shape[d])]
    x = x.sum(dims, True)
    return x.view(shape) if lead else x


@_helper
def parts_of(x: Any, tensors: list[Any], dim: int) -> list[Any]:
    ends = [0]
    for t in tensors:
        ends.append(ends[-1] + t.shape[dim])
    return [x.slice(dim, a, b) for a, b in itertools.pairwise(ends)]


@_helper
def unsqueezed(x: Any, self: Any, dim: Any) -> Any:
    for d in [d for d in _dims(self, dim) if self.shape[d] == 1]:
        x = x.unsqueeze(d)
    return x


@_helper
def joined(grads: Any, results: list[Any], self: Any, dim: int) -> Any:
    def filled(i: int) -> Any:
        return grads[i] if i in grads else self.writer.zeros(list(results[i].shape), **options(self))

    return self.writer.cat([filled(i) for i in range(len(results))], dim % self.ndim)


@_helper
def stacked(grads: Any, results: list[Any], dim: int) -> Any:
    first: Any = next(iter(grads.values()))
    empty = [i for i in range(len(results)) if i not in grads]
    zero = first.writer.zeros([], **options(first)) if empty else first
    rows = [grads[i] if i in grads else zero.expand(list(first.shape)) for i in range(len(results))]
    return first.writer.stack(rows, dim)


@_helper
def unrepeated(x: Any, repeats: list[int], self: Any) -> Any:
    lead = len(repeats) - self.ndim
    sizes: list[int] = []
    dims: list[int] = []
    for i, n in enumerate(repeats):
        if n != 1:
            dims.append(len(sizes))
            sizes.append(n)
        if i >= lead:
            sizes.append(self.shape[i - lead])
    return x.view(sizes).sum(dims) if dims else x


@_helper
def between(x: Any, self: Any, low: Any, high: Any, zero: Any) -> Any:
    if low is None or high is None:
        return x.writer.where(self.ge(low) if high is None else self.le(high), x, zero)
    inside = self.ge(low).logical_and_(self.le(high))
    return x.writer.where(inside, x, zero)


@_helper
def shared(x: Any, self: Any, other: Any) -> Any:
    half = x / 2
    return x.writer.where(self.eq(other), half, x)


@_helper
def extreme(grad: Any, result: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    shape = [1 if d in _dims(self, dim) else n for d, n in enumerate(self.shape)]
    mask = (result if keepdim else result.view(shape)).eq(self)
    grad = grad if keepdim else grad.view(shape)
    return grad / mask.sum(_dims(self, dim), True) * mask


@_helper
def evenly(grad: Any, self: Any, result: Any) -> Any:
    nan = self.isnan()
    nan = nan.logical_and(result.isnan())
    mask = self.eq(result).logical_or_(nan)
    share = grad / mask.sum()
    return mask * share


@_helper
def norm_slope(grad: Any, self: Any, norm: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    if p != 2:
        raise Unknown
    grad, norm = restored(grad, self, dim, keepdim), restored(norm, self, dim, keepdim)
    q = self / norm
    return grad * q.masked_fill_(norm.eq(0), 0)


@_helper
def var_slope(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    correction = 1 if correction is None else correction
    grad = restored(grad, self, dim, keepdim)
    centred = self - self.mean(dim, True) if dim else self - self.mean()
    return grad * (2.0 / (counted(self, dim) - correction)) * centred


@_helper
def of_logits(grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    if weight is not None or pos_weight is not None:
        raise Unknown
    found = (self.sigmoid() - target) * grad
    return found.writer.run("div_", (found, self.numel()), {}, "Scalar") if reduction == 1 else found


@_helper
def prod_slope(grad: Any, result: Any, self: Any, dim: int) -> Any:
    shape = list(self.shape)
    shape[dim] = 1
    one = self.writer.ones(shape, **options(self))
    before = self.writer.cat([one, self.slice(dim, 0, self.shape[dim] - 1)], dim).cumprod(dim)
    after = self.slice(dim, 1, self.shape[dim]).flip([dim])
    after = self.writer.cat([one, after], dim).cumprod(dim).flip([dim])
    return grad * (before * after)


@_helper
def unknown(*_: Any) -> None:
    raise Unknown

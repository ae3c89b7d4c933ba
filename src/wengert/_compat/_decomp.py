"""PyTorch's table of operators in terms of others: those of activations, losses and arithmetic that take a few steps.

A row is an overload of ``torch.ops.aten`` and its function; the steps are PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import wengert as torch
from wengert.utils._aten import OpOverload

__all__ = ["core_aten_decompositions", "decomposition_table", "get_decompositions"]

aten, where = torch.ops.aten, torch.where


# ---- steps that several have
def _reduced(loss: Any, reduction: int) -> Any:
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


def _mse(self: Any, target: Any, reduction: int = 1) -> Any:
    return _reduced((self - target) ** 2, reduction)


def _smooth_l1(self: Any, target: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    apart = (self - target).abs()
    return _reduced(where(apart < beta, 0.5 * apart**2 / beta, apart - 0.5 * beta), reduction)


def _huber(self: Any, target: Any, reduction: int = 1, delta: float = 1.0) -> Any:
    apart = (self - target).abs()
    return _reduced(where(apart < delta, 0.5 * apart * apart, delta * (apart - 0.5 * delta)), reduction)


def _gelu(self: Any, approximate: str = "none") -> Any:
    if approximate == "none":
        return self * 0.5 * (torch.erf(self * math.sqrt(0.5)) + 1)
    inner = (self + 0.044715 * (self * self * self)) * math.sqrt(2 / math.pi)
    return 0.5 * self * (1 + torch.tanh(inner))


def _elu(self: Any, alpha: Any = 1.0, scale: Any = 1.0, input_scale: Any = 1.0) -> Any:
    return where(self > 0, self * scale, torch.expm1(self * input_scale) * (alpha * scale))


def _silu_backward(grad_output: Any, self: Any) -> Any:
    slope = torch.sigmoid(self)
    return grad_output * slope * (1 + self * (1 - slope))


def _softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    shifted = torch.exp(self - self.amax([dim], True))
    return shifted / shifted.sum([dim], True)


def _log_softmax(self: Any, dim: int, half_to_float: bool) -> Any:
    shifted = self - self.amax([dim], True)
    return shifted - shifted.exp().sum([dim], True).log()


def _addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return torch.mm(mat1, mat2) * alpha + self * beta


def _transpose(self: Any, dim0: int, dim1: int) -> Any:
    dims = list(range(self.ndim))
    if dims:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return self.permute(dims)


def _filled(value: Any, *, like: bool = False) -> Callable[..., Any]:
    """The function of a maker of tensors of one number: of a size, or of a tensor's (``like``)."""

    def of_size(size: Any, **how: Any) -> Any:
        if any(type(n) is not int for n in size):  # a number that depends on values
            return NotImplemented
        options = {"layout": torch.strided, "device": torch.device("cpu"), "pin_memory": False, **how}
        return aten.full.default(size, value, **{"dtype": torch.get_default_dtype(), **options})

    def of_like(self: Any, *, memory_format: Any = torch.preserve_format, **how: Any) -> Any:
        return aten.full_like.default(self, value, **{"pin_memory": False, **how, "memory_format": memory_format})

    return of_like if like else of_size


def _new(value: Any = None) -> Callable[..., Any]:
    """The function of ``new_zeros`` and its like; None: the value is an argument."""

    def new(self: Any, size: Any, *given: Any, dtype: Any = None, **how: Any) -> Any:
        return _filled(*given or [value])(size, dtype=dtype or self.dtype, **how)

    return new


def _arange(*bounds: Any, **how: Any) -> Any:
    if any(isinstance(n, torch.SymInt) for n in bounds):  # a number that depends on values
        return NotImplemented
    start, end = bounds if len(bounds) == 2 else (0, *bounds)
    options = {"layout": torch.strided, "device": torch.device("cpu"), "pin_memory": False}
    return aten.arange.start_step(start, end, **{**options, **how})


def _split(self: Any, split_size: int, dim: int = 0) -> Any:
    size = self.shape[dim]
    sizes = [min(split_size, size - k) for k in range(0, size, split_size)] or [0]
    return aten.split_with_sizes.default(self, sizes, dim)


def _unbind(self: Any, dim: int = 0) -> Any:
    parts = [aten.slice.Tensor(self, dim, k, k + 1) for k in range(self.shape[dim])]
    return [aten.squeeze.dims(part, [dim]) for part in parts]


def _stack(tensors: Any, dim: int = 0) -> Any:
    shape = list(tensors[0].shape)
    dim %= len(shape) + 1
    if dim == len(shape):
        return aten.cat.default([t.unsqueeze(dim) for t in tensors], dim)
    return aten.cat.default(tensors, dim).view([*shape[:dim], len(tensors), *shape[dim:]])


def _std(self: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    correction = 1.0 if correction is None else correction
    return torch.sqrt(aten.var.correction(self, dim, correction=correction, keepdim=keepdim))


def _select_scatter(self: Any, src: Any, dim: int, index: int) -> Any:
    dim %= self.ndim
    size = self.shape[dim]
    places = _arange(size).view([-1 if d == dim else 1 for d in range(self.ndim)])
    here = places == (index if index >= 0 else index + size)
    return where(here, src.unsqueeze(dim).expand(self.shape), self)


def _tril(self: Any, diagonal: int = 0) -> Any:
    columns = _arange(self.shape[-1]).unsqueeze(-2)
    return where(columns - _arange(self.shape[-2]).unsqueeze(-1) <= diagonal, self, 0)


def _triu(self: Any, diagonal: int = 0) -> Any:
    columns = _arange(self.shape[-1]).unsqueeze(-2)
    return where(columns - _arange(self.shape[-2]).unsqueeze(-1) >= diagonal, self, 0)


def _glu(self: Any, dim: int = -1) -> Any:
    half = self.shape[dim] // 2
    dim %= self.ndim
    first, second = aten.slice.Tensor(self, dim, 0, half), aten.slice.Tensor(self, dim, half, 2 * half)
    return first * second.sigmoid()


def _log_sigmoid(self: Any) -> Any:
    zero = _filled(0)([], dtype=self.dtype)
    return torch.minimum(zero, self) - torch.log1p(torch.exp(-torch.abs(self))), self.new_zeros(0)


def _nll_loss(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    if weight is not None or self.ndim != 2:
        return NotImplemented
    place = where(target != ignore_index, target, 0).unsqueeze(1)
    loss = where(target != ignore_index, -aten.squeeze.dims(torch.gather(self, 1, place), [1]), 0)
    if reduction == 0:
        return loss, self.new_zeros([])
    count = (target != ignore_index).sum().to(self.dtype)
    return (loss.sum() / count if reduction == 1 else loss.sum()), count


def _logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Any:
    most = self.amax(dim, True)
    most = where(most.abs() == math.inf, 0.0, most)
    squeezed = most if keepdim else aten.squeeze.dims(most, dim)
    return (self - most).exp().sum(dim, keepdim).log() + squeezed


def _safe_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    result = aten._softmax.default(self, dim, False)
    hidden = torch.logical_not(torch.any(torch.logical_not(self == -math.inf), dim, True))
    return where(hidden, torch.zeros_like(result), result)


def _attention(
    query: Any, key: Any, value: Any, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    if dropout_p or is_causal or query.ndim != 4:
        return NotImplemented
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    query = aten.mul.Scalar(query, root)
    scores = query @ aten.mul.Scalar(key.transpose(-2, -1), root)
    scores = scores if attn_mask is None else scores + attn_mask
    result = _safe_softmax(scores, -1) @ value
    return result.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3), scores


def _celu(self: Any, alpha: float = 1.0) -> Any:
    below = torch.expm1(self) if alpha == 1 else torch.expm1(self / alpha) * alpha
    return where(self > 0, self, below)


def _softplus(self: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = self if beta == 1 else self * beta
    smooth = torch.log1p(torch.exp(scaled))
    return where(scaled > threshold, self, smooth if beta == 1 else smooth / beta)


# ---- the rows
_CORE: dict[str, Callable[..., Any]] = {
    "addcdiv.default": lambda self, tensor1, tensor2, *, value=1: self + tensor1 * value / tensor2,
    "addcmul.default": lambda self, tensor1, tensor2, *, value=1: self + tensor1 * value * tensor2,
    "arange.default": _arange,
    "arange.start": _arange,
    "celu.default": _celu,
    "clamp_max.default": lambda self, max: torch.clamp(self, max=max),
    "clamp_min.default": lambda self, min: torch.clamp(self, min=min),
    "deg2rad.default": lambda self: self * (math.pi / 180),
    "dot.default": lambda self, tensor: (self * tensor).sum(),
    "fill.Scalar": lambda self, value: aten.full_like.default(self, value, pin_memory=False),
    "fill.Tensor": aten.copy.default,
    "floor_divide.default": lambda self, other: aten.div.Tensor_mode(self, other, rounding_mode="floor"),
    "frac.default": lambda self: self - torch.trunc(self),
    "glu.default": _glu,
    "hardsigmoid.default": lambda self: torch.clamp(torch.clamp(self + 3, 0), max=6) / 6,
    "hardswish.default": lambda self: self * torch.clamp(torch.clamp(self + 3, 0), max=6) / 6,
    "huber_loss.default": _huber,
    "isneginf.default": lambda self: self == -math.inf,
    "isposinf.default": lambda self: self == math.inf,
    "log_sigmoid_forward.default": _log_sigmoid,
    "logsumexp.default": _logsumexp,
    "masked_fill.Scalar": lambda self, mask, value: where(mask, float(value), self),
    "masked_fill.Tensor": lambda self, mask, value: where(mask, value, self),
    "mish.default": lambda self: self * torch.nn.functional.softplus(self).tanh(),
    "mse_loss.default": _mse,
    "mv.default": lambda self, vec: (self * vec).sum([1]),
    "new_full.default": _new(),
    "new_ones.default": _new(1),
    "new_zeros.default": _new(0),
    "nll_loss_forward.default": _nll_loss,
    "ones.default": _filled(1),
    "ones_like.default": _filled(1, like=True),
    "_prelu_kernel.default": lambda self, weight: where(self > 0, self, weight * self),
    "rad2deg.default": lambda self: self * (180 / math.pi),
    "rsub.Scalar": lambda self, other, alpha=1: torch.sub(other, self, alpha=alpha),
    "rsub.Tensor": lambda self, other, *, alpha=1: torch.sub(other, self, alpha=alpha),
    "_scaled_dot_product_flash_attention_for_cpu.default": _attention,
    "select_scatter.default": _select_scatter,
    "sigmoid_backward.default": lambda grad_output, output: grad_output * (output * (1 - output)),
    "silu.default": lambda self: self * torch.sigmoid(self),
    "silu_backward.default": _silu_backward,
    "smooth_l1_loss.default": _smooth_l1,
    "soft_margin_loss.default": lambda self, target, reduction=1: _reduced(
        torch.log1p(torch.exp(-self * target)), reduction
    ),
    "softplus.default": _softplus,
    "split.Tensor": _split,
    "squeeze.default": lambda self: aten.squeeze.dims(self, list(range(self.ndim))),
    "squeeze.dim": lambda self, dim: aten.squeeze.dims(self, [dim]),
    "stack.default": _stack,
    "std.correction": _std,
    "sum.default": lambda self, *, dtype=None: aten.sum.dim_IntList(self, [], dtype=dtype),
    "t.default": lambda self: torch.transpose(self, 0, 0 if self.ndim < 2 else 1),
    "tanh_backward.default": lambda grad_output, output: grad_output * (1 - output * output),
    "threshold.default": lambda self, threshold, value: where(self <= threshold, value, self),
    "threshold_backward.default": lambda grad_output, self, threshold: where(self <= threshold, 0, grad_output),
    "transpose.int": _transpose,
    "tril.default": _tril,
    "triu.default": _triu,
    "unbind.int": _unbind,
    "_unsafe_view.default": lambda self, size: self.view(size),
    "zero.default": _filled(0, like=True),
    "zeros.default": _filled(0),
    "zeros_like.default": _filled(0, like=True),
}
_MORE: dict[str, Callable[..., Any]] = {  # core operators, which PyTorch divides for those who ask
    "_log_softmax.default": _log_softmax,
    "_softmax.default": _softmax,
    "addmm.default": _addmm,
    "elu.default": _elu,
    "gelu.default": _gelu,
    "hardtanh.default": lambda self, min_val=-1, max_val=1: torch.clamp(self, min_val, max_val),
    "leaky_relu.default": lambda self, negative_slope=0.01: where(self > 0, self, self * negative_slope),
    "relu6.default": lambda self: torch.nn.functional.hardtanh(self, 0, 6),
}


def _overload(name: str) -> OpOverload:
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload)  # type: ignore[no-any-return]


decomposition_table: dict[OpOverload, Callable[..., Any]] = {_overload(n): f for n, f in (_CORE | _MORE).items()}


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> dict[OpOverload, Callable[..., Any]]:
    """The rows of operators; a packet stands for all of its overloads.

    >>> import wengert as torch
    >>> list(torch._decomp.get_decompositions([torch.ops.aten.addmm]))
    [<OpOverload(op='aten.addmm', overload='default')>]
    """
    asked = set(aten_ops)
    return {op: f for op, f in decomposition_table.items() if op in asked or op.overloadpacket in asked}


def core_aten_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """The rows of operators that are none of PyTorch's core ones.

    >>> import wengert as torch
    >>> torch.ops.aten.silu.default in torch._decomp.core_aten_decompositions()
    True
    """
    return {_overload(name): f for name, f in _CORE.items()}

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


# ---- the rows
_CORE: dict[str, Callable[..., Any]] = {
    "addcdiv.default": lambda self, tensor1, tensor2, *, value=1: self + tensor1 * value / tensor2,
    "addcmul.default": lambda self, tensor1, tensor2, *, value=1: self + tensor1 * value * tensor2,
    "clamp_max.default": lambda self, max: torch.clamp(self, max=max),
    "clamp_min.default": lambda self, min: torch.clamp(self, min=min),
    "deg2rad.default": lambda self: self * (math.pi / 180),
    "dot.default": lambda self, tensor: (self * tensor).sum(),
    "frac.default": lambda self: self - torch.trunc(self),
    "hardsigmoid.default": lambda self: torch.clamp(torch.clamp(self + 3, 0), max=6) / 6,
    "hardswish.default": lambda self: self * torch.clamp(torch.clamp(self + 3, 0), max=6) / 6,
    "huber_loss.default": _huber,
    "isneginf.default": lambda self: self == -math.inf,
    "isposinf.default": lambda self: self == math.inf,
    "masked_fill.Scalar": lambda self, mask, value: where(mask, float(value), self),
    "masked_fill.Tensor": lambda self, mask, value: where(mask, value, self),
    "mish.default": lambda self: self * torch.nn.functional.softplus(self).tanh(),
    "mse_loss.default": _mse,
    "mv.default": lambda self, vec: (self * vec).sum([1]),
    "rad2deg.default": lambda self: self * (180 / math.pi),
    "rsub.Scalar": lambda self, other, alpha=1: torch.sub(other, self, alpha=alpha),
    "rsub.Tensor": lambda self, other, *, alpha=1: torch.sub(other, self, alpha=alpha),
    "sigmoid_backward.default": lambda grad_output, output: grad_output * (output * (1 - output)),
    "silu.default": lambda self: self * torch.sigmoid(self),
    "silu_backward.default": _silu_backward,
    "smooth_l1_loss.default": _smooth_l1,
    "soft_margin_loss.default": lambda self, target, reduction=1: _reduced(
        torch.log1p(torch.exp(-self * target)), reduction
    ),
    "t.default": lambda self: torch.transpose(self, 0, 0 if self.ndim < 2 else 1),
    "tanh_backward.default": lambda grad_output, output: grad_output * (1 - output * output),
    "threshold.default": lambda self, threshold, value: where(self <= threshold, value, self),
    "threshold_backward.default": lambda grad_output, self, threshold: where(self <= threshold, 0, grad_output),
    "transpose.int": _transpose,
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

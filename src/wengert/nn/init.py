"""``torch.nn.init``: functions that fill a tensor with initial values in place, without recording, and return it.

The numbers are drawn from PyTorch's stream in PyTorch's order: a seeded program starts from the same parameters.
Sources: Glorot and Bengio 2010 (``xavier_*``), He et al. 2015 (``kaiming_*``), Saxe et al. 2013 (``orthogonal_``),
Martens 2010 (``sparse_``).

>>> import wengert as torch
>>> torch.nn.init.ones_(torch.empty(2))
tensor([1., 1.])
"""

from __future__ import annotations

import functools
import math
from typing import Any

import wengert as torch

from .._base.errors import warn
from .._base.exports import own_names
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from .._tensor_api.override_sites import add_function

_CONVOLUTIONS = [f"{name}{d}d" for name in ("conv", "conv_transpose") for d in (1, 2, 3)]
_GAINS: dict[str, float] = dict.fromkeys(("linear", "sigmoid", *_CONVOLUTIONS), 1)
_GAINS |= {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of the initial values that suits an activation function.

    >>> import wengert as torch
    >>> torch.nn.init.calculate_gain("leaky_relu", 1)
    1.0
    """
    gain = _GAINS.get(nonlinearity) if isinstance(nonlinearity, str) else None
    if gain is not None:
        return gain
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


# ---- plain fillings
@add_function
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform random numbers on [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


@add_function
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


@add_function
def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on the diagonal and zeros elsewhere."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.copy_(torch.eye(*tensor.shape, dtype=tensor.dtype))
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution such that it copies its input channels, in each group."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    outs = sizes[0] // groups
    middle = tuple(s // 2 for s in sizes[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(outs, sizes[1])):
                tensor[(group * outs + d, d, *middle)] = 1
    return tensor


# ---- truncated normals
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill with normal random numbers in [a, b]; numbers outside are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
        )
    with no_grad():
        if _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std) > 0.3:
            return _by_normals(tensor, mean, std, a, b, generator)
        return _by_uniforms(tensor, mean, std, a, b, generator)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _by_normals(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    if tensor.is_meta:
        return tensor
    low, high = (tensor.new_tensor(limit).item() for limit in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            break
        result = torch.where(outside, torch.empty_like(result).normal_(mean, std, generator=generator), result)
    if result is not tensor:
        tensor.copy_(result)
    return tensor


def _by_uniforms(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Rejection sampling from a uniform distribution, for intervals [a, b] that normal numbers rarely hit."""
    if tensor.is_meta:
        return tensor
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    candidates, chances = torch.empty_like(tensor), torch.empty_like(tensor)

    def refused() -> Tensor:
        candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return chances.uniform_(generator=generator).log_().gt(candidates)

    candidates.copy_(tensor.uniform_(a, b, generator=generator))
    pending = refused()
    result = tensor
    while pending.any():
        candidates.uniform_(a, b, generator=generator)
        result = torch.where(pending, candidates, result)
        again = refused()
        pending = torch.where(pending, again, pending)
    if result is not tensor:
        tensor.copy_(result)
    return tensor


# ---- by the number of inputs
def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    valid_modes = ["fan_in", "fan_out"]
    if mode not in valid_modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {valid_modes}")
    return _calculate_fan_in_and_fan_out(tensor)[valid_modes.index(mode)]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers on [-a, a], ``a = gain * sqrt(6 / (fan_in + fan_out))``."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers of standard deviation ``gain * sqrt(2 / (fan_in + fan_out))``."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return normal_(tensor, 0.0, std, generator)


@add_function
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with uniform numbers on [-b, b], ``b = gain * sqrt(3 / fan)``; ``a`` is the slope of the leaky ReLU."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with normal numbers of standard deviation ``gain / sqrt(fan)``; ``a`` is the slope of the leaky ReLU."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor: Tensor) -> bool:
    empty = 0 in tensor.shape
    if empty:
        warn("Initializing zero-element tensors is a no-op")
    return empty


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


# ---- matrices
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a random (semi-)orthogonal matrix; dimensions after the first are flattened."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    flat = tensor.new_empty((rows, tensor.numel() // rows)).normal_(0, 1, generator=generator)
    wide = flat.shape[0] < flat.shape[1]
    q, r = torch.linalg.qr(flat.t() if wide else flat)
    q = q * torch.diag(r, 0).sign()
    with no_grad():
        tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal numbers, except a fraction ``sparsity`` of zeros in each column."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[torch.randperm(rows)[:zeros], column] = 0
    return tensor


# ---- names until 0.4
def _deprecated(fn: Any) -> Any:
    old = fn.__name__[:-1]

    @functools.wraps(fn)
    def form(*args: Any, **kwargs: Any) -> Tensor:
        warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{fn.__name__}`.", FutureWarning)
        return fn(*args, **kwargs)

    form.__name__ = form.__qualname__ = old
    form.__doc__ = f"The name of ``{fn.__name__}`` until PyTorch 0.4."
    return form


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)


# Deprecated names of the same functions.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_
_no_grad_trunc_normal_ = trunc_normal_
_no_grad_fill_ = constant_

__all__ = own_names(globals())  # noqa: PLE0605

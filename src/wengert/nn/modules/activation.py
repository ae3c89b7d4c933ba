"""Activation functions as modules."""

from __future__ import annotations

import warnings
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from .. import functional as F
from ..init import constant_
from ..parameter import Parameter
from .attention import MultiheadAttention
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


def _comma_inplace(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""


class _Inplace(Module):
    """Base of activations whose only option is ``inplace``."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return "inplace=True" if self.inplace else ""


class ReLU(_Inplace):
    """``max(0, x)``.

    >>> import wengert as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``max(0, x)``."""
        return F.relu_(input) if self.inplace else torch.relu(input)


class SiLU(_Inplace):
    """``x * sigmoid(x)``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x * sigmoid(x)``."""
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """``x * tanh(softplus(x))``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x * tanh(softplus(x))``."""
        return F.mish(input, inplace=self.inplace)


class SELU(_Inplace):
    """The scaled exponential linear unit."""

    def forward(self, input: Tensor) -> Tensor:
        """``scale * elu(x, alpha)`` with the constants of Klambauer et al. 2017."""
        return F.selu(input, self.inplace)


class Hardsigmoid(Module):
    """``clamp(x / 6 + 1/2, 0, 1)``."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """``clamp(x / 6 + 1/2, 0, 1)``."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """``x * hardsigmoid(x)``."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """``x * hardsigmoid(x)``."""
        return F.hardswish(input, self.inplace)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``."""

    def forward(self, input: Tensor) -> Tensor:
        """``1 / (1 + exp(-x))``."""
        return torch.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """``tanh(x)``."""
        return torch.tanh(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))``."""

    def forward(self, input: Tensor) -> Tensor:
        """``log(sigmoid(x))``."""
        return F.logsigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x / (1 + |x|)``."""
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x - tanh(x)``."""
        return F.tanhshrink(input)


class Threshold(Module):
    """``x`` where it is above a threshold, else ``value``."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The input, with ``value`` at and below the threshold."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"threshold={self.threshold}, value={self.value}{_comma_inplace(self)}"


class RReLU(Module):
    """Leaky ReLU with slopes drawn from [lower, upper] in training mode, and their mean in eval mode."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """``x`` where positive, else a random slope times ``x``."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"lower={self.lower}, upper={self.upper}{_comma_inplace(self)}"


class Hardtanh(Module):
    """``clamp(x, min_val, max_val)``."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, new, given in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if given is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """``clamp(x, min_val, max_val)``."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"min_val={self.min_val}, max_val={self.max_val}{_comma_inplace(self)}"


class ReLU6(Hardtanh):
    """``clamp(x, 0, 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return "inplace=True" if self.inplace else ""


class _Alpha(Module):
    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        """The options."""
        return f"alpha={self.alpha}{_comma_inplace(self)}"


class ELU(_Alpha):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x`` where positive, else ``alpha * (exp(x) - 1)``."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""
        return F.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """``x`` times the normal distribution function at ``x``, which ``approximate="tanh"`` approximates with tanh."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """``x * Phi(x)``."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The approximation."""
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half along ``dim`` times the sigmoid of the second half."""

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """``a * sigmoid(b)`` of the halves."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class _Shrink(Module):
    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """The threshold."""
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """``x``, but 0 between -lambd and lambd."""

    def forward(self, input: Tensor) -> Tensor:
        """``x``, but 0 between -lambd and lambd."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """``x`` moved towards 0 by lambd, 0 between -lambd and lambd."""

    def forward(self, input: Tensor) -> Tensor:
        """``x`` moved towards 0 by lambd."""
        return F.softshrink(input, self.lambd)


class LeakyReLU(Module):
    """``x`` where positive, else ``negative_slope * x``."""

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """``x`` where positive, else ``negative_slope * x``."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"negative_slope={self.negative_slope}{_comma_inplace(self)}"


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` is above the threshold."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """``log(1 + exp(beta * x)) / beta``."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """Leaky ReLU with learned slopes: one for all channels, or ``num_parameters``, one per channel."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(torch.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to ``init``."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """``x`` where positive, else ``weight * x``."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"


class _OverDim(Module):
    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmin(_OverDim):
    """``softmax(-x)`` along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """``softmax(-x)`` along ``dim``."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_OverDim):
    """``exp(x)`` divided by its sum along ``dim``.

    >>> import wengert as torch
    >>> torch.nn.Softmax(dim=0)(torch.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``exp(x) / exp(x).sum(dim)``."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_OverDim):
    """The logarithm of ``softmax`` along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """``x - logsumexp(x)`` along ``dim``."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels at each position of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """``softmax`` over the channels."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)

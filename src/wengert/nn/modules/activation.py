"""Activation functions as modules."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._base.errors import warn
from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from ..init import constant_
from ..parameter import Parameter
from ._making import FunctionLayer
from .attention import MultiheadAttention as MultiheadAttention  # noqa: PLC0414  public here too
from .module import Module


class _Inplace(FunctionLayer, options="inplace"):
    """Base of activations whose only option is ``inplace``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_Inplace):
    """``max(0, x)``.

    >>> import wengert as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        if type(input) is Tensor:  # the shortest way; what traces sees PyTorch's call
            return F.relu_(input) if self.inplace else torch.relu(input)
        return F.relu(input, inplace=self.inplace)


class SiLU(_Inplace, function="silu"):
    """``x * sigmoid(x)``."""


class Mish(_Inplace, function="mish"):
    """``x * tanh(softplus(x))``."""


class SELU(_Inplace, function="selu"):
    """The scaled exponential linear unit."""


class Hardsigmoid(_Inplace, function="hardsigmoid", shown=""):
    """``clamp(x / 6 + 1/2, 0, 1)``."""


class Hardswish(_Inplace, function="hardswish", shown=""):
    """``x * hardsigmoid(x)``."""


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``."""

    def forward(self, input: Tensor) -> Tensor:
        return torch.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return torch.tanh(input)


class LogSigmoid(FunctionLayer, function="logsigmoid"):
    """``log(sigmoid(x))``."""


class Softsign(FunctionLayer, function="softsign"):
    """``x / (1 + |x|)``."""


class Tanhshrink(FunctionLayer, function="tanhshrink"):
    """``x - tanh(x)``."""


class Threshold(FunctionLayer, function="threshold", options="threshold value inplace"):
    """``x`` where it is above a threshold, else ``value``."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class RReLU(FunctionLayer, function="rrelu", options="lower upper training inplace", shown="lower upper inplace"):
    """Leaky ReLU with slopes drawn from [lower, upper] in training mode, and their mean in eval mode."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace


class Hardtanh(FunctionLayer, function="hardtanh", options="min_val max_val inplace"):
    """``clamp(x, min_val, max_val)``."""

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
                warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class ReLU6(Hardtanh, shown="inplace"):
    """``clamp(x, 0, 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class _Alpha(FunctionLayer, options="alpha inplace"):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace


class ELU(_Alpha, function="elu"):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""


class CELU(_Alpha, function="celu"):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``."""


class GELU(Module):
    """``x`` times the normal distribution function at ``x``, which ``approximate="tanh"`` approximates with tanh."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(FunctionLayer, function="glu", options="dim"):
    """The first half along ``dim`` times the sigmoid of the second half."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim


class _Shrink(FunctionLayer, options="lambd"):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink, function="hardshrink"):
    """``x``, but 0 between -lambd and lambd."""


class Softshrink(_Shrink, function="softshrink"):
    """``x`` moved towards 0 by lambd, 0 between -lambd and lambd."""


class LeakyReLU(
    FunctionLayer, function="leaky_relu", options="negative_slope inplace", constants="inplace negative_slope"
):
    """``x`` where positive, else ``negative_slope * x``."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace


class Softplus(FunctionLayer, function="softplus", options="beta threshold"):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` is above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold


class PReLU(FunctionLayer, options="num_parameters"):
    """Leaky ReLU with learned slopes: one for all channels, or ``num_parameters``, one per channel."""

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


class _OverDim(FunctionLayer, options="dim"):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(input, self.dim, _stacklevel=5)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)


class Softmin(_OverDim, function="softmin"):
    """``softmax(-x)`` along ``dim``."""


class Softmax(_OverDim, function="softmax"):
    """``exp(x)`` divided by its sum along ``dim``.

    >>> import wengert as torch
    >>> torch.nn.Softmax(dim=0)(torch.zeros(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """


class LogSoftmax(_OverDim, function="log_softmax"):
    """The logarithm of ``softmax`` along ``dim``."""


class Softmax2d(Module):
    """Softmax over the channels at each position of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


__all__ = [*own_names(globals()), "MultiheadAttention"]  # noqa: PLE0604

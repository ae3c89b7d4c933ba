"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

from ..._tape.tensor import Tensor
from .. import functional as F
from ..parameter import Parameter
from ._making import add_lazy_parameters, add_parameters, draw_by_inputs, init_within, listed
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Returns its input unchanged; the constructor accepts any arguments.

    >>> import wengert as torch
    >>> torch.nn.Identity(54, unused=True)(torch.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``x @ weight.T + bias``: (*, in_features) to (*, out_features).

    ``weight`` is (out_features, in_features). The initial values of weight and bias are uniform on
    ``[-1/sqrt(in_features), 1/sqrt(in_features)]``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Tensor
    bias: Parameter

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        shapes = {"weight": (out_features, in_features), "bias": out_features if bias else None}
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        draw_by_inputs(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        try:  # what __getattr__ would find, without its cost
            own = self._parameters
            return F.linear(input, own["weight"], own["bias"])
        except KeyError:  # replaced by a parametrization or by functional_call
            return F.linear(input, self.weight, self.bias)

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if cls.__getattr__ is not Module.__getattr__ and cls.forward is Linear.forward:
            cls.forward = _by_attributes

    def extra_repr(self) -> str:
        return f"{listed(self, 'in_features', 'out_features')}, bias={self.bias is not None}"


def _by_attributes(self: Linear, input: Tensor) -> Tensor:
    """``Linear.forward`` of a subclass with a ``__getattr__`` of its own, which must be asked."""
    return F.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    """``Linear``, under the class name that ``MultiheadAttention`` shows for its output projection."""


class Bilinear(Module):
    """``x1.T @ weight[k] @ x2 + bias[k]`` for each output k.

    (*, in1_features) and (*, in2_features) to (*, out_features).
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]
    weight: Tensor
    bias: Parameter

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        shapes = {"weight": (out_features, in1_features, in2_features), "bias": out_features if bias else None}
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        if self.in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={self.in1_features})")
        drawn = [p for p in (self.weight, self.bias) if p is not None]
        init_within(1 / math.sqrt(self.weight.size(1)), *drawn)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{listed(self, 'in1_features', 'in2_features', 'out_features')}, bias={self.bias is not None}"


class LazyLinear(LazyModuleMixin, Linear, becomes=Linear):
    """``Linear`` that takes ``in_features`` from its first input.

    >>> import wengert as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.ones(5, 3)).shape, layer
    (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        add_lazy_parameters(self, device, dtype, *(("weight", "bias") if bias else ("weight",)))

    def reset_parameters(self) -> None:
        """Draw new initial values if the shapes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the shapes from the first input."""
        found = input.shape[-1]
        if self.has_uninitialized_params():
            self.in_features = found
            self._materialize(weight=(self.out_features, found), bias=(self.out_features,))
        elif self.in_features == 0:  # the shapes came with a state dict
            if found != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {found} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = found

"""Normalisations that do not depend on the batch: layer, group, root mean square and local response."""

from __future__ import annotations

import numbers
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from .. import functional as F
from .. import init
from ._making import FunctionLayer, add_parameters, listed
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(FunctionLayer, function="local_response_norm", options="size alpha beta k"):
    """``x / (k + alpha * mean(x^2 of size neighbouring channels))^beta``. Source: Krizhevsky et al. 2012."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def extra_repr(self) -> str:
        return f"{self.size}, {listed(self, 'alpha', 'beta', 'k')}"


class CrossMapLRN2d(LocalResponseNorm):
    """The form of ``LocalResponseNorm`` that PyTorch inherited from Lua Torch, over (N, C, H, W).

    As in PyTorch, the windows have one channel too many from the middle on. The gradient is that of these windows;
    PyTorch's gradient is that of other windows.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        windows = torch.tensor(_lua_windows(input.size(1), self.size), dtype=input.dtype)
        sums = torch.matmul(windows, (input * input).flatten(2)).view_as(input)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta


def _lua_windows(channels: int, size: int) -> list[list[float]]:
    """The channels of each channel's sum, as Lua Torch's running sum has them."""
    half = int((size - 1) / 2 + 1)
    row = [float(c < half) for c in range(channels)]
    rows = [row]
    for c in range(1, channels):
        row = row.copy()
        if c < channels - half + 1:
            row[c + half - 1] += 1.0
        if c > half:
            row[c - half] -= 1.0
        rows.append(row)
    return rows


class _Affine(Module):
    """Base of normalisations with optional weights and biases, which start as ones and zeros."""

    weight: Any
    bias: Any

    def _make(self, shape: Any, affine: bool, bias: bool | None, device: Any, dtype: Any) -> None:
        """Register the parameters; ``bias=None``: the layer has no attribute ``bias``."""
        shapes = {"weight": shape if affine else None}
        if bias is not None:
            shapes["bias"] = shape if affine and bias else None
        add_parameters(self, device, dtype, **shapes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to ones and biases to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Normalise the last dimensions to mean 0 and variance 1, then ``* weight + bias``. Source: Ba et al. 2016.

    >>> import wengert as torch
    >>> torch.nn.LayerNorm(2)(torch.tensor([1., 3.]))
    tensor([-1.0000,  1.0000], grad_fn=<NativeLayerNormBackward0>)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._make(self.normalized_shape, elementwise_affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {listed(self, 'eps', 'elementwise_affine')}, bias={self.bias is not None}"


class GroupNorm(_Affine):
    """Normalise each group of channels of (N, C, *) to mean 0 and variance 1, then ``* weight + bias`` by channel."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make(num_channels, affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        sizes = f"{self.num_groups}, {self.num_channels}"
        return f"{sizes}, {listed(self, 'eps', 'affine')}, bias={self.bias is not None}"


class RMSNorm(_Affine):
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last dimensions. Source: Zhang and Sennrich 2019."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._make(self.normalized_shape, elementwise_affine, None, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {listed(self, 'eps', 'elementwise_affine')}"


def _shape(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, numbers.Integral) else tuple(value)  # type: ignore[return-value]

"""Padding layers. The padding is one number, or (left, right, top, bottom, front, back) for the layer's dimensions."""

from __future__ import annotations

from typing import Any

from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from ._making import FunctionLayer
from .utils import _ntuple


class _PadNd(FunctionLayer, options="padding"):
    _mode = ""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        low = self._dims + 1
        if input.dim() not in (low, low + 1):
            raise ValueError(f"expected {low}D or {low + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd, dims=1):
    """Adds the other end of (N, C, L) on each side."""


class CircularPad2d(_CircularPadNd, dims=2):
    """Adds the other end of (N, C, H, W) on each side."""


class CircularPad3d(_CircularPadNd, dims=3):
    """Adds the other end of (N, C, D, H, W) on each side."""


class _ConstantPadNd(_PadNd, options="padding value"):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    extra_repr = FunctionLayer.extra_repr


class ConstantPad1d(_ConstantPadNd, dims=1):
    """Adds a number on each side of the last dimension."""


class ConstantPad2d(_ConstantPadNd, dims=2):
    """Adds a number on each side of the last two dimensions."""


class ConstantPad3d(_ConstantPadNd, dims=3):
    """Adds a number on each side of the last three dimensions."""


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, dims=1):
    """Adds the reflection of (N, C, L) in its first and last element."""


class ReflectionPad2d(_ReflectionPadNd, dims=2):
    """Adds the reflection of (N, C, H, W) in its border."""


class ReflectionPad3d(_ReflectionPadNd, dims=3):
    """Adds the reflection of (N, C, D, H, W) in its border."""


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, dims=1):
    """Repeats the first and last element of (N, C, L)."""


class ReplicationPad2d(_ReplicationPadNd, dims=2):
    """Repeats the border of (N, C, H, W)."""


class ReplicationPad3d(_ReplicationPadNd, dims=3):
    """Repeats the border of (N, C, D, H, W)."""


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _PadNd.extra_repr


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """Adds zeros on each side of the last dimension."""


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """Adds zeros on each side of the last two dimensions.

    >>> import wengert as torch
    >>> torch.nn.ZeroPad2d((1, 0, 0, 0))(torch.ones(1, 1, 2))
    tensor([[[0., 1., 1.]]])
    """


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """Adds zeros on each side of the last three dimensions."""


__all__ = own_names(globals())  # noqa: PLE0605

"""``Unfold`` extracts the windows of an image; ``Fold`` sums windows to an image."""

from __future__ import annotations

from typing import Any

from ..._tape.tensor import Tensor
from .. import functional as F
from ._making import listed
from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """(N, C kh kw, L) to (N, C, *output_size): each window is added at its position."""

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The picture."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The options."""
        return listed(self, "output_size", "kernel_size", "dilation", "padding", "stride")


class Unfold(Module):
    """(N, C, H, W) to (N, C kh kw, L): the windows of a convolution, as columns.

    >>> import wengert as torch
    >>> torch.nn.Unfold(2)(torch.ones(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The windows."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The options."""
        return listed(self, "kernel_size", "dilation", "padding", "stride")

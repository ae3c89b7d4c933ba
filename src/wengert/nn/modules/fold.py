"""``Unfold`` extracts the windows of an image; ``Fold`` sums windows to an image."""

from __future__ import annotations

from typing import Any

from ._making import FunctionLayer

__all__ = ["Fold", "Unfold"]


class Fold(FunctionLayer, function="fold", options="output_size kernel_size dilation padding stride"):
    """(N, C kh kw, L) to (N, C, *output_size): each window is added at its position."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride


class Unfold(FunctionLayer, function="unfold", options="kernel_size dilation padding stride"):
    """(N, C, H, W) to (N, C kh kw, L): the windows of a convolution, as columns.

    >>> import wengert as torch
    >>> torch.nn.Unfold(2)(torch.ones(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

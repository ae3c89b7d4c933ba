"""``PixelShuffle`` and ``PixelUnshuffle``. Source: Shi et al. 2016."""

from __future__ import annotations

from ._making import FunctionLayer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(FunctionLayer, function="pixel_shuffle", options="upscale_factor"):
    """(*, C r^2, H, W) to (*, C, H r, W r): channels become pixels.

    >>> import wengert as torch
    >>> torch.nn.PixelShuffle(2)(torch.ones(1, 8, 3, 3)).shape
    torch.Size([1, 2, 6, 6])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor


class PixelUnshuffle(FunctionLayer, function="pixel_unshuffle", options="downscale_factor"):
    """(*, C, H r, W r) to (*, C r^2, H, W): pixels become channels."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

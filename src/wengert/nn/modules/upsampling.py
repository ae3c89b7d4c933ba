"""Upsampling layers."""

from __future__ import annotations

from typing import Any

from ..._tape.tensor import Tensor
from ._making import FunctionLayer

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


def _as_floats(factor: Any) -> Any:
    if isinstance(factor, tuple):
        return tuple(map(float, factor))
    return float(factor) if factor else None


class Upsample(
    FunctionLayer,
    function="interpolate",
    options="size scale_factor mode align_corners",
    named="recompute_scale_factor",
):
    """``interpolate`` as a module: to a size or by a factor; mode nearest, linear, bilinear, bicubic or trilinear.

    >>> import wengert as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1., 2.]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name, self.size, self.mode = type(self).__name__, size, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor
        self.scale_factor = _as_floats(scale_factor)

    def forward(self, input: Tensor) -> Tensor:
        return self._of(input)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self) -> str:
        what = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{what}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """``Upsample`` of images by repeating pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Bilinear ``Upsample`` of images with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)

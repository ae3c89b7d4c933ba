"""Pooling layers."""

from __future__ import annotations

from typing import Any

from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from ._making import FunctionLayer
from .utils import _ntuple


# ---- maximum
class _MaxPoolNd(
    FunctionLayer,
    options="kernel_size stride padding dilation",
    named="ceil_mode return_indices",
    shown="kernel_size stride padding dilation ceil_mode",
):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The largest element of each window; with ``return_indices`` also its index."""
        return self._of(input)


class MaxPool1d(_MaxPoolNd, function="max_pool1d"):
    """The largest element of each window of (N, C, L)."""


class MaxPool2d(_MaxPoolNd, function="max_pool2d"):
    """The largest element of each window of (N, C, H, W); the stride is the window's size by default.

    >>> import wengert as torch
    >>> torch.nn.MaxPool2d(2)(torch.arange(16.).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """


class MaxPool3d(_MaxPoolNd, function="max_pool3d"):
    """The largest element of each window of (N, C, D, H, W)."""


class _MaxUnpoolNd(FunctionLayer, options="kernel_size stride padding"):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        each = _ntuple(self._dims)
        self.kernel_size, self.padding = each(kernel_size), each(padding)
        self.stride = each(kernel_size if stride is None else stride)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:  # type: ignore[override]
        """Zeros, with the input's elements at ``indices``."""
        return getattr(F, self._function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd, function="max_unpool1d", dims=1):
    """Inverts ``MaxPool1d``: puts the maxima back at their indices, with zeros elsewhere."""


class MaxUnpool2d(_MaxUnpoolNd, function="max_unpool2d", dims=2):
    """Inverts ``MaxPool2d``: puts the maxima back at their indices, with zeros elsewhere."""


class MaxUnpool3d(_MaxUnpoolNd, function="max_unpool3d", dims=3):
    """Inverts ``MaxPool3d``: puts the maxima back at their indices, with zeros elsewhere."""


# ---- averages
class _AvgPoolNd(
    FunctionLayer, options="kernel_size stride padding ceil_mode count_include_pad", shown="kernel_size stride padding"
):
    def _set_options(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_pad: bool) -> None:
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride
        self.ceil_mode, self.count_include_pad = ceil_mode, count_pad


class AvgPool1d(_AvgPoolNd, function="avg_pool1d"):
    """The mean of each window of (N, C, L)."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        each = _ntuple(1)
        stride = each(kernel_size if stride is None else stride)
        self._set_options(each(kernel_size), stride, each(padding), ceil_mode, count_include_pad)


class _AvgPoolWithDivisor(
    _AvgPoolNd,
    options="kernel_size stride padding ceil_mode count_include_pad divisor_override",
    shown="kernel_size stride padding",
):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self._set_options(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class AvgPool2d(_AvgPoolWithDivisor, function="avg_pool2d"):
    """The mean of each window of (N, C, H, W)."""


class AvgPool3d(_AvgPoolWithDivisor, function="avg_pool3d"):
    """The mean of each window of (N, C, D, H, W)."""


# ---- other kinds of windows
class _FractionalMaxPoolNd(
    FunctionLayer,
    options="kernel_size output_size output_ratio return_indices",
    named="_random_samples",
    shown="",
    constants="kernel_size return_indices output_size output_ratio",
):
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name, each = f"FractionalMaxPool{self._dims}d", _ntuple(self._dims)
        sizes = each(kernel_size)
        if self._dims == 3 and any(k <= 0 for k in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = sizes
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = each(output_size) if output_size is not None else None
        self.output_ratio = each(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return self._of(input)


class FractionalMaxPool2d(_FractionalMaxPoolNd, function="fractional_max_pool2d", dims=2):
    """The maxima of windows at random positions, for a given output size. Source: Graham 2014."""


class FractionalMaxPool3d(_FractionalMaxPoolNd, function="fractional_max_pool3d", dims=3):
    """``FractionalMaxPool2d`` in three dimensions."""


class _LPPoolNd(FunctionLayer, options="norm_type kernel_size stride ceil_mode"):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd, function="lp_pool1d"):
    """The p-norm of each window of (N, C, L)."""


class LPPool2d(_LPPoolNd, function="lp_pool2d"):
    """The p-norm of each window of (N, C, H, W)."""


class LPPool3d(_LPPoolNd, function="lp_pool3d"):
    """The p-norm of each window of (N, C, D, H, W)."""


# ---- windows by output size
class _AdaptiveAvgPoolNd(FunctionLayer, options="output_size"):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class _AdaptiveMaxPoolNd(_AdaptiveAvgPoolNd, options="output_size return_indices", shown="output_size"):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima; with ``return_indices`` also their indices."""
        return super().forward(input)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function="adaptive_max_pool1d"):
    """The maxima of windows of (N, C, L) that give the output the requested size."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function="adaptive_max_pool2d"):
    """The maxima of windows of (N, C, H, W) that give the output the requested size; None keeps a size."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function="adaptive_max_pool3d"):
    """The maxima of windows of (N, C, D, H, W) that give the output the requested size; None keeps a size."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool1d"):
    """The means of windows of (N, C, L) that give the output the requested size."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool2d"):
    """The means of windows of (N, C, H, W) that give the output the requested size; None keeps a size.

    >>> import wengert as torch
    >>> torch.nn.AdaptiveAvgPool2d(1)(torch.ones(2, 3, 5, 7)).shape
    torch.Size([2, 3, 1, 1])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function="adaptive_avg_pool3d"):
    """The means of windows of (N, C, D, H, W) that give the output the requested size; None keeps a size."""


__all__ = own_names(globals())  # noqa: PLE0605

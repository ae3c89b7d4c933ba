"""Convolutions and transposed convolutions of one, two and three dimensions, and their lazy forms."""

from __future__ import annotations

from typing import Any

from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from ._making import FunctionLayer, add_lazy_parameters, add_parameters, draw_by_inputs, listed, unusual
from .lazy import LazyModuleMixin
from .utils import _ntuple, _reverse_repeat_tuple

_PADDINGS = {"same", "valid"}
_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(
    FunctionLayer,
    constants="stride padding dilation groups padding_mode output_padding in_channels out_channels kernel_size",
):
    """Base of all convolutions: options, parameters and their initial values."""

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: Any,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = kernel_size, stride, dilation
        self.padding, self.padding_mode = padding, padding_mode
        self.transposed, self.output_padding = transposed, output_padding
        self._reversed_padding_repeated_twice = _both_sides(padding, dilation, kernel_size)
        add_parameters(self, device, dtype, weight=self._weight_shape(), bias=out_channels if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        return (outer, inner // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        draw_by_inputs(self.weight, self.bias)

    def extra_repr(self) -> str:
        usual = {
            name: (value,) * len(getattr(self, name))
            for name, value in {"padding": 0, "dilation": 1, "output_padding": 0}.items()
        }
        return (
            f"{self.in_channels}, {self.out_channels}, {listed(self, 'kernel_size', 'stride')}"
            + unusual(self, **usual, groups=1)
            + (", bias=False" if self.bias is None else "")
            + unusual(self, padding_mode="zeros")
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check(ins: int, outs: int, stride: Any, padding: Any, groups: int, padding_mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if ins % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if outs % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in _PADDINGS:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {_PADDINGS}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _MODES:
        raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode='{padding_mode}'")


def _both_sides(padding: Any, dilation: Any, kernel_size: Any) -> Any:
    """The padding in the form of ``F.pad``: two numbers per dimension, the last dimension first."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    sides = []
    for d, k in zip(reversed(dilation), reversed(kernel_size), strict=True):
        total = d * (k - 1) if padding == "same" else 0
        sides += [total // 2, total - total // 2]
    return sides


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        each = _ntuple(self._dims)
        sides = padding if isinstance(padding, str) else each(padding)
        sizes = (each(kernel_size), each(stride), sides, each(dilation), False, each(0))
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device=device, dtype=dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        return getattr(F, self._function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """The cross-correlation of the input with the weight, plus the bias."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv, function="conv1d", dims=1):
    """Convolution over (N, C, L) or (C, L)."""


class Conv2d(_Conv, function="conv2d", dims=2):
    """Convolution over (N, C, H, W) or (C, H, W).

    ``kernel_size``, ``stride``, ``padding`` and ``dilation`` are numbers or pairs; ``padding`` may be ``"same"`` or
    ``"valid"``. ``groups`` divides input and output channels into groups that are convolved separately. ``weight`` is
    (out_channels, in_channels / groups, kernel height, kernel width).

    >>> import wengert as torch
    >>> torch.nn.Conv2d(3, 8, 3, padding=1)(torch.ones(2, 3, 5, 5)).shape
    torch.Size([2, 8, 5, 5])
    """


class Conv3d(_Conv, function="conv3d", dims=3):
    """Convolution over (N, C, D, H, W) or (C, D, H, W)."""


class _ConvTransposeNd(_ConvNd):
    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Any,
        padding: Any,
        kernel_size: Any,
        num_spatial_dims: int,
        dilation: Any = None,
    ) -> Any:
        """The padding that extends the smallest output to the requested size."""
        if output_size is None:
            return self.output_padding
        n = num_spatial_dims
        others = 2 if input.dim() == n + 2 else 1
        sizes = list(output_size)
        if len(sizes) == others + n:
            sizes = sizes[others:]
        if len(sizes) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {others + n} elements (got "
                f"{len(sizes)})"
            )
        dilation = dilation if dilation is not None else (1,) * n
        smallest = [
            (input.size(d + others) - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1
            for d in range(n)
        ]
        largest = [low + stride[d] - 1 for d, low in enumerate(smallest)]
        if any(not low <= size <= high for low, size, high in zip(smallest, sizes, largest, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} (for "
                f"an input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(sizes, smallest, strict=True)]


class _ConvTranspose(_ConvTransposeNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        each = _ntuple(self._dims)
        sizes = (each(kernel_size), each(stride), each(padding), each(dilation), True, each(output_padding))
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device=device, dtype=dtype)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """The transpose of the convolution with this weight; ``output_size`` chooses among the possible sizes."""
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for ConvTranspose{self._dims}d")
        added = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._dims, self.dilation
        )
        return getattr(F, self._function)(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTranspose, function="conv_transpose1d", dims=1):
    """Transposed convolution over (N, C, L) or (C, L)."""


class ConvTranspose2d(_ConvTranspose, function="conv_transpose2d", dims=2):
    """Transposed convolution over (N, C, H, W) or (C, H, W): the gradient of ``Conv2d`` with respect to its input.

    ``weight`` is (in_channels, out_channels / groups, kernel height, kernel width).

    >>> import wengert as torch
    >>> torch.nn.ConvTranspose2d(3, 8, 2, stride=2)(torch.ones(1, 3, 5, 5)).shape
    torch.Size([1, 8, 10, 10])
    """


class ConvTranspose3d(_ConvTranspose, function="conv_transpose3d", dims=3):
    """Transposed convolution over (N, C, D, H, W) or (C, D, H, W)."""


# ---- lazy
class _LazyConvXdMixin(LazyModuleMixin):
    """Base of convolutions that take ``in_channels`` from the first input."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        *args: Any,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        this: Any = self
        if len(args) > 4:  # bias is the fifth argument after the sizes, in both families
            bias = args[4]
            args = (*args[:4], False, *args[5:])
        else:
            kwargs["bias"] = False
        super().__init__(0, 0, kernel_size, *args, device=device, dtype=dtype, **kwargs)
        this.out_channels = out_channels
        add_lazy_parameters(self, device, dtype, *(("weight", "bias") if bias else ("weight",)))

    def reset_parameters(self) -> None:
        """Draw new initial values if the shapes are known."""
        this: Any = self
        if not self.has_uninitialized_params() and this.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the shapes from the first input."""
        this: Any = self
        if not self.has_uninitialized_params():
            return
        this.in_channels = self._get_in_channels(input)
        if this.in_channels % this.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self._materialize(weight=this._weight_shape(), bias=(this.out_channels,))

    def _get_in_channels(self, input: Tensor) -> int:
        unbatched = self._get_num_spatial_dims() + 1
        if input.dim() not in (unbatched, unbatched + 1):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {input.shape}"
            )
        return input.shape[input.dim() - unbatched]

    def _get_num_spatial_dims(self) -> int:
        return self._dims


class LazyConv1d(_LazyConvXdMixin, Conv1d, becomes=Conv1d):
    """``Conv1d`` that takes ``in_channels`` from its first input."""


class LazyConv2d(_LazyConvXdMixin, Conv2d, becomes=Conv2d):
    """``Conv2d`` that takes ``in_channels`` from its first input."""


class LazyConv3d(_LazyConvXdMixin, Conv3d, becomes=Conv3d):
    """``Conv3d`` that takes ``in_channels`` from its first input."""


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d, becomes=ConvTranspose1d):
    """``ConvTranspose1d`` that takes ``in_channels`` from its first input."""


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d, becomes=ConvTranspose2d):
    """``ConvTranspose2d`` that takes ``in_channels`` from its first input."""


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d, becomes=ConvTranspose3d):
    """``ConvTranspose3d`` that takes ``in_channels`` from its first input."""


__all__ = own_names(globals())  # noqa: PLE0605

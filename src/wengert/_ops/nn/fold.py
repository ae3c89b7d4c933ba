"""Images to columns and back (``unfold``, ``fold``), and channels to pixels and back (``pixel_shuffle``, ...).

The two operators of a pair are each other's transposes.
"""

from __future__ import annotations

import math
from typing import Any

from ..._arrays import intp
from ..._arrays.conv.columns import (
    FEW,
    few_places,
    out_size,
    padded,
    plain_folded,
    plain_unfolded,
    scatter_windows,
    windows,
)
from ..._arrays.layouts import channels_last
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.dims import as_int, remembered
from ..._kinds.linear import linear
from ..._kinds.slow_path import require
from ..._tape.tensor import Tensor

Ints = tuple[int, ...]


_SAMPLES = [((2, 3, 4), ((2, 2), (1, 1), (0, 0), (1, 1))), ((2, 2, 4, 5), ((2, 3), (1, 2), (1, 0), (2, 1)))]


def _columns_shape(shape: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    places = out_size(shape[-2:], kernel, stride, padding, dilation)
    return (*shape[:-3], shape[-3] * math.prod(kernel), math.prod(places))


@linear(
    transpose=lambda xp, g, self_shape, kernel_size, dilation, padding, stride: xp.col2im(
        g, tuple(self_shape[-2:]), kernel_size, dilation, padding, stride
    ),
    node="Im2ColBackward0",
    batch="shape",
    dtypes="fcb",
    samples=_SAMPLES,
)
def im2col(lib, self, kernel_size, dilation, padding, stride):
    """The windows of ``(*, C, H, W)`` as columns ``(*, C kh kw, places)``."""
    if 0 < self.size * math.prod(kernel_size) <= FEW and not any(padding):
        return intp.take(self, few_places(self.shape, kernel_size, dilation, stride))
    *lead, c, h, w = self.shape
    x = padded(self.reshape(math.prod(lead), c, h, w), padding)
    out = out_size(x.shape[2:], kernel_size, stride, (0, 0), dilation)
    shape = (*lead, c * math.prod(kernel_size), math.prod(out))
    if not self.size:
        return lib.zeros(shape, self.dtype)
    r = lib.ascontiguousarray(windows(x, 1, kernel_size, stride, dilation, out)).reshape(shape)
    return r if r.base is None or not lib.shares_memory(r, self) else r.copy()


@plain_body
def plain_im2col(lib, self, kernel_size, dilation, padding, stride):
    *lead, c, h, w = self.shape
    out = out_size((h, w), kernel_size, stride, padding, dilation)
    cols = plain_unfolded(lib, self, kernel_size, out, stride, padding, dilation)
    return cols.reshape(*lead, c * math.prod(kernel_size), math.prod(out))


@linear(
    transpose=lambda xp, g, output_size, kernel_size, dilation, padding, stride: xp.im2col(
        g, kernel_size, dilation, padding, stride
    ),
    node="Col2ImBackward0",
    batch="shape",
    dtypes="fcb",
    samples=[(_columns_shape(s, *p), (s[-2:], *p)) for s, p in _SAMPLES],
)
def col2im(lib, self, output_size, kernel_size, dilation, padding, stride):
    """Columns added up in the image whose windows they are."""
    *lead, rows, _ = self.shape
    c, samples = rows // math.prod(kernel_size), math.prod(lead)
    out = out_size(output_size, kernel_size, stride, padding, dilation)
    r = lib.zeros((samples, 1, c, *(n + 2 * p for n, p in zip(output_size, padding, strict=True))), self.dtype)
    if self.size:
        scatter_windows(r, self.reshape(samples, 1, c, *kernel_size, *out), stride, dilation)
    inside = (slice(p, p + n) for n, p in zip(output_size, padding, strict=True))
    return lib.ascontiguousarray(r[(..., *inside)]).reshape(*lead, c, *output_size)


@plain_body
def plain_col2im(lib, self, output_size, kernel_size, dilation, padding, stride):
    *lead, rows, _ = self.shape
    out = out_size(output_size, kernel_size, stride, padding, dilation)
    cols = self.reshape(*lead, rows // math.prod(kernel_size), *kernel_size, *out)
    return plain_folded(lib, cols, output_size, stride, padding, dilation)


@linear(
    layout=channels_last,
    transpose=lambda xp, g, upscale_factor: xp.pixels_to_channels(g, upscale_factor),
    node="PixelShuffleBackward0",
    batch="shape",
    samples=[((8, 2, 3), (2,)), ((1, 9, 1, 2), (3,))],
)
def channels_to_pixels(lib, self, upscale_factor):
    """``(*, C r r, H, W)`` as ``(*, C, H r, W r)``."""
    *lead, c, h, w = self.shape
    r, k = upscale_factor, len(lead)
    x = self.reshape(*lead, c // (r * r), r, r, h, w)
    order = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
    return x.transpose(order).copy().reshape(*lead, c // (r * r), h * r, w * r)


@linear(
    layout=channels_last,
    transpose=lambda xp, g, downscale_factor: xp.channels_to_pixels(g, downscale_factor),
    node="PixelUnshuffleBackward0",
    batch="shape",
    samples=[((2, 4, 6), (2,)), ((1, 1, 3, 6), (3,))],
)
def pixels_to_channels(lib, self, downscale_factor):
    """``(*, C, H r, W r)`` as ``(*, C r r, H, W)``."""
    *lead, c, h, w = self.shape
    r, k = downscale_factor, len(lead)
    x = self.reshape(*lead, c, h // r, r, w // r, r)
    order = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return x.transpose(order).copy().reshape(*lead, c * r * r, h // r, w // r)


@linear(
    layout=channels_last,
    transpose=lambda xp, g, groups: xp.shuffled_channels(g, g.shape[1] // groups),
    node="ChannelShuffleBackward0",
    batch=("fold", 1),
    samples=[((2, 6, 2), (3,)), ((1, 4, 2, 1), (4,))],
)
def shuffled_channels(lib, self, groups):
    """The channels of ``(N, C, *)``, taken in turn from each group."""
    n, c, *rest = self.shape
    return self.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).copy().reshape(self.shape)


# ---- public functions
def _pair(function: str, name: str, value: Any) -> Ints:
    if isinstance(value, (tuple, list)):
        if len(value) not in (1, 2):
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
        found = tuple(as_int(v, function, "tuple of ints", name, place) for place, v in enumerate(value, 1))
        return found if len(found) == 2 else found * 2
    return (as_int(value, function, "tuple of ints", name),) * 2


def _geometry(
    function: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Ints, Ints, Ints, Ints]:
    kernel, dilation = _pair(function, "kernel_size", kernel_size), _pair(function, "dilation", dilation)
    padding, stride = _pair(function, "padding", padding), _pair(function, "stride", stride)
    for name, values in (("kernel size", kernel), ("dilation", dilation), ("stride", stride)):
        if min(values) <= 0:
            word = name.split()[0]
            raise RuntimeError(
                f"{name} should be greater than zero, but got {word}_height: {values[0]} {word}_width: {values[1]}"
            )
    if min(padding) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got padding_height: {padding[0]} padding_width: {padding[1]}"
        )
    return kernel, dilation, padding, stride


def _text(values: Ints) -> str:
    return f"({values[0]}, {values[1]})"


@remembered(1)
def _unfolding(
    shape: Ints, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Ints, Ints, Ints, Ints]:
    """The geometry of ``unfold`` for images of a shape. Raises PyTorch's errors."""
    kernel, dilation, padding, stride = geometry = _geometry("im2col", kernel_size, dilation, padding, stride)
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    places = out_size(shape[-2:], kernel, stride, padding, dilation)
    if min(places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {_text(shape[-2:])}, kernel_size={_text(kernel)}, "
            f"dilation={_text(dilation)}, padding={_text(padding)}, calculated shape of the array of sliding blocks "
            f"as {_text(places)}, but its components must be at least one."
        )
    return geometry


@public("nn.functional.unfold")
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images ``(N, C, H, W)`` as columns: ``(N, C * kernel elements, windows)``.

    >>> torch.nn.functional.unfold(torch.arange(9.).view(1, 1, 3, 3), 2).shape
    torch.Size([1, 4, 4])
    """
    shape = tuple(input._payload.shape)
    geometry = _unfolding(shape, kernel_size, dilation, padding, stride)
    require(input, "fhcb", "im2col_out_cpu")
    return TENSORS.im2col(input, *geometry)


@public("nn.functional.fold")
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns ``(N, C * kernel elements, windows)`` added up in images ``(N, C, *output_size)``.

    The transpose of ``unfold``.

    >>> torch.nn.functional.fold(torch.ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    size = _pair("col2im", "output_size", output_size)
    kernel, dilation, padding, stride = geometry = _geometry("col2im", kernel_size, dilation, padding, stride)
    shape = tuple(input._payload.shape)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    d = len(shape) - 2
    if shape[d] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[d]} and kernel_size={_text(kernel)}."
        )
    places = out_size(size, kernel, stride, padding, dilation)
    given = (
        f"Given output_size={_text(size)}, kernel_size={_text(kernel)}, dilation={_text(dilation)}, "
        f"padding={_text(padding)}, stride={_text(stride)}, "
    )
    if shape[d + 1] != math.prod(places):
        raise RuntimeError(
            given
            + f"expected size of input's dimension 2 to match the calculated number of sliding blocks {places[0]} * "
            f"{places[1]} = {math.prod(places)}, but got input.size(2)={shape[d + 1]}."
        )
    require(input, "fhcb", "col2im_out_cpu")
    return TENSORS.col2im(input, size, *geometry)


def _check_pixels(name: str, input: Any, factor: int, word: str) -> None:
    rank = input._payload.ndim
    if rank < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {rank} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {word}, but got {factor}")


@public("torch.pixel_shuffle nn.functional.pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """``(*, C r r, H, W)`` rearranged to ``(*, C, H r, W r)``: r x r channels become r x r pixels.

    >>> torch.pixel_shuffle(torch.arange(4).view(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    _check_pixels("pixel_shuffle", input, upscale_factor, "upscale_factor")
    c = input._payload.shape[-3]
    if c % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={c} is not divisible by {upscale_factor**2}"
        )
    return TENSORS.channels_to_pixels(input, upscale_factor)


@public("torch.pixel_unshuffle nn.functional.pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """``(*, C, H r, W r)`` rearranged to ``(*, C r r, H, W)``: the inverse of ``pixel_shuffle``.

    >>> torch.pixel_unshuffle(torch.arange(4).view(1, 2, 2), 2).flatten()
    tensor([0, 1, 2, 3])
    """
    _check_pixels("pixel_unshuffle", input, downscale_factor, "downscale_factor")
    for name, d in (("height", -2), ("width", -1)):
        n = input._payload.shape[d]
        if n % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={n} is not "
                f"divisible by {downscale_factor}"
            )
    return TENSORS.pixels_to_channels(input, downscale_factor)


@public(
    "torch.channel_shuffle nn.functional.channel_shuffle",
    "torch.native_channel_shuffle nn.functional.native_channel_shuffle",
)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of ``(N, C, *)`` taken in turn from each of ``groups`` groups.

    >>> torch.channel_shuffle(torch.arange(4).view(1, 4, 1, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    shape = tuple(input._payload.shape)
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError("Number of groups to divide channels in must be positive. Value of groups:" + str(groups))
    c = shape[1]
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    return TENSORS.shuffled_channels(input, groups)

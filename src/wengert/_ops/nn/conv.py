"""Convolution in one to three dimensions, and its transpose.

Convolution is linear in its input and in its weight. It is closed with its two transposes: the derivatives of each of
the three products are the other two, so derivatives of any order need nothing else. The arithmetic is in ``columns``.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..._arrays.conv import columns, products
from ..._arrays.layouts import as_channels_of, convolved
from ..._arrays.library import in_lib
from ..._base.dtypes import INEXACT
from ..._base.errors import noted, warn
from ..._base.registry import REGISTRY, TENSORS, plain, public
from ..._kinds.dims import as_int, remembered
from ..._kinds.linear import affine, bilinear
from ..._kinds.slow_path import require
from ..._tape.error_text import cpp_name, expect_tensors, two_dtypes
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..linalg.matmul import dtype_name
from .conv_checks import Ints, check_elements, check_positive, check_ranks

_LONG_ROWS = 128  # places from which adding them up alone is faster than adding them up together with the samples


# ---- primitives
def _wide(product: Any, x: Any, y: Any, *p: Any) -> Any:
    """A product of two arrays; half precision is computed in float32."""
    if x.dtype.itemsize != 2 or x.dtype.kind not in "fV":
        return product(x, y, *p)
    return product(x.astype(np.float32), y.astype(np.float32), *p).astype(x.dtype)


@in_lib
def conv_forward(x: Any, w: Any, bias: Any, *p: Any) -> Any:
    """``products.convolve``."""
    return products.convolve(x, w, *p, bias) if x.dtype.itemsize > 2 else _wide(products.convolve, x, w, *p, bias)


in_lib(functools.partial(_wide, products.convolve_input), "conv_back")
in_lib(functools.partial(_wide, products.convolve_weight), "conv_filters")


@plain
def plain_conv_forward(
    lib: Any, x: Any, w: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    out = columns.out_size(x.shape[2:], w.shape[2:], stride, padding, dilation)
    r = lib.matmul(_filters(w, groups), _plain_columns(lib, x, w.shape[2:], out, stride, padding, dilation, groups))
    r = r.reshape(len(x), len(w), *out)
    return r if bias is None else r + bias.reshape(-1, *(1,) * len(out))


@plain
def plain_conv_back(
    lib: Any, g: Any, w: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    cols = lib.matmul(_filters(w, groups).swapaxes(-1, -2), g.reshape(len(g), groups, len(w) // groups, -1))
    cols = cols.reshape(len(g), groups * w.shape[1], *w.shape[2:], *g.shape[2:])
    return columns.plain_folded(lib, cols, size, stride, padding, dilation)


@plain
def plain_conv_filters(
    lib: Any, x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    cols = _plain_columns(lib, x, kernel, g.shape[2:], stride, padding, dilation, groups)
    r = lib.matmul(g.reshape(len(g), groups, g.shape[1] // groups, -1), cols.swapaxes(-1, -2)).sum(0)
    return r.reshape(g.shape[1], -1, *kernel)


def _filters(w: Any, groups: int) -> Any:
    return w.reshape(groups, len(w) // groups, -1)


def _plain_columns(
    lib: Any, x: Any, kernel: Ints, out: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Any:
    """The columns ``(N, G, C kernel, places)``."""
    return columns.plain_unfolded(lib, x, kernel, out, stride, padding, dilation).reshape(
        len(x), groups, x.shape[1] // groups * math.prod(kernel), -1
    )


def _into_channels(U: Any, t: Any) -> Any:
    """Vmap's dimension in front of the channels: ``(B, N, C, ...)`` to ``(N, B C, ...)``."""
    b, n, c, *size = t.shape
    order = (1, 0, *range(2, t.ndim))
    return U.reshape(U.permute(t, order), (n, b * c, *size))


def _from_channels(U: Any, t: Any, b: int) -> Any:
    n, c, *size = t.shape
    return U.permute(U.reshape(t, (n, b, c // b, *size)), (1, 0, *range(2, t.ndim + 1)))


def _many(U: Any, t: Any, many: bool, size: int) -> Any:
    return t if many else U.expand(t, (size, *t.shape))


def _joined(U: Any, w: Any) -> Any:
    """The filters of all elements of the batch, one after the other, as additional groups."""
    return U.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))


def _conv_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, w, b = inner
    size = next(v.shape[0] for v, m in zip(inner, mine, strict=True) if m)
    *geometry, groups = p
    f = getattr(U, info.name)
    if not mine[1]:
        x = _many(U, x, mine[0], size)
        r = f(U.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])), w, None if mine[2] else b, *p)
        r = U.reshape(r, (size, r.shape[0] // size, *r.shape[1:]))
        if not mine[2]:
            return r
    else:
        x = _into_channels(U, _many(U, x, mine[0], size))
        r = _from_channels(U, f(x, _joined(U, w), None, *geometry, groups * size), size)
    if b is None:
        return r
    ones = (1,) * (r.ndim - 3)
    return r + U.reshape(b, (size, 1, b.shape[1], *ones) if mine[2] else (b.shape[0], *ones))


def _back_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    g, w = inner
    *geometry, groups = p
    size = (g if mine[0] else w).shape[0]
    if not mine[1]:
        r = U.conv_input(U.reshape(g, (g.shape[0] * g.shape[1], *g.shape[2:])), w, *p)
        return U.reshape(r, (size, r.shape[0] // size, *r.shape[1:]))
    g = _into_channels(U, _many(U, g, mine[0], size))
    return _from_channels(U, U.conv_input(g, _joined(U, w), *geometry, groups * size), size)


def _filters_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, g = inner
    *geometry, groups = p
    size = (x if mine[0] else g).shape[0]
    x, g = (_into_channels(U, _many(U, t, m, size)) for t, m in zip(inner, mine, strict=True))
    r = U.conv_weight(x, g, *geometry, groups * size)
    return U.reshape(r, (size, r.shape[0] // size, *r.shape[1:]))


def _bias_cotangent(xp: Any, g: Any, shape: Any, *p: Any) -> Any:
    n, c = g.shape[:2]
    places = math.prod(g.shape[2:])
    if places < _LONG_ROWS:
        return xp.sum_dim(xp.reshape(g, (n, c, places)), (0, 2), False)
    rows = xp.sum_dim(xp.reshape(g, (n * c, places)), (1,), False)
    return xp.sum_dim(xp.reshape(rows, (n, c)), (0,), False)


def _bias_spread(xp: Any, t: Any, shape: Any, *p: Any) -> Any:
    return xp.expand(xp.reshape(t, (t.shape[0], *(1,) * (len(shape) - 2))), shape)


def _places(xp: Any, r: Any, like: Any) -> Any:
    """The places that a product used; more would fit if the output padding is larger than the stride."""
    extra = [n - m for n, m in zip(r.shape[2:], like.shape[2:], strict=True)]
    if not any(extra):
        return r
    return xp.constant_pad_nd(r, tuple(n for e in reversed(extra) for n in (0, -e)), 0)


def _type_name(t: Any) -> str:
    """A tensor's type as PyTorch's convolutions name it."""
    name = dtype_name(t)
    return f"CPU{name}Type" if name.startswith(("BFloat", "Complex")) else f"torch.{name}Tensor"


def _refuse_dtypes(info: Any, x: Any, w: Any, b: Any = None, *p: Any) -> Any:
    if b is None or "transpose" in info.name:
        kind = logical_dtype(x)
        if kind.kind == "c" or (kind.itemsize == 2 and kind.kind in "fV"):  # PyTorch has no kernel of its own for them
            dense = "" if kind.kind == "c" else " or input should be a MKLDNN tensor and weight is a dense tensor"
            types = f"Input type ({_type_name(x)}) and weight type ({_type_name(w)})"
            raise two_dtypes(f"{types} should be the same{dense}")
        raise two_dtypes(f"expected scalar type {dtype_name(x)} but found {dtype_name(w)}")
    raise two_dtypes(f"Input type ({cpp_name(x)}) and bias type ({cpp_name(b)}) should be the same")


def _channels_last(x: Any, wanted: int) -> str:
    if x[-1] == wanted and len(x) == 4:
        return "What to do: images of NumPy have their channels last: x.permute(0, 3, 1, 2) moves them."
    return f"What to do: give the layer in_channels={x[1]}, or an input with {wanted} channels."


def _reraise(error: Exception, *rest: Any) -> Any:
    raise error


# shapes of an input and a weight, then stride, padding, dilation, groups
_GEOMETRIES: list[tuple[Any, ...]] = [
    ((2, 2, 5), (3, 2, 3), (1,), (0,), (1,), 1),
    ((2, 2, 5), (2, 1, 2), (2,), (1,), (2,), 2),
    ((2, 2, 4, 5), (4, 2, 2, 3), (1, 2), (1, 0), (2, 1), 1),
    ((1, 4, 4, 4), (4, 2, 3, 2), (2, 1), (0, 1), (1, 1), 2),
    ((2, 3, 3, 3), (2, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 2, 3, 3, 3), (2, 2, 2, 2, 1), (1, 1, 2), (0, 1, 0), (1, 1, 1), 1),
    ((2, 3, 4, 4), (3, 1, 2, 2), (1, 2), (1, 1), (2, 1), 3),
    ((1, 2, 10, 12), (2, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
]


def _out(x: Ints, w: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    return (x[0], w[0], *columns.out_size(x[2:], w[2:], stride, padding, dilation))


def _as_images_of(r: Any, input: Any, weight: Any) -> Any:
    """A cotangent in PyTorch's layout: it makes a sequence row-major first, so that only the weight's order counts."""
    return as_channels_of(r, *((weight,) if weight.ndim == 3 else (input, weight)), sequences=True)


@affine(
    layout=convolved,
    first=lambda xp, g, input, weight, stride, padding, dilation, groups: _as_images_of(
        xp.conv_input(g, weight, tuple(input.shape[2:]), stride, padding, dilation, groups), input, weight
    ),
    second=lambda xp, g, input, weight, stride, padding, dilation, groups: _as_images_of(
        xp.conv_weight(input, g, tuple(weight.shape[2:]), stride, padding, dilation, groups), input, weight
    ),
    added=_bias_cotangent,
    spread=_bias_spread,
    node="ConvolutionBackward0",
    libname="conv_forward",
    refuse_mixed=_refuse_dtypes,
    refuse_shapes=_reraise,
    batch=_conv_batch,
    dtypes="fci",
    samples=[(x, w, b, tuple(p)) for x, w, *p in _GEOMETRIES for b in (None, (w[0],))],
)
def convolution(input, weight, bias, stride, padding, dilation, groups):
    """Convolution (cross-correlation) with zero padding, plus a bias for each channel."""


@bilinear(
    self=lambda xp, h, g, weight, size, stride, padding, dilation, groups: _places(
        xp, xp.convolution(h, weight, None, stride, padding, dilation, groups), g
    ),
    other=lambda xp, h, g, weight, size, stride, padding, dilation, groups: xp.conv_weight(
        h, g, tuple(weight.shape[2:]), stride, padding, dilation, groups
    ),
    libname="conv_back",
    node="ConvolutionBackwardBackward0",
    refuse_mixed=_refuse_dtypes,
    batch=_back_batch,
    dtypes="fci",
    samples=[(_out(x, w, *p[:3]), w, (x[2:], *p)) for x, w, *p in _GEOMETRIES],
)
def conv_input(g, weight, size, stride, padding, dilation, groups):
    """The transpose of ``convolution`` in its input of ``size``."""


@bilinear(
    self=lambda xp, h, input, g, kernel, stride, padding, dilation, groups: xp.conv_input(
        g, h, tuple(input.shape[2:]), stride, padding, dilation, groups
    ),
    other=lambda xp, h, input, g, kernel, stride, padding, dilation, groups: _places(
        xp, xp.convolution(input, h, None, stride, padding, dilation, groups), g
    ),
    libname="conv_filters",
    node="ConvolutionBackwardBackward0",
    refuse_mixed=_refuse_dtypes,
    batch=_filters_batch,
    dtypes="fci",
    samples=[(x, _out(x, w, *p[:3]), (w[2:], *p)) for x, w, *p in _GEOMETRIES],
)
def conv_weight(input, g, kernel, stride, padding, dilation, groups):
    """The transpose of ``convolution`` in its weight, whose windows are of size ``kernel``."""


@affine(
    layout=convolved,
    first=lambda xp, g, input, weight, size, stride, padding, dilation, groups: _as_images_of(
        _places(xp, xp.convolution(g, weight, None, stride, padding, dilation, groups), input), input, weight
    ),
    second=lambda xp, g, input, weight, size, stride, padding, dilation, groups: _as_images_of(
        xp.conv_weight(g, input, tuple(weight.shape[2:]), stride, padding, dilation, groups), input, weight
    ),
    added=_bias_cotangent,
    spread=_bias_spread,
    node="ConvolutionBackward0",
    refuse_mixed=_refuse_dtypes,
    refuse_shapes=_reraise,
    batch=_conv_batch,
    dtypes="fci",
    samples=[(_out(x, w, *p[:3]), w, b, (x[2:], *p)) for x, w, *p in _GEOMETRIES for b in (None, (w[1] * p[3],))]
    + [((1, 2, 3), (2, 1, 2), None, ((7,), (1,), (0,), (3,), 1))],
)
def convolution_transposed(lib, input, weight, bias, size, stride, padding, dilation, groups):
    """``conv_input`` as a layer: every element spreads the filter over the output of ``size``; plus a bias."""
    r = lib.ascontiguousarray(lib.conv_back(input, weight, size, stride, padding, dilation, groups))
    if bias is not None:
        r += bias.reshape(-1, *(1,) * (r.ndim - 2))
    return r


# ---- public functions
def per_dim(name: str, value: Any, k: int) -> Ints:
    """A geometry argument as a number for each dimension."""
    if isinstance(value, (tuple, list)):
        found = tuple(as_int(v, name, at=place) for place, v in enumerate(value, 1))
        if len(found) == 1:
            return found * k
        if len(found) != k:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {k} values to match the convolution "
                f"dimensions, but got {name}={list(found)}"
            )
        return found
    return (as_int(value, name),) * k


def _check_channels(
    x: Ints, w: Ints, bias: Ints | None, groups: int, dtype: Any, transposed: bool, dilation: Ints
) -> None:
    """Raise PyTorch's errors about channels, groups and the input's dtype."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(w)} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{list(w)}] instead"
        )
    wanted = w[0] if transposed else w[1] * groups
    if x[1] != wanted:
        given = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
        raise noted(
            RuntimeError(
                f"Given {given}, weight of size {list(w)}, expected input{list(x)} to have {wanted} channels, but got "
                f"{x[1]} channels instead"
            ),
            "Why: the input of a convolution is (batch, channels, height, width): dim 1 counts the channels.",
            _channels_last(x, wanted),
            code="W020",
        )
    out = w[1] * groups if transposed else w[0]
    if bias is not None and bias != (out,):
        start = "Given transposed=1, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {list(w)}, expected bias to be 1-dimensional with {out} elements, but got bias of size "
            f"{list(bias)} instead"
        )
    dilated = not transposed and max(dilation) > 1
    if isinstance(dtype, np.dtype) and dtype not in INEXACT and (transposed or dilated or dtype.kind == "b"):
        k = max(len(x) - 2, 2)
        kernel = f"slow_conv_transpose{k}d_out_cpu" if transposed else f"slow_conv{k}d_cpu"
        if k == 3 and not transposed and w[2:] != (1, 1, 1):
            kernel = "compute_columns3d"
        if dilated:
            kernel = "slow_conv_dilated<>"
        require(wrap(np.zeros((), dtype)), "fhcl", kernel)


def _known(geometry: Any) -> Any:
    """The function ``geometry`` of ``(k, input, weight, bias, ...)``, which are tensors for the caller and shapes for
    ``geometry``, with its latest results kept."""
    kept = remembered(5)(geometry)

    def of_tensors(name: str, k: int, input: Any, weight: Any, bias: Any, *given: Any) -> Any:
        try:
            x, w, b = input._payload, weight._payload.shape, None if bias is None else bias._payload.shape
        except AttributeError:
            return expect_tensors(f"{name}{k}d", input=input, weight=weight)
        try:
            return kept(k, x.shape, w, b, x.dtype, *given)
        except RuntimeError:
            if b is not None and name == "conv" and logical_dtype(input) is not logical_dtype(bias):
                _refuse_dtypes(REGISTRY["convolution"], input, weight, bias)  # PyTorch looks at them first
            raise

    return of_tensors


def _same(stride: Ints, dilation: Ints, kernel: Ints) -> tuple[Ints, Ints]:
    """The padding for "same", and the zeros with which the input is padded first where one side has one more."""
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (n - 1) for d, n in zip(dilation, kernel, strict=True)]
    first = tuple(n for t in reversed(total) for n in (0, t % 2))
    return tuple(t // 2 for t in total), first if any(first) else ()


@_known
def _geometry(
    k: int, x: Ints, w: Ints, bias: Any, dtype: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Ints, tuple[Any, ...]]:
    """The zeros with which the input is padded first, and the parameters of ``convolution``."""
    check_ranks(f"conv{k}d", k, x, w, padding)
    x = x if len(x) == k + 2 else (1, *x)
    stride, dilation = per_dim("stride", stride, k), per_dim("dilation", dilation, k)
    kernel = w[2:]
    first: Ints = ()
    if padding == "same":
        padding, first = _same(stride, dilation, kernel)
        x = (*x[:2], *(n + extra for n, extra in zip(x[2:], first[::-2], strict=False))) if first else x
    elif isinstance(padding, str) and padding != "valid":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    else:
        padding = per_dim("padding", 0 if padding == "valid" else padding, k)
    check_positive(stride, padding, dilation)
    _check_channels(x, w, bias, groups, dtype, False, dilation)
    size = tuple(n + 2 * p for n, p in zip(x[2:], padding, strict=True))
    reach = tuple(d * (n - 1) + 1 for d, n in zip(dilation, kernel, strict=True))
    if any(r > n for r, n in zip(reach, size, strict=True)):
        sizes, kernels = (" x ".join(map(str, s)) for s in (size, reach))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes}). Kernel size: ({kernels}). Kernel size can't be "
            "greater than actual input size"
        )
    check_elements(x)
    return first, (stride, padding, dilation, groups)


def _convolve(k: int, input: Any, weight: Any, bias: Any, *given: Any) -> Any:
    first, parameters = _geometry("conv", k, input, weight, bias, *given)
    if not first and input._payload.ndim == k + 2:
        return TENSORS.convolution(input, weight, bias, *parameters)
    if first:
        warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created",
        )
        input = TENSORS.constant_pad_nd(input, first, 0)
    return _batched(k, TENSORS.convolution, input, weight, bias, parameters)


def _batched(k: int, operator: Any, input: Any, weight: Any, bias: Any, parameters: Any) -> Any:
    """The operator's result; an input without a batch dimension gets one for it."""
    if input._payload.ndim != k + 1:
        return operator(input, weight, bias, *parameters)
    return TENSORS.squeeze_dim(operator(TENSORS.unsqueeze_dim(input, 0), weight, bias, *parameters), 0)


def _convolution_in(k: int, doc: str) -> Any:
    """``conv1d``, ``conv2d`` or ``conv3d``."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolve(k, input, weight, bias, stride, padding, dilation, groups)

    conv.__doc__ = doc
    return public(f"torch.conv{k}d nn.functional.conv{k}d")(conv)


conv1d = _convolution_in(
    1, "Convolution of signals ``(N, C, L)`` or ``(C, L)`` with filters ``(O, C / groups, k)``; see ``conv2d``."
)
conv2d = _convolution_in(
    2,
    """Convolution (as a cross-correlation) of images ``(N, C, H, W)`` with filters ``(O, C / groups, kh, kw)``.

    ``padding``: zeros on each side, or "valid" (none) or "same" (the output has the input's size).

    >>> torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """,
)
conv3d = _convolution_in(
    3, "Convolution of volumes ``(N, C, D, H, W)`` with filters ``(O, C / groups, kd, kh, kw)``; see ``conv2d``."
)


@_known
def _transposed_geometry(
    k: int,
    x: Ints,
    w: Ints,
    bias: Any,
    dtype: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> tuple[Any, ...]:
    """The parameters of ``convolution_transposed``."""
    check_ranks(f"conv_transpose{k}d", k, x, w)
    x = x if len(x) == k + 2 else (1, *x)
    stride, padding = per_dim("stride", stride, k), per_dim("padding", padding, k)
    dilation, extra = per_dim("dilation", dilation, k), per_dim("output_padding", output_padding, k)
    check_positive(stride, padding, dilation)
    _check_channels(x, w, bias, groups, dtype, True, dilation)
    check_elements(x)
    if min(extra) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        words = ("depth", "height", "width")[3 - k :]
        listed = " ".join(
            f"{what}_{word}: {v}"
            for what, values in (("output_padding", extra), ("stride", stride), ("dilation", dilation))
            for word, v in zip(words, values, strict=True)
        )
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {listed}")
    size = tuple(
        (n - 1) * s - 2 * p + d * (m - 1) + e + 1
        for n, s, p, d, m, e in zip(x[2:], stride, padding, dilation, w[2:], extra, strict=True)
    )
    if min(size) <= 0:
        raise RuntimeError(
            f"Given input size per channel: {list(x[2:])}. Calculated output size per channel: {list(size)}. Output "
            "size is too small"
        )
    return size, stride, padding, dilation, groups


def _transposed(k: int, input: Any, weight: Any, bias: Any, *given: Any) -> Any:
    parameters = _transposed_geometry("conv_transpose", k, input, weight, bias, *given)
    return _batched(k, TENSORS.convolution_transposed, input, weight, bias, parameters)


def _transposed_in(k: int, doc: str) -> Any:
    """``conv_transpose1d``, ``conv_transpose2d`` or ``conv_transpose3d``."""

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        return _transposed(k, input, weight, bias, stride, padding, output_padding, groups, dilation)

    conv_transpose.__doc__ = doc
    return public(f"torch.conv_transpose{k}d nn.functional.conv_transpose{k}d")(conv_transpose)


_transposed_in(
    1, "The transpose of ``conv1d``: ``(N, C, L)`` with filters ``(C, O / groups, k)``; see ``conv_transpose2d``."
)
_transposed_in(
    2,
    """The transpose of ``conv2d`` of the same geometry: ``(N, C, H, W)`` with filters ``(C, O / groups, kh, kw)``.

    ``output_padding`` says which of the input sizes that ``conv2d`` takes to this one is meant.
    """,
)
_transposed_in(3, "The transpose of ``conv3d``; see ``conv_transpose2d``.")


@public("torch.convolution")
def any_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Tensor:
    """``conv1d`` to ``conv3d`` or their transposes, by the weight's rank.

    >>> x, w = torch.arange(4.).view(1, 1, 4), torch.ones(1, 1, 2)
    >>> torch.convolution(x, w, None, [1], [0], [1], False, [0], 1)
    tensor([[[1., 3., 5.]]])
    """
    k = weight._payload.ndim - 2
    if transposed:
        return _transposed(k, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolve(k, input, weight, bias, stride, padding, dilation, groups)

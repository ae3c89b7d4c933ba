"""Sliding windows over signals, images and volumes, and the products of convolution on NumPy arrays.

Each product is a GEMM on *columns*: the windows of the padded input, as a matrix with a row for each weight of a filter
and a column for each place that the filter visits. The windows are a strided view; they are copied into a buffer of a
bounded size, block after block, so that a block of columns is still in the cache when BLAS reads it.

Shapes: input ``(N, G C, *size)``, weight ``(G O, C, *kernel)``, output ``(N, G O, *out)`` with G groups of C input and
O output channels.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._blas import over_samples
from .._blocks import LARGE

Ints = tuple[int, ...]
_BLOCK = 1 << 20  # bytes of columns that are made at a time
_LIMIT = 1 << 21  # bytes of columns of one sample beyond which it is cut into rows
_FEW = 96  # with fewer places per sample than this, the places of many samples are one matrix


def out_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    """How many windows fit along each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def padded(x: Any, padding: Ints) -> Any:
    """Zeros around the last dimensions; contiguous."""
    if not any(padding):
        return np.ascontiguousarray(x)
    k = len(padding)
    shape = (*x.shape[:-k], *(n + 2 * p for n, p in zip(x.shape[-k:], padding, strict=True)))
    r: Any = np.zeros(shape, x.dtype)
    r[(..., *(slice(p, p + n) for n, p in zip(x.shape[-k:], padding, strict=True)))] = x
    return r


def windows(x: Any, groups: int, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """The view ``(N, G, C, *kernel, *out)`` of a contiguous ``(N, G C, *size)``."""
    n, channels = x.shape[:2]
    steps = x.strides
    return np.ndarray(
        (n, groups, channels // groups, *kernel, *out),
        x.dtype,
        x,
        0,
        (
            steps[0],
            steps[1] * (channels // groups),
            steps[1],
            *(s * d for s, d in zip(steps[2:], dilation, strict=True)),
            *(s * t for s, t in zip(steps[2:], stride, strict=True)),
        ),
    )


def _blocks(samples: int, out: Ints, row_bytes: int) -> Iterator[tuple[slice, slice]]:
    """Which samples and which first-dimension rows of the output to treat together."""
    whole = max(row_bytes * out[0], 1)
    count = max(1, _BLOCK // whole)
    rows = out[0] if whole <= _LIMIT else max(1, _BLOCK // row_bytes)
    for i in range(0, samples, count):
        for r in range(0, out[0], rows):
            yield slice(i, min(i + count, samples)), slice(r, min(r + rows, out[0]))


def _places_of(rows: slice, out: Ints) -> slice:
    """The places of some rows."""
    n = math.prod(out[1:])
    return slice(rows.start * n, rows.stop * n)


def _pointwise(kernel: Ints, stride: Ints) -> bool:
    return math.prod(kernel) == 1 and math.prod(stride) == 1


def _column_blocks(view: Any, k: int, size: int) -> Iterator[tuple[slice, slice, Any]]:
    """Blocks of columns ``(n, G, C kernel, places)`` in one buffer, each with its samples and its places."""
    samples, groups = view.shape[:2]
    out = view.shape[-k:]
    row_bytes = math.prod(view.shape[1:]) // max(out[0], 1) * size
    buffer = None
    for some, rows in _blocks(samples, out, row_bytes):
        part = view[(some, *(slice(None),) * (2 + k), rows)]
        if buffer is None or buffer.shape != part.shape:
            buffer = np.empty(part.shape, view.dtype)
        np.copyto(buffer, part)
        yield some, _places_of(rows, out), buffer.reshape(part.shape[0], groups, -1, math.prod(part.shape[-k:]))


# -------------------------------------------------------------------------------------------- few places, many channels
#
# With few places per sample a window's rows are too short to copy fast and its columns too few for BLAS. Then the
# channels go last: a window is a few long runs of memory, and the places of all samples are the rows of one matrix.
def _few(samples: int, places: int, groups: int) -> bool:
    return groups == 1 and samples > 1 and places < _FEW


def _last(x: Any) -> Any:
    """``(N, C, *size)`` as a contiguous ``(N, *size, C)``."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def _filters_last(weight: Any) -> Any:
    """``(O, C, *kernel)`` as a matrix ``(O, kernel C)``."""
    return np.moveaxis(weight, 1, -1).reshape(len(weight), -1)


def _rows(x: Any, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """The windows of a contiguous ``(N, *size, C)`` as the rows of a matrix ``(N places, kernel C)``."""
    steps = x.strides
    inner = steps[1:-1]
    view = np.ndarray(
        (len(x), *out, *kernel, x.shape[-1]),
        x.dtype,
        x,
        0,
        (
            steps[0],
            *(s * t for s, t in zip(inner, stride, strict=True)),
            *(s * d for s, d in zip(inner, dilation, strict=True)),
            steps[-1],
        ),
    )
    return view.reshape(len(x) * math.prod(out), -1)


def _convolve_few(x: Any, weight: Any, stride: Ints, dilation: Ints, out: Ints) -> Any:
    rows = _rows(_last(x), weight.shape[2:], stride, dilation, out)
    y = rows.dot(_filters_last(weight).T).reshape(len(x), *out, len(weight))
    return np.ascontiguousarray(np.moveaxis(y, -1, 1))


def _input_few(g: Any, weight: Any, size: Ints, stride: Ints, dilation: Ints) -> Any:
    kernel, out = weight.shape[2:], g.shape[2:]
    rows = _last(g).reshape(-1, len(weight)).dot(_filters_last(weight))
    columns = rows.reshape(len(g), *out, *kernel, -1)
    k = len(stride)
    r = np.zeros((len(g), *size, weight.shape[1]), rows.dtype)
    for offset, place in _places(kernel, out, stride, dilation):
        r[(slice(None), *place)] += columns[(slice(None),) * (k + 1) + offset]
    return np.moveaxis(r, -1, 1)


def _weight_few(x: Any, g: Any, kernel: Ints, stride: Ints, dilation: Ints) -> Any:
    rows = _rows(_last(x), kernel, stride, dilation, g.shape[2:])
    r = _last(g).reshape(-1, g.shape[1]).T.dot(rows).reshape(g.shape[1], *kernel, x.shape[1])
    return np.ascontiguousarray(np.moveaxis(r, -1, 1))


@functools.lru_cache(256)
def _places(kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> list[tuple[Ints, tuple[Any, ...]]]:
    """For each element of a window its offset, and the index of that element of all windows in an input."""
    return [
        (
            offset,
            tuple(
                slice(o * d, o * d + (n - 1) * s + 1, s)
                for o, d, s, n in zip(offset, dilation, stride, out, strict=True)
            ),
        )
        for offset in itertools.product(*map(range, kernel))
    ]


# ------------------------------------------------------------------------------------------------ one channel per group
def _by_channel(weight: Any, offset: Ints, k: int) -> Any:
    return weight[(slice(None), 0, *offset)].reshape(-1, *(1,) * k)


def _convolve_each(x: Any, weight: Any, stride: Ints, dilation: Ints, out: Ints) -> Any:
    k = len(stride)
    y = np.zeros((*x.shape[:2], *out), x.dtype)
    part = np.empty_like(y)
    for offset, place in _places(weight.shape[2:], out, stride, dilation):
        y += np.multiply(x[(..., *place)], _by_channel(weight, offset, k), part)
    return y


def _input_each(g: Any, weight: Any, size: Ints, stride: Ints, dilation: Ints) -> Any:
    k = len(stride)
    r = np.zeros((*g.shape[:2], *size), g.dtype)
    part = np.empty(g.shape, g.dtype)
    for offset, place in _places(weight.shape[2:], g.shape[2:], stride, dilation):
        r[(..., *place)] += np.multiply(g, _by_channel(weight, offset, k), part)
    return r


def _weight_each(x: Any, g: Any, kernel: Ints, stride: Ints, dilation: Ints) -> Any:
    r: Any = np.empty((x.shape[1], 1, *kernel), x.dtype)
    letters = "nc" + "xyz"[: len(kernel)]
    for offset, place in _places(kernel, g.shape[2:], stride, dilation):
        part = x[(..., *place)]
        r[(slice(None), 0, *offset)] = np.einsum(f"{letters},{letters}->c", part, g)
    return r


# --------------------------------------------------------------------------------------------------- the three products
def convolve(x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, bias: Any = None) -> Any:
    """Every filter applied at every place, plus a number for each filter."""
    k = len(stride)
    kernel = weight.shape[2:]
    x = padded(x, padding)
    out = out_size(x.shape[2:], kernel, stride, (0,) * k, dilation)
    samples, filters = x.shape[0], weight.shape[0] // groups
    w = weight.reshape(groups, filters, -1)
    places = math.prod(out)
    if _pointwise(kernel, stride):
        y = np.matmul(w, x.reshape(samples, groups, x.shape[1] // groups, places))
    elif not samples:
        y = np.zeros((0, groups * filters, *out), x.dtype)
    elif _few(samples, places, groups):
        y = _convolve_few(x, weight, stride, dilation, out)
    elif filters == weight.shape[1] == 1 < groups:
        y = _convolve_each(x, weight, stride, dilation, out)
    else:
        y = np.empty((samples, groups, filters, places), np.result_type(x, weight))
        view = windows(x, groups, kernel, stride, dilation, out)
        added = None if bias is None else bias.reshape(groups, filters, 1)

        def work(mine: slice) -> None:
            into = y[mine]
            for some, at, columns in _column_blocks(view[mine], k, x.itemsize):
                part = into[some, :, :, at]
                np.matmul(w, columns, out=part)
                if added is not None:
                    part += added

        _for_samples(work, samples, view.size)
        bias = None
    y = y.reshape(samples, groups * filters, *out)
    if bias is not None:
        y += bias.reshape(-1, *(1,) * k)
    return y


def _for_samples(work: Any, samples: int, size: int) -> list[Any]:
    """``work(slice)`` for all samples; large work is cut."""
    return over_samples(work, samples) if size >= LARGE else [work(slice(0, samples))]


def _cheap_as_convolution(filters: int, channels: int, groups: int, size: Ints, out: Ints, around: Ints) -> bool:
    """Whether the transpose for stride one is better computed as a convolution of the cotangent with zeros around it.

    It has windows of all filters at all places of the input, but nothing to add up.
    """
    if min(around) < 0 or groups * channels == groups == filters * groups:
        return False
    places, given = math.prod(size), math.prod(out)
    return given >= _FEW and places * filters <= 1.5 * given * channels


def convolve_input(g: Any, weight: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` in its input: what each place sends back to the elements of its window."""
    kernel, out = weight.shape[2:], g.shape[2:]
    samples, filters, channels = g.shape[0], weight.shape[0] // groups, weight.shape[1]
    around = tuple(d * (n - 1) - p for d, n, p in zip(dilation, kernel, padding, strict=True))
    if math.prod(stride) == 1 and _cheap_as_convolution(filters, channels, groups, size, out, around):
        turned = np.flip(weight, tuple(range(2, weight.ndim))).reshape(groups, filters, channels, *kernel)
        turned = turned.swapaxes(1, 2).reshape(groups * channels, filters, *kernel)
        return convolve(g, turned, stride, around, dilation, groups)
    w = weight.reshape(groups, filters, -1).swapaxes(1, 2)
    g = np.ascontiguousarray(g).reshape(samples, groups, filters, *out)
    whole_size = tuple(n + 2 * p for n, p in zip(size, padding, strict=True))
    if _pointwise(kernel, stride) and whole_size == out:
        r = np.matmul(w, g.reshape(samples, groups, filters, math.prod(out)))
    elif _few(samples, math.prod(out), groups) and g.size:
        r = _input_few(g.reshape(samples, filters, *out), weight, whole_size, stride, dilation)
    elif filters == channels == 1 < groups:
        r = _input_each(g.reshape(samples, groups, *out), weight, whole_size, stride, dilation)
    else:
        r = np.zeros((samples, groups, channels, *whole_size), np.result_type(g, weight))
        flat = g.reshape(samples, groups, filters, math.prod(out))
        row_bytes = groups * channels * math.prod(kernel) * math.prod(out[1:]) * g.itemsize

        def work(mine: slice) -> None:
            given, into = flat[mine], r[mine]
            for some, rows in _blocks(len(into), out, row_bytes):
                columns = np.matmul(w, given[some, :, :, _places_of(rows, out)])
                columns = columns.reshape(*columns.shape[:2], channels, *kernel, -1, *out[1:])
                scatter_windows(into[some], columns, stride, dilation, rows.start)

        if g.size:
            _for_samples(work, samples, samples * out[0] * row_bytes // g.itemsize)
    r = r.reshape(samples, groups * channels, *whole_size)
    return r[(..., *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))] if any(padding) else r


def scatter_windows(r: Any, columns: Any, stride: Ints, dilation: Ints, first: int = 0) -> None:
    """Add ``(n, G, C, *kernel, *out)`` to the elements of ``r`` that the windows cover, from a row of places on."""
    k = len(stride)
    kernel, out = columns.shape[3 : 3 + k], columns.shape[3 + k :]
    if first:
        r = r[(..., slice(first * stride[0], None), *(slice(None),) * (k - 1))]
    for offset, place in _places(kernel, out, stride, dilation):
        r[(..., *place)] += columns[(slice(None),) * 3 + offset]


def convolve_weight(x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` in its weight: how each weight's inputs and outputs go together."""
    k = len(stride)
    x = padded(x, padding)
    samples, out = x.shape[0], g.shape[2:]
    filters, channels = g.shape[1] // groups, x.shape[1] // groups
    g = np.ascontiguousarray(g).reshape(samples, groups, filters, *out)
    dtype = np.result_type(x, g)
    shape = (groups * filters, channels, *kernel)
    if not samples or not math.prod(out):
        return np.zeros(shape, dtype)
    flat = g.reshape(samples, groups, filters, -1)
    if _pointwise(kernel, stride):
        columns = x.reshape(samples, groups, channels, -1)
        if flat.shape[-1] >= _FEW:
            return np.add.reduce(np.matmul(flat, columns.swapaxes(2, 3)), 0).reshape(shape)
    if _few(samples, math.prod(out), groups):
        return _weight_few(x, g.reshape(samples, filters, *out), kernel, stride, dilation)
    if filters == channels == 1 < groups:
        return _weight_each(x, g.reshape(samples, groups, *out), kernel, stride, dilation)
    view = windows(x, groups, kernel, stride, dilation, out)

    def work(mine: slice) -> Any:
        r = np.zeros((groups, filters, channels * math.prod(kernel)), dtype)
        given = flat[mine]
        for some, at, columns in _column_blocks(view[mine], k, x.itemsize):
            product = np.matmul(given[some, :, :, at], columns.swapaxes(2, 3))
            r += product[0] if len(product) == 1 else np.add.reduce(product, 0)
        return r

    first, *others = _for_samples(work, samples, view.size)
    for r in others:
        first += r
    return first.reshape(shape)

"""The primitives of pooling: maxima and means of windows, and the operators for their cotangents.

The primitives work on the last dimensions and take any leading ones. A maximum comes with its index into the flattened
last dimensions; its derivative scatters to that index, and the transpose of the derivative gathers. A mean is linear
and separable: it is taken along one dimension at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.conv.columns import plain_folded, plain_unfolded
from ..._arrays.layouts import as_channels_of, as_indices, as_rows, channels_last, channels_last_2d
from ..._arrays.pooling import (
    MANY,
    adaptive_edges,
    added_in_rows,
    are_apart,
    means_of,
    means_of_few,
    part_maxima,
    part_means,
    repeated,
    scattered_in_rows,
    sums_of_neighbours,
    window_maxima,
    with_border,
)
from ..._base.dtypes import BLAS_FLOATS
from ..._base.registry import plain_body
from ..._kinds.general import general, name_by_node, named_by
from ..._kinds.linear import linear

# ---- maxima


_MAX_SAMPLES = [
    ((2, 3, 4), ((2,), (2,), (0,), (1,), (2,))),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (1, 1), (5, 3))),
    ((2, 5, 5), ((2, 2), (2, 2), (0, 0), (2, 1), (2, 2))),
    ((1, 1, 3, 3, 3), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), (2, 2, 2))),
]


def _distinct(shapes: Any) -> Any:
    """Samples whose elements all differ clearly: a maximum of two equal elements has no derivative."""

    def samples(rng: Any) -> Any:
        return [((rng.permutation(math.prod(s)).reshape(s) * 0.25,), p) for s, p in shapes]

    return samples


@general(
    layout=channels_last,
    grad=lambda xp, g, self_shape, result1, kernel, stride, padding, dilation, out: xp.pool_scatter(
        g, result1, tuple(self_shape[-len(kernel) :]), are_apart(kernel, stride, dilation)
    ),
    jvp=lambda xp, tangents, result, self, kernel, stride, padding, dilation, out: (
        xp.pool_gather(tangents[0], result[1], len(kernel)),
        None,
    ),
    outputs=2,
    differentiable=(True, False),
    batch="shape",
    node="MaxPool2DWithIndicesBackward0",
    dtypes="fi",
    samples=_distinct(_MAX_SAMPLES),
    piecewise=True,
)
def max_windows(lib, self, kernel, stride, padding, dilation, out):
    """The largest element of each window and its index."""
    return window_maxima(self, kernel, stride, padding, dilation, out)


@plain_body
def plain_max_windows(lib, self, kernel, stride, padding, dilation, out):
    lowest = -math.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
    lead, k = self.shape[: self.ndim - len(kernel)], math.prod(kernel)
    x = plain_unfolded(lib, self, kernel, out, stride, padding, dilation, lowest).reshape(*lead, k, *out)
    inside = lib.ones(self.shape[-len(kernel) :], bool)
    inside = plain_unfolded(lib, inside, kernel, out, stride, padding, dilation, False).reshape(k, *out)
    best = (inside & ((x == x.max(len(lead), keepdims=True)) | (x != x))).argmax(len(lead), keepdims=True)
    size = self.shape[len(lead) :]
    places = lib.arange(math.prod(size)).reshape(size)
    places = plain_unfolded(lib, places, kernel, out, stride, padding, dilation).reshape(k, *out)
    found = [lib.take_along_axis(a, best, len(lead)) for a in (x, lib.broadcast_to(places, x.shape))]
    values, index = (a.reshape(*lead, *out) for a in found)
    return values, index


@general(
    layout=channels_last_2d,
    grad=lambda xp, g, self_like, result1, out: _as_images_of(
        xp.pool_scatter(g, result1, tuple(self_like[-len(out) :]), False), self_like
    ),
    jvp=lambda xp, tangents, result, self, out: (xp.pool_gather(tangents[0], result[1], len(out)), None),
    outputs=2,
    differentiable=(True, False),
    batch="shape",
    node="AdaptiveMaxPool2DBackward0",
    dtypes="fi",
    samples=_distinct([((2, 5), ((3,),)), ((2, 4, 5), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),))]),
    piecewise=True,
)
def max_parts(lib, self, out):
    """The largest element of each of ``out`` parts and its index."""
    return part_maxima(self, out)


@plain_body
def plain_max_parts(lib, self, out):
    lead, size = self.shape[: self.ndim - len(out)], self.shape[self.ndim - len(out) :]
    places = _parts_table(size, out)
    rows = self.reshape(*lead, math.prod(size))
    x = rows[..., lib.table(places)]
    bad = x != x
    best = lib.where(bad.any(-1), x.shape[-1] - 1 - bad[..., ::-1].argmax(-1), x.argmax(-1))  # the last nan
    index = lib.take_along_axis(lib.broadcast_to(lib.table(places), x.shape), best[..., None], -1)[..., 0]
    return lib.take_along_axis(rows, index, -1).reshape(*lead, *out), index.reshape(*lead, *out)


def _parts_table(size: Any, out: Any) -> Any:
    """The flat places of each part's elements; a part with fewer than others has its last again."""
    lines: Any = None
    for n, o in zip(size, out, strict=True):
        edges = list(adaptive_edges(n, o))
        most = max([end - start for start, end in edges], default=0)
        own = np.array([[min(start + j, end - 1) for j in range(most)] for start, end in edges])
        own = own.reshape(o, most).astype(np.int64)
        lines = own if lines is None else (lines[:, None, :, None] * n + own[:, None]).reshape(len(lines) * o, -1)
    return lines


@general(
    layout=as_indices,
    grad={"g": lambda xp, h, indices, size, unique: xp.pool_gather(h, indices, len(size))},
    tensors=2,
    batch="shape",
    dtypes="fci",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), rng.integers(0, 5, (2, 3))), ((5,), False)),
        ((rng.standard_normal((2, 2, 2)), rng.integers(0, 12, (2, 2, 2))), ((3, 4), False)),
        ((rng.standard_normal((2, 3)), np.array([[0, 2, 1], [4, 0, 3]])), ((5,), True)),
    ],
)
def pool_scatter(lib, g, indices, size, unique):
    """Zeros of ``size`` with each element of g added where its index says; ``unique``: no two at the same place."""
    k = len(size)
    lead = g.shape[: g.ndim - k]
    rows, n = math.prod(lead), math.prod(size)
    if unique and rows * n >= MANY:
        return scattered_in_rows(g.reshape(rows, -1), indices.reshape(rows, -1), n).reshape(*lead, *size)
    if not unique and g.dtype.kind == "f" and g.size:
        return added_in_rows(g.reshape(rows, -1), indices.reshape(rows, -1), n).reshape(*lead, *size)
    flat = indices.reshape(rows, math.prod(indices.shape[len(lead) :])) + (lib.arange(rows) * n)[:, None]
    if unique:
        r = lib.zeros(rows * n, g.dtype)
        r[flat.reshape(-1)] = g.reshape(-1)
    else:
        r = lib.zeros(rows * n, g.dtype)
        lib.add.at(r, flat.reshape(-1), g.reshape(-1))
    return r.reshape(*lead, *size)


@plain_body
def plain_pool_scatter(lib, g, indices, size, unique):
    lead, n = g.shape[: g.ndim - len(size)], math.prod(size)
    rows = math.prod(lead)
    r = lib.zeros(rows * n, g.dtype)
    lib.add_at(r, (indices.reshape(rows, -1) + (lib.arange(rows) * n)[:, None]).reshape(-1), g.reshape(-1))
    return r.reshape(*lead, *size)


@general(
    layout=as_indices,
    grad={
        "self": lambda xp, g, self_shape, indices, rank: xp.pool_scatter(g, indices, tuple(self_shape[-rank:]), False),
    },
    tensors=2,
    batch="shape",
    dtypes="fci",
    samples=lambda rng: [
        ((rng.standard_normal((2, 5)), rng.integers(0, 5, (2, 3))), (1,)),
        ((rng.standard_normal((2, 3, 4)), rng.integers(0, 12, (2, 2, 2))), (2,)),
    ],
)
def pool_gather(lib, self, indices, rank):
    """The elements of the last ``rank`` dimensions at the flat indices."""
    lead = self.shape[: self.ndim - rank]
    flat = indices.reshape(*lead, math.prod(indices.shape[len(lead) :]))
    rows = self.reshape(*lead, math.prod(self.shape[len(lead) :]))
    return lib.take_along_axis(rows, flat, -1).reshape(indices.shape)


@general(
    layout=channels_last_2d,
    grad={"self": lambda xp, g, indices, size: as_rows(xp.pool_gather(g, indices, len(size)))},
    tensors=2,
    # the tangent as the values: the last of the entries with one index remains; the automatic rule would add them up
    jvp=lambda xp, tangents, result, self, indices, size: xp.unpool(tangents[0], indices, size),
    batch="shape",
    node="MaxUnpool2DBackward0",
    dtypes="fi",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.stack([rng.permutation(6)[:3] for _ in range(2)])), ((6,),)),
        ((rng.standard_normal((1, 2, 2)), rng.permutation(12)[:4].reshape(1, 2, 2)), ((3, 4),)),
    ],
)
def unpool(lib, self, indices, size):
    """Zeros of ``size`` with each element put where its index says."""
    lead = self.shape[: self.ndim - len(size)]
    rows, n = math.prod(lead), math.prod(size)
    r = lib.zeros((rows, n), self.dtype)
    lib.put_along_axis(r, indices.reshape(rows, -1), self.reshape(rows, -1), 1)
    return r.reshape(*lead, *size)


named_by("max_windows", "kernel", lambda kernel: f"MaxPool{len(kernel)}DWithIndicesBackward0")
named_by("max_parts", "out", lambda out: f"AdaptiveMaxPool{len(out)}DBackward0")
named_by("unpool", "size", lambda size: f"MaxUnpool{len(size)}DBackward0")


# ---- means


def _as_images_of(r: Any, shape: Any) -> Any:
    """A cotangent of images in their order; PyTorch's kernels for volumes know none but rows."""
    return as_channels_of(r, shape if len(shape) == 4 else ())


_FEW_MEANS = 1024  # elements up to which windows are copied out and added up by one product

_AVG_SAMPLES = [
    ((2, 3, 4), ((2,), (2,), (0,), (2,), True, None)),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (5, 3), True, None)),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (5, 3), False, None)),
    ((2, 5, 5), ((2, 2), (2, 2), (0, 0), (3, 3), True, None)),
    ((2, 4, 4), ((2, 2), (2, 2), (0, 0), (2, 2), True, 3)),
    ((2, 6), ((3,), (3,), (1,), (2,), True, None)),
    ((1, 1, 3, 3, 3), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (2, 2, 2), True, None)),
]


@linear(
    layout=channels_last_2d,
    transpose=lambda xp, g, self_like, kernel, stride, padding, out, include_pad, override: _as_images_of(
        xp.mean_windows_backward(g, tuple(self_like[-len(kernel) :]), kernel, stride, padding, include_pad, override),
        self_like,
    ),
    node="AvgPool2DBackward0",
    batch="shape",
    dtypes="f",
    samples=_AVG_SAMPLES,
    piecewise=True,
)
def mean_windows(lib, self, kernel, stride, padding, out, include_pad, override):
    """The mean of each window."""
    if 0 < self.size <= _FEW_MEANS and self.dtype in BLAS_FLOATS:
        place, ones, divisor, shape = means_of_few(
            self.shape, kernel, stride, padding, out, include_pad, override, self.dtype
        )
        if place is not None:
            sums = intp.take(self, place).dot(ones)
            return lib.divide(sums, divisor, sums).reshape(shape)
    size = self.shape[self.ndim - len(kernel) :]
    narrow = self.dtype.itemsize == 2 and self.dtype.kind in "fV"
    x = self.astype(np.float32) if narrow else self
    plan = means_of(size, kernel, stride, padding, out, include_pad, override, x.dtype)
    if plan.reach is not None:
        x = with_border(x, padding, plan.reach, 0)
    for first, *others in plan.sums:
        r = lib.add(x[first], x[others[0]]) if others else x[first].copy()
        for place in others[1:]:
            lib.add(r, x[place], r)
        x = r
    if x.dtype.kind in "iu":
        return (x / plan.divisor).astype(x.dtype)  # rounded towards zero, as in PyTorch
    x = lib.divide(x, plan.divisor, x if plan.sums else None)
    return x.astype(self.dtype) if narrow else x


@plain_body
def plain_mean_windows(lib, self, kernel, stride, padding, out, include_pad, override):
    lead, size = self.ndim - len(kernel), self.shape[self.ndim - len(kernel) :]
    x = self.astype(np.float32) if self.dtype.itemsize == 2 else self
    x = plain_unfolded(lib, x, kernel, out, stride, padding, (1,) * len(kernel))
    divisor = means_of(size, kernel, stride, padding, out, include_pad, override, x.dtype).divisor
    return (x.sum(tuple(range(lead, lead + len(kernel)))) / lib.table(divisor)).astype(self.dtype, copy=False)


@linear(
    transpose=lambda xp, g, self_shape, size, kernel, stride, padding, include_pad, override: xp.mean_windows(
        g, kernel, stride, padding, tuple(self_shape[-len(kernel) :]), include_pad, override
    ),
    batch="shape",
    dtypes="f",
    samples=[((*s[: -len(p[0])], *p[3]), (s[-len(p[0]) :], p[0], p[1], p[2], p[4], p[5])) for s, p in _AVG_SAMPLES],
)
def mean_windows_backward(lib, self, size, kernel, stride, padding, include_pad, override):
    """The transpose of ``mean_windows``: each element of a window receives an equal share."""
    k = len(kernel)
    out = self.shape[self.ndim - k :]
    plan = means_of(size, kernel, stride, padding, out, include_pad, override, self.dtype)
    g = self / plan.divisor
    if plan.apart:
        r = lib.empty((*g.shape[: g.ndim - k], *size), g.dtype)
        for place in plan.apart:
            r[place] = g
        return r
    for i in range(k):
        d = g.ndim - k + i
        reach = max((out[i] - 1) * stride[i] + kernel[i], size[i] + padding[i])
        r = lib.zeros((*g.shape[:d], reach, *g.shape[d + 1 :]), g.dtype)
        for j in range(kernel[i]):
            r[(slice(None),) * d + (slice(j, j + (out[i] - 1) * stride[i] + 1, stride[i]),)] += g
        g = r[(slice(None),) * d + (slice(padding[i], padding[i] + size[i]),)]
    return g


@plain_body
def plain_mean_windows_backward(lib, self, size, kernel, stride, padding, include_pad, override):
    k = len(kernel)
    lead, out = self.shape[: self.ndim - k], self.shape[self.ndim - k :]
    g = self / lib.table(means_of(size, kernel, stride, padding, out, include_pad, override, self.dtype).divisor)
    cols = lib.broadcast_to(g.reshape(*lead, *(1,) * k, *out), (*lead, *kernel, *out))
    return plain_folded(lib, cols, size, stride, padding, (1,) * k)


@linear(
    layout=channels_last_2d,
    transpose=lambda xp, g, self_like, out: _as_images_of(
        xp.mean_parts_backward(g, tuple(self_like[-len(out) :])), self_like
    ),
    node="AdaptiveAvgPool2DBackward0",
    batch="shape",
    dtypes="f",
    samples=[((2, 5), ((3,),)), ((2, 4, 6), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),)), ((2, 3, 3), ((5, 2),))],
    piecewise=True,
    in_float32="result",
)
def mean_parts(lib, self, out):
    """The mean of each of ``out`` parts."""
    k = len(out)
    x = self
    if (found := part_means(x, x.shape[x.ndim - k :], out, False)) is not None:
        return found
    for i, o in enumerate(out):
        d = x.ndim - k + i
        n = x.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            x = sums_of_neighbours(x, d, n // o)
            x /= n // o
        else:
            r = lib.empty((*x.shape[:d], o, *x.shape[d + 1 :]), x.dtype)
            for j, (start, end) in enumerate(adaptive_edges(n, o)):
                lead = (slice(None),) * d
                r[(*lead, j)] = lib.add.reduce(x[(*lead, slice(start, end))], d) / (end - start)
            x = r
    return x if x is not self else x.copy()


@plain_body
def plain_mean_parts(lib, self, out):
    for d, o in enumerate(out, self.ndim - len(out)):
        edges = list(adaptive_edges(self.shape[d], o))
        lead = (slice(None),) * d
        self = lib.stack([self[(*lead, slice(*edge))].mean(d) for edge in edges], d)
    return self


@linear(
    transpose=lambda xp, g, self_shape, size: xp.mean_parts(g, tuple(self_shape[-len(size) :])),
    batch="shape",
    dtypes="f",
    samples=[((2, 3), ((5,),)), ((2, 3, 2), ((4, 6),)), ((2, 5, 2), ((3, 3),))],
)
def mean_parts_backward(lib, self, size):
    """The transpose of ``mean_parts`` from ``size``."""
    k = len(size)
    g = self
    if (found := part_means(g, size, g.shape[g.ndim - k :], True)) is not None:
        return found
    for i, n in enumerate(size):
        d = g.ndim - k + i
        o = g.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            g = repeated(g / (n // o), n // o, d)
        else:
            r = lib.zeros((*g.shape[:d], n, *g.shape[d + 1 :]), g.dtype)
            lead = (slice(None),) * d
            for j, (start, end) in enumerate(adaptive_edges(n, o)):
                r[(*lead, slice(start, end))] += g[(*lead, slice(j, j + 1))] / (end - start)
            g = r
    return g if g is not self else g.copy()


@plain_body
def plain_mean_parts_backward(lib, self, size):
    for d, n in enumerate(size, self.ndim - len(size)):
        r, lead = lib.zeros((*self.shape[:d], n, *self.shape[d + 1 :]), self.dtype), (slice(None),) * d
        for j, (start, end) in enumerate(adaptive_edges(n, self.shape[d])):
            r[(*lead, slice(start, end))] += self[(*lead, slice(j, j + 1))] / (end - start)
        self = r
    return self


name_by_node("mean_windows", lambda n: f"AvgPool{len(n.params[0])}DBackward0")
name_by_node("mean_parts", lambda n: f"AdaptiveAvgPool{len(n.params[0])}DBackward0")

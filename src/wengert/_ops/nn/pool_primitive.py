"""Windows of signals, images and volumes: the primitives of pooling.

The primitives work on the last dimensions whatever stands in front of them. A maximum keeps where it was found (an
index into the flattened last dimensions); its derivative scatters to there, and the transpose of that gathers. A mean
is linear and separable: it is taken along one dimension after the other.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from ..._arrays.threads import each
from ..._base.registry import REGISTRY
from ..._kinds.general import general, named_by
from ..._kinds.linear import linear

Ints = tuple[int, ...]


# ------------------------------------------------------------------------------------------------------------- geometry
def pooled_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Ints:
    """How many windows there are along each dimension; with ``ceil_mode`` the last one may reach over the edge."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        out = (room + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (out - 1) * s >= n + p:
            out -= 1
        found.append(out)
    return tuple(found)


def _reach(out: Ints, kernel: Ints, stride: Ints, dilation: Ints) -> Ints:
    """How many elements of the padded input the windows cover."""
    return tuple((o - 1) * s + d * (k - 1) + 1 for o, k, s, d in zip(out, kernel, stride, dilation, strict=True))


def _filled(x: Any, padding: Ints, reach: Ints, value: Any) -> Any:
    """The input with ``value`` around it, as far as windows reach."""
    k = len(padding)
    size = x.shape[-k:]
    if not any(padding) and all(r <= n for r, n in zip(reach, size, strict=True)):
        return x
    shape = tuple(max(r, n + p) for r, n, p in zip(reach, size, padding, strict=True))
    r: Any = np.empty((*x.shape[:-k], *shape), x.dtype)
    r.fill(value)
    r[(..., *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))] = x
    return r


def _places(kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> list[tuple[Any, ...]]:
    """For each element of a window where that of every window is."""
    return [
        (
            ...,
            *(
                slice(o * d, o * d + (n - 1) * s + 1, s)
                for o, d, s, n in zip(offset, dilation, stride, out, strict=True)
            ),
        )
        for offset in itertools.product(*map(range, kernel))
    ]


# --------------------------------------------------------------------------------------------------------------- maxima
def _lowest(dtype: Any) -> Any:
    return -math.inf if dtype.kind in "fV" else np.iinfo(dtype).min


def _first_inside(out: Ints, stride: Ints, padding: Ints, dilation: Ints, kernel: Ints) -> Any:
    """For each window the number of its first element that is no padding."""
    number = np.zeros(out, np.intp)
    for i, (n, s, p, d) in enumerate(zip(out, stride, padding, dilation, strict=True)):
        first = np.maximum(0, -((np.arange(n) * s - p) // d))
        number += (first * math.prod(kernel[i + 1 :])).reshape(-1, *(1,) * (len(out) - 1 - i))
    return number


def _index_tables(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[Any, Any]:
    """Flat indices: of each window's corner, and of each of its elements relative to that."""
    corner = np.zeros(out, np.int64)
    relative = np.zeros(kernel, np.int64)
    for i in range(len(size)):
        step = math.prod(size[i + 1 :])
        ones = (1,) * (len(size) - 1 - i)
        corner += ((np.arange(out[i]) * stride[i] - padding[i]) * step).reshape(-1, *ones)
        relative += (np.arange(kernel[i]) * dilation[i] * step).reshape(-1, *ones)
    return corner, relative.reshape(-1)


class _Maxima(NamedTuple):
    """What of the maxima of windows follows from sizes alone."""

    reach: Ints | None  # how much the windows cover, where that is more than the input
    places: list[tuple[Any, ...]]
    first: Any
    corner: Any
    relative: Any


@functools.lru_cache(256)
def _maxima_of(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> _Maxima:
    reach = _reach(out, kernel, stride, dilation)
    return _Maxima(
        reach if any(padding) or any(map(operator.gt, reach, size)) else None,
        _places(kernel, out, stride, dilation),
        _first_inside(out, stride, padding, dilation, kernel) if any(padding) else None,
        *_index_tables(size, kernel, stride, padding, dilation, out),
    )


def window_maxima(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[Any, Any]:
    """The largest element of each window and its flat index; nan is larger than everything."""
    size = x.shape[x.ndim - len(kernel) :]
    if 0 < x.size <= _SMALL and x.dtype.kind != "V":
        found = _few_maxima(x, *_few_of(x.size, size, kernel, stride, padding, dilation, out))
        if found is not None:
            return found
    plan = _maxima_of(size, kernel, stride, padding, dilation, out)
    if x.size < _MANY:
        return _maxima_by(plan, x, padding)
    rows = x.reshape(-1, *size)
    best, index = np.empty((len(rows), *out), x.dtype), np.empty((len(rows), *out), plan.relative.dtype)

    def work(mine: slice) -> None:
        best[mine], index[mine] = _maxima_by(plan, rows[mine], padding)

    _by_blocks(work, len(rows), math.prod(size), 0.3 * math.prod(kernel))
    return best.reshape(*x.shape[: x.ndim - len(kernel)], *out), index.reshape(*x.shape[: x.ndim - len(kernel)], *out)


def _by_blocks(work: Any, n: int, size: int, cost: float) -> None:
    """``work`` on slices of n images, on threads; ``cost``: nanoseconds for each of their elements."""
    step = max(_BLOCK // size, 1)
    each(work, [slice(i, min(i + step, n)) for i in range(0, n, step)], n * size * cost / 1000)


def _maxima_by(plan: _Maxima, x: Any, padding: Ints) -> tuple[Any, Any]:
    """The same, with all images at once."""
    padded = x if plan.reach is None else _filled(x, padding, plan.reach, _lowest(x.dtype))
    best, which = _maxima(padded, plan.places, plan.first)
    if x.dtype.kind == "f" and best.size:
        largest = np.maximum.reduce(best, None)
        if largest != largest:
            best, which = _maxima_with_nan(padded, plan.places, plan.first)
    index = plan.relative.take(which)
    index += plan.corner
    return best, index


_BLOCK, _MANY = 1 << 18, 1 << 20  # elements of the images that are worked on at a time, where there are so many
_SMALL = 4096  # elements whose windows are copied out: that takes few of NumPy's calls


@functools.lru_cache(128)
def _few_of(count: int, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """For ``_few_maxima``: where in ``count`` elements each element of each window is, the same counted in its image,
    and where each window begins in those tables. In place of padding stands the window's first element.
    """
    windows = math.prod(out)
    corner, relative = _index_tables(size, kernel, stride, padding, dilation, out)
    first = np.zeros(windows, np.intp) if not any(padding) else _first_inside(out, stride, padding, dilation, kernel)
    inside = np.ones((windows, len(relative)), bool)
    offsets = np.array(list(itertools.product(*map(range, kernel)))).T
    corners = np.array(list(itertools.product(*map(range, out)))).T
    for offset, begin, m, s, p, d in zip(offsets, corners, size, stride, padding, dilation, strict=True):
        at = (begin * s - p)[:, None] + offset * d
        inside &= (at >= 0) & (at < m)
    number = np.where(inside, np.arange(len(relative)), first.reshape(-1, 1))
    return _in_all_images(count, size, corner.reshape(-1, 1) + relative[number], out)


@functools.lru_cache(128)
def _few_parts_of(count: int, size: Ints, out: Ints) -> Any:
    """The same for the parts that ``max_parts`` looks through; short ones have their first element several times."""
    numbers = np.arange(math.prod(size)).reshape(size)
    edges = [_adaptive_edges(n, o) for n, o in zip(size, out, strict=True)]
    parts = [numbers[tuple(slice(*edge) for edge in place)].reshape(-1) for place in itertools.product(*edges)]
    longest = max(map(len, parts))
    image = np.array([np.pad(part, (0, longest - len(part)), constant_values=part[0]) for part in parts])
    return _in_all_images(count, size, image, out)


def _in_all_images(count: int, size: Ints, image: Any, out: Ints) -> Any:
    """``_few_maxima``'s tables from one image's."""
    n, longest = math.prod(size), image.shape[1]
    images = count // n
    place = (np.arange(images)[:, None, None] * n + image).reshape(-1, longest)
    return place, np.tile(image, (images, 1)).reshape(-1), np.arange(0, place.size, longest), out


def _few_maxima(x: Any, place: Any, image: Any, begin: Any, out: Ints) -> tuple[Any, Any] | None:
    """``window_maxima`` of few elements; ``None`` where there is nan."""
    windows = x.take(place)
    at = windows.argmax(1)
    at += begin
    best = windows.take(at)
    if best.dtype.kind == "f" and (largest := best.item(best.argmax())) != largest:
        return None
    shape = (*x.shape[: x.ndim - len(out)], *out)
    return best.reshape(shape), image.take(at).reshape(shape)


def _counter(places: list[Any]) -> Any:
    return np.uint8 if len(places) <= 255 else np.uint32


def _maxima(x: Any, places: list[Any], first: Any) -> tuple[Any, Any]:
    """The largest element of each window and its number, where there is no nan."""
    best = x[places[0]].copy()
    counter = _counter(places)
    which: Any = None
    if first is not None or len(places) == 1 or counter is not np.uint8:
        which = np.empty(best.shape, counter)
        which[...] = 0 if first is None else first
    for number in range(1, len(places)):
        candidate = x[places[number]]
        better = np.greater(candidate, best)
        np.maximum(best, candidate, out=best)
        if which is None:
            which = better.view(np.uint8)
            continue
        # numbers grow, so the last one that was better is the largest: no masked copy is needed
        numbers = np.multiply(better.view(np.uint8), counter(number), dtype=counter)
        np.maximum(which, numbers, out=which)
    return best, which


def _maxima_with_nan(x: Any, places: list[Any], first: Any) -> tuple[Any, Any]:
    """The same, where the last nan of a window is its largest element."""
    best = x[places[0]].copy()
    which = np.empty(best.shape, _counter(places))
    which[...] = 0 if first is None else first
    which[np.isnan(best)] = 0
    for number in range(1, len(places)):
        candidate = x[places[number]]
        better = np.greater(candidate, best)
        better |= np.isnan(candidate)
        np.maximum(best, candidate, out=best)
        which[better] = number
    return best, which


def _apart(kernel: Ints, stride: Ints, dilation: Ints) -> bool:
    """Whether each window ends before the next one begins."""
    return all(d * (k - 1) < s for k, s, d in zip(kernel, stride, dilation, strict=True))


_MAX_SAMPLES = [
    ((2, 3, 4), ((2,), (2,), (0,), (1,), (2,))),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (1, 1), (5, 3))),
    ((2, 5, 5), ((2, 2), (2, 2), (0, 0), (2, 1), (2, 2))),
    ((1, 1, 3, 3, 3), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), (2, 2, 2))),
]


def _same(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """What stands in front of the last dimensions does not matter."""
    return getattr(U, info.name)(*inner, *p)


def _distinct(shapes: Any) -> Any:
    """Samples whose elements all differ clearly: a maximum has no derivative where two are equal."""

    def samples(rng: Any) -> Any:
        return [((rng.permutation(math.prod(s)).reshape(s) * 0.25,), p) for s, p in shapes]

    return samples


@general(
    grad=lambda xp, g, self_shape, result1, kernel, stride, padding, dilation, out: xp.pool_scatter(
        g, result1, tuple(self_shape[-len(kernel) :]), _apart(kernel, stride, dilation)
    ),
    jvp=lambda xp, tangents, result, self, kernel, stride, padding, dilation, out: (
        xp.pool_gather(tangents[0], result[1], len(kernel)),
        None,
    ),
    outputs=2,
    differentiable=(True, False),
    batch=_same,
    node="MaxPool2DWithIndicesBackward0",
    dtypes="fi",
    samples=_distinct(_MAX_SAMPLES),
)
def max_windows(lib, self, kernel, stride, padding, dilation, out):
    """The largest element of each window, and where it is."""
    return window_maxima(self, kernel, stride, padding, dilation, out)


def _adaptive_edges(n: int, out: int) -> list[tuple[int, int]]:
    """The windows that divide n elements into ``out`` parts; they overlap by one where they must."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


@general(
    grad=lambda xp, g, self_shape, result1, out: xp.pool_scatter(g, result1, tuple(self_shape[-len(out) :]), False),
    jvp=lambda xp, tangents, result, self, out: (xp.pool_gather(tangents[0], result[1], len(out)), None),
    outputs=2,
    differentiable=(True, False),
    batch=_same,
    node="AdaptiveMaxPool2DBackward0",
    dtypes="fi",
    samples=_distinct([((2, 5), ((3,),)), ((2, 4, 5), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),))]),
)
def max_parts(lib, self, out):
    """The largest element of each of ``out`` parts, and where it is."""
    k = len(out)
    size = self.shape[-k:]
    if 0 < self.size <= _SMALL and self.dtype.kind != "V" and min(out):
        found = _few_maxima(self, *_few_parts_of(self.size, size, out))
        if found is not None:
            return found
    values = np.empty((*self.shape[:-k], *out), self.dtype)
    index = np.empty(values.shape, np.int64)
    edges = [_adaptive_edges(n, o) for n, o in zip(size, out, strict=True)]
    for place in itertools.product(*map(range, out)):
        spans = [e[i] for e, i in zip(edges, place, strict=True)]
        part = self[(..., *(slice(*s) for s in spans))]
        shape = part.shape[-k:]
        flat = part.reshape(*part.shape[:-k], -1)
        where = flat.argmax(-1)  # NumPy's finds the first nan, PyTorch's the last: only with nan do they differ
        coordinates = np.unravel_index(where, shape)
        values[(..., *place)] = np.take_along_axis(flat, where[..., None], -1)[..., 0]
        index[(..., *place)] = np.ravel_multi_index(
            tuple(c + s[0] for c, s in zip(coordinates, spans, strict=True)), size
        )
    return values, index


@general(
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
    if unique and rows * n >= _MANY:
        return _scattered(g.reshape(rows, -1), indices.reshape(rows, -1), n).reshape(*lead, *size)
    flat = indices.reshape(rows, math.prod(indices.shape[len(lead) :])) + (lib.arange(rows) * n)[:, None]
    if unique:
        r = lib.zeros(rows * n, g.dtype)
        r[flat.reshape(-1)] = g.reshape(-1)
    elif g.dtype.kind == "f" and g.size:
        r = lib.bincount(flat.reshape(-1), g.reshape(-1), rows * n).astype(g.dtype, copy=False)
    else:
        r = lib.zeros(rows * n, g.dtype)
        lib.add.at(r, flat.reshape(-1), g.reshape(-1))
    return r.reshape(*lead, *size)


def _scattered(g: Any, indices: Any, n: int) -> Any:
    """Rows of n zeros with each row's elements of g at different places, block by block."""
    r: Any = np.empty((len(g), n), g.dtype)

    def work(mine: slice) -> None:
        into = r[mine]
        into.fill(0)
        into.reshape(-1)[indices[mine] + np.arange(0, into.size, n)[:, None]] = g[mine]

    _by_blocks(work, len(g), n, 1.0)
    return r


@general(
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
    """The elements of the last ``rank`` dimensions that the flat indices name."""
    lead = self.shape[: self.ndim - rank]
    flat = indices.reshape(*lead, math.prod(indices.shape[len(lead) :]))
    rows = self.reshape(*lead, math.prod(self.shape[len(lead) :]))
    return lib.take_along_axis(rows, flat, -1).reshape(indices.shape)


@general(
    grad={"self": lambda xp, g, indices, size: xp.pool_gather(g, indices, len(size))},
    tensors=2,
    # as the values: of entries with the same index the last one stays, where the automatic rule would add them up
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


# ---------------------------------------------------------------------------------------------------------------- means
def _divisors(
    size: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    out: Ints,
    include_pad: bool,
    override: int | None,
    dtype: Any,
) -> Any:
    """By what each window's sum is divided: how many elements it has inside the (padded) input."""
    if override is not None:
        return np.array(override, dtype)
    total = np.ones((), dtype)
    for i, (n, k, s, p, o) in enumerate(zip(size, kernel, stride, padding, out, strict=True)):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        total = total * (end - start).astype(dtype).reshape(-1, *(1,) * (len(size) - 1 - i))
    return total.reshape(1)[0] if total.size and (total == total.flat[0]).all() and total.size == 1 else total


class _Means(NamedTuple):
    """What of the means of windows follows from sizes alone."""

    reach: Ints | None  # how much the windows cover, where that is more than the input
    sums: list[list[tuple[Any, ...]]]  # for each dimension but those of size one: the elements that are added up
    divisor: Any
    apart: list[tuple[Any, ...]]  # where each element is in one window: those of all windows, few as they are


@functools.lru_cache(256)
def _means_of(
    size: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool, override: Any, dtype: Any
) -> _Means:
    k = len(kernel)
    reach = _reach(out, kernel, stride, (1,) * k)
    sums = [
        [
            (..., slice(j, j + (out[i] - 1) * stride[i] + 1, stride[i]), *(slice(None),) * (k - 1 - i))
            for j in range(kernel[i])
        ]
        for i in range(k)
        if (kernel[i], out[i], stride[i]) != (1, size[i] + 2 * padding[i], 1)
    ]
    apart = kernel == stride and not any(padding) and size == tuple(map(operator.mul, out, kernel))
    return _Means(
        reach if any(padding) or any(map(operator.gt, reach, size)) else None,
        sums,
        np.asarray(_divisors(size, kernel, stride, padding, out, include_pad, override, dtype)),
        _places(kernel, out, stride, (1,) * k) if apart and math.prod(kernel) <= _APART else [],
    )


_SHORT = 16  # elements that are added one by one
_APART = 9  # windows of so few elements that do not overlap are written element by element
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
    transpose=lambda xp, g, self_shape, kernel, stride, padding, out, include_pad, override: xp.mean_windows_backward(
        g, tuple(self_shape[-len(kernel) :]), kernel, stride, padding, include_pad, override
    ),
    node="AvgPool2DBackward0",
    batch=_same,
    dtypes="f",
    samples=_AVG_SAMPLES,
)
def mean_windows(lib, self, kernel, stride, padding, out, include_pad, override):
    """The mean of each window."""
    narrow = self.dtype.itemsize == 2 and self.dtype.kind in "fV"
    x = self.astype(np.float32) if narrow else self
    size = self.shape[self.ndim - len(kernel) :]
    plan = _means_of(size, kernel, stride, padding, out, include_pad, override, x.dtype)
    if plan.reach is not None:
        x = _filled(x, padding, plan.reach, 0)
    for first, *others in plan.sums:
        r = lib.add(x[first], x[others[0]]) if others else x[first].copy()
        for place in others[1:]:
            lib.add(r, x[place], r)
        x = r
    if x.dtype.kind in "iu":
        return (x / plan.divisor).astype(x.dtype)  # rounded towards zero, as in PyTorch
    x = lib.divide(x, plan.divisor, x if plan.sums else None)
    return x.astype(self.dtype) if narrow else x


@linear(
    transpose=lambda xp, g, self_shape, size, kernel, stride, padding, include_pad, override: xp.mean_windows(
        g, kernel, stride, padding, tuple(self_shape[-len(kernel) :]), include_pad, override
    ),
    batch=_same,
    dtypes="f",
    samples=[((*s[: -len(p[0])], *p[3]), (s[-len(p[0]) :], p[0], p[1], p[2], p[4], p[5])) for s, p in _AVG_SAMPLES],
)
def mean_windows_backward(lib, self, size, kernel, stride, padding, include_pad, override):
    """The transpose of ``mean_windows``: each window's share to all of its elements."""
    k = len(kernel)
    out = self.shape[self.ndim - k :]
    plan = _means_of(size, kernel, stride, padding, out, include_pad, override, self.dtype)
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


def _part_sums(x: Any, d: int, m: int) -> Any:
    """The sums of m neighbours along a dimension; short sums are slow for NumPy, adding arrays is not."""
    if m > _SHORT or m < 2:
        return np.add.reduce(x.reshape(*x.shape[:d], x.shape[d] // m, m, *x.shape[d + 1 :]), d + 1)
    lead = (slice(None),) * d
    r = np.add(x[(*lead, slice(0, None, m))], x[(*lead, slice(1, None, m))])
    for j in range(2, m):
        np.add(r, x[(*lead, slice(j, None, m))], r)
    return r


def _repeated(g: Any, m: int, d: int) -> Any:
    """Each element m times along a dimension."""
    if m > _SHORT:
        return np.repeat(g, m, d)
    r: Any = np.empty((*g.shape[: d + 1], m, *g.shape[d + 1 :]), g.dtype)
    for j in range(m):
        r[(*(slice(None),) * (d + 1), j)] = g
    return r.reshape(*g.shape[:d], g.shape[d] * m, *g.shape[d + 1 :])


@linear(
    transpose=lambda xp, g, self_shape, out: xp.mean_parts_backward(g, tuple(self_shape[-len(out) :])),
    node="AdaptiveAvgPool2DBackward0",
    batch=_same,
    dtypes="f",
    samples=[((2, 5), ((3,),)), ((2, 4, 6), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),)), ((2, 3, 3), ((5, 2),))],
)
def mean_parts(lib, self, out):
    """The mean of each of ``out`` parts."""
    k = len(out)
    x = self
    for i, o in enumerate(out):
        d = x.ndim - k + i
        n = x.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            x = _part_sums(x, d, n // o)
            x /= n // o
        else:
            r = lib.empty((*x.shape[:d], o, *x.shape[d + 1 :]), x.dtype)
            for j, (start, end) in enumerate(_adaptive_edges(n, o)):
                lead = (slice(None),) * d
                r[(*lead, j)] = lib.add.reduce(x[(*lead, slice(start, end))], d) / (end - start)
            x = r
    return x if x is not self else x.copy()


@linear(
    transpose=lambda xp, g, self_shape, size: xp.mean_parts(g, tuple(self_shape[-len(size) :])),
    batch=_same,
    dtypes="f",
    samples=[((2, 3), ((5,),)), ((2, 3, 2), ((4, 6),)), ((2, 5, 2), ((3, 3),))],
)
def mean_parts_backward(lib, self, size):
    """The transpose of ``mean_parts`` from ``size``."""
    k = len(size)
    g = self
    for i, n in enumerate(size):
        d = g.ndim - k + i
        o = g.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            g = _repeated(g / (n // o), n // o, d)
        else:
            r = lib.zeros((*g.shape[:d], n, *g.shape[d + 1 :]), g.dtype)
            lead = (slice(None),) * d
            for j, (start, end) in enumerate(_adaptive_edges(n, o)):
                r[(*lead, slice(start, end))] += g[(*lead, slice(j, j + 1))] / (end - start)
            g = r
    return g if g is not self else g.copy()


REGISTRY["mean_windows"].node.name = lambda n: f"AvgPool{len(n.p[0])}DBackward0"
REGISTRY["mean_parts"].node.name = lambda n: f"AdaptiveAvgPool{len(n.p[0])}DBackward0"

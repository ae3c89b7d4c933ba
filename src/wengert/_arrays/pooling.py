"""Windows of signals, images and volumes: their positions, their maxima and their means.

All functions work on the last dims, after any number of leading dims. Everything that depends on sizes only is computed
once: ``_Maxima`` and ``_Means``.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

from . import intp
from .compiled import FEWEST, with_kernel
from .library import vector_of_ones
from .threads import parallel_map

Ints = tuple[int, ...]


def pooled_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Ints:
    """The number of windows along each dimension; with ``ceil_mode`` the last one may reach over the edge."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        out = (room + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (out - 1) * s >= n + p:
            out -= 1
        found.append(out)
    return tuple(found)


def _reach(out: Ints, kernel: Ints, stride: Ints, dilation: Ints) -> Ints:
    """The number of elements of the padded input that the windows cover."""
    return tuple((o - 1) * s + d * (k - 1) + 1 for o, k, s, d in zip(out, kernel, stride, dilation, strict=True))


def with_border(x: Any, padding: Ints, reach: Ints, value: Any) -> Any:
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
    """For each element of a window, the index of that element of all windows."""
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
    """Flat indices: those of the windows' corners, and those of a window's elements relative to its corner."""
    corner = np.zeros(out, np.intp)
    relative = np.zeros(kernel, np.intp)
    for i in range(len(size)):
        step = math.prod(size[i + 1 :])
        ones = (1,) * (len(size) - 1 - i)
        corner += ((np.arange(out[i]) * stride[i] - padding[i]) * step).reshape(-1, *ones)
        relative += (np.arange(kernel[i]) * dilation[i] * step).reshape(-1, *ones)
    return corner, relative.reshape(-1)


class _Maxima(NamedTuple):
    """Everything about the maxima of windows that depends on sizes only."""

    reach: Ints | None  # the size that the windows cover, if that is more than the input
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
    kind = x.dtype.kind
    if 0 < x.size <= FEW and kind != "V":
        place, image, begin = _few_of(x.shape, kernel, stride, padding, dilation, out)
        windows = x.take(place)
        at = windows.argmax(-1)
        at += begin
        best = windows.take(at)
        if kind != "f" or (largest := best.item(best.argmax())) == largest:  # no nan
            return best, image.take(at)
    return maxima_of_many(x, kernel, stride, padding, dilation, out)


@with_kernel("compiled_windows.window_maxima")
def maxima_of_many(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[Any, Any]:
    """``window_maxima`` of many elements, or of some with nan."""
    size = x.shape[x.ndim - len(kernel) :]
    plan = _maxima_of(size, kernel, stride, padding, dilation, out)
    if x.size < MANY:
        return _maxima_by(plan, x, padding)
    rows = x.reshape(-1, *size)
    best, index = np.empty((len(rows), *out), x.dtype), np.empty((len(rows), *out), plan.relative.dtype)

    def work(mine: slice) -> None:
        best[mine], index[mine] = _maxima_by(plan, rows[mine], padding)

    _by_blocks(work, len(rows), math.prod(size), 0.3 * math.prod(kernel))
    return best.reshape(*x.shape[: x.ndim - len(kernel)], *out), index.reshape(*x.shape[: x.ndim - len(kernel)], *out)


def _by_blocks(work: Any, n: int, size: int, cost: float) -> None:
    """Run ``work`` on slices of n images, on threads; ``cost``: nanoseconds for each of their elements."""
    step = max(_BLOCK // size, 1)
    parallel_map(work, [slice(i, min(i + step, n)) for i in range(0, n, step)], n * size * cost / 1000)


def _maxima_by(plan: _Maxima, x: Any, padding: Ints) -> tuple[Any, Any]:
    """``window_maxima`` by a plan, with all images at once."""
    padded = x if plan.reach is None else with_border(x, padding, plan.reach, _lowest(x.dtype))
    best, which = _maxima(padded, plan.places, plan.first)
    if x.dtype.kind == "f" and best.size:
        largest = np.maximum.reduce(best, None)
        if largest != largest:
            best, which = _maxima_with_nan(padded, plan.places, plan.first)
    index = intp.int64(intp.take(plan.relative, which))
    index += plan.corner
    return best, index


_BLOCK, MANY = 1 << 18, 1 << 20  # elements of the images in one block, and those from which blocks are used
FEW = 4096  # elements up to which windows are copied out, which takes few NumPy calls


@functools.lru_cache(128)
def _few_of(shape: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """Tables for windows of few elements: the position of each element of each window in an array of this shape, its
    position in its image, the beginning of each window in those tables. The window's first element replaces padding.
    """
    lead, size, windows = shape[: len(shape) - len(out)], shape[len(shape) - len(out) :], math.prod(out)
    corner, relative = _index_tables(size, kernel, stride, padding, dilation, out)
    first = np.zeros(windows, np.intp) if not any(padding) else _first_inside(out, stride, padding, dilation, kernel)
    inside = np.ones((windows, len(relative)), bool)
    offsets = np.array(list(itertools.product(*map(range, kernel)))).T
    corners = np.array(list(itertools.product(*map(range, out)))).T
    for offset, begin, m, s, p, d in zip(offsets, corners, size, stride, padding, dilation, strict=True):
        at = (begin * s - p)[:, None] + offset * d
        inside &= (at >= 0) & (at < m)
    number = np.where(inside, np.arange(len(relative)), first.reshape(-1, 1))
    image = corner.reshape(-1, 1) + relative[number]
    images, longest = math.prod(lead), image.shape[1]
    place = (np.arange(images)[:, None, None] * math.prod(size) + image).reshape(*lead, *out, longest)
    begin = np.arange(0, place.size, longest).reshape(place.shape[:-1])
    return place, np.tile(image, (images, 1)).reshape(-1).astype(np.int64), begin


@functools.lru_cache(128)
def _parts_of(size: Ints, out: Ints) -> Any:
    """The position of each element of each part of an image; a short part repeats its last element."""
    numbers = np.arange(math.prod(size)).reshape(size)
    edges = [adaptive_edges(n, o) for n, o in zip(size, out, strict=True)]
    parts = [numbers[tuple(slice(*edge) for edge in place)].reshape(-1) for place in itertools.product(*edges)]
    longest = max(map(len, parts), default=1)
    table = [np.pad(part, (0, longest - len(part)), constant_values=part[-1]) for part in parts]
    return np.array(table, np.intp).reshape(len(parts), longest)


def part_maxima(x: Any, out: Ints) -> tuple[Any, Any]:
    """The largest element of each of ``out`` parts and its flat index."""
    lead, size = x.shape[: x.ndim - len(out)], x.shape[x.ndim - len(out) :]
    table = _parts_of(size, out)
    images, (count, longest) = math.prod(lead), table.shape
    parts = x.reshape(images, math.prod(size)).take(table, 1).reshape(images * count, longest)
    at = parts.argmax(1)
    if x.dtype.kind in "fV" and (bad := parts != parts).any():  # NumPy finds the first nan, PyTorch the last
        at = np.where(bad.any(1), longest - 1 - bad[:, ::-1].argmax(1), at)
    at += np.arange(0, parts.size, longest)
    return parts.take(at).reshape(*lead, *out), intp.int64(table.take(at % max(table.size, 1))).reshape(*lead, *out)


def _counter(places: list[Any]) -> Any:
    return np.uint8 if len(places) <= 255 else np.uint32


def _maxima(x: Any, places: list[Any], first: Any) -> tuple[Any, Any]:
    """The largest element of each window and its number, without regard to nan."""
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
    """The largest element of each window and its number; the last nan of a window is its largest element."""
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


def are_apart(kernel: Ints, stride: Ints, dilation: Ints) -> bool:
    """Whether each window ends before the next one begins."""
    return all(d * (k - 1) < s for k, s, d in zip(kernel, stride, dilation, strict=True))


def adaptive_edges(n: int, out: int) -> list[tuple[int, int]]:
    """The windows that divide n elements into ``out`` parts; neighbours may overlap if n is no multiple of it."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


@with_kernel("compiled_windows.scattered_in_rows")
def scattered_in_rows(g: Any, indices: Any, n: int) -> Any:
    """Rows of n zeros with each row's elements of g at different places, block by block."""
    r: Any = np.empty((len(g), n), g.dtype)

    def work(mine: slice) -> None:
        into = r[mine]
        into.fill(0)
        into.reshape(-1)[indices[mine] + np.arange(0, into.size, n)[:, None]] = g[mine]

    _by_blocks(work, len(g), n, 1.0)
    return r


@with_kernel("compiled_windows.scattered_in_rows")
def added_in_rows(g: Any, indices: Any, n: int) -> Any:
    """Rows of n zeros with each row's elements of g, which are floats, added where its indices say."""
    flat = indices + (np.arange(len(g)) * n)[:, None]
    r = intp.bincount(flat.reshape(-1), g.reshape(-1), len(g) * n)
    return r.astype(g.dtype, copy=False).reshape(len(g), n)


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
    """The divisor of each window's sum: the number of its elements inside the (padded) input."""
    if override is not None:
        return np.array(override, dtype)
    total = np.ones((), dtype)
    for i, (n, k, s, p, o) in enumerate(zip(size, kernel, stride, padding, out, strict=True)):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        total = total * (end - start).astype(dtype).reshape(-1, *(1,) * (len(size) - 1 - i))
    return total.flat[0] if total.size and (total == total.flat[0]).all() else total


class _Means(NamedTuple):
    """Everything about the means of windows that depends on sizes only."""

    reach: Ints | None  # the size that the windows cover, if that is more than the input
    sums: list[list[tuple[Any, ...]]]  # for each dimension except those of size one: the elements that are added up
    divisor: Any
    apart: list[tuple[Any, ...]]  # if windows do not overlap and have few elements: the index of each in all windows


@functools.lru_cache(256)
def means_of(
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


@functools.lru_cache(128)
def means_of_few(shape: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints, *more: Any) -> tuple[Any, ...]:
    """For a shape and the arguments of ``means_of`` the position of each element of each window, ones to add them up
    by, the divisor and the result's shape. The positions are ``None`` if windows reach over the edge."""
    lead = len(shape) - len(kernel)
    plan = means_of(shape[lead:], kernel, stride, padding, out, *more)
    if plan.reach is not None:
        return None, None, None, None
    place = _few_of(shape, kernel, stride, padding, (1,) * len(kernel), out)[0]
    place = place.reshape(-1, place.shape[-1])
    return place, vector_of_ones(place.shape[1], more[-1]), plan.divisor, shape[:lead] + out


@with_kernel("compiled_windows.part_means", least=FEWEST)
def part_means(x: Any, size: Ints, out: Ints, back: bool) -> Any:
    """The means of ``out`` parts, or (``back``) their transpose, where there is a kernel; ``None`` elsewhere."""
    return None


_SHORT = 16  # elements that are added one by one
_APART = 9  # windows of so few elements that do not overlap are written element by element


def sums_of_neighbours(x: Any, d: int, m: int) -> Any:
    """The sums of m neighbours along a dimension; short sums are slow for NumPy, adding arrays is not."""
    if m > _SHORT or m < 2:
        return np.add.reduce(x.reshape(*x.shape[:d], x.shape[d] // m, m, *x.shape[d + 1 :]), d + 1)
    lead = (slice(None),) * d
    r = np.add(x[(*lead, slice(0, None, m))], x[(*lead, slice(1, None, m))])
    for j in range(2, m):
        np.add(r, x[(*lead, slice(j, None, m))], r)
    return r


def repeated(g: Any, m: int, d: int) -> Any:
    """Each element m times along a dimension."""
    if m > _SHORT:
        return intp.repeat(g, m, d)
    r: Any = np.empty((*g.shape[: d + 1], m, *g.shape[d + 1 :]), g.dtype)
    for j in range(m):
        r[(*(slice(None),) * (d + 1), j)] = g
    return r.reshape(*g.shape[:d], g.shape[d] * m, *g.shape[d + 1 :])


# ---- windows at random places
def _starts(sample: Any, n: int, k: int, out: int) -> Any:
    """The beginnings ``(..., out)`` of the windows along one dimension, from draws ``(...)``, in their precision."""
    found = np.full((*sample.shape, out), n - k, np.int64)
    if out > 1:
        step = sample.dtype.type(n - k) / sample.dtype.type(out - 1)
        place = np.arange(out - 1).astype(sample.dtype) + sample[..., None]
        found[..., :-1] = (place * step).astype(np.int64) - (sample * step).astype(np.int64)[..., None]
    return found


def random_corners(samples: Any, size: Ints, kernel: Ints, out: Ints) -> Any:
    """The flat index of each window's first element."""
    k = len(size)
    corner: Any = 0
    for i in range(k):
        drawn = samples[..., 1 - i if k == 2 else i]  # in two dimensions PyTorch's first draw is that of the width
        start = _starts(drawn, size[i], kernel[i], out[i]) * math.prod(size[i + 1 :])
        corner = corner + start.reshape(*drawn.shape, *(1,) * i, out[i], *(1,) * (k - 1 - i))
    return corner

"""The three products of convolution on NumPy arrays: forward, and its transposes in the input and in the weight.

Each is a product of matrices, of which one has the windows as its columns (``columns``), or many small products that
need fewer copies (``rows``). The transpose in the input makes columns and adds them up: as shifted runs, in one
reduction. Independent samples are done by Python's threads, with BLAS on one thread each (``blas.over_samples``).

A ``_Convolution`` holds everything that depends on sizes only and is made once for them. Those of some sizes used last
keep their buffers and views too, because making them takes a tenth of the time. A small convolution goes ``by_table``.

Shapes: input ``(N, G C, *size)``, weight ``(G O, C, *kernel)``, output ``(N, G O, *out)`` with G groups of C input and
O output channels.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..blas import is_shared, over_samples, product, samples_parts
from ..compiled import with_kernel
from . import by_table, columns, few_places
from .columns import Columns, Cut, Geometry, Ints, cut, evenly, junk, out_size, run_buffer, slices, strides_of
from .rows import ForwardRows, forward_suits, rows_of_filters

_COMPILED = 4096  # elements from which kernels are asked for
_FEW = 96  # with fewer places per sample than this, the places of many samples are one matrix
_PER_MICROSECOND = 60_000  # multiplications, columns made and all
_REUSED = 1 << 20  # bytes of one sample's columns up to which buffers are used again
_WIDE = 64  # elements of a window from which the cotangents are brought into another order
_ROWS = 24  # rows that a product should have


class _Convolution:
    """One convolution's sizes, and everything that depends on them only."""

    def __init__(
        self, x: Ints, w: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int, out: Ints | None, dtype: Any
    ) -> None:
        if out is None:
            out = out_size(x[2:], w[2:], stride, padding, dilation)
        self.samples, self.groups = x[0], groups
        self.filters, self.channels = w[0] // groups, w[1]
        self.size, self.kernel, self.out = x[2:], w[2:], out
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.elements, self.places = math.prod(self.kernel), math.prod(out)
        self.width = self.channels * self.elements
        self.x = (self.samples, groups, self.channels, *self.size)
        self.w = (groups, self.filters, self.width)
        self.y = (self.samples, groups, self.filters, *out)
        self.row = math.prod(out[1:])
        self.flat_x, self.flat = (*self.x[:3], math.prod(self.size)), (*self.y[:3], self.places)
        self.shape = (self.samples, w[0], *out)
        self.dtype = dtype
        self.empty = not math.prod(self.y) * self.width
        self.padded = any(padding)
        self.pointwise = self.elements == math.prod(stride) == 1 and not self.padded and self.size == out
        self.by_table, self.input_by_table = by_table.suits(self), by_table.suits_input(self)
        self.few = groups == 1 and self.samples > 1 and self.places < _FEW
        multiplications = math.prod(self.y) * self.width
        shared = is_shared(multiplications, self.filters > 1 and self.width > 1 and self.places > 1)
        self.work = multiplications / _PER_MICROSECOND if shared else 0.0
        parts = samples_parts(self.samples, self.work)
        self.most = parts[0].stop  # samples that a thread gets
        self.reused = self._column_bytes() <= _REUSED
        self.turned = (groups, self.filters, self.channels, *self.kernel)
        self.by_rows = not (self.empty or self.few or self.pointwise) and forward_suits(self)

    @functools.cached_property
    def around(self) -> Ints | None:
        """The padding with which the transpose in the input is a convolution of the cotangent with turned filters.

        It is ``None`` unless that convolution goes by rows, or the cotangent has few columns compared with the input's,
        which would be added up otherwise.
        """
        if self.elements == 1 or math.prod(self.stride) != 1 or self.few:
            return None
        around = tuple(d * (n - 1) - p for d, n, p in zip(self.dilation, self.kernel, self.padding, strict=True))
        if min(around) < 0 or out_size(self.out, self.kernel, self.stride, around, self.dilation) != self.size:
            return None
        given, wanted = self.filters * math.prod(self.size), self.channels * self.places
        depthwise = self.filters == self.channels == 1
        if 2 * given <= wanted or (depthwise and given <= 2 * wanted):
            return around
        x = (self.samples, self.groups * self.filters, *self.out)
        w = (self.groups * self.channels, self.filters, *self.kernel)
        turned = _convolution(x, w, self.stride, around, self.dilation, self.groups, None, self.dtype)
        return around if turned.by_rows and given <= 2 * wanted else None

    def _column_bytes(self) -> int:
        """The bytes of one sample's columns."""
        if self.empty or self.places * self.width > _REUSED:
            return _REUSED + 1
        longest = 2 * self.geometry.length - self.geometry.run  # a run and its reach on both sides
        return self.groups * self.width * longest * int(self.dtype.itemsize)

    @functools.cached_property
    def geometry(self) -> Geometry:
        return columns.geometry(self.size, self.kernel, self.stride, self.padding, self.dilation, self.out)

    def each(self, kind: Any, *arrays: Any) -> list[Any]:
        """``kind(self, *arrays)(slice, *arrays)`` for all samples; each thread has its own ``kind`` and buffers."""
        spare: list[Any] = _kept(self, kind) if self.reused and arrays[0].flags.c_contiguous else []

        def part(mine: slice) -> Any:
            try:
                job = spare.pop()
            except IndexError:  # one job for each thread at work
                job = kind(self, *arrays)
            found = job(mine, *arrays)
            spare.append(job)
            return found

        found = over_samples(part, self.samples, self.work)
        if len(spare) > 2:
            del spare[2:]
        return found

    def product(self, a: Any, b: Any, out: Any) -> Any:
        """``matmul(a, b, out)``, a step of the convolution; the product of a single sample is cut into parts."""
        return product(a, b, out) if self.samples == 1 else np.matmul(a, b, out)


_convolution = functools.lru_cache(512)(_Convolution)


@functools.lru_cache(8)  # at most two of some 1.5 MB each
def _kept(c: _Convolution, kind: Any) -> list[Any]:
    """Buffers that a convolution used, to be used again."""
    return []


# ---- the three products
@with_kernel("compiled_windows.convolve", least=_COMPILED)
def convolve(x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, bias: Any = None) -> Any:
    """Every filter applied at every place, plus a bias for each filter."""
    c = _convolution(x.shape, weight.shape, stride, padding, dilation, groups, None, x.dtype)
    if c.empty:
        y: Any = np.zeros(c.shape, c.dtype)
    elif c.by_table:
        y = by_table.convolve(c, x, weight)
    elif c.pointwise:
        y = _pointwise_product(c, np.ascontiguousarray(weight).reshape(c.w), x).reshape(c.shape)
    elif c.few:
        y = few_places.convolve(c, x, weight)
    else:
        y = np.empty(c.y, c.dtype)
        if c.by_rows:
            c.each(ForwardRows, x.reshape(c.x), rows_of_filters(c, weight), bias, y)
        else:
            c.each(_Forward, x.reshape(c.x), np.ascontiguousarray(weight).reshape(c.w), bias, y)
        return y.reshape(c.shape)
    if bias is not None:
        y += bias.reshape(-1, *(1,) * len(c.out))
    return y


@with_kernel("compiled_windows.convolve_weight", least=_COMPILED)
def convolve_weight(x: Any, g: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` in its weight: the sum of each weight's inputs times the output's cotangents."""
    shape = (g.shape[1], x.shape[1] // groups, *kernel)
    c = _convolution(x.shape, shape, stride, padding, dilation, groups, g.shape[2:], x.dtype)
    if c.empty:
        return np.zeros(shape, c.dtype)
    if c.by_table:
        return by_table.convolve_weight(c, x, g)
    if c.few:
        return few_places.convolve_weight(c, x, g)
    kind = _ToWeightPointwise if c.pointwise else _ToWeight
    r = functools.reduce(operator.iadd, c.each(kind, x.reshape(c.x), g.reshape(c.y)))
    return np.ascontiguousarray(r.swapaxes(1, 2)).reshape(shape)


@with_kernel("compiled_windows.convolve_input", least=_COMPILED)
def convolve_input(g: Any, weight: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` in its input: each place's cotangent is added to the elements of its window."""
    shape = (len(g), groups * weight.shape[1], *size)
    c = _convolution(shape, weight.shape, stride, padding, dilation, groups, g.shape[2:], g.dtype)
    if c.empty:
        return np.zeros(shape, c.dtype)
    if c.input_by_table:
        return by_table.convolve_input(c, g, weight)
    around = c.around
    if around is not None:
        turned = np.flip(weight.reshape(c.turned), tuple(range(3, 3 + len(size)))).swapaxes(1, 2)
        return convolve(g, turned.reshape(groups * c.channels, c.filters, *c.kernel), stride, around, dilation, groups)
    w = np.ascontiguousarray(weight).reshape(c.w).swapaxes(1, 2)
    if c.pointwise:
        return _pointwise_product(c, w, g).reshape(shape)
    if c.few:
        return few_places.convolve_input(c, g, weight)
    if junk(c.geometry) * c.filters <= 4 * columns.ROW:
        r = (np.empty if c.geometry.covered else np.zeros)(c.x, c.dtype)
        c.each(_ToInput, g.reshape(c.y), w, r)
    else:
        r = np.empty(c.x, c.dtype)
        c.each(_ToInputPlaces, g.reshape(c.y), w, r)
    return r.reshape(shape)


def _pointwise_product(c: _Convolution, w: Any, x: Any) -> Any:
    """The matrix of each group times those of all samples."""
    y = np.empty((c.samples, c.groups, w.shape[1], c.places), c.dtype)
    x = x.reshape(c.samples, c.groups, w.shape[2], c.places)

    def work(mine: slice) -> None:
        c.product(w, x[mine], y[mine])

    over_samples(work, c.samples, c.work)
    return y


# ---- in blocks
class _Forward:
    """Filters times columns."""

    def __init__(self, c: _Convolution, x: Any, w: Any, bias: Any, y: Any) -> None:
        g = c.geometry
        self.c = c
        places_left_out = g.inner[1:] != g.out[1:]
        as_runs = c.filters * (columns.ROW + columns.ELEMENT * g.out[-1] + junk(g) * c.width)
        self.runs = not g.strided and (not places_left_out or as_runs <= columns.ROW * c.width)
        self.crop = self.runs and places_left_out
        self.cut = cut(c.most, c.groups, g.out[0], c.width * (g.strides[0] if self.runs else c.row) * x.itemsize)
        self.columns = Columns(x, g, c.kernel, self.runs, self.cut)
        lead = (self.cut.samples, self.cut.groups, c.filters)
        self.buffers = [run_buffer(lead, g, rows, c.dtype) for rows in self.cut.rows if self.crop]
        self.added = (c.groups, c.filters, *(1,) * len(c.kernel))

    def __call__(self, mine: slice, x: Any, w: Any, bias: Any, y: Any) -> None:
        added = None if bias is None else bias.reshape(self.added)
        for part in self.cut.parts(mine, self.c.groups):
            into, filters = y[part], w[part[1]]
            n, m = into.shape[:2]
            views = self.columns.take(x, part, n, m)
            for number, rows in enumerate(self.cut.rows):
                matrix = self.columns.block(number, views, n, m)
                result = into[:, :, :, rows]
                if self.crop:
                    run, inside = self.buffers[number]
                    self.c.product(filters, matrix, run[:n, :m])
                    if added is None:
                        np.copyto(result, inside[:n, :m])
                    else:
                        np.add(inside[:n, :m], added[part[1]], result)
                else:
                    row = self.c.row
                    at = slice(rows.start * row, rows.stop * row)
                    self.c.product(filters, matrix, into.reshape(n, m, self.c.filters, -1)[..., at])
                    if added is not None:
                        result += added[part[1]]


class _ToWeight:
    """Columns times cotangents: the products for the weight's cotangent."""

    def __init__(self, c: _Convolution, x: Any, g: Any) -> None:
        geometry = c.geometry
        self.c = c
        wide = c.width >= _WIDE or c.filters == 1
        runs = wide and junk(geometry) * c.filters <= columns.ROW
        self.cut = cut(
            c.most, c.groups, geometry.out[0], c.width * (geometry.strides[0] if runs else c.row) * x.itemsize
        )
        self.columns = Columns(x, geometry, c.kernel, runs, self.cut)
        lead = (self.cut.samples, self.cut.groups)
        self.buffers = [
            _cotangent_buffer(lead, c.filters, geometry, rows, runs, c.dtype) for rows in self.cut.rows if wide
        ]

    def __call__(self, mine: slice, x: Any, g: Any) -> Any:
        c = self.c
        r = np.zeros((c.groups, c.width, c.filters), c.dtype)
        for part in self.cut.parts(mine, c.groups):
            given, into = g[part], r[part[1]]
            n, m = given.shape[:2]
            views = self.columns.take(x, part, n, m)
            for number, rows in enumerate(self.cut.rows):
                matrix = self.columns.block(number, views, n, m)
                if self.buffers:
                    buffer, inside = self.buffers[number]
                    np.copyto(inside[:n, :m], given[:, :, :, rows])
                    cotangents = buffer[:n, :m]
                else:
                    cotangents = given[:, :, :, rows].reshape(n, m, c.filters, -1).swapaxes(2, 3)
                found = c.product(matrix, cotangents, np.empty((n, m, c.width, c.filters), c.dtype))
                into += found[0] if n == 1 else np.add.reduce(found, 0)
        return r


class _ToWeightPointwise:
    """``_ToWeight`` for a convolution whose input is its own matrix of columns."""

    def __init__(self, c: _Convolution, x: Any, g: Any) -> None:
        self.c = c

    def __call__(self, mine: slice, x: Any, g: Any) -> Any:
        c = self.c
        r = np.zeros((c.groups, c.width, c.filters), c.dtype)
        found = np.empty_like(r)
        for one, other in zip(x[mine], g[mine], strict=True):
            cotangents = other.reshape(c.groups, c.filters, c.places)
            r += c.product(one.reshape(c.groups, c.width, c.places), cotangents.swapaxes(1, 2), found)
        return r


def _cotangent_buffer(lead: Ints, filters: int, g: Geometry, rows: slice, runs: bool, dtype: Any) -> tuple[Any, Any]:
    """``run_buffer`` with the filters behind the places, the order in which BLAS is fastest."""
    size = g.inner[1:] if runs else g.out[1:]
    buffer: Any = np.zeros((*lead, rows.stop - rows.start, *size, filters), dtype)
    length = slice(None)
    if runs:
        run = g.rows(rows)
        length = slice(run.stop - run.start)
    inside = buffer[(..., *(slice(o) for o in g.out[1:]), slice(None))]
    return buffer.reshape(*lead, -1, filters)[:, :, length], np.moveaxis(inside, -1, 2)


def _input_cut(c: _Convolution, size: int) -> tuple[Cut, int]:
    """The part of an input's cotangent that is computed at a time, and the number of its channels.

    Rows of places are cut last: each part adds up the ``reach`` around it again.
    """
    g, limit = c.geometry, columns.LIMIT
    reach = g.length - g.run
    channel_bytes = c.elements * (g.run + 2 * reach) * size
    group_bytes = c.channels * channel_bytes
    whole = [slice(0, g.out[0])]
    if c.groups * group_bytes <= limit:
        return Cut(evenly(c.most, columns.BLOCK // (c.groups * group_bytes)), c.groups, whole), c.channels
    if group_bytes <= limit:
        return Cut(1, evenly(c.groups, limit // group_bytes), whole), c.channels
    some = evenly(c.channels, max(limit // channel_bytes, -(-_ROWS // c.elements)))
    element_bytes = some * c.elements * size
    step = max((limit // element_bytes - 2 * reach) // g.strides[0], 4 * reach // g.strides[0])
    return Cut(1, 1, slices(g.out[0], evenly(g.out[0], step))), some


class _ToInput:
    """Filters times cotangents as runs, which are shifted and added up to the cotangents of the input."""

    def __init__(self, c: _Convolution, g: Any, w: Any, r: Any) -> None:
        geometry = c.geometry
        self.c = c
        self.cut, self.some = _input_cut(c, g.itemsize)
        self.direct = geometry.plain and len(self.cut.rows) == 1
        self.axes = tuple(range(3, 3 + len(c.kernel)))
        lead = (self.cut.samples, self.cut.groups)
        self.blocks = [
            (
                rows,
                *run_buffer((*lead, c.filters), geometry, rows, c.dtype),
                *_shifted_columns((*lead, self.some), c.kernel, geometry, rows, c.dtype),
            )
            for rows in self.cut.rows
        ]
        phases = 0 if self.direct else len(geometry.phases)
        self.images = np.empty((phases, *lead, c.channels, *geometry.inner), c.dtype)
        self.flat = self.images.reshape(*self.images.shape[:4], geometry.length)

    def __call__(self, mine: slice, g: Any, w: Any, r: Any) -> None:
        phases = self.c.geometry.phases
        for part in self.cut.parts(mine, self.c.groups):
            into = r[part]
            n, m, channels = into.shape[:3]
            flat = into.reshape(1, n, m, channels, -1) if self.direct else self.flat[:, :n, :m]
            if len(self.blocks) > 1:
                flat.fill(0)
            self._add(g[part], w[part[1]], flat)
            if not self.direct:
                for image, phase in zip(self.images, phases, strict=True):
                    into[(..., *phase.source)] = image[(slice(n), slice(m), ..., *phase.target)]

    def _add(self, given: Any, w: Any, flat: Any) -> None:
        """Add to (or with a single block, write) the flat phases of some samples' groups."""
        (n, m), elements, some = given.shape[:2], self.c.elements, self.some
        for rows, run, inside, matrix, shifted, at in self.blocks:
            np.copyto(inside[:n, :m], given[:, :, :, rows])
            for c in range(0, self.c.channels, some):
                filters = w[:, c * elements : (c + some) * elements]
                self.c.product(filters, run[:n, :m], matrix[:n, :m, : filters.shape[1]])
                for image, view in zip(flat[:, :, :, c : c + some, at], shifted, strict=True):
                    if len(self.blocks) == 1:
                        np.add.reduce(view[:n, :m, : image.shape[2]], self.axes, self.c.dtype, image)
                    else:
                        image += np.add.reduce(view[:n, :m, : image.shape[2]], self.axes, self.c.dtype)


def _shifted_columns(lead: Ints, kernel: Ints, g: Geometry, rows: slice, dtype: Any) -> tuple[Any, Any, slice]:
    """A buffer for the columns ``(n, G, C kernel, run)`` of some rows of places; for each phase the view
    ``(n, G, C, *elements of the window in it, inputs)`` of them in which the cotangents of one input have the same
    position; and the slice of those inputs.

    A run has as many zeros around it as the shifts reach.
    """
    reach, at = g.length - g.run, g.rows(rows)
    run = at.stop - at.start
    length = reach + run + reach
    buffer = np.zeros((*lead, *kernel, length), dtype)
    size = buffer.itemsize
    apart = [step * length for step in strides_of(kernel)]  # from one element of the window to the next
    shifted = []
    for phase in g.phases:
        first = sum(part.start * step for part, step in zip(phase.kernel, apart, strict=True)) + reach - phase.shift
        steps = [part.step * step - shift for part, step, shift in zip(phase.kernel, apart, phase.steps, strict=True)]
        strides = (*buffer.strides[:3], *(s * size for s in steps), size)
        shifted.append(np.ndarray((*lead, *phase.counts, run + reach), dtype, buffer, first * size, strides))
    matrix = buffer.reshape(*lead[:2], lead[2] * math.prod(kernel), length)
    return matrix[..., reach : reach + run], shifted, slice(at.start, at.stop + reach)


class _ToInputPlaces:
    """``_ToInput`` place by place, where runs would have too many places that do not exist."""

    def __init__(self, c: _Convolution, g: Any, w: Any, r: Any) -> None:
        self.c = c
        self.cut = cut(c.most, c.groups, c.out[0], c.width * c.row * g.itemsize)
        lead = (self.cut.samples, self.cut.groups)
        size = [n + 2 * p for n, p in zip(c.size, c.padding, strict=True)]
        self.images: Any = np.empty((*lead, c.channels, *size), c.dtype)
        self.buffers = [np.empty((*lead, c.width, (s.stop - s.start) * c.row), c.dtype) for s in self.cut.rows]
        self.inside = (..., *(slice(p, p + n) for n, p in zip(c.size, c.padding, strict=True)))

    def __call__(self, mine: slice, g: Any, w: Any, r: Any) -> None:
        c = self.c
        for part in self.cut.parts(mine, c.groups):
            given, filters = g[part], w[part[1]]
            n, m = given.shape[:2]
            image = self.images[:n, :m]
            image.fill(0)
            for rows, buffer in zip(self.cut.rows, self.buffers, strict=True):
                matrix = buffer[:n, :m]
                c.product(filters, given[:, :, :, rows].reshape(n, m, c.filters, -1), matrix)
                matrix = matrix.reshape(n, m, c.channels, *c.kernel, -1, *c.out[1:])
                columns.scatter_windows(image, matrix, c.stride, c.dilation, rows.start)
            r[part] = image[self.inside]

"""Products of convolution for which a window is laid out along all of its dimensions but one.

Columns (``columns``) repeat the input once for each element of a window. BLAS reads matrices whose rows lie apart, so
the window's first dimension, ``kh`` long, need not be repeated:

- The forward pass has a product for each row of places. With images as ``(rows, C kw, places of a row)`` the columns
  of one row of places are ``kh`` consecutive rows: a matrix without a copy.
- The weights have a product for each of the ``kh``. With images as ``(C kw, rows, places of a row)`` its columns are
  the same matrix, some rows further on.

For windows of 3x3 this copies a third as much. No place is computed that does not exist, and the forward pass writes
results where they belong. OpenBLAS does the smaller products without copying (``products``, NOTE [ Narrow products ]).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from .columns import cut, evenly

_BYTES = 1 << 20  # of images laid out at a time
_NARROW, SMALL_PRODUCT = 48, 1_000_000
_VECTOR = 16  # float32 numbers of a vector register with AVX-512
_IDLE = 1.15  # the most that the vectors of a row of places may hold, divided by the number of places
_FEW_ELEMENTS = 24  # products with fewer rows are not worth one for each of the window's rows


def forward_suits(c: Any) -> bool:
    """Whether ``ForwardRows`` suits a convolution: the products must be small and fill vector registers."""
    if len(c.kernel) != 2 or c.elements == 1 or c.dilation[0] != 1 or c.filters == 1:
        return False
    row = c.out[1]
    whole = -(-row // _VECTOR) * _VECTOR
    return bool(whole <= _IDLE * row and c.filters * c.width * row <= SMALL_PRODUCT)


def weight_suits(c: Any) -> bool:
    """Whether ``ToWeightRows`` suits a convolution."""
    return bool(c.stride[0] == 1 and c.filters > 1 and c.width // c.kernel[0] >= _FEW_ELEMENTS)


def _inside(n: int, places: int, s: int, first: int) -> tuple[slice, slice]:
    """The elements of ``n`` that lie at ``places``, which are ``s`` apart from ``first`` on; and those places."""
    low = min(max(0, -(first // s)), places)
    high = max(low, min(places, (n - 1 - first) // s + 1))
    start = low * s + first
    return slice(start, start + (high - low - 1) * s + 1, s) if high > low else slice(0, 0), slice(low, high)


class ForwardRows:
    """Filters times the windows of each row of places."""

    def __init__(self, c: Any, x: Any, w: Any, bias: Any, y: Any) -> None:
        (kh, kw), (ho, wo) = c.kernel, c.out
        rows, wide = (ho - 1) * c.stride[0] + kh, c.channels * kw
        self.c, self.step = c, evenly(c.most, _BYTES // (c.groups * rows * wide * wo * x.itemsize))
        images: Any = np.zeros((self.step, c.groups, rows, c.channels, kw, wo), x.dtype)
        taken, there = _inside(c.size[0], rows, 1, -c.padding[0])
        self.copies = []
        for e in range(kw):
            elements, places = _inside(c.size[1], wo, c.stride[1], e * c.dilation[1] - c.padding[1])
            self.copies.append((images[:, :, there, :, e, places], taken, elements))
        apart = (*images.strides[:2], images.strides[2] * c.stride[0], *images.strides[4:])
        self.windows: Any = np.ndarray((self.step, c.groups, ho, kh * wide, wo), x.dtype, images, 0, apart)
        self.added = (c.groups, c.filters, 1, 1)

    def __call__(self, mine: slice, x: Any, w: Any, bias: Any, y: Any) -> None:
        for start in range(mine.start, mine.stop, self.step):
            some = slice(start, min(start + self.step, mine.stop))
            n = some.stop - start
            for into, rows, elements in self.copies:
                np.copyto(into[:n], x[some, :, :, rows, elements].swapaxes(2, 3))
            self.c.product(w, self.windows[:n], y[some].swapaxes(2, 3))
            if bias is not None:
                y[some] += bias.reshape(self.added)


def rows_of_filters(c: Any, weight: Any) -> Any:
    """Filters as ``ForwardRows`` takes them: ``(G, 1, O, kh C kw)``."""
    kh, kw = c.kernel
    w = weight.reshape(c.groups, 1, c.filters, c.channels, kh, kw).swapaxes(3, 4)
    return w.reshape(c.groups, 1, c.filters, c.width)


class ToWeightRows:
    """Windows times cotangents, a product for each row of the window: ``(kh, G, C kw, O)``."""

    def __init__(self, c: Any, x: Any, g: Any) -> None:
        kh, *kernel = c.kernel
        ho, *out = c.out
        self.c, self.wide = c, c.width // kh
        self.cut = cut(c.most, c.groups, ho, self.wide * c.row * x.itemsize)
        lead, most = (self.cut.samples, self.cut.groups), self.cut.rows[0].stop
        reach = c.dilation[0] * (kh - 1)
        images: Any = np.zeros((*lead, c.channels, *kernel, most + reach, *out), x.dtype)
        cotangents: Any = np.empty((*lead, most, *out, c.filters), x.dtype)
        self.blocks = []
        for rows in self.cut.rows:
            n = rows.stop - rows.start
            taken, there = _inside(c.size[0], n + reach, 1, rows.start - c.padding[0])
            aside = (slice(0, there.start), slice(there.stop, n + reach))  # zeros, where other blocks have been
            edges = [images[(..., edge, *(slice(None),) * len(out))] for edge in aside if len(self.cut.rows) > 1]
            copies = []
            for element in itertools.product(*map(range, kernel)):
                first = [e * d - p for e, d, p in zip(element, c.dilation[1:], c.padding[1:], strict=True)]
                ends = [_inside(*sizes) for sizes in zip(c.size[1:], out, c.stride[1:], first, strict=True)]
                into = images[(..., *element, there, *(places for _, places in ends))]
                copies.append((into, (..., taken, *(elements for elements, _ in ends))))
            few = self._at_a_time(n)
            apart = [step * x.itemsize for step in (c.dilation[0] * c.row, few * c.row, (most + reach) * c.row, 1)]
            windows: Any = np.ndarray(
                (kh, *lead, n // few, self.wide, few * c.row),
                x.dtype,
                images,
                0,
                (apart[0], *images.strides[:2], *apart[1:]),
            )
            shape = (n // few, few * c.row, c.filters)
            self.blocks.append((rows, edges, copies, windows, cotangents[:, :, :n], shape))

    def _at_a_time(self, rows: int) -> int:
        """The number of rows of places in a product: all, or a part that is small."""
        each = self.wide * self.c.filters * self.c.row
        if min(self.wide, self.c.filters) > _NARROW or rows * each <= SMALL_PRODUCT:
            return rows
        few = max((n for n in range(1, rows) if not rows % n and n * each <= SMALL_PRODUCT), default=rows)
        return few if few * each * 4 > SMALL_PRODUCT else rows

    def __call__(self, mine: slice, x: Any, g: Any) -> Any:
        c = self.c
        r = np.zeros((c.kernel[0], c.groups, self.wide, c.filters), c.dtype)
        for part in self.cut.parts(mine, c.groups):
            given, images, sums = g[part], x[part], r[:, part[1]]
            n, m = given.shape[:2]
            for rows, edges, copies, windows, cotangents, shape in self.blocks:
                for edge in edges:
                    edge.fill(0)
                for into, taken in copies:
                    np.copyto(into[:n, :m], images[taken])
                np.copyto(cotangents[:n, :m], np.moveaxis(given[:, :, :, rows], 2, -1))
                factor = cotangents[:n, :m].reshape(n, m, *shape)
                found = np.empty((c.kernel[0], n, m, shape[0], self.wide, c.filters), c.dtype)
                c.product(windows[:, :n, :m], factor, found)
                sums += np.add.reduce(found, (1, 3))
        return r


def from_rows(c: Any, r: Any) -> Any:
    """The result of ``ToWeightRows`` as ``(G O, C, *kernel)``."""
    r = r.reshape(c.kernel[0], c.groups, c.channels, math.prod(c.kernel[1:]), c.filters)
    return np.ascontiguousarray(r.transpose(1, 4, 2, 0, 3)).reshape(c.groups * c.filters, c.channels, *c.kernel)

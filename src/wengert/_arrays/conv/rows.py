"""Convolution's forward product with windows that are laid out along all of their dimensions but one.

Columns (``columns``) repeat the input once for each element of a window. BLAS reads matrices whose rows lie apart, so
the window's first dimension, ``kh`` long, need not be repeated: with images as ``(rows, C kw, places of a row)`` the
columns of one row of places are ``kh`` consecutive rows, a matrix without a copy, and there is a product for each row.

For windows of 3x3 this copies a third as much. No place is computed that does not exist, and results are written where
they belong. OpenBLAS has a kernel without copies for products of up to a million multiplications.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .columns import evenly, taken

_BYTES = 1 << 20  # of images laid out at a time
SMALL_PRODUCT = 1_000_000
_VECTOR = 16  # float32 numbers of a vector register with AVX-512
_IDLE = 1.15  # the most that the vectors of a row of places may hold, divided by the number of places


def forward_suits(c: Any) -> bool:
    """Whether ``ForwardRows`` suits a convolution: the products must be small and fill vector registers."""
    if len(c.kernel) != 2 or c.elements == 1 or c.dilation[0] != 1 or c.filters == 1:
        return False
    row = c.out[1]
    whole = -(-row // _VECTOR) * _VECTOR
    return bool(whole <= _IDLE * row and c.filters * c.width * row <= SMALL_PRODUCT)


class ForwardRows:
    """Filters times the windows of each row of places."""

    def __init__(self, c: Any, x: Any, w: Any, bias: Any, y: Any) -> None:
        (kh, kw), (ho, wo) = c.kernel, c.out
        rows, wide = (ho - 1) * c.stride[0] + kh, c.channels * kw
        self.c, self.step = c, evenly(c.most, _BYTES // (c.groups * rows * wide * wo * x.itemsize))
        images: Any = np.zeros((self.step, c.groups, rows, c.channels, kw, wo), x.dtype)
        above, there = taken(c.size[0], rows, 1, c.padding[0], 0)
        self.copies = []
        for e in range(kw):
            elements, places = taken(c.size[1], wo, c.stride[1], c.padding[1], e * c.dilation[1])
            self.copies.append((images[:, :, there, :, e, places], above, elements))
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

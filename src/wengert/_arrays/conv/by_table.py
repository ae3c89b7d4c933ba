"""The three products of convolution on few numbers, whose time depends on the number of NumPy calls.

A table, made once for all sizes, says where in the input each element of each window lies: columns are one ``take``, and
their transpose is one ``bincount``. ``c`` is the ``_Convolution`` of ``products``.
"""

from __future__ import annotations

import math
from typing import Any
import numpy as np

from . import columns

_FEW = 2048  # elements of the columns up to which this is the fastest way


def suits(c: Any) -> bool:
    """Whether the columns of all samples are few numbers."""
    return c.groups == 1 and 0 < c.samples * c.places * c.width <= _FEW and c.dtype.char in "fd"


def table(c: Any) -> Any:
    """The position in the flattened input of each number of the columns ``(C kernel, N places)``.

    Padding has the position after the last element.
    """
    shape = (c.samples, c.channels, *c.size)
    count = c.samples * c.channels * math.prod(c.size)
    border = [(0, 0), (0, 0), *((p, p) for p in c.padding)]
    positions = np.pad(np.arange(count).reshape(shape), border, constant_values=count)
    found = columns.windows(positions, 1, c.kernel, c.stride, c.dilation, c.out)
    return found.reshape(c.samples, c.width, c.places).swapaxes(0, 1).reshape(c.width, -1)


def _columns(c: Any, x: Any) -> Any:
    if not c.padded:
        return x.take(c.table)
    given = np.zeros(x.size + 1, x.dtype)
    given[:-1] = x.reshape(x.size)
    return given.take(c.table)


def _filters_first(c: Any, y: Any) -> Any:
    """``(N, O, *out)`` as a matrix ``(O, N places)``."""
    return (y if c.samples == 1 else y.swapaxes(0, 1)).reshape(c.filters, -1)


def convolve(c: Any, x: Any, weight: Any) -> Any:
    y = weight.reshape(c.filters, c.width).dot(_columns(c, x))
    if c.samples > 1:
        y = np.ascontiguousarray(y.reshape(c.filters, c.samples, c.places).swapaxes(0, 1))
    return y.reshape(c.shape)


def convolve_weight(c: Any, x: Any, g: Any) -> Any:
    return _filters_first(c, g).dot(_columns(c, x).T).reshape(c.filters, c.channels, *c.kernel)


def convolve_input(c: Any, g: Any, weight: Any) -> Any:
    parts = weight.reshape(c.filters, c.width).T.dot(_filters_first(c, g))
    shape = (c.samples, c.channels, *c.size)
    r = np.bincount(c.table.reshape(-1), parts.reshape(-1), math.prod(shape) + 1)
    return r[:-1].astype(c.dtype).reshape(shape)

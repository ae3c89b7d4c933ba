"""The three products of convolution on few numbers, whose time depends on the number of NumPy calls.

A table that depends on sizes only says where in the input each element of each window lies. So columns are one
``take``, and their transpose is one ``bincount``. ``c`` is the ``_Convolution`` of ``products``.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import intp
from . import columns

_FEW = 16384  # elements of the columns up to which this is the fastest way
_FEW_TO_INPUT = 6144  # the same for the transpose in the input


def suits(c: Any) -> bool:
    """Whether the columns of all samples are few numbers."""
    return bool(c.samples * c.groups * c.places * c.width <= _FEW)


def suits_input(c: Any) -> bool:
    """Whether they are few enough for the transpose in the input."""
    return bool(c.samples * c.groups * c.places * c.width <= min(_FEW, _FEW_TO_INPUT) and c.dtype.char in "fd")


@functools.lru_cache(96)  # some 100 kB each at most
def _table(c: Any) -> Any:
    """The position in the flattened input of each number of the columns ``(G, C kernel, N places)``.

    Padding has the position after the last element.
    """
    count = math.prod(c.x)
    border = [(0, 0), (0, 0), *((p, p) for p in c.padding)]
    numbers = np.arange(count).reshape(c.samples, c.groups * c.channels, *c.size)
    positions = np.pad(numbers, border, constant_values=count)
    found = columns.windows(positions, c.groups, c.kernel, c.stride, c.dilation, c.out)
    found = found.reshape(c.samples, c.groups, c.width, c.places)
    return np.moveaxis(found, 0, 2).reshape(c.groups, c.width, -1)


def _columns(c: Any, x: Any) -> Any:
    if not c.padded:
        return x.take(_table(c))
    given = np.zeros(x.size + 1, x.dtype)
    given[:-1] = x.reshape(x.size)
    return given.take(_table(c))


def _filters_first(c: Any, y: Any) -> Any:
    """``(N, G O, *out)`` as matrices ``(G, O, N places)``."""
    return (y if c.samples == 1 else y.swapaxes(0, 1)).reshape(c.groups, c.filters, -1)


def _product(a: Any, b: Any) -> Any:
    return a[0].dot(b[0]) if len(a) == 1 else np.matmul(a, b)  # `matmul` takes longer to start


def convolve(c: Any, x: Any, weight: Any) -> Any:
    y = _product(weight.reshape(c.w), _columns(c, x))
    if c.samples > 1:
        y = np.ascontiguousarray(y.reshape(-1, c.samples, c.places).swapaxes(0, 1))
    return y.reshape(c.shape)


def convolve_weight(c: Any, x: Any, g: Any) -> Any:
    r = _product(_filters_first(c, g), _columns(c, x).swapaxes(1, 2))
    return r.reshape(c.groups * c.filters, c.channels, *c.kernel)


def convolve_input(c: Any, g: Any, weight: Any) -> Any:
    parts = _product(weight.reshape(c.w).swapaxes(1, 2), _filters_first(c, g))
    count = math.prod(c.x)
    r = intp.bincount(_table(c).reshape(-1), parts.reshape(-1), count + 1)[:count]
    return r.astype(c.dtype).reshape(c.samples, -1, *c.size)

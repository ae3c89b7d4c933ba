"""How arrays are cut into parts: the axes that may be merged, indices and slices of so many elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def evenly(start: int, stop: int, block: int) -> list[slice]:
    """Equal slices of at least ``block`` elements, cut between whole vectors."""
    n = stop - start
    pieces = n // block
    step = math.ceil(n / pieces / 64) * 64 if pieces > 1 else max(n, 1)
    return [slice(i, min(i + step, stop)) for i in range(start, stop, step)]


def strides_of(a: Any) -> list[int]:
    """The strides, with 0 for dimensions of size one, in which no step is made."""
    return [s if n > 1 else 0 for s, n in zip(a.strides, a.shape, strict=True)]


def descending(strides: list[int], order: tuple[int, ...]) -> bool:
    """Whether an array's axes, taken in an order, lie in memory in that order; repeated ones (stride 0) always do."""
    last = None
    for axis in order:
        s = strides[axis]
        if s:
            if s < 0 or (last is not None and s > last):
                return False
            last = s
    return True


def merged_shape(sizes: list[int], strides: list[list[int]]) -> tuple[int, ...]:
    """The shape in which neighbouring axes are merged if all operands allow it."""
    shape: list[int] = []
    inner = None  # the axis that comes after
    for axis in reversed(range(len(sizes))):
        n = sizes[axis]
        if n == 1:
            continue
        if inner is not None and all(s[axis] == s[inner] * sizes[inner] for s in strides):
            shape[-1] *= n
        else:
            shape.append(n)
        inner = axis
    return tuple(reversed(shape))


def cut_parts(shape: tuple[int, ...], block: int) -> list[tuple[Any, ...]]:
    """Indices that cut a shape into parts of at most ``block`` elements (or one row): numbers, then one slice."""
    inner = 1
    axis = len(shape) - 1
    while axis and inner * shape[axis] <= block:
        inner *= shape[axis]
        axis -= 1
    length = shape[axis]
    pieces = -(-length * inner // block)
    pieces += pieces & 1  # an even number gives two threads equal work
    step = max(-(-length // max(pieces, 1)), 1)
    if inner == 1:
        step = -(-step // 64) * 64  # whole vectors
    slices = [slice(i, min(i + step, length)) for i in range(0, length, step)]
    if not axis:
        return [(s,) for s in slices]
    return [(*index, s) for index in np.ndindex(*shape[:axis]) for s in slices]

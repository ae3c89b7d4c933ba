"""Shapes of the results of indexing with arrays, by NumPy's rules."""

from __future__ import annotations

from typing import Any

import numpy as np


def without_masks(dims: Any, indices: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The indices with each mask replaced by index arrays of integers, one for each dim."""
    ds: list[int] = []
    arrays: list[Any] = []
    for d, i in zip(dims, indices, strict=True):
        if i.dtype.kind == "b":
            arrays += i.nonzero()
            ds += range(d, d + i.ndim)
        else:
            arrays.append(i)
            ds.append(d)
    return tuple(ds), arrays


def adjacent(dims: Any) -> bool:
    """Whether the indexed dims stand side by side."""
    return len(dims) == 1 or dims[-1] - dims[0] == len(dims) - 1


def result_shape(shape: tuple[int, ...], dims: Any, shapes: Any) -> tuple[int, ...]:
    """The shape of the result of ``index``, for index tensors of integers."""
    whole = np.broadcast_shapes(*shapes)
    rest = tuple(n for d, n in enumerate(shape) if d not in dims)
    lead = dims[0] if adjacent(dims) else 0
    return rest[:lead] + whole + rest[lead:]


def fits_into(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether ``shape`` broadcasts to ``whole`` without changing ``whole``."""
    if shape == whole:
        return True
    lead = len(whole) - len(shape)
    return lead >= 0 and all(n in (1, m) for n, m in zip(shape, whole[lead:], strict=True))

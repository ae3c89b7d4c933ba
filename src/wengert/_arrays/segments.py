"""Segments of an array along a dim, their elements, and bags of indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import intp

START_VALUES = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


def segment_places(sizes: Any, starts: Any, n: int) -> tuple[Any, Any]:
    """The elements of all segments in order (``None`` if these are all of them), and the segment that each is in."""
    rows, segments = sizes.shape
    segment = intp.repeat(np.arange(rows * segments), sizes.reshape(-1))
    before = np.cumsum(sizes.reshape(-1)) - sizes.reshape(-1)
    first = (starts + n * np.arange(rows)[:, None]).reshape(-1)
    place = np.arange(segment.size) + (first - before)[segment]
    return (None if place.size == rows * n and (place == np.arange(place.size)).all() else place), segment


def bag_of(offsets: Any, n: int, include_last_offset: bool, last_to_end: bool = False) -> tuple[Any, int]:
    """The bag of each index (without the indices after the last bag's end), and the number of bags.

    ``last_to_end``: the last bag has all that is left, whatever the last offset says.
    """
    if include_last_offset and last_to_end and offsets.size > 1:
        offsets = np.append(offsets[:-1], n)
    ends = offsets[1:] if include_last_offset else np.append(offsets[1:], n) if offsets.size else offsets
    sizes = np.maximum(ends - offsets[: ends.size], 0)
    return intp.repeat(np.arange(ends.size), sizes), ends.size

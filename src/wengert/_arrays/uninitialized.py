"""The memory of tensors whose elements nobody gives: as NumPy finds it, or filled with one value.

``torch.use_deterministic_algorithms(True)`` has it filled, unless ``torch.utils.deterministic`` says otherwise.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._base.dtypes import BY_NUMPY

empty: Any = np.empty  # called as ``uninitialized.empty(shape, dtype)``


def fill_with_one_value(yes: bool) -> None:
    """Choose which of the two ``empty`` is."""
    global empty
    empty = _filled if yes else np.empty


def _filled(shape: Any, dtype: Any) -> Any:
    return settled(np.empty(shape, dtype))


def settled(a: Any) -> Any:
    """An uninitialised array; filled with NaN, or the largest number of a dtype that has none, if that is chosen."""
    if empty is not _filled:
        return a
    switches = sys.modules.get(f"{__package__.partition('.')[0]}.utils.deterministic")
    if getattr(switches, "fill_uninitialized_memory", True):
        kind = BY_NUMPY[a.dtype]
        number = kind.is_floating_point or kind.is_complex
        a.fill(np.nan if number else a.dtype.kind == "b" or np.iinfo(a.dtype).max)
    return a

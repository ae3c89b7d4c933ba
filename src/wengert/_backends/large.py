"""What NumPy is slow at when there are many elements, done in another way: the same values, in fewer nanoseconds.

Each function takes NumPy's own way for a small array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._blocks import LARGE, elementwise
from .numpy import in_lib

_MANY = 2048  # elements from which these ways are the faster ones
_BITS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


# ------------------------------------------------------------------------------------------------------------- choosing
@in_lib
def where(condition: Any, x: Any, y: Any) -> Any:
    """``numpy.where``, without a branch per element.

    NumPy's loop asks and jumps, which takes ten times as long where the answers cannot be foreseen. Here the bits of
    one operand are masked by the condition and joined to those of the other.
    """
    if condition.size < _MANY or condition.dtype is not _BOOL:
        return np.where(condition, x, y)
    dtype = np.result_type(x, y)
    bits = _BITS.get(dtype.itemsize)
    if bits is None or dtype.hasobject:
        return np.where(condition, x, y)
    x, y = np.asarray(x, dtype).view(bits), np.asarray(y, dtype).view(bits)
    if not y.ndim and not y:
        return large(lambda condition, x: _joined(condition, dtype, x, None), condition, x)
    if not x.ndim and not x:
        return large(lambda condition, y: _joined(condition, dtype, None, y), condition, y)
    return large(lambda condition, x, y: _joined(condition, dtype, x, y), condition, x, y)


_BOOL = np.dtype(np.bool_)


def _joined(condition: Any, dtype: Any, x: Any, y: Any) -> Any:
    """The bits of x where the condition holds, else those of y; ``None`` has none."""
    shape = np.broadcast_shapes(condition.shape, *(a.shape for a in (x, y) if a is not None))
    result = np.empty_like(condition, dtype) if condition.shape == shape else np.empty(shape, dtype)
    mask = result.view((y if x is None else x).dtype)
    np.copyto(mask, condition.view(np.int8))
    if x is None:
        mask -= 1  # all bits where the condition does not hold
        mask &= y
        return result
    np.negative(mask, out=mask)
    if y is None:
        mask &= x
        return result
    mask &= x ^ y
    mask ^= y
    return result


def large(body: Any, *arrays: Any) -> Any:
    """``body(*arrays)`` for an elementwise body, in blocks if the first array is large."""
    return elementwise(body, *arrays) if arrays[0].size >= LARGE else body(*arrays)

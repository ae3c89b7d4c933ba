"""The common dtype of tensors and Python numbers, and casts to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .._arrays.library import ARITHMETIC
from .._base import dtypes as _dtypes
from .._base.modes import slow_if_recording
from .._base.registry import TENSORS
from .tensor import Tensor, make, wrap


def logical_dtype(t: Tensor) -> Any:
    """The NumPy dtype of a tensor whose payload may be a transform's value."""
    a = t._payload
    if type(a) is ndarray:
        return a.dtype
    while isinstance(a, Tensor):
        a = a._payload
    d = a.dtype
    return getattr(d, "base_dtype", d)


NUMBER_DTYPES = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def common_dtype(operands: Any) -> Any:
    """The NumPy dtype in which PyTorch computes with these tensors and Python numbers."""
    kinds: list[tuple[Any, str]] = []  # the operands' categories in the promotion rules
    for t in operands:
        if type(t) is Tensor and type(a := t._payload) is np.ndarray:
            kinds.append((a.dtype, "dim" if a.ndim else "zero"))
        elif isinstance(t, Tensor):
            kinds.append((logical_dtype(t), "dim" if t._payload.ndim else "zero"))
        else:
            kinds.append((NUMBER_DTYPES[type(t)], "scalar"))
    return _dtypes.PROMOTED[tuple(kinds)]


def default_np() -> Any:
    """The NumPy dtype of the default floating dtype."""
    return _dtypes.get_default_dtype().np


def cast(t: Any, dtype: Any) -> Any:
    """Convert the tensor to another NumPy dtype, recorded; a tensor of this dtype is returned unchanged."""
    a = t._payload
    plain = type(a) is ndarray
    if plain and a.dtype is dtype:
        return t
    dtype = getattr(dtype, "base_dtype", dtype)  # that of a transform's value
    if (a.dtype if plain else logical_dtype(t)) is dtype:
        return t
    if t._node is None and plain and a.dtype.kind != "c":
        return constant_cast(t, a, dtype)
    return TENSORS._to_copy(t, dtype)


def constant_cast(t: Any, a: Any, dtype: Any) -> Any:
    """Convert the real array ``a`` of a tensor to another NumPy dtype, not recorded."""
    direct = dtype.char != "e" and not slow_if_recording  # float16 is rounded in two steps
    if direct and (a.ndim < 2 or (a.flags.forc and 1 not in a.shape)):  # else strides are to be kept
        r = make()
        r._node = r._box = None
        try:
            r._payload = a.astype(dtype)
            return r
        except ARITHMETIC:  # strict warnings raise for a number that does not fit
            pass
    return TENSORS._to_copy(t if t._node is None else wrap(a), dtype)

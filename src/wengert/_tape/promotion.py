"""The dtype that tensors and Python numbers are computed in together."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC
from .._base import dtypes as _dtypes
from .._base.modes import slow_if_recording
from .._base.registry import TENSORS
from .tensor import Tensor, wrap


def kind_of(t: Tensor) -> tuple[Any, str]:
    """An operand as the promotion rules see it."""
    return (logical_dtype(t), "dim" if t._payload.ndim else "zero")


def logical_dtype(t: Tensor) -> Any:
    """The NumPy dtype of a tensor whose payload may be a transform's value."""
    a = t._payload
    if type(a) is np.ndarray:
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
    """The NumPy dtype that PyTorch computes in, for tensors and Python numbers together."""
    return _dtypes.PROMOTED[
        tuple([kind_of(t) if isinstance(t, Tensor) else (NUMBER_DTYPES[type(t)], "scalar") for t in operands])
    ]


def default_np() -> Any:
    """The default floating dtype as NumPy's."""
    return _dtypes.get_default_dtype().np


def cast(t: Any, dtype: Any) -> Any:
    """The tensor in another NumPy dtype, recorded; itself if it is in that dtype already."""
    if logical_dtype(t) is dtype:
        return t
    a = t._payload
    if t._node is None and type(a) is np.ndarray and not slow_if_recording and a.dtype.kind != "c":  # nothing to record
        try:
            return wrap(a.astype(dtype))
        except ARITHMETIC:  # what strict warnings make of a number that does not fit
            pass
    return TENSORS._to_copy(t, dtype)

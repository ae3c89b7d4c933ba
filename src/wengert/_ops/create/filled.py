"""New tensors that hold a number, and Python's numbers as elements: ``full``, ``scalar_tensor`` and ``eye``."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, INT64, type_name
from ..._base.dtypes import dtype as Dtype
from ..._base.limits import finfo
from ..._base.modes import slow_if_recording
from ..._tape.tensor import Tensor, wrap
from ..._tensor_api.construct import made, number_of
from .create import plain_shape, tuple_shape
from .makers import allocate, dtype_chosen, finish, maker, options_of

# ---- numbers
_CPP = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def element(value: Any, np_dtype: Any) -> Any:
    """Convert a Python number to a dtype; raises RuntimeError on overflow, like C++'s checked conversion."""
    kind = np_dtype.kind
    if kind == "b":
        return bool(value)
    if kind == "f" and np_dtype.itemsize > 2 and type(value) in (float, int) and -3e38 < value < 3e38:
        return value
    ok = True
    if kind != "c" and isinstance(value, complex):
        ok, value = value.imag == 0, value.real
    if ok and kind in "iu":
        largest = int(np.iinfo(np_dtype).max)  # a negative integer wraps around, a fraction does not
        smallest = -largest - 1 if kind == "i" else 0 if isinstance(value, float) else -largest
        ok = math.isfinite(value) and smallest <= value <= largest
        if ok:
            return int(value) % (1 << 8 * np_dtype.itemsize) if kind == "u" else int(value)
    elif ok:
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        limit = finfo(BY_NUMPY[np_dtype]).max
        ok = all(not math.isfinite(p) or abs(p) <= limit for p in parts)
    if not ok:
        raise RuntimeError(f"value cannot be converted to type {_CPP[np_dtype.name]} without overflow")
    return value


def number(value: Any, dtype: Any) -> Any:
    """A Python number as a 0-dimensional array of a dtype; raises PyTorch's error if the number does not fit."""
    if type(value) is float and dtype.char in "fd" and -3e38 < value < 3e38:
        return np.array(value, dtype)
    with np.errstate(over="ignore"):
        return np.array(element(value, dtype)).astype(dtype)


def plain_element(value: Any, np_dtype: Any) -> Any:
    """``element`` without checks for 0 and 1, which every dtype has."""
    return value if type(value) is int and 0 <= value <= 1 else element(value, np_dtype)


def filled(shape: tuple[int, ...], value: Any, np_dtype: Any, device: Any = None) -> Any:
    """A new array filled with one value."""
    value = plain_element(value, np_dtype)
    if type(value) is int and not value and device is None:
        return allocate(np.zeros, shape, np_dtype)
    a = allocate(np.empty, shape, np_dtype, device)
    a.fill(value)
    return a


# ---- functions
@maker("torch.full", "out")
def full(size: Any, fill_value: Any, **kwargs: Any) -> Tensor:
    """A tensor filled with one value; its type determines the dtype if none is given.

    Raises RuntimeError if the dtype cannot hold the value.

    >>> torch.full((2,), 3), torch.full((2,), 3.)
    (tensor([3, 3]), tensor([3., 3.]))
    """
    kind = type(fill_value)
    if (kind is float or (kind is int and fill_value)) and not kwargs and not slow_if_recording:
        plain = type(size) is tuple and plain_shape(size) is size
        if plain and -9e18 < fill_value < 9e18 and dtypes.default_np.itemsize > 2:
            try:
                a = np.empty(size, dtypes.default_np if kind is float else INT64)
                a.fill(fill_value)
                return wrap(a)
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    asked = options_of("full", kwargs)
    shape = tuple_shape("full", size)
    value = number_of(fill_value, "full", "fill_value", 2)
    dtype = _dtype_of_number(value) if asked.dtype is asked.out is None else asked.dtype
    return finish(filled(shape, value, dtype_chosen(dtype, asked.out), asked.device), asked.out, asked.requires_grad)


def _dtype_of_number(value: Any) -> Dtype:
    if isinstance(value, bool):
        return dtypes.bool_
    if isinstance(value, int):
        return dtypes.int64
    return dtypes.default_complex_dtype if isinstance(value, complex) else dtypes.default_dtype


@maker("torch.scalar_tensor")
def scalar_tensor(s: Any, **kwargs: Any) -> Tensor:
    """A 0-dimensional tensor of a number, in the default dtype if none is given.

    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    asked = options_of("scalar_tensor", kwargs)
    value = number_of(s, "scalar_tensor", "s", 1)
    return made(filled((), value, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)


@maker("torch.eye", "out")
def eye(n: int, m: int | None = None, **kwargs: Any) -> Tensor:
    """A matrix of shape (n, m) with ones on the diagonal and zeros elsewhere; m defaults to n.

    >>> torch.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    asked = options_of("eye", kwargs)
    n = _count("eye", "n", 1, n)
    m = n if m is None else _count("eye", "m", 2, m)
    a = allocate(np.zeros, (n, m), dtype_chosen(asked.dtype, asked.out), asked.device)
    if isinstance(a, np.ndarray):
        a.reshape(-1)[: min(n, m) * m : m + 1] = 1
    elif getattr(a, "is_foreign", False):
        a.v.diagonal()[...] = 1
    return finish(a, asked.out, asked.requires_grad)


def _count(function: str, argument: str, position: int, value: Any) -> int:
    if isinstance(value, (bool, float)) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be int, not {type_name(value)}"
        )
    value = operator.index(value)
    if value < 0:
        raise RuntimeError(f"{argument} must be greater or equal to 0, got {value}")
    return value

"""The memory that storages made by hand have: of a size, of a sequence, or of a buffer's bytes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._base.dtypes import DTYPES
from .._base.dtypes import device as as_device
from .._base.dtypes import dtype as DType
from .._base.errors import out_of_memory
from .._payloads.meta import Meta
from .._tape.tensor import META, Tensor


def allocated(n: int, dtype: DType, where: Any) -> Any:
    nbytes = n * dtype.itemsize
    if not -(1 << 63) <= n < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if n < 0:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with "
            f"negative number: {nbytes & (1 << 64) - 1}"
        )
    if where is not None and as_device(where) is META:
        return Meta((n,), dtype.np)
    try:
        return np.empty(n, dtype.np)
    except (MemoryError, ValueError):  # ValueError: more than NumPy can count
        raise out_of_memory(nbytes) from None


def sequence(x: Any) -> Any:
    if isinstance(x, Tensor) or not hasattr(x, "__getitem__"):
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {type(x).__name__}")
    return x


def elements(first: Any, dtype: DType, where: Any = None) -> Any:
    """The memory of a typed storage: of a size, or with the elements of a sequence."""
    if isinstance(first, int):
        return allocated(first, dtype, where)
    from .construct import tensor

    return tensor(first, dtype=dtype)._payload.reshape(-1)


def elements_of(
    buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, dtype: DType | None = None
) -> np.ndarray:
    """A copy of the elements of a buffer; the arguments are those of ``TypedStorage.from_buffer``."""
    if dtype is None:
        raise RuntimeError("argument 'dtype' cannot be None")
    if byte_order is None and dtype.itemsize > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "little", "big", "native"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    try:
        raw = memoryview(buffer).cast("B")
    except TypeError as error:
        raise TypeError(str(error).removeprefix("memoryview: ")) from None
    if not 0 <= offset <= len(raw):  # PyTorch's sentence has the two numbers the other way round
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got {len(raw)}"
        )
    if count < 0:
        if (len(raw) - offset) % dtype.itemsize:
            raise ValueError(f"buffer size ({len(raw)}) must be a multiple of element size ({dtype.itemsize})")
        count = (len(raw) - offset) // dtype.itemsize
    if offset + count * dtype.itemsize > len(raw):
        raise ValueError(
            f"buffer has only {len(raw) - offset} elements after offset {offset}, but specified a size of {count}"
        )
    held = np.frombuffer(raw[offset : offset + count * dtype.itemsize], np.uint8)
    if dtype is DTYPES["bool"]:
        return held != 0
    elements = held.copy().view(dtype.np)
    if byte_order not in (None, "native", sys.byteorder):
        swap(elements)
    return elements


def swap(a: np.ndarray) -> None:
    """Reverse the bytes of each element (of each part of a complex one), in place."""
    width = a.itemsize // (2 if a.dtype.kind == "c" else 1)
    rows = a.view(np.uint8).reshape(-1, width)
    rows[...] = rows[:, ::-1].copy()

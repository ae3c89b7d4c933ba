"""The memory of NumPy arrays: its address, its owner, and other arrays in it."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import numpy as np


class _AtAddress:
    """An object with NumPy's array interface for memory at an address; the array refers to it, and so to ``base``."""

    def __init__(self, interface: dict[str, Any], base: Any) -> None:
        self.__array_interface__ = interface
        self.base = base


def address_of(a: Any) -> int:
    """The address of an array's first element."""
    if type(a) is IN_HEADER:
        return WORDS_BEHIND_HEADER[id(a) >> 3]
    return a.__array_interface__["data"][0]


# In NumPy's C interface an array is Python's header and then its address. To read it there, in an array of all words of
# memory, takes a twentieth of the time. Addresses of 32 bits may lie behind the end of the longest such array.
IN_HEADER = np.ndarray if sys.implementation.name == "cpython" and sys.maxsize > 2**32 else None
WORDS_BEHIND_HEADER = (ctypes.c_uint64 * (sys.maxsize >> 3)).from_address(object.__basicsize__)


def owner_of(a: Any) -> Any:
    """The array that owns the memory of a view, through any views between; the array itself if it is no view."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def storage_of(a: Any) -> Any:
    """The array that owns the memory, also that of an array made by ``restrided``."""
    while True:
        base = a.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)
            if not isinstance(base, np.ndarray):
                return a
        a = base


def repeats(shape: Any, strides: Any) -> bool:
    """Whether elements of several places are one in memory, as those of an expanded array."""
    return any(s == 0 and n > 1 for s, n in zip(strides, shape, strict=True))


def once(a: Any) -> tuple[slice, ...]:
    """The index of the part of an array in which an element that is repeated by a stride of 0 is there once."""
    return tuple([slice(0, 1) if s == 0 else slice(None) for s in a.strides])


def bytes_around(a: Any) -> tuple[int, int]:
    """The bytes of the storage before an array's first element, and from there on.

    The array that owns the memory may have fewer bytes than elements (one that was broadcast elsewhere), and another
    array on it may begin in the middle of an element.
    """
    store, here = storage_of(a), address_of(a)
    if store.flags.forc:
        low = address_of(store)
        return here - low, low + store.nbytes - here
    low, high = np.lib.array_utils.byte_bounds(store)
    return here - low, high - here


def offset_of(a: Any) -> int:
    """The storage offset of an array, in elements."""
    return bytes_around(a)[0] // int(a.itemsize)


def restrided(a: Any, size: tuple[int, ...], strides: tuple[int, ...], address: int, writeable: bool) -> Any:
    """An array in a's memory, from an address on; like NumPy's views it refers to the array that owns the memory."""
    interface = dict(a.__array_interface__)
    dtype = a.dtype
    interface.update(shape=size, strides=strides, data=(address, not writeable), descr=[("", dtype.str)])
    if dtype.kind == "V":
        interface["typestr"] = f"|V{a.itemsize}"
    r = np.asarray(_AtAddress(interface, owner_of(a)))
    return r if r.dtype is dtype else r.view(dtype)


def unlocked(a: Any) -> Any:
    """The same memory as an array that may be written to."""
    interface = dict(a.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    r = np.asarray(_AtAddress(interface, a))
    return r if r.dtype is a.dtype else r.view(a.dtype)


def locked(a: Any) -> Any:
    """The same memory as an array that NumPy does not write to."""
    a = a[...]
    a.setflags(False)  # ``write``, by position: a tenth of what a.flags.writeable = False takes
    return a


def memory_order(a: Any, strides: Any = None) -> list[int]:
    """The dimensions in the order in which they lie in memory, outermost first (``infer_dense_strides``)."""
    strides = a.strides if strides is None else strides
    order = list(range(a.ndim))[::-1]
    for i in range(1, a.ndim):
        place = i
        for other in range(i - 1, -1, -1):
            verdict = _compared(a.shape, strides, order[other], order[place])
            if verdict > 0:
                order[other], order[place] = order[place], order[other]
                place = other
            elif verdict < 0:
                break
    return order[::-1]


def _compared(shape: Any, strides: Any, d: int, e: int) -> int:
    """Below zero if dim d lies inside of dim e in memory, above it if outside, 0 if nothing tells."""
    first, second = strides[d], strides[e]
    if first == 0 or second == 0:
        return 0
    return (first > second) - (first < second) or int(shape[d] > shape[e])


def mapped_file(filename: str | os.PathLike[str], shared: bool, size: int, dtype: Any) -> Any:
    """An array of ``size`` elements on the memory of a file.

    If ``shared``, writes to the array go to the file, which is created or enlarged if necessary. The file is opened
    once: another one may have its name a moment later.
    Raises RuntimeError for a file that does not exist or is too small, and for what is no file.
    """
    import mmap  # seldom needed

    name, wanted = os.fspath(filename), size * dtype.itemsize
    if not wanted:
        return np.empty(0, dtype)
    kind = (os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY) | getattr(os, "O_BINARY", 0)
    kind |= getattr(os, "O_NONBLOCK", 0)  # a pipe of that name would be waited for
    number, doing = -1, f"open file <{name}> in {'read-write' if shared else 'read-only'} mode"
    try:
        number = os.open(name, kind, 0o600)
        doing = f"resize file <{name}> to the right size"
        if shared and os.fstat(number).st_size < wanted <= sys.maxsize:
            os.ftruncate(number, wanted)
        have = os.fstat(number).st_size
        doing = f"mmap {wanted} bytes from file <{name}>"
        if have >= wanted >= 0:
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            return np.frombuffer(mmap.mmap(number, wanted, access=access), dtype, size)
    except OSError as error:
        raise RuntimeError(f"unable to {doing}: {error.strerror} ({error.errno})") from None
    finally:
        if number >= 0:
            os.close(number)
    if wanted < 0 or shared:
        raise RuntimeError(f"unable to {doing}: Cannot allocate memory (12)")
    raise RuntimeError(f"file <{name}> size <{have}> is smaller than the required mapping size <{wanted}>")

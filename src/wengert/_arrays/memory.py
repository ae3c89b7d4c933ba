"""The memory of NumPy arrays: its address, its owner, and other arrays in it."""

from __future__ import annotations

from typing import Any

import numpy as np


class _AtAddress:
    """What NumPy's array interface needs to make an array at an address; the array refers to it, and so to ``base``."""

    def __init__(self, interface: dict[str, Any], base: Any) -> None:
        self.__array_interface__ = interface
        self.base = base


def address_of(a: Any) -> int:
    """The address of an array's first element."""
    return a.__array_interface__["data"][0]  # type: ignore[no-any-return]


def owner_of(a: Any) -> Any:
    """The array that an array is a view of, whatever views are between; itself if it is none."""
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


def restrided(a: Any, size: tuple[int, ...], strides: tuple[int, ...], address: int, writeable: bool) -> Any:
    """An array in a's memory, from an address on; like NumPy's views it holds the array that owns the memory."""
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
    a.flags.writeable = False
    return a

"""Memory that several processes map."""

from __future__ import annotations

import mmap
import os
from typing import Any


class SharedMemory(mmap.mmap):
    """Memory that other processes can map too, by its descriptor, which closes with it. Linux only."""

    _descriptor: Any

    def __new__(cls, fd: int, size: int) -> SharedMemory:
        from select import epoll

        descriptor = epoll.fromfd(fd)  # what closes it is C: an interrupt in a ``__del__`` would be dropped
        memory = super().__new__(cls, fd, size)
        memory._descriptor = descriptor
        return memory

    def __init__(self, fd: int, size: int) -> None:
        super().__init__()

    @property
    def fd(self) -> int:
        """The descriptor."""
        return int(self._descriptor.fileno())


def shared_memory(size: int) -> mmap.mmap:
    """New memory, all zeros; without ``memfd`` only forked processes share it."""
    if not hasattr(os, "memfd_create"):
        return mmap.mmap(-1, size)
    fd = os.memfd_create("wengert-tensor", os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    return SharedMemory(fd, size)

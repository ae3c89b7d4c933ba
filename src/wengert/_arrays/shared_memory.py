"""Memory that several processes map."""

from __future__ import annotations

import mmap
import os


class SharedMemory(mmap.mmap):
    """Memory that other processes can map too, by its descriptor, which closes with it. Linux only."""

    fd: int

    def __new__(cls, fd: int, size: int) -> SharedMemory:
        memory = super().__new__(cls, fd, size)
        memory.fd = fd
        return memory

    def __init__(self, fd: int, size: int) -> None:
        super().__init__()

    def __del__(self) -> None:
        os.close(self.fd)


def shared_memory(size: int) -> mmap.mmap:
    """New memory, all zeros; without ``memfd`` only forked processes share it."""
    if not hasattr(os, "memfd_create"):
        return mmap.mmap(-1, size)
    fd = os.memfd_create("wengert-tensor", os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    return SharedMemory(fd, size)

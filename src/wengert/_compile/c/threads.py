"""The threads that compiled programs share: one small pool for the process, a library of its own."""

from __future__ import annotations

import ctypes
import functools
from importlib import resources
from typing import Any

from ..._arrays import threads
from .cache import library


@functools.cache
def pool() -> Any:
    """The pool's library; ``None`` where there is no compiler (or no POSIX threads)."""
    return library(resources.files(__package__).joinpath("pool.c").read_text(encoding="utf-8"))


def address() -> int | None:
    """The address of the function that shares a range."""
    lib = pool()
    return None if lib is None else ctypes.cast(lib.wengert_parallel, ctypes.c_void_p).value


_told: list[Any] = [None, 1]  # what ``set_num_threads`` said last, the number that the pool has


def follow() -> None:
    """Let the pool have as many threads as ``torch.get_num_threads()`` says."""
    if threads.requested != _told[0] or _told[0] is None:
        n = threads.requested or _default()
        lib = pool() if n != _told[1] else None
        if lib is not None:
            lib.wengert_threads(ctypes.c_int64(n))
        _told[:] = threads.requested, n


_default = functools.cache(threads.default_threads)

"""The threads that compiled programs share: one small pool for the process, a library of its own."""

from __future__ import annotations

import ctypes
import functools
from importlib import resources
from typing import Any

from .cache import library


@functools.cache
def pool() -> Any:
    """The pool's library; ``None`` where there is no compiler (or no POSIX threads)."""
    return library(resources.files(__package__).joinpath("pool.c").read_text(encoding="utf-8"))


def address() -> int | None:
    """The address of the function that shares a range."""
    lib = pool()
    return None if lib is None else ctypes.cast(lib.wengert_parallel, ctypes.c_void_p).value


def set_threads(n: int) -> None:
    """How many threads share large work from now on."""
    lib = pool()
    if lib is not None:
        lib.wengert_threads(ctypes.c_int64(n))

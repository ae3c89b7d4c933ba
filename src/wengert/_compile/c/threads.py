"""What compiled programs share, each a library of its own: a small pool of threads, and products of matrices."""

from __future__ import annotations

import ctypes
import functools
from importlib import resources
from typing import Any

from ..._arrays import threads
from ..._arrays.blas import blas
from .cache import library


@functools.cache
def pool() -> Any:
    """The pool's library; ``None`` where there is no compiler (or no POSIX threads)."""
    return library(resources.files(__package__).joinpath("pool.c").read_text(encoding="utf-8"))


@functools.cache
def products() -> tuple[int | None, int | None]:
    """The addresses of the functions that multiply matrices of float32 and float64; ``None`` where there is none."""
    single, double = blas() or (None, None)
    lib = library(resources.files(__package__).joinpath("gemm.c").read_text(encoding="utf-8"))
    if lib is None:
        return single, double
    lib.init((ctypes.c_void_p * 3)(address(), single, double))
    ours = [ctypes.cast(f, ctypes.c_void_p).value for f in (lib.wengert_sgemm, lib.wengert_dgemm)]
    return ours[0], None if double is None else ours[1]


def address() -> int | None:
    """The address of the function that shares a range."""
    lib = pool()
    return None if lib is None else ctypes.cast(lib.wengert_parallel, ctypes.c_void_p).value


told: list[Any] = [..., 1]  # what ``set_num_threads`` said last, the number that the pool has


def follow() -> None:
    """Let the pool have as many threads as ``torch.get_num_threads()`` says."""
    if threads.requested != told[0]:
        n = threads.requested or _default()
        lib = pool() if n != told[1] else None
        if lib is not None:
            lib.wengert_threads(ctypes.c_int64(n))
        told[:] = threads.requested, n


_default = functools.cache(threads.default_threads)

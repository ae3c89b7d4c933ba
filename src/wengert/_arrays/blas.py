"""The threads of NumPy's BLAS library, and work that is better cut into samples than into parts of each product.

OpenBLAS cuts a product into as many parts as it has threads, which wait for each other by spinning: many products one
after the other are slow where another program wants a core too, and what stands between them (filling columns, adding
up) has one thread. Where the work falls into independent samples, each of Python's threads does whole samples, and
BLAS keeps to one thread meanwhile. It is asked through ``ctypes``, which NumPy has imported anyway; where NumPy has
another library, or one that cannot be asked, samples are done one after the other, by all threads of that library.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .threads import _usable_processors, alone, each

PARTS = 8  # into so many parts samples are cut at most, whatever the number of threads: sums do not depend on that
_PART = 700.0  # microseconds that a part should take: threads that begin and end parts get into each other's way
_LATE = 60.0  # microseconds between two threads' beginnings
_WORTH = 250.0  # microseconds that work must take one thread for another to be woken
_lock = threading.Lock()
_alone = 0  # how many ask for one thread just now
_before = 1


@functools.lru_cache(1)
def _control() -> tuple[Any, Any] | None:
    """OpenBLAS's functions that set and get the number of its threads."""
    try:
        import ctypes

        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    except (AttributeError, ImportError, OSError, TypeError):
        return None
    for name in ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads"):
        try:
            return getattr(library, name.format("set")), getattr(library, name.format("get"))
        except AttributeError:
            continue
    return None


def set_threads(n: int) -> None:
    """How many threads a product has, of which more than there are processors would only wait for each other."""
    global _before
    control = _control()
    if control is None:
        return
    n = min(n, _usable_processors())
    with _lock:
        if _alone:
            _before = n
        else:
            control[0](n)


class _OneThread:
    """``with one_thread:`` BLAS uses the thread that calls it, and no other."""

    def __enter__(self) -> None:
        global _alone, _before
        with _lock:
            if not _alone:
                set_threads, get_threads = _control()  # type: ignore[misc]
                _before = get_threads()
                set_threads(1)
            _alone += 1

    def __exit__(self, *exc: object) -> None:
        global _alone
        with _lock:
            _alone -= 1
            if not _alone:
                _control()[0](_before)  # type: ignore[index]


one_thread = _OneThread()


def _after_fork() -> None:
    global _lock, _alone
    _lock, _alone = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def samples_parts(n: int, work: float) -> list[slice]:
    """The slices that ``over_samples`` cuts samples into, the first of them the largest.

    Of two parts the first, which is the caller's, is longer by what it takes to wake a thread for the other: then the
    caller is still at work when that has finished, and needs not be woken itself.
    """
    parts = 1 if work < _WORTH else min(max(round(work / _PART), 2), PARTS, n)
    if parts < 2:
        return [slice(0, n)]
    step = round(n * (work + _LATE) / (2 * work)) if parts == 2 else -(-n // parts)
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def over_samples(fn: Callable[[slice], Any], n: int, work: float) -> list[Any]:
    """``fn(slice)`` for slices that cover ``range(n)``, on threads; for the whole of it if BLAS cannot be asked.

    ``work`` is how many microseconds one thread would need.
    """
    parts = samples_parts(n, work)
    if len(parts) < 2 or _control() is None:
        return [fn(slice(0, n))]
    if alone(work, len(parts)):
        return [fn(part) for part in parts]
    with one_thread:
        return each(fn, parts, work)

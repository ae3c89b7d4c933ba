"""The threads of NumPy's BLAS library, and work that is better cut into samples than into parts of each product.

OpenBLAS cuts a product into as many parts as it has threads, which wait for each other by spinning. A series of
products is therefore slow while another program uses a core, and the steps between them (filling columns, adding up)
run on one thread. Where the work consists of independent samples, each of Python's threads does whole samples while
BLAS is limited to one thread. The limit is set through ``ctypes``, which NumPy has imported anyway. If NumPy has
another library, or one without such a function, samples are done in turn, by all threads of that library.

NOTE [ One thread of BLAS ]
    OpenBLAS cuts a product among its threads, and each part has its own rows and columns that do not fill its kernel's
    registers. Most of its kernels add those up in another order, so that digits depend on the number of threads; the
    processor determines which digits. So a product that is a step of an operator (a convolution, attention) is done
    by one thread of BLAS, in parts that follow from the sizes alone (``over_samples``, ``product``). OpenBLAS itself
    leaves a product of few elements to one thread (``UNSHARED``, ``UNSHARED_PRODUCT``). A product that is the whole
    operator (``matmul``, ``linear``, ``einsum``) is one call of BLAS with all its threads: digits may depend on them.
    Those of programs compiled in C, and of large matrices with compiled kernels, do not: ``_compile/c/gemm.c`` cuts
    products as a step of an operator is cut.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from operator import setitem
from typing import Any

import numpy as np

from .._base.forks import new_lock
from .compiled import with_kernel
from .half import rounded_once
from .threads import _usable_processors, parallel_map

PARTS = 8  # the most parts that samples are cut into, for any number of threads: sums do not depend on that number
_PART = 700.0  # microseconds that a part should take: threads that begin and end parts get into each other's way
_LATE = 60.0  # microseconds between two threads' beginnings
_WORTH = 250.0  # microseconds that work must take one thread for another to be woken
_PER_MICROSECOND = 60_000  # multiplications of one thread
_UNIT = 16  # rows or columns that fill a kernel's registers
UNSHARED = 1 << 13  # elements of a matrix whose products with vectors BLAS leaves to one thread: fewer than 9216
UNSHARED_PRODUCT = 1 << 18  # multiplications of a product of matrices that it leaves to one thread
FEW_HALVES = 1 << 7  # elements of matrices of half precision that NumPy multiplies sooner without BLAS
_lock = new_lock()
_alone = 0  # number of callers inside `one_thread`
_before = 1


def _library() -> Any:
    """NumPy's library, through which BLAS's functions are found; ``None`` if ``ctypes`` cannot open it."""
    try:
        import ctypes

        return ctypes.CDLL(np._core._multiarray_umath.__file__)
    except (AttributeError, ImportError, OSError, TypeError):
        return None


def _functions(*names: str) -> tuple[Any, ...] | None:
    """OpenBLAS's functions of these names; ``None`` if NumPy has another library, or one without these functions."""
    library = _library()
    for form in ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}"):
        try:
            return tuple([getattr(library, form.format(name)) for name in names])
        except AttributeError:
            continue
    return None


@functools.lru_cache(1)
def _control() -> tuple[Any, ...] | None:
    """OpenBLAS's functions that set and get the number of its threads."""
    return _functions("set_num_threads", "get_num_threads")


def core() -> str:
    """The processor core that OpenBLAS's kernels were written for; an empty string if it is not known."""
    functions = _functions("get_corename")
    if functions is None:
        return ""
    from ctypes import c_char_p

    functions[0].restype = c_char_p
    return str(functions[0]().decode())


def set_threads(n: int) -> None:
    """Set the number of threads of a product, at most the number of processors: more would wait for each other."""
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
    """Context manager: under ``with one_thread:`` BLAS uses the calling thread only."""

    def __enter__(self) -> None:
        global _alone, _before
        with _lock:
            if not _alone:
                set_threads, get_threads = _control()
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=functools.partial(setitem, globals(), "_alone", 0))


def samples_parts(n: int, work: float) -> list[slice]:
    """The slices that ``over_samples`` cuts samples into, the first of them the largest.

    Of two parts the first, which is the caller's, is longer by the time it takes to wake a thread for the other. The
    caller is then still at work when the other thread finishes, and need not be woken itself.
    """
    parts = 1 if work < _WORTH else min(max(round(work / _PART), 2), PARTS, n)
    if parts < 2:
        return [slice(0, n)]
    step = round(n * (work + _LATE) / (2 * work)) if parts == 2 else -(-n // parts)
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def is_shared(multiplications: int, of_matrices: bool) -> bool:
    """Whether BLAS may cut a product, of matrices or with a vector, among its threads."""
    return multiplications > (UNSHARED_PRODUCT if of_matrices else UNSHARED)


def over_samples(fn: Callable[[slice], Any], n: int, work: float) -> list[Any]:
    """``fn(slice)`` for slices that cover ``range(n)``, on threads; one slice if BLAS cannot be limited to one thread.

    ``work`` is the time in microseconds that one thread would need; 0 if no product ``is_shared``.
    """
    if not work or _control() is None:
        return [fn(slice(0, n))]
    with one_thread:
        return parallel_map(fn, samples_parts(n, work), work)


def product(a: Any, b: Any, out: Any, multiply: Callable[..., Any] = np.matmul) -> Any:
    """``multiply(a, b, out)``, a step of an operator on one sample, on threads; call it under ``over_samples``.

    Each thread does some of many matrices, or some rows or columns of the result of a single product.
    """
    matrices, rows, columns = (1, *out.shape)[-3:]
    axis = -3 if matrices >= PARTS else -1 if columns >= rows else -2
    unit = 1 if axis == -3 else _UNIT
    work = out.size * a.shape[-1] / _PER_MICROSECOND
    even = 2 * _PART * math.ceil(work / (2 * _PART)) if work >= _WORTH else 0.0  # two threads have the same to do
    parts = samples_parts(-(-out.shape[axis] // unit), even)
    if len(parts) < 2 or _control() is None:
        return multiply(a, b, out)
    after = (slice(None),) * (-1 - axis)

    def part(some: slice) -> None:
        at = (..., slice(unit * some.start, unit * some.stop), *after)
        multiply(a if axis == -1 or a.shape[axis] == 1 else a[at], b if axis == -2 else b[at], out[at])

    parallel_map(part, parts, work)
    return out


@with_kernel("compiled_products.product", least=1 << 10)
def large_product(x: Any, y: Any, out: Any = None) -> Any:
    """The product of two large matrices; half precision in float32, which BLAS multiplies, and rounded once."""
    return np.matmul(x, y, out) if out is not None else _matmul(x, y)


_matmul = rounded_once(np.matmul)


@functools.cache
def blas() -> tuple[Any, Any] | None:
    """The addresses of ``cblas_sgemm`` and ``cblas_dgemm`` with 64-bit sizes; ``None`` if NumPy has another library."""
    library = _library()
    try:
        found = [getattr(library, f"scipy_cblas_{t}gemm64_") for t in "sd"]
    except AttributeError:
        return None
    from ctypes import c_void_p, cast

    return tuple([cast(f, c_void_p).value for f in found])  # type: ignore[return-value]  # two addresses

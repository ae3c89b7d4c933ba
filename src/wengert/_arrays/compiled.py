"""The compiled kernels of the distribution ``wengert-kernels``, where it is installed: loading and calling them.

``with_kernel`` puts a call of a kernel before a function that does large work in NumPy. The library is looked for when
the first such work comes, so that the import is as without it. It is one shared library without Python's API, made from
the C of ``_compile`` (``kernels/`` of the repository); ``ABI`` says how its kernels are called. A library that cannot
be loaded, or is of another version, is said once, to the logger ``wengert.kernels``; then everything runs in NumPy.

A kernel is a function ``(void **A, from, to)`` that does a part of its work. ``A`` has its sizes, its real numbers and
its arrays, dense and in C order unless it is said otherwise. Parts never change a digit, so threads share them.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .memory import address_of

ABI = 4
LEAST = 1 << 15  # elements from which kernels are asked for: a call takes some 3 us
FEWEST = 1 << 12  # the same for work of many passes
GRAIN = 1 << 15  # elements that are worth another thread
SUFFIX: dict[Any, str] = {np.dtype(np.float32): "f", np.dtype(np.float64): "d"}  # at the end of functions' names in C


class _Packs(dict[int, Any]):
    """count -> a function that makes the bytes of so many numbers."""

    def __init__(self, char: str) -> None:
        self.char = char

    def __missing__(self, count: int) -> Any:
        pack = self[count] = struct.Struct(f"{count}{self.char}").pack
        return pack


_WORDS, _DOUBLES = _Packs("q"), _Packs("d")


class Kernels:
    """A library that was loaded."""

    def __init__(self, path: str) -> None:
        self.path = path
        lib = ctypes.CDLL(path)
        lib.wengert_kernels_abi.restype = ctypes.c_int64
        if lib.wengert_kernels_abi() != ABI:
            raise OSError(f"its interface is {lib.wengert_kernels_abi()}, this wengert's is {ABI}")
        lib.wengert_kernels_version.restype = lib.wengert_kernels_variant.restype = ctypes.c_char_p
        self.version = lib.wengert_kernels_version().decode("ascii", "replace")
        from .._version import __version__

        if self.version != __version__:
            raise OSError(f"it is of wengert {self.version}, this is {__version__}")
        self.variant = lib.wengert_kernels_variant().decode()
        self._find, self._run, self._threads = lib.wengert_kernels_find, lib.wengert_kernels_run, lib.wengert_threads
        self._find.argtypes, self._find.restype = [ctypes.c_char_p], ctypes.c_void_p
        self.loop: int = ctypes.cast(lib.wengert_kernels_loop, ctypes.c_void_p).value or 0
        number, words = ctypes.c_int64, ctypes.c_char_p
        self._run.argtypes, self._run.restype = [ctypes.c_void_p, number, number, words, words, words, number], None
        self._threads.argtypes, self._threads.restype = [ctypes.c_int64], None
        self._known: dict[str, int | None] = {}
        self._told = 1

    def find(self, name: str) -> int | None:
        """The address of a kernel."""
        try:
            return self._known[name]
        except KeyError:
            found = self._known[name] = self._find(name.encode())
            return found

    def follow(self) -> None:
        """Tell the library how many threads there are."""
        if (threads := wanted_threads()) != self._told:
            self._threads(threads)
            self._told = threads

    def run(self, kernel: int, total: int, grain: int, sizes: Any, numbers: Any, *arrays: Any) -> None:
        """Let a kernel do its parts ``0..total``, at least ``grain`` to a thread; ``None`` is no array."""
        self.follow()
        places = [0 if a is None else address_of(a) for a in arrays]
        self._run(
            kernel, total, grain if grain > 0 else 1, _WORDS[len(sizes)](*sizes), _DOUBLES[len(numbers)](*numbers),
            _WORDS[len(places)](*places), len(places),
        )  # fmt: skip

    def call(self, name: str, dtype: Any, total: int, size: int, sizes: Any, numbers: Any, *arrays: Any) -> None:
        """Run the kernel of a name for a dtype; ``size``: the elements of one part."""
        self.run(self.named(name, dtype), total, GRAIN // max(size, 1), sizes, numbers, *arrays)

    def named(self, name: str, dtype: Any) -> int:
        """The kernel of a name for a dtype."""
        kernel = self.find(f"{name}_{SUFFIX[dtype]}")
        if kernel is None:
            raise OSError(name)
        return kernel


wanted_threads: Callable[[], int] = lambda: 1  # ``threads`` says how many


@functools.cache
def kernels() -> Kernels | None:
    """The library, if it is installed and fits; looked for once."""
    from importlib.machinery import PathFinder

    # Not by import: hooks on imports would be functions that ran while a program is traced.
    spec = None if os.environ.get("WENGERT_KERNELS") == "0" else PathFinder.find_spec("wengert_kernels")
    if spec is None:
        return None
    try:
        folders = spec.submodule_search_locations or []
        files = [os.path.join(folder, name) for folder in folders for name in os.listdir(folder)]
        return Kernels(next(file for file in files if os.path.basename(file).startswith("kernels.")))
    except StopIteration:
        pass  # it was removed
    except Exception as error:  # noqa: BLE001  whatever is wrong with it must not end a program
        import logging

        logging.getLogger("wengert.kernels").warning("large work runs in NumPy: wengert-kernels: %s", error)
    return None


def dense(*arrays: Any) -> bool:
    """Whether arrays are NumPy's own, in C order, and all of float32 or all of float64."""
    dtype = arrays[0].dtype
    return dtype in SUFFIX and all(
        [a is None or (type(a) is np.ndarray and a.flags.c_contiguous and a.dtype is dtype) for a in arrays]  # noqa: C419
    )


bounds: dict[str, int] = {}  # a kernel's name -> from how many elements it is asked for: tools/measure_kernels.py


def with_kernel(name: str, operand: int = 0, least: int = LEAST) -> Any:
    """Decorator: ask ``MODULE.FUNCTION(kernels, *args)`` here first if an operand has so many elements.

    What it returns is the result, unless it is ``None``: then it does not suit the arguments.
    """

    module, _, function = name.partition(".")
    bounds[name] = least

    def decorate(fn: Any) -> Any:
        @functools.wraps(fn)
        def either(*args: Any) -> Any:
            if args[operand].size >= bounds[name] and (found := kernels()) is not None:
                attempt = getattr(importlib.import_module(f"{__package__}.{module}"), function)
                r = attempt(found, *args)
                if r is not None:
                    return r
            return fn(*args)

        return either

    return decorate

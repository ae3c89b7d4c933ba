"""NumPy's ufuncs made anew, so that the kernels' threads share their large work.

A ufunc is a table of loops over elements, by dtype. ``shared`` makes one of NumPy's own loops behind a function of the
kernels, which gives each thread a part of many elements. So the digits are NumPy's, and so is a call on few elements:
an operator need not ask how many there are. NumPy's C API makes it (``PyUFunc_FromFuncAndData``). Its loops lack
objects and dates, and it does not reduce.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .compiled import SUFFIX, kernels

_BYTES = 1 << 18  # of an operand from which a second thread pays


class _UFunc(ctypes.Structure):
    """The beginning of a ``PyUFuncObject``, the same in all versions of NumPy 1 and 2."""

    _fields_ = (
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("userloops", ctypes.c_void_p),
        ("core_enabled", ctypes.c_int),
        ("core_num_dim_ix", ctypes.c_int),
        ("core", ctypes.c_void_p * 4),
        ("type_resolver", ctypes.c_void_p),
    )


class _Shared(ctypes.Structure):
    """A ``shared_t`` of the kernels."""

    _fields_ = (
        ("loop", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("operands", ctypes.c_int64),
        ("least", ctypes.c_int64),
    )


@functools.cache
def shared(fn: Any) -> Any:
    """A ufunc of the same loops, whose large work on floats threads share; without kernels, ``fn`` itself."""
    if not isinstance(fn, np.ufunc) or fn.signature is not None or (found := kernels()) is None:
        return fn
    try:
        found.follow()
        return _made(fn, found.loop)
    except (AttributeError, ValueError, TypeError):  # an interpreter or NumPy without this API
        return fn


_kept: list[Any] = []  # what ufuncs point to


def _made(fn: Any, loop: int) -> Any:
    there = _UFunc.from_address(id(fn))
    if (there.nin, there.nargs, there.ntypes, there.name) != (fn.nin, fn.nargs, fn.ntypes, fn.__name__.encode()):
        raise ValueError(fn)
    codes = ctypes.string_at(there.types, fn.ntypes * fn.nargs)
    rows = [(k, codes[k * fn.nargs : (k + 1) * fn.nargs]) for k in range(fn.ntypes)]
    rows = [(k, row) for k, row in rows if all(np.dtype(_CHARS[c]).kind in "biufc" for c in row)]
    functions, data = ((ctypes.c_void_p * len(rows))() for _ in range(2))
    ways = (_Shared * len(rows))()
    for j, (k, row) in enumerate(rows):
        functions[j], data[j] = there.functions[k], there.data[k] if there.data else None
        dtype = np.dtype(_CHARS[row[-1]])
        if dtype in SUFFIX:
            ways[j] = _Shared(functions[j], data[j], fn.nargs, _BYTES // dtype.itemsize)
            functions[j], data[j] = loop, ctypes.addressof(ways[j])
    types, name, doc = b"".join([row for _, row in rows]), fn.__name__.encode(), b""
    texts = [ctypes.create_string_buffer(text) for text in (types, name, doc)]
    _kept.append((functions, data, ways, texts))
    held: list[Any] = [functions, data, *texts]
    at = [ctypes.addressof(x) for x in held]
    made = _make()(*at[:3], len(rows), fn.nin, fn.nout, _NO_IDENTITY, *at[3:], 0)
    _UFunc.from_address(id(made)).type_resolver = there.type_resolver  # refuses the difference of bools
    return made


_NO_IDENTITY = -1
_CHARS: dict[int, str] = {np.dtype(c).num: c for c in np.typecodes["All"]}


@functools.cache
def _make() -> Any:
    """NumPy's ``PyUFunc_FromFuncAndData``."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    api = ctypes.cast(pointer(np._core._multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    word, number = ctypes.c_void_p, ctypes.c_int
    return ctypes.PYFUNCTYPE(ctypes.py_object, word, word, word, number, number, number, number, word, word, number)(
        api[1]
    )


def follow() -> None:
    """Tell the kernels that the number of threads may be another one, if they share ufuncs."""
    if _kept and (found := kernels()) is not None:
        found.follow()


def _first_sum(*operands: Any, **how: Any) -> Any:
    global add
    add = shared(np.add)
    return add(*operands, **how)


add: Any = _first_sum  # ``shared(np.add)`` for the engine, from its first call on

"""``lib``, the array library that operators' bodies compute with.

It has NumPy's namespace and every function of ``_arrays`` under ``@in_lib``: functions that NumPy lacks, and
replacements for those that NumPy is slow at. Raw functions are looked up by the payload's type (``registry.Impl``):
sparse arrays, the values of transforms and other libraries' arrays (``_payloads.foreign``) have their own.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

from .._base import dtypes as _dtypes
from .._base.late_names import Table
from .._base.registry import ARRAYS, COMPLEX_ARRAYS, XP, of_any_library, plain

# As in PyTorch, an operator returns inf or nan without a warning. The filter covers warnings from lines of this package
# only; a program's own NumPy calls still warn.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"wengert(\.|$)")

lib: Any = types.ModuleType("wengert._arrays.library.lib")
lib.__dict__.update({k: v for k, v in np.__dict__.items() if not k.startswith("_")})
late_functions = Table()  # the functions that ``in_lib`` adds


def _late(name: str) -> Any:
    return late_functions[name] if name in late_functions else getattr(np, name)  # NumPy loads linalg and fft late


lib.__dict__["__getattr__"] = _late

# A strict program turns NumPy's warnings into errors (python -W error, np.seterr(all="raise")): a call that raises one
# of these is repeated with warnings off.
ARITHMETIC = (RuntimeWarning, FloatingPointError)


def silently(fn: Any, *args: Any) -> Any:
    """Call ``fn`` with NumPy's floating-point warnings off, whatever the program has set."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return fn(*args)


def undispatched(fn: Any) -> Any:
    """NumPy's function for plain arrays, without the check for overrides, which takes 0.1 us.

    NumPy stores it as an attribute of the public function (NEP 18); without the attribute it is the function itself.
    """
    return getattr(fn, "_implementation", fn)


def silent_functions(one: Any) -> Any:
    """Copies of the functions of NumPy's module that defines this one; their lines show no warnings (``silence``)."""
    home = undispatched(one).__globals__
    scope = {**home, "__name__": None}
    for name, public in home.items():
        fn = undispatched(public)
        if getattr(fn, "__globals__", None) is home:
            scope[name] = types.FunctionType(fn.__code__, scope, name, fn.__defaults__, fn.__closure__)
            scope[name].__kwdefaults__ = fn.__kwdefaults__
    return types.SimpleNamespace(**scope)


concatenate, copyto, putmask = map(undispatched, (np.concatenate, np.copyto, np.putmask))
may_share_memory: Any = undispatched(np.may_share_memory)
vdot: Any = undispatched(np.vdot)  # the fastest sum over any array: of squares, it tells of nan and of large numbers


def in_lib(fn: Any, name: str | None = None) -> Any:
    """Decorator: add a function to the library, under its own name or another one."""
    name = name or fn.__name__
    setattr(lib, name, fn)
    late_functions[name] = fn
    return fn


@in_lib
@of_any_library
def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype; as in PyTorch, complex to real drops the imaginary part, and double to half goes by float."""
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    if dtype.char == "e" and x.dtype.char == "d":
        x = x.astype("f4")
    return x.astype(dtype)


@in_lib
def full(shape: Any, value: Any, dtype: Any) -> Any:
    """A new array filled with one value."""
    r = np.empty(shape, dtype)
    r.fill(value)
    return r


@in_lib
@functools.lru_cache(64)
def vector_of_ones(n: int, dtype: Any) -> Any:
    """``n`` ones, read-only: a product with them is the fastest sum of a few elements, or of the rows of a matrix."""
    ones = np.ones(n, dtype)
    ones.flags.writeable = False
    return ones


@plain
def plain_vector_of_ones(lib: Any, n: int, dtype: Any) -> Any:
    return lib.ones(n, dtype)


class _Squares(dict[int, Any]):
    """n -> n by n ones, read-only: a product with them gives each row's sum at each of its elements.

    For a few elements that is three times as fast as a reduction, and the next step need not broadcast, which in NumPy
    is three times as slow as operands of one shape. All are kept, so n must be small.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, n: int) -> Any:
        ones = self[n] = np.ones((n, n), self.dtype)
        ones.flags.writeable = False
        return ones


SQUARES_OF_ONES = {dtype: _Squares(dtype) for dtype in _dtypes.BLAS_FLOATS}


class _Constants(dict[Any, Any]):
    """dtype -> a 0-dimensional array with the number: NumPy takes an array faster than a Python number."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __missing__(self, dtype: Any) -> Any:
        constant = self[dtype] = np.full((), self.value, dtype)
        constant.flags.writeable = False
        return constant


# The ufunc inside of NumPy's ``clip``, whose functions in Python take twice its time.
lib.clip = getattr(getattr(np, "_core", None), "umath", np).clip

lib.ZEROS = _Constants(0)
lib.ONES = _Constants(1)


class _Numbers(dict[Any, Any]):
    """Python numbers as 0-dimensional arrays of one dtype, which NumPy takes faster.

    Zeros (0.0 == -0.0), nan (not equal to itself) and numbers that the dtype cannot hold stay Python numbers.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, number: Any) -> Any:
        if not number or number != number:
            return number
        try:
            constant = silently(np.array, number, self.dtype)
        except OverflowError:
            return number
        constant.flags.writeable = False
        if len(self) >= 1000:
            self.clear()
        self[number] = constant
        return constant


class _BesideHalf(np.ndarray[Any, Any]):
    """A number beside a float16 array. As in PyTorch it is rounded to float16 first, except in products and quotients,
    which are computed in float32 and rounded once.
    """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None) -> Any:
        dtype = np.float32 if ufunc.__name__ in ("multiply", "divide") else np.float16  # also a ufunc made anew
        with np.errstate(all="ignore"):
            r = ufunc(*[np.asarray(x, dtype) for x in inputs])
            if out is None:
                return r.astype(np.float16) if r.dtype == np.float32 else r
            out[0][...] = r
        return out[0]


class _NumbersBesideHalf(_Numbers):
    def __missing__(self, number: Any) -> Any:
        constant = super().__missing__(number)
        if type(constant) is np.ndarray:
            constant = self[number] = constant.view(_BesideHalf)
        return constant


class _AsTheyAre(dict[Any, Any]):
    """Python numbers, each by itself; those of one value are the same beside an array of floats."""

    def __missing__(self, number: Any) -> Any:
        if number and number == number:  # as in ``_Numbers``
            if len(self) >= 1000:
                self.clear()
            self[number] = number
        return number


_AS_THEY_ARE = _AsTheyAre()


class _NumbersByDtype(dict[Any, Any]):
    """dtype -> Python number -> the operand to pass to a ufunc beside an array of that dtype."""

    def __missing__(self, dtype: Any) -> Any:
        return _AS_THEY_ARE


# The parts of an index in front of a dim, and the index that puts a new dim there, by the number of the dim.
COLONS = [(slice(None),) * n for n in range(66)]
NEW_AT = [(*colons, None, ...) for colons in COLONS]
NUMBERS = _NumbersByDtype({d: _Numbers(d) for d in map(np.dtype, "fdFD")})
NUMBERS[np.dtype("e")] = _NumbersBesideHalf(np.dtype("f"))


lib.NUMBERS = NUMBERS
lib.add_at = np.add.at
lib.table = lambda indices: indices  # an array of NumPy as one of the library


def constants_for(dtypes: Any, for_ufunc: bool) -> dict[Any, Any]:
    """The part of ``NUMBERS`` for these dtypes; a function that is no ufunc gets Python numbers unchanged."""
    half = np.dtype("e")
    table = _NumbersByDtype({d: NUMBERS[d] if for_ufunc or d is half else _AS_THEY_ARE for d in dtypes})
    for dtype, base in _alike.items():
        _let(table, dtype, base)
    _tables.append(table)
    return table


_tables: list[_NumbersByDtype] = []
# New dtypes: bfloat16, those of transforms' values; and the dtype that each is treated as. A dict of a class of its own
# is always known to the garbage collector, which _kinds.bfloat16 asks for the containers of a dtype.
_alike: OrderedDict[Any, Any] = OrderedDict()


def also_constants_for(dtype: Any, base: Any) -> None:
    """Treat Python numbers beside a new dtype like those beside its base."""
    _alike[dtype] = base
    for table in _tables:
        _let(table, dtype, base)


def _let(table: _NumbersByDtype, dtype: Any, base: Any) -> None:
    if base in table:
        table[dtype] = NUMBERS[dtype] if table[base] is not _AS_THEY_ARE else _AS_THEY_ARE


def _learn_bfloat16(np_dtype: Any) -> None:
    if np_dtype in _alike:  # learnt once, and forgotten while no array of it lived
        return
    NUMBERS[np_dtype] = _Numbers(np_dtype)
    also_constants_for(np_dtype, np.dtype("f4"))


_dtypes.bfloat16_listeners.append(_learn_bfloat16)


class ByDtype(dict[Any, Any]):
    """dtype of a cotangent -> namespace; a complex one has its own, so that formulas can be conjugated."""

    def __missing__(self, dtype: Any) -> Any:
        xp = self[dtype] = COMPLEX_ARRAYS if dtype.kind == "c" else ARRAYS
        return xp


BY_DTYPE: dict[Any, Any] = ByDtype()
ARRAYS.lib = lib
XP[np.ndarray] = XP[np.generic] = ARRAYS
INEXACT = _dtypes.INEXACT

"""An array of another library, without the library: what CuPy's arrays do, computed by NumPy.

It has the functions, parameters and methods of CuPy (``data/cupy_interface.txt``, which ``tools/read_cupy.py`` writes)
and no others. Like CuPy's it is never converted by itself and never mixed with NumPy's arrays, and a result without
dims is an array, not a number. It is stricter in one thing: NumPy's own functions refuse it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

INTERFACE = {
    line.partition(": ")[0]: line.partition(": ")[2].split()
    for line in (Path(__file__).parent / "data" / "cupy_interface.txt").read_text(encoding="utf-8").splitlines()
}
REDUCING = ("add", "multiply")  # CuPy's other ufuncs have no ``reduce`` and no ``accumulate``


def host(x: Any) -> Any:
    """Arguments as NumPy takes them; NumPy's own arrays are refused."""
    if isinstance(x, StrictArray):
        return x.inside
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(x, (tuple, list)):
        return type(x)(map(host, x))
    return {k: host(v) for k, v in x.items()} if isinstance(x, dict) else x


def strict(r: Any) -> Any:
    """Results as the library gives them: arrays, also those without dims."""
    if isinstance(r, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(r))
    if isinstance(r, tuple):
        return tuple(map(strict, r))
    return [strict(x) for x in r] if isinstance(r, list) else r


def called(f: Any, known: str, name: str) -> Any:
    """A function of NumPy with CuPy's parameters."""
    names = known.split(",")

    def call(*args: Any, **kwargs: Any) -> Any:
        unknown = [k for k in kwargs if k not in names] if not any(n.startswith("**") for n in names) else []
        if unknown or (len(args) > len(names) and "*" not in known):
            raise TypeError(f"cupy's {name}({known}) was called with {len(args)} arguments and {sorted(kwargs)}")
        out = kwargs.get("out")
        r = f(*host(args), **host(kwargs))
        return out if isinstance(out, StrictArray) else strict(r)

    return call


class Ufunc:
    """A ufunc with CuPy's keywords and methods."""

    def __init__(self, f: Any, name: str, at: bool) -> None:
        self.f, self.name, self.nin = f, name, getattr(f, "nin", 2)
        if name in REDUCING:
            self.reduce = called(f.reduce, "array,axis,dtype,out,keepdims", name)
            self.accumulate = called(f.accumulate, "array,axis,dtype,out", name)
        if at:
            self.at = called(f.at, "a,indices,b", name)
        self.outer = called(getattr(f, "outer", None), "A,B,**", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= {"out", "casting", "dtype"}:
            raise TypeError(f"Wrong arguments {kwargs}")
        if not any(isinstance(a, StrictArray) for a in args):
            raise TypeError(f"cupy's {self.name} takes one array at least, and not {[type(a) for a in args]}")
        out = kwargs.get("out", args[self.nin] if len(args) > self.nin else None)
        with np.errstate(all="ignore"):
            r = self.f(*host(args), **host(kwargs))
        return out if isinstance(out, StrictArray) else strict(r)


ARRAYS_FIRST = ("a", "x", "m", "ar", "arr", "tup", "arrays", "condition", "dst")  # names of parameters that are arrays


class Module:
    """CuPy's functions of one module."""

    def __init__(self, of: Any, name: str, entries: list[str]) -> None:
        for entry in entries:
            plain, kind, rest = re.match(r"(\w+)([:(]?)(.*)", entry).groups()  # type: ignore[union-attr]
            f = getattr(of, plain, None)
            if f is None or (name == "cupy" and plain in ("linalg", "fft")):
                continue
            if kind == ":":
                made: Any = Ufunc(f, plain, rest.endswith("at"))
            elif kind:
                made = called(f, rest[:-1], plain)
                if rest.partition(",")[0].rstrip(")") in ARRAYS_FIRST and not plain.startswith("as"):
                    made = _of_arrays(made, plain)
            else:
                made = f
            setattr(self, plain, made)


def _of_arrays(f: Any, name: str) -> Any:
    """A function that takes arrays only: CuPy refuses lists and numbers in most of them."""

    def call(*args: Any, **kwargs: Any) -> Any:
        first = args[0][0] if args and isinstance(args[0], (list, tuple)) and args[0] else args[0] if args else None
        if not isinstance(first, StrictArray) and not (name == "einsum" and isinstance(args[1], StrictArray)):
            raise TypeError(f"cupy's {name} takes an array, and not {type(first)}")
        return f(*args, **kwargs)

    return call


class _Flags:
    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, flags.owndata


class StrictArray:
    """An array that is computed with by its own library only."""

    __slots__ = ("__weakref__", "inside")
    __array_ufunc__ = None
    inside: np.ndarray

    def __init__(self, inside: np.ndarray) -> None:
        self.inside = inside

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{f.__name__} was called with an array of another library")

    def get(self) -> np.ndarray:
        """A copy in NumPy."""
        return self.inside.copy()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __getitem__(self, key: Any) -> Any:
        return strict(self.inside[host(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.inside[host(key)] = host(value)

    def __len__(self) -> int:
        return len(self.inside)

    def __iter__(self) -> Iterator[Any]:
        return map(strict, self.inside)

    def __repr__(self) -> str:
        return f"strict {self.inside!r}"

    flags = property(lambda self: _Flags(self.inside.flags))
    base = property(lambda self: None if self.inside.base is None else StrictArray(np.asarray(self.inside.base)))
    T = property(lambda self: StrictArray(self.inside.T))
    mT = property(lambda self: StrictArray(self.inside.mT))
    real = property(lambda self: StrictArray(self.inside.real), lambda self, x: setattr(self.inside, "real", host(x)))
    imag = property(lambda self: StrictArray(self.inside.imag), lambda self, x: setattr(self.inside, "imag", host(x)))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """A view that can be written to, as CuPy's is."""
        r = self.inside.diagonal(offset, axis1, axis2)
        r.flags.writeable = True
        return StrictArray(r)


def _method(name: str, known: str) -> Any:
    def method(self: StrictArray, *args: Any, **kwargs: Any) -> Any:
        return called(getattr(self.inside, name), known, name)(*args, **kwargs)

    return method


for _entry in INTERFACE["ndarray"]:
    _name, _, _known = _entry.partition("(")
    if hasattr(StrictArray, _name) or not hasattr(np.ndarray, _name) or _name in ("device", "data"):
        continue
    if _known:
        setattr(StrictArray, _name, _method(_name, _known[:-1]))
    else:
        setattr(StrictArray, _name, property(lambda self, name=_name: getattr(self.inside, name)))


def _operator(name: str) -> Any:
    def operator(self: StrictArray, *others: Any) -> Any:
        with np.errstate(all="ignore"):
            r = getattr(self.inside, name)(*host(others))
        return self if r is self.inside else r if r is NotImplemented else strict(r)

    return operator


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
):
    for _how in ("", "r", "i"):
        setattr(StrictArray, f"__{_how}{_name}__", _operator(f"__{_how}{_name}__"))
for _name in ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("bool", "int", "float", "complex", "index"):
    setattr(StrictArray, f"__{_name}__", (lambda name: lambda self: getattr(self.inside, name)())(f"__{_name}__"))
StrictArray.__hash__ = object.__hash__  # type: ignore[method-assign]

module: Any = Module(np, "cupy", INTERFACE["cupy"])
module.linalg = Module(np.linalg, "cupy.linalg", INTERFACE["cupy.linalg"])
module.fft = Module(np.fft, "cupy.fft", INTERFACE["cupy.fft"])
module.ndarray = StrictArray
with contextlib.suppress(ImportError):
    import scipy.linalg
    import scipy.special

    special: Any = Module(scipy.special, "cupyx.scipy.special", INTERFACE["cupyx.scipy.special"])
    linalg: Any = Module(scipy.linalg, "cupyx.scipy.linalg", INTERFACE["cupyx.scipy.linalg"])


def register() -> Any:
    """The library, on the device "xla": one that PyTorch names."""
    from wengert._payloads.foreign import LIBRARIES, Library

    if "xla" in LIBRARIES:
        return LIBRARIES["xla"]
    return Library(
        "xla", module, StrictArray, lambda a, index: StrictArray(np.array(a)), StrictArray.get, strided, special=special
    )


def strided(a: StrictArray, shape: Any, strides: Any, offset: int) -> StrictArray:
    """A view of an array's memory."""
    memory = {"shape": tuple(shape), "strides": tuple(strides), "typestr": a.inside.dtype.str, "version": 3}
    memory["data"] = (a.inside.__array_interface__["data"][0] + offset, False)
    r = np.asarray(type("Memory", (), {"__array_interface__": memory, "of": a.inside})())
    return StrictArray(r)

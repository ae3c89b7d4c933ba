"""Common parts of the samplers: the dtypes that PyTorch's kernels know and their names, and C++'s conversions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from .box_muller import CHUNK
from .generator import SHORT_DRAW, Generator, default_generator

Shape = tuple[int, ...]

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
# dtype: PyTorch's name, C++'s name as GCC prints it, bits of the significand
FLOATS: dict[str, tuple[str, str, int]] = {
    "float16": ("Half", "c10::Half", 11),
    "bfloat16": ("BFloat16", "c10::BFloat16", 8),
    "float32": ("Float", "float", 24),
    "float64": ("Double", "double", 53),
}
INTS: dict[str, tuple[str, str]] = {
    "bool": ("Bool", "bool"),
    "uint8": ("Byte", "unsigned char"),
    "int8": ("Char", "signed char"),
    "int16": ("Short", "short int"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "uint16": ("UInt16", "short unsigned int"),
    "uint32": ("UInt32", "unsigned int"),
    "uint64": ("UInt64", "long unsigned int"),
}
COMPLEX: dict[str, tuple[str, str]] = {
    "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"),
}
REAL = frozenset(FLOATS)
FULL_PRECISION = frozenset({"float32", "float64"})
CLASSIC_INTS = frozenset({"uint8", "int8", "int16", "int32", "int64"})  # the later ones lack most kernels
COUNTABLE = REAL | CLASSIC_INTS
COUNTABLE_OR_BOOL = COUNTABLE | {"bool"}

_NAMES = {name: (str(names[0]), str(names[1])) for name, names in [*FLOATS.items(), *INTS.items(), *COMPLEX.items()]}


def resolve(generator: Generator | None) -> Generator:
    return default_generator if generator is None else generator


def filled(
    generator: Generator | None, shape: Shape, dtype: np.dtype, make: Callable[[Generator, int], np.ndarray]
) -> np.ndarray:
    """An array of elements that `make(generator, count)` makes, from as many at a time as stay in cache."""
    generator, size = resolve(generator), math.prod(shape)
    with generator._lock:
        if size <= CHUNK:
            return shaped(make(generator, size), shape)
        out = np.empty(size, dtype)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            part[...] = make(generator, part.size)
    return shaped(out, shape)


def shaped(values: np.ndarray, shape: Shape) -> np.ndarray:
    """A row of numbers in this shape, if possible not as a view: many attributes of a view take longer to read.

    Rows of the generator's own are short: those are copied.
    """
    new = values.base is None
    if new and len(shape) == 1:
        return values
    if values.size <= SHORT_DRAW:  # where NumPy copies sooner than it resizes
        return values.copy() if len(shape) == 1 else values.reshape(shape).copy()
    if not (new and shape):
        return values.reshape(shape)
    values.resize(shape, refcheck=False)
    return values


@functools.lru_cache(32)  # NumPy makes the name again each time, in about a microsecond
def name_of(dtype: np.dtype) -> str:
    return np.dtype(dtype).name


def torch_name(dtype: np.dtype) -> str:
    return _NAMES.get(name_of(dtype), (name_of(dtype), ""))[0]


def cpp_name(dtype: np.dtype) -> str:
    return _NAMES.get(name_of(dtype), ("", name_of(dtype)))[1]


def require(dtype: np.dtype, supported: frozenset[str], kernel: str) -> np.dtype:
    if name_of(dtype) not in supported:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{torch_name(dtype)}'")
    return np.dtype(dtype)


def cast(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """C++'s conversion: to the 16-bit floats it goes through float32."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and name_of(dtype) in REAL:
            values = values.astype(np.float32, copy=False)
        return values.astype(dtype)


def largest(dtype: np.dtype) -> float:
    """The largest finite number of a floating dtype; numpy.finfo does not know bfloat16."""
    return (2.0 - 2.0**-7) * 2.0**127 if name_of(dtype) == "bfloat16" else float(np.finfo(dtype).max)

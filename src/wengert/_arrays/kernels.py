"""Elementwise steps of several NumPy calls on many real floats, for bodies in which one NumPy call would be slow.

Each step writes into an existing block (``fused.kernel``). Elements are chosen by integers of the floats' width: a
comparison gives 0 or 1, which as a factor keeps or drops the bits of a float, without a branch per element.
"""

from __future__ import annotations

import functools
import math
import time
from typing import Any

import numpy as np

from .._base.dtypes import BLAS_FLOATS
from .._base.registry import plain
from .fused import Placeholder, kernel
from .library import in_lib, lib

_BITS = {np.dtype(np.float32): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}


_TWO = np.full((), 2, np.float32)
_TWO.flags.writeable = False


@functools.lru_cache(1)
def has_vector_functions() -> bool:
    """Whether NumPy's float32 ``exp2`` and ``expm1`` are its fastest exponentials.

    They are Intel's, on Linux with AVX-512. NumPy does not report whether it was built with them, but without them it
    is ten times as slow.
    """
    from numpy.lib.introspect import opt_func_info

    found = opt_func_info(func_name="^exp2$", signature="float32").get("exp2", {})
    if not any("AVX512" in how["current"] or "X86_V4" in how["current"] for how in found.values()):
        return False
    return _seconds(np.exp2) < 4 * _seconds(np.exp)  # far from both cases: no digit may depend on a busy moment


def _seconds(fn: Any) -> float:
    x = np.full(4096, 0.3, np.float32)
    r = np.empty_like(x)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        fn(x, r)
        times.append(time.perf_counter() - start)
    return min(times)


# ---- choosing
def _keep(bits: Any, x: Any, condition: Any) -> None:
    """The bits of x where the condition holds, else those of 0."""
    np.copyto(bits, condition.view(np.int8))
    if bits.itemsize == 8:  # a product of such integers is slow on older processors
        np.negative(bits, bits)
        np.bitwise_and(bits, x, bits)
    else:
        np.multiply(bits, x, bits)


@kernel
def kept(out: Any, x: Any, condition: Any) -> None:
    """x where the condition holds, else 0."""
    bits = out.view(_BITS[out.dtype])
    _keep(bits, x.view(bits.dtype), condition)


@kernel
def dropped(out: Any, x: Any, condition: Any) -> None:
    """0 where the condition holds, else x."""
    bits = out.view(_BITS[out.dtype])
    _keep(bits, x.view(bits.dtype), np.logical_not(condition))


@kernel
def chosen(out: Any, x: Any, y: Any, condition: Any) -> None:
    """x where the condition holds, else y; either may be a number, as an array of no dims."""
    bits = out.view(_BITS[out.dtype])
    x, y = x.view(bits.dtype), y.view(bits.dtype)
    _keep(bits, np.bitwise_xor(x, y), condition)
    np.bitwise_xor(bits, y, bits)


def where_recorded(condition: Any, x: Any, y: Any) -> Any:
    """``where`` as a step of a program."""
    lead = x if type(x) is Placeholder else y
    dtype = lead.dtype
    if condition.dtype != bool or dtype not in BLAS_FLOATS:
        raise TypeError
    x, y = (a if type(a) is Placeholder else np.asarray(a, dtype) for a in (x, y))
    if x.dtype is not y.dtype:
        raise TypeError
    if _is_zero(y):
        return kept(x, condition)
    if _is_zero(x):
        return dropped(y, condition)
    if type(x) is Placeholder:
        return chosen(x, _fixed(y), condition)
    return chosen(y, _fixed(x), np.logical_not(condition))


def _is_zero(a: Any) -> bool:
    return type(a) is not Placeholder and not any(a.tobytes())


def _fixed(a: Any) -> Any:
    if type(a) is not Placeholder:
        a.flags.writeable = False
    return a


@in_lib
@kernel
def where_not_zero(out: Any, g: Any, x: Any) -> None:
    """g where x is not zero (nan is not), else 0."""
    bits = out.view(_BITS[out.dtype])
    np.not_equal(x, 0, bits)
    np.multiply(bits, g.view(bits.dtype), bits)


@plain
def plain_where_not_zero(lib: Any, g: Any, x: Any) -> Any:
    return lib.where(x != 0, g, lib.ZEROS[g.dtype])


@in_lib
@kernel
def with_slope(out: Any, g: Any, x: Any, slope: Any) -> None:
    """g where x is positive, else ``g * slope``."""
    bits = out.view(_BITS[out.dtype])
    slope_bits = np.asarray(slope, out.dtype).view(bits.dtype)
    np.greater(x, 0, bits)
    np.multiply(bits, np.ones((), out.dtype).view(bits.dtype) - slope_bits, bits)
    np.add(bits, slope_bits, bits)
    np.multiply(out, g, out)


@plain
def plain_with_slope(lib: Any, g: Any, x: Any, slope: Any) -> Any:
    return lib.where(x > 0, g, g * slope)


@in_lib
@kernel
def signs(out: Any, x: Any) -> None:
    """The sign of each element, -1, 0 or 1; 0 for nan."""
    positive, negative = np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8)
    np.subtract(positive, negative, positive)
    np.copyto(out, positive)


@plain
def plain_signs(lib: Any, x: Any) -> Any:
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


@kernel
def with_sign_of(out: Any, r: Any, x: Any) -> None:
    """The non-negative ``r`` with the sign of x."""
    bits = out.view(_BITS[out.dtype])
    np.bitwise_and(x.view(bits.dtype), np.iinfo(bits.dtype).min, bits)
    np.bitwise_or(bits, r.view(bits.dtype), bits)


# ---- remainders
def _exact_remainder(x: Any, y: Any, rounded: Any) -> Any:
    """``x - rounded(x / y) * y`` of float32, each step exact in float64; ``None`` where one may not be.

    A quotient of two float32 that is below 2**28 and no integer differs from each integer by more than float64 rounds.
    """
    wide, divisor = x.astype(np.float64), y.astype(np.float64)
    r = np.divide(wide, divisor)
    flat = r.reshape(-1)
    if not flat.dot(flat) < 2.0**56:
        return None
    rounded(r, r)
    np.subtract(wide, np.multiply(r, divisor, r), r)
    return r if flat.dot(flat) < np.inf else None  # nan: a divisor is infinite


@kernel
def fmod_in_blocks(out: Any, x: Any, y: Any) -> None:
    """``numpy.fmod`` of float32, which NumPy computes element by element."""
    r = _exact_remainder(x, y, np.trunc)
    if r is None:
        np.fmod(x, y, out)
        return
    out[...] = r
    bits = out.view(np.int32)
    np.bitwise_or(bits, x.view(np.int32) & np.int32(-1 << 31), bits)  # a zero has the sign of x


@in_lib
@kernel
def remainder_of_many(out: Any, x: Any, y: Any) -> None:
    """``numpy.remainder`` of float32, but a zero has the sign of x."""
    r = _exact_remainder(x, y, np.floor)
    if r is None:
        np.remainder(x, y, out)
    else:
        out[...] = r
    if np.count_nonzero(out) < out.size:
        np.copysign(out, x, out, where=out == 0)


@plain
def plain_remainder_of_many(lib: Any, x: Any, y: Any) -> Any:
    r = lib.remainder(x, y)
    return lib.where(r == 0, lib.copysign(r, x), r)


# ---- the logistic curve
@in_lib
def one_and_exp_of_negative(x: Any) -> Any:
    """``1 + exp(-x)`` of many numbers.

    ``2 + expm1(-x)`` is equally exact, and a quarter faster if NumPy has vector functions for it.
    """
    if x.dtype == np.float32 and has_vector_functions():
        return np.expm1(-x) + _TWO
    return np.exp(-x) + lib.ONES[x.dtype]


@plain
def plain_one_and_exp_of_negative(lib: Any, x: Any) -> Any:
    return lib.exp(-x) + 1


# ---- normal distribution
@in_lib
def bell(x: Any) -> Any:
    """The density of the standard normal distribution, of many numbers."""
    z = x * x
    if x.dtype == np.float32 and has_vector_functions():
        # as exact where the density is not next to 0, and twice as fast
        z *= -0.5 * math.log2(math.e)
        r = np.exp2(z)
    else:
        z *= -0.5
        r = np.exp(z)
    r *= 1 / math.sqrt(2 * math.pi)
    if type(x) is Placeholder and x.dtype == np.float32:
        x.named("bell", r)
    return r


@plain
def plain_bell(lib: Any, x: Any) -> Any:
    return lib.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))

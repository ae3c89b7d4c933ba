"""Functions on float64 arrays with the C library's digits, and results that are rounded once (`generator`, NOTE)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

FEW_NUMBERS = 16  # up to which they are computed faster one by one


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:  # C's exp is inf there
        return math.inf


@functools.cache
def libm(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function on float64 arrays with the digits of the C library's `name`; see NOTE [ The C library's digits ]."""
    of_array = getattr(np, name)
    of_number = _exp if name == "exp" else getattr(math, name)

    def one_by_one(x: np.ndarray) -> np.ndarray:
        return np.fromiter(map(of_number, np.ascontiguousarray(x).data), np.float64, x.size)

    # A SIMD version that differs does so for at least one value in some hundreds.
    probe = np.random.RandomState(0).random_sample(5000)
    if not np.array_equal(of_array(probe), one_by_one(probe)):
        return one_by_one
    silent = np.errstate(all="ignore")(of_array)  # without warnings, as the other
    return lambda x: silent(x) if x.size >= FEW_NUMBERS else one_by_one(x)


def rounded_to_float32(
    approximate: np.ndarray, magnitude: np.ndarray, exact: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """float64 values known to about 2**-50 of `magnitude`, rounded to float32 as the exact ones would be.

    `exact(indices)` is called for the rare values (one in some ten million) whose rounding is not certain.
    """
    slack = np.abs(magnitude) * 2.0**-49
    rounded = (approximate - slack).astype(np.float32)
    unsure = (rounded != (approximate + slack).astype(np.float32)).nonzero()[0]
    if unsure.size:
        rounded[unsure] = exact(unsure)
    return rounded


def fused_multiply_add(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """`a * b + c` in float64 rounded once, as the compiler contracts it in PyTorch's kernels.

    Dekker's product and Knuth's sum ("A floating-point technique...", Numer. Math. 18, 1971; TAOCP 2, 4.2.2), wrong
    in the last bit about once in 2**50 numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = a * b
        if c == 0.0:
            return product + c  # -0. + 0. is 0.
        total = product + c
        if b == 1.0 or not math.isfinite(b) or not math.isfinite(c):
            return total
        if abs(b) > 2.0**900:  # would overflow below
            return fused_multiply_add(a, b * 2.0**-200, c * 2.0**-200) * 2.0**200
        split = 134217729.0  # 2**27 + 1
        a_high = a * split - (a * split - a)
        b_high = b * split - (b * split - b)
        a_low, b_low = a - a_high, b - b_high
        product_error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
        moved = total - product
        sum_error = (product - (total - moved)) + (c - moved)
        return total + (sum_error + product_error)

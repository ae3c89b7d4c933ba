"""Poisson, gamma, Dirichlet, binomial: distributions that draw until they accept.

The number of words that an element takes depends on their values, so this is Python, one element at a time.

Source: PyTorch's `ATen/native/Distributions.h` and `.cpp`, after NumPy's (Kern) and TensorFlow's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np

from .common import FULL_PRECISION, REAL, Shape, cast, name_of, require, resolve, torch_name
from .generator import Generator


def poisson(generator: Generator | None, rate: np.ndarray) -> np.ndarray:
    """Poisson with a rate per element, of its shape and dtype: `torch.poisson`.

    Products of uniforms below a rate of 10 (Knuth), transformed rejection from there on (Hoermann, "The transformed
    rejection method for generating Poisson random variables", Insurance: Math. and Econ. 12, 1993).

    >>> poisson(Generator().manual_seed(0), np.array([1.0, 4.0, 30.0], np.float32))
    array([ 2.,  5., 26.], dtype=float32)
    """
    require(rate.dtype, REAL, "poisson_cpu")
    return _one_by_one(generator, rate.dtype, rate.shape, _poisson, (rate.astype(np.float64),))


def _one_by_one(
    generator: Generator | None, dtype: np.dtype, shape: Shape, sample: Callable[..., float], columns: tuple
) -> np.ndarray:
    """`sample(generator, *numbers)` for each element, the numbers from `columns`, arrays of the size of `shape`."""
    generator = resolve(generator)
    rows: Iterator = zip(*(column.ravel().tolist() for column in columns), strict=True)
    with generator._lock:
        values = np.array([sample(generator, *row) for row in rows], np.float64)
    return cast(values, dtype).reshape(shape)


def _log(x: float) -> float:
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def _poisson(generator: Generator, rate: float) -> float:
    if not rate >= 0.0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if rate == 0.0:
        return 0.0
    uniform = generator._uniform
    if rate < 10.0:
        limit, product, count = math.exp(-rate), uniform(), 0
        while product > limit:
            product *= uniform()
            count += 1
        return float(count)
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = float(math.floor((2.0 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        accepted = _log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if accepted <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


def standard_gamma(generator: Generator | None, alpha: np.ndarray) -> np.ndarray:
    """Gamma with a shape parameter per element and scale 1: `torch._standard_gamma`.  float32 and float64.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000.

    >>> standard_gamma(Generator().manual_seed(0), np.array([0.5, 3.0], np.float32))
    array([7.8935816e-04, 1.2728435e+00], dtype=float32)
    """
    require(alpha.dtype, FULL_PRECISION, "gamma_cpu")
    smallest = np.finfo(alpha.dtype).tiny
    made = _one_by_one(generator, alpha.dtype, alpha.shape, _gamma, _gamma_columns(alpha))
    return np.where(made > smallest, made, smallest)


def _gamma_columns(alpha: np.ndarray) -> tuple[np.ndarray, ...]:
    """alpha, 1 / alpha where it is below 1, and d and c of the method; as the C++ does it, partly in alpha's dtype."""
    kind = alpha.dtype.type
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        small = alpha < 1
        power = np.where(small, kind(1) / alpha, 0)
        d = np.where(small, alpha + kind(1), alpha) - kind(np.float32(1) / np.float32(3))
        c = 1.0 / np.sqrt(9.0 * d.astype(np.float64))
    return alpha, power, d, c


_SQUEEZE = float(np.float32(0.0331))


def _gamma(generator: Generator, alpha: float, power: float, d: float, c: float) -> float:
    uniform, normal = generator._uniform, generator._normal
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = math.pow(1.0 - uniform(), power)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0.0:
            continue
        v = y * y * y
        u = 1.0 - uniform()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + _log(v)):
            return scale * d * v


def dirichlet(generator: Generator | None, alpha: np.ndarray) -> np.ndarray:
    """Dirichlet along the last dimension, of alpha's shape: `torch._sample_dirichlet`.  float32 and float64.

    Gammas in float64, divided by their sum.  float64 results may differ from PyTorch's by the order of that sum.

    >>> dirichlet(Generator().manual_seed(0), np.ones((2,), np.float32))
    array([0.8637616 , 0.13623841], dtype=float32)
    """
    dtype = require(alpha.dtype, FULL_PRECISION, "dirichlet")
    gamma = standard_gamma(generator, alpha.astype(np.float64))
    share = (gamma / gamma.sum(-1, keepdims=True)).astype(dtype)
    return np.clip(share, np.finfo(dtype).tiny, np.nextafter(dtype.type(1), dtype.type(0)))


def binomial(generator: Generator | None, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Successes in `count` trials of probability `prob`, element by element: `torch.binomial`.  float32 and float64.

    Sums of geometric numbers where count * prob < 10, else transformed rejection (Hoermann, "The generation of
    binomial random variates", J. Stat. Comput. Simul. 46, 1993), both in PyTorch's mix of precisions.

    >>> binomial(Generator().manual_seed(0), np.array([10.0, 100.0], np.float32), np.array([0.5, 0.5], np.float32))
    array([ 7., 51.], dtype=float32)
    """
    for name, array in (("count", count), ("prob", prob)):
        if name_of(array.dtype) not in REAL:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {torch_name(array.dtype)}")
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {torch_name(prob.dtype)} but expected {torch_name(count.dtype)}")
    require(count.dtype, FULL_PRECISION, "binomial_cpu")
    count, prob = np.broadcast_arrays(count, prob)
    # Whole numbers below 2**23, and their sums with the terms below, are exact in float32 too.
    exact = count.dtype == np.float64 or not (count > 1 << 23).any()
    sample = functools.partial(_binomial, float if exact else _to_float32)
    return _one_by_one(generator, count.dtype, count.shape, sample, _binomial_columns(count, prob))


def _to_float32(x: float) -> float:
    return float(np.float32(x))


def _binomial_columns(count: np.ndarray, prob: np.ndarray) -> tuple[np.ndarray, ...]:
    """The arguments of `_binomial`; they are computed here because PyTorch does so in the dtype of `count`."""
    kind = count.dtype.type
    with np.errstate(all="ignore"):
        rare = np.where(prob > 0.5, kind(1) - prob, prob)
        expected = count * rare
        deviation = np.sqrt(expected * (kind(1) - rare))
        odds = rare / (kind(1) - rare)
        # PyTorch's log1p of a float32 is the C library's log1pf; this is the correctly rounded one
        log_failure = np.log1p(-rare.astype(np.float64)).astype(kind)
        mode = np.floor((count + kind(1)) * rare)
    return count, prob, rare, expected, deviation, odds, log_failure, mode


Rounding = Callable[[float], float]


def _binomial(
    fit: Rounding, generator: Generator, count: float, prob: float, rare: float, expected: float, deviation: float,
    odds: float, log_failure: float, mode: float,
) -> float:  # fmt: skip
    """One number; `fit` rounds to the dtype of `count`."""
    if count <= 0.0 or prob <= 0.0:
        return 0.0
    if prob >= 1.0:
        return count
    if math.isnan(prob) or math.isnan(count):
        return math.nan
    if expected >= 10.0:
        made = _binomial_rejection(fit, generator, count, rare, expected, deviation, odds, mode)
    else:
        made = _binomial_waiting(generator, count, log_failure)
    return made if prob <= 0.5 else count - made


def _binomial_waiting(generator: Generator, count: float, log_failure: float) -> float:
    made, trials = 0.0, 0.0
    while True:
        waited = _log(generator._uniform()) / log_failure
        trials += math.ceil(waited) if waited < math.inf else waited
        if trials > count:
            return made
        made += 1.0


def _binomial_rejection(
    fit: Rounding, generator: Generator, count: float, rare: float, expected: float, deviation: float, odds: float,
    mode: float,
) -> float:  # fmt: skip
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * rare
    c = expected + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u, v = generator._uniform() - 0.5, generator._uniform()
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = fit(math.floor((2.0 * a / us + b) * u + c))
        if k < 0.0 or k > count:
            continue
        if us >= 0.07 and v <= v_r:
            return k
        failures = fit(count - k)
        failures_next = fit(failures + 1.0)
        upper = (
            (mode + 0.5) * math.log((mode + 1.0) / (odds * (count - mode + 1.0)))
            + fit(count + 1.0) * math.log((count - mode + 1.0) / failures_next)
            + (k + 0.5) * math.log(odds * failures_next / fit(k + 1.0))
            + _stirling_tail(mode)
            + _stirling_tail(count - mode)
            - _stirling_tail(k)
            - _stirling_tail(failures)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= upper:
            return k


_STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: float) -> float:
    """log(k!) minus Stirling's formula."""
    if k < len(_STIRLING_TAIL):
        return _STIRLING_TAIL[int(k)]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)

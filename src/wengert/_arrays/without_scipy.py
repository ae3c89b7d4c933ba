"""Special functions for installations without SciPy: Python's own, element by element, in float64.

They are as exact as SciPy's and some ten times slower: enough for GELU, the normal distribution and likelihoods.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of one number as a function of each element."""

    def of_each(x: Any) -> Any:
        x = np.asarray(x)
        made = np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size)
        return made.reshape(x.shape)

    return of_each


def _erfinv(x: float) -> float:
    if not -1 < x < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) > 0.5:  # 1 - abs(x) is exact, and the distribution's tail is
        return math.copysign(_QUANTILE((1 - abs(x)) / 2) * math.sqrt(0.5), x)
    guess = _QUANTILE((1 + x) / 2) * math.sqrt(0.5)
    return guess - (math.erf(guess) - x) * math.sqrt(math.pi) / 2 * math.exp(guess * guess)


def _gammaln(x: float) -> float:
    return x if x == -math.inf else math.inf if x <= 0 and x % 1 == 0 else math.lgamma(x)


def _ndtri(p: float) -> float:
    return _QUANTILE(p) if 0 < p < 1 else -math.inf if p == 0 else math.inf if p == 1 else math.nan


def _xlogy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(np.where(x == 0, 1, y)))


def _xlog1py(x: Any, y: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(np.where(x == 0, 1, y)))


_QUANTILE = statistics.NormalDist().inv_cdf
_HALF = math.sqrt(0.5)
STAND_INS: dict[str, Callable[..., Any]] = {
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "erfinv": _each(_erfinv),
    "gammaln": _each(_gammaln),
    "ndtr": _each(lambda x: math.erfc(-x * _HALF) / 2),
    "ndtri": _each(_ndtri),
    "xlogy": _xlogy,
    "xlog1py": _xlog1py,
    "entr": lambda x: np.where(x < 0, -np.inf, -_xlogy(x, x)),
}

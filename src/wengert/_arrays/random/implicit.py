"""Derivatives of draws of gamma and beta variables with respect to their parameters, at a fixed quantile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def as_float32(x: float) -> float:
    """A constant that PyTorch's source has as a float32."""
    return float(np.float32(x))


def piecewise(pieces: list[tuple[Any, Callable[..., Any]]], lib: Any, *operands: Any) -> Any:
    """Compute each element with the function of the first condition that holds for it."""
    out = np.empty(operands[0].shape, np.float64)
    left = np.ones(out.shape, bool)
    with np.errstate(all="ignore"):
        for condition, function in pieces:
            here = left & condition
            if here.any():
                out[here] = function(lib, *(a[here] for a in operands))
            left &= ~here
    return out


def gamma_small(lib: Any, alpha: Any, x: Any) -> Any:
    """The series of the incomplete gamma function at 0."""
    term, denominator = np.ones_like(x), alpha
    series, slope = 1 / denominator, 1 / denominator**2
    for i in range(1, 6):
        term = term * (-x / i)
        denominator = denominator + 1
        series = series + term / denominator
        slope = slope + term / (denominator * denominator)
    power = x**alpha
    density = x ** (alpha - 1) * np.exp(-x)
    by_alpha = (np.log(x) - lib.scipy_psi(alpha)) * (power * series) - power * slope
    return _zero_for_nan(-by_alpha / density)


def _zero_for_nan(values: Any) -> Any:
    return np.where(np.isnan(values), 0, values)


def gamma_central(lib: Any, alpha: Any, x: Any) -> Any:
    """Rice's saddle point expansion around the mean, where the general form is 0 / 0."""
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * alpha**2 + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * alpha**4)


def gamma_saddle(lib: Any, alpha: Any, x: Any) -> Any:
    """Rice's saddle point expansion for large shape parameters."""
    log_ratio = np.log(x / alpha)
    scale = np.sqrt(8 * alpha)
    near = scale / (alpha - x)
    far = (x - alpha - alpha * log_ratio) ** -1.5
    bracket = log_ratio * np.where(x < alpha, near - far, near + far)
    bracket -= np.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * (x * bracket) / scale


# by powers of log(x / alpha), then of log(alpha): four of the numerator, four of the denominator
_GAMMA_FIT = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1.0, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
     -1.5247877e-07),
)  # fmt: skip


def gamma_fitted(lib: Any, alpha: Any, x: Any) -> Any:
    """A rational function of the logarithms, fitted for the logarithm of the derivative."""
    u, v = np.log(x / alpha), np.log(alpha)
    by_v = [_polynomial(u, column) for column in zip(*_GAMMA_FIT, strict=True)]
    return np.exp(_polynomial(v, by_v[:4]) / _polynomial(v, by_v[4:]))


def _polynomial(x: Any, coefficients: Any) -> Any:
    """``c0 + x * (c1 + x * (c2 + ...))``."""
    result = coefficients[-1]
    for c in coefficients[-2::-1]:
        result = c + x * result
    return result


def beta_small(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
    """The series of the incomplete beta function at 0; in the dtype of x, as PyTorch."""
    kind = x.dtype.type
    beta = total - alpha
    factor = lib.scipy_psi(alpha) - lib.scipy_psi(alpha + beta) - np.log(x)
    term = np.ones_like(x)
    series = term / alpha * (factor + 1 / alpha)
    for i in range(1, 11):
        term = term * ((kind(i) - beta) * x / kind(i))
        denominator = alpha + kind(i)
        series = series + term / denominator * (factor + 1 / denominator)
    return _zero_for_nan(x * (1 - x) ** -beta * series)


def beta_large(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
    """The series of the incomplete beta function at 1, in 1 - x, differentiated by the other parameter."""
    kind = x.dtype.type
    x, alpha, beta = 1 - x, total - alpha, alpha
    factor = lib.scipy_psi(alpha + beta) - lib.scipy_psi(beta)
    term, product, slope = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    series = factor / alpha
    for i in range(1, 9):
        term = term * (-x / kind(i))
        slope = slope * (beta - kind(i)) + product
        product = product * (beta - kind(i))
        series = series + term / (alpha + kind(i)) * (slope + factor * product)
    return -_zero_for_nan(-((1 - x) ** (1 - beta)) * series)


def _wide(*operands: Any) -> tuple[Any, ...]:
    return tuple(a.astype(np.float64) for a in operands)


def beta_saddle(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
    """A saddle point expansion for large parameters, in float64."""
    x, alpha, total = _wide(x, alpha, total)
    beta = total - alpha
    mean, deviation = alpha / total, np.sqrt(alpha * beta / (total + 1)) / total
    central = np.abs(x - mean) <= 0.1 * deviation
    return np.where(central, _beta_at_mean(x, alpha, beta, total), _beta_off_mean(x, alpha, beta, total))


def _beta_at_mean(x: Any, alpha: Any, beta: Any, total: Any) -> Any:
    by_alpha = (
        47 * x * beta**4,
        (43 + 20 * (16 + 27 * beta) * x) * beta**3,
        3 * (59 + 180 * beta - 90 * x) * beta**2,
        (453 + 1620 * beta * (1 - x) - 455 * x) * beta,
        8 * (1 - x) * (135 * beta - 11),
    )
    scale = (1 + 12 * alpha) * (1 + 12 * beta) / total**2
    return scale / (1 - x) * _polynomial(alpha, by_alpha) / (12960 * alpha**3 * beta**2 * (1 + 12 * total))


def _beta_off_mean(x: Any, alpha: Any, beta: Any, total: Any) -> Any:
    def stirling(n: Any) -> Any:
        return 1 + 1 / (12 * n) + 1 / (288 * n * n)

    offset = alpha * (x - 1) + beta * x
    below, above = np.log(alpha / (total * x)), np.log(beta / (total * (1 - x)))
    first = 2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2
    first /= np.sqrt(2 * alpha / beta) * total**1.5 * offset * offset
    third = np.sqrt(8 * alpha * beta / total) / offset
    fourth = (beta * above + alpha * below) ** -1.5
    bracket = first + 0.5 * below * (third + np.where(x < alpha / total, fourth, -fourth))
    return stirling(alpha) * stirling(beta) / stirling(total) * (-x / np.sqrt(2 * alpha * beta / total)) * bracket


# numerator and denominator, by powers of u, of a, of b
_BETA_FIT = (
    (((1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
      (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
      (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013)),
     ((0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
      (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
      (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05)),
     ((-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
      (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
      (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05))),
    (((1.0, -0.02924021934, -0.04438342661, 0.007285809825),
      (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
      (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149)),
     ((0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
      (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
      (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05)),
     ((0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
      (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
      (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06))),
)  # fmt: skip


def beta_fitted(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
    """An analytic approximation, corrected by a fitted rational function of the logarithms."""
    x, alpha, total = _wide(x, alpha, total)
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    above, below = (
        _polynomial(u, [_polynomial(a, [_polynomial(b, by_b) for by_b in by_a]) for by_a in table])
        for table in _BETA_FIT
    )
    approximate = x * (lib.scipy_psi(total) - lib.scipy_psi(alpha)) / (total - alpha)
    return above / below * approximate

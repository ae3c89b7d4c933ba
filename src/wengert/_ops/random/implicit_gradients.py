"""Draws that are differentiable though no formula makes them from noise: gamma and Dirichlet.

A draw x of a distribution with parameter a and distribution function F moves with a so that F(x; a) stays the same:
``dx/da = -(dF/da) / (dF/dx)``, the implicit reparameterisation gradient (Figurnov, Mohamed, Mnih 2018). For the gamma
and the beta distribution dF/da has no closed form; the approximations here, and where each is used, are PyTorch's
(``ATen/native/Distributions.h``; Jankowiak and Obermeyer 2018): a series near the ends of the support, a saddle point
expansion for large parameters, a fitted rational function between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays import random as _samplers
from ..._arrays.random.common import FULL_PRECISION, require
from ..._base.registry import public
from ..._kinds.general import general
from ..._tape.tensor import Tensor, wrap
from ...random import Generator
from ._common import needs, sampled, source_of
from .sampling import _array, _tensor

_IMPLICIT = "PyTorch differentiates a draw with its quantile fixed, once: a difference of two draws is no test of it"


def _once(name: str) -> Callable[..., Any]:
    """A formula for what PyTorch differentiates once and not twice."""

    def formula(xp: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def _positive(*shapes: tuple[int, ...]) -> Callable[..., Any]:
    return lambda rng: [(tuple(rng.random(s) + 0.5 for s in shapes), ())]


def _fractions(rng: Any) -> list[Any]:
    alpha = rng.random((3, 4)) * 3 + 0.5
    return [((rng.random((3, 4)), alpha, alpha.sum(-1, keepdims=True)), ())]


def _of_shape(lib: Any, values: Any, self: Any) -> Any:
    """The draws; repeated where one draw serves several parameters (vmap with the same randomness)."""
    return values if values.shape == self.shape else values + lib.zeros(self.shape, values.dtype)


# ---------------------------------------------------------------------------------------------------------------- gamma
@public("torch._standard_gamma")
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of the gamma distributions of scale 1 with the shape parameters that ``input`` holds, float32 or float64.

    They are differentiable by the shape parameters, once.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> shape = torch.tensor([0.5, 3.], requires_grad=True)
    >>> draws = torch._standard_gamma(shape)
    >>> draws
    tensor([7.8936e-04, 1.2728e+00], grad_fn=<StandardGammaBackward0>)
    >>> torch.autograd.grad(draws.sum(), shape)
    (tensor([0.0113, 0.6664]),)
    """
    source = source_of(generator, "_standard_gamma")
    payload = _array(_tensor(input, "_standard_gamma"))
    draws = wrap(sampled(_samplers.standard_gamma, source, payload))
    return gamma_draws(input, draws) if needs(input) else draws


@general(
    grad={"self": lambda xp, g, self, result: g * xp._standard_gamma_grad(self, result), "values": None},
    tensors=2,
    node="StandardGammaBackward0",
    batch="elementwise",
    dtypes="f",
    why_not=_IMPLICIT,
    samples=_positive((3,), (3,)),
)
def gamma_draws(lib, self, values):
    """``values``, which were drawn for the shape parameters ``self``."""
    return _of_shape(lib, values, self)


@general(
    grad={"self": _once("_standard_gamma_grad"), "output": _once("_standard_gamma_grad")},
    tensors=2,
    node="NotImplemented",
    names="torch._standard_gamma_grad",
    batch="elementwise",
    dtypes="f",
    why_not="PyTorch has none; a backward pass that arrives here is an error",
    samples=_positive((3,), (3,)),
)
def _standard_gamma_grad(lib, self, output):
    """How draws of the gamma distribution of scale 1 move with its shape parameter, their quantiles fixed.

    >>> import wengert as torch
    >>> torch._standard_gamma_grad(torch.tensor([2.]), torch.tensor([1.]))
    tensor([0.7507])
    """
    dtype = require(output.dtype, FULL_PRECISION, "_standard_gamma_grad_cpu")
    alpha, x = np.broadcast_arrays(np.asarray(self, np.float64), np.asarray(output, np.float64))
    large = alpha > 8.0
    central = (_32(0.9) * alpha <= x) & (x <= _32(1.1) * alpha)
    pieces = [
        (x < _32(0.8), _gamma_small),
        (large & central, _gamma_central),
        (large, _gamma_saddle),
        (np.True_, _gamma_fitted),
    ]
    return _piecewise(pieces, lib, alpha, x).astype(dtype)


def _32(x: float) -> float:
    """A constant that PyTorch's source has as a float32."""
    return float(np.float32(x))


def _piecewise(pieces: list[tuple[Any, Callable[..., Any]]], lib: Any, *operands: Any) -> Any:
    """Each element by the function of the first condition that holds for it."""
    out = np.empty(operands[0].shape, np.float64)
    left = np.ones(out.shape, bool)
    with np.errstate(all="ignore"):
        for condition, function in pieces:
            here = left & condition
            if here.any():
                out[here] = function(lib, *(a[here] for a in operands))
            left &= ~here
    return out


def _gamma_small(lib: Any, alpha: Any, x: Any) -> Any:
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


def _gamma_central(lib: Any, alpha: Any, x: Any) -> Any:
    """Rice's saddle point expansion, around the mean, where its general form is 0 / 0."""
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * alpha**2 + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * alpha**4)


def _gamma_saddle(lib: Any, alpha: Any, x: Any) -> Any:
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


def _gamma_fitted(lib: Any, alpha: Any, x: Any) -> Any:
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


# ------------------------------------------------------------------------------------------------------------ Dirichlet
@public("torch._sample_dirichlet")
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of the Dirichlet distributions with the concentrations along the last dim of ``input``, float32 or float64.

    They are differentiable by the concentrations, once.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch._sample_dirichlet(torch.ones(2))
    tensor([0.8638, 0.1362])
    """
    source = source_of(generator, "_sample_dirichlet")
    payload = _array(_tensor(input, "_sample_dirichlet"))
    draws = wrap(sampled(_samplers.dirichlet, source, payload))
    return dirichlet_draws(input, draws) if needs(input) else draws


def _dirichlet_pullback(xp: Any, g: Any, self: Any, result: Any) -> Any:
    last = (len(self.shape) - 1,)
    slope = xp._dirichlet_grad(result, self, xp.sum_dim(self, last, True))
    return slope * (g - xp.sum_dim(result * g, last, True))


@general(
    grad={"self": _dirichlet_pullback, "values": None},
    tensors=2,
    node="_DirichletBackward",
    batch=("core", (1, 1)),
    dtypes="f",
    why_not=_IMPLICIT,
    samples=_positive((2, 3), (2, 3)),
)
def dirichlet_draws(lib, self, values):
    """``values``, which were drawn for the concentrations ``self``."""
    return _of_shape(lib, values, self)


@general(
    grad=dict.fromkeys(("x", "alpha", "total"), _once("_dirichlet_grad")),
    tensors=3,
    node="NotImplemented",
    names="torch._dirichlet_grad",
    batch="elementwise",
    dtypes="f",
    why_not="PyTorch has none; a backward pass that arrives here is an error",
    samples=_fractions,
)
def _dirichlet_grad(lib, x, alpha, total):
    """How a beta draw x moves with alpha, its quantile fixed, divided by 1 - x; ``total`` is alpha + beta.

    >>> import wengert as torch
    >>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.6931])
    """
    dtype = require(x.dtype, FULL_PRECISION, "_dirichlet_grad_cpu")
    for other in (alpha, total):
        if other.dtype != dtype:
            names = {4: "Float", 8: "Double"}
            raise RuntimeError(f"Found dtype {names.get(other.dtype.itemsize)} but expected {names[dtype.itemsize]}")
    x, alpha, total = np.broadcast_arrays(x, alpha, total)
    edge = total * x * (1 - x)
    pieces = [
        ((x <= 0.5) & (edge < 2.5), _beta_small),
        ((x >= 0.5) & (edge < 0.75), _beta_large),
        ((alpha > 6) & (total - alpha > 6), _beta_saddle),
        (np.True_, _beta_fitted),
    ]
    return _piecewise(pieces, lib, x, alpha, total).astype(dtype)


def _beta_small(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
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


def _beta_large(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
    """The same at 1: the series in 1 - x, differentiated by the other parameter."""
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


def _beta_saddle(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
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


def _beta_fitted(lib: Any, x: Any, alpha: Any, total: Any) -> Any:
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

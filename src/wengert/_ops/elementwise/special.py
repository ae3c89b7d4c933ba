"""Special functions: error functions, gamma functions, zeta, xlogy.

SciPy computes the values; it is imported at the first call. Each function has PyTorch's derivative. Bessel functions
are in ``bessel``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.layouts import iterated, rows
from ..._base.constants import type_name
from ..._base.dtypes import BOOL, COMPLEX, FLOATING
from ..._base.registry import ARRAYS, PUBLIC, REGISTRY, public, publish
from ..._kinds.elementwise import binary, parametric, unary
from ..._kinds.keywords import with_out
from ..._kinds.out import convertible, write_out
from ..._kinds.slow_path import check_arguments, not_implemented
from ..._tape.error_text import expect_tensor
from ..._tape.inplace import inplace_of
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ._common import NOTHING, plain_number, real_function, refuse_all_but_floats, refuse_forward

SQRT_PI, SQRT_2, SQRT_2_PI = math.sqrt(math.pi), math.sqrt(2.0), math.sqrt(2.0 * math.pi)


# ---- error function
def _bell_grad(xp: Any, g: Any, scale: float, power: Any) -> Any:
    """``scale * exp(power) * g``, in the memory of the power, and so in its order."""
    if xp is not ARRAYS or type(power) is not np.ndarray:
        return scale * xp.exp(power) * g
    np.exp(power, power)
    np.multiply(power, scale, power)
    return np.multiply(power, g, power)


@real_function(
    unary,
    "torch.erf Tensor.erf special.erf",
    grad=lambda xp, g, self: _bell_grad(xp, g, 2.0 / SQRT_PI, -(self * self)),
    libname="error_function",
    kernel="erf_vml_cpu",
)
def erf(input):
    """The error function of each element.

    >>> torch.erf(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8427])
    """


@real_function(
    unary,
    "torch.erfc Tensor.erfc special.erfc",
    grad=lambda xp, g, self: _bell_grad(xp, g, -2.0 / SQRT_PI, -(self * self)),
    kernel="erfc_vml_cpu",
)
def erfc(input):
    """``1 - erf(x)`` of each element, accurate where ``erf(x)`` is near 1 too.

    >>> torch.erfc(torch.tensor([0., 1.]))
    tensor([1.0000, 0.1573])
    """


@real_function(
    unary, "special.erfcx", half=False, grad=lambda xp, g, self, result: (2.0 * self * result - 2.0 / SQRT_PI) * g
)
def erfcx(input):
    """``exp(x ** 2) * erfc(x)``.

    >>> torch.special.erfcx(torch.tensor([0., 1.]))
    tensor([1.0000, 0.4276])
    """


@real_function(
    unary,
    "torch.erfinv Tensor.erfinv special.erfinv",
    grad=lambda xp, g, self: _bell_grad(xp, g, 0.5 * SQRT_PI, xp.erfinv(self) ** 2),
    domain=(-0.9, 0.9),
    kernel="erfinv_vml_cpu",
)
def erfinv(input):
    """The inverse of the error function, for elements between -1 and 1.

    >>> torch.erfinv(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.4769])
    """


@real_function(
    unary,
    "special.ndtr",
    grad=lambda xp, g, self: g * (xp.exp(-0.5 * (self * self)) / SQRT_2_PI),
    node="MulBackward1",
    kernel="erf_vml_cpu",
)
def ndtr(input):
    """The probability that a standard normal variable is below each element.

    >>> torch.special.ndtr(torch.tensor([0., 1.]))
    tensor([0.5000, 0.8413])
    """


@real_function(
    unary,
    "special.ndtri",
    half=False,
    grad=lambda xp, g, result: g * (SQRT_2_PI * xp.exp(result * result / 2)),
    domain=(0.1, 0.9),
)
def ndtri(input):
    """The inverse of ``ndtr``: the quantile of the standard normal distribution for each probability.

    >>> torch.special.ndtri(torch.tensor([0.5, 0.75]))
    tensor([0.0000, 0.6745])
    """


def _log_ndtr_grad(xp: Any, g: Any, self: Any) -> Any:
    """The normal density divided by the probability; ``erfcx`` would overflow where the probability is nearly 1."""
    right = self > 1
    low = xp.where(right, 0, self)
    high = xp.where(right, self, 0)
    near_one = xp.exp(high * high * -0.5) / (xp.ndtr(high) * math.sqrt(2.0 * math.pi))
    return g * xp.where(right, near_one, math.sqrt(2.0 / math.pi) / xp.erfcx(low * (-1 / SQRT_2)))


@real_function(unary, "special.log_ndtr", half=False, grad=_log_ndtr_grad)
def log_ndtr(input):
    """The logarithm of ``ndtr``.

    >>> torch.special.log_ndtr(torch.tensor([0., -1.]))
    tensor([-0.6931, -1.8410])
    """


# ---- gamma function
@real_function(
    unary,
    "torch.lgamma Tensor.lgamma special.gammaln",
    grad=lambda xp, g, self: g * xp.digamma(self),
    domain=(0.5, 3.0),
    kernel="lgamma_vml_cpu",
)
def lgamma(lib, input):
    """The logarithm of the absolute value of the gamma function of each element.

    >>> torch.lgamma(torch.tensor([1., 4.]))
    tensor([0.0000, 1.7918])
    """
    result = lib.scipy_gammaln(input)
    end = input == lib.NUMBERS[input.dtype][-math.inf]
    return lib.where(end, math.inf, result) if lib.count_nonzero(end) else result


@real_function(
    unary,
    "torch.digamma Tensor.digamma special.digamma special.psi",
    grad=lambda xp, g, self: g * xp._polygamma(self, 1),
    domain=(0.5, 3.0),
    kernel="digamma",
)
def digamma(lib, input):
    """The derivative of ``lgamma``: -inf at 0, nan at the negative integers.

    >>> torch.digamma(torch.tensor([1., 0.5]))
    tensor([-0.5772, -1.9635])
    """
    result = lib.scipy_psi(input)
    zero = input == lib.ZEROS[input.dtype]
    if lib.count_nonzero(zero):
        result = lib.where(zero, lib.copysign(float("inf"), -input).astype(input.dtype), result)
    return result


@parametric(
    layout=iterated,
    grad=lambda xp, g, self, n: g * xp._polygamma(self, n + 1),
    to_float=True,
    domain=(0.5, 3.0),
    dtypes="fib",
    samples=lambda rng: [((rng.random(3) + 0.5,), (n,)) for n in (0, 1, 2)],
)
def _polygamma(lib, self, n):
    """The derivative of order n of ``digamma``."""
    if n == 0:
        return REGISTRY["digamma"].decl(lib, self)
    x = self.astype("float64")
    factor = math.factorial(n) if n % 2 else -math.factorial(n)
    values = factor * lib.scipy_zeta(float(n + 1), x)
    if n == 1:  # reflect elements below 0.5: psi1(1 - x) + psi1(x) = (pi / sin(pi x)) ** 2
        reflected = (math.pi / lib.sin(math.pi * x)) ** 2 - lib.scipy_zeta(2.0, 1 - x)
        values = lib.where(x < 0.5, reflected, values)
    return values.astype(self.dtype)


@public("torch.polygamma special.polygamma")
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order n of ``digamma``, n >= 0.

    >>> torch.polygamma(1, torch.tensor([1.]))
    tensor([1.6449])
    """
    n = plain_number(n)
    if type(n) is not int:
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type_name(n)}")
    expect_tensor("polygamma", "input", 2, input)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if logical_dtype(input) in COMPLEX:
        raise not_implemented(REGISTRY["_polygamma"], input, ("digamma", "trigamma", "polygamma")[min(n, 2)])
    return _polygamma(input, n) if out is None else write_out(out, _polygamma, (input, n))


@public("Tensor.polygamma")
def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The derivative of order n of ``digamma``."""
    return polygamma(n, self)


publish(inplace_of(polygamma_method, "polygamma_"), "Tensor.polygamma_")


def _mvlgamma_terms(p: int) -> list[float]:
    return [-0.5 * j for j in range(p)]


def _mvlgamma_grad(xp: Any, g: Any, self: Any, p: int) -> Any:
    total = None
    for shift in _mvlgamma_terms(p):
        term = xp.digamma(self + shift)
        total = term if total is None else total + term
    return g * total


@parametric(
    layout=rows,
    grad=_mvlgamma_grad,
    to_float=True,
    dtypes="fib",
    samples=lambda rng: [((rng.random(3) + 1.5,), (p,)) for p in (1, 2, 3)],
)
def _mvlgamma(lib, self, p):
    """The logarithm of the multivariate gamma function of dimension p."""
    lgamma_of = REGISTRY["lgamma"].decl
    total = sum(lgamma_of(lib, self + shift) for shift in _mvlgamma_terms(p))
    return total + p * (p - 1) / 4 * math.log(math.pi)


@public("torch.mvlgamma Tensor.mvlgamma special.multigammaln")
@with_out(convertible("mvlgamma: result type {Result} can't be cast to the desired output type {Result}"))
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    >>> torch.mvlgamma(torch.tensor([3.]), 2)
    tensor([1.5502])
    """
    check_arguments("mvlgamma", input, p)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if logical_dtype(input) is BOOL:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if logical_dtype(input) in COMPLEX:
        raise not_implemented(REGISTRY["_mvlgamma"], input, "arange_cpu")
    return _mvlgamma(input, p)


publish(inplace_of(mvlgamma, "mvlgamma_"), "Tensor.mvlgamma_")


def _refuse_derivative(what: str) -> Any:
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


def _igamma_slope(xp: Any, g: Any, self: Any, other: Any) -> Any:
    return g * xp.exp((self - 1) * xp.log(other) - other - xp.lgamma(self))


_INCOMPLETE: dict[str, Any] = {
    "numbers": NOTHING,
    "integers": True,
    "fast": FLOATING,
    "check": refuse_all_but_floats(),
    "domain": (0.5, 2.0),
    "domain_other": (0.5, 2.0),
    "no_derivative": "PyTorch has no derivative with respect to its first operand",
    "dtypes": "f",
}


@binary(
    layout=iterated,
    self=lambda xp, g: _refuse_derivative("igamma: input"),
    other=_igamma_slope,
    jvp=refuse_forward("igamma", _igamma_slope),
    names="torch.igamma Tensor.igamma special.gammainc",
    libname="scipy_gammainc",
    **_INCOMPLETE,
)
def igamma(input, other):
    """The regularised lower incomplete gamma function; it has a derivative with respect to ``other`` only.

    >>> torch.igamma(torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.8647])
    """


@binary(
    layout=iterated,
    self=lambda xp, g: _refuse_derivative("igammac: input"),
    other=lambda xp, g, self, other: _igamma_slope(xp, -g, self, other),
    jvp=refuse_forward("igammac", lambda xp, g, self, other: _igamma_slope(xp, -g, self, other)),
    names="torch.igammac Tensor.igammac special.gammaincc",
    libname="scipy_gammaincc",
    **_INCOMPLETE,
)
def igammac(input, other):
    """The regularised upper incomplete gamma function; it has a derivative with respect to ``other`` only.

    >>> torch.igammac(torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.1353])
    """


# ---- entropy, logarithms
def _times_log(lib: Any, x: Any, log: Any, y: Any) -> Any:
    """``x * log(y)``, and 0 where ``x`` is 0 and ``y`` is not nan: PyTorch rounds the logarithms of 16 bits before."""
    y = y if hasattr(y, "dtype") else x.dtype.type(y)
    return lib.where((x == 0) & (y == y), x.dtype.type(0), x * log(y))


@real_function(unary, "special.entr", grad=lambda xp, g, self: g * (-xp.log(self) - 1), domain=(0.2, 2.0))
def entr(lib, input):
    """``-x log(x)``: 0 at 0 and -inf below.

    >>> torch.special.entr(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.3466])
    """
    if input.dtype.itemsize > 2:
        return lib.scipy_entr(input)
    return lib.where(input < 0, input.dtype.type(-np.inf), _times_log(lib, -input, lambda y: lib.log(abs(y)), input))


@real_function(
    binary,
    "torch.xlogy Tensor.xlogy special.xlogy",
    self=lambda xp, g, self, other: xp.masked_fill(xp.xlogy(g, other), (self == 0) & (other <= 0), 0),
    other=lambda xp, g, self, other: g * self / other,
    node="XlogyBackward0",
    scalar_node="XlogyBackward2",
    domain_other=(0.2, 2.0),
)
def xlogy(lib, input, other):
    """``input * log(other)``, and 0 where ``input`` is 0 and ``other`` is not nan.

    >>> torch.xlogy(torch.tensor([0., 2.]), torch.tensor([0., 1.]))
    tensor([0., 0.])
    """
    return lib.scipy_xlogy(input, other) if input.dtype.itemsize > 2 else _times_log(lib, input, lib.log, other)


publish(PUBLIC["Tensor"].peek("xlogy_"), "torch.xlogy_")


@real_function(
    binary,
    "special.xlog1py",
    self=lambda xp, g, self, other: xp.masked_fill(xp.xlog1py(g, other), (self == 0) & (other <= -1), 0),
    other=lambda xp, g, self, other: g * self / (other + 1),
    node="SpecialXlog1PyBackward0",
    scalar_node="SpecialXlog1PyBackward2",
    domain_other=(-0.5, 2.0),
)
def xlog1py(lib, input, other):
    """``input * log(1 + other)``, and 0 where ``input`` is 0 and ``other`` is not nan.

    >>> torch.special.xlog1py(torch.tensor([0., 2.]), torch.tensor([-1., 1.]))
    tensor([0.0000, 1.3863])
    """
    if input.dtype.itemsize > 2:
        return lib.scipy_xlog1py(input, other)
    return _times_log(lib, input, lib.log1p, other)


def _zeta_slope(xp: Any, g: Any, self: Any, other: Any) -> Any:
    return g * -self * xp.zeta(self + 1.0, other)


@real_function(
    binary,
    "special.zeta",
    half=False,
    self=lambda xp, g: _refuse_derivative("zeta"),
    other=_zeta_slope,
    jvp=refuse_forward("special_zeta", _zeta_slope),
    domain=(1.5, 3.0),
    domain_other=(0.5, 2.0),
    no_derivative="PyTorch has no derivative with respect to its first operand",
)
def zeta(input, other):
    """The Hurwitz zeta function; it has a derivative with respect to ``other`` only.

    >>> torch.special.zeta(torch.tensor([2.]), torch.tensor([1.]))
    tensor([1.6449])
    """


# ---- logit
def _logit_grad(xp: Any, g: Any, self: Any, eps: Any) -> Any:
    slope = g / (self * (1 - self))
    if eps is None:
        return xp._masked(slope, (self < 0) | (self > 1), float("nan"))
    return xp._masked(slope, (self < eps) | (self > 1 - eps), 0)


@parametric(
    grad=_logit_grad,
    to_float=True,
    dtypes="fib",
    samples=lambda rng: [((rng.random(3) * 0.8 + 0.1,), (None,)), ((rng.random((2, 3)) * 0.5 + 0.2,), (0.1,))],
)
def _logit(lib, self, eps):
    """``log(x / (1 - x))`` with x clamped to [eps, 1 - eps]."""
    if eps is not None:
        self = lib.where(self < eps, eps, lib.where(self > 1 - eps, 1 - eps, self))
    return lib.log(self / (lib.ONES[self.dtype] - self))


@public("torch.logit Tensor.logit special.logit")
@with_out
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))`` of each element; with ``eps``, x is clamped to [eps, 1 - eps] first.

    >>> torch.logit(torch.tensor([0.5, 0.9]))
    tensor([0.0000, 2.1972])
    """
    if logical_dtype(input) in COMPLEX:
        raise not_implemented(REGISTRY["_logit"], input)
    if type(eps) is complex:
        check_arguments("logit", input, eps)
    return _logit(input, plain_number(eps))


publish(inplace_of(logit, "logit_"), "torch.logit_ Tensor.logit_")

# Made by tools/make_stubs.py; do not edit.
from builtins import int as _int
from ._tape.tensor import Number, Tensor
from . import digamma as digamma, erf as erf, erfc as erfc, erfinv as erfinv, exp2 as exp2, expm1 as expm1, i0 as i0, log1p as log1p, log_softmax as log_softmax, logit as logit, logsumexp as logsumexp, polygamma as polygamma, round as round, sinc as sinc, softmax as softmax, xlogy as xlogy
def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1."""
def chebyshev_polynomial_t(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial T of degree n at x."""
def chebyshev_polynomial_u(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial U of degree n at x."""
def chebyshev_polynomial_v(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial V of degree n at x."""
def chebyshev_polynomial_w(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial W of degree n at x."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``-x log(x)``: 0 at 0 and -inf below."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x ** 2) * erfc(x)``."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def gammainc(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function; it has a derivative with respect to ``other`` only."""
def gammaincc(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function; it has a derivative with respect to ``other`` only."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function of each element."""
def hermite_polynomial_h(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The physicists' Hermite polynomial of degree n at x."""
def hermite_polynomial_he(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The probabilists' Hermite polynomial of degree n at x."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-abs(x)) * i0(x)``."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(-abs(x)) * i1(x)``."""
def laguerre_polynomial_l(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Laguerre's polynomial of degree n at x."""
def legendre_polynomial_p(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Legendre's polynomial of degree n at x."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of ``ndtr``."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1."""
def multigammaln(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The probability that a standard normal variable is below each element."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``ndtr``: the quantile of the standard normal distribution for each probability."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of ``lgamma``: -inf at 0, nan at the negative integers."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x)`` times ``modified_bessel_k0``."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x)`` times ``modified_bessel_k1``."""
def shifted_chebyshev_polynomial_t(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial T of degree n at 2 x - 1."""
def shifted_chebyshev_polynomial_u(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial U of degree n at 2 x - 1."""
def shifted_chebyshev_polynomial_v(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial V of degree n at 2 x - 1."""
def shifted_chebyshev_polynomial_w(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial W of degree n at 2 x - 1."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(x) / x``, and 1 at 0."""
def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(1 + other)``, and 0 where ``input`` is 0 and ``other`` is not nan."""
def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function; it has a derivative with respect to ``other`` only."""

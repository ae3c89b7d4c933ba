# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int
from ._base.dtypes import dtype as _dtype
from ._tape.tensor import Ints, Number, Tensor
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
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of ``lgamma``: -inf at 0, nan at the negative integers."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``-x log(x)``: 0 at 0 and -inf below."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function of each element."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 - erf(x)`` of each element, accurate where ``erf(x)`` is near 1 too."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x ** 2) * erfc(x)``."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function, for elements between -1 and 1."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) - 1``, accurate near 0 too."""
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
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
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
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + x)``, accurate near 0 too."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of ``ndtr``."""
def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of softmax along a dim, accurate where softmax is near 0 or 1."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """``log(x / (1 - x))`` of each element; with ``eps``, x is clamped to [eps, 1 - eps] first."""
def logsumexp(input: Tensor, dim: Ints | None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of exponentials along one or several dims, without overflow."""
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
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of order n of ``digamma``, n >= 0."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of ``lgamma``: -inf at 0, nan at the negative integers."""
def round(input: Tensor, *, decimals: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The nearest integer, with ties rounded to even, or the nearest number with ``decimals`` decimal places."""
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
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi x) / (pi x)``, and 1 at 0."""
def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(x) over its sum along a dim: positive numbers that add up to one. The input is converted to ``dtype`` first."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(x) / x``, and 1 at 0."""
def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(1 + other)``, and 0 where ``input`` is 0 and ``other`` is not nan."""
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, and 0 where ``input`` is 0 and ``other`` is not nan."""
def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function; it has a derivative with respect to ``other`` only."""

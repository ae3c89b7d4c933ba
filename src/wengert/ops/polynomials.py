"""Orthogonal polynomials: Chebyshev's of four kinds, plain and shifted, Hermite's of two, Laguerre's, Legendre's.

Each takes points x and degrees n (integers; fractions are cut off), both broadcast; a negative degree gives 0. They have
no derivative, as in PyTorch. The values come from the three-term recurrences (Abramowitz and Stegun, 22.7).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dtypes import FLOATING
from .._kinds import binary
from .special import real_only

First = Callable[[Any], Any]
Next = Callable[[int, Any, Any, Any], Any]


def _recurrence(lib: Any, x: Any, n: Any, first: First, following: Next) -> Any:
    """The polynomials of the degrees ``n`` at ``x``; ``following(k, x, p_k, p_(k-1))`` gives that of degree k + 1."""
    x, n = lib.broadcast_arrays(x, n)
    degree = lib.trunc(n)
    before, now = lib.ones_like(x), first(x)
    result = lib.where(degree == 0, before, lib.zeros_like(x))
    highest = degree.max() if degree.size else 0
    k = 1
    while k <= highest:
        result = lib.where(degree == k, now, result)
        before, now = now, following(k, x, now, before)
        k += 1
    return lib.where(lib.isnan(x) & (degree > 0), x, result)


def _polynomial(name: str, first: First, following: Next, doc: str, shifted: bool = False) -> Any:
    def body(lib, input, n):
        x = 2 * input - 1 if shifted else input
        return _recurrence(lib, x, n, first, following)

    body.__name__ = name
    body.__doc__ = doc
    return binary(
        names=f"special.{name}",
        inplace=False,
        to_float=True,
        number_first=True,
        overloads=True,
        fast=FLOATING,
        check=real_only(f"{name}_cpu"),
        domain_other=(0.0, 6.0),
        dtypes="fib",
    )(body)


def _chebyshev(k: int, x: Any, now: Any, before: Any) -> Any:
    return 2 * x * now - before


_KINDS: dict[str, First] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
for _kind, _first in _KINDS.items():
    _polynomial(
        f"chebyshev_polynomial_{_kind}", _first, _chebyshev, f"Chebyshev's polynomial {_kind.upper()} of degree n at x."
    )
    _polynomial(
        f"shifted_chebyshev_polynomial_{_kind}",
        _first,
        _chebyshev,
        f"Chebyshev's polynomial {_kind.upper()} of degree n at 2 x - 1.",
        shifted=True,
    )
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h",
    lambda x: 2 * x,
    lambda k, x, now, before: 2 * x * now - 2 * k * before,
    "The physicists' Hermite polynomial of degree n at x.",
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    lambda x: x,
    lambda k, x, now, before: x * now - k * before,
    "The probabilists' Hermite polynomial of degree n at x.",
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    "Laguerre's polynomial of degree n at x.",
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
    "Legendre's polynomial of degree n at x.",
)

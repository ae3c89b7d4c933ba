"""Orthogonal polynomials: Chebyshev's of four kinds, plain and shifted, Hermite's of two, Laguerre's, Legendre's.

Each takes points x and degrees n (integers; fractions are cut off), both broadcast; a negative degree gives 0. They
have no derivative, as in PyTorch. The values come from the three-term recurrences (Abramowitz and Stegun, 22.7);
Chebyshev's of higher degrees between -1 and 1 from their trigonometric form, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._base.dtypes import FLOATING
from ..._kinds.elementwise import binary
from .special import real_only

First = Callable[[Any], Any]
Next = Callable[[int, Any, Any, Any], Any]
Closed = Callable[[Any, Any, Any], Any]


def _recurrence(lib: Any, x: Any, degree: Any, first: First, following: Next) -> Any:
    """The polynomials of the degrees at x; ``following(k, x, p_k, p_(k-1))`` gives that of degree k + 1."""
    before, now = lib.ones_like(x), first(x)
    result = lib.where(degree == 0, before, lib.zeros_like(x))
    highest = degree.max() if degree.size else 0
    k = 1
    while k <= highest:
        result = lib.where(degree == k, now, result)
        before, now = now, following(k, x, now, before)
        k += 1
        if lib.isnan(now).all():  # it has overflowed everywhere
            return lib.where(degree >= k, now, result)
    return result


def _publish(name: str, body: Any, doc: str) -> Any:
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


def _points(lib: Any, x: Any, n: Any) -> tuple[Any, Any]:
    x, n = lib.broadcast_arrays(x, n)
    return x, lib.trunc(n)


# ------------------------------------------------------------------------------------------------------------ Chebyshev
# kind: first polynomial, at 1, at -1 but for its sign, lowest degree of the trigonometric form, that form
_CHEBYSHEV: dict[str, tuple[First, First, First, int, Closed]] = {
    "t": (lambda x: x, lambda n: 0 * n + 1, lambda n: 0 * n + 1, 6, lambda lib, x, n: lib.cos(n * lib.arccos(x))),
    "u": (
        lambda x: 2 * x,
        lambda n: n + 1,
        lambda n: n + 1,
        8,
        lambda lib, x, n: lib.sin((n + 1) * lib.arccos(x)) / lib.sin(lib.arccos(x)),
    ),
    "v": (
        lambda x: 2 * x - 1,
        lambda n: 0 * n + 1,
        lambda n: 2 * n + 1,
        8,
        lambda lib, x, n: lib.cos((n + 0.5) * lib.arccos(x)) / lib.cos(lib.arccos(x) / 2),
    ),
    "w": (
        lambda x: 2 * x + 1,
        lambda n: 2 * n + 1,
        lambda n: 0 * n + 1,
        8,
        lambda lib, x, n: lib.sin((n + 0.5) * lib.arccos(x)) / lib.sin(lib.arccos(x) / 2),
    ),
}


def _chebyshev(kind: str, shifted: bool) -> Any:
    first, at_one, at_minus_one, lowest, closed = _CHEBYSHEV[kind]

    def body(lib, input, n):
        x, degree = _points(lib, 2 * input - 1 if shifted else input, n)
        size = lib.abs(x)
        trigonometric = (size < 1) & (degree > lowest)
        end = size == 1
        short = lib.where(trigonometric | end, 0, degree)  # what the recurrence is left with
        result = _recurrence(lib, x, short, first, lambda k, x, now, before: 2 * x * now - before)
        result = lib.where(trigonometric, closed(lib, lib.clip(x, -1, 1), degree), result)
        sign = 1 - 2 * lib.remainder(degree, 2)
        ends = lib.where(x > 0, at_one(degree), sign * at_minus_one(degree))
        return lib.where(degree < 0, 0, lib.where(end, ends, result)).astype(x.dtype)

    return body


for _kind in _CHEBYSHEV:
    _publish(
        f"chebyshev_polynomial_{_kind}",
        _chebyshev(_kind, False),
        f"Chebyshev's polynomial {_kind.upper()} of degree n at x.",
    )
    _publish(
        f"shifted_chebyshev_polynomial_{_kind}",
        _chebyshev(_kind, True),
        f"Chebyshev's polynomial {_kind.upper()} of degree n at 2 x - 1.",
    )


# ----------------------------------------------------------------------------------------------------------- the others
def _classical(name: str, first: First, following: Next, doc: str) -> Any:
    def body(lib, input, n):
        return _recurrence(lib, *_points(lib, input, n), first, following)

    return _publish(name, body, doc)


hermite_polynomial_h = _classical(
    "hermite_polynomial_h",
    lambda x: 2 * x,
    lambda k, x, now, before: 2 * x * now - 2 * k * before,
    "The physicists' Hermite polynomial of degree n at x.",
)
hermite_polynomial_he = _classical(
    "hermite_polynomial_he",
    lambda x: x,
    lambda k, x, now, before: x * now - k * before,
    "The probabilists' Hermite polynomial of degree n at x.",
)
laguerre_polynomial_l = _classical(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    "Laguerre's polynomial of degree n at x.",
)
legendre_polynomial_p = _classical(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
    "Legendre's polynomial of degree n at x.",
)

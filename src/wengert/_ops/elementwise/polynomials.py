"""Orthogonal polynomials: Chebyshev (four kinds, plain and shifted), Hermite (two kinds), Laguerre, Legendre.

Each function takes points x and degrees n (fractional parts are dropped) and broadcasts them; a negative degree gives
0. They have no derivative, as in PyTorch. The values come from three-term recurrences (Abramowitz and Stegun, 22.7);
Chebyshev polynomials of higher degrees use their trigonometric form between -1 and 1, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

from ..._arrays.layouts import iterated
from ..._arrays.polynomials import CHEBYSHEV, First, Next, chebyshev, few_of_low_degree, recurrence, recurrence_points
from ..._kinds.elementwise import binary
from ._common import real_function


def _publish(name: str, body: Any, doc: str) -> None:
    body.__name__, body.__doc__ = name, doc
    real_function(binary, f"special.{name}", half=False, domain_other=(0.0, 6.0), layout=iterated)(body)


# ---- Chebyshev


for _kind in CHEBYSHEV:
    _publish(
        f"chebyshev_polynomial_{_kind}",
        chebyshev(_kind, False),
        f"Chebyshev's polynomial {_kind.upper()} of degree n at x.",
    )
    _publish(
        f"shifted_chebyshev_polynomial_{_kind}",
        chebyshev(_kind, True),
        f"Chebyshev's polynomial {_kind.upper()} of degree n at 2 x - 1.",
    )


# ---- Hermite, Laguerre, Legendre
def _classical(name: str, series: str, first: First, following: Next, doc: str) -> None:
    def of_many(lib: Any, input: Any, n: Any) -> Any:
        return recurrence(lib, *recurrence_points(lib, input, n), first, following)

    _publish(name, few_of_low_degree(series, first, following, of_many), doc)


_classical(
    "hermite_polynomial_h",
    "eval_hermite",
    lambda x: 2 * x,
    lambda k, x, now, before: 2 * x * now - 2 * k * before,
    "The physicists' Hermite polynomial of degree n at x.",
)
_classical(
    "hermite_polynomial_he",
    "eval_hermitenorm",
    lambda x: x,
    lambda k, x, now, before: x * now - k * before,
    "The probabilists' Hermite polynomial of degree n at x.",
)
_classical(
    "laguerre_polynomial_l",
    "eval_laguerre",
    lambda x: 1 - x,
    lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    "Laguerre's polynomial of degree n at x.",
)
_classical(
    "legendre_polynomial_p",
    "eval_legendre",
    lambda x: x,
    lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1),
    "Legendre's polynomial of degree n at x.",
)

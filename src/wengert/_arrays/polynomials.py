"""Orthogonal polynomials by their recurrences; Python or SciPy computes a few of low degrees."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numpy import fromiter, ndarray

from .._base.dtypes import BLAS_FLOATS
from .intp import INTP
from .scipy_functions import from_scipy

First = Callable[[Any], Any]
Next = Callable[[int, Any, Any, Any], Any]
Closed = Callable[[Any, Any, Any], Any]


def recurrence(lib: Any, x: Any, degree: Any, first: First, following: Next) -> Any:
    """The polynomials of the degrees at x; ``following(k, x, p_k, p_(k-1))`` returns the one of degree k + 1."""
    before, now = lib.ones_like(x), first(x)
    result = (degree == 0).astype(x.dtype)
    highest = degree.max() if degree.size else 0
    k = 1
    while k <= highest:
        result = lib.where(degree == k, now, result)
        before, now = now, following(k, x, now, before)
        k += 1
        if k <= highest and lib.count_nonzero(now == now) == 0:  # it has overflowed everywhere
            return lib.where(degree >= k, now, result)
    return result


_LOW, _FEW = frozenset(range(17)), 64  # degrees and their number for which the checks below are worth while
_VERY_FEW, _LARGE = 8, 1e35  # the number of points that Python computes sooner, and a value that SciPy is asked for


def few_of_low_degree(series: str, first: First, following: Next, otherwise: Any, shifted: bool = False) -> Any:
    """The body of one of SciPy's polynomials: ``otherwise``, but for few points of low degrees Python or SciPy."""

    def body(lib, input, n):
        if type(input) is not ndarray or type(n) is not ndarray or input.dtype not in BLAS_FLOATS:
            return otherwise(lib, input, n)
        size, flat = input.size, input.ndim == 1 == n.ndim
        if size <= _VERY_FEW and (size == n.size if flat else input.shape == n.shape):
            points, degrees = (input, n) if flat else (input.ravel(), n.ravel())
            made = []
            for point, degree in zip(points.tolist(), degrees.tolist()):  # noqa: B905  `strict` takes longer than a point
                if 1.0 <= degree < 17.0:
                    if shifted:
                        point = 2.0 * point - 1.0
                    before, now = 1.0, first(point)
                    for k in range(1, int(degree)):
                        before, now = now, following(k, point, now, before)
                    if not -_LARGE < now < _LARGE:
                        break
                    made.append(now)
                elif 0.0 <= degree < 1.0:
                    made.append(1.0)
                else:
                    break
            else:
                values = fromiter(made, input.dtype, size)
                return values if flat else values.reshape(input.shape)
        values = _by_scipy(series, input, n) if n.size <= _FEW else None
        return otherwise(lib, input, n) if values is None else values

    return body


def _by_scipy(series: str, x: Any, n: Any) -> Any:
    """The values, or ``None`` if a degree is high or a value large.

    SciPy has no Chebyshev polynomials of the kinds v and w: they are differences and sums of the kind u.
    """
    degree = n.astype(INTP)  # as SciPy declares them; of nan and inf the lowest
    if not _LOW.issuperset(degree.ravel().tolist()):
        return None
    kind = series[-1]
    if kind in "vw":
        function = _of_scipy(series[:-1] + "u")
        values, before = function(degree, x), function(degree - 1, x)
        values = values - before if kind == "v" else values + before
    else:
        values = _of_scipy(series)(degree, x)
    flat = values.ravel()
    if not flat.dot(flat) < 1e70:  # its root is a float32
        return None
    return values if values.dtype is x.dtype else values.astype(x.dtype)


@functools.cache
def _of_scipy(name: str) -> Any:
    return getattr(from_scipy("special"), name)


def recurrence_points(lib: Any, x: Any, n: Any) -> tuple[Any, Any]:
    """The points and the degrees in one shape."""
    if getattr(x, "shape", None) != getattr(n, "shape", ()):
        x, n = lib.broadcast_arrays(x, n)
    return x, lib.where(lib.abs(n) < 2**63, lib.trunc(n), -1)  # others are no integers: degrees below 0 to C++


# kind: first polynomial, at 1, at -1 but for its sign, lowest degree of the trigonometric form, that form
CHEBYSHEV: dict[str, tuple[First, First, First, int, Closed]] = {
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


def chebyshev(kind: str, shifted: bool) -> Any:
    first, at_one, at_minus_one, lowest, closed = CHEBYSHEV[kind]
    series = f"eval_{'sh_' * shifted}cheby{kind}"

    def following(k: int, x: Any, now: Any, before: Any) -> Any:
        return 2 * x * now - before

    def of_many(lib: Any, input: Any, n: Any) -> Any:
        x, degree = recurrence_points(lib, 2 * input - 1 if shifted else input, n)
        size = lib.abs(x)
        trigonometric = (size < 1) & (degree > lowest)
        end = (size == 1) & (degree >= 0)
        short = lib.where(trigonometric | end, 0, degree)  # the degrees left to the recurrence
        result = recurrence(lib, x, short, first, following)
        if lib.count_nonzero(trigonometric):
            result = lib.where(trigonometric, closed(lib, lib.clip(x, -1, 1), degree), result)
        if lib.count_nonzero(end):
            sign = 1 - 2 * lib.remainder(degree, 2)
            ends = lib.where(x > 0, at_one(degree), sign * at_minus_one(degree))
            result = lib.where(end, ends, result)
        return result.astype(x.dtype)

    return few_of_low_degree(series, first, following, of_many, shifted)

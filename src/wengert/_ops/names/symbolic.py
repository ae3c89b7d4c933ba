"""Arithmetic on sizes (``sym_int``, ``sym_max``, ...), for programs that PyTorch traces with symbolic sizes.

Sizes are plain numbers here, so these functions are Python's; but for those that ``torch.export`` does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from ..._base.registry import PUBLIC, public


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that leaves numbers of exported programs to those."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        unknown = next((a for a in args if hasattr(type(a), "sym_computed")), None)
        if unknown is None:
            return function(*args, **kwargs)
        return unknown.sym_computed(PUBLIC["torch"][function.__name__], args)

    return call


@public("torch.sym_int")
@_of_numbers
def sym_int(a: Any) -> int:
    """An integer from a number, rounded towards zero.

    >>> torch.sym_int(2.7)
    2
    """
    return int(a)


@public("torch.sym_float")
@_of_numbers
def sym_float(a: Any) -> float:
    """A float from a number.

    >>> torch.sym_float(2)
    2.0
    """
    return float(a)


@public("torch.sym_not")
@_of_numbers
def sym_not(a: Any) -> bool:
    """The negation of a bool.

    >>> torch.sym_not(True)
    False
    """
    return not a


@public("torch.sym_max")
@_of_numbers
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, as a float if either is a float.

    >>> torch.sym_max(3, 2.)
    3.0
    """
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


@public("torch.sym_min")
@_of_numbers
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, as a float if either is a float.

    >>> torch.sym_min(2, 3)
    2
    """
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


@public("torch.sym_sum")
def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers.

    >>> torch.sym_sum([1, 2, 3])
    6
    """
    return sum(args)


@public("torch.sym_sqrt")
@_of_numbers
def sym_sqrt(a: Any) -> float:
    """The square root of a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return math.sqrt(a)


@public("torch.sym_ite")
@_of_numbers
def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t`` if ``b``, else ``f``; both must have the same type.

    >>> torch.sym_ite(True, 1, 2)
    1
    """
    if type(t) is not type(f):
        raise AssertionError("sym_ite requires the same type for both branches")
    return t if b else f

"""Half precision: what PyTorch computes in float32 and rounds once, where NumPy would round every step.

An operator says so in its declaration (``in_float32="result"``, "gradient" or "both"). For any other dtype its
functions run as they are, float32 without so much as a call in front of them (``layouts.needless``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .layouts import Rule, needless

_FLOAT32 = np.dtype("f4")


def is_half(dtype: Any) -> bool:
    """Whether it is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def rounded_once(fn: Callable[..., Any], first: int = 0) -> Callable[..., Any]:
    """The function, in float32 on operands of half precision; ``first``: the position of its first operand."""

    @functools.wraps(fn)
    def run(*args: Any) -> Any:
        dtype = getattr(args[first], "dtype", _FLOAT32)
        if dtype is _FLOAT32 or not is_half(dtype):
            return fn(*args)
        kinds = [getattr(a, "dtype", dtype) for a in args[first:]]
        if any(kind is not dtype and kind.kind in "fcV" for kind in kinds):
            return fn(*args)
        wide = [a.astype(_FLOAT32) if getattr(a, "dtype", None) is dtype else a for a in args[first:]]
        r = fn(*args[:first], *wide)
        return tuple([_narrowed(a, dtype) for a in r]) if isinstance(r, tuple) else _narrowed(r, dtype)

    return run


def _narrowed(a: Any, dtype: Any) -> Any:
    return a.astype(dtype) if getattr(a, "dtype", None) == _FLOAT32 else a


def once(rule: Rule | None) -> Rule:
    """A rule of layout, or none, for an operator whose results are rounded once."""
    if rule is None:
        return needless("{a}.dtype is FLOAT32")(rounded_once)

    def both(fn: Callable[..., Any]) -> Callable[..., Any]:
        return rounded_once(rule(fn))

    known: tuple[str, int] | None = getattr(rule, "needless", None)  # else the rule is always asked
    return both if known is None else needless("{a}.dtype is FLOAT32 and " + known[0], known[1])(both)

"""Functions of each element: PyTorch's, with the standard's promotion, NaN and complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ._dtypes import isdtype, lent, together

_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor imag isfinite isinf isnan log log10 log1p log2 "
    "logical_not negative positive real reciprocal signbit sin sinh sqrt square tan tanh trunc"
)
_OTHER_NAME = {"bitwise_invert": "bitwise_not", "conj": "conj_physical"}
_BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide floor_divide "
    "greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply "
    "nextafter not_equal pow remainder subtract"
)


def _of_two(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def of_two(x1: Any, x2: Any, /) -> torch.Tensor:
        if not (isinstance(x1, torch.Tensor) and isinstance(x2, torch.Tensor) and x1.dtype == x2.dtype):
            x1, x2 = together(x1, x2)
        return function(x1, x2)

    says = f"``torch.{name}`` of two arrays, or of an array and a number, with the standard's promotion."
    return lent(of_two, name, says, function)


FUNCTIONS = {
    **{name: getattr(torch, name) for name in _UNARY.split()},
    **{name: getattr(torch, ours) for name, ours in _OTHER_NAME.items()},
    **{name: _of_two(name, getattr(torch, name)) for name in _BINARY.split()},
}
equal = _of_two("equal", torch.eq)


def clip(x: torch.Tensor, /, min: Any = None, max: Any = None) -> torch.Tensor:
    """Each element, but at least ``min`` and at most ``max``: numbers or arrays; the dtype is that of ``x``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.clip(torch.tensor([-1., 5.]), 0, torch.tensor(2.))
    tensor([0., 2.])
    """
    bounds = [_bound(min, x), _bound(max, x)]
    return x.clone() if bounds == [None, None] else torch.clamp(x, *bounds)


def _bound(value: Any, x: torch.Tensor) -> torch.Tensor | None:
    """A bound as an array of the dtype of ``x``; None if it bounds nothing."""
    if value is None or isinstance(value, torch.Tensor):
        return value if value is None else value.to(x.dtype)
    if isdtype(x.dtype, "integral"):
        limits = torch.iinfo(x.dtype)
        value = limits.min if value < limits.min else limits.max if value > limits.max else value
    return torch.tensor(value, dtype=x.dtype, device=x.device)


def round(x: torch.Tensor, /) -> torch.Tensor:
    """The nearest integer of each element, the even one of two; of a complex number, of both of its parts.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.round(torch.tensor([0.5, 1.5, 2.6]))
    tensor([0., 2., 3.])
    """
    return torch.complex(torch.round(x.real), torch.round(x.imag)) if x.is_complex() else torch.round(x)


def sign(x: torch.Tensor, /) -> torch.Tensor:
    """-1, 0 or 1 by the sign of each element, NaN of NaN; of a complex number, the one of modulus 1 in its direction.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.sign(torch.tensor([-2., 0., float("nan")]))
    tensor([-1.,  0., nan])
    """
    if x.is_complex():
        return torch.sgn(x)
    return torch.where(torch.isnan(x), x, torch.sign(x)) if x.is_floating_point() else torch.sign(x)

"""Arithmetic: the four operations, powers, negation, and what the tape itself needs of them."""

from __future__ import annotations

import operator
from typing import Any

from .._dispatch import cast, default_np, logical_dtype
from .._general import general
from .._kinds import binary, unary
from .._registry import REGISTRY, T, public
from .._tensor import Tensor


@binary(
    self=lambda xp, g, other: g * other,
    other=lambda xp, g, self: g * self,
    symbol=operator.mul,
    libname="multiply",
    names="torch.mul torch.multiply Tensor.mul Tensor.multiply",
    dunder="__mul__",
)
def mul(input, other):
    """Product of each pair of elements, broadcasting.

    >>> import wengert as torch
    >>> torch.mul(torch.tensor([1., 2.]), 3)
    tensor([3., 6.])
    """


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g: g,
    symbol=operator.add,
    names="",
    dunder="__add__",
    inplace=False,
)
def add(input, other):
    """Sum of each pair of elements, broadcasting."""


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g: -g,
    symbol=operator.sub,
    libname="subtract",
    names="",
    dunder="__sub__",
    inplace=False,
)
def sub(input, other):
    """Difference of each pair of elements, broadcasting."""


@binary(
    self=lambda xp, g, other: g / other,
    other=lambda xp, g, self, other: -g * self / (other * other),
    symbol=operator.truediv,
    libname="true_divide",
    to_float=True,
    names="",
    dunder="__truediv__",
    inplace=False,
    domain_other=(0.5, 2.0),
)
def div(input, other):
    """Quotient of each pair of elements, broadcasting; integers give the default dtype."""


@unary(grad=lambda xp, g: -g, to_float=False, libname="negative", names="torch.neg torch.negative Tensor.neg Tensor.negative Tensor.__neg__")
def neg(input):
    """Each element with its sign changed."""


@general(
    grad=lambda xp, g, self_dtype: xp._to_copy(g, self_dtype),
    holomorphic=False,
    batch="elementwise",
    node="ToCopyBackward0",
    samples=[((3,), ("float64",))],
)
def _to_copy(lib, self, dtype):
    """A copy in another dtype."""
    return lib.cast(self, dtype)

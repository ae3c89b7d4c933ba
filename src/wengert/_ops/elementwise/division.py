"""Division: ``div`` with its rounding modes, floor division, and remainders."""

from __future__ import annotations

from typing import Any

from ..._arrays.fused import MANY
from ..._arrays.layouts import iterated
from ..._base.dtypes import FLOAT32, FLOATING
from ..._base.registry import REGISTRY, TENSORS, public, publish
from ..._kinds.elementwise import binary
from ..._kinds.out import write_out
from ..._tape.inplace import apply_composed_inplace, inplace_form
from ..._tape.tensor import Tensor
from ._common import not_derived, python_operator, reflected, refuse_complex, refuse_forward


# ---- rounded division
def _refuse_zero(lib: Any, other: Any) -> None:
    if other == 0 if type(other) is int else lib.count_nonzero(other) < other.size:
        raise RuntimeError("ZeroDivisionError")


def _of_ints(name: str) -> Any:
    """The library's function on integers, with PyTorch's error for a division by zero."""

    def function(lib: Any, x: Any, y: Any) -> Any:
        _refuse_zero(lib, y)
        return getattr(lib, name)(x, y)

    return function


def _trunc_ints(lib: Any, x: Any, y: Any) -> Any:
    _refuse_zero(lib, y)
    quotient = lib.floor_divide(x, y)
    inexact = (lib.remainder(x, y) != 0) & ((x < 0) != (y < 0))
    return (quotient + inexact).astype(quotient.dtype)


_ROUNDED: dict[str, Any] = {
    "self": lambda xp, g: xp.zeros_like(g),
    "other": lambda xp, g: xp.zeros_like(g),
    "names": "",
    "node": "DivBackward2",
    "inplace": False,
    "integers": True,
    "fast": FLOATING,
    "number_first": "alone",
    "domain": (0.6, 0.9),
    "domain_other": (0.4, 0.45),
    "dtypes": "fi",
}


@binary(
    libname="floor_divide",
    check=refuse_complex("div_floor_cpu", bools=True),
    integer=_of_ints("floor_divide"),
    **_ROUNDED,
)
def _div_floor(input, other):
    """Quotient rounded down."""


@binary(layout=iterated, check=refuse_complex("div_trunc_cpu", bools=True), integer=_trunc_ints, **_ROUNDED)
def _div_trunc(lib, input, other):
    """Quotient rounded towards zero."""
    return lib.trunc(lib.true_divide(input, other))


@public("torch.div torch.divide Tensor.div Tensor.divide")
def div_public(input: Tensor, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, broadcasting; integers become the default dtype.

    ``rounding_mode``: ``None``, ``"trunc"`` (towards zero) or ``"floor"``. With a rounding mode integers stay integers.

    >>> torch.div(torch.tensor([-7., 7.]), 2, rounding_mode="trunc")
    tensor([-3.,  3.])
    """
    if out is not None:
        return write_out(out, div_public, (input, other), {"rounding_mode": rounding_mode})
    if rounding_mode is None:
        return TENSORS.div(input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return (_div_floor if rounding_mode == "floor" else _div_trunc)(input, other)


@public("torch.true_divide Tensor.true_divide")
def true_divide(input: Tensor, other: Any, *, out: Tensor | None = None) -> Tensor:
    """``div`` without rounding.

    >>> torch.true_divide(torch.tensor([3, 4]), 2)
    tensor([1.5000, 2.0000])
    """
    return TENSORS.div(input, other, out=out)


_idiv = inplace_form(REGISTRY["div"])


@public("Tensor.div_ Tensor.divide_")
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """In-place form of ``div``."""
    if rounding_mode is None:
        return _idiv(self, other)
    return apply_composed_inplace(div_public, self, (other,), {"rounding_mode": rounding_mode})


publish(_idiv, "Tensor.true_divide_")


@binary(
    self=not_derived("floor_divide"),
    other=not_derived("floor_divide"),
    jvp=refuse_forward("aten::floor_divide"),
    node="NotImplemented",
    dunder="__floordiv__",
    integers=True,
    fast=FLOATING,
    check=refuse_complex("div_floor_cpu", bools=True),
    integer=_of_ints("floor_divide"),
    number_first="alone",
    no_derivative="PyTorch records it and has no derivative for it",
    dtypes="fi",
)
def floor_divide(input, other):
    """Quotient rounded down; it has no derivative.

    >>> torch.tensor([-7, 7]) // 2
    tensor([-4,  3])
    """


# PyTorch's node has one name in ``name()`` and another in its repr.
REGISTRY["floor_divide"].node.name = lambda n: "torch::autograd::NotImplemented"
REGISTRY["floor_divide"].node.__repr__ = lambda n: f"<NotImplemented object at {id(n):#x}>"  # node is a class


_REMAINDER: dict[str, Any] = {
    "integers": True,
    "fast": FLOATING,
    "overloads": True,
    "domain": (0.6, 0.7),
    "domain_other": (0.4, 0.45),
    "dtypes": "fi",
}


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g, self, other: -g * xp._div_floor(self, other),
    node="RemainderBackward1",
    scalar_node="RemainderBackward0",
    dunder="__mod__",
    check=refuse_complex("remainder_cpu", bools=True),
    layout=iterated,
    integer=_of_ints("remainder"),
    number_first=True,
    **_REMAINDER,
)
def remainder(lib, input, other):
    """The remainder of division, with the sign of the divisor, like Python's ``%``; a zero has the dividend's sign.

    >>> torch.remainder(torch.tensor([-3., 3., -4.]), 2)
    tensor([1., 1., -0.])
    """
    if input.size >= MANY and input.dtype is getattr(other, "dtype", None) is FLOAT32:
        return lib.remainder_of_many(input, other)
    r = lib.remainder(input, other)
    return r if lib.count_nonzero(r) == r.size else lib.chosen(r == lib.ZEROS[r.dtype], lib.copysign(r, input), r)


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g, self, other: -g * xp._div_trunc(self, other),
    node="FmodBackward1",
    scalar_node="FmodBackward0",
    check=refuse_complex("fmod_cpu", bools=True),
    integer=_of_ints("fmod"),
    **_REMAINDER,
)
def fmod(input, other):
    """The remainder of division, with the sign of the dividend, like C's ``fmod``.

    >>> torch.fmod(torch.tensor([-3., 3.]), 2)
    tensor([-1.,  1.])
    """


reflected(floor_divide, "__rfloordiv__")
reflected(remainder, "__rmod__")
python_operator(_idiv, "__itruediv__")
python_operator(_idiv, "__idiv__")
python_operator(inplace_form(REGISTRY["floor_divide"]), "__ifloordiv__")
python_operator(inplace_form(REGISTRY["remainder"]), "__imod__")
publish(TENSORS.div, "Tensor.__div__")

"""Arithmetic: the four operations, powers, division with rounding, negation, and the copy into another dtype.

``mul, add, sub, div, neg, rsub, pow`` are primitives whose Python operators are the hot functions themselves. What
takes more arguments (``alpha``, ``rounding_mode``) is a public function in front of one of several primitives.
"""

from __future__ import annotations

import cmath
import math
import operator
import warnings
from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._alias import apply_composed_inplace, inplace_form, inplace_of, quiet_views, unrecorded, with_out, write_out, written
from .._dispatch import cast, cast_operand, common_dtype, logical_dtype, not_implemented, type_text
from .._dtypes import BY_NUMPY, COMPLEX, FLOATING, INEXACT, INTEGRAL
from .._general import general
from .._kinds import binary, unary
from .._modes import EVERY
from .._parametric import parametric
from .._registry import PUBLIC, REGISTRY, T, own, place, public
from .._tensor import Tensor

NUMBERS = frozenset((bool, int, float, complex))
SCALARS = frozenset((float, int))
ONE = 1  # the default of ``alpha``, known by its identity
ndarray = np.ndarray
BOOL = np.dtype(np.bool_)


def integer_pairs(rng: Any) -> list[Any]:
    """Samples for operators on pairs of integers."""
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((), (2,)), ((0,), (1,))]
    return [((rng.integers(0, 50, a), rng.integers(0, 5, b)), ()) for a, b in shapes]


def not_derived(aten: str) -> Any:
    """A formula for what PyTorch records but cannot differentiate."""

    def formula(xp: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{aten} is not implemented")

    formula.underived = True  # type: ignore[attr-defined]
    return formula


# ------------------------------------------------------------------------------------------------------ four operations
@binary(
    self=lambda xp, g, other: g * other,
    other=lambda xp, g, self: g * self,
    symbol=operator.mul,
    libname="multiply",
    names="torch.mul torch.multiply Tensor.mul Tensor.multiply",
    dunder="__mul__",
    number_first="alone",
    dtypes="fcib",
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
    number_first="alone",
    dtypes="fcib",
)
def add(input, other):
    """Sum of each pair of elements, broadcasting."""


def _refuse_bool_difference(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    both = all(isinstance(t, bool) or (isinstance(t, Tensor) and logical_dtype(t) is BOOL) for t in (x, y))
    if both and isinstance(y, Tensor):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    if any(isinstance(t, Tensor) and logical_dtype(t) is BOOL for t in (x, y)):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g: -g,
    symbol=operator.sub,
    libname="subtract",
    names="",
    dunder="__sub__",
    inplace=False,
    check=_refuse_bool_difference,
    number_first="alone",
    dtypes="fci",
)
def sub(input, other):
    """Difference of each pair of elements, broadcasting."""


@binary(
    self=lambda xp, g: -g,
    other=lambda xp, g: g,
    symbol=lambda x, y: y - x,
    names="",
    node="RsubBackward0",
    scalar_node="RsubBackward1",
    dunder="__rsub__",
    inplace=False,
    check=_refuse_bool_difference,
    number_first=True,
    dtypes="fci",
)
def rsub(lib, input, other):
    """The second operand less the first."""
    return lib.subtract(other, input)


@binary(
    self=lambda xp, g, other: g / other,
    other=lambda xp, g, self, other: -g * ((self / other) / other),
    symbol=operator.truediv,
    libname="true_divide",
    to_float=True,
    names="",
    dunder="__truediv__",
    inplace=False,
    number_first="alone",
    domain_other=(0.5, 2.0),
    dtypes="fcib",
)
def div(input, other):
    """Quotient of each pair of elements, broadcasting; integers give the default dtype."""


def _refuse_bool_negation(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if dtype is BOOL:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
            "or `logical_not()` operator instead."
        )


@unary(
    grad=lambda xp, g: -g,
    to_float=False,
    libname="negative",
    names="torch.neg torch.negative Tensor.neg Tensor.negative Tensor.__neg__",
    check=_refuse_bool_negation,
    dtypes="fci",
)
def neg(input):
    """Each element with its sign changed.

    >>> import wengert as torch
    >>> -torch.tensor([1., -2.])
    tensor([-1.,  2.])
    """


@general(
    tensors=2,
    grad={"self": lambda xp, g: g, "other": lambda xp, g, alpha: g * alpha},
    promote=True,
    batch="elementwise",
    node="AddBackward0",
    dtypes="fcib",
    samples=[((3,), (3,), (2,)), ((2, 3), (3,), (-1,)), ((3,), (), (0.5,)), ((0,), (1,), (2,))],
)
def _add_scaled(lib, self, other, alpha):
    """``self + alpha * other``."""
    if self.dtype == bool:
        return lib.logical_or(self, lib.logical_and(other, bool(alpha)))
    return lib.add(self, lib.multiply(other, alpha))


@general(
    tensors=2,
    grad={"self": lambda xp, g: g, "other": lambda xp, g, alpha: -g * alpha},
    promote=True,
    batch="elementwise",
    node="SubBackward0",
    dtypes="fci",
    samples=[((3,), (3,), (2,)), ((2, 3), (3,), (-1,)), ((3,), (), (0.5,)), ((0,), (1,), (2,))],
)
def _sub_scaled(lib, self, other, alpha):
    """``self - alpha * other``."""
    return lib.subtract(self, lib.multiply(other, alpha))


@general(
    tensors=2,
    grad={"self": lambda xp, g, alpha: -g * alpha, "other": lambda xp, g: g},
    promote=True,
    batch="elementwise",
    node="RsubBackward0",
    dtypes="fci",
    samples=[((3,), (3,), (2,)), ((2, 3), (3,), (-1,)), ((3,), (), (0.5,))],
)
def _rsub_scaled(lib, self, other, alpha):
    """``other - alpha * self``."""
    return lib.subtract(other, lib.multiply(self, alpha))


def _check_alpha(dtype: Any, alpha: Any, name: str) -> None:
    if isinstance(alpha, Tensor) or type(alpha) not in NUMBERS:
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {type_text(alpha)}")
    if type(alpha) is bool and dtype is not BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if dtype not in INEXACT and type(alpha) in (float, complex):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if dtype not in COMPLEX and type(alpha) is complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def number_or_item(value: Any) -> Any:
    """A Python number from what PyTorch takes for one: a NumPy number, or a 0-dimensional tensor without history."""
    if isinstance(value, np.generic) or (isinstance(value, Tensor) and value.ndim == 0 and value._fn is None):
        payload = value._a if isinstance(value, Tensor) else value
        return payload.item() if isinstance(payload, (np.generic, np.ndarray)) else value
    return value


def _scaled(name: str, plain: Any, scaled: Any, input: Any, other: Any, alpha: Any) -> Any:
    """``input + alpha * other`` with all of PyTorch's checks; ``plain`` is the operator for alpha = 1."""
    try:
        if type(alpha) in SCALARS and input._a.dtype is other._a.dtype and input._a.dtype in FLOATING:
            return scaled(input, other, alpha)
    except AttributeError:
        pass
    alpha = number_or_item(alpha)
    if not isinstance(input, Tensor) and isinstance(other, Tensor) and type(input) in NUMBERS:
        input = cast_operand(input, common_dtype((input, other)))
    if not isinstance(input, Tensor) or (not isinstance(other, Tensor) and type(other) not in NUMBERS):
        return plain(input, other)
    dtype = common_dtype((input, other))
    _check_alpha(dtype, alpha, name)
    if plain is not add:
        _refuse_bool_difference(None, input, other, dtype)
    if alpha == 1:
        return plain(input, other)
    if dtype not in INEXACT:
        other = cast_operand(other, dtype)
        if plain is rsub:
            input = cast(input, dtype)
        alpha = np.asarray(alpha).astype(dtype)[()].item()
    return scaled(input, other, alpha)


def _legacy_operand(name: str, third: Any) -> Any:
    """``torch.add(x, 2, y)``: the number in the middle scales the last argument."""
    if not isinstance(third, Tensor):
        raise TypeError(f"{name}() takes 2 positional arguments but 3 were given")
    warnings.warn(
        f"This overload of {name} is deprecated:\n\t{name}(Tensor input, Number alpha, Tensor other, *, Tensor out = None)\n"
        f"Consider using one of the following signatures instead:\n\t{name}(Tensor input, Tensor other, *, Number alpha = 1, "
        "Tensor out = None)",
        UserWarning,
        stacklevel=3,
    )
    return third


@public("torch.add Tensor.add")
def add_public(input: Tensor, other: Any, third: Any = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``, broadcasting; ``other`` is a tensor or a number.

    >>> import wengert as torch
    >>> torch.add(torch.tensor([1., 2.]), torch.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    if alpha is ONE and third is None and out is None:
        return add(input, other)
    if third is not None:
        alpha, other = other, _legacy_operand("add", third)
    if out is not None:
        return write_out(out, add_public, (input, other), {"alpha": alpha})
    return _scaled("add", add, _add_scaled, input, other, alpha)


@public("torch.sub torch.subtract Tensor.sub Tensor.subtract")
def sub_public(input: Tensor, other: Any, third: Any = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number.

    >>> import wengert as torch
    >>> torch.sub(torch.tensor([1., 2.]), 1)
    tensor([0., 1.])
    """
    if alpha is ONE and third is None and out is None:
        return sub(input, other)
    if third is not None:
        alpha, other = other, _legacy_operand("sub", third)
    if out is not None:
        return write_out(out, sub_public, (input, other), {"alpha": alpha})
    return _scaled("sub", sub, _sub_scaled, input, other, alpha)


@public("torch.rsub")
def rsub_public(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``.

    >>> import wengert as torch
    >>> torch.rsub(torch.tensor([1., 2.]), 3)
    tensor([2., 1.])
    """
    if type(alpha) is int and alpha == 1:
        return rsub(input, other)
    if not isinstance(other, Tensor):
        other = cast_operand(other, common_dtype((input, other)))
    return _scaled("rsub", rsub, _rsub_scaled, input, other, alpha)


def _scaled_inplace(ufunc: Any, public_form: Any) -> Any:
    """``add_`` and ``sub_``: the ufunc writes into a plain floating tensor's own memory (``_alias._binary_inplace``)."""

    def form(self: Any, other: Any, third: Any = None, *, alpha: Any = 1) -> Any:
        try:
            a = self._a
            if type(other) in SCALARS:
                b = other
                fy = None
            else:
                b = other._a
                fy = other._fn
                if b.dtype is not a.dtype:
                    a = None
        except AttributeError:
            a = None
        if type(a) is not ndarray or a.dtype not in FLOATING or third is not None or type(alpha) not in SCALARS:
            return otherwise(self, other, third, alpha)
        if (EVERY or quiet_views or self._fn is not None or fy is not None) and not unrecorded(self, fy):
            return otherwise(self, other, third, alpha)
        try:
            ufunc(a, b if alpha is ONE else b * alpha, a)
        except ValueError:  # self would have to be broadcast, or may not be written to: the other path says so
            return otherwise(self, other, third, alpha)
        written(self, getframe(1))
        return self

    def otherwise(self: Any, other: Any, third: Any, alpha: Any) -> Any:
        rest = () if third is None else (third,)
        return apply_composed_inplace(public_form, self, (other, *rest), {"alpha": alpha})

    name = f"{public_form.__name__}_"
    return own(form, name, doc=f"In-place form of ``{name[:-1]}``.")


place(_scaled_inplace(np.add, add_public), "Tensor.add_")
place(_scaled_inplace(np.subtract, sub_public), "Tensor.sub_ Tensor.subtract_")
iadd, isub, imul = (inplace_form(REGISTRY[name]) for name in ("add", "sub", "mul"))


def python_operator(form: Any, name: str) -> None:
    """Make an in-place form a Python operator (``+=``), which lets an unknown operand have its own chance."""
    if hasattr(form, "as_operator"):
        place(form.as_operator, f"Tensor.{name}")
        return

    def operator_form(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor) or type(other) in NUMBERS:
            return form(self, other)
        if isinstance(other, np.generic):
            return form(self, other.item())
        if isinstance(other, np.ndarray):
            from .._tensor import wrap

            return form(self, wrap(other))
        return NotImplemented

    operator_form.__name__ = operator_form.__qualname__ = name
    operator_form.__doc__ = f"In-place form of ``{name.strip('_')[1:]}``."
    place(operator_form, f"Tensor.{name}")


# ----------------------------------------------------------------------------------------------------- rounded division
def _refuse_zero(lib: Any, other: Any) -> None:
    if other == 0 if type(other) is int else lib.any(other == 0):
        raise RuntimeError("ZeroDivisionError")


def _floor_ints(lib: Any, x: Any, y: Any) -> Any:
    _refuse_zero(lib, y)
    return lib.floor_divide(x, y)


def _trunc_ints(lib: Any, x: Any, y: Any) -> Any:
    _refuse_zero(lib, y)
    quotient = lib.floor_divide(x, y)
    inexact = (lib.remainder(x, y) != 0) & ((x < 0) != (y < 0))
    return (quotient + inexact).astype(quotient.dtype)


def refuse_complex(name: str | None = None, bools: bool = False) -> Any:
    """A ``check`` for operators that PyTorch has for real numbers only (and not for bools, if so said)."""

    def check(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
        if dtype in COMPLEX or (bools and dtype is BOOL):
            raise not_implemented(info, _like(dtype), name)

    return check


def _like(dtype: Any) -> Tensor:
    """A tensor of a dtype, for an error's text."""
    from .._tensor import wrap

    return wrap(np.zeros((), dtype))


@binary(
    self=lambda xp, g: xp.zeros_like(g),
    other=lambda xp, g: xp.zeros_like(g),
    libname="floor_divide",
    names="",
    node="DivBackward2",
    scalar_node="DivBackward3",
    inplace=False,
    integers=True,
    fast=FLOATING,
    check=refuse_complex("div_floor_cpu", bools=True),
    integer=_floor_ints,
    number_first="alone",
    domain=(0.6, 0.9),
    domain_other=(0.4, 0.45),
    dtypes="fi",
)
def _div_floor(input, other):
    """Quotient rounded down."""


@binary(
    self=lambda xp, g: xp.zeros_like(g),
    other=lambda xp, g: xp.zeros_like(g),
    names="",
    node="DivBackward2",
    scalar_node="DivBackward3",
    inplace=False,
    integers=True,
    fast=FLOATING,
    check=refuse_complex("div_trunc_cpu", bools=True),
    integer=_trunc_ints,
    number_first="alone",
    domain=(0.6, 0.9),
    domain_other=(0.4, 0.45),
    dtypes="fi",
)
def _div_trunc(lib, input, other):
    """Quotient rounded towards zero."""
    return lib.trunc(lib.true_divide(input, other))


@public("torch.div torch.divide Tensor.div Tensor.divide")
def div_public(input: Tensor, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """``input / other``, broadcasting; integers give the default dtype.

    ``rounding_mode``: ``None``, ``"trunc"`` (towards zero) or ``"floor"``; with one of these integers give integers.

    >>> import wengert as torch
    >>> torch.div(torch.tensor([-7., 7.]), 2, rounding_mode="trunc")
    tensor([-3.,  3.])
    """
    if out is not None:
        return write_out(out, div_public, (input, other), {"rounding_mode": rounding_mode})
    if rounding_mode is None:
        return div(input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return (_div_floor if rounding_mode == "floor" else _div_trunc)(input, other)


@public("torch.true_divide Tensor.true_divide")
def true_divide(input: Tensor, other: Any, *, out: Tensor | None = None) -> Tensor:
    """``div`` without rounding."""
    return div(input, other, out)


_idiv = inplace_form(REGISTRY["div"])


@public("Tensor.div_ Tensor.divide_")
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """In-place form of ``div``."""
    if rounding_mode is None:
        return _idiv(self, other)
    return apply_composed_inplace(div_public, self, (other,), {"rounding_mode": rounding_mode})


place(_idiv, "Tensor.true_divide_")


@binary(
    self=not_derived("floor_divide"),
    other=not_derived("floor_divide"),
    names="torch.floor_divide Tensor.floor_divide",
    node="NotImplemented",
    libname="floor_divide",
    dunder="__floordiv__",
    integers=True,
    fast=FLOATING,
    check=refuse_complex("div_floor_cpu", bools=True),
    integer=_floor_ints,
    number_first="alone",
    why_not="PyTorch records it and has no derivative for it",
    dtypes="fi",
)
def floor_divide(input, other):
    """Quotient rounded down; it has no derivative.

    >>> import wengert as torch
    >>> torch.tensor([-7, 7]) // 2
    tensor([-4,  3])
    """


def _mod_ints(lib: Any, x: Any, y: Any) -> Any:
    _refuse_zero(lib, y)
    return lib.remainder(x, y)


def _fmod_ints(lib: Any, x: Any, y: Any) -> Any:
    _refuse_zero(lib, y)
    return lib.fmod(x, y)


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g, self, other: -g * xp._div_floor(self, other),
    names="torch.remainder Tensor.remainder",
    node="RemainderBackward1",
    scalar_node="RemainderBackward0",
    dunder="__mod__",
    integers=True,
    fast=FLOATING,
    check=refuse_complex("remainder_cpu", bools=True),
    integer=_mod_ints,
    number_first=True,
    domain=(0.6, 0.7),
    domain_other=(0.4, 0.45),
    dtypes="fi",
)
def remainder(input, other):
    """What is left of dividing, with the sign of the divisor, as Python's ``%``.

    >>> import wengert as torch
    >>> torch.remainder(torch.tensor([-3., 3.]), 2)
    tensor([1., 1.])
    """


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g, self, other: -g * xp._div_trunc(self, other),
    names="torch.fmod Tensor.fmod",
    overloads=True,
    node="FmodBackward1",
    scalar_node="FmodBackward0",
    integers=True,
    fast=FLOATING,
    check=refuse_complex("fmod_cpu", bools=True),
    integer=_fmod_ints,
    domain=(0.6, 0.7),
    domain_other=(0.4, 0.45),
    dtypes="fi",
)
def fmod(input, other):
    """What is left of dividing, with the sign of the dividend, as C's ``fmod``.

    >>> import wengert as torch
    >>> torch.fmod(torch.tensor([-3., 3.]), 2)
    tensor([-1.,  1.])
    """


# --------------------------------------------------------------------------------------------------------------- powers
def _power(x: Any, y: Any) -> Any:
    if type(y) is int:
        if y == 2:
            return x * x
        if y == 3:
            return x * x * x
    return x**y


def _pow_self(xp: Any, g: Any, self: Any, other: Any) -> Any:
    if type(other) in NUMBERS:
        if other == 2:
            return g * (self * 2)
        if other == 0:
            return xp.zeros_like(g)
        return g * (self ** (other - 1) * other)
    return xp.where(other == 0, 0, g * (other * self ** (other - 1)))


def _pow_other(xp: Any, g: Any, self: Any, other: Any) -> Any:
    positive = xp.real(other) >= 0 if is_complex_value(other) else other >= 0
    return xp.where((self == 0) & positive, 0, g * (self**other * xp.log(self)))


def is_complex_value(value: Any) -> bool:
    """Whether an array, a Tensor or a transform's value is complex."""
    from .._saved import is_complex

    return type(value) not in NUMBERS and is_complex(value)


def _check_pow(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if isinstance(y, Tensor) or type(y) not in NUMBERS:
        if dtype is BOOL:
            raise not_implemented(info, _like(dtype), "pow")
    elif dtype in INTEGRAL and type(y) is int and y < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _pow_ints(lib: Any, x: Any, y: Any) -> Any:
    """Powers of integers; a negative exponent gives 0 but for the bases 1 and -1, as PyTorch's."""
    if x.dtype == bool:
        return lib.logical_or(x, lib.logical_not(y))
    negative = y < 0
    if type(y) is int or not lib.any(negative):
        return lib.power(x, y)
    odd = lib.remainder(y, 2) != 0
    inverse = lib.where(x == 1, 1, lib.where(x == -1, lib.where(odd, -1, 1), 0))
    return lib.where(negative, inverse, lib.power(x, lib.where(negative, 0, y))).astype(x.dtype)


@binary(
    self=_pow_self,
    other=_pow_other,
    symbol=_power,
    libname="power",
    names="",
    node="PowBackward1",
    scalar_node="PowBackward0",
    dunder="__pow__",
    inplace=False,
    integers=True,
    check=_check_pow,
    integer=_pow_ints,
    domain=(0.2, 2.0),
    domain_other=(-2.0, 2.0),
    dtypes="fci",
)
def pow(input, other):
    """Each element to the power of the other operand's, broadcasting."""


def _saved_by_pow(n: Any, name: str) -> Any:
    return _plain_saved(n, {"exponent": "other"}.get(name, name))


_plain_saved = pow_node_saved = REGISTRY["pow"].node.saved  # type: ignore[attr-defined]
REGISTRY["pow"].node.saved = _saved_by_pow  # type: ignore[attr-defined]
REGISTRY["pow"].node.saved_names = ("self", "exponent")  # type: ignore[attr-defined]
REGISTRY["add"].node._saved_alpha = 1  # type: ignore[attr-defined]
REGISTRY["sub"].node._saved_alpha = 1  # type: ignore[attr-defined]


def _log(base: Any) -> Any:
    """The logarithm of a Python number as the elementwise one gives it."""
    if type(base) is complex:
        return cmath.log(base) if base else complex(-math.inf, 0)
    return math.log(base) if base > 0 else (math.nan if base else -math.inf)


@parametric(
    grad=lambda xp, g, self, result, base: (
        g * (result * _log(base)) if base else xp.where(self >= 0, 0, g * (result * _log(base)))
    ),
    node="PowBackward2",
    saved_as={"self": "exponent", "base": "self"},
    dtypes="fc",
    samples=[((3,), (2,)), ((2, 3), (0.5,)), ((), (3.0,)), ((0,), (2,))],
)
def _rpow(lib, self, base):
    """A number to the power of each element."""
    return lib.power(base, self)


@public("Tensor.__rpow__")
def rpow(self: Tensor, base: Any) -> Any:
    """A number (or what else stands on the left) to the power of each element.

    >>> import wengert as torch
    >>> 2 ** torch.tensor([1., 2.])
    tensor([2., 4.])
    """
    if isinstance(base, Tensor):
        return pow(base, self)
    base = number_or_item(base)
    if type(base) not in NUMBERS:
        return NotImplemented
    dtype = common_dtype((self, base))
    if dtype not in INEXACT:
        return pow(cast_operand(base, dtype), self)
    return _rpow(cast(self, dtype), int(base) if type(base) is bool else base)


@public("torch.pow Tensor.pow")
def pow_public(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Each element to the power of the exponent's; either may be a number.

    The derivative with respect to the base is 0 where the exponent is 0; that to the exponent is 0 where the base is 0
    and the exponent not negative.

    >>> import wengert as torch
    >>> torch.pow(torch.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    if out is not None:
        return write_out(out, pow_public, (input, exponent))
    if isinstance(input, Tensor):
        if isinstance(exponent, Tensor) or type(exponent) in NUMBERS or isinstance(exponent, np.generic):
            return pow(input, exponent)
    elif isinstance(exponent, Tensor) and type(number_or_item(input)) in NUMBERS:
        return rpow(exponent, input)
    raise TypeError(
        f"pow() received an invalid combination of arguments - got ({type_text(input)}, {type_text(exponent)}), but expected "
        "one of:\n * (Tensor input, Tensor exponent, *, Tensor out = None)\n * (Number self, Tensor exponent, *, Tensor out "
        "= None)\n * (Tensor input, Number exponent, *, Tensor out = None)\n"
    )


place(inplace_of(pow, "pow_", composed=False), "Tensor.pow_")


@public("torch.float_power Tensor.float_power")
@with_out
def float_power(input: Any, exponent: Any) -> Tensor:
    """``pow`` in double precision (complex128 if an operand is complex).

    >>> import wengert as torch
    >>> torch.float_power(torch.tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    operands = [t.item() if isinstance(t, np.generic) else t for t in (input, exponent)]
    if not any(isinstance(t, Tensor) for t in operands):
        raise TypeError(
            f"float_power() received an invalid combination of arguments - got ({type_text(input)}, {type_text(exponent)}), but "
            "expected one of:\n * (Tensor input, Tensor exponent, *, Tensor out = None)\n * (Number self, Tensor exponent, *, "
            "Tensor out = None)\n * (Tensor input, Number exponent, *, Tensor out = None)\n"
        )
    complex_ = any(type(t) is complex or (isinstance(t, Tensor) and logical_dtype(t) in COMPLEX) for t in operands)
    dtype = np.dtype(np.complex128 if complex_ else np.float64)
    return pow_public(*[cast(t, dtype) if isinstance(t, Tensor) else t for t in operands])


@public("Tensor.float_power_")
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In-place form of ``float_power``, for double precision only."""
    complex_ = any(
        type(t) is complex or (isinstance(t, Tensor) and logical_dtype(t) in COMPLEX) for t in (self, exponent)
    )
    dtype = np.dtype(np.complex128 if complex_ else np.float64)
    if logical_dtype(self) is not dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {BY_NUMPY[logical_dtype(self)].scalar_name} but the operation's "
            f"result requires dtype {BY_NUMPY[dtype].scalar_name}"
        )
    return apply_composed_inplace(float_power, self, (exponent,))


@public("torch.square Tensor.square")
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square of each element.

    >>> import wengert as torch
    >>> torch.square(torch.tensor([1., -2.]))
    tensor([1., 4.])
    """
    return pow(input, 2, out)


place(inplace_of(square, "square_"), "torch.square_ Tensor.square_")


@unary(
    grad=lambda xp, g, result: -g * (result * result),
    names="torch.reciprocal Tensor.reciprocal",
    domain=(0.5, 2.0),
    dtypes="fcib",
)
def reciprocal(lib, input):
    """One over each element.

    >>> import wengert as torch
    >>> torch.reciprocal(torch.tensor([2., 4.]))
    tensor([0.5000, 0.2500])
    """
    return 1 / input


@public("Tensor.__rtruediv__ Tensor.__rdiv__")
def rtruediv(self: Tensor, other: Any) -> Any:
    """A number divided by each element, as PyTorch does: the reciprocal times the number."""
    if (
        not isinstance(other, Tensor)
        and type(number_or_item(other)) not in NUMBERS
        and not isinstance(other, np.ndarray)
    ):
        return NotImplemented
    return reciprocal(self) * other


def _reflected(fn: Any, name: str) -> None:
    """``__rmod__`` and its like: a Python number on the left."""

    def form(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor):
            return fn(other, self)
        other = number_or_item(other)
        if type(other) not in NUMBERS:
            return NotImplemented
        return fn(cast_operand(other, common_dtype((self, other))), self)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"``{name.strip('_')[1:]}`` with a number on the left."
    place(form, f"Tensor.{name}")


_reflected(floor_divide, "__rfloordiv__")
_reflected(remainder, "__rmod__")

for _name in ("add", "mul"):  # they commute
    place(PUBLIC["Tensor"][f"__{_name}__"], f"Tensor.__r{_name}__")
python_operator(iadd, "__iadd__")
python_operator(isub, "__isub__")
python_operator(imul, "__imul__")
python_operator(_idiv, "__itruediv__")
python_operator(_idiv, "__idiv__")
python_operator(inplace_form(REGISTRY["floor_divide"]), "__ifloordiv__")
python_operator(inplace_form(REGISTRY["remainder"]), "__imod__")
python_operator(inplace_of(pow, "__ipow__", composed=False), "__ipow__")
place(T.div, "Tensor.__div__")


@public("torch.positive Tensor.positive Tensor.__pos__")
def positive(input: Tensor) -> Tensor:
    """The tensor itself; an error for bools."""
    if logical_dtype(input) is BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ---------------------------------------------------------------------------------------------------------- other dtype
@general(
    grad=lambda xp, g, self_dtype: xp._to_copy(g, self_dtype),
    holomorphic=False,
    batch="elementwise",
    node="ToCopyBackward0",
    samples=[((3,), (np.dtype("float64"),)), ((), (np.dtype("float64"),))],
)
def _to_copy(lib, self, dtype):
    """A copy in another dtype."""
    return lib.cast(self, dtype)

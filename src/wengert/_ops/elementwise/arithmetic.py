"""Arithmetic: the four operations, negation, and the copy into another dtype.

``mul, add, sub, div, neg, rsub`` are primitives whose Python operators are the hot functions themselves. A function
with more arguments (``alpha``) is a public function in front of one of two primitives.
"""

from __future__ import annotations

import operator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.layouts import as_like
from ..._arrays.library import ARITHMETIC
from ..._arrays.library import NUMBERS as CONSTANTS
from ..._arrays.overlap import meets
from ..._base.constants import type_name
from ..._base.dtypes import BLAS_FLOATS, BOOL, COMPLEX, FLOAT16, FLOATING, INEXACT, PYTHON_NUMBERS, REAL_NUMBERS
from ..._base.errors import warn_of_overload
from ..._base.modes import slow_always
from ..._base.registry import REGISTRY, own, public, publish
from ..._base.torch_function import recovered
from ..._kinds.elementwise import binary, unary
from ..._kinds.general import general
from ..._kinds.out import SAME, write_out
from ..._kinds.slow_path import cast_operand
from ..._tape.inplace import apply_composed_inplace, inplace_form, warned
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.unrecorded import no_grad_views
from ..._tape.views import count_write_at, unrecorded
from ._common import number_or_item, python_operator

ONE = 1  # the default of ``alpha``, compared by identity
ndarray = np.ndarray


# ---- four operations
@binary(
    self=lambda xp, g, other: g * other,
    other=lambda xp, g, self: g * self,
    symbol=operator.mul,
    blocks=False,
    libname="multiply",
    names="torch.mul torch.multiply Tensor.mul Tensor.multiply",
    dunder="__mul__",
    reflected="__rmul__",
    number_first="alone",
    dtypes="fcib",
)
def mul(input, other):
    """Product of each pair of elements, broadcasting.

    >>> torch.mul(torch.tensor([1., 2.]), 3)
    tensor([3., 6.])
    """


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g: g,
    symbol=operator.add,
    blocks=False,
    names="",
    dunder="__add__",
    reflected="__radd__",
    inplace=False,
    number_first="alone",
    dtypes="fcib",
)
def add(input, other):
    """Sum of each pair of elements, broadcasting."""


def _refuse_bool_difference(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if type(y) is int and dtype is not BOOL and x._payload.dtype is dtype:
        return
    bools = [isinstance(t, bool) or (isinstance(t, Tensor) and logical_dtype(t) is BOOL) for t in (x, y)]
    if bools == [True, True]:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if True in bools:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


@binary(
    self=lambda xp, g: g,
    other=lambda xp, g: -g,
    symbol=operator.sub,
    blocks=False,
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
    blocks=False,
    names="",
    scalar_node="RsubBackward1",
    dunder="__rsub__",
    inplace=False,
    check=_refuse_bool_difference,
    overloads=True,
    dtypes="fci",
)
def rsub(lib, input, other):
    """``other - input``."""
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
    """Quotient of each pair of elements, broadcasting; integers become the default dtype."""


def _refuse_bool_negation(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if dtype is BOOL:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


@unary(
    out_rule=SAME,
    grad=lambda xp, g: -g,
    to_float=False,
    libname="negative",
    names="torch.neg torch.negative Tensor.neg Tensor.negative Tensor.__neg__",
    blocks=False,
    check=_refuse_bool_negation,
    dtypes="fci",
)
def neg(input):
    """Each element with its sign changed.

    >>> -torch.tensor([1., -2.])
    tensor([-1.,  2.])
    """


_SCALED: dict[str, Any] = {
    "tensors": 2,
    "promote": True,
    "batch": "elementwise",
    "samples": [((3,), (3,), (2,)), ((2, 3), (3,), (-1,)), ((3,), (), (0.5,)), ((0,), (1,), (2,))],
}


@general(
    grad={"self": lambda xp, g: g, "other": lambda xp, g, alpha: g * alpha},
    node="AddBackward0",
    dtypes="fcib",
    **_SCALED,
)
def _add_scaled(lib, self, other, alpha):
    """``self + alpha * other``."""
    if self.dtype is BOOL:
        return lib.logical_or(self, lib.logical_and(other, bool(alpha)))
    return _in_float32(lib, lambda x, y, k: x + y * k, self, other, alpha)


@general(
    grad={"self": lambda xp, g: g, "other": lambda xp, g, alpha: -g * alpha},
    node="SubBackward0",
    dtypes="fci",
    **_SCALED,
)
def _sub_scaled(lib, self, other, alpha):
    """``self - alpha * other``."""
    return _in_float32(lib, lambda x, y, k: x - y * k, self, other, alpha)


@general(
    grad={"self": lambda xp, g, alpha: -g * alpha, "other": lambda xp, g: g},
    node="RsubBackward0",
    dtypes="fci",
    **_SCALED,
)
def _rsub_scaled(lib, self, other, alpha):
    """``other - alpha * self``."""
    return _in_float32(lib, lambda x, y, k: y - x * k, self, other, alpha)


def _in_float32(lib: Any, f: Any, x: Any, y: Any, alpha: Any) -> Any:
    """Compute on float16 operands as PyTorch does: round ``alpha`` first, and the result once at the end."""
    if x.dtype is getattr(y, "dtype", None) and x.dtype in BLAS_FLOATS:
        return f(x, y, lib.NUMBERS[x.dtype][alpha])
    if x.dtype != FLOAT16 or getattr(y, "dtype", FLOAT16) != FLOAT16:
        return f(x, y, alpha)
    with np.errstate(all="ignore"):
        return f(np.asarray(x, np.float32), np.asarray(y, np.float32), np.float32(np.float16(alpha))).astype(FLOAT16)


def _check_alpha(dtype: Any, alpha: Any, name: str) -> None:
    if isinstance(alpha, Tensor) or type(alpha) not in PYTHON_NUMBERS:
        raise TypeError(f"{name}(): argument 'alpha' must be Number, not {type_name(alpha)}")
    if type(alpha) is bool and dtype is not BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if dtype not in INEXACT and type(alpha) in (float, complex):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if dtype not in COMPLEX and type(alpha) is complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _scaled(name: str, plain: Any, scaled: Any, input: Any, other: Any, alpha: Any) -> Any:
    """``input + alpha * other`` with all of PyTorch's checks; ``plain`` is the operator for alpha = 1."""
    try:
        if (
            type(alpha) in REAL_NUMBERS
            and input._payload.dtype is other._payload.dtype
            and input._payload.dtype in FLOATING
        ):
            return scaled(input, other, alpha)
    except AttributeError:
        pass
    alpha = number_or_item(alpha)
    if isinstance(other, np.generic):
        other = other.item()
    if not isinstance(other, Tensor) and type(other) not in PYTHON_NUMBERS:
        return plain(input, other)
    if not isinstance(input, Tensor):
        if type(input) not in PYTHON_NUMBERS:
            return plain(input, other)
        input = cast_operand(input, common_dtype((input, other)))
    dtype = common_dtype((input, other))
    if plain is not add:
        _refuse_bool_difference(None, input, other, dtype)
    _check_alpha(dtype, alpha, name)
    if alpha == 1:
        return plain(input, other)
    if dtype not in INEXACT:
        other = cast_operand(other, dtype)
        if plain is rsub:
            input = cast(input, dtype)
        from ..create.filled import number  # seldom needed

        alpha = number(alpha, dtype).item()
    return scaled(input, other, alpha)


def _legacy_operand(name: str, third: Any, alpha: Any) -> Any:
    """The legacy form ``torch.add(x, 2, y)``, in which the number scales the last argument."""
    if not isinstance(third, Tensor) or alpha is not ONE:
        raise TypeError(f"{name}() takes 2 positional arguments but 3 were given")
    warn_of_overload(
        name,
        "Tensor input, Number alpha, Tensor other, *, Tensor out = None",
        "Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None",
    )
    return third


@public("torch.add Tensor.add")
def add_public(input: Tensor, other: Any, third: Any = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``input + alpha * other``, broadcasting; ``other`` is a tensor or a number.

    >>> torch.add(torch.tensor([1., 2.]), torch.tensor([10., 20.]), alpha=2)
    tensor([21., 42.])
    """
    if alpha is ONE and third is None and out is None:
        return add(input, other)
    if third is not None:
        alpha, other = other, _legacy_operand("add", third, alpha)
    if out is not None:
        return write_out(out, add_public, (input, other), {"alpha": alpha})
    return _scaled("add", add, _add_scaled, input, other, alpha)


@public("torch.sub torch.subtract Tensor.sub Tensor.subtract")
def sub_public(input: Tensor, other: Any, third: Any = None, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """``input - alpha * other``, broadcasting; ``other`` is a tensor or a number.

    >>> torch.sub(torch.tensor([1., 2.]), 1)
    tensor([0., 1.])
    """
    if alpha is ONE and third is None and out is None:
        return sub(input, other)
    if third is not None:
        alpha, other = other, _legacy_operand("sub", third, alpha)
    if out is not None:
        return write_out(out, sub_public, (input, other), {"alpha": alpha})
    return _scaled("sub", sub, _sub_scaled, input, other, alpha)


@public("torch.rsub")
def rsub_public(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``.

    >>> torch.rsub(torch.tensor([1., 2.]), 3)
    tensor([2., 1.])
    """
    if type(alpha) is int and alpha == 1:
        return rsub(input, other)
    if isinstance(other, np.generic):
        other = other.item()
    if not isinstance(other, Tensor):
        other = cast_operand(other, common_dtype((input, other)))
    return _scaled("rsub", rsub, _rsub_scaled, input, other, alpha)


def _scaled_inplace(ufunc: Any, public_form: Any) -> Any:
    """``add_`` and ``sub_``: the ufunc writes into a plain floating tensor's own memory
    (``_tape.inplace._binary_inplace``)."""

    def form(self: Any, other: Any, third: Any = None, *, alpha: Any = 1) -> Any:
        try:
            a = self._payload
            if type(other) in REAL_NUMBERS:
                b = other
                fy = None
            else:
                b = other._payload
                fy = other._node
                if b.dtype is not a.dtype:
                    a = None
        except AttributeError:
            a = None
        if type(a) is not ndarray or a.dtype not in FLOATING or third is not None or type(alpha) not in REAL_NUMBERS:
            return otherwise(self, other, third, alpha)
        if slow_always or no_grad_views or self._node is not None or fy is not None:
            del a  # references to memory are counted: NOTE [ Views and writes in place ]
            if not unrecorded(self, fy):
                return otherwise(self, other, third, alpha)
            a = self._payload
        if type(b) is ndarray and (b.base is not None or a.base is not None) and meets(a, b):
            return otherwise(self, other, third, alpha)
        if alpha is not ONE:
            if a.dtype is FLOAT16:
                return otherwise(self, other, third, alpha)
            try:
                b = b * (alpha if type(other) in REAL_NUMBERS else CONSTANTS[a.dtype][alpha])
            except ARITHMETIC:
                return otherwise(self, other, third, alpha)
        try:
            ufunc(a, b, a)
        except ValueError:  # self would be broadcast or is read-only: the general path raises
            return otherwise(self, other, third, alpha)
        except ARITHMETIC:
            warned(ufunc, a, b)
        count_write_at(self, getframe(1))
        return self

    def otherwise(self: Any, other: Any, third: Any, alpha: Any) -> Any:
        args = (other,) if third is None else (other, third)
        try:
            return apply_composed_inplace(public_form, self, args, {"alpha": alpha})
        except (TypeError, AttributeError):  # as in _inplace
            return recovered.run(name, (self, *args), {} if alpha is ONE else {"alpha": alpha})

    name = f"{public_form.__name__}_"
    return own(form, name, doc=f"In-place form of ``{name[:-1]}``.")


publish(_scaled_inplace(np.add, add_public), "Tensor.add_")
publish(_scaled_inplace(np.subtract, sub_public), "Tensor.sub_ Tensor.subtract_")
for _name in ("add", "sub"):
    REGISTRY[_name].node._saved_alpha = 1
iadd, isub, imul = (inplace_form(REGISTRY[name]) for name in ("add", "sub", "mul"))


python_operator(iadd, "__iadd__")
python_operator(isub, "__isub__")
python_operator(imul, "__imul__")


@public("torch.positive Tensor.positive Tensor.__pos__")
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself; bools are an error.

    >>> torch.positive(torch.tensor([-1., 2.]))
    tensor([-1.,  2.])
    """
    if logical_dtype(input) is BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# ---- other dtype
@general(
    grad=lambda xp, g, self_dtype: xp._to_copy(g, self_dtype),
    holomorphic=False,
    batch="elementwise",
    samples=[((3,), (np.dtype("float64"),)), ((), (np.dtype("float64"),))],
)
def _to_copy(lib, self, dtype):
    """A copy in another dtype, with the same memory order of the dimensions."""
    r = lib.cast(self, dtype)
    if type(r) is np.ndarray and r.ndim > 1 and (1 in r.shape or 0 in self.strides):  # NumPy orders such dims otherwise
        return as_like(self, r)
    return r

"""Powers: ``pow`` of tensors and numbers, squares, and reciprocals."""

from __future__ import annotations

import cmath
import math
from functools import partial
from typing import Any

import numpy as np

from ..._arrays.fused import MANY, recordable
from ..._arrays.layouts import rows
from ..._base.dtypes import BOOL, BY_NUMPY, COMPLEX, FLOAT32, FLOAT64, INEXACT, INTEGRAL, PYTHON_NUMBERS, REAL_NUMBERS
from ..._base.registry import ARRAYS, REGISTRY, plain_body, public, publish
from ..._kinds.elementwise import binary, parametric, unary
from ..._kinds.fronts import in_binary
from ..._kinds.keywords import with_out
from ..._kinds.out import exactly, write_out
from ..._kinds.slow_path import cast_operand, misfit, not_implemented
from ..._tape.inplace import apply_composed_inplace, inplace_of, inplace_with_numbers
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.saved import is_complex
from ..._tape.tensor import Tensor
from ._common import like, number_or_item, python_operator

# ---- powers

_SHORT = {  # the exponents for which PyTorch has products too
    3: lambda x: x * x * x,
    -2: lambda x: 1 / (x * x),
    -0.5: lambda x: 1 / x**0.5,
}


def _whole_power(x: Any, y: float) -> Any:
    """A large array to an integer power; small powers are products, since NumPy is slow, most of all below 0."""
    n = abs(y)
    if n <= 6:
        square = x * x
        r = square * x if n % 3 == 0 else square * square
        r = r * r if n == 6 else r * x if n == 5 else r
        return r if y > 0 else 1 / r
    r = np.power(np.abs(x), y)
    if not y % 2:
        return r
    from ..._arrays.kernels import with_sign_of

    return with_sign_of(r, x)


def _power(x: Any, y: Any) -> Any:
    if type(y) is int or type(y) is float:
        if y == 2 and x.dtype in INEXACT:  # by far the most common
            return x * x
        short = _SHORT.get(y)
        if short is not None and x.dtype in INEXACT:
            return short(x)
        if x.size >= MANY:
            if 3 <= abs(y) < 1 << 24 and y == int(y) and recordable(x):
                return _whole_power(x, y)
        elif x.dtype == FLOAT32 and y != 0.5:
            return FLOAT32.type(FLOAT64.type(x) ** y) if x.ndim == 0 else np.power(x, y, dtype=FLOAT64).astype(FLOAT32)
    return x**y


def _pow_self(xp: Any, g: Any, self: Any, other: Any) -> Any:
    if type(other) in PYTHON_NUMBERS:
        if other == 2 and xp is ARRAYS:
            return g * (self + self)  # NumPy is slow on a Python number
        if other == 0:
            return xp.zeros_like(g)
        return g * ((_power(self, other - 1) if xp is ARRAYS else self ** (other - 1)) * other)
    return xp.where(other == 0, 0, g * (other * self ** (other - 1)))


def _pow_other(xp: Any, g: Any, self: Any, other: Any) -> Any:
    positive = xp.real(other) >= 0 if (type(other) not in PYTHON_NUMBERS and is_complex(other)) else other >= 0
    return g * xp.where((self == 0) & positive, 0, self**other * xp.log(self))


def _check_pow(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if isinstance(y, Tensor) or type(y) not in PYTHON_NUMBERS:
        if dtype is BOOL and (not isinstance(y, Tensor) or y.ndim):  # `b ** True` arrives as a 0-dimensional tensor
            raise not_implemented(info, like(dtype), "pow")
    elif dtype in INTEGRAL and type(y) is int and y < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _pow_ints(lib: Any, x: Any, y: Any) -> Any:
    """Powers of integers; a negative exponent gives 0 except for the bases 1 and -1, as in PyTorch."""
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
def pow(lib, input, other):
    """``input ** other``, broadcasting."""
    return _power(input, other)


@plain_body
def plain_pow(lib, input, other):
    if type(other) in PYTHON_NUMBERS and input.dtype == FLOAT32 and other != 2:
        return (input.astype(FLOAT64) ** other).astype(FLOAT32)
    return input**other


def _saved_by_pow(n: Any, name: str) -> Any:
    return _plain_saved(n, {"exponent": "other"}.get(name, name))


_plain_saved = REGISTRY["pow"].node.saved
REGISTRY["pow"].node.saved = _saved_by_pow
REGISTRY["pow"].node.saved_names = ("self", "exponent")


def _log(base: Any) -> Any:
    """The logarithm of a Python number, with the result of the elementwise logarithm."""
    if type(base) is complex:
        return cmath.log(base) if base else complex(-math.inf, 0)
    return math.log(base) if base > 0 else (math.nan if base else -math.inf)


@parametric(
    layout=rows,
    grad=lambda xp, g, self, result, base: (
        g * (result * _log(complex(base) if is_complex(self) else base))
        if base
        else xp.where(self >= 0, 0, g * (result * _log(base)))
    ),
    node="PowBackward2",
    saved_as={"self": "exponent", "base": "self"},
    samples=[((3,), (2,)), ((2, 3), (0.5,)), ((), (3.0,)), ((0,), (2,))],
)
def _rpow(lib, self, base):
    """A number to the power of each element."""
    return lib.power(base, self)


@public("Tensor.__rpow__")
def rpow(self: Tensor, base: Any) -> Any:
    """The left operand to the power of each element.

    >>> 2 ** torch.tensor([1., 2.])
    tensor([2., 4.])
    """
    if type(base) in REAL_NUMBERS and type(self) is Tensor and self._payload.dtype is FLOAT32:  # the most common
        return _rpow(self, base)
    if isinstance(base, Tensor):
        return pow_public(base, self)
    base = number_or_item(base)
    if type(base) not in PYTHON_NUMBERS or not isinstance(self, Tensor):
        return NotImplemented
    dtype = common_dtype((self, base))
    if dtype not in INEXACT:
        return pow(cast_operand(base, dtype), self)
    return _rpow(cast(self, dtype), int(base) if type(base) is bool else base)


@public("torch.pow Tensor.pow")
@partial(in_binary, name="pow")
def pow_public(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """``input ** exponent``, broadcasting; either operand may be a number.

    The derivative with respect to the base is 0 where the exponent is 0. The derivative with respect to the exponent
    is 0 where the base is 0 and the exponent is not negative.

    >>> torch.pow(torch.tensor([1., 2., 3.]), 2)
    tensor([1., 4., 9.])
    """
    if out is not None:
        return write_out(out, pow_public, (input, exponent))
    if isinstance(input, Tensor):
        if isinstance(exponent, Tensor) and input._payload.dtype is exponent._payload.dtype is BOOL:
            raise not_implemented(REGISTRY["pow"], input, "pow")
        if isinstance(exponent, Tensor) or type(exponent) in PYTHON_NUMBERS or isinstance(exponent, np.generic):
            return pow(input, exponent)
    elif isinstance(exponent, Tensor) and type(number_or_item(input)) in PYTHON_NUMBERS:
        return rpow(exponent, input)
    raise misfit("pow", input, exponent)


def _raised(self: Tensor, exponent: Any) -> Any:
    return pow(self, exponent)


publish(inplace_with_numbers(inplace_of(_raised, "pow_", composed=False), _power), "Tensor.pow_")


@public("torch.float_power Tensor.float_power")
@with_out(exactly("the output given to float_power has dtype {Out} but the operation's result requires dtype {Result}"))
def float_power(input: Any, exponent: Any) -> Tensor:
    """``pow`` in double precision (complex128 if an operand is complex).

    >>> torch.float_power(torch.tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    operands = [t.item() if isinstance(t, np.generic) else t for t in (input, exponent)]
    if not any(isinstance(t, Tensor) for t in operands):
        raise misfit("float_power", input, exponent)
    dtype = _double(*operands)
    return pow_public(*[cast(t, dtype) if isinstance(t, Tensor) else t for t in operands])


def _double(*operands: Any) -> Any:
    complex_ = any(type(t) is complex or (isinstance(t, Tensor) and logical_dtype(t) in COMPLEX) for t in operands)
    return np.dtype(np.complex128 if complex_ else np.float64)


@public("Tensor.float_power_")
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In-place form of ``float_power``, for double precision only."""
    dtype = _double(self, exponent)
    if logical_dtype(self) is not dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {BY_NUMPY[logical_dtype(self)].scalar_name} but the operation's "
            f"result requires dtype {BY_NUMPY[dtype].scalar_name}"
        )
    return apply_composed_inplace(float_power, self, (exponent,))


@public("torch.square Tensor.square")
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square of each element.

    >>> torch.square(torch.tensor([1., -2.]))
    tensor([1., 4.])
    """
    return pow(input, 2) if out is None else pow(input, 2, out=out)


publish(inplace_of(square, "square_"), "torch.square_ Tensor.square_")


@unary(grad=lambda xp, g, result: -g * (result * result), domain=(0.5, 2.0), dtypes="fcib")
def reciprocal(lib, input):
    """One over each element.

    >>> torch.reciprocal(torch.tensor([2., 4.]))
    tensor([0.5000, 0.2500])
    """
    return lib.ONES[input.dtype] / input


@public("Tensor.__rtruediv__ Tensor.__rdiv__")
def rtruediv(self: Tensor, other: Any) -> Any:
    """A number divided by each element, computed as in PyTorch: the reciprocal times the number."""
    if (
        type(other) not in REAL_NUMBERS
        and not isinstance(other, Tensor)
        and type(number_or_item(other)) not in PYTHON_NUMBERS
        and not isinstance(other, np.ndarray)
    ):
        return NotImplemented
    return self.reciprocal() * other


python_operator(inplace_of(pow, "__ipow__", composed=False), "__ipow__", _power)

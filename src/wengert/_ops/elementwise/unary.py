"""Elementwise functions of one tensor: roots, exponentials, logarithms, trigonometry, rounding, signs.

A function that NumPy has is declared without a body. The derivatives are those of PyTorch's ``derivatives.yaml``,
holomorphic where the function is. Integers become the default dtype first, except in functions that keep integers
(``abs``, ``sign``, ``floor``, ...).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.layouts import like
from ..._base.dtypes import BOOL, COMPLEX, FLOATING, INT32
from ..._base.registry import ARRAYS, REGISTRY, public, publish
from ..._kinds.dims import as_int
from ..._kinds.elementwise import parametric, unary
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import SAME, exactly, write_out
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import not_implemented
from ..._tape.inplace import inplace_of
from ..._tape.promotion import logical_dtype
from ..._tape.saved import is_complex
from ..._tape.tensor import Tensor
from ._common import BOOLS, no_complex, real_sign, refuse, refuse_all_but_floats, tanh_cotangent

LN2, LN10 = math.log(2.0), math.log(10.0)
FrexpResult = return_type("frexp", "mantissa", "exponent")


# ---- roots
@unary(grad=lambda xp, g, result: g / (result * 2), domain=(0.2, 2.0), dtypes="fcib")
def sqrt(input):
    """The square root of each element; nan for negative elements.

    >>> torch.sqrt(torch.tensor([4., 9.]))
    tensor([2., 3.])
    """


@unary(
    grad=lambda xp, g, result: -0.5 * g * (result * result * result),
    domain=(0.2, 2.0),
    dtypes="fcib",
    in_float32="result",
)
def rsqrt(lib, input):
    """One over the square root of each element.

    >>> torch.rsqrt(torch.tensor([4., 16.]))
    tensor([0.5000, 0.2500])
    """
    r = lib.sqrt(input)
    return lib.ONES[r.dtype] / r


# ---- exponentials, logarithms
@unary(grad=lambda xp, g, result: g * result, dtypes="fcib")
def exp(input):
    """e to the power of each element.

    >>> torch.exp(torch.tensor([0., 1.]))
    tensor([1.0000, 2.7183])
    """


@unary(grad=lambda xp, g, result: g * (result * LN2), names="torch.exp2 Tensor.exp2 special.exp2", dtypes="fcib")
def exp2(input):
    """2 to the power of each element.

    >>> torch.exp2(torch.tensor([0., 3.]))
    tensor([1., 8.])
    """


@unary(grad=lambda xp, g, result: g * (result + 1), names="torch.expm1 Tensor.expm1 special.expm1", dtypes="fcib")
def expm1(input):
    """``exp(x) - 1``, accurate near 0 too.

    >>> torch.expm1(torch.tensor([0., 1.]))
    tensor([0.0000, 1.7183])
    """


@unary(grad=lambda xp, g, self: g / self, domain=(0.2, 2.0), dtypes="fcib")
def log(input):
    """The natural logarithm of each element; -inf for 0 and nan for negative elements.

    >>> torch.log(torch.tensor([1., 0.]))
    tensor([0., -inf])
    """


@unary(grad=lambda xp, g, self: g / (self * LN10), domain=(0.2, 2.0), dtypes="fcib")
def log10(input):
    """The logarithm to the base 10 of each element.

    >>> torch.log10(torch.tensor([1., 10.]))
    tensor([0., 1.])
    """


@unary(grad=lambda xp, g, self: g / (self * LN2), domain=(0.2, 2.0), dtypes="fcib")
def log2(input):
    """The logarithm to the base 2 of each element.

    >>> torch.log2(torch.tensor([1., 8.]))
    tensor([0., 3.])
    """


@unary(
    grad=lambda xp, g, self: g / (self + 1),
    names="torch.log1p Tensor.log1p special.log1p",
    node="Log1PBackward0",
    domain=(-0.5, 2.0),
    dtypes="fcib",
)
def log1p(input):
    """``log(1 + x)``, accurate near 0 too.

    >>> torch.log1p(torch.tensor([0., 1.]))
    tensor([0.0000, 0.6931])
    """


# ---- trigonometry
@unary(grad=lambda xp, g, self: g * xp.cos(self), dtypes="fcib")
def sin(input):
    """The sine of each element, an angle in radians.

    >>> torch.sin(torch.tensor([0., torch.pi / 2]))
    tensor([0., 1.])
    """


@unary(grad=lambda xp, g, self: g * -xp.sin(self), dtypes="fcib")
def cos(input):
    """The cosine of each element, an angle in radians.

    >>> torch.cos(torch.tensor([0., 1.]))
    tensor([1.0000, 0.5403])
    """


@unary(grad=lambda xp, g, result: g * (result * result + 1), domain=(-1.2, 1.2), dtypes="fcib")
def tan(input):
    """The tangent of each element, an angle in radians.

    >>> torch.tan(torch.tensor([0., 1.]))
    tensor([0.0000, 1.5574])
    """


@unary(
    grad=lambda xp, g, self: g * xp.rsqrt(1 - self * self),
    names="torch.asin torch.arcsin Tensor.asin Tensor.arcsin",
    libname="arcsin",
    domain=(-0.9, 0.9),
    dtypes="fcib",
)
def asin(input):
    """The inverse sine of each element, in radians.

    >>> torch.asin(torch.tensor([0., 1.]))
    tensor([0.0000, 1.5708])
    """


@unary(
    grad=lambda xp, g, self: g * -xp.rsqrt(1 - self * self),
    names="torch.acos torch.arccos Tensor.acos Tensor.arccos",
    libname="arccos",
    domain=(-0.9, 0.9),
    dtypes="fcib",
)
def acos(input):
    """The inverse cosine of each element, in radians.

    >>> torch.acos(torch.tensor([0., 1.]))
    tensor([1.5708, 0.0000])
    """


@unary(
    grad=lambda xp, g, self: g / (self * self + 1),
    names="torch.atan torch.arctan Tensor.atan Tensor.arctan",
    libname="arctan",
    dtypes="fcib",
)
def atan(input):
    """The inverse tangent of each element, in radians.

    >>> torch.atan(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7854])
    """


@unary(grad=lambda xp, g, self: g * xp.cosh(self), dtypes="fcib")
def sinh(input):
    """The hyperbolic sine of each element.

    >>> torch.sinh(torch.tensor([0., 1.]))
    tensor([0.0000, 1.1752])
    """


@unary(grad=lambda xp, g, self: g * xp.sinh(self), dtypes="fcib")
def cosh(input):
    """The hyperbolic cosine of each element.

    >>> torch.cosh(torch.tensor([0., 1.]))
    tensor([1.0000, 1.5431])
    """


@unary(
    grad=tanh_cotangent,
    dtypes="fcib",
    in_float32="gradient",
    names="torch.tanh Tensor.tanh nn.functional.tanh",
    own_derivative=True,
)
def tanh(input):
    """The hyperbolic tangent of each element.

    >>> torch.tanh(torch.tensor([0., 100.]))
    tensor([0., 1.])
    """


@unary(
    grad=lambda xp, g, self: g * xp.rsqrt(self * self + 1),
    names="torch.asinh torch.arcsinh Tensor.asinh Tensor.arcsinh",
    libname="arcsinh",
    in_place="refused",
    dtypes="fcib",
)
def asinh(input):
    """The inverse hyperbolic sine of each element.

    >>> torch.asinh(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8814])
    """


def _acosh_grad(xp: Any, g: Any, self: Any) -> Any:
    if is_complex(self):  # where sqrt(x * y) is not sqrt(x) * sqrt(y)
        return g * (xp.rsqrt(self + 1) * xp.rsqrt(self - 1))
    return g * xp.rsqrt(self * self - 1)


@unary(
    grad=_acosh_grad,
    names="torch.acosh torch.arccosh Tensor.acosh Tensor.arccosh",
    libname="arccosh",
    in_place="refused",
    domain=(1.2, 3.0),
    dtypes="fcib",
)
def acosh(input):
    """The inverse hyperbolic cosine of each element; nan below 1.

    >>> torch.acosh(torch.tensor([1., 2.]))
    tensor([0.0000, 1.3170])
    """


@unary(
    grad=lambda xp, g, self: g / (1 - self * self),
    names="torch.atanh torch.arctanh Tensor.atanh Tensor.arctanh",
    libname="arctanh",
    in_place="refused",
    domain=(-0.9, 0.9),
    dtypes="fcib",
)
def atanh(input):
    """The inverse hyperbolic tangent of each element.

    >>> torch.atanh(torch.tensor([0., 0.5]))
    tensor([0.0000, 0.5493])
    """


def _turned(xp: Any, g: Any, factor: float) -> Any:
    """An angle in another unit; float16 is multiplied in float32."""
    return g * (xp.lib.NUMBERS[g.dtype][factor] if xp is ARRAYS else factor)


_ANGLE: dict[str, Any] = {
    "layout": like,
    "fast": FLOATING,
    "check": no_complex("{} is not supported for complex tensors."),
    "dtypes": "fib",
}


@unary(grad=lambda xp, g: _turned(xp, g, math.pi / 180), node="Deg2RadBackward0", **_ANGLE)
def deg2rad(lib, input):
    """Convert degrees to radians.

    >>> torch.deg2rad(torch.tensor([180., 90.]))
    tensor([3.1416, 1.5708])
    """
    return input * lib.NUMBERS[input.dtype][math.pi / 180]


@unary(grad=lambda xp, g: _turned(xp, g, 180 / math.pi), node="Rad2DegBackward0", **_ANGLE)
def rad2deg(lib, input):
    """Convert radians to degrees.

    >>> torch.rad2deg(torch.tensor([0., torch.pi]))
    tensor([  0., 180.])
    """
    return input * lib.NUMBERS[input.dtype][180 / math.pi]


def _sinc_grad(xp: Any, g: Any, self: Any) -> Any:
    angle = self * math.pi
    square = self * self * math.pi
    return xp.where(square == 0, 0, g * ((angle * xp.cos(angle) - xp.sin(angle)) / square))


@unary(grad=_sinc_grad, names="torch.sinc Tensor.sinc special.sinc", domain=(0.1, 2.0), dtypes="fcib")
def sinc(lib, input):
    """``sin(pi x) / (pi x)``, and 1 at 0.

    >>> torch.sinc(torch.tensor([0., 0.5]))
    tensor([1.0000, 0.6366])
    """
    if input.dtype.kind in "fV" and input.dtype.itemsize == 2:  # 16 bits would round pi too much
        return _sinc(lib, input.astype(lib.float32)).astype(input.dtype)
    return _sinc(lib, input)


def _sinc(lib: Any, x: Any) -> Any:
    number = lib.NUMBERS[x.dtype]
    angle = x * number[math.pi]
    return lib.chosen(x == lib.ZEROS[x.dtype], number[1.0], lib.sin(angle) / angle)


# ---- rounding, signs
def _real_rounding(name: str) -> Any:
    def check(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
        if dtype in COMPLEX and name != "round":
            raise NotImplementedError(f"{name} is not supported for complex inputs")
        if dtype is BOOL or dtype in COMPLEX:
            raise not_implemented(info, x, f"{name}_vml_cpu")

    return check


def _rounding(domain: tuple[float, float] = (0.1, 0.9), **facts: Any) -> Any:
    """Declare a rounding, of real numbers; integers are their own."""
    return lambda body: unary(
        out_rule=SAME,
        grad=lambda xp, g: xp.zeros_like(g),
        to_float=False,
        integers=True,
        fast=FLOATING,
        integer=lambda lib, x: x.copy(),
        check=_real_rounding(body.__name__),
        domain=domain,
        dtypes="fi",
        **facts,
    )(body)


@_rounding()
def floor(input):
    """The largest integer that is at most each element; its derivative is 0.

    >>> torch.floor(torch.tensor([-0.5, 1.5]))
    tensor([-1.,  1.])
    """


@_rounding()
def ceil(input):
    """The smallest integer that is at least each element; its derivative is 0.

    >>> torch.ceil(torch.tensor([-0.5, 1.2]))
    tensor([-0., 2.])
    """


@_rounding(names="torch.trunc torch.fix Tensor.trunc Tensor.fix")
def trunc(input):
    """Each element without its fractional part; its derivative is 0.

    >>> torch.trunc(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """


@_rounding((0.1, 0.4), names="", libname="rint", inplace=False)
def round(input):
    """The nearest integer, with ties rounded to even; its derivative is 0."""


@parametric(
    grad=lambda xp, g: xp.zeros_like(g), node="RoundBackward1", samples=[((3,), (1,)), ((2, 2), (-1,))], dtypes="f"
)
def _round_decimals(lib, self, decimals):
    """The nearest number with ``decimals`` decimal places."""
    if self.dtype.itemsize == 2:  # a half-precision product overflows
        return ARRAYS._round_decimals(self.astype(np.float32), decimals).astype(self.dtype)
    scale = 10.0**decimals if decimals >= 0 else 10.0**-decimals
    if decimals < 0:
        return lib.rint(self / scale) * scale
    return lib.rint(self * scale) / scale


@public("torch.round Tensor.round special.round")
def round_public(input: Tensor, *, decimals: int | None = None, out: Tensor | None = None) -> Tensor:
    """The nearest integer, with ties rounded to even, or the nearest number with ``decimals`` decimal places.

    >>> torch.round(torch.tensor([0.5, 1.5, -2.7])), torch.round(torch.tensor([0.126]), decimals=2)
    (tensor([ 0.,  2., -3.]), tensor([0.1300]))
    """
    if out is not None:
        return write_out(out, round_public, (input,), {"decimals": decimals}, SAME)
    if decimals is None:
        return round(input)
    if logical_dtype(input) not in FLOATING:
        raise not_implemented(REGISTRY["round"], input, "round_cpu" if decimals else "round_vml_cpu")
    return _round_decimals(input, as_int(decimals, "round", argument="decimals"))


publish(inplace_of(round_public, "round_"), "torch.round_ Tensor.round_")


@unary(
    out_rule=SAME,
    grad=lambda xp, g: g,
    to_float=False,
    integers=True,
    fast=FLOATING,
    check=refuse_all_but_floats(),
    domain=(0.1, 0.9),
    dtypes="f",
)
def frac(lib, input):
    """The fractional part of each element, with its sign.

    >>> torch.frac(torch.tensor([1.5, -2.25]))
    tensor([ 0.5000, -0.2500])
    """
    return input - lib.trunc(input)


def _abs_jvp(xp: Any, tangents: Any, result: Any, self: Any) -> Any:
    direction = tangents[0] * xp.conj(xp.sgn(self)) if is_complex(self) else tangents[0] * xp.sgn(self)
    return xp.real(direction) if is_complex(self) else direction


@unary(
    out_rule=SAME,
    grad=lambda xp, g, self: g * xp.sgn(self),
    names="torch.abs torch.absolute Tensor.abs Tensor.absolute Tensor.__abs__",
    to_float=False,
    holomorphic=False,
    integers=True,
    check=refuse(BOOLS),
    jvp=_abs_jvp,
    inplace=False,
    domain=(0.2, 2.0),
    dtypes="fci",
)
def abs(input):
    """The absolute value of each element; its derivative at 0 is 0.

    >>> torch.abs(torch.tensor([-1., 2.])), torch.abs(torch.tensor([3 + 4j]))
    (tensor([1., 2.]), tensor([5.]))
    """


@public("torch.abs_ torch.absolute_ Tensor.abs_ Tensor.absolute_")
def abs_(self: Tensor) -> Tensor:
    """In-place form of ``abs``, for real tensors."""
    if logical_dtype(self) in COMPLEX:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_inplace(self)


_abs_inplace = inplace_of(abs, "abs_", composed=False)


@unary(
    out_rule=SAME,
    grad=lambda xp, g: xp.zeros_like(g),
    to_float=False,
    integers=True,
    fast=FLOATING,
    check=no_complex(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
        NotImplementedError,
    ),
    integer=lambda lib, x: x.copy() if x.dtype == bool else lib.sign(x),
    domain=(0.2, 2.0),
    dtypes="fib",
)
def sign(lib, input):
    """-1, 0 or 1 according to each element's sign; 0 for nan.

    >>> torch.sign(torch.tensor([-2., 0., 3.]))
    tensor([-1.,  0.,  1.])
    """
    return real_sign(lib, input)


@general(
    outputs=2,
    differentiable=(True, False),
    grad=lambda xp, g, result1: g / xp.exp2(xp._to_copy(result1, _floating_like(g))),
    holomorphic=False,
    batch="elementwise",
    dtypes="f",
    samples=[((3,), ()), ((), ())],
)
def frexp(lib, self):
    """Mantissa and exponent."""
    mantissa, exponent = lib.frexp(self)
    return mantissa, exponent if exponent.dtype is INT32 else exponent.astype(INT32)  # C's int, where it is another one


def _floating_like(g: Any) -> Any:
    from ..._payloads.transforms import plain_dtype

    return plain_dtype(g.dtype)


@public("torch.frexp Tensor.frexp")
@with_out(
    (
        exactly("torch.frexp() expects mantissa to have dtype {result} but got {out}"),
        exactly("torch.frexp() expects exponent to have int dtype but got {out}"),
    )
)
def frexp_public(input: Tensor) -> Any:
    """Mantissa (between 1/2 and 1) and exponent (int32): ``input = mantissa * 2 ** exponent``.

    >>> mantissa, exponent = torch.frexp(torch.tensor([3.]))
    >>> mantissa, exponent
    (tensor([0.7500]), tensor([2], dtype=torch.int32))
    """
    if logical_dtype(input) not in FLOATING:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return FrexpResult(frexp(input))

"""Elementwise functions of two or three tensors: angles, interpolation, scaling, signs, integers.

Functions that PyTorch defines for real numbers only refuse complex numbers with PyTorch's error.
"""

from __future__ import annotations

import math
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.half import is_half
from ..._arrays.layouts import as_rows, iterated
from ..._arrays.library import ARITHMETIC, silently
from ..._arrays.library import lib as numpy_lib
from ..._arrays.overlap import meets
from ..._base.constants import type_name
from ..._base.dtypes import BOOL, COMPLEX, FLOATING, INEXACT, PYTHON_NUMBERS, REAL_NUMBERS
from ..._base.errors import warn_of_overload
from ..._base.registry import PUBLIC, REGISTRY, own, public, publish
from ..._kinds.elementwise import binary
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import SAME, convertible, exactly, write_out
from ..._kinds.slow_path import SIGNED, misfit, not_implemented
from ..._tape.error_text import cpp_name, expect_tensors
from ..._tape.inplace import apply_composed_inplace, inplace_of
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.views import count_write_at, unrecorded
from ._common import (
    BOOLS,
    NOTHING,
    integer_pairs,
    like,
    not_derived,
    number_or_item,
    refuse,
    refuse_all_but_floats,
    refuse_complex,
    refuse_forward,
)

LN2 = math.log(2.0)


# ---- angles, lengths
def _inverse_square(xp: Any, self: Any, other: Any) -> Any:
    """``1 / (self^2 + other^2)``, and 0 at the origin, where PyTorch's gradient of ``atan2`` is 0."""
    square = self * self + other * other
    origin = square == 0
    return xp.where(origin, 0, 1 / xp.where(origin, 1, square))


@binary(
    self=lambda xp, g, self, other: g * (other * _inverse_square(xp, self, other)),
    other=lambda xp, g, self, other: g * (-self * _inverse_square(xp, self, other)),
    names="torch.atan2 torch.arctan2 Tensor.atan2 Tensor.arctan2",
    libname="arctan2",
    numbers=NOTHING,
    to_float=True,
    fast=FLOATING,
    check=refuse_complex("atan2_cpu"),
    dtypes="fib",
)
def atan2(input, other):
    """The angle in radians of the point (other, input), between -pi and pi.

    >>> torch.atan2(torch.tensor([1., -1.]), torch.tensor([1., -1.]))
    tensor([ 0.7854, -2.3562])
    """


@binary(
    self=lambda xp, g, self, result: g * (self / result),
    other=lambda xp, g, other, result: g * (other / result),
    numbers=NOTHING,
    integers=True,
    fast=FLOATING,
    check=refuse_all_but_floats(),
    domain=(0.5, 2.0),
    dtypes="f",
)
def hypot(input, other):
    """The hypotenuse: ``sqrt(input ** 2 + other ** 2)`` without overflow.

    >>> torch.hypot(torch.tensor([3.]), torch.tensor([4.]))
    tensor([5.])
    """


# ---- sums of exponentials
def _logaddexp(lib: Any, x: Any, y: Any) -> Any:
    """``logaddexp`` of complex numbers as PyTorch computes it: factor out the one with the larger real part."""
    first = x.real >= y.real
    larger, smaller = lib.where(first, x, y), lib.where(first, y, x)
    same = (x == y) & ~lib.isfinite(x.real)
    return lib.where(same, x, larger + lib.log1p(lib.exp(smaller - larger)))


@binary(
    layout=iterated,
    self=lambda xp, g, self, other: g / (1 + xp.exp(other - self)),
    other=lambda xp, g, self, other: g / (1 + xp.exp(self - other)),
    numbers=NOTHING,
    inplace=False,
    integers=True,
    check=refuse_all_but_floats(taken=INEXACT),
)
def logaddexp(lib, input, other):
    """``log(exp(input) + exp(other))`` without overflow.

    >>> torch.logaddexp(torch.tensor([0.]), torch.tensor([0.]))
    tensor([0.6931])
    """
    return _logaddexp(lib, input, other) if input.dtype.kind == "c" else lib.logaddexp(input, other)


@binary(
    self=lambda xp, g, self, other: g / (1 + xp.exp2(other - self)),
    other=lambda xp, g, self, other: g / (1 + xp.exp2(self - other)),
    numbers=NOTHING,
    inplace=False,
    integers=True,
    fast=FLOATING,
    check=refuse_all_but_floats(),
    dtypes="f",
)
def logaddexp2(input, other):
    """``log2(2 ** input + 2 ** other)`` without overflow.

    >>> torch.logaddexp2(torch.tensor([1.]), torch.tensor([1.]))
    tensor([2.])
    """


# ---- interpolation
def _lerp(lib: Any, self: Any, end: Any, weight: Any, near: Any) -> Any:
    step = end - self
    return lib.chosen(near, self + weight * step, end - step * (lib.NUMBERS[weight.dtype][1.0] - weight))


@general(
    layout=iterated,
    tensors=2,
    grad={"self": lambda xp, g, weight: g * (1 - weight), "end": lambda xp, g, weight: g * weight},
    batch="elementwise",
    node="LerpBackward0",
    samples=[((3,), (3,), (0.3,)), ((2, 3), (3,), (0.7,)), ((), (), (2.0,))],
    in_float32="result",
)
def _lerp_number(lib, self, end, weight):
    """``self + weight * (end - self)`` for a number ``weight``."""
    step = end - self
    number = lib.NUMBERS[step.dtype]
    return self + number[weight] * step if abs(weight) < 0.5 else end - step * number[1 - weight]


@general(
    layout=iterated,
    tensors=3,
    grad={
        "self": lambda xp, g, weight: g * (1 - weight),
        "end": lambda xp, g, weight: g * weight,
        "weight": lambda xp, g, self, end: g * (end - self),
    },
    batch="elementwise",
    node="LerpBackward1",
    samples=[((3,), (3,), (3,), ()), ((2, 3), (3,), (2, 1), ())],
    in_float32="result",
)
def _lerp_tensor(lib, self, end, weight):
    """``self + weight * (end - self)`` for a tensor ``weight``."""
    size = lib.abs(weight)
    return _lerp(lib, self, end, weight, size < lib.NUMBERS[size.dtype][0.5])


@public("torch.lerp Tensor.lerp")
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """``input + weight * (end - input)``; the weight is a number or a tensor.

    >>> torch.lerp(torch.tensor([0., 10.]), torch.tensor([10., 20.]), 0.5)
    tensor([ 5., 15.])
    """
    if out is not None:
        return write_out(out, lerp, (input, end, weight), None, SAME if isinstance(weight, Tensor) else None)
    if type(weight) in REAL_NUMBERS:
        if _alike(input, end, end):
            return _lerp_number(input, end, weight)
    elif _alike(input, end, weight):
        return _lerp_tensor(input, end, weight)
    if not isinstance(input, Tensor) or not isinstance(end, Tensor):
        raise misfit("lerp", input, end, weight)
    dtype = logical_dtype(input)
    if logical_dtype(end) is not dtype:
        raise RuntimeError(f"expected dtype {cpp_name(input)} for `end` but got dtype {cpp_name(end)}")
    tensor = isinstance(weight, Tensor)
    if tensor and logical_dtype(weight) is not dtype:
        if weight.ndim or weight._payload.dtype.kind not in "fciub":
            raise RuntimeError(f"expected dtype {cpp_name(input)} for `weight` but got dtype {cpp_name(weight)}")
        weight = cast(weight, dtype)
    if dtype not in INEXACT:
        raise not_implemented(REGISTRY["_lerp_tensor"], input, "lerp_kernel_tensor" if tensor else "lerp_kernel_scalar")
    if tensor:
        return _lerp_tensor(input, end, weight)
    weight = number_or_item(weight)
    if type(weight) not in PYTHON_NUMBERS:
        raise misfit("lerp", input, end, weight)
    return _lerp_number(input, end, weight)


_lerp_composed = inplace_of(lerp, "lerp_")


@public("Tensor.lerp_")
def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """In-place form of ``lerp``."""
    if type(weight) in REAL_NUMBERS and _alike(self, end, end) and self._payload.shape == end._payload.shape:
        a, b = self._payload, end._payload
        plain = type(a) is np.ndarray and a.flags.writeable and unrecorded(self, end._node)
        if plain and ((a.base is None and b.base is None) or not meets(a, b)):
            body: Any = REGISTRY["_lerp_number"].decl
            try:
                a[...] = body(numpy_lib, a, b, weight)
            except ARITHMETIC:
                a[...] = silently(body, numpy_lib, a, b, weight)
            count_write_at(self, getframe(1))
            return self
    return _lerp_composed(self, end, weight)


# ---- addcmul, addcdiv
@general(
    layout=iterated,
    tensors=3,
    grad={
        "self": lambda xp, g: g,
        "tensor1": lambda xp, g, tensor2, value: g * (tensor2 * value),
        "tensor2": lambda xp, g, tensor1, value: g * (tensor1 * value),
    },
    promote=True,
    batch="elementwise",
    dtypes="fci",
    samples=[((3,), (3,), (3,), (2,)), ((2, 3), (3,), (2, 1), (0.5,)), ((), (), (), (1,))],
    in_float32="result",
)
def _addcmul(lib, self, tensor1, tensor2, value):
    """``self + value * tensor1 * tensor2``."""
    return self + value * tensor1 * tensor2 if value != 1 else self + tensor1 * tensor2


@general(
    layout=iterated,
    tensors=3,
    grad={
        "self": lambda xp, g: g,
        "tensor1": lambda xp, g, tensor2, value: g * (value / tensor2),
        "tensor2": lambda xp, g, tensor1, tensor2, value: -g * ((tensor1 * value) / (tensor2 * tensor2)),
    },
    promote=True,
    batch="elementwise",
    samples=lambda rng: [
        ((rng.standard_normal(3), rng.standard_normal(3), rng.random(3) + 0.5), (2,)),
        ((rng.standard_normal((2, 3)), rng.standard_normal(3), rng.random((2, 1)) + 0.5), (0.5,)),
    ],
    in_float32="result",
)
def _addcdiv(lib, self, tensor1, tensor2, value):
    """``self + value * tensor1 / tensor2``."""
    return self + value * tensor1 / tensor2 if value != 1 else self + tensor1 / tensor2


def _alike(x: Any, y: Any, z: Any) -> bool:
    """Whether all three are tensors of one floating dtype."""
    try:
        dtype = x._payload.dtype
        return dtype is y._payload.dtype and dtype is z._payload.dtype and dtype in FLOATING
    except AttributeError:
        return False


def _three(name: str, input: Any, tensor1: Any, tensor2: Any, rest: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """Read the arguments of ``addcmul`` and ``addcdiv``, also in the old order (input, value, tensor1, tensor2)."""
    if rest:
        if len(rest) != 1 or not isinstance(rest[0], Tensor) or value != 1:
            raise TypeError(f"{name}() takes 3 positional arguments but {3 + len(rest)} were given")
        warn_of_overload(
            name,
            "Tensor input, Number value, Tensor tensor1, Tensor tensor2, *, Tensor out = None",
            "Tensor input, Tensor tensor1, Tensor tensor2, *, Number value = 1, Tensor out = None",
        )
        value, tensor1, tensor2 = tensor1, tensor2, rest[0]
    expect_tensors(name, input=input, tensor1=tensor1, tensor2=tensor2)
    value = number_or_item(value)
    if type(value) not in PYTHON_NUMBERS:
        raise TypeError(f"{name}(): argument 'value' must be Number, not {type_name(value)}")
    dtype = common_dtype((input, tensor1, tensor2))
    if type(value) is complex or dtype not in INEXACT:
        from ..create.filled import element  # seldom needed

        value = element(value, np.dtype("f4") if is_half(dtype) else dtype)
    return input, tensor1, tensor2, value


@public("torch.addcmul Tensor.addcmul")
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``input + value * tensor1 * tensor2``, broadcasting.

    >>> torch.addcmul(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([3.]), value=10)
    tensor([61.])
    """
    if out is not None:
        return write_out(out, addcmul, (input, tensor1, tensor2, *rest), {"value": value})
    if type(value) in REAL_NUMBERS and not rest and _alike(input, tensor1, tensor2):
        return _addcmul(input, tensor1, tensor2, value)
    input, tensor1, tensor2, value = _three("addcmul", input, tensor1, tensor2, rest, value)
    dtype = common_dtype((input, tensor1, tensor2))
    if dtype is BOOL:
        raise not_implemented(REGISTRY["_addcmul"], like(BOOL), "addcmul_cpu_out")
    return _addcmul(input, tensor1, tensor2, value if dtype in INEXACT else int(value))


@public("torch.addcdiv Tensor.addcdiv")
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *rest: Any, value: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``input + value * tensor1 / tensor2``, broadcasting.

    >>> torch.addcdiv(torch.tensor([1.]), torch.tensor([6.]), torch.tensor([3.]), value=10)
    tensor([21.])
    """
    if out is not None:
        return write_out(out, addcdiv, (input, tensor1, tensor2, *rest), {"value": value})
    if type(value) in REAL_NUMBERS and not rest and _alike(input, tensor1, tensor2):
        return _addcdiv(input, tensor1, tensor2, value)
    input, tensor1, tensor2, value = _three("addcdiv", input, tensor1, tensor2, rest, value)
    if logical_dtype(tensor1) not in INEXACT and logical_dtype(tensor2) not in INEXACT:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + "
            "value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * "
            "tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: "
            "(input + value * tensor1 / tensor2), for all dtypes."
        )
    return _addcdiv(input, tensor1, tensor2, value)


def _added_inplace(public_form: Any, term: Any) -> Any:
    """Make ``addcmul_`` or ``addcdiv_``, which add to plain floating tensors in their own memory."""

    def form(self: Any, tensor1: Any, tensor2: Any, *rest: Any, value: Any = 1) -> Any:
        if (
            type(value) in REAL_NUMBERS
            and not rest
            and _alike(self, tensor1, tensor2)
            and type(self._payload) is np.ndarray
        ):
            a, b, c = self._payload, tensor1._payload, tensor2._payload
            apart = (a.base is None and b.base is None and c.base is None) or not (meets(a, b) or meets(a, c))
            if apart and unrecorded(self, tensor1._node or tensor2._node):
                try:
                    added = term(b, c, value)
                    try:  # noqa: SIM105  three frames less
                        np.add(a, added, a)
                    except ARITHMETIC:  # see ``_tape.inplace.warned``
                        pass
                except (ValueError, *ARITHMETIC):  # the general path handles it or raises the error
                    return apply_composed_inplace(public_form, self, (tensor1, tensor2), {"value": value})
                count_write_at(self, getframe(1))
                return self
        return apply_composed_inplace(public_form, self, (tensor1, tensor2, *rest), {"value": value})

    name = f"{public_form.__name__}_"
    return own(form, name, doc=f"In-place form of ``{name[:-1]}``.")


publish(_added_inplace(addcmul, lambda b, c, value: value * b * c if value != 1 else b * c), "Tensor.addcmul_")
publish(_added_inplace(addcdiv, lambda b, c, value: value * b / c if value != 1 else b / c), "Tensor.addcdiv_")


# ---- signs, neighbours
@binary(
    self=lambda xp, g, self, result: g * xp.where(self == 0, 0, result / self),
    other=lambda xp, g: as_rows(xp.zeros_like(g)),
    scalar_node="CopysignBackward1",
    to_float=True,
    overloads=True,
    fast=FLOATING,
    check=refuse_complex("copysign_cpu"),
    domain=(0.2, 2.0),
    domain_other=(0.2, 2.0),
    dtypes="fib",
)
def copysign(input, other):
    """The absolute value of the first operand with the sign of the second.

    >>> torch.copysign(torch.tensor([1., -2.]), -1)
    tensor([-1., -2.])
    """


@binary(
    self=lambda xp, g, self, other: xp.where(self == other, 0, g),
    other=lambda xp, g: xp.zeros_like(g),
    numbers=NOTHING,
    integers=True,
    fast=FLOATING,
    check=refuse_all_but_floats(),
    dtypes="f",
)
def nextafter(input, other):
    """The next representable number after ``input`` towards ``other``.

    >>> torch.nextafter(torch.tensor([1.]), torch.tensor([2.])) > 1
    tensor([True])
    """


def _check_heaviside(operands: Any) -> None:
    expect_tensors("heaviside", **dict(zip(("input", "values"), operands, strict=True)))
    a, b = (logical_dtype(t) for t in operands)
    if a in COMPLEX or b in COMPLEX:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if a is not b:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


@binary(
    self=not_derived("heaviside"),
    other=not_derived("heaviside"),
    jvp=refuse_forward("aten::heaviside"),
    node="NotImplemented",
    layout=iterated,
    names="",
    numbers=NOTHING,
    inplace=False,
    dtypes="fib",
    no_derivative="PyTorch has none; a backward pass that arrives here is an error",
)
def heaviside(lib, input, other):
    """0 for negative elements, 1 for positive ones, and the second operand's element for 0."""
    zero = lib.ZEROS[input.dtype]
    return lib.where(input == zero, other, (input > zero).astype(input.dtype))


@public("torch.heaviside Tensor.heaviside")
@with_out(exactly("heaviside is not yet implemented for tensors with different dtypes."))
def heaviside_public(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative elements, 1 for positive ones, and the element of ``values`` for 0.

    >>> torch.heaviside(torch.tensor([-1., 0., 1.]), torch.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    _check_heaviside((input, values))
    return heaviside(input, values)


publish(inplace_of(heaviside_public, "heaviside_"), "Tensor.heaviside_")


@binary(
    layout=iterated,
    self=lambda xp, g, other: g * xp.exp2(other),
    other=lambda xp, g, result: g * (result * LN2),
    numbers=NOTHING,
    to_float=True,
    out_rule=convertible("ldexp can't be cast to the desired output type {Out}"),
    dtypes="fcib",
)
def ldexp(lib, input, other):
    """``input * 2 ** other``.

    >>> torch.ldexp(torch.tensor([1.]), torch.tensor([3]))
    tensor([8.])
    """
    if other.dtype.kind == "f" and input.dtype.kind == "f":
        whole = lib.rint(other)
        if lib.all(whole == other):  # in one step: the power alone may be too large or too small
            return lib.ldexp(input, lib.clip(whole, -30000, 30000).astype(lib.int32)).astype(input.dtype)
    return input * lib.exp2(other)


# ---- integers
_INTEGERS: dict[str, Any] = {
    "numbers": NOTHING,
    "integers": True,
    "fast": NOTHING,
    "pairs": SIGNED,
    "check": refuse(INEXACT, BOOLS),
    "samples": integer_pairs,
    "dtypes": "i",
}


@binary(**_INTEGERS)
def gcd(input, other):
    """The greatest common divisor of each pair of integers.

    >>> torch.gcd(torch.tensor([12, 7]), torch.tensor([18, 21]))
    tensor([6, 7])
    """


@binary(**_INTEGERS)
def lcm(input, other):
    """The least common multiple of each pair of integers.

    >>> torch.lcm(torch.tensor([4, 6]), torch.tensor([6, 9]))
    tensor([12, 18])
    """


for _name in ("gcd", "lcm", "ldexp"):
    publish(PUBLIC["Tensor"].peek(f"{_name}_"), f"torch.{_name}_")

"""Comparisons, logical and bitwise operators, and tests for nan, infinity and sign. None has a derivative."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from ..._arrays.large import count_nonzero
from ..._arrays.layouts import iterated
from ..._base.dtypes import BY_NUMPY, FLOATING, INEXACT, REAL
from ..._base.registry import REGISTRY, public
from ..._kinds.dims import not_a_bool
from ..._kinds.elementwise import binary, unary
from ..._kinds.general import general
from ..._kinds.out import SAME, of_kind
from ..._kinds.slow_path import SIGNED, refuse_unbound
from ..._payloads.meta import no_item, no_kernel, on_meta
from ..._payloads.transforms import of_transform
from ..._tape.error_text import expect_tensors
from ..._tape.inplace import inplace_form
from ..._tape.promotion import default_np, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ._common import (
    BOOLS,
    NOTHING,
    integer_pairs,
    no_complex,
    plain_number,
    python_operator,
    reflected,
    refuse,
    refuse_complex,
)


# ---- comparisons
@binary(symbol=operator.eq, libname="equal", dunder="__eq__", overloads=True, in_place="zeros", dtypes="fcib")
def eq(input, other):
    """Whether the elements are equal, as bools.

    >>> torch.tensor([1, 2]) == 2
    tensor([False,  True])
    """


@binary(
    symbol=operator.ne,
    libname="not_equal",
    names="torch.ne torch.not_equal Tensor.ne Tensor.not_equal",
    dunder="__ne__",
    overloads=True,
    in_place="zeros",
    dtypes="fcib",
)
def ne(input, other):
    """Whether the elements differ, as bools.

    >>> torch.ne(torch.tensor([1, 2]), 2)
    tensor([ True, False])
    """


def _order(libname: str) -> Any:
    """Declare a comparison of two real numbers under its short name and NumPy's."""

    def declare(body: Any) -> Any:
        name = body.__name__
        return binary(
            symbol=getattr(operator, name),
            names=f"torch.{name} torch.{libname} Tensor.{name} Tensor.{libname}",
            libname=libname,
            dunder=f"__{name}__",
            overloads=True,
            integers=True,
            fast=FLOATING,
            pairs=REAL,
            check=refuse_complex(),
            in_place="zeros",
            dtypes="fib",
        )(body)

    return declare


@_order("less")
def lt(input, other):
    """Whether ``input < other``, element by element.

    >>> torch.tensor([1., 2.]) < torch.tensor([2., 1.])
    tensor([ True, False])
    """


@_order("less_equal")
def le(input, other):
    """Whether ``input <= other``, element by element.

    >>> torch.le(torch.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
    """


@_order("greater")
def gt(input, other):
    """Whether ``input > other``, element by element.

    >>> torch.gt(torch.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
    """


@_order("greater_equal")
def ge(input, other):
    """Whether ``input >= other``, element by element.

    >>> torch.ge(torch.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
    """


# ---- bits, logic
_BITS: dict[str, Any] = {"fast": NOTHING, "overloads": True, "number_first": True, "samples": integer_pairs}
_LOGIC: dict[str, Any] = {**_BITS, "check": refuse(INEXACT), "dtypes": "ib"}
_SHIFT: dict[str, Any] = {**_BITS, "pairs": SIGNED, "check": refuse(INEXACT, BOOLS), "integers": True, "dtypes": "i"}


@binary(symbol=operator.and_, dunder="__and__", **_LOGIC)
def bitwise_and(input, other):
    """Bitwise and; logical and for bools.

    >>> torch.tensor([True, True]) & torch.tensor([True, False])
    tensor([ True, False])
    """


@binary(symbol=operator.or_, dunder="__or__", **_LOGIC)
def bitwise_or(input, other):
    """Bitwise or; logical or for bools.

    >>> torch.bitwise_or(torch.tensor([5, 6]), 3)
    tensor([7, 7])
    """


@binary(symbol=operator.xor, dunder="__xor__", **_LOGIC)
def bitwise_xor(input, other):
    """Bitwise exclusive or; logical exclusive or for bools.

    >>> torch.bitwise_xor(torch.tensor([5, 6]), 3)
    tensor([6, 5])
    """


@binary(libname="left_shift", kernel="lshift_cpu", dunder="__lshift__", **_SHIFT)
def bitwise_left_shift(input, other):
    """Shift the bits to the left, which multiplies by powers of two.

    >>> torch.bitwise_left_shift(torch.tensor([1, 2]), 3)
    tensor([ 8, 16])
    """


@binary(libname="right_shift", kernel="rshift_cpu", dunder="__rshift__", **_SHIFT)
def bitwise_right_shift(input, other):
    """Shift the bits to the right, which divides by powers of two and rounds down.

    >>> torch.bitwise_right_shift(torch.tensor([8, -8]), 2)
    tensor([ 2, -2])
    """


@unary(
    out_rule=SAME,
    to_float=False,
    libname="invert",
    samples=lambda rng: [((a,), ()) for (a, _), _ in integer_pairs(rng)],
    dtypes="ib",
)
def bitwise_not(input):
    """Bitwise not; logical not for bools.

    >>> ~torch.tensor([True, False])
    tensor([False,  True])
    """


@public("Tensor.__invert__")
def invert(self: Tensor) -> Tensor:
    """``bitwise_not``."""
    if logical_dtype(self) in INEXACT:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


for _fn, _name in (
    (bitwise_and, "and"),
    (bitwise_or, "or"),
    (bitwise_xor, "xor"),
    (bitwise_left_shift, "lshift"),
    (bitwise_right_shift, "rshift"),
):
    unbound = {} if "shift" in _name else {"unbound": partial(refuse_unbound, f"__r{_name}__")}
    reflected(_fn, f"__r{_name}__", **unbound)
    python_operator(inplace_form(REGISTRY[_fn.__name__]), f"__i{_name}__")


@binary(numbers=NOTHING, in_place="unrecorded", dtypes="fcib")
def logical_and(input, other):
    """Whether both elements are nonzero.

    >>> torch.logical_and(torch.tensor([0., 2.]), torch.tensor([1., 1.]))
    tensor([False,  True])
    """


@binary(numbers=NOTHING, in_place="unrecorded", dtypes="fcib")
def logical_or(input, other):
    """Whether at least one of the elements is nonzero.

    >>> torch.logical_or(torch.tensor([0, 1]), torch.tensor([0, 0]))
    tensor([False,  True])
    """


@binary(numbers=NOTHING, in_place="unrecorded", dtypes="fcib")
def logical_xor(input, other):
    """Whether exactly one of the elements is nonzero.

    >>> torch.logical_xor(torch.tensor([0, 1]), torch.tensor([1, 1]))
    tensor([ True, False])
    """


@unary(to_float=False, in_place="unrecorded", dtypes="fcib")
def logical_not(input):
    """Whether each element is zero.

    >>> torch.logical_not(torch.tensor([0, 2]))
    tensor([ True, False])
    """


# ---- kinds of value
@unary(to_float=False, inplace=False, dtypes="fcib")
def isnan(input):
    """Whether each element is nan; a complex element is nan if either part is.

    >>> torch.isnan(torch.tensor([1., float("nan")]))
    tensor([False,  True])
    """


@unary(to_float=False, inplace=False, dtypes="fcib")
def isfinite(input):
    """Whether each element is neither infinite nor nan.

    >>> torch.isfinite(torch.tensor([1., float("inf"), float("nan")]))
    tensor([ True, False, False])
    """


@unary(to_float=False, inplace=False, dtypes="fcib")
def isinf(input):
    """Whether each element is infinite; a complex element is infinite if either part is.

    >>> torch.isinf(torch.tensor([1., -torch.inf]))
    tensor([False,  True])
    """


_SIGNED: dict[str, Any] = {"to_float": False, "integers": True, "fast": FLOATING, "inplace": False, "dtypes": "fib"}
_NO_COMPLEX_INPUT = no_complex("{} does not support complex inputs.")


@unary(out_rule=of_kind("b", "isposinf does not support non-boolean outputs."), check=_NO_COMPLEX_INPUT, **_SIGNED)
def isposinf(lib, input):
    """Whether each element is plus infinity.

    >>> torch.isposinf(torch.tensor([torch.inf, -torch.inf]))
    tensor([ True, False])
    """
    return input == float("inf")


@unary(out_rule=of_kind("b", "isneginf does not support non-boolean outputs."), check=_NO_COMPLEX_INPUT, **_SIGNED)
def isneginf(lib, input):
    """Whether each element is minus infinity.

    >>> torch.isneginf(torch.tensor([torch.inf, -torch.inf]))
    tensor([False,  True])
    """
    return input == -float("inf")


@unary(to_float=False, inplace=False, dtypes="fcib")
def isreal(lib, input):
    """Whether each element's imaginary part is zero.

    >>> torch.isreal(torch.tensor([1 + 0j, 1j]))
    tensor([ True, False])
    """
    return lib.imag(input) == 0


@unary(
    out_rule=of_kind("b", "signbit does not support non-boolean outputs."),
    check=no_complex("signbit is not implemented for complex tensors.", NotImplementedError),
    integer=lambda lib, x: x < 0,
    **_SIGNED,
)
def signbit(input):
    """Whether each element's sign bit is set; it is set for -0 too.

    >>> torch.signbit(torch.tensor([-0., 2.]))
    tensor([ True, False])
    """


# ---- closeness, equality
@general(
    layout=iterated,
    tensors=2,
    batch="elementwise",
    dtypes="fcib",
    samples=[((3,), (3,), (1e-5, 1e-8, False)), ((2, 1), (3,), (0.0, 0.0, True))],
)
def _isclose(lib, self, other, rtol, atol, equal_nan):
    """Whether ``abs(self - other) <= atol + rtol * abs(other)``."""
    close = self == other
    if equal_nan:
        close = close | (lib.isnan(self) & lib.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if self.dtype.kind in "iub":
        self, other = self.astype(default_np()), other.astype(default_np())
    error = lib.abs(self - other)
    return close | (lib.isfinite(error) & (error <= atol + lib.abs(rtol * other)))


@public("torch.isclose Tensor.isclose")
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether each element is close to the other: ``abs(input - other) <= atol + rtol * abs(other)``.

    >>> torch.isclose(torch.tensor([1., 2.]), torch.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    if type(input) is not Tensor or type(other) is not Tensor:
        expect_tensors("isclose", input=input, other=other)
    if logical_dtype(input) is not logical_dtype(other):
        raise RuntimeError(
            f"{BY_NUMPY[input._payload.dtype].scalar_name} did not match {BY_NUMPY[other._payload.dtype].scalar_name}"
        )
    rtol, atol = plain_number(rtol), plain_number(atol)
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol}")
    if type(equal_nan) is not bool:
        raise not_a_bool("isclose", "equal_nan", equal_nan)
    return _isclose(input, other, rtol, atol, equal_nan)


@public("torch.allclose Tensor.allclose")
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close (``isclose``), as a Python bool.

    >>> torch.allclose(torch.tensor([1.]), torch.tensor([1.0000001]))
    True
    """
    close = isclose(input, other, rtol, atol, equal_nan)._payload
    if type(close) is np.ndarray:
        return bool(count_nonzero(close) == close.size)
    if on_meta(close):
        raise no_item()
    if of_transform(close):
        close = close.primal()
    if of_transform(close):
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    return bool(close.all())


@public("torch.equal Tensor.equal")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements, as a Python bool.

    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    try:
        a, b = input._payload, other._payload
    except AttributeError:
        expect_tensors("equal", input=input, other=other)
        raise
    if type(a) is type(b) is np.ndarray and a.dtype is b.dtype and a.dtype.kind != "V":
        return a.shape == b.shape and bool(count_nonzero(a == b) == a.size)
    if on_meta(a) or on_meta(b):
        raise no_kernel("equal")
    if of_transform(a) or of_transform(b):
        a, b = (x.primal() if of_transform(x) else x for x in (a, b))
        if of_transform(a) or of_transform(b):
            raise RuntimeError("Batching rule not implemented for aten::equal. We could not generate a fallback.")
        return equal(wrap(a), wrap(b))
    for sparse in (a, b):
        if getattr(sparse, "is_sparse", False):
            from ..._payloads.sparse_errors import refused

            raise refused(sparse, "equal")
    if a.shape != b.shape:
        return False
    return bool(eq(input, other)._payload.all())

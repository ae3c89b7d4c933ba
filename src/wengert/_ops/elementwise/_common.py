"""Helpers of the elementwise operators: Python numbers, checks of dtypes, forms of Python operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.library import lib
from ..._base.dtypes import BOOL, COMPLEX, FLOAT32, FLOATING, PYTHON_NUMBERS, SINGLE_OR_DOUBLE
from ..._base.registry import ARRAYS, REGISTRY, public, publish
from ..._kinds.declare import camel
from ..._kinds.elementwise import binary, parametric
from ..._kinds.slow_path import cast_operand, not_implemented
from ..._payloads.transforms import no_forward
from ..._tape.error_text import expect_tensor
from ..._tape.inplace import inplace_of, inplace_with_numbers, python_operand
from ..._tape.promotion import common_dtype, logical_dtype
from ..._tape.tensor import Tensor, wrap

NOTHING: frozenset[Any] = frozenset()
BOOLS = frozenset((BOOL,))
ONES = lib.ONES
ONE = ONES[FLOAT32]
ndarray, multiply, subtract = np.ndarray, np.multiply, np.subtract


def tanh_cotangent(xp: Any, g: Any, result: Any) -> Any:
    """``g * (1 - result**2)``, in the memory of one array; NumPy is faster on a 1 of their dtype than on Python's."""
    if xp is not ARRAYS:
        return g * (1 - result * result)
    d = multiply(result, result)
    if type(d) is not ndarray:  # 0-dimensional
        return g * (1 - d)
    subtract(ONE if d.dtype is FLOAT32 else ONES[d.dtype], d, d)
    return multiply(g, d, d)


def sigmoid_cotangent(xp: Any, g: Any, result: Any) -> Any:
    """``g * (1 - result) * result``, computed as in ``tanh_cotangent``."""
    if xp is not ARRAYS:
        return g * (1 - result) * result
    d = subtract(ONE if result.dtype is FLOAT32 else ONES[result.dtype], result)
    if type(d) is not ndarray:
        return g * d * result
    multiply(g, d, d)
    return multiply(d, result, d)


def real_sign(lib: Any, x: Any) -> Any:
    """-1, 0 or 1 according to each element's sign; 0 for nan."""
    if type(x) is ndarray and 0 < x.size <= 4096 and x.dtype.kind == "f":
        r = lib.sign(x)
        last = r.item(r.argmax())
        if last == last:  # NumPy's sign of nan is nan
            return r
    zero = lib.ZEROS[x.dtype]
    return lib.subtract(x > zero, x < zero, dtype=x.dtype)


def integer_pairs(rng: Any) -> list[Any]:
    """Samples for operators on pairs of integers."""
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((), (2,)), ((0,), (1,))]
    return [((rng.integers(0, 50, a), rng.integers(0, 5, b)), ()) for a, b in shapes]


def not_derived(aten: str) -> Any:
    """A formula for an operator that PyTorch records but cannot differentiate."""

    def formula(xp: Any, g: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{aten} is not implemented")

    formula.underived = True
    return formula


def refuse_forward(name: str, formula: Any = None) -> Any:
    """A forward-mode rule that raises PyTorch's error; with ``formula`` only for the first operand's tangent."""

    def jvp(xp: Any, tangents: Any, result: Any, *args: Any) -> Any:
        if formula is None or tangents[0] is not None:
            raise no_forward(name)
        return formula(xp, tangents[1], *args)

    return jvp


def number_or_item(value: Any) -> Any:
    """Convert what PyTorch accepts as a number to one: a NumPy number or a 0-dimensional tensor without history."""
    if isinstance(value, np.generic) or (isinstance(value, Tensor) and value.ndim == 0 and value._node is None):
        payload = value._payload if isinstance(value, Tensor) else value
        return payload.item() if isinstance(payload, (np.generic, np.ndarray)) else value
    return value


def plain_number(value: Any) -> Any:
    """``number_or_item`` for a parameter: beside NumPy's numbers, which are no Python numbers, arrays become double."""
    return value if type(value) is float or type(value) is int else number_or_item(value)


def refuse(*refused: Any, kernel: str | None = None) -> Any:
    """A ``check`` for operators that PyTorch does not have for the dtypes of these sets, which may grow."""

    def check(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
        for group in refused:
            if dtype in group:
                raise not_implemented(info, like(dtype), kernel)

    return check


def refuse_complex(kernel: str | None = None, bools: bool = False) -> Any:
    """A ``check`` for operators that PyTorch defines for real numbers only; ``bools`` refuses bools too."""
    return refuse(COMPLEX, BOOLS if bools else NOTHING, kernel=kernel)


def no_complex(text: str, error: type[Exception] = RuntimeError) -> Any:
    """A ``check`` that refuses complex numbers in PyTorch's words, in which ``{}`` is the operator's name."""

    def check(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
        if dtype in COMPLEX:
            raise error(text.format(info.called))

    return check


def like(dtype: Any) -> Tensor:
    """A tensor of a dtype, for the text of an error."""
    return wrap(np.zeros((), dtype))


def refuse_all_but_floats(name: str | None = None, taken: Any = FLOATING) -> Any:
    """A ``check`` for operators that PyTorch defines for floating dtypes only, or for those ``taken``."""

    def check(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
        if dtype not in taken:
            raise not_implemented(info, like(dtype), name)

    return check


def _refuse_narrow(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    """The ``check`` of real functions that PyTorch has no kernel of half precision for."""
    if dtype in COMPLEX or (dtype in FLOATING and dtype.itemsize < 4):
        raise not_implemented(info, like(dtype))


def real_function(kind: Any, names: str, half: bool = True, **facts: Any) -> Any:
    """Declare an elementwise function that PyTorch has for real numbers only, as SciPy has it unless told otherwise.

    ``half``: it also takes float16 and bfloat16.

    One that is in ``special`` alone has no in-place form, and ``Special`` before its name in the name of its node.
    """
    first = names.split(maxsplit=1)[0].rpartition(".")[2]
    if kind is binary:
        facts = {"to_float": True, "number_first": True, "overloads": True, **facts}
    facts = {"libname": f"scipy_{first}", "check": refuse_complex() if half else _refuse_narrow, **facts}
    if names.startswith("special."):
        facts = {"inplace": False, "node": f"Special{camel(first)}Backward0", **facts}
    return kind(names=names, fast=FLOATING if half else SINGLE_OR_DOUBLE, dtypes="fib", **facts)


def on_floats(kernel: str, **declaration: Any) -> Any:
    """``parametric`` for an operator that PyTorch defines for floating dtypes only, by a kernel of this name."""
    return parametric(fast=FLOATING, check=refuse_all_but_floats(kernel), dtypes="f", **declaration)


def python_operator(form: Any, name: str, body: Any = None) -> None:
    """Publish an in-place form as a Python operator (``+=``), which returns NotImplemented for unknown operands.

    ``body``: see ``inplace_with_numbers``.
    """
    if hasattr(form, "as_operator"):
        publish(form.as_operator, f"Tensor.{name}")
        return

    def operator_form(self: Tensor, other: Any) -> Any:
        other = python_operand(other)
        return other if other is NotImplemented else form(self, other)

    operator_form.__name__ = operator_form.__qualname__ = name
    operator_form.__module__ = form.__module__
    operator_form.__doc__ = f"In-place form of ``{name.strip('_')[1:]}``."
    publish(operator_form if body is None else inplace_with_numbers(operator_form, body), f"Tensor.{name}")


def reflected(fn: Any, name: str, unbound: Any = None) -> None:
    """Publish a reflected operator such as ``__rmod__``, which takes a Python number on the left.

    ``unbound`` handles a call by the class on what is no tensor, which else is as with the tensor on the left.
    """

    def form(self: Tensor, other: Any) -> Any:
        if not isinstance(self, Tensor) and (unbound or not isinstance(other, Tensor)):
            return unbound(None, self, other) if unbound else NotImplemented
        if isinstance(other, Tensor):
            return fn(other, self)
        other = number_or_item(other)
        if type(other) not in PYTHON_NUMBERS:
            return NotImplemented
        return fn(cast_operand(other, common_dtype((self, other))), self)

    form.__name__ = form.__qualname__ = name
    form.__module__ = fn.__module__
    form.__doc__ = f"``{name.strip('_')[1:]}`` with a number on the left."
    publish(form, f"Tensor.{name}")


def activation(names: str, inplace: str = "") -> Any:
    """Decorator: publish a function, handle its ``inplace=``, and publish its in-place form under its own names."""

    def decorate(fn: Any) -> Any:
        if inplace:
            name = inplace.split(maxsplit=1)[0].rpartition(".")[2]
            publish(inplace_of(fn, name), inplace)
        return public(names)(fn)

    return decorate


def floats_only(input: Any, name: str, kernel: str | None = None) -> None:
    """Raise PyTorch's error unless ``input`` is a tensor of a real floating dtype."""
    if type(input) is Tensor and input._payload.dtype is FLOAT32:
        return
    if logical_dtype(expect_tensor(name, "input", 1, input)) not in FLOATING:
        raise not_implemented(REGISTRY["relu"], input, kernel or f"{name}_cpu")

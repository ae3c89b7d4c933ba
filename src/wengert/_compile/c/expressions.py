"""C expressions of elementwise operators: what one element of a result is, from one element of each operand.

``expression`` gives the text for one operator, or ``None`` where there is no rule: then the operator's own function is
called between two pieces of C. A rule is a template: ``{0}`` is the first operand, ``{p0}`` the first parameter as a
number, ``{s}`` the suffix of functions of the type (``f``, ``d``). Rules that depend on parameters are functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays.compiled import SUFFIX

C_TYPES: dict[Any, str] = {
    np.dtype(name): c
    for name, c in {
        "float32": "float", "float64": "double", "bool": "u8", "int8": "int8_t", "uint8": "u8", "int16": "int16_t",
        "int32": "int32_t", "int64": "i64",
    }.items()
}  # fmt: skip


def literal(value: Any, dtype: Any) -> str:
    """A Python number as C, of a dtype; raises OverflowError or ValueError for one that the dtype does not have."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        info = np.iinfo(dtype)
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(value)
        value = int(value)
        if not info.min <= value <= info.max:
            raise OverflowError(value)
        return f"((i64)0x{value & (2**64 - 1):x}LL)" if value < -(2**31) or value >= 2**31 else f"({value})"
    with np.errstate(over="ignore"):
        x = float(np.dtype(dtype).type(value))
    if math.isnan(x):
        return "((float)NAN)" if dtype == np.float32 else "((double)NAN)"
    if math.isinf(x):
        text = "INFINITY" if x > 0 else "-INFINITY"
        return f"((float){text})" if dtype == np.float32 else f"((double){text})"
    return f"({x.hex()}f)" if dtype == np.float32 else f"({x.hex()})"


# Operands are cast to the dtype of the result.
_FLOATS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "rsub": "{1} - {0}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "reciprocal": "1 / {0}",
    "rsqrt": "1 / sqrt_{s}({0})",
    "abs": "abs_{s}({0})",
    "sgn": "sign_{s}({0})",
    "sign": "sign_{s}({0})",
    "relu": "relu_{s}({0})",
    "sigmoid": "sigmoid_{s}({0})",
    "round": "rint_{s}({0})",
    "frac": "{0} - trunc_{s}({0})",
    "maximum": "max_{s}({0}, {1})",
    "minimum": "min_{s}({0}, {1})",
    "_clamp_min_tensor": "max_{s}({0}, {1})",
    "_clamp_max_tensor": "min_{s}({0}, {1})",
    "_clamp_min": "max_{s}({0}, {p0})",
    "_clamp_max": "min_{s}({0}, {p0})",
    "_add_scaled": "{0} + {1} * {p0}",
    "_sub_scaled": "{0} - {1} * {p0}",
    "_rsub_scaled": "{1} - {0} * {p0}",
    "_threshold_backward": "{1} <= {p0} ? 0 : {0}",
    "_threshold": "{0} <= {p0} ? {p1} : {0}",
    "_leaky_relu": "{0} > 0 ? {0} : {0} * {p0}",
    "_prelu_kernel": "{0} > 0 ? {0} : {0} * {1}",
    "_rrelu": "{0} > 0 ? {0} : {0} * {p0}",
    "_rrelu_with_noise": "{0} * {1}",
    "_silu": "{0} * sigmoid_{s}({0})",
    "_mish": "{0} * tanh_{s}(log1p_{s}(exp_{s}({0})))",
    "_log_sigmoid": "min_{s}({0}, 0) - log1p_{s}(exp_{s}(-abs_{s}({0})))",
    "_hardsigmoid": "min_{s}(max_{s}({0} + 3, 0), 6) / 6",
    "_hardswish": "{0} * min_{s}(max_{s}({0} + 3, 0), 6) / 6",
    "_hardshrink": "abs_{s}({0}) <= {p0} ? 0 : {0}",
    "_hardtanh": "min_{s}(max_{s}({0}, {p0}), {p1})",
    "_addcmul": "{0} + {p0} * ({1} * {2})",
    "_addcdiv": "{0} + {p0} * ({1} / {2})",
    "squared_error": "({0} - {1}) * ({0} - {1})",
    "_normal_cdf": "cdf_{s}({0})",
    "deg2rad": "{0} * (T)0.017453292519943295",
    "rad2deg": "{0} * (T)57.29577951308232",
}
for _name in (
    "exp", "sqrt", "tanh", "erf", "log", "floor", "ceil", "trunc", "expm1", "exp2", "log2", "log10", "log1p", "sin",
    "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc",
):  # fmt: skip
    _FLOATS[_name] = _name + "_{s}({0})"

# Operands are cast to the dtype that they have in common; the result is a bool.
_TESTS = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "logical_and": "{0} != 0 && {1} != 0",
    "logical_or": "{0} != 0 || {1} != 0",
    "logical_xor": "({0} != 0) != ({1} != 0)",
    "logical_not": "{0} == 0",
    "isnan": "{0} != {0}",
    "isfinite": "{0} - {0} == 0",
    "isinf": "{0} == INFINITY || {0} == -INFINITY",
    "isposinf": "{0} == INFINITY",
    "isneginf": "{0} == -INFINITY",
}
# Unsigned, since what overflows wraps around.
_INTEGERS = {
    "add": "(uint64_t){0} + (uint64_t){1}",
    "sub": "(uint64_t){0} - (uint64_t){1}",
    "rsub": "(uint64_t){1} - (uint64_t){0}",
    "mul": "(uint64_t){0} * (uint64_t){1}",
    "neg": "-(uint64_t){0}",
    "maximum": "{0} > {1} ? {0} : {1}",
    "minimum": "{0} < {1} ? {0} : {1}",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "bitwise_not": "~{0}",
}
_BOOLS = {
    "add": "{0} | {1}",
    "mul": "{0} & {1}",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "bitwise_not": "!{0}",
}
_POWERS = {2: "{0} * {0}", 3: "{0} * {0} * {0}", 0.5: "sqrt_{s}({0})", -1: "1 / {0}", -2: "1 / ({0} * {0})"}


def _gelu(p: tuple[Any, ...]) -> str:
    if p[0] == "tanh":
        return "(T)0.5 * {0} * (1 + tanh_{s}(({0} + (T)0.044715 * ({0} * {0} * {0})) * (T)0.7978845608028654))"
    return "gelu_{s}({0})"


def _clamp(p: tuple[Any, ...]) -> str:
    return "min_{s}(max_{s}({0}, {p0}), {p1})"


def _elu(p: tuple[Any, ...]) -> str:
    return "{0} <= 0 ? ({p0} * {p1}) * expm1_{s}({0} * {p2}) : {0} * {p1}"


def _celu(p: tuple[Any, ...]) -> str:
    return "{0} <= 0 ? expm1_{s}({0} / {p0}) * {p0} : {0}"


def _softplus(p: tuple[Any, ...]) -> str:
    return "{0} * {p0} > {p1} ? {0} : log1p_{s}(exp_{s}({0} * {p0})) / {p0}"


def _lerp(p: tuple[Any, ...]) -> str:
    return "{0} + {p0} * ({1} - {0})" if p[0] < 0.5 else "{1} - ({1} - {0}) * (1 - {p0})"


_BY_PARAMETERS: dict[str, Callable[[tuple[Any, ...]], str]] = {
    "_gelu": _gelu, "_clamp": _clamp, "_elu": _elu, "_celu": _celu, "_softplus": _softplus, "_lerp_number": _lerp,
}  # fmt: skip
_SELECTS = {"where": (0, "{0} ? {1} : {2}"), "masked_fill": (1, "{1} ? {2} : {0}")}

NAMES = frozenset(
    {*_FLOATS, *_TESTS, *_INTEGERS, *_BOOLS, *_BY_PARAMETERS, *_SELECTS, "pow", "_to_copy", "fill_number", "_rpow"}
)


def _template(name: str, p: tuple[Any, ...], kind: str) -> str | None:
    if kind == "f":
        if name in _BY_PARAMETERS:
            return _BY_PARAMETERS[name](p)
        return _FLOATS.get(name)
    return (_INTEGERS if kind in "iu" else _BOOLS).get(name)


def _power(args: list[Any], s: str) -> str | None:
    if isinstance(args[1], tuple):
        return "pow_{s}({0}, {1})"
    return _POWERS.get(args[1], "pow_{s}({0}, {1})") if not isinstance(args[1], bool) else None


def _cast(operand: Any, want: Any) -> str | None:
    """An operand in another dtype, as NumPy casts it."""
    text, have = operand
    if have == want:
        return text
    if want.kind == "b":
        return f"(u8)({text} != 0)"
    if have.kind == "f" and want.kind in "iu" and want.itemsize < 4:
        return None
    return f"({C_TYPES[want]}){text}"


def expression(name: str, args: list[Any], p: tuple[Any, ...], out: Any) -> str | None:
    """The C expression of an operator's element, of dtype ``out``.

    ``args``: for an operand with elements ``(text, dtype)``; a Python number for a number.
    """
    dtypes = [a[1] for a in args if isinstance(a, tuple)]
    if out not in C_TYPES or any(d not in C_TYPES for d in dtypes):
        return None
    if any(not isinstance(a, (tuple, int, float)) for a in args):
        return None
    if name == "squared_error" and p != (0,):
        return None
    try:
        return _expression(name, args, p, out, dtypes)
    except (OverflowError, ValueError, IndexError, KeyError, TypeError):
        return None


def _expression(name: str, args: list[Any], p: tuple[Any, ...], out: Any, dtypes: list[Any]) -> str | None:
    wants = [out] * len(args)
    if name == "pow" and out.kind == "f":
        template = _power(args, "")
    elif name == "_rpow" and out.kind == "f":
        template = "pow_{s}({p0}, {0})"
    elif name == "_to_copy":
        return _cast(args[0], out)
    elif name == "fill_number":
        return literal(p[0], out)
    elif name in _SELECTS:
        k, template = _SELECTS[name]
        wants[k] = np.dtype(bool)
    elif name in _TESTS and out.kind == "b":
        template = _TESTS[name]
        wants = [_common(args, dtypes)] * len(args)
        if wants[0].kind != "f" and name in ("isfinite", "isinf", "isnan", "isposinf", "isneginf"):
            return None
    else:
        template = _template(name, p, out.kind)
    if template is None:
        return None
    texts = [_cast(a, w) if isinstance(a, tuple) else literal(a, w) for a, w in zip(args, wants, strict=True)]
    if None in texts:
        return None
    numbers = {f"p{k}": literal(v, out) for k, v in enumerate(p) if isinstance(v, (int, float)) and out.kind == "f"}
    text = template.format(*texts, s=SUFFIX.get(out, ""), **numbers)
    c = C_TYPES[out]
    return f"({c})({text.replace('(T)', f'({c})')})"


def _common(args: list[Any], dtypes: list[Any]) -> Any:
    """The dtype in which operands are compared."""
    common = np.result_type(*dtypes)
    if any(isinstance(a, float) for a in args) and common.kind != "f":
        return np.dtype(np.float64)
    return common

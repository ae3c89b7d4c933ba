"""The elementwise kinds: one tensor (``unary``), two (``binary``), one tensor with parameters (``parametric``).

An operator is declared in one place, by kind:

    @unary(grad=lambda xp, g, result: g * result)
    def exp(input): "e to the power of each element."

The kind supplies the rest: the recording function, its backward step, the forward-mode and batching rules,
broadcasting, Python scalars, in-place and ``out=`` forms, and the tests. Names in a formula are PyTorch's
(``self``, ``other``, ``result``, a parameter's name, ``self_shape``); **what a formula names is what is saved**.

A formula runs on plain arrays in an ordinary backward pass (``xp`` is ``RAW``), on Tensors under ``create_graph``
(``T``) and on the values of transforms (``U``); so it may only use Python operators, ``xp`` and shapes.

The texts below are the bodies of hot functions; ``templates`` says how they are put together. ``general`` holds the
kind for everything that is not elementwise, linear or bilinear.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ufunc

from .._arrays.library import INEXACT, constants_for
from .._arrays.threads import both, elementwise, multiply_into
from .._base.registry import RAW, Impl, Operator, place
from .._tape.node import Box, named
from .._tape.saved import is_complex, unbox
from .declare import (
    Formula,
    camel,
    declared,
    edges_of_tensors,
    edges_x,
    edges_xy,
    enter,
    formula_names,
    node_class,
    not_saved,
    number_second,
    publish,
    release_of,
    same,
    saved_for,
)
from .slow_path import (
    cast,
    default_np,
    logical_dtype,
    refuse_quietly,
    second_of_method,
    second_operand,
    slow_operator,
)
from .templates import CHECKED, END, LARGE_FORM, NODE, NODE_XY, RESULT, UNRECORDED, Shape, block, boxed, hot, variant

SCALARS = frozenset((float, int))
FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


# ---------------------------------------------------------------------------------------------------------- one tensor
def unary_body(
    *,
    records: bool,
    keep_self: bool = False,
    keep_result: bool = False,
    check: bool,
    blocks: bool = False,
    out: bool = False,
    modes: bool = False,
) -> str:
    """The recording function of an operator on one tensor."""
    compute = block(
        """
try:
    try:
        if type(a) is ndarray:
            @large
            t._a = {r}raw(a)
        else:
            t._a = {r}table[type(a)](a)
    except ARITHMETIC:
        t._a = {r}silently(table[type(a)], a)
except TypeError as error:
    raise unsupported(info, input, error) from None
""",
        large=block(LARGE_FORM, a="a", args="input") if blocks else "",
        r="r = " if keep_result else "",
    )
    unrecorded = block(
        """
@every
@check
t = make()
t._m = t._fn = None
@compute
return t
""",
        every="if EVERY:\n    return slow(info, (input,))" if modes else "",
        check="if a.dtype not in fast:\n    return care(info, input)" if check else "",
        compute=compute,
    )
    recorded = block(
        """
if fx is None:
    @unrecorded
@mode
t = make()
t._m = None
@compute
@node
@x
@result
@end
""",
        unrecorded=unrecorded,
        mode="if M:\n    return slow(info, (input,))" if modes else "",
        compute=compute,
        node=NODE,
        x=boxed("x", "input") if keep_self else "",
        result=RESULT if keep_result else "",
        end=END,
    )
    return block(
        """
@out
try:
    @fx
    a = input._a
except AttributeError:
    return {every}first_operand(info, input)
@rest
""",
        out="if out is not None:\n    return slow(info, (input,), out)" if out else "",
        fx="fx = input._fn" if records else "",
        every="slow(info, (input,)) if EVERY else " if modes else "",
        rest=recorded if records else unrecorded,
    )


def unary_backward(*, slot: str) -> str:
    """The backward step of an operator that keeps its operand (slot ``x``), its result (``r``) or nothing."""
    if not slot:
        return "if xp is not RAW:\n    return transformed(n, xp, g, keep)\nreturn (n.fx, grad(xp, g))"
    return block(
        """
if xp is not RAW:
    return transformed(n, xp, g, keep)
b = n.{slot}
@checked
gx = grad(xp, g, b.a)
if not keep:
    n.{slot} = FREED
return (n.fx, gx)
""",
        checked=block(CHECKED, box="b"),
        slot=slot,
    )


def unary(
    grad: Formula | None = None,
    *,
    names: str | None = None,
    node: str | None = None,
    to_float: bool = True,
    holomorphic: bool = True,
    inplace: bool = True,
    integers: bool = False,
    blocks: bool = True,
    fast: Any = INEXACT,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Elementwise in one tensor.

    ``to_float``: integers become the default dtype first, as in PyTorch. ``holomorphic``: the formula holds the
    complex derivative and the kind conjugates. ``grad=None``: no derivative, the result never requires grad.
    ``libname``: the array library's name of the function if it is another and the declaration has no body.
    ``integers``: integers and bools take the declaration's ``integer`` body. ``fast``: the dtypes that need no care.
    """
    uses = formula_names(grad, ("self", "result"))
    keep_self, keep_result = "self" in uses, "result" in uses

    def declare(body: Any) -> Any:
        info = declared(unary, body, facts, batch="elementwise", to_float=to_float, integers=integers)
        asked = {"records": grad is not None, "check": to_float or integers}
        asked |= {"keep_self": keep_self, "keep_result": keep_result}

        def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            conj = holomorphic and is_complex(g)
            values = {}
            if keep_self:
                values["self"] = unbox(n, n.x, n.fx, xp)
            if keep_result:
                values["result"] = unbox(n, n.r, n, xp)
            gx = grad(xp, xp.conj(g) if conj else g, **values)
            if not keep:
                n.release()
            return (n.fx, xp.conj(gx) if conj else gx)

        def step(formula: Any) -> Any:
            if keep_self and keep_result:
                return transformed
            shape = Shape(unary_backward, "n, xp, g, keep", slot="x" * keep_self + "r" * keep_result)
            return hot(f"{info.name}_backward", shape, lambda: {"grad": formula, "transformed": transformed})

        N = None
        if grad is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx",) + ("x",) * keep_self + ("r",) * keep_result,
                edges=edges_x,
                backward=step(grad),
                release=release_of("x" * keep_self + "r" * keep_result),
                saved=saved_for({"self": "x"} if keep_self else {}, {"result": "r"} if keep_result else {}),
                saved_names=uses,
            )

        def scope() -> dict[str, Any]:
            known = {"info": info, "N": N, "raw": getattr(RAW, info.name), "table": Impl(info.name), "fast": fast}
            large = Shape(unary_body, "input", **asked)
            return {**known, "large": hot(info.name, large, lambda: {**known, **_in_blocks(known, step, grad)})}

        whole = {**asked, "blocks": blocks}
        op = hot(info.name, Shape(unary_body, "input, *, out=None", **whole, modes=True, out=True), scope, info.doc)
        enter(info, op, N, partial(_unary_jvp, grad, uses), Shape(unary_body, "input", **whole))
        publish(info, names, Shape(unary_body, "input", **whole, modes=True), inplace=inplace)
        return op

    return declare


def _unary_jvp(grad: Any, uses: tuple[str, ...], xp: Any, tangents: Any, result: Any, self: Any) -> Any:
    values = {"self": self, "result": result}
    return grad(xp, tangents[0], **{name: values[name] for name in uses})


def _in_blocks(known: dict[str, Any], step: Callable[..., Any], *formulas: Any) -> dict[str, Any]:
    """What the same text names for large arrays: the function and the backward step go block by block."""
    N = known["N"]
    if N is not None:
        blocked = step(*map(_blocked, formulas))
        N = type(N.__name__, (N,), {"__slots__": (), "__module__": N.__module__, "backward": blocked})
    return {"raw": partial(elementwise, known["raw"]), "N": N}


def _blocked(formula: Any) -> Any:
    """A derivative formula that runs block by block."""
    if formula is None or formula is same:
        return formula
    return lambda xp, g, *values: elementwise(partial(formula, xp), g, *values)


# --------------------------------------------------------------------------------------------------------- two tensors
def binary_body(
    *,
    records: bool,
    x_uses: str = "",
    y_uses: str = "",
    check: bool = False,
    number: bool = False,
    keep_number: bool = False,
    blocks: bool = False,
    out: bool = False,
    modes: bool = False,
    first: str = "input",
) -> str:
    """The recording function of an operator on two tensors.

    ``x_uses``, ``y_uses``: what the operands' formulas name, ``x`` and ``y`` for the operands, ``r`` for the result.
    ``number``: a Python number may stand in the second operand's place. ``first``: the first parameter's name.
    """
    both_use = x_uses + y_uses
    by_shape = "x" not in both_use and "y" not in both_use
    args = f"{first}, other"
    keep = "r = " if "r" in both_use else ""

    def compute(y: str, plain: str, r: str = "") -> str:
        large = block(LARGE_FORM, a="xa", args=args) if blocks else ""
        return block(_COMPUTE_XY, y=y, plain=plain, r=r, large=large)

    def kept(slot: str, uses: str, otherwise: str) -> str:
        operand = first if slot == "x" else "other"
        return boxed(slot, operand) if slot in uses else f"n.{slot} = {otherwise}"

    of_number = block(
        _NUMBER,
        compute=compute("known[other]", "other"),
        recorded=compute("constants[xa.dtype][other]", "other", keep),
        r=keep,
        node=NODE_XY.replace("n.fy = fy", "n.fy = None"),
        x=kept("x", x_uses, "None"),
        kept="other" if keep_number else "None",
    )
    of_tensors = block(
        _TENSORS,
        check=_CHECK if check else "",
        shapes=_BIAS if by_shape else "",
        compute=compute("ya", "ya"),
        recorded=compute("ya", "ya", keep),
        r=keep,
        node=NODE_XY,
        x1=kept("x", x_uses, "xa.shape"),
        y1=kept("y", x_uses, "None"),
        x2=kept("x", y_uses, "None"),
        y2=kept("y", y_uses, "ya.shape"),
        x3="n.x = sx" if by_shape else kept("x", both_use, "xa.shape"),
        y3="n.y = sy" if by_shape else kept("y", both_use, "ya.shape"),
    )
    text = block(
        _BINARY if records else _BINARY_UNRECORDED,
        out=f"if out is not None:\n    return slow(info, ({args}), out)" if out else "",
        number=block("if type(other) is not Tensor and type(other) in numbers:\n    @number\nelse:\n    @tensors",
                     number=of_number, tensors=of_tensors) if number else of_tensors,
        only_number=_NUMBER_UNRECORDED if number else "",
        only_tensors=block("else:\n    @tensors" if number else "@tensors",
                           tensors=block(_TENSORS_UNRECORDED, check=_CHECK if check else "")),
        compute=compute("ya", "ya"),
        result=RESULT if keep else "",
        end=END,
    )  # fmt: skip
    every = f"if EVERY:\n    return slow(info, ({args}))" if modes else ""
    mode = f"if M:\n    return slow(info, ({args}))" if modes else ""
    or_slow = f"slow(info, ({args})) if EVERY else " if modes and records else ""
    return block(text, every=every, mode=mode, or_slow=or_slow, first=first)


_COMPUTE_XY = """
if type(xa) is ndarray:
    @large
    t._a = {r}raw(xa, {y})
else:
    t._a = {r}fn(xa, {plain})
"""
_CHECK = "if xa.dtype not in pairs:\n    return care(info, {first}, other)"
_BIAS = """
if fx is not None and fy is not None:
    sx = xa.shape
    sy = ya.shape
    if sx != sy and sx and sx[0] == 1 and len(sx) == len(sy) + 1 and type(ya) is ndarray:
        ya = ya[None]  # a bias on a batch of one: half the price of NumPy's broadcasting
"""
_BINARY = """
@out
try:
    fx = {first}._fn
    xa = {first}._a
except AttributeError:
    return {or_slow}first_operand(info, {first}, other)
@number
@result
@end
"""
_NUMBER = """
if fx is None:
    @every
    known = constants.get(xa.dtype)
    if known is None:
        return care(info, {first}, other)
    t = make()
    t._m = t._fn = None
    try:
        @compute
    except ARITHMETIC:
        t._a = silently(fn, xa, other)
    return t
@mode
t = make()
t._m = None
try:
    @recorded
except ARITHMETIC:
    t._a = {r}silently(fn, xa, other)
@node
@x
n.y = {kept}
"""
_TENSORS = """
try:
    fy = other._fn
    ya = other._a
except AttributeError:
    return {or_slow}reject(info, {first}, other)
if xa.dtype is not ya.dtype:
    return {or_slow}mixed(info, {first}, other)
if fx is None and fy is None:
    @every
    @check
    t = make()
    t._m = t._fn = None
    try:
        @compute
    except (ValueError, TypeError) as error:
        return reject(info, {first}, other, error)
    except ARITHMETIC:
        t._a = silently(fn, xa, ya)
    return t
@mode
t = make()
t._m = None
@shapes
try:
    @recorded
except (ValueError, TypeError) as error:
    return reject(info, {first}, other, error)
except ARITHMETIC:
    t._a = {r}silently(fn, xa, ya)
@node
if fy is None:
    @x1
    @y1
elif fx is None:
    @x2
    @y2
else:
    @x3
    @y3
"""
_BINARY_UNRECORDED = """
@out
@every
try:
    xa = {first}._a
except AttributeError:
    return first_operand(info, {first}, other)
@only_number
@only_tensors
t = make()
t._m = t._fn = None
try:
    @compute
except (ValueError, TypeError) as error:
    return reject(info, {first}, other, error)
except ARITHMETIC:
    t._a = silently(fn, xa, ya)
return t
"""
_NUMBER_UNRECORDED = """
if type(other) is not Tensor and type(other) in numbers:
    if xa.dtype not in fast:
        return care(info, {first}, other)
    ya = other
"""
_TENSORS_UNRECORDED = """
try:
    ya = other._a
except AttributeError:
    return reject(info, {first}, other)
if xa.dtype is not ya.dtype:
    return mixed(info, {first}, other)
@check
"""


def binary_backward(*, x_formula: str, y_formula: str) -> str:
    """The backward step of an operator on two tensors whose formulas name operands only.

    A formula is the operands that it names, ``x``, ``y``, ``xy`` or nothing, and ``same`` where it gives ``g`` back.
    """

    def called(slot: str, names: str) -> str:
        return "g" if names == "same" else f"g{slot}_({', '.join(['xp', 'g', *names])})"

    def operand(slot: str) -> str:
        return block(_OPERAND, slot=slot, checked=block(CHECKED, box=slot))

    def reduced(slot: str) -> str:
        return block(_REDUCED, slot=slot)

    return block(
        _BINARY_BACKWARD,
        operand_x=operand("x"),
        operand_y=operand("y"),
        gx=called("x", x_formula),
        gy=called("y", y_formula),
        reduced_x=reduced("x"),
        reduced_y=reduced("y"),
        freed="if not keep:\n    if boxed_x:\n        n.x = FREED\n    if boxed_y:\n        n.y = FREED",
    )


_OPERAND = """
if boxed_{slot}:
    @checked
    {slot} = {slot}.a
"""
_REDUCED = """
shape = {slot}.shape if boxed_{slot} else {slot}
if shape is not None and g{slot}.shape != shape:
    g{slot} = xp.sum_to(g{slot}, shape)
"""
_BINARY_BACKWARD = """
if xp is not RAW:
    return transformed(n, xp, g, keep)
x = n.x
y = n.y
boxed_x = type(x) is Box
boxed_y = type(y) is Box
@operand_x
@operand_y
fx = n.fx
if fx is not None:
    gx = {gx}
    @reduced_x
    fy = n.fy
    if fy is None:
        @freed
        return (fx, gx)
gy = {gy}
@reduced_y
@freed
return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
"""


def binary(
    self: Formula | None = None,
    other: Formula | None = None,
    *,
    names: str | None = None,
    node: str | None = None,
    to_float: bool = False,
    holomorphic: bool = True,
    inplace: bool = True,
    integers: bool = False,
    blocks: bool = True,
    fast: Any = INEXACT,
    pairs: Any = None,
    numbers: Any = SCALARS,
    scalar_node: str | None = None,
    dunder: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Elementwise in two broadcast tensors, or a tensor and a Python number.

    ``self`` and ``other`` are the derivative formulas (names: ``self, other, result``); without them the result never
    requires grad. ``to_float``: two integer tensors become the default dtype first. ``integers``: the array library's
    function differs from PyTorch's on integers and bools; the declaration's ``integer`` body handles them. ``fast``:
    the dtypes that need no care (see ``care``), ``pairs``: those of two tensors if they are others. ``scalar_node``:
    the node's name where the second operand is a number. ``numbers``: the types of number that the second operand may
    be; empty where PyTorch wants a tensor. ``dunder``: the Python operator's method.
    Broadcasting is undone here, not in a formula.
    """
    formulas = (self, other)
    x_names, y_names = (formula_names(f, ("self", "other", "result")) for f in formulas)
    used = tuple(dict.fromkeys(x_names + y_names))
    keep_result = "result" in used

    def declare(body: Any) -> Any:
        info = declared(
            binary, body, facts, arity=2, batch="elementwise", to_float=to_float, integers=integers, numbers=numbers
        )
        info.underived = tuple(k for k, f in enumerate(formulas) if getattr(f, "underived", False))
        asked = {
            "records": self is not None,
            "x_uses": _slots(x_names),
            "y_uses": _slots(y_names),
            "check": to_float or integers,
            "number": bool(numbers),
            "keep_number": "other" in x_names or scalar_node is not None,  # the node's name tells whether there was one
        }
        transformed = _transformed_xy(formulas, (x_names, y_names), keep_result, holomorphic)

        def step(*formulas: Any) -> Any:
            if keep_result:
                return transformed
            x_formula, y_formula = ("same" if f is same else _slots(formula_names(f)) for f in (self, other))
            shape = Shape(binary_backward, "n, xp, g, keep", x_formula=x_formula, y_formula=y_formula)
            scope = {"gx_": formulas[0], "gy_": formulas[1], "transformed": transformed}
            return hot(f"{info.name}_backward", shape, lambda: scope)

        N = None
        if self is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "fy", "x", "y") + ("r",) * keep_result,
                edges=edges_of_tensors if scalar_node else edges_xy,
                backward=step(*formulas),
                release=release_of("xyr" if keep_result else "xy"),
                saved=saved_for({name: _SLOT[name] for name in used if name != "result"},
                                {"result": "r"} if keep_result else {}),
                saved_names=used,
                **({"looked_at": _named_by_operand(scalar_node)} if scalar_node else {}),
            )  # fmt: skip

        def scope() -> dict[str, Any]:
            raw = getattr(RAW, info.name)
            fn = info.symbol or ByFirst(info.name)
            known = {
                "info": info, "N": N, "raw": raw, "fn": fn, "fast": fast, "pairs": fast if pairs is None else pairs,
                "numbers": numbers, "constants": constants_for(fast, isinstance(raw, ufunc)), "reject": second_operand,
            }  # fmt: skip
            large = Shape(binary_body, "input, other", **asked)
            return {**known, "large": hot(info.name, large, lambda: {**known, **_in_blocks(known, step, *formulas)})}

        whole = {**asked, "blocks": blocks}
        hot_shape = Shape(binary_body, "input, other, *, out=None", **whole, out=True, modes=True)
        op = hot(info.name, hot_shape, scope, info.doc)
        enter(info, op, N, partial(_binary_jvp, formulas, (x_names, y_names)), Shape(binary_body, "input, other", **whole))
        method = Shape(binary_body, "input, other", **whole, modes=True)
        publish(info, names, method, inplace=inplace, reject=second_of_method)
        if dunder:
            shape = Shape(binary_body, "self, other", **whole, modes=True, first="self")
            place(variant(op, shape, dunder, reject=refuse_quietly, slow=slow_operator), f"Tensor.{dunder}")
        return op

    return declare


_SLOT = {"self": "x", "other": "y", "result": "r"}


def _slots(names: tuple[str, ...]) -> str:
    return "".join(_SLOT[name] for name in sorted(names, key=list(_SLOT).index))


def _transformed_xy(formulas: Any, names: Any, keep_result: bool, holomorphic: bool) -> Any:
    """The backward step for all but plain arrays, and for formulas that name the result."""

    def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = holomorphic and is_complex(g)
        if conj:
            g = xp.conj(g)
        x, y = n.x, n.y
        values = {"self": unbox(n, x, n.fx, xp), "other": unbox(n, y, n.fy, xp)}
        if keep_result:
            values["result"] = unbox(n, n.r, n, xp)
        pairs: list[Any] = []
        for edge, formula, used, kept in zip((n.fx, n.fy), formulas, names, (x, y), strict=True):
            if edge is not None:
                d = formula(xp, g, **{name: values[name] for name in used})
                shape = kept.a.shape if isinstance(kept, Box) else kept
                if type(shape) is tuple and d.shape != shape:
                    d = xp.sum_to(d, shape)
                pairs += (edge, xp.conj(d) if conj else d)
        if not keep:
            n.release()
        return tuple(pairs)

    return transformed


def _binary_jvp(formulas: Any, names: Any, xp: Any, tangents: Any, result: Any, self: Any, other: Any) -> Any:
    values = {"self": self, "other": other, "result": result}
    total = None
    for tangent, formula, used in zip(tangents, formulas, names, strict=True):
        if tangent is not None:
            d = formula(xp, tangent, **{name: values[name] for name in used})
            if d.shape != result.shape:
                d = xp.expand(d, result.shape)
            total = d if total is None else total + d
    return total


def _named_by_operand(scalar_node: str) -> Any:
    def looked_at(n: Any) -> Any:
        return named(n, scalar_node) if number_second(n) and type(n).__name__ != scalar_node else n

    return looked_at


class ByFirst:
    """The raw function of an operator, by the type of its first operand."""

    def __init__(self, name: str) -> None:
        self.table = Impl(name)

    def __call__(self, x: Any, y: Any) -> Any:
        return self.table[type(x)](x, y)


# ----------------------------------------------------------------------------------------- one tensor, with parameters
def parametric_body(
    *,
    records: bool,
    keep_self: bool = False,
    keep_result: bool = False,
    slope: bool = False,
    check: bool = False,
    to_float: bool = False,
    modes: bool = False,
) -> str:
    """The recording function of an operator on one tensor with parameters."""
    checked = block(
        """
if a.dtype not in accepted:
    dtype = logical_dtype(input)
    @check
    @to_float
""",
        check="info.check(info, input, None, dtype)" if check else "",
        to_float="if dtype not in INEXACT:\n    return info.op(cast(input, default_np()), *p)" if to_float else "",
    )
    recorded = block(
        "if fx is None:\n    t._fn = None\n    return t\n@node\nn.p = p\n@x\n@result\n@end",
        node=NODE,
        x=boxed("x", "input") if keep_self else "",
        result=RESULT if keep_result else "n.r = derivative" if slope else "",
        end=END,
    )
    return block(
        _PARAMETRIC,
        every="if EVERY:\n    return slow(info, (input, *p))" if modes else "",
        fx="fx = input._fn" if records else "",
        mode="if fx is not None and M:\n    return slow(info, (input, *p))" if modes and records else "",
        check=checked if check or to_float else "",
        derivative="derivative = None" if slope else "",
        large=_WITH_SLOPE if slope else "t._a = {r}elementwise(raw, a, *p)",
        recorded=recorded if records else UNRECORDED,
        r="r = " if keep_result else "",
    )


_PARAMETRIC = """
@every
try:
    @fx
    a = input._a
except AttributeError:
    return first_operand(info, input, *p)
@mode
@check
t = make()
t._m = None
@derivative
try:
    if type(a) is ndarray and a.size >= LARGE:
        @large
    else:
        t._a = {r}table[type(a)](a, *p)
except ARITHMETIC:
    t._a = {r}silently(table[type(a)], a, *p)
@recorded
"""
_WITH_SLOPE = """
if fx is not None and a.dtype in FLOATS:
    t._a, derivative = both(with_slope, a, *p)
else:
    t._a = elementwise(raw, a, *p)
"""


def parametric_backward(*, keep_self: bool, keep_result: bool, with_p: bool, slope: bool) -> str:
    """The backward step of an operator on one tensor with parameters."""
    values = ["x"] * keep_self + ["r"] * keep_result + ["*n.p"] * with_p
    return block(
        _PARAMETRIC_BACKWARD,
        x=block(_SAVED, name="x", checked=block(CHECKED, box="x")) if keep_self else "",
        r=block(_SAVED, name="r", checked=block(CHECKED, box="r")) if keep_result else "",
        large=_BY_SLOPE if slope else "gx = {in_blocks}",
        in_blocks=", ".join(["elementwise(partial(grad, xp), g", *values]) + ")",
        whole=", ".join(["grad(xp, g", *values]) + ")",
    )


_SAVED = "{name} = n.{name}\n@checked\n{name} = {name}.a"
_PARAMETRIC_BACKWARD = """
if xp is not RAW:
    return transformed(n, xp, g, keep)
@x
@r
if g.size >= LARGE:
    @large
else:
    gx = {whole}
if not keep:
    n.release()
return (n.fx, gx)
"""
_BY_SLOPE = """
derivative = n.r
if derivative is None or g.dtype is not derivative.dtype:
    gx = {in_blocks}
elif keep:
    gx = elementwise(multiply, g, derivative)
else:
    gx = multiply_into(derivative, g)
"""


def parametric(
    grad: Formula | None = None,
    *,
    slope: Any = None,
    names: str | None = None,
    node: str | None = None,
    to_float: bool = False,
    fast: Any = None,
    holomorphic: bool = True,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Elementwise in one tensor, with parameters behind it: a slope, bounds, a number as exponent.

        @parametric(grad=lambda xp, g, self, negative_slope: xp.where(self > 0, g, g * negative_slope))
        def _leaky_relu(lib, self, negative_slope): ...

    All are given by position. ``grad`` names, after ``xp`` and ``g``: ``self`` and ``result`` if it needs them, in
    this order, then either all of the parameters or none. To the registry it is of the general kind.

    ``slope``: a body that gives the result and the derivative, of many real floats, where both cost little more than
    one; the derivative is kept, and all that is left to do is a product. ``to_float``: integers become the default
    dtype first. ``fast``: the dtypes that need no look at ``check(info, x, None, dtype)``, which raises PyTorch's error
    for a dtype that the operator refuses. ``saved_as``: PyTorch's names of saved values where they are not those of
    the formula.
    """
    uses = formula_names(grad)
    keep_self, keep_result = "self" in uses, "result" in uses
    kept = ("self",) * keep_self + ("result",) * keep_result
    with_p = len(uses) > len(kept)

    def declare(body: Any) -> Any:
        info = declared(parametric, body, facts, kind="general", batch="elementwise", to_float=to_float)
        if grad is not None and uses != kept + info.params[1:] * with_p:
            raise TypeError(f"the formula of {info.name} names {uses}: not {kept}, then all parameters or none")
        kept_slots = "x" * keep_self + "r" * (keep_result or slope is not None)

        def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            conj = holomorphic and is_complex(g)
            values = [unbox(n, n.x, n.fx, xp)] if keep_self else []
            if keep_result:
                values.append(unbox(n, n.r, n, xp))
            gx = grad(xp, xp.conj(g) if conj else g, *values, *(n.p if with_p else ()))  # type: ignore[misc]
            if not keep:
                n.release()
            return (n.fx, xp.conj(gx) if conj else gx)

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, *p: Any) -> Any:
            values = (self,) * keep_self + (result,) * keep_result
            return grad(xp, tangents[0], *values, *(p if with_p else ()))  # type: ignore[misc]

        N = None
        if grad is not None:
            saves = {"keep_self": keep_self, "keep_result": keep_result, "slope": slope is not None}
            step = Shape(parametric_backward, "n, xp, g, keep", with_p=with_p, **saves)
            of_step = {"grad": grad, "transformed": transformed, "multiply": np.multiply, "partial": partial}
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "p", *kept_slots),
                edges=edges_x,
                backward=hot(f"{info.name}_backward", step, lambda: {**_NAMES, **of_step}),
                release=release_of(kept_slots),
                saved=_saved_parameters(info, kept),
                saved_names=(*kept, *info.params[1:]),
            )
        asked = {"records": grad is not None, "check": fast is not None, "to_float": to_float}
        asked |= saves if grad is not None else {}

        def scope() -> dict[str, Any]:
            return {
                **_NAMES, "info": info, "N": N, "table": Impl(info.name), "raw": getattr(RAW, info.name),
                "accepted": INEXACT if fast is None else fast,
                "with_slope": None if slope is None else partial(slope, RAW.lib),
            }  # fmt: skip

        op = hot(info.name, Shape(parametric_body, "input, *p", **asked, modes=True), scope, info.doc)
        enter(info, op, N, jvp, Shape(parametric_body, "input, *p", **asked))
        if names:
            place(op, names)
        return op

    return declare


def _saved_parameters(info: Operator, kept: tuple[str, ...]) -> Any:
    """The look-up behind ``grad_fn._saved_NAME``."""
    values = saved_for({"self": "x"} if "self" in kept else {}, {"result": "r"} if "result" in kept else {})

    def saved(n: Any, name: str) -> Any:
        source = {info.saved_as.get(key, key): key for key in (*kept, *info.params[1:])}.get(name)
        if source is None:
            raise not_saved(n, name)
        return values(n, source) if source in kept else n.p[info.params.index(source) - 1]

    return saved


_NAMES = {
    "FLOATS": FLOATS, "INEXACT": INEXACT, "both": both, "cast": cast, "default_np": default_np,
    "elementwise": elementwise, "logical_dtype": logical_dtype, "multiply_into": multiply_into,
}  # fmt: skip

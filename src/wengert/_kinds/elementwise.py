"""The kinds of operators: the one hot module.

An operator is declared in one place, by kind:

    @unary(grad=lambda xp, g, result: g * result)
    def exp(input): "e to the power of each element."

The kind supplies the rest: the recording function, its backward step, the forward-mode and batching rules,
broadcasting, Python scalars, in-place and ``out=`` forms, and the tests. Names in a formula are PyTorch's
(``self``, ``other``, ``result``, a parameter's name, ``self_shape``); **what a formula names is what is saved**.

A formula runs on plain arrays in an ordinary backward pass (``xp`` is ``RAW``), on Tensors under ``create_graph``
(``T``) and on the values of transforms (``U``); so it may only use Python operators, ``xp`` and shapes.

The templates below are closures; ``own`` gives each operator a copy with its own code object, so that a traceback
names the operator and CPython's inline caches are its own. Nothing is added to them without a measurement: every
line costs every program. ``_kinds.general`` holds the kinds for everything that is not elementwise, linear or bilinear.

NOTE [ The hot path ]
    What an operator on small tensors pays for, in order: one test for modes (``M``), its inputs' slots, one identity
    test of dtypes (which also finds the values of transforms: their dtype is another object), the array library's
    function, one Tensor, one Node with the user's line, and the boxes of what the formula names.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

from numpy import ndarray, ufunc

from .._arrays.library import ARITHMETIC, INEXACT, constants_for, silently
from .._arrays.threads import LARGE
from .._base import errors as lines
from .._base.modes import EVERY, M
from .._base.registry import RAW, Impl, own, place
from .._tape.node import FREED, Box, box_of, named, ticks
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import Tensor, make
from .declare import (
    Formula,
    Lazily,
    blocked_form,
    blocked_formula,
    camel,
    edges_of_tensors,
    edges_xy,
    finish,
    formula_names,
    info_for,
    node_class,
    number_second,
    publish,
    saved_for,
)
from .folding import folded
from .slow_path import care, first_operand, mixed, refuse_quietly, second_operand, slow, slow_operator
from .unary import unary as unary  # noqa: PLC0414  both elementwise kinds are imported from here

SCALARS = frozenset((float, int))


# --------------------------------------------------------------------------------------------- two tensors, elementwise
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
    be; empty where PyTorch wants a tensor.
    Broadcasting is undone here, not in a formula.
    """
    gx_, gy_ = self, other
    ux, uy = formula_names(gx_), formula_names(gy_)
    assert set(ux + uy) <= {"self", "other", "result"}, (ux, uy)
    code_x, code_y = _call_code(gx_, ux), _call_code(gy_, uy)
    xx, xy, yx, yy = "self" in ux, "other" in ux, "self" in uy, "other" in uy
    both_x, both_y = xx or yx, xy or yy
    by_shape = not (both_x or both_y)
    keep_result = "result" in ux + uy
    keep_number = xy or scalar_node is not None  # its node's name tells whether there was one
    check_dtype = to_float or integers
    direct = fast if pairs is None else pairs

    def declare(decl: Any) -> Any:
        info = info_for(
            decl,
            "binary",
            {
                "arity": 2,
                "batch": "elementwise",
                "to_float": to_float,
                "integers": integers,
                "numbers": numbers,
                **facts,
            },
        )
        info.underived = tuple(k for k, f in enumerate((gx_, gy_)) if getattr(f, "underived", False))
        name = info.name
        symbol = info.__dict__.get("symbol")
        fn = symbol or ByFirst(name)
        reject = second_operand

        def general(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            conj = holomorphic and is_complex(g)
            if conj:
                g = xp.conj(g)
            x, y = n.x, n.y
            sx = x.a.shape if isinstance(x, Box) else x
            sy = y.a.shape if isinstance(y, Box) else y
            values = {"self": unbox(n, x, n.fx, xp), "other": unbox(n, y, n.fy, xp)}
            if keep_result:
                values["result"] = unbox(n, n.r, n, xp)
            pairs: list[Any] = []
            for edge, formula, names_, shape in ((n.fx, gx_, ux, sx), (n.fy, gy_, uy, sy)):
                if edge is not None:
                    d = formula(xp, g, **{k: values[k] for k in names_})  # type: ignore[misc]
                    if type(shape) is tuple and d.shape != shape:
                        d = xp.sum_to(d, shape)
                    pairs += (edge, xp.conj(d) if conj else d)
            if not keep:
                n.release()
            return tuple(pairs)

        def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            if keep_result or xp is not RAW:
                return general(n, xp, g, keep)
            x = n.x
            y = n.y
            boxed_x = type(x) is Box
            boxed_y = type(y) is Box
            if boxed_x:
                c = x.cell
                if c is not None and c.seq > n.seq:
                    stale(n, x)
                x = x.a
            if boxed_y:
                c = y.cell
                if c is not None and c.seq > n.seq:
                    stale(n, y)
                y = y.a
            fx = n.fx
            if fx is not None:
                if code_x == 2:
                    gx = gx_(xp, g, y)
                elif code_x < 0:
                    gx = g
                elif code_x == 0:
                    gx = gx_(xp, g)
                elif code_x == 1:
                    gx = gx_(xp, g, x)
                else:
                    gx = gx_(xp, g, x, y)
                shape = x.shape if boxed_x else x
                if shape is not None and gx.shape != shape:
                    gx = xp.sum_to(gx, shape)
                fy = n.fy
                if fy is None:
                    if not keep:
                        if boxed_x:
                            n.x = FREED
                        if boxed_y:
                            n.y = FREED
                    return (fx, gx)
            if code_y == 1:
                gy = gy_(xp, g, x)
            elif code_y < 0:
                gy = g
            elif code_y == 0:
                gy = gy_(xp, g)
            elif code_y == 2:
                gy = gy_(xp, g, y)
            else:
                gy = gy_(xp, g, x, y)
            shape = y.shape if boxed_y else y
            if shape is not None and gy.shape != shape:
                gy = xp.sum_to(gy, shape)
            if not keep:
                if boxed_x:
                    n.x = FREED
                if boxed_y:
                    n.y = FREED
            return (n.fy, gy) if fx is None else (fx, gx, fy, gy)

        def release(n: Any) -> None:
            if type(n.x) is Box:
                n.x = FREED
            if type(n.y) is Box:
                n.y = FREED
            if keep_result:
                n.r = FREED

        N = None
        if gx_ is not None:
            N = node_class(
                node or camel(name) + "Backward0",
                ("fx", "fy", "x", "y") + ("r",) * keep_result,
                edges=edges_of_tensors if scalar_node else edges_xy,
                backward=own(folded(backward), f"{name}_backward"),
                release=release,
                saved=saved_for(
                    {k: v for k, v in (("self", "x"), ("other", "y")) if k in ux + uy},
                    {"result": "r"} if keep_result else {},
                ),
                saved_names=tuple(dict.fromkeys(ux + uy)),
                **({"looked_at": _named_by_operand(scalar_node)} if scalar_node else {}),
            )

        def op(input: Any, other: Any, *, out: Any = None) -> Any:
            if out is not None:
                return slow(info, (input, other), out)
            try:
                fx = input._fn
                xa = input._a
            except AttributeError:
                return slow(info, (input, other)) if EVERY else first_operand(info, input, other)
            if type(other) is not Tensor and type(other) in numbers:
                if fx is None:
                    if EVERY:
                        return slow(info, (input, other))
                    known = constants.get(xa.dtype)
                    if known is None:
                        return care(info, input, other)
                    t = make()
                    t._m = t._fn = None
                    try:
                        if type(xa) is ndarray:
                            if blocks and xa.size >= LARGE:
                                return large(input, other)
                            t._a = raw(xa, known[other])
                        else:
                            t._a = fn(xa, other)
                    except ARITHMETIC:
                        t._a = silently(fn, xa, other)
                    return t
                if M:
                    return slow(info, (input, other))
                t = make()
                t._m = None
                try:
                    if type(xa) is ndarray:
                        if blocks and xa.size >= LARGE:
                            return large(input, other)
                        t._a = r = raw(xa, constants[xa.dtype][other])
                    else:
                        t._a = r = fn(xa, other)
                except ARITHMETIC:
                    t._a = r = silently(fn, xa, other)
                n = N()
                n.fx = fx
                n.fy = None
                n.seq = next(ticks)
                n.h = None
                if xx:
                    b = input._m
                    n.x = b if b is not None else box_of(input)
                else:
                    n.x = None
                n.y = other if keep_number else None
            else:
                try:
                    fy = other._fn
                    ya = other._a
                except AttributeError:
                    return slow(info, (input, other)) if EVERY else reject(info, input, other)
                if xa.dtype is not ya.dtype:
                    return slow(info, (input, other)) if EVERY else mixed(info, input, other)
                if fx is None and fy is None:
                    if EVERY:
                        return slow(info, (input, other))
                    if check_dtype and xa.dtype not in direct:
                        return care(info, input, other)
                    t = make()
                    t._m = t._fn = None
                    try:
                        if type(xa) is ndarray:
                            if blocks and xa.size >= LARGE:
                                return large(input, other)
                            t._a = raw(xa, ya)
                        else:
                            t._a = fn(xa, ya)
                    except (ValueError, TypeError) as error:
                        return reject(info, input, other, error)
                    except ARITHMETIC:
                        t._a = silently(fn, xa, ya)
                    return t
                if M:
                    return slow(info, (input, other))
                t = make()
                t._m = None
                if by_shape and fx is not None and fy is not None:
                    sx = xa.shape
                    sy = ya.shape
                    if sx != sy and sx and sx[0] == 1 and len(sx) == len(sy) + 1 and type(ya) is ndarray:
                        ya = ya[None]  # a bias on a batch of one: half the price of NumPy's broadcasting
                try:
                    if type(xa) is ndarray:
                        if blocks and xa.size >= LARGE:
                            return large(input, other)
                        t._a = r = raw(xa, ya)
                    else:
                        t._a = r = fn(xa, ya)
                except (ValueError, TypeError) as error:
                    return reject(info, input, other, error)
                except ARITHMETIC:
                    t._a = r = silently(fn, xa, ya)
                n = N()
                n.fx = fx
                n.fy = fy
                n.seq = next(ticks)
                n.h = None
                if fy is None:
                    if xx:
                        b = input._m
                        n.x = b if b is not None else box_of(input)
                    else:
                        n.x = xa.shape
                    if xy:
                        b = other._m
                        n.y = b if b is not None else box_of(other)
                    else:
                        n.y = None
                elif fx is None:
                    if yx:
                        b = input._m
                        n.x = b if b is not None else box_of(input)
                    else:
                        n.x = None
                    if yy:
                        b = other._m
                        n.y = b if b is not None else box_of(other)
                    else:
                        n.y = ya.shape
                else:
                    if by_shape:
                        n.x = sx
                        n.y = sy
                    else:
                        if both_x:
                            b = input._m
                            n.x = b if b is not None else box_of(input)
                        else:
                            n.x = xa.shape
                        if both_y:
                            b = other._m
                            n.y = b if b is not None else box_of(other)
                        else:
                            n.y = ya.shape
            if keep_result:
                n.r = t._m = b = Box()
                b.a = r
                b.cell = None
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        def plain(input: Any, other: Any, *, out: Any = None) -> Any:
            if EVERY or out is not None:
                return slow(info, (input, other), out)
            try:
                xa = input._a
            except AttributeError:
                return first_operand(info, input, other)
            if type(other) is not Tensor and type(other) in numbers:
                if xa.dtype not in fast:
                    return care(info, input, other)
                ya = other
            else:
                try:
                    ya = other._a
                except AttributeError:
                    return reject(info, input, other)
                if xa.dtype is not ya.dtype:
                    return mixed(info, input, other)
                if check_dtype and xa.dtype not in direct:
                    return care(info, input, other)
            t = make()
            t._m = t._fn = None
            try:
                if type(xa) is ndarray:
                    if blocks and xa.size >= LARGE:
                        return large(input, other)
                    t._a = raw(xa, ya)
                else:
                    t._a = fn(xa, ya)
            except (ValueError, TypeError) as error:
                return reject(info, input, other, error)
            except ARITHMETIC:
                t._a = silently(fn, xa, ya)
            return t

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, other: Any) -> Any:
            values = {"self": self, "other": other, "result": result}
            acc = None
            for tangent, formula, names_ in ((tangents[0], gx_, ux), (tangents[1], gy_, uy)):
                if tangent is None:
                    continue
                d = formula(xp, tangent, **{k: values[k] for k in names_})  # type: ignore[misc]
                if d.shape != result.shape:
                    d = xp.expand(d, result.shape)
                acc = d if acc is None else acc + d
            return acc

        template = folded(op if gx_ is not None else plain)

        def in_blocks() -> Any:
            step = None
            if N is not None:
                formulas = {"gx_": blocked_formula(gx_), "gy_": blocked_formula(gy_)}
                step = own(folded(backward), f"{name}_backward", cells=formulas)
            return blocked_form(template, info, raw, N, step)

        large = Lazily(in_blocks)
        finish(info, template, N, jvp)
        raw = getattr(RAW, name)
        constants = constants_for(fast, isinstance(raw, ufunc))
        hot = folded(op if gx_ is not None else plain, out=None)
        publish(info, hot, names, inplace=inplace)
        if dunder:
            cells = {"reject": refuse_quietly, "slow": slow_operator}
            place(own(hot, dunder, ("self", "other"), info.doc, cells=cells), f"Tensor.{dunder}")
        return info.op

    return declare


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


_SAME = (lambda xp, g: g).__code__.co_code


def _call_code(formula: Formula | None, uses: tuple[str, ...]) -> int:
    """How a formula is called: 0 (xp, g), 1 with self, 2 with other, 3 with both; -1: not at all, as it returns g."""
    if formula is not None and formula.__code__.co_code == _SAME:
        return -1
    return ("self" in uses) + 2 * ("other" in uses)

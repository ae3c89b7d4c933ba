"""The elementwise kind in one tensor; see ``_kinds.elementwise``, whose rules hold here."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

from numpy import ndarray

from .._arrays.library import ARITHMETIC, INEXACT, silently
from .._arrays.threads import LARGE
from .._base import errors as lines
from .._base.modes import EVERY, M
from .._base.registry import RAW, Impl, own
from .._tape.node import FREED, Box, box_of, ticks
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import make
from .declare import (
    Formula,
    Lazily,
    blocked_form,
    blocked_formula,
    camel,
    edges_x,
    finish,
    formula_names,
    info_for,
    node_class,
    publish,
    release_for,
    saved_for,
)
from .folding import folded
from .slow_path import care, first_operand, slow, unsupported


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
    uses = formula_names(grad)
    assert set(uses) <= {"self", "result"}, uses
    check_dtype = to_float or integers
    keep_self, keep_result = "self" in uses, "result" in uses

    def declare(decl: Any) -> Any:
        info = info_for(decl, "unary", {"batch": "elementwise", "to_float": to_float, **facts})
        name = info.name
        table = Impl(name)

        def general(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            conj = holomorphic and is_complex(g)
            kwargs = {}
            if keep_self:
                kwargs["self"] = unbox(n, n.x, n.fx, xp)
            if keep_result:
                kwargs["result"] = unbox(n, n.r, n, xp)
            gx = grad(xp, xp.conj(g) if conj else g, **kwargs)
            if not keep:
                n.release()
            return (n.fx, xp.conj(gx) if conj else gx)

        N = None
        if grad is not None:
            N = node_class(
                node or camel(name) + "Backward0",
                ("fx",) + ("x",) * keep_self + ("r",) * keep_result,
                edges=edges_x,
                backward=own(folded(_backward(grad, general, keep_self, keep_result)), f"{name}_backward"),
                release=release_for(keep_self, keep_result),
                saved=saved_for({"self": "x"} if keep_self else {}, {"result": "r"} if keep_result else {}),
                saved_names=uses,
            )

        def op(input: Any, *, out: Any = None) -> Any:
            if out is not None:
                return slow(info, (input,), out)
            try:
                fx = input._fn
                a = input._a
            except AttributeError:
                return slow(info, (input,)) if EVERY else first_operand(info, input)
            if fx is None:
                if EVERY:
                    return slow(info, (input,))
                if check_dtype and a.dtype not in fast:
                    return care(info, input)
                t = make()
                t._m = t._fn = None
                try:
                    try:
                        if type(a) is ndarray:
                            if blocks and a.size >= LARGE:
                                return large(input)
                            t._a = raw(a)
                        else:
                            t._a = table[type(a)](a)
                    except ARITHMETIC:
                        t._a = silently(table[type(a)], a)
                except TypeError as error:
                    raise unsupported(info, input, error) from None
                return t
            if M:
                return slow(info, (input,))
            t = make()
            t._m = None
            try:
                try:
                    if type(a) is ndarray:
                        if blocks and a.size >= LARGE:
                            return large(input)
                        t._a = r = raw(a)
                    else:
                        t._a = r = table[type(a)](a)
                except ARITHMETIC:
                    t._a = r = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            n = N()
            n.fx = fx
            n.seq = next(ticks)
            n.h = None
            if keep_self:
                b = input._m
                n.x = b if b is not None else box_of(input)
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

        def plain(input: Any, *, out: Any = None) -> Any:
            if EVERY or out is not None:
                return slow(info, (input,), out)
            try:
                a = input._a
            except AttributeError:
                return first_operand(info, input)
            if check_dtype and a.dtype not in fast:
                return care(info, input)
            t = make()
            t._m = t._fn = None
            try:
                try:
                    if type(a) is ndarray:
                        if blocks and a.size >= LARGE:
                            return large(input)
                        t._a = raw(a)
                    else:
                        t._a = table[type(a)](a)
                except ARITHMETIC:
                    t._a = silently(table[type(a)], a)
            except TypeError as error:
                raise unsupported(info, input, error) from None
            return t

        def jvp(xp: Any, tangents: Any, result: Any, self: Any) -> Any:
            kwargs = {"self": self} if keep_self else {}
            if keep_result:
                kwargs["result"] = result
            return grad(xp, tangents[0], **kwargs)

        template = folded(op if grad is not None else plain)

        def in_blocks() -> Any:
            step = folded(_backward(blocked_formula(grad), general, keep_self, keep_result))
            return blocked_form(template, info, raw, N, own(step, f"{name}_backward"))

        large = Lazily(in_blocks)
        finish(info, template, N, jvp)
        raw = getattr(RAW, name)
        publish(info, folded(op if grad is not None else plain, out=None), names, inplace=inplace)
        return info.op

    return declare


def _backward(grad: Any, general: Any, keep_self: bool, keep_result: bool) -> Any:
    """The backward step; ``general`` is for all but plain arrays."""

    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if (keep_self and keep_result) or xp is not RAW:
            return general(n, xp, g, keep)
        if keep_self:
            b = n.x
        elif keep_result:
            b = n.r
        else:
            return (n.fx, grad(xp, g))
        c = b.cell
        if c is not None and c.seq > n.seq:
            stale(n, b)
        gx = grad(xp, g, b.a)
        if not keep:
            if keep_self:
                n.x = FREED
            else:
                n.r = FREED
        return (n.fx, gx)

    return backward

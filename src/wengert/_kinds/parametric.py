"""The kind for what is elementwise in one tensor and takes parameters: a slope, bounds, a number as exponent.

    @parametric(grad=lambda xp, g, self, negative_slope: xp.where(self > 0, g, g * negative_slope))
    def _leaky_relu(lib, self, negative_slope): ...

It is the unary kind with plain parameters behind the tensor, all given by position. ``grad`` names, after ``xp`` and
``g``: ``self`` and ``result`` if it needs them, in this order, then either all of the parameters or none. To the
registry it is of the general kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from sys import _getframe as getframe
from typing import Any

import numpy as np
from numpy import ndarray

from .._arrays.library import ARITHMETIC, INEXACT, silently
from .._arrays.threads import LARGE, both, elementwise, multiply_into
from .._base import errors as lines
from .._base.modes import EVERY, M
from .._base.registry import RAW, Impl, Info, own, place, register
from .._tape.node import FREED, Box, box_of, ticks
from .._tape.promotion import cast, default_np, logical_dtype
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import make
from .declare import Formula, camel, formula_names, info_for, node_class
from .slow_path import first_operand, slow


def parametric(
    grad: Formula | None = None,
    *,
    slope: Any = None,
    names: str = "",
    node: str | None = None,
    to_float: bool = False,
    fast: Any = None,
    holomorphic: bool = True,
    saved_as: dict[str, str] | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Elementwise in one tensor, with parameters; see the module's text.

    ``slope``: a body that gives the result and the derivative, of many real floats, where both cost little more than
    one; the derivative is kept, and all that is left to do is a product. ``to_float``: integers become the default
    dtype first. ``fast``: the dtypes that need no look at ``check(info, x, None, dtype)``, which raises PyTorch's error
    for a dtype that the operator refuses. ``saved_as``: PyTorch's names of saved values where they are not those of
    the formula.
    """
    accepted = INEXACT if fast is None else fast
    careful = to_float or fast is not None
    uses = formula_names(grad)
    keep_self, keep_result = "self" in uses, "result" in uses
    kept = keep_self + keep_result
    with_p = len(uses) > kept

    def declare(decl: Any) -> Any:
        info = info_for(decl, "general", {"batch": "elementwise", "promote": None, "to_float": to_float, **facts})
        assert grad is None or uses == ("self",) * keep_self + ("result",) * keep_result + info.params[1:] * with_p, (
            uses
        )
        table = Impl(info.name)
        N = None
        if grad is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "p") + ("x",) * keep_self + ("r",) * (keep_result or slope is not None),
                edges=lambda n: (n.fx,),
                backward=own(
                    _backward(grad, keep_self, keep_result, with_p, holomorphic, slope is not None),
                    f"{info.name}_backward",
                ),
                release=_release(keep_self, keep_result or slope is not None),
                saved=_saved(info, uses[:kept], saved_as or {}),
                saved_names=(*uses[:kept], *info.params[1:]),
            )

        def op(input: Any, *p: Any) -> Any:
            if EVERY:
                return slow(info, (input, *p))
            try:
                fx = input._fn
                a = input._a
            except AttributeError:
                return first_operand(info, input, *p)
            if fx is not None and M:
                return slow(info, (input, *p))
            if careful and a.dtype not in accepted:
                dtype = logical_dtype(input)
                if fast is not None:
                    info.check(info, input, None, dtype)
                if to_float and dtype not in INEXACT:
                    return info.op(cast(input, default_np()), *p)
            t = make()
            t._m = None
            try:
                if type(a) is ndarray and a.size >= LARGE:
                    derivative = None
                    if slope is not None and fx is not None and a.dtype in FLOATS:
                        r, derivative = both(with_slope, a, *p)  # type: ignore[arg-type]
                    else:
                        r = elementwise(raw, a, *p)
                    t._a = r
                else:
                    t._a = r = table[type(a)](a, *p)
            except ARITHMETIC:
                t._a = r = silently(table[type(a)], a, *p)
            if fx is None or N is None:
                t._fn = None
                return t
            n = N()
            n.fx = fx
            n.seq = next(ticks)
            n.h = None
            n.p = p
            if keep_self:
                b = input._m
                n.x = b if b is not None else box_of(input)
            if keep_result:
                n.r = t._m = b = Box()
                b.a = r
                b.cell = None
            elif slope is not None:
                n.r = None
                if a.size >= LARGE and type(a) is ndarray:
                    n.r = derivative
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, *p: Any) -> Any:
            values = (self,) * keep_self + (result,) * keep_result
            return grad(xp, tangents[0], *values, *p) if with_p else grad(xp, tangents[0], *values)  # type: ignore[misc]

        info.op = own(op, info.name, ("input",), info.doc)
        info.core = own(op, info.name, ("input",), info.doc, cells={"M": (), "EVERY": ()})
        info.node = N  # type: ignore[assignment]
        info.jvp = info.__dict__.get("jvp") or jvp
        if info.why_not is None and N is None:
            info.why_not = "no derivative"
        register(info)
        raw = getattr(RAW, info.name)
        with_slope = partial(slope, RAW.lib) if slope is not None else None
        if names:
            place(info.op, names)
        return info.op

    return declare


FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


def _backward(
    grad: Any, keep_self: bool, keep_result: bool, with_p: bool, holomorphic: bool, with_slope: bool = False
) -> Any:
    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = xp is not RAW and holomorphic and is_complex(g)
        values: tuple[Any, ...] = ()
        if keep_self:
            b = n.x
            if xp is RAW:
                c = b.cell
                if c is not None and c.seq > n.seq:
                    stale(n, b)
                values = (b.a,)
            else:
                values = (unbox(n, b, n.fx, xp),)
        if keep_result:
            values += (unbox(n, n.r, n, xp),)
        p = n.p if with_p else ()
        if xp is RAW and g.size >= LARGE:
            derivative = n.r if with_slope else None
            if derivative is None or g.dtype is not derivative.dtype:
                gx = elementwise(partial(grad, xp), g, *values, *p)
            elif keep:
                gx = elementwise(np.multiply, g, derivative)
            else:
                gx = multiply_into(derivative, g)
        else:
            gx = grad(xp, xp.conj(g) if conj else g, *values, *p)
        if not keep:
            n.release()
        return (n.fx, xp.conj(gx) if conj else gx)

    return backward


def _release(keep_self: bool, keep_result: bool) -> Any:
    def release(n: Any) -> None:
        if keep_self:
            n.x = FREED
        if keep_result:
            n.r = FREED

    return release


def _saved(info: Info, values: tuple[str, ...], saved_as: dict[str, str]) -> Any:
    """The look-up behind ``grad_fn._saved_NAME``."""
    names = {saved_as.get(name, name): name for name in (*values, *info.params[1:])}

    def saved(n: Any, name: str) -> Any:
        from .._base.registry import T

        source = names.get(name)
        if source == "self":
            return unbox(n, n.x, n.fx, T)
        if source == "result":
            return unbox(n, n.r, n, T)
        if source is None:
            raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{name}'")
        return n.p[info.params.index(source) - 1]

    return saved

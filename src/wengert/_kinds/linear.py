"""The kinds of linear operators: in one tensor (``linear``), or in each of two (``bilinear``).

A linear operator needs no formula but its transpose, and forward mode is the operator itself. The templates stand by
the same rules as those of ``_kinds.elementwise``.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, INEXACT, silently
from .._base import errors as lines
from .._base.modes import M
from .._base.registry import RAW, Impl, Info, own, place
from .._tape.error_text import cpp_name
from .._tape.node import FREED, Box, box_of, ticks
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import alias_payload, make
from .declare import Formula, camel, edges_x, edges_xy, finish, formula_names, info_for, node_class
from .folding import folded
from .slow_path import first_operand, mixed_product, slow


# --------------------------------------------------------------------------------------------- linear in its one tensor
def linear(
    transpose: Formula,
    *,
    view: bool = False,
    node: str | None = None,
    names: str | None = None,
    otherwise: Any = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Linear in its one tensor; the other arguments are plain parameters, all given by position.

    ``transpose(xp, g[, self_shape], *parameters)`` takes the cotangent back. Keeps the parameters and, if named, the
    input's shape, never the array; so such a graph can be walked any number of times. ``view``: the result shares
    the input's memory, and the operator can make it again from the same input. ``otherwise``: the public function,
    which is this operator if only the tensor is given; see ``_alone``.
    """
    uses = formula_names(transpose)
    keep_shape = uses[:1] == ("self_shape",)

    def declare(decl: Any) -> Any:
        info = info_for(decl, "linear", {"view": view, "dtypes": "fcib", **facts})
        name = info.name
        table = Impl(name)
        assert uses[keep_shape:] == info.params[1:], (name, uses, info.params)

        def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            if keep_shape:
                return (n.fx, transpose(xp, g, n.shape, *n.p))
            return (n.fx, transpose(xp, g, *n.p))

        def saved(n: Any, key: str) -> Any:
            if key in info.params[1:]:
                return n.p[info.params.index(key) - 1]
            if key == "self_sym_sizes" and keep_shape:
                return n.shape
            raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{key}'")

        N = node_class(
            node or camel(name) + "Backward0",
            ("fx", "p") + ("shape",) * keep_shape,
            edges=edges_x,
            backward=own(folded(backward), f"{name}_backward"),
            saved=saved,
            saved_names=info.params[1:],
        )

        def op(input: Any, *p: Any) -> Any:
            if M:
                return slow(info, (input, *p))
            try:
                fx = input._fn
                a = input._a
            except AttributeError:
                return first_operand(info, input, *p)
            t = make()
            t._m = None
            if view:
                if type(a) is not np.ndarray:
                    a = alias_payload(input, t)
                t._v = (input, info, p, 0)
            try:
                t._a = table[type(a)](a, *p)
            except ARITHMETIC:
                t._a = silently(table[type(a)], a, *p)
            if fx is None:
                t._fn = None
                return t
            n = N()
            n.fx = fx
            n.seq = next(ticks)
            n.h = None
            n.p = p
            if keep_shape:
                n.shape = a.shape
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        def jvp(xp: Any, tangents: Any, result: Any, self: Any, *p: Any) -> Any:
            return getattr(xp, name)(tangents[0], *p)

        finish(info, folded(op), N, jvp)
        if names:
            place(info.op if otherwise is None else _alone(info, N, table, keep_shape, otherwise), names)
        return info.op

    return declare


def _alone(info: Info, N: Any, table: Any, keep_shape: bool, otherwise: Any) -> Any:
    """A public function as fast as its operator when it is called with the tensor alone: ``x.sum()``.

    The linear kind's template without parameters; any other call goes to ``otherwise``.
    """

    def op(input: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or M:
            return otherwise(input, *args, **kwargs) if kwargs else otherwise(input, *args)
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return first_operand(info, input)
        t = make()
        t._m = None
        try:
            t._a = table[type(a)](a)
        except ARITHMETIC:
            t._a = silently(table[type(a)], a)
        if fx is None:
            t._fn = None
            return t
        n = N()
        n.fx = fx
        n.seq = next(ticks)
        n.h = None
        n.p = ()
        if keep_shape:
            n.shape = a.shape
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t

    fn = own(folded(op), otherwise.__name__, ("input",), otherwise.__doc__)
    fn.__wrapped__ = otherwise
    return fn


# ---------------------------------------------------------------------------------------- linear in each of two tensors
def bilinear(
    self: Formula, other: Formula, *, node: str | None = None, names: str | None = None, **facts: Any
) -> Callable[[Any], Any]:
    """Linear in each of its two tensors; the other arguments are plain parameters, all given by position.

    ``self(xp, g, self, other, *parameters)`` and ``other(...)`` are the transposes. An operand is kept only if the
    other one needs a gradient; a formula may read the shape of its own operand.
    """
    gx_, gy_ = self, other

    def declare(decl: Any) -> Any:
        info = info_for(decl, "bilinear", {"arity": 2, **facts})
        name = info.name
        table = Impl(name)

        def general(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            conj = is_complex(g)
            if conj:
                g = xp.conj(g)
            fx, fy = n.fx, n.fy
            x = n.x
            x = unbox(n, x, fx, xp) if type(x) is not tuple else of_shape(x)
            y = n.y
            y = unbox(n, y, fy, xp) if type(y) is not tuple else of_shape(y)
            pairs: tuple[Any, ...] = ()
            for edge, formula in ((fx, gx_), (fy, gy_)):
                if edge is not None:
                    d = formula(xp, g, x, y, *n.p)
                    pairs += (edge, xp.conj(d) if conj else d)
            if not keep:
                n.release()
            return pairs

        def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
            if xp is not RAW:
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
            else:
                x = of_shape(x)
            if boxed_y:
                c = y.cell
                if c is not None and c.seq > n.seq:
                    stale(n, y)
                y = y.a
            else:
                y = of_shape(y)
            p = n.p
            fx = n.fx
            fy = n.fy
            gx = gy = None
            if fx is not None:
                gx = gx_(xp, g, x, y, *p)
            if fy is not None:
                gy = gy_(xp, g, x, y, *p)
            if not keep:
                if boxed_x:
                    n.x = FREED
                if boxed_y:
                    n.y = FREED
            return (fy, gy) if fx is None else (fx, gx) if fy is None else (fx, gx, fy, gy)

        def release(n: Any) -> None:
            if type(n.x) is Box:
                n.x = FREED
            if type(n.y) is Box:
                n.y = FREED

        def saved(n: Any, key: str) -> Any:
            from .._base.registry import T

            if key in ("self", "other", *info.params[:2]):
                slot = "x" if key in ("self", info.params[0]) else "y"
                value = getattr(n, slot)
                return None if type(value) is tuple else unbox(n, value, getattr(n, "f" + slot), T)
            if key in info.params[2:]:
                return n.p[info.params.index(key) - 2]
            raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{key}'")

        N = node_class(
            node or camel(name) + "Backward0",
            ("fx", "fy", "x", "y", "p"),
            edges=edges_xy,
            backward=own(backward, f"{name}_backward"),
            release=release,
            saved=saved,
            saved_names=info.params,
        )

        def op(input: Any, other: Any, *p: Any) -> Any:
            if M:
                return slow(info, (input, other, *p))
            try:
                fx = input._fn
                fy = other._fn
                xa = input._a
                ya = other._a
            except AttributeError:
                return first_operand(info, input, other, *p)
            if xa.dtype is not ya.dtype:
                return mixed_product(info, (input, other), p)
            t = make()
            t._m = None
            try:
                t._a = table[type(xa)](xa, ya, *p)
            except ARITHMETIC:
                t._a = silently(table[type(xa)], xa, ya, *p)
            if fx is None and fy is None:
                t._fn = None
                return t
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            n.p = p
            if fy is not None:
                b = input._m
                n.x = b if b is not None else box_of(input)
            else:
                n.x = xa.shape
            if fx is not None:
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                n.y = ya.shape
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        def jvp(xp: Any, tangents: Any, result: Any, x: Any, y: Any, *p: Any) -> Any:
            f = getattr(xp, name)
            acc = None if tangents[0] is None else f(tangents[0], y, *p)
            if tangents[1] is not None:
                d = f(x, tangents[1], *p)
                acc = d if acc is None else acc + d
            return acc

        info.refuse_mixed = facts.get("refuse_mixed", _refuse_mixed)
        finish(info, op, N, jvp)
        if names:
            place(info.op, names)
        return info.op

    return declare


class Shape:
    """What is kept of an operand that only its own gradient would need: the shape."""

    __slots__ = ("shape",)
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


def of_shape(shape: tuple[int, ...]) -> Shape:
    """A ``Shape``."""
    s = Shape()
    s.shape = shape
    return s


def between(info: Info, ranks: tuple[int, int]) -> Callable[[Any], Any]:
    """Decorator: a public product as fast as its operator where both tensors have the ranks that the operator is for.

    The bilinear kind's template without parameters; any other call, and any that fails, goes to the decorated function.
    """
    op_name, (rank_x, rank_y) = info.name, ranks

    def decorate(otherwise: Any) -> Any:
        N: Any = info.node
        small, large = np.ndarray.dot, getattr(RAW, op_name)

        def op(input: Any, other: Any, *, out: Any = None) -> Any:
            if M or out is not None:
                return otherwise(input, other, out=out)
            try:
                fx = input._fn
                fy = other._fn
                xa = input._a
                ya = other._a
            except AttributeError:
                return otherwise(input, other)
            dtype = xa.dtype
            if dtype is not ya.dtype or xa.ndim != rank_x or ya.ndim != rank_y:
                return otherwise(input, other)
            if dtype is not FLOAT32 and dtype not in INEXACT:
                return otherwise(input, other)
            t = make()
            t._m = None
            try:
                t._a = small(xa, ya) if xa.size < MANY else large(xa, ya)
            except RAW_REFUSALS:
                return otherwise(input, other)
            if fx is None and fy is None:
                t._fn = None
                return t
            n = N()
            n.fx = fx
            n.fy = fy
            n.seq = next(ticks)
            n.h = None
            n.p = ()
            if fy is not None:
                b = input._m
                n.x = b if b is not None else box_of(input)
            else:
                n.x = xa.shape
            if fx is not None:
                b = other._m
                n.y = b if b is not None else box_of(other)
            else:
                n.y = ya.shape
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        code = otherwise.__code__
        fn = own(op, otherwise.__name__, code.co_varnames[:2], otherwise.__doc__)
        fn.__wrapped__ = otherwise
        return fn

    return decorate


MANY = 1 << 15  # elements from which a product is called by its library function
FLOAT32 = np.dtype(np.float32)
RAW_REFUSALS = (ValueError, TypeError, *ARITHMETIC)  # sizes that do not fit, another library's array, strict warnings


def _refuse_mixed(info: Info, x: Any, y: Any, *p: Any) -> Any:
    a, b = cpp_name(x), cpp_name(y)
    raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")

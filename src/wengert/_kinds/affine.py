"""The kind of what a layer computes: a product of two tensors, and a third tensor added to it.

    @affine(
        first=lambda xp, g, input, weight: xp.mat_mat(g, weight),      # input's cotangent: a product again
        second=lambda xp, g, input, weight: xp.mat_mat(g.mT, input),   # weight's
        added=lambda xp, g, shape: xp.sum_to(g, shape),                # bias's: it needs nothing but its shape
        spread=lambda xp, t, shape: xp.expand(t, shape),               # and that one's transpose
        node="AddmmBackward0",
    )
    def linear(lib, input, weight, bias): ...

Arguments by position: the two factors, then the tensor that is added (or ``None``), then plain parameters. As in the
bilinear kind, a factor is kept only if the other one needs a gradient. It is a kind of its own because a layer is one
node in PyTorch (``AddmmBackward0``, ``ConvolutionBackward0``), and the most used one in a small model.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

from .._arrays.library import ARITHMETIC, silently
from .._base import errors as lines
from .._base.dtypes import BY_NUMPY
from .._base.modes import M
from .._base.registry import RAW, Impl, Info, T, own, place, register
from .._tape.node import FREED, Box, box_of, ticks
from .._tape.saved import is_complex, unbox
from .._tape.tensor import Tensor, make
from .declare import Formula, info_for, node_class
from .linear import Shape, _refuse_mixed, of_shape
from .slow_path import first_operand, mixed_product, overridden, slow


def affine(
    first: Formula,
    second: Formula,
    added: Formula,
    spread: Formula,
    *,
    node: str,
    node_without: str | None = None,
    added_first: bool = False,
    own_shapes: bool = True,
    ranks: tuple[int, int] | None = None,
    other_ranks: Callable[..., Any] | None = None,
    refuse_shapes: Callable[..., Any],
    names: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator ``product(x, y, *parameters) + added``; see the module's text.

    ``first`` and ``second`` are called ``(xp, g, x, y, *parameters)``, ``added(xp, g, shape, *parameters)``
    takes the cotangent back to the third tensor and ``spread(xp, tangent, shape, *parameters)`` takes its tangent forth
    to the result's shape. ``node_without``: the node's name where nothing is added. ``added_first``: the order of
    ``next_functions``. ``own_shapes``: whether the formulas read the shape of the factor that they are for. ``ranks``:
    the only ranks of the factors that the operator itself takes; ``other_ranks`` gets
    the arguments otherwise, which costs less here than in a function around it. ``refuse_shapes(error, x, y, added,
    *parameters)`` raises PyTorch's error for arrays that the library refused.
    """

    def declare(decl: Any) -> Any:
        info = info_for(decl, "affine", {"arity": 3, **facts})
        name = info.name
        table = Impl(name)
        rank_x, rank_y = ranks or (None, None)
        node_type = _nodes(info, first, second, added, node, node_without or node, added_first)
        With, Without = node_type(node), node_type(node_without or node)

        def op(input: Any, weight: Any, bias: Any = None, *p: Any) -> Any:
            if M:
                return slow(info, (input, weight, bias, *p))
            try:
                fx = input._fn
                fy = weight._fn
                xa = input._a
                ya = weight._a
                if bias is None:
                    fc = ca = None
                else:
                    fc = bias._fn
                    ca = bias._a
            except AttributeError:
                return _no_tensor(info, input, weight, bias, *p)
            if ranks is not None and (xa.ndim != rank_x or ya.ndim != rank_y):
                return other_ranks(input, weight, bias, *p)  # type: ignore[misc]
            if xa.dtype is not ya.dtype or (ca is not None and ca.dtype is not xa.dtype):
                return mixed_product(info, (input, weight, bias), p)
            t = make()
            t._m = None
            try:
                t._a = table[type(xa)](xa, ya, ca, *p)
            except ValueError as error:
                return refuse_shapes(error, xa, ya, ca, *p)
            except ARITHMETIC:
                t._a = silently(table[type(xa)], xa, ya, ca, *p)
            if fx is None and fy is None and fc is None:
                t._fn = None
                return t
            if ca is None:
                n = Without()
            else:
                n = With()
                n.c = ca.shape
            n.fx = fx
            n.fy = fy
            n.fc = fc
            n.seq = next(ticks)
            n.h = None
            n.p = p
            if fy is not None:
                b = input._m
                n.x = b if b is not None else box_of(input)
            else:
                n.x = of_shape(xa.shape) if own_shapes else None
            if fx is not None:
                b = weight._m
                n.y = b if b is not None else box_of(weight)
            else:
                n.y = of_shape(ya.shape) if own_shapes else None
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t

        def jvp(xp: Any, tangents: Any, result: Any, x: Any, y: Any, c: Any, *p: Any) -> Any:
            f = getattr(xp, name)
            tx, ty, tc = tangents
            if tx is not None:
                d = f(tx, y, tc, *p)
                return d if ty is None else d + f(x, ty, None, *p)
            if ty is not None:
                return f(x, ty, tc, *p)
            return spread(xp, tc, result.shape, *p)

        info.refuse_mixed = facts.get("refuse_mixed", refuse_addmm)  # type: ignore[attr-defined]
        info.node = With
        info.node_without = Without  # type: ignore[attr-defined]
        info.jvp = jvp
        info.op = own(op, name, info.params[:3], info.doc)
        info.core = own(op, name, info.params[:3], info.doc, cells={"M": ()})
        register(info)
        if names:
            place(info.op, names)
        return info.op

    return declare


def _nodes(
    info: Info, first: Formula, second: Formula, added: Formula, node: str, node_without: str, added_first: bool
) -> Callable[[str], Any]:
    """A maker of the operator's node classes."""

    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        fx, fy, fc = n.fx, n.fy, n.fc
        x, y = n.x, n.y
        p = n.p
        pairs: tuple[Any, ...] = ()
        if xp is RAW:
            conj = False
            if type(x) is Box:
                cell = x.cell
                x = unbox(n, x, fx, xp) if cell is not None else x.a
            if type(y) is Box:
                cell = y.cell
                y = unbox(n, y, fy, xp) if cell is not None else y.a
        else:
            conj = is_complex(g)
            x = unbox(n, x, fx, xp)
            y = unbox(n, y, fy, xp)
            if conj:
                g = xp.conj(g)
        if fc is not None:
            d = added(xp, g, n.c, *p)
            pairs = (fc, xp.conj(d) if conj else d)
        if fx is not None:
            d = first(xp, g, x, y, *p)
            pairs += (fx, xp.conj(d) if conj else d)
        if fy is not None:
            d = second(xp, g, x, y, *p)
            pairs += (fy, xp.conj(d) if conj else d)
        if not keep:
            n.release()
        return pairs

    def release(n: Any) -> None:
        if type(n.x) is Box:
            n.x = FREED
        if type(n.y) is Box:
            n.y = FREED

    def edges(n: Any) -> tuple[Any, ...]:
        return (n.fc, n.fx, n.fy) if added_first else (n.fx, n.fy, n.fc)

    def edges_without(n: Any) -> tuple[Any, ...]:
        return (n.fx, n.fy) if added_first else (n.fx, n.fy, None)

    saved_names = (*info.params[:2], *info.params[3:])
    aliases = info.__dict__.get("saved_as", {})

    def saved(n: Any, key: str) -> Any:
        key, view = aliases.get(key, (key, None))
        if view is not None:
            value = saved(n, key)
            return None if value is None else view(value)
        if key in info.params[:2]:
            slot = "x" if key == info.params[0] else "y"
            value = getattr(n, slot)
            return None if type(value) is Shape else unbox(n, value, getattr(n, "f" + slot), T)
        if key in info.params[3:]:
            return n.p[info.params.index(key) - 3]
        raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{key}'")

    def node_type(name: str) -> Any:
        return node_class(
            name,
            ("fx", "fy", "fc", "x", "y", "c", "p"),
            edges=edges if name == node else edges_without,
            backward=own(backward, f"{info.name}_backward"),
            release=release,
            saved=saved,
            saved_names=tuple(aliases) + saved_names,
        )

    return node_type


def _no_tensor(info: Info, x: Any, y: Any, c: Any, *p: Any) -> Any:
    """An operand is no Tensor: a payload from inside of a transform, or a mistake."""
    operands = (x, y) if c is None else (x, y, c)
    result = overridden(info, operands)
    if result is not ...:
        return result
    for position, t in enumerate(operands):
        if not isinstance(t, Tensor):
            from .._payloads.transforms import Value, bind
            from .._tape.error_text import type_text

            if isinstance(t, Value):
                return bind(info, x, y, c, *p)
            name = info.name.strip("_")
            raise TypeError(
                f"{name}(): argument '{info.params[position]}' (position {position + 1}) must be Tensor, not "
                f"{type_text(t)}"
            )
    return first_operand(info, x, y, c, *p)


def refuse_addmm(info: Info, x: Any, y: Any, c: Any, *p: Any) -> Any:
    """PyTorch's error for a layer whose tensors have several dtypes."""
    if c is None or x.dtype is not y.dtype:
        return _refuse_mixed(info, x, y)
    a, b = (BY_NUMPY[t._a.dtype].scalar_name for t in (c, x))
    raise RuntimeError(f"self and mat2 must have the same dtype, but got {a} and {b}")

"""The backward steps of nodes with fixed slots: the texts for plain arrays, and one walk for all other payloads.

A ``Call`` is one formula: the slot of the edge that its result goes to, the formula, and the slots of its values in the
order of its parameters. The slots are ``x`` and ``y`` (operands), ``r`` (the result), ``c`` and ``shape`` (shapes) and
``p`` (all parameters). ``templates.rendered`` explains the marks in the texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tape.node import Box
from .._tape.saved import is_complex, unbox
from .templates import BACKWARD, PIECES, Shape, hot, piece

Call = tuple[str, Any, tuple[str, ...]]

ONE_BACKWARD = """
if xp is not ARRAYS:  #? transformed
    return transformed(n, xp, g, keep)
{read}
if g.size >= LARGE:  #? blocks
    derivative = n.r  #? slope
    if derivative is None or g.dtype is not derivative.dtype:  #| slope
        gx = elementwise(partial(fx_, xp), g{values})
    #? slope
        elif keep:
            gx = elementwise(multiply, g, derivative)
        else:
            gx = multiply_into(derivative, g)
else:  #| blocks
    gx = fx_(xp, g{values})  #? freed or blocks
if not keep:  #? freed
    {freed}
return ({edge}, gx)  #? freed or blocks
return ({edge}, fx_(xp, g{values}))  #? not (freed or blocks)
"""
TWO_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
@operand_of_two(s="x")
@operand_of_two(s="y")
{read}
fx = n.fx
if fx is not None:
    gx = {gx}
    @reduced(k="x")  #? broadcast
    fy = n.fy
    if fy is None:
        @freed_two
        return (fx, gx)
gy = {gy}
@reduced(k="y")  #? broadcast
@freed_two
return (n.fy, gy) if fx is None else (fx, gx, fy, gy)
"""
PIECES["operand_of_two"] = """
{s} = n.{s}
boxed_{s} = type({s}) is Box
if boxed_{s}:
    @open(x=s)
#? not broadcast
    else:
        {s} = of_shape({s})
"""
PIECES["reduced"] = """
shape = {k}.shape if boxed_{k} else {k}
if shape is not None and g{k}.shape != shape:
    g{k} = xp.sum_to(g{k}, shape)
"""
PIECES["freed_two"] = """
if not keep:
    if boxed_x:
        n.x = FREED
    if boxed_y:
        n.y = FREED
    n.r = FREED  #? read
"""
MANY_BACKWARD = """
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
{read}
pairs = ()
{steps}
if not keep:
    n.release()
return pairs
"""
PIECES["open_box"] = """
if type({x}) is Box:
    @open
"""
PIECES["step"] = """
if {edge} is not None:
    d = {call}
    if d is not None and d.shape != {shape}:  #? shape
        d = xp.sum_to(d, {shape})
    pairs += ({edge}, d)
"""


class OperandShape:
    """The shape of an operand, saved in place of an operand that only its own gradient would need."""

    __slots__ = ("shape",)
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


def of_shape(shape: tuple[int, ...]) -> OperandShape:
    """An ``OperandShape``."""
    s = OperandShape()
    s.shape = shape
    return s


def _value(n: Any, slot: str, xp: Any) -> Any:
    """The value of a slot in the form for ``xp``."""
    value = getattr(n, slot, None)
    if slot in ("x", "y") and type(value) is tuple:
        return of_shape(value)
    return unbox(n, value, n if slot == "r" else getattr(n, "f" + slot, None), xp)


def _transformed(calls: tuple[Call, ...], holomorphic: bool, broadcast: bool) -> Callable[..., tuple[Any, ...]]:
    """The step for payloads other than plain arrays. ``broadcast``: it sums a cotangent to its operand's shape."""
    slots = {slot for _, _, used in calls for slot in used if slot != "p"}

    def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = holomorphic and is_complex(g)
        if conj:
            g = xp.conj(g)
        values = {slot: (_value(n, slot, xp),) for slot in slots}
        pairs: tuple[Any, ...] = ()
        for edge, formula, used in calls:
            to = getattr(n, edge)
            if to is not None:
                d = formula(xp, g, *[v for slot in used for v in (n.p if slot == "p" else values[slot])])
                kept = getattr(n, edge[1:]) if broadcast else None
                shape = kept.a.shape if isinstance(kept, Box) else kept
                if type(shape) is tuple and d.shape != shape:
                    d = xp.sum_to(d, shape)
                pairs += (to, xp.conj(d) if conj else d)
        if not keep:
            n.release()
        return pairs

    return transformed


def _is_identity(formula: Any) -> bool:
    """Whether a formula only returns its cotangent."""
    return bool(formula.__code__.co_code == (lambda xp, g: g).__code__.co_code)


_TEXT = {"p": "*n.p", "c": "n.c", "shape": "n.shape"}  # the values that need no check; the other slots have variables


def backward_step(
    name: str,
    calls: tuple[Call, ...],
    holomorphic: bool = True,
    *,
    broadcast: bool = False,
    plain: Callable[[Any], Any] = lambda formula: formula,
    names: dict[str, Any] | None = None,
    **flags: Any,
) -> Any:
    """The backward step of the operator ``name``.

    ``plain``: what makes of a formula the one for plain arrays. ``names``: more names for the text.
    """
    texts = [", ".join(["xp", "g", *(_TEXT.get(slot, slot) for slot in used)]) for _, _, used in calls]
    scope: dict[str, Any] = {f"{edge}_": plain(formula) for edge, formula, _ in calls}
    scope |= {"transformed": _transformed(calls, holomorphic, broadcast), "of_shape": of_shape, **(names or {})}
    boxes = [slot for slot in ("x", "y", "r") if any(slot in used for _, _, used in calls)]
    if len(calls) == 1:
        parts = {
            "read": "\n".join(f"{s} = n.{s}\n{piece('open', x=s)}" for s in boxes),
            "values": texts[0].removeprefix("xp, g"), "edge": "n.fx",
            "freed": "n.release()" if "blocks" in flags else "".join(f"n.{s} = " for s in boxes) + "FREED" * any(boxes),
        }  # fmt: skip
        kind, template = "one", ONE_BACKWARD
    elif len(calls) == 2:
        parts = {
            f"g{k}": "g" if _is_identity(formula) else f"f{k}_({text})"
            for k, (_, formula, _), text in zip("xy", calls, texts, strict=True)
        }
        parts["read"] = f"r = n.r\n{piece('open', x='r')}" if "r" in boxes else ""
        kind, template = "two", TWO_BACKWARD
    else:
        parts = {
            "read": "\n".join(f"{s} = n.{s}\n{piece('open_box', x=s)}" for s in boxes),
            "steps": "\n".join(
                piece("step", edge=f"n.{edge}", call=f"{edge}_({text})")
                for (edge, _, _), text in zip(calls, texts, strict=True)
            ),
        }
        kind, template = "many", MANY_BACKWARD
    shape = Shape(
        f"{kind}_backward", template, BACKWARD, parts, **{"transformed": True, "broadcast": broadcast, **flags}
    )
    return hot(f"{name}_backward", shape, lambda: scope)


def elementwise_jvp(calls: tuple[Call, ...]) -> Any:
    """The forward rule of an elementwise operator: each formula is its own transpose."""

    def jvp(xp: Any, tangents: Any, result: Any, *args: Any) -> Any:
        values = {"x": args[:1], "y": args[1:2], "r": (result,), "p": args[len(calls) :]}
        total = None
        for tangent, (_, formula, used) in zip(tangents, calls, strict=True):
            if tangent is not None:
                d = formula(xp, tangent, *[v for slot in used for v in values[slot]])
                if d.shape != result.shape:
                    d = xp.expand(d, result.shape)
                total = d if total is None else total + d
        return total

    return jvp

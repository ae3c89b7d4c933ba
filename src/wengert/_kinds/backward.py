"""The backward steps of nodes with fixed slots: the texts for plain arrays, and one walk for all other payloads.

A ``Call`` is one formula: the slot of the edge that its result goes to, the formula, and the slots of its values in the
order of its parameters. The slots are ``x`` and ``y`` (operands), ``result``, ``c`` and ``shape`` (shapes) and
``params``. ``templates.rendered`` explains the marks in the texts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numpy import multiply

from .._arrays.half import rounded_once
from .._arrays.shared_ufuncs import shared
from .._base.registry import TENSORS, Operator
from .._base.silence import silence
from .._tape.node import Box, Parts, named
from .._tape.saved import is_complex, unbox
from .._tape.tensor import wrap
from .templates import BACKWARD, PIECES, Shape, hot, piece

Call = tuple[str, Any, tuple[str, ...]]

PIECES["of_arrays"] = """
if type(g) is Parts:  #? several
    xp, g = materialized(n, xp, g)
if xp is not ARRAYS:
    return transformed(n, xp, g, keep)
{read}
"""
ONE_BACKWARD = """
@of_arrays  #? transformed
if g.size >= LARGE:  #? blocks
    derivative = n.result  #? slope
    if derivative is None or g.dtype is not derivative.dtype:  #| slope
        gx = elementwise(partial({call}, xp), g{values})
    #? slope
        elif keep:
            gx = elementwise(multiply, g, derivative)
        else:
            gx = multiply_into(derivative, g)
else:  #| blocks
    gx = {call}(xp, g{values})  #? freed or blocks
if not keep:  #? freed
    {freed}
return ({edge}, gx)  #? freed or blocks
return ({edge}, {call}(xp, g{values}))  #? not (freed or blocks)
"""
TWO_BACKWARD = """
@of_arrays
@operand_of_two(s="x")
@operand_of_two(s="y")
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
        {s} = of_shape({s}, n.f{s})
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
    n.result = FREED  #? read
"""
MANY_BACKWARD = """
@of_arrays
pairs = {empty}
{steps}
if not keep:
    n._release()
return pairs  #? not joint
return tuple(pairs)  #? joint
"""
PIECES["open_box"] = """
if type({x}) is Box:
    @open
#? own_edges
    else:
        {x} = n.f{x}
"""
PIECES["open_list"] = """
{x} = unbox(n, {x}, None, xp) if type({x}) is Box else [unbox(n, b, None, xp) for b in {x}]
"""
PIECES["joint_step"] = """
for edge, d in zip(n.fx, {call}, strict=True):
    if edge is not None:
        pairs += (edge, d)
"""
PIECES["step"] = """
if {edge} is not None:
    d = {call}
    if d is not None and d.shape != {shape}:  #? shape
        d = xp.sum_to(d, {shape})
    pairs += ({edge}, d)
"""


class OperandShape:
    """The shape of an operand, saved in place of an operand that only its own gradient would need, and its edge."""

    __slots__ = ("edge", "shape")
    shape: tuple[int, ...]
    edge: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)


def of_shape(shape: tuple[int, ...], edge: Any = None) -> OperandShape:
    """An ``OperandShape``."""
    s = OperandShape()
    s.shape, s.edge = shape, edge
    return s


def _value(n: Any, slot: str, xp: Any) -> Any:
    """The value of a slot in the form for ``xp``."""
    value = getattr(n, slot, None)
    if slot in ("x", "y") and type(value) is tuple:
        return of_shape(value, getattr(n, "f" + slot, None))
    return unbox(n, value, n if slot == "result" else getattr(n, "f" + slot, None), xp)


def _transformed(calls: tuple[Call, ...], holomorphic: bool, broadcast: bool, plan: Any) -> Any:
    """The step for any payload. ``broadcast``: it sums a cotangent to its operand's shape."""
    slots = {slot for _, _, used in calls for slot in used}

    def transformed(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if type(g) is Parts:
            xp, g = plan.materialized(n, xp, g)
        conj = holomorphic and is_complex(g[0] if type(g) is tuple else g)
        if conj:
            g = tuple(xp.conj(x) for x in g) if type(g) is tuple else xp.conj(g)
        value = _value if plan is None else plan.value
        values = {slot: n.params if slot == "params" else (value(n, slot, xp),) for slot in slots}
        edges = [getattr(n, edge) for edge, _, _ in calls] if plan is None else n.fx

        def cotangent(k: int) -> Any:
            _, formula, used = calls[k]
            return formula and formula(xp, g, *[v for slot in used for v in values[slot]])

        if plan is not None and plan.joint is not None:
            ds = cotangent(0) if plan.info.arity != 1 else (cotangent(0),)
        else:
            ds = [None if edge is None else cotangent(k) for k, edge in enumerate(edges)]
        pairs: list[Any] = []
        for k, (edge, d) in enumerate(zip(edges, ds, strict=True)):
            if edge is None:
                continue
            if d is not None:
                shape = (n.shapes[k] if plan is not None else _shape(n, calls[k][0])) if broadcast else None
                if shape is not None and d.shape != shape:
                    d = xp.sum_to(d, shape)
                if conj:
                    d = xp.conj(d)
                if xp is TENSORS and n.piecewise:
                    d = xp._beside_zeros(d, wrap(d._payload, edge))
                if xp is TENSORS and n.own_derivative and d is not g and d._node is not None:
                    named(d._node, type(n).__name__.replace("Backward0", "BackwardBackward0"))
            pairs += (edge, d)
        if not keep:
            n._release()
        return tuple(pairs)

    return transformed


def _shape(n: Any, edge: str) -> Any:
    """The shape of the operand behind an edge; ``None`` for a number."""
    kept = getattr(n, edge[1:])
    shape = kept.a.shape if isinstance(kept, Box) else kept
    return shape if type(shape) is tuple else None


def _is(formula: Any, like: Any) -> bool:
    """Whether a formula has the code of another one: the identity, whose call is left out, or a product."""
    return bool(formula.__code__.co_code == like.__code__.co_code)


def _identity(xp: Any, g: Any) -> Any:
    return g


def _product(xp: Any, g: Any, value: Any) -> Any:
    return g * value


def shared_product(formula: Any) -> Any:
    """The formula for plain arrays: a product's threads share their work."""
    return (lambda xp, g, value: shared(multiply)(g, value)) if _is(formula, _product) else formula


_TEXT = {
    "params": "*n.params",
    "c": "n.c",
    "shape": "n.shape",
}  # the values that need no check; the other slots have variables


def backward_step(
    info: Operator,
    calls: tuple[Call, ...],
    holomorphic: bool = True,
    *,
    broadcast: bool = False,
    plan: Any = None,
    plain: Callable[[Any], Any] = lambda formula: formula,
    **flags: Any,
) -> Any:
    """The backward step of an operator.

    ``plan``: the ``SavePlan`` of a general operator. Its values are the variables ``v0, v1, ...``, its edges ``f0, f1,
    ...``; a joint formula is its only call. ``plain``: what makes of a formula the one for plain arrays.
    """
    transformed = _transformed(calls, holomorphic, broadcast, plan)
    if plan is not None and plan.is_joint and broadcast:
        return transformed

    made: list[tuple[Shape, dict[str, Any]]] = []

    def step() -> tuple[Shape, dict[str, Any]]:
        if not made:
            if info.in_float32 in ("gradient", "both"):
                flags["once"] = True
            made.append(_step(calls, transformed, broadcast, plan, plain, flags))
        return made[0]

    return hot(f"{info.name}_backward", lambda: step()[0], lambda: step()[1], head=BACKWARD)


def _step(
    calls: tuple[Call, ...], transformed: Any, broadcast: bool, plan: Any, plain: Any, flags: dict[str, Any]
) -> tuple[Shape, dict[str, Any]]:
    """The shape of a backward step, and the names in its text."""
    flags = dict(flags)
    texts = [", ".join(["xp", "g", *(_TEXT.get(slot, slot) for slot in used)]) for _, _, used in calls]
    scope: dict[str, Any] = {f"{edge}_": plain(formula) for edge, formula, _ in calls}
    called = {edge: f"{edge}_" for edge, _, _ in calls}
    if flags.pop("once", False):  # the formula itself for float32, else one that half precision runs in float32
        scope |= {f"{edge}_once": rounded_once(scope[f"{edge}_"], 1) for edge, formula, _ in calls if formula}
        called = {edge: f"({edge}_ if g.dtype is FLOAT32 else {edge}_once)" for edge in called}
    scope |= {"transformed": transformed, "of_shape": of_shape}
    boxes = [slot for slot in ("x", "y", "result") if any(slot in used for _, _, used in calls)]
    read, freed, edge, joint, lists = [f"{slot} = n.{slot}" for slot in boxes], "", "n.fx", False, []
    if boxes:
        freed = "n._release()" if "blocks" in flags else " = ".join(f"n.{slot}" for slot in boxes) + " = FREED"
    if plan is not None:
        values, boxes, lists = plan.values, plan.boxes("operand", "result"), plan.boxes("operands")
        joint = plan.is_joint
        read, edge = [f"{', '.join(values)}, = n.values"] if values else [], "n.fx[0]"
        freed = f"n.values = [{', '.join('FREED' if v in boxes else v for v in values)}]" if boxes else ""
        flags["several"] = plan.info.outputs != 1
        scope["materialized"] = plan.materialized
    if len(calls) == 1 and not joint and not (plan and broadcast):
        kind, template = "one", ONE_BACKWARD
        read += [piece("open", x=x) for x in boxes]
        parts = {"values": texts[0].removeprefix("xp, g"), "edge": edge, "freed": freed, "call": called[calls[0][0]]}
    elif len(calls) == 2 and plan is None:
        kind, template = "two", TWO_BACKWARD
        read = [f"result = n.result\n{piece('open', x='result')}"] if "result" in boxes else []
        parts = {
            f"g{k}": "g" if _is(formula, _identity) else f"{called[f'f{k}']}({text})"
            for k, (_, formula, _), text in zip("xy", calls, texts, strict=True)
        }
        for k, (edge, formula, used) in zip("xy", calls, strict=True):
            if _is(formula, _product) and called[edge] == f"{edge}_" and scope[called[edge]] is formula:
                parts[f"g{k}"] = f"times(g, {_TEXT.get(used[0], used[0])})"
                scope["times"] = shared(multiply)
    else:
        kind, template = "many", MANY_BACKWARD
        read += [
            *(piece("open_box", x=x, own_edges="own_edges" in flags) for x in boxes),
            *(piece("open_list", x=x) for x in lists),
        ]
        steps = [
            piece(
                "joint_step" if joint else "step",
                edge=to,
                call=f"{called[to]}({text})" if formula else "None",
                shape=f"s{to[1:]}" if plan and broadcast else None,
            )
            for (to, formula, _), text in zip(calls, texts, strict=True)
        ]
        edges = [to for to, _, _ in calls]
        if plan is None:
            read += [f"{to} = n.{to}" for to in edges]
        elif not joint:
            read.append(f"{', '.join(edges)}, = n.fx")
            read += [f"{', '.join(f's{to[1:]}' for to in edges)}, = n.shapes"] * broadcast
        flags["joint"] = joint
        parts = {"steps": "\n".join(steps), "empty": "[]" if joint else "()"}  # a tuple takes quadratic time to grow
    parts["read"] = "\n".join(read)
    shape = Shape(
        f"{kind}_backward", template, BACKWARD, parts, **{"transformed": True, "broadcast": broadcast, **flags}
    )
    return shape, scope


def elementwise_jvp(calls: tuple[Call, ...]) -> Any:
    """The forward rule of an elementwise operator: each formula is its own transpose."""

    def jvp(xp: Any, tangents: Any, result: Any, *args: Any) -> Any:
        values = {"x": args[:1], "y": args[1:2], "result": (result,), "params": args[len(calls) :]}
        total = None
        for tangent, (_, formula, used) in zip(tangents, calls, strict=True):
            if tangent is not None:
                d = formula(xp, tangent, *[v for slot in used for v in values[slot]])
                total = d if total is None else total + d
        if total is not None and total.shape != result.shape:
            total = xp.clone(xp.expand(total, result.shape), "C")  # the program may write to it
        return total

    return jvp


silence(sys.modules[__name__])

"""The elementwise kinds: one tensor (``unary``), two (``binary``), one tensor with parameters (``parametric``).

An operator is declared in one place, by kind:

    @unary(grad=lambda xp, g, result: g * result)
    def exp(input): "e to the power of each element."

The kind supplies the rest: the recording function, its backward step, the forward-mode and batching rules,
broadcasting, Python scalars, in-place and ``out=`` forms, and the tests. Names in a formula are PyTorch's
(``self``, ``other``, ``result``, a parameter's name, ``self_shape``); **a node saves what its formulas name**.

A formula runs on plain arrays in an ordinary backward pass (``xp`` is ``ARRAYS``), on Tensors under ``create_graph``
(``T``) and on the values of transforms (``U``); so it may only use Python operators, ``xp`` and shapes.

The texts of the functions are in ``recording`` and ``backward``; ``templates`` assembles them. ``general`` has the kind
for everything that is not elementwise, linear or bilinear.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ufunc

from .._arrays.library import INEXACT, constants_for
from .._arrays.threads import elementwise, elementwise_multi, multiply_into
from .._base.dtypes import REAL_NUMBERS
from .._base.registry import ARRAYS, Impl, Operator, publish
from .._tape.node import Box, named
from .._tape.promotion import cast, default_np, logical_dtype
from .._tape.saved import is_complex, unbox
from .backward import BINARY_BACKWARD, PARAMETRIC_BACKWARD, UNARY_BACKWARD
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
    publish_elementwise,
    release_of,
    same,
    saved_for,
)
from .recording import BINARY, PARAMETRIC, UNARY
from .slow_path import refuse_quietly, refuse_second, second_of_method, slow_operator
from .templates import BACKWARD, Shape, hot, variant

FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


# ---------------------------------------------------------------------------------------------------------- one tensor


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
    """Declare an operator that is elementwise in one tensor.

    ``to_float``: integers are first converted to the default dtype, as in PyTorch. ``holomorphic``: the formula is the
    complex derivative and the kind conjugates. ``grad=None``: no derivative, the result never requires grad.
    ``libname``: the array library's name of the function if it differs and the declaration has no body. ``integers``:
    integers and bools use the declaration's ``integer`` body. ``fast``: the dtypes that need no conversion or check.
    """
    uses = formula_names(grad, ("self", "result"))
    keep_self, keep_result = "self" in uses, "result" in uses

    def declare(body: Any) -> Any:
        info = declared(unary, body, facts, batch="elementwise", to_float=to_float, integers=integers)
        asked: dict[str, Any] = {"records": grad is not None, "check": to_float or integers}
        asked |= {"keep_self": keep_self, "keep_result": keep_result, "keep": "r = " if keep_result else ""}

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
            shape = Shape("unary_backward", UNARY_BACKWARD, BACKWARD, slot="x" * keep_self + "r" * keep_result)
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
            known = {"info": info, "N": N, "raw": getattr(ARRAYS, info.name), "table": Impl(info.name), "fast": fast}
            large = Shape("unary", UNARY, "input", **asked)
            return {**known, "large": hot(info.name, large, lambda: {**known, **_in_blocks(known, step, grad)})}

        whole = {**asked, "blocks": blocks}
        op = hot(info.name, Shape("unary", UNARY, "input, *, out=None", **whole, modes=True, out=True), scope, info.doc)
        enter(info, op, N, partial(_unary_jvp, grad, uses), Shape("unary", UNARY, "input", **whole))
        publish_elementwise(info, names, Shape("unary", UNARY, "input", **whole, modes=True), inplace=inplace)
        return op

    return declare


def _unary_jvp(grad: Any, uses: tuple[str, ...], xp: Any, tangents: Any, result: Any, self: Any) -> Any:
    values = {"self": self, "result": result}
    return grad(xp, tangents[0], **{name: values[name] for name in uses})


def _in_blocks(known: dict[str, Any], step: Callable[..., Any], *formulas: Any) -> dict[str, Any]:
    """The names in the same text for large arrays, where the function and the backward step run block by block."""
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
    numbers: Any = REAL_NUMBERS,
    scalar_node: str | None = None,
    dunder: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator that is elementwise in two broadcast tensors, or a tensor and a Python number.

    ``self`` and ``other`` are the derivative formulas (names: ``self, other, result``); without them the result never
    requires grad. ``to_float``: two integer tensors are first converted to the default dtype. ``integers``: the array
    library's function differs from PyTorch's on integers and bools; the declaration's ``integer`` body handles them.
    ``fast``: the dtypes that need no conversion or check (see ``promote_and_retry``), ``pairs``: those for two tensors
    if they differ. ``scalar_node``: the node's name if the second operand is a number. ``numbers``: the types of number
    that the second operand may have; empty if PyTorch requires a tensor. ``dunder``: the Python operator's method.
    The kind undoes broadcasting, not the formula.
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
            "records": self is not None, "keep": "r = " if keep_result else "",
            "xx": "self" in x_names, "xy": "other" in x_names, "yx": "self" in y_names, "yy": "other" in y_names,
            "both_x": "self" in used, "both_y": "other" in used, "by_shape": not {"self", "other"}.intersection(used),
            "check": to_float or integers, "number": bool(numbers), "x": "input",
            "keep_number": "other" in x_names or scalar_node is not None,  # the node's name depends on it
        }  # fmt: skip
        transformed = _transformed_xy(formulas, (x_names, y_names), keep_result, holomorphic)

        def step(*formulas: Any) -> Any:
            if keep_result:
                return transformed
            gx, gy = (
                "g" if f is same else f"{name}({', '.join(['xp', 'g', *_slots(used)])})"
                for f, name, used in ((self, "gx_", x_names), (other, "gy_", y_names))
            )
            shape = Shape("binary_backward", BINARY_BACKWARD, BACKWARD, {"gx": gx, "gy": gy})
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
            raw = getattr(ARRAYS, info.name)
            fn = info.symbol or ByFirst(info.name)
            known = {
                "info": info, "N": N, "raw": raw, "fn": fn, "fast": fast, "pairs": fast if pairs is None else pairs,
                "numbers": numbers, "constants": constants_for(fast, isinstance(raw, ufunc)), "reject": refuse_second,
            }  # fmt: skip
            large = Shape("binary", BINARY, "input, other", **asked)
            return {**known, "large": hot(info.name, large, lambda: {**known, **_in_blocks(known, step, *formulas)})}

        whole = {**asked, "blocks": blocks}
        hot_shape = Shape("binary", BINARY, "input, other, *, out=None", **whole, out=True, modes=True)
        op = hot(info.name, hot_shape, scope, info.doc)
        enter(
            info,
            op,
            N,
            partial(_binary_jvp, formulas, (x_names, y_names)),
            Shape("binary", BINARY, "input, other", **whole),
        )
        method = Shape("binary", BINARY, "input, other", **whole, modes=True)
        publish_elementwise(info, names, method, inplace=inplace, reject=second_of_method)
        if dunder:
            shape = Shape("binary", BINARY, "self, other", **(whole | {"x": "self"}), modes=True)
            publish(variant(op, shape, dunder, reject=refuse_quietly, slow=slow_operator), f"Tensor.{dunder}")
        return op

    return declare


_SLOT = {"self": "x", "other": "y", "result": "r"}


def _slots(names: tuple[str, ...]) -> str:
    return "".join(_SLOT[name] for name in sorted(names, key=list(_SLOT).index))


def _transformed_xy(formulas: Any, names: Any, keep_result: bool, holomorphic: bool) -> Any:
    """The backward step for payloads other than plain arrays, and for formulas that use the result."""

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
    """The raw functions of an operator by the type of its first operand."""

    def __init__(self, name: str) -> None:
        self.table = Impl(name)

    def __call__(self, x: Any, y: Any) -> Any:
        return self.table[type(x)](x, y)


# ----------------------------------------------------------------------------------------- one tensor, with parameters


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
    """Declare an operator that is elementwise in one tensor, followed by parameters: a slope, bounds, an exponent.

        @parametric(grad=lambda xp, g, self, negative_slope: xp.where(self > 0, g, g * negative_slope))
        def _leaky_relu(lib, self, negative_slope): ...

    All arguments are positional. The parameters of ``grad`` after ``xp`` and ``g`` are ``self`` and ``result`` if it
    needs them, in this order, then either all of the operator's parameters or none. The registry has it as general.

    ``slope``: a body for large real arrays that returns the result and the derivative, if both cost little more than
    one; the node saves the derivative, and the backward step is one product. ``to_float``: integers are first converted
    to the default dtype. ``fast``: the dtypes that do not need ``check(info, x, None, dtype)``, which raises PyTorch's
    error for an unsupported dtype. ``saved_as``: PyTorch's names of saved values if they differ from the formula's.
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
            values = ", ".join(["x"] * keep_self + ["r"] * keep_result + ["*n.p"] * with_p)
            step = Shape("parametric_backward", PARAMETRIC_BACKWARD, BACKWARD, {"values": values}, **saves)
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
        asked = {
            "records": grad is not None,
            "check": fast is not None,
            "to_float": to_float,
            "r": "r = " if keep_result else "",
        }
        asked |= saves if grad is not None else {}

        def scope() -> dict[str, Any]:
            return {
                **_NAMES, "info": info, "N": N, "table": Impl(info.name), "raw": getattr(ARRAYS, info.name),
                "accepted": INEXACT if fast is None else fast,
                "with_slope": None if slope is None else partial(slope, ARRAYS.lib),
            }  # fmt: skip

        op = hot(info.name, Shape("parametric", PARAMETRIC, "input, *p", **asked, modes=True), scope, info.doc)
        enter(info, op, N, jvp, Shape("parametric", PARAMETRIC, "input, *p", **asked))
        if names:
            publish(op, names)
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
    "FLOATS": FLOATS, "INEXACT": INEXACT, "both": elementwise_multi, "cast": cast, "default_np": default_np,
    "elementwise": elementwise, "logical_dtype": logical_dtype, "multiply_into": multiply_into,
}  # fmt: skip

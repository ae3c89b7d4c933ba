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

from numpy import ndarray, ufunc

from .._arrays.layouts import iterated, when_needless
from .._arrays.library import INEXACT, constants_for
from .._arrays.shared_ufuncs import shared
from .._arrays.threads import elementwise
from .._base.dtypes import REAL_NUMBERS
from .._base.late_names import Unmade
from .._base.registry import ARRAYS, Impl, Operator, publish
from .._tape.node import Box, Node, named
from .backward import Call, backward_step, elementwise_jvp, shared_product
from .declare import Formula, Sources, declared, enter, formula_names, names_of, publish_elementwise, slotted
from .placed import placed
from .recording import BINARY, UNARY, head_of_one, one
from .slow_path import refuse_second, refuse_unbound, slow_operator
from .templates import Shape, hot, variant

# ---- one tensor


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

    def declare(body: Any) -> Any:
        info = declared(unary, body, facts, batch="elementwise", to_float=to_float, integers=integers)
        calls = (("fx", grad, _slots(uses)),)
        sources: Sources = {name: SLOT[name] for name in uses}
        make_node = slotted(info, node, calls, sources, *_slots(uses), holomorphic=holomorphic)

        def core() -> Shape:
            asked = {"records": grad is not None, "check": to_float or integers, "limited": _limited(info, fast)}
            needless = when_needless(info.layout, "a")
            return Shape("unary", UNARY, "input", **_kept(uses), **asked, needless=needless, blocks=blocks)

        def scope() -> dict[str, Any]:
            return _with_blocks(names_of(info, fast=fast), core(), calls, holomorphic)

        enter(info, make_node, elementwise_jvp(calls), "input, *, out=None", core, scope, out=True)
        publish_elementwise(info, names, lambda: core().but(modes=True), inplace=inplace)
        return info.op

    return declare


def _limited(info: Operator, fast: Any) -> bool:
    """Whether PyTorch refuses some floating or complex dtype: where it records, nothing else looks at dtypes."""
    return info.check is not None and not INEXACT.issubset(fast)


SLOT = {"self": "x", "other": "y", "result": "result"}


def _slots(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(SLOT.get(name, "params") for name in names)


def _kept(names: tuple[str, ...]) -> dict[str, Any]:
    """The flags of what a node saves."""
    keep_result = "result" in names
    return {"keep_self": "self" in names, "keep_result": keep_result, "keep": "r = " if keep_result else ""}


def _with_blocks(known: dict[str, Any], core: Shape, calls: tuple[Call, ...], holomorphic: bool) -> dict[str, Any]:
    """The names in a text, and the same text for large arrays and for those in another order than rows.

    The array library's function and the backward step run block by block in ``large``. The backward steps of both lay
    out their cotangents as PyTorch's.
    """
    name, N = known["info"].name, known["N"]

    def large() -> dict[str, Any]:
        raw, bare = (partial(elementwise, known[name]) for name in ("raw", "bare"))
        if N is None:
            return {**known, "raw": raw, "bare": bare}
        made = {**known, "raw": raw, "bare": bare, "N": stepping(_blocked)}
        return made | {"fn": ByFirst(known["info"], raw, known["constants"])} if "fn" in known else made

    def stepping(of_arrays: Any) -> Any:
        steps = tuple([(edge, placed(f, of_arrays(f)) if used else f, used) for edge, f, used in calls])
        step = backward_step(known["info"], steps, holomorphic, broadcast=len(calls) > 1)
        return type(N.__name__, (N,), {"__slots__": (), "__module__": N.__module__, "backward": step})

    def other_order() -> dict[str, Any]:
        return {**known, "N": stepping(shared_product)}

    alike = core.but(blocks=False, orders=False, careful=True)
    made = {**known, "large": hot(name, alike, large)}
    return made | {"other_order": hot(name, alike, other_order)} if core.flags.get("orders") else made


def _blocked(formula: Any) -> Any:
    """A derivative formula that runs block by block."""
    return lambda xp, g, *values: elementwise(partial(formula, xp), g, *values)


# ---- two tensors


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
    reflected: str = "",
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator that is elementwise in two broadcast tensors, or a tensor and a Python number.

    ``self`` and ``other`` are the derivative formulas (names: ``self, other, result``); without them the result never
    requires grad. ``to_float``: two integer tensors are first converted to the default dtype. ``integers``: the array
    library's function differs from PyTorch's on integers and bools; the declaration's ``integer`` body handles them.
    ``fast``: the dtypes that need no conversion or check (see ``promote_and_retry``), ``pairs``: those for two tensors
    if they differ. ``scalar_node``: the node's name if the second operand is a number. ``numbers``: the types of number
    that the second operand may have; empty if PyTorch requires a tensor. ``dunder``: the Python operator's method,
    ``reflected``: that of the operands exchanged, if they commute.
    The kind undoes broadcasting, not the formula.
    """
    x_names, y_names = (formula_names(f, ("self", "other", "result")) for f in (self, other))
    used = tuple(dict.fromkeys(x_names + y_names))
    calls = (("fx", self, _slots(x_names)), ("fy", other, _slots(y_names)))

    def declare(body: Any) -> Any:
        info = declared(
            binary, body, facts, arity=2, batch="elementwise", to_float=to_float, integers=integers, numbers=numbers
        )
        info.underived = tuple(k for k, f in enumerate((self, other)) if getattr(f, "underived", False))
        members: dict[str, Any] = {}
        if scalar_node:
            members = {"_edges": _edges_of_tensors, "looked_at": _named_by_operand(scalar_node)}
        kept = ("x", "y") + ("result",) * ("result" in used)
        sources: Sources = {name: SLOT[name] for name in used}
        make_node = slotted(
            info, node, calls, sources, *kept, holomorphic=holomorphic, step={"broadcast": True}, **members
        )

        def core() -> Shape:
            sure = 1 + (self is not None or not numbers)  # else the second may be a number there
            asked = {
                "records": self is not None, **_kept(used),
                "xx": "self" in x_names, "xy": "other" in x_names, "yx": "self" in y_names, "yy": "other" in y_names,
                "both_x": "self" in used, "both_y": "other" in used,
                "by_shape": not {"self", "other"}.intersection(used),
                "check": to_float or integers, "limited": _limited(info, fast), "number": bool(numbers), "x": "input",
                "x_needless": when_needless(info.layout, "xa"),
                "needless": when_needless(info.layout, "xa", "ya", sure=sure),
                "keep_number": "other" in x_names or scalar_node is not None,  # the node's name depends on it
                "orders": self is not None and bool(used), "x_orders": "self" in x_names or "result" in x_names,
            }  # fmt: skip
            return Shape("binary", BINARY, "input, other", **asked, blocks=blocks)

        def scope() -> dict[str, Any]:
            raw = getattr(ARRAYS, info.name)
            raw = raw if blocks else shared(raw)  # which asks no operand how large it is
            constants = constants_for(fast, isinstance(raw, ufunc))
            known = names_of(
                info, fn=ByFirst(info, raw, constants), fast=fast, pairs=fast if pairs is None else pairs,
                numbers=numbers, constants=constants, reject=refuse_second, raw=raw,
            )  # fmt: skip
            return _with_blocks(known, core(), calls, holomorphic)

        def operator_form(name: str) -> Any:
            shape = core().but("self, other", x="self", modes=True)
            replaced = {"reject": partial(refuse_second, position=0), "refuse_first": partial(refuse_unbound, name)}
            return variant(info.op, shape, name, slow=slow_operator, **replaced)

        op = enter(info, make_node, elementwise_jvp(calls), "input, other, *, out=None", core, scope, out=True)
        of_method = partial(refuse_second, position=1)
        publish_elementwise(info, names, lambda: core().but(modes=True), inplace=inplace, reject=of_method)
        for name in (dunder, *reflected.split()) if dunder else ():
            publish(Unmade(partial(operator_form, name)), f"Tensor.{name}")
        return op

    return declare


def _number_second(n: Any) -> bool:
    return n.y is not None and not isinstance(n.y, (Box, tuple))


def _edges_of_tensors(n: Any) -> tuple[Any, ...]:
    """The edges of the tensor operands: PyTorch's node for a number as second operand has one input."""
    return (n.fx,) if _number_second(n) else (n.fx, n.fy)


def _named_by_operand(scalar_node: str) -> Any:
    def looked_at(n: Any) -> Any:
        n = Node.looked_at(n)
        return named(n, scalar_node) if _number_second(n) and type(n).__name__ != scalar_node else n

    return looked_at


class ByFirst(Impl):
    """The raw functions of an operator, called by the type of its first operand.

    It is called for what is no array, and for arrays in another order than row-major. Where the operands' orders differ
    NumPy's ufuncs prefer rows and PyTorch the first operand's order; if that one is row-major, both find the same.
    """

    def __init__(self, info: Operator, raw: Any, constants: Any) -> None:
        super().__init__(info.name)
        self.symbol = info.symbol
        placed = raw if info.layout is not None else iterated(raw)
        self[ndarray] = lambda x, y: placed(x, constants[x.dtype][y] if type(y) in info.numbers else y)

    def __missing__(self, ty: type) -> Any:
        if self.symbol is None:
            return super().__missing__(ty)
        self[ty] = self.symbol
        return self.symbol

    def __call__(self, x: Any, y: Any) -> Any:
        return self[type(x)](x, y)


# ---- one tensor, with parameters


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
    kept = tuple(name for name in ("self", "result") if name in uses)

    def declare(body: Any) -> Any:
        info = declared(parametric, body, facts, kind="general", batch="elementwise", to_float=to_float)
        if grad is not None and uses != kept + info.params[1:] * (len(uses) > len(kept)):
            raise TypeError(f"the formula of {info.name} names {uses}: not {kept}, then all parameters or none")
        calls = (("fx", grad, tuple(dict.fromkeys(_slots(uses)))),)
        slots = tuple(SLOT[name] for name in kept) + ("result",) * (slope is not None and "result" not in kept)
        sources: Sources = {
            **{name: SLOT[name] for name in kept},
            **{name: k for k, name in enumerate(info.params[1:])},
        }
        shown = {info.saved_as.get(name, name): source for name, source in sources.items()}
        step = {"blocks": True, "slope": slope is not None}
        make_node = slotted(
            info, node, calls, shown, "params", *slots, holomorphic=holomorphic, step=step, saved_names=tuple(sources)
        )

        def core() -> Shape:
            asked: dict[str, Any] = {
                "records": grad is not None, "check": fast is not None, "to_float": to_float, "elementwise": True,
                "keep_self": "self" in uses, "keep_result": "result" in uses, "slope": slope is not None,
            }  # fmt: skip
            return one(info, **asked)

        def scope() -> dict[str, Any]:
            with_slope = None if slope is None else partial(slope, ARRAYS.lib)
            return names_of(info, accepted=INEXACT if fast is None else fast, with_slope=with_slope)

        return enter(info, make_node, elementwise_jvp(calls), head_of_one(info), core, scope, names)

    return declare

"""The kind for everything that is not elementwise in one or two tensors, linear or bilinear.

    @general(tensors=3, grad={"input": ..., "weight": ..., "bias": ...})
    def addmm(lib, input, weight, bias, beta, alpha): ...

The first ``tensors`` arguments are the operands (a Tensor, ``None`` or a Python number each; with ``tensors=-1`` the
first argument is a sequence of Tensors), the others are plain parameters, all given by position. ``grad`` is one
formula that returns the cotangents of all operands (of the one operand itself if there is only one), or a dict of one
formula per operand. A formula may name, after ``xp`` and ``g``: an operand, ``OPERAND_shape``, ``OPERAND_dtype``, a
parameter, ``result`` (``result0``, ``result1``, ... with several outputs) and ``needs`` (a bool for each operand).
With several differentiable outputs ``g`` is a tuple; an output that nothing used has zeros.

Forward mode comes from the formula: the tangent is the transpose of the transpose (``_payloads.transforms.transposed_jvp``).

Every operator of this kind has a recording function that takes whatever may come (``anything_body``); most have one in
front of it that takes plain arrays only, and leaves all else to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import registry
from .._base.errors import nearest
from .._base.registry import RAW, Impl, Operator, T, place, register
from .._tape.node import FREED, Box, Parts, Port, box_of, port_of
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import Tensor, alias_payload, make, note_view, wrap
from .declare import Formula, camel, declared, formula_names, node_class, not_saved
from .slow_path import MULTI_OUTPUT_VIEW, broadcast_error, cast, common_dtype, overridden, push_down, type_text
from .templates import CHECKED, END, LINE, RESULT, UNRECORDED, Shape, block, hot, variant

NUMBERS = frozenset((bool, int, float, complex))


class _Plain(dict[type, bool]):
    """Payload type -> whether it is an array or a number, not a transform's value or a Tensor."""

    def __missing__(self, ty: type) -> bool:
        from .._payloads.transforms import Value

        plain = self[ty] = not issubclass(ty, (Value, Tensor))
        return plain


PLAIN = _Plain()


# ---------------------------------------------------------------------------------------------------------- the texts
NODE = "n = N()\nn.fx = {edges}\nn.seq = next(ticks)\nn.h = None"
SLOW = "if M:\n    return slow(info, ({args}))"
STORED = "n.s = store({operands}, {arrays}, p, n.fx, {results})"


def one_body(*, records: bool, many: bool = False, saved: str = "", modes: bool = False) -> str:
    """One tensor to one, or to ``many``; ``saved``: the list of what the node saves."""
    return block(
        _ONE_TO_MANY if many else _ONE,
        mode=SLOW if modes else "",
        args="input, *p",
        fx="fx = input._fn" if records else "",
        r="r = " if records and not many else "",
        recorded=(_RECORDED_MANY if many else _RECORDED_ONE) if records else "",
        otherwise="" if records and not many else UNRECORDED,
        node=NODE,
        edges="(fx,)",
        result=RESULT_BOX if "b" in saved.split(", ") else "",
        saved=saved,
        stored=STORED,
        operands="(input,)",
        arrays="(a,)",
        results="result",
        line=LINE,
        end=END,
        unrecorded=UNRECORDED,
    )


_ONE = """
@mode
try:
    @fx
    a = input._a
except AttributeError:
    return refuse(info, (input,), ({args}))
t = make()
t._m = None
try:
    t._a = {r}table[type(a)](a, *p)
except ARITHMETIC:
    t._a = {r}silently(table[type(a)], a, *p)
@recorded
@otherwise
"""
_RECORDED_ONE = """
if fx is None:
    @unrecorded
@node
@result
n.s = [{saved}]
@end
"""
RESULT_BOX = "t._m = b = Box()\nb.a = r\nb.cell = None"
_ONE_TO_MANY = """
@mode
try:
    @fx
    a = input._a
except AttributeError:
    return refuse(info, (input,), ({args}))
try:
    result = table[type(a)](a, *p)
except ARITHMETIC:
    result = silently(table[type(a)], a, *p)
@recorded
return tuple([wrap(r) for r in result])
"""
_RECORDED_MANY = """
if fx is not None:
    @node
    @stored
    @line
    return wrap_many(info, n, result, {operands}, p)
"""


def pointwise_body(
    *, count: int, records: bool, promoting: bool = False, saved: str | None = None, modes: bool = False
) -> str:
    """Two or three plain tensors, elementwise: ``where``, ``addcmul``, ``lerp``."""
    xs = "xyz"[:count]
    plain = [f"type({x}a) is not ndarray" for x in xs]
    plain += [f"not {' is '.join(f'{x}a.dtype' for x in xs)}"] * promoting
    return block(
        _POINTWISE,
        mode="if EVERY:\n    return slow(info, ({args}))" if modes else "",
        args=f"{', '.join(xs)}, *p",
        read="\n".join([f"{x}a = {x}._a" for x in xs] + [f"f{x} = {x}._fn" for x in xs] * records),
        other="slow(info, ({args})) if M else run({args})" if modes else "run({args})",
        not_plain=" or ".join(plain),
        tracked="recorded = " + " or ".join(f"f{x} is not None" for x in xs) if records else "",
        slow="if M and recorded:\n    return slow(info, ({args}))" if modes and records else "",
        values=", ".join(f"{x}a" for x in xs),
        r="r = " if records and saved is None else "",
        recorded="if recorded:\n    @node\n    n.shapes = {shapes}\n    @saves\n    @line\n    t._fn = n" if records else "",
        node=NODE,
        edges=_tuple(f"f{x}" for x in xs),
        shapes=_tuple(f"{x}a.shape" for x in xs),
        saves=STORED if saved is None else f"n.s = [{saved}]",
        operands=_tuple(xs),
        arrays=_tuple(f"{x}a" for x in xs),
        results="(r,)",
        line=LINE,
    )


_POINTWISE = """
@mode
try:
    @read
except AttributeError:
    return {other}
if {not_plain}:
    return {other}
@tracked
@slow
t = make()
t._m = t._fn = None
try:
    try:
        t._a = {r}table[ndarray]({values}, *p)
    except ARITHMETIC:
        t._a = {r}silently(table[ndarray], {values}, *p)
except ValueError:
    return run({args})  # it finds the error's text
@recorded
return t
"""


def _tuple(items: Any) -> str:
    return f"({', '.join(items)})"


def several_body(
    *,
    count: int,
    records: bool,
    many: bool = False,
    promoting: bool = False,
    kept: int | None = None,
    modes: bool = False,
) -> str:
    """Several tensors, all but the first of which may be ``None``: ``gather``, ``nll``; or a sequence of them: ``cat``.

    ``count``: how many, -1 for a sequence. ``kept``: where among the saved values the result's box is.
    """
    xs = [f"x{k}" for k in range(count)]
    read = ["if {x} is None:\n    {x}a = {x}f = None\nelse:\n    {x}a = {x}._a\n    {x}f = {x}._fn".replace("{x}", x) for x in xs[1:]]
    plain = [f"type({x}a) is not ndarray and {x} is not None" for x in xs[1:]]
    if promoting:
        plain += [f"{x} is None" for x in xs[1:]] + [f"not {' is '.join(f'{x}a.dtype' for x in xs)}"]
    if count < 0:
        parts = {
            "args": "tensors, *p",
            "read": "arrays = [t._a for t in tensors]\nedges = [t._fn for t in tensors]",
            "not_plain": "{*map(type, arrays)} != ARRAYS" + " or len({a.dtype for a in arrays}) > 1" * promoting,
            "values": "arrays",
            "tracked": "edges.count(None) < len(edges)",
            "operands": "tensors",
            "arrays": "arrays",
            "edges": "tuple(edges)",
        }
    else:
        parts = {
            "args": f"{', '.join(xs)}, *p",
            "read": "\n".join(["x0a = x0._a\nx0f = x0._fn", *read]),
            "not_plain": " or ".join(["type(x0a) is not ndarray", *plain]),
            "values": ", ".join(f"{x}a" for x in xs),
            "tracked": " or ".join(f"{x}f is not None" for x in xs),
            "operands": _tuple(xs),
            "arrays": _tuple(f"{x}a" for x in xs),
            "edges": _tuple(f"{x}f" for x in xs),
        }
    return block(
        _SEVERAL,
        mode=SLOW if modes else "",
        begin="n = None" if many else "t = make()\nt._a = result\nt._m = t._fn = None",
        recorded="if {tracked}:\n    @node\n    @stored\n    @box\n    @line\n    @tie" if records else "",
        node=NODE,
        stored=STORED,
        results="result" if many else "(result,)",
        box=f"t._m = n.s[{kept}]" if kept is not None and not many else "",
        line=LINE,
        tie="" if many else "t._fn = n",
        end="return wrap_many(info, n, result, {operands}, p)" if many else "return t",
        **parts,
    )


_SEVERAL = """
@mode
try:
    @read
except AttributeError:
    return run({args})
if {not_plain}:
    return run({args})
try:
    result = table[ndarray]({values}, *p)
except ARITHMETIC:
    result = silently(table[ndarray], {values}, *p)
@begin
@recorded
@end
"""


def anything_body(
    *,
    count: int,
    records: bool,
    many: bool = False,
    promoting: bool = False,
    broadcast: bool = False,
    view: bool = False,
    kept: int | None = None,
    modes: bool = False,
) -> str:
    """Whatever operands may come: numbers, ``None``, values of transforms, several dtypes."""
    refused = """
except ValueError as error:
    if "broadcast" in str(error):
        raise no_broadcast(operands) from None
    raise
"""
    return block(
        _ANYTHING,
        mode="if M:\n    return slow(info, args)" if modes else "",
        split="operands, p = args[0], args[1:]" if count < 0 else f"operands, p = args[:{count}], args[{count}:]",
        promoted="operands = promoted(operands, info.promote)" if promoting else "",
        values="raws" if count < 0 else "*raws",
        lifted="lifted" if count < 0 else "*lifted",
        shared="if type(raws[0]) is not ndarray:\n    raws[0] = alias_payload(operands[0])" if view else "",
        run="try:\n    @compute\n@refused" if broadcast else "@compute",
        refused=refused,
        compute=_COMPUTE,
        begin="n = None" if many else "t = make()\nt._a = result\nt._m = t._fn = None",
        recorded="if edges.count(None) < len(edges):\n    @node\n    @shapes\n    @stored\n    @box\n    @line\n    @tie"
        if records
        else "",
        node=NODE,
        edges="tuple(edges)",
        shapes="n.shapes = [getattr(a, 'shape', ()) for a in raws]" if broadcast else "",
        stored=STORED,
        operands="operands",
        arrays="raws",
        results="result" if many else "(result,)",
        box=f"t._m = n.s[{kept}]" if kept is not None and not many else "",
        line=LINE,
        tie="" if many else "t._fn = n",
        made="made = wrap_many(info, n, result, operands, p)" if many else "",
        viewed=(_VIEWED_MANY if many else _VIEWED) if view else "",
        end="return made" if many else "return t",
    )


_ANYTHING = """
@mode
@split
@promoted
raws = []
edges = []
plain = True
lead = None
for x in operands:
    try:
        a = x._a
        edge = x._fn
    except AttributeError:
        a = x
        edge = None
        if x is not None and type(x) not in NUMBERS:
            return refuse(info, operands, args)
    else:
        if lead is None:
            lead = type(a)
    if not PLAIN[type(a)]:
        plain = False
    raws.append(a)
    edges.append(edge)
if not plain:
    lifted = push_down(operands)
    if lifted is not None:
        return run({lifted}, *p)
    result = transformed(info, raws, p)
else:
    @shared
    @run
@begin
@recorded
@made
@viewed
@end
"""
_COMPUTE = """
try:
    result = table[lead]({values}, *p)
except ARITHMETIC:
    result = silently(table[lead], {values}, *p)
"""
_VIEWED = "t._v = (operands[0], info, p, 0)\nif not plain:\n    note_view(operands[0], t)"
_VIEWED_MANY = "if not plain:\n    for t in made:\n        note_view(operands[0], t)"


def general_backward(*, saved: str) -> str:
    """The backward step of one formula in one operand; ``saved`` has ``b`` for each saved box, ``p`` for another value."""
    values = [f"v{k}" for k in range(len(saved))]
    boxes = [v for v, how in zip(values, saved, strict=True) if how == "b"]
    return block(
        _GENERAL_BACKWARD,
        read=f"({', '.join(values)}{',' * (len(values) == 1)}) = n.s" if values else "",
        checked="\n".join(block(_OPENED, v=v, checked=CHECKED, box=v) for v in boxes),
        call=", ".join(["xp", "g", *values]),
        freed=f"if not keep:\n    n.s = [{', '.join('FREED' if v in boxes else v for v in values)}]" if boxes else "",
    )


_OPENED = "@checked\n{v} = {v}.a"
_GENERAL_BACKWARD = """
if xp is not RAW:
    return transformed(n, xp, g, keep)
@read
@checked
d = formula({call})
@freed
return (n.fx[0], d)
"""


def pointwise_backward(*, saved: str, formulas: str) -> str:
    """The backward step of a pointwise operator; ``formulas``: which saved values each names, ``-`` where there is none."""
    values = [f"v{k}" for k in range(len(saved))]
    calls = formulas.split(";")
    return block(
        _POINTWISE_BACKWARD,
        read=f"({', '.join(values)}{',' * (len(values) == 1)}) = n.s" if values else "",
        opened="\n".join(
            block("if type({v}) is Box:\n    @checked\n    {v} = {v}.a", v=v, checked=CHECKED, box=v)
            for v, how in zip(values, saved, strict=True)
            if how == "b"
        ),
        edges=", ".join(f"f{i}" for i in range(len(calls))),
        shapes=", ".join(f"s{i}" for i in range(len(calls))),
        steps="\n".join(
            block(
                _NO_STEP if used == "-" else _STEP,
                i=str(i),
                call=", ".join(["xp", "g", *(f"v{j}" for j in used.split(",") if j)]),
            )
            for i, used in enumerate(calls)
        ),
    )


_POINTWISE_BACKWARD = """
if xp is not RAW:
    return transformed(n, xp, g, keep)
@read
@opened
{edges} = n.fx
{shapes} = n.shapes
pairs = ()
@steps
if not keep:
    n.release()
return pairs
"""
_STEP = """
if f{i} is not None:
    d = formula{i}({call})
    if d is not None and d.shape != s{i}:
        d = xp.sum_to(d, s{i})
    pairs += (f{i}, d)
"""
_NO_STEP = "if f{i} is not None:\n    pairs += (f{i}, None)"


# ------------------------------------------------------------------------------------------------------ the declaration
def general(
    grad: Formula | dict[str, Formula | None] | None = None,
    *,
    tensors: int = 1,
    outputs: int = 1,
    differentiable: tuple[bool, ...] | None = None,
    holomorphic: bool = True,
    promote: Any = None,
    node: str | None = None,
    names: str | None = None,
    **facts: Any,
) -> Callable[[Any], Any]:
    """Declare an operator of the general kind; see the module's text.

    ``outputs``: how many it returns, -1 for a list; ``results``: their names, which formulas may use. ``promote``:
    ``True`` brings the operands to their common dtype first, a function of the operands gives another one. ``batch``
    is its batching rule (see ``_payloads.batching``).
    """

    def declare(body: Any) -> Any:
        info = declared(general, body, facts, arity=tensors, outputs=outputs, promote=promote)
        info.differentiable = differentiable or (True,) * max(outputs, 1)
        if isinstance(grad, dict):  # an operand without a formula is a constant, or an error in the backward pass
            formulas = [grad.get(name) for name in info.params[: max(tensors, 0)]]
            info.underived = tuple(k for k, f in enumerate(formulas) if f is None or getattr(f, "underived", False))
        plan = info.saves = SavePlan(info, grad, holomorphic)
        N = None
        if grad is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "meta", "s", "shapes"),
                edges=_edges_of(info, grad),
                backward=plan.backward(),
                release=plan.release,
                saved=lambda n, name: plan.saved(n, name),  # noqa: PLW0108  only a function binds to the node
                saved_names=plan.public_names,
                boxed_edges=property(plan.boxed_edges),
                plan=plan,
            )

        def scope() -> dict[str, Any]:
            return {**_NAMES, "info": info, "N": N, "table": Impl(info.name), "store": plan.store(), "run": run}

        whole, fast = _shapes_of(info, plan, N is not None)
        run = hot(info.name, whole, scope, info.doc)
        op = variant(run, (fast or whole).with_modes())
        info.op = op
        info.make_core = (lambda: run) if fast is None else (lambda: variant(run, fast))
        info.node = N
        if N is None and info.why_not is None:
            info.why_not = "no derivative"
        register(info)
        if names:
            place(op, names)
        return op

    return declare


def _shapes_of(info: Operator, plan: SavePlan, records: bool) -> tuple[Shape, Shape | None]:
    """The shapes of an operator's recording function: for whatever may come, and for plain arrays."""
    count, many, broadcast = info.arity, info.outputs != 1, info.batch == "elementwise"
    asked: dict[str, Any] = {"records": records, "many": many, "promoting": info.promote is not None}
    asked["kept"] = plan.kept_results[0][0] if plan.kept_results and not many else None
    whole = Shape(anything_body, "*args", count=count, **asked, broadcast=broadcast, view=info.view)
    if count == 1 and info.outputs > 0 and not (broadcast or info.promote or info.view):
        saved = ", ".join(plan.listed("input")) if records and not many else ""
        return whole, Shape(one_body, "input, *p", records=records, many=many, saved=saved)
    if broadcast and count in (2, 3) and not many:
        saved = ", ".join(plan.listed(*"xyz"[:count])) if plan.pointwise and records else None
        head = f"{', '.join('xyz'[:count])}, *p"
        return whole, Shape(
            pointwise_body, head, count=count, records=records, promoting=asked["promoting"], saved=saved
        )
    if count and not (broadcast or info.view or count == 1):
        head = "tensors, *p" if count < 0 else ", ".join(f"x{k}" for k in range(count)) + ", *p"
        return whole, Shape(several_body, head, count=count, **asked)
    return whole, None


# ----------------------------------------------------------------------------------------------- what the texts call
def wrap_many(info: Operator, n: Any, result: Any, operands: Any, p: Any) -> tuple[Tensor, ...]:
    """The Tensors of an operator with several outputs; each that can be differentiated has its Port."""
    boxes = {}
    if n is not None:
        n.meta = [(a.shape, a.dtype) for a in result]
        boxes = {k: n.s[j] for j, k in info.saves.kept_results}
    tensors = []
    differentiable = info.differentiable
    last = len(differentiable) - 1
    for k, a in enumerate(result):
        t = make()
        t._a = a
        t._m = boxes.get(k)
        t._fn = Port(n, k) if n is not None and differentiable[min(k, last)] and a.dtype.kind in "fcV" else None
        if info.view:
            t._v = (operands[0], info, (*p, k), MULTI_OUTPUT_VIEW)
        tensors.append(t)
    return tuple(tensors)


def _promoted(operands: Any, promote: Any) -> Any:
    """The operands in their common dtype; Python numbers stay as they are."""
    if (
        promote is True
        and len({t._a.dtype if isinstance(t, Tensor) else type(t) for t in operands if t is not None}) == 1
    ):
        return operands
    dtype = common_dtype([t for t in operands if t is not None]) if promote is True else promote(operands)
    return [cast(t, dtype) if isinstance(t, Tensor) else t for t in operands] if dtype is not None else operands


def _transformed(info: Operator, raws: list[Any], p: tuple[Any, ...]) -> Any:
    """The result on values of transforms, or on arrays without data."""
    if any(getattr(a, "is_meta", False) for a in raws):
        from .._payloads.meta import check_devices

        check_devices(info.name, raws)
    return registry.bind(info, *raws, *p) if info.arity >= 0 else registry.bind(info, raws, *p)


def _no_broadcast(operands: Any) -> Exception:
    tensors = [t for t in operands if isinstance(t, Tensor)]
    for i, x in enumerate(tensors):
        for y in tensors[i + 1 :]:
            try:
                np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
            except ValueError:
                return broadcast_error(x, y)
    return RuntimeError("shapes do not broadcast")


def _refuse(info: Operator, operands: Any, args: tuple[Any, ...]) -> Any:
    """An operand that is no Tensor: a payload from inside a transform, a NumPy number, or a mistake."""
    from .._payloads.transforms import Value

    result = overridden(info, operands)
    if result is not ...:
        return result
    if any(isinstance(t, Value) for t in operands):
        return registry.bind(info, *args)
    if any(isinstance(t, np.generic) for t in operands):
        fixed = [t.item() if isinstance(t, np.generic) else t for t in operands]
        return info.core(*fixed, *args[len(fixed) :]) if info.arity >= 0 else info.core(fixed, *args[1:])
    for position, t in enumerate(operands):
        if t is not None and not isinstance(t, Tensor) and type(t) not in NUMBERS:
            if info.arity < 0:
                raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type_text(t)}")
            raise TypeError(
                f"{info.called}(): argument '{info.params[position]}' (position {position + 1}) must be Tensor, "
                f"not {type_text(t)}"
            )
    raise AttributeError(f"{info.name}: a tensor without payload")


_NAMES = {
    "ARRAYS": {np.ndarray}, "NUMBERS": NUMBERS, "PLAIN": PLAIN, "alias_payload": alias_payload,
    "no_broadcast": _no_broadcast, "note_view": note_view, "promoted": _promoted, "push_down": push_down,
    "refuse": _refuse, "transformed": _transformed, "wrap": wrap, "wrap_many": wrap_many,
}  # fmt: skip


# --------------------------------------------------------------------------------------------------- what a node saves
def _plain_dtype(a: Any) -> Any:
    """The array library's dtype of an operand; a transform's value has NumPy's behind its own."""
    while isinstance(a, Tensor):
        a = a._a
    dtype = getattr(a, "dtype", None)
    return getattr(dtype, "base_dtype", dtype)


def _fresh_box(a: Any) -> Box:
    b = Box()
    b.a = a
    b.cell = None
    return b


def _edges_of(info: Operator, grad: Any) -> Any:
    """How a node tells its edges: an operand that is a constant by declaration (an index, a mask) has none."""
    names = info.params[: info.arity]
    if isinstance(grad, dict) and info.arity > 1:
        kept = [k for k, name in enumerate(names) if grad.get(name) is not None]
        if len(kept) < len(names):
            return lambda n: tuple([n.fx[k] for k in kept])
    first = info.constants_from  # of a sequence of operands: from this one on
    return (lambda n: n.fx) if first is None else (lambda n: n.fx[:first])


class SavePlan:
    """What a general operator saves and how its formulas are called; made once per operator."""

    def __init__(self, info: Operator, grad: Any, holomorphic: bool) -> None:
        self.info = info
        self.holomorphic = holomorphic
        operand_names = info.params[: info.arity] if info.arity >= 0 else info.params[:1]
        self.joint = None if isinstance(grad, dict) else grad
        self.formulas = [(f, formula_names(f)) for f in map(grad.get, operand_names)] if isinstance(grad, dict) else []
        named = [names for _, names in self.formulas] or [formula_names(self.joint)]
        self.uses = tuple(dict.fromkeys(name for names in named for name in names))
        self.sources = tuple(self._source(name, operand_names) for name in self.uses)
        # for each of them the operands whose formulas use it; a joint formula's count as used by all
        self.users = tuple(
            tuple(k for k, (_, names) in enumerate(self.formulas) if use in names) or range(len(operand_names))
            for use in self.uses
        )
        self.pointwise = all(how in ("operand", "param") for how, _ in self.sources)
        self.kept_results = tuple((j, i) for j, (how, i) in enumerate(self.sources) if how == "result")
        self.public_names = tuple(n for n, (how, _) in zip(self.uses, self.sources, strict=True) if how != "needs")
        self.single = sum(info.differentiable) == 1 and info.outputs > 0

    def _source(self, name: str, operand_names: tuple[str, ...]) -> tuple[str, Any]:
        """Where a value that a formula names comes from."""
        info = self.info
        if name in operand_names:
            return ("operand", operand_names.index(name)) if info.arity >= 0 else ("operands", 0)
        if name in info.params:
            return ("param", info.params.index(name) - len(operand_names))
        if name == "needs":
            return ("needs", 0)
        base, _, first = name.rpartition("_from")  # ``tensors_from1``: the operands of a sequence without the first
        if info.arity < 0 and base in operand_names and first.isdigit():
            return ("operands", int(first))
        if name.startswith("result") and (name[6:] or "0").isdigit():
            return ("result", int(name[6:] or 0))
        if name in info.results:
            return ("result", info.results.index(name))
        base, _, suffix = name.rpartition("_")
        if base in operand_names and suffix in ("shape", "dtype"):
            return (suffix if info.arity >= 0 else suffix + "s", operand_names.index(base))
        known = (*info.params, *info.results, "result", "needs")
        raise TypeError(f"a formula of {info.name} names '{name}', which is nothing of it{nearest(name, known)}")

    # -------------------------------------------------------------------------------------------------------- saving
    def listed(self, *operands: str) -> list[str]:
        """One expression for each saved value, where the operands are plain tensors with these names.

        The result's box is ``b``; an operand's array is called as it is with an ``a`` behind it, or ``a`` if it is
        the only one.
        """
        parts = []
        for (how, i), users in zip(self.sources, self.users, strict=True):
            if how == "operand":  # kept only if a formula that will run names it
                x = operands[i]
                wanted = " or ".join(f"f{operands[u]} is not None" for u in users)
                parts.append(f"{x}._m or box_of({x})" if len(operands) == 1 else f"({x}._m or box_of({x})) if {wanted} else None")
            else:
                how_ = {"param": f"p[{i}]", "shape": "a.shape", "dtype": "a.dtype", "result": "b"}
                parts.append(how_.get(how, "(True,)"))
        return parts

    def store(self) -> Any:
        """The function that makes the list of what a node saves, for any operands: one expression for each."""
        parts = []
        for (how, i), users in zip(self.sources, self.users, strict=True):
            if how == "operand":
                t = f"operands[{i}]"
                wanted = " or ".join(f"edges[{u}] is not None" for u in users)
                kept = f"box_of({t})" if self.joint is not None else f"(box_of({t}) if {wanted} else None)"
                parts.append(f"{kept} if isinstance({t}, Tensor) else {t}")
            else:
                parts.append(
                    {
                        "param": f"p[{i}]",
                        "shape": f"getattr(raws[{i}], 'shape', ())",
                        "dtype": f"plain_dtype(raws[{i}])",
                        "result": f"fresh_box(results[{i}])",
                        "operands": f"[box_of(t) if isinstance(t, Tensor) else t for t in operands[{i}:]]",
                        "shapes": "[a.shape for a in raws]",
                        "dtypes": "[plain_dtype(a) for a in raws]",
                        "needs": "tuple([e is not None for e in edges])",
                    }[how]
                )
        shape = Shape(store_body, "operands, raws, p, edges, results", saved=", ".join(parts))
        return hot("store", shape, lambda: {"plain_dtype": _plain_dtype, "fresh_box": _fresh_box})

    @staticmethod
    def release(n: Any) -> None:
        """Free the saved values."""
        n.s = [FREED if isinstance(v, Box) or (type(v) is list and v and isinstance(v[0], Box)) else v for v in n.s]

    # ------------------------------------------------------------------------------------------------------- reading
    def value(self, n: Any, j: int, xp: Any) -> Any:
        """The j-th saved value as ``xp`` wants it."""
        how, i = self.sources[j]
        v = n.s[j]
        if how == "operand":
            return unbox(n, v, n.fx[i], xp)
        if how == "result":
            return unbox(n, v, n.fx and self._output(n, i), xp)
        if how == "operands":
            if v is FREED:
                return unbox(n, v, None, xp)
            return [unbox(n, b, e, xp) for b, e in zip(v, n.fx[i:], strict=True)]
        return v

    def _output(self, n: Any, k: int) -> Any:
        if self.info.outputs == 1:
            return n
        return port_of(n, k) if self.info.differentiable[min(k, len(self.info.differentiable) - 1)] else None

    def saved(self, n: Any, name: str) -> Any:
        """``_saved_NAME``."""
        key = name.replace("_sym_sizes", "_shape")
        if key not in self.uses:
            raise not_saved(n, key)
        return self.value(n, self.uses.index(key), T)

    def boxed_edges(self, n: Any) -> list[tuple[Any, Any]]:
        """(input node, saved box) pairs, so that a message can say whose value was overwritten."""
        pairs = []
        for (how, i), v in zip(self.sources, n.s, strict=True):
            if how == "operand":
                pairs.append((n.fx[i], v))
            elif how == "operands" and type(v) is list:
                pairs += zip(n.fx[i:], v, strict=True)
        return pairs

    # ------------------------------------------------------------------------------------------------- backward step
    def backward(self) -> Any:
        """The backward step: on plain arrays without loops where there is one result, in general for all else."""
        info = self.info
        broadcast = info.batch == "elementwise"
        general = _backward_of(self, info, broadcast)
        saved = "".join("b" if how in ("operand", "result") else "p" for how, _ in self.sources)
        scope: dict[str, Any] = {"transformed": general}
        if info.outputs == 1 and self.joint is not None and info.arity == 1 and not broadcast:
            shape = Shape(general_backward, "n, xp, g, keep", saved=saved)
            scope["formula"] = self.joint
        elif info.outputs == 1 and broadcast and self.formulas and self.pointwise:
            used = [
                "-" if f is None else ",".join(str(self.uses.index(name)) for name in names)
                for f, names in self.formulas
            ]
            shape = Shape(pointwise_backward, "n, xp, g, keep", saved=saved, formulas=";".join(used))
            scope |= {f"formula{i}": f for i, (f, _) in enumerate(self.formulas)}
        else:
            return general
        return hot(f"{info.name}_backward", shape, lambda: scope)


def store_body(*, saved: str) -> str:
    """What makes the list of what a node saves."""
    return f"return [{saved}]"


def _backward_of(plan: SavePlan, info: Operator, broadcast: bool) -> Any:
    """The backward step for any number of operands and results, and for any payload."""
    joint = plan.joint
    places = {name: j for j, name in enumerate(plan.uses)}
    calls = tuple((f, tuple(places[name] for name in names)) for f, names in plan.formulas)

    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = False
        if type(g) is Parts:
            xp, g = _materialized(n, xp, g, info, plan.single)
        if xp is RAW:
            saved = []
            for v in n.s:
                if type(v) is Box:
                    c = v.cell
                    if c is not None and c.seq > n.seq:
                        stale(n, v)
                    v = v.a
                elif type(v) is list:
                    v = [unbox(n, b, None, xp) for b in v]
                saved.append(v)
        else:
            saved = [plan.value(n, j, xp) for j in range(len(plan.uses))]
            conj = plan.holomorphic and is_complex(g[0] if type(g) is tuple else g)
            if conj:
                g = tuple(xp.conj(x) for x in g) if type(g) is tuple else xp.conj(g)
        edges = n.fx
        if joint is not None:  # what it names, in its order, is what is saved
            ds = joint(xp, g, *saved)
            if info.arity == 1:
                ds = (ds,)
        else:
            ds = [
                None if e is None or f is None else f(xp, g, *[saved[j] for j in used])
                for e, (f, used) in zip(edges, calls, strict=True)
            ]
        pairs: list[Any] = []
        for i, (edge, d) in enumerate(zip(edges, ds, strict=True)):
            if edge is None:
                continue
            if d is not None:
                if conj:
                    d = xp.conj(d)
                if broadcast and d.shape != n.shapes[i]:
                    d = xp.sum_to(d, n.shapes[i])
            pairs += (edge, d)
        if not keep:
            n.release()
        return tuple(pairs)

    return backward


def _materialized(n: Any, xp: Any, g: Parts, info: Operator, single: bool) -> tuple[Any, Any]:
    """The cotangents of all outputs; for one that nothing used zeros, or ``None`` where declared ``absent``."""
    parts = g.parts
    if xp is None:
        from .._tape.engine import xp_of

        xp = xp_of(next(iter(parts.values())))
    if single:
        return xp, parts[info.differentiable.index(True)]
    last = len(info.differentiable) - 1
    if info.absent:
        return xp, tuple(parts.get(k) for k in range(len(n.meta)))
    return xp, tuple(
        parts[k] if k in parts else (xp.zeros(shape, dtype) if info.differentiable[min(k, last)] else None)
        for k, (shape, dtype) in enumerate(n.meta)
    )


def named_by(operator: str, source: str, text: Callable[[Any], str]) -> None:
    """Name a general operator's nodes by one of their saved values: ``text(value)`` is the name.

    PyTorch has several functions, and so node names, where one operator here takes any number of dimensions.
    """
    info = registry.REGISTRY[operator]
    j = info.saves.uses.index(source)
    info.node.name = lambda n: text(n.s[j])  # type: ignore[method-assign, assignment]

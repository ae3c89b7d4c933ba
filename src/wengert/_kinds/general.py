"""The general kind: operators that are not elementwise in one or two tensors, linear or bilinear.

    @general(tensors=3, grad={"input": ..., "weight": ..., "bias": ...})
    def addmm(lib, input, weight, bias, beta, alpha): ...

The first ``tensors`` arguments are the operands (a Tensor, ``None`` or a Python number each; with ``tensors=-1`` the
first argument is a sequence of Tensors), the others are plain parameters, all given by position. ``grad`` is one
formula that returns the cotangents of all operands (of the one operand itself if there is only one), or a dict of one
formula per operand. A formula may name, after ``xp`` and ``g``: an operand, ``OPERAND_shape``, ``OPERAND_dtype``, a
parameter, ``result`` (``result0``, ``result1``, ... with several outputs) and ``needs`` (a bool for each operand).
With several differentiable outputs ``g`` is a tuple, with zeros for an unused output.

Forward mode comes from the formula: the tangent is the transpose of the transpose (``transforms.transposed_jvp``).

Every operator of this kind has a recording function for all arguments (``ANYTHING``); most have a faster one in front
of it for plain arrays only, which leaves all other cases to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base import registry
from .._base.constants import type_name
from .._base.dtypes import PYTHON_NUMBERS
from .._base.errors import nearest
from .._base.registry import ARRAYS, TENSORS, Impl, Operator, publish, register
from .._tape.error_text import broadcast_error, not_a_tensor
from .._tape.node import FREED, Box, Parts, Port, port_of
from .._tape.promotion import cast, common_dtype
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import Tensor, alias_payload, make, note_view, wrap
from .._tape.views import MULTI_OUTPUT_VIEW
from .backward import GENERAL_BACKWARD, POINTWISE_BACKWARD
from .declare import Formula, camel, declared, formula_names, node_class, not_saved
from .recording import ANYTHING, ONE, ONE_TO_MANY, POINTWISE, SEVERAL
from .slow_path import lift_to_common_level, overridden
from .templates import BACKWARD, Flags, Shape, hot, rendered, variant


class _Plain(dict[type, bool]):
    """A dict from a payload type to whether it is an array or a number, not a transform's value or a Tensor."""

    def __missing__(self, ty: type) -> bool:
        from .._payloads.transforms import Transformed

        plain = self[ty] = not issubclass(ty, (Transformed, Tensor)) and not hasattr(ty, "run_operator")
        return plain


PLAIN = _Plain()


# ---------------------------------------------------------------------------------------------------------- the texts


def _piece(name: str, **flags: Any) -> str:
    return "\n".join(rendered(f"@{name}", Flags(flags)))


def _several_parts(count: int, promoting: bool) -> tuple[str, dict[str, str]]:
    """The parameters of an operator on several tensors, and the names in its template that depend on them."""
    if count < 0:
        different = "{*map(type, arrays)} != PLAIN_ARRAYS" + " or len({a.dtype for a in arrays}) > 1" * promoting
        return "tensors, *p", {
            "args": "tensors, *p", "not_plain": different, "values": "arrays", "given": "tensors",
            "arrays": "arrays", "edges": "tuple(edges)", "tracked": "edges.count(None) < len(edges)",
        }  # fmt: skip
    xs = [f"x{k}" for k in range(count)]
    read = "if {x} is None:\n    {x}a = {x}f = None\nelse:\n    {x}a = {x}._payload\n    {x}f = {x}._node"
    plain = ["type(x0a) is not ndarray", *(f"type({x}a) is not ndarray and {x} is not None" for x in xs[1:])]
    if promoting:
        plain += [f"{x} is None" for x in xs[1:]] + [f"not {' is '.join(f'{x}a.dtype' for x in xs)}"]
    arrays, args = ", ".join(f"{x}a" for x in xs), f"{', '.join(xs)}, *p"
    return args, {
        "args": args,
        "read": "\n".join(["x0a = x0._payload\nx0f = x0._node", *(read.replace("{x}", x) for x in xs[1:])]),
        "not_plain": " or ".join(plain), "values": arrays, "given": f"({', '.join(xs)})", "arrays": f"({arrays})",
        "edges": f"({', '.join(f'{x}f' for x in xs)})", "tracked": " or ".join(f"{x}f is not None" for x in xs),
    }  # fmt: skip


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
    """Declare an operator of the general kind; see the module's docstring.

    ``outputs``: the number of results, -1 for a list; ``results``: their names, which formulas may use. ``promote``:
    ``True`` first converts the operands to their common dtype, a function of the operands returns another dtype.
    ``batch`` is the batching rule (see ``_payloads.batching``).
    """

    def declare(body: Any) -> Any:
        info = declared(general, body, facts, arity=tensors, outputs=outputs, promote=promote)
        info.differentiable = differentiable or (True,) * max(outputs, 1)
        if isinstance(grad, dict):  # an operand without a formula is a constant, or raises in the backward pass
            formulas = [grad.get(name) for name in info.params[: max(tensors, 0)]]
            info.underived = tuple(k for k, f in enumerate(formulas) if f is None or getattr(f, "underived", False))
        plan = info.saves = SavePlan(info, grad, holomorphic)
        N = None
        if grad is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "outputs_meta", "s", "shapes"),
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
        if N is None and info.no_derivative is None:
            info.no_derivative = "no derivative"
        register(info)
        if names:
            publish(op, names)
        return op

    return declare


def _shapes_of(info: Operator, plan: SavePlan, records: bool) -> tuple[Shape, Shape | None]:
    """The shapes of an operator's recording functions: for all arguments, and for plain arrays."""
    count, many, broadcast = info.arity, info.outputs != 1, info.batch == "elementwise"
    flags: dict[str, Any] = {"records": records, "many": many}
    if plan.kept_results and not many:
        flags["kept"] = str(plan.kept_results[0][0])
    promoting = info.promote is not None
    sequence = count < 0
    whole = Shape(
        "anything", ANYTHING, "*args", {"star": "" if sequence else "*"}, **flags, count=count, sequence=sequence,
        promoting=promoting, broadcast=broadcast, view=info.view,
    )  # fmt: skip
    if count == 1 and info.outputs > 0 and not (broadcast or info.promote or info.view):
        if many:
            return whole, Shape("one_to_many", ONE_TO_MANY, "input, *p", records=records)
        saved = plan.listed("input") if records else []
        return whole, Shape(
            "one", ONE, "input, *p", {"saved": ", ".join(saved)}, records=records, keep_result="b" in saved
        )
    if broadcast and count in (2, 3) and not many:
        xs = "xyz"[:count]
        args, listed = f"{', '.join(xs)}, *p", plan.pointwise and records
        plain = [f"type({x}a) is not ndarray" for x in xs]
        plain += [f"not {' is '.join(f'{x}a.dtype' for x in xs)}"] * promoting
        parts = {
            "args": args, "operands": ", ".join(xs), "arrays": ", ".join(f"{x}a" for x in xs),
            "edges": f"({', '.join(f'f{x}' for x in xs)})", "read_arrays": ", ".join(f"{x}._payload" for x in xs),
            "read_edges": ", ".join(f"{x}._node" for x in xs), "shapes": ", ".join(f"{x}a.shape" for x in xs),
            "not_plain": " or ".join(plain), "tracked": " or ".join(f"f{x} is not None" for x in xs),
            "saved": ", ".join(plan.listed(*xs)) if listed else "", "r": "" if listed or not records else "r = ",
        }  # fmt: skip
        return whole, Shape("pointwise", POINTWISE, args, parts, records=records, listed=listed)
    if count and not (broadcast or info.view or count == 1):
        args, parts = _several_parts(count, promoting)
        return whole, Shape("several", SEVERAL, args, parts, **flags, sequence=sequence)
    return whole, None


# ----------------------------------------------------------------------------------------------- what the texts call
def wrap_many(info: Operator, n: Any, result: Any, operands: Any, p: Any) -> tuple[Tensor, ...]:
    """The Tensors of an operator with several outputs; each differentiable output has a Port."""
    boxes = {}
    if n is not None:
        n.outputs_meta = [(a.shape, a.dtype) for a in result]
        boxes = {k: n.s[j] for j, k in info.saves.kept_results}
    tensors = []
    differentiable = info.differentiable
    last = len(differentiable) - 1
    for k, a in enumerate(result):
        t = make()
        t._payload = a
        t._box = boxes.get(k)
        t._node = Port(n, k) if n is not None and differentiable[min(k, last)] and a.dtype.kind in "fcV" else None
        if info.view:
            t._view = (operands[0], info, (*p, k), MULTI_OUTPUT_VIEW)
        tensors.append(t)
    return tuple(tensors)


def _promoted(operands: Any, promote: Any) -> Any:
    """The operands in their common dtype; Python numbers stay as they are."""
    if (
        promote is True
        and len({t._payload.dtype if isinstance(t, Tensor) else type(t) for t in operands if t is not None}) == 1
    ):
        return operands
    dtype = common_dtype([t for t in operands if t is not None]) if promote is True else promote(operands)
    return [cast(t, dtype) if isinstance(t, Tensor) else t for t in operands] if dtype is not None else operands


def _transformed(info: Operator, raws: list[Any], p: tuple[Any, ...]) -> Any:
    """The result for values of transforms, or for arrays without data."""
    if any(getattr(a, "is_meta", False) for a in raws):
        from .._payloads.meta import check_devices

        check_devices(info.name, raws)
    return registry.on_payloads(info, *raws, *p) if info.arity >= 0 else registry.on_payloads(info, raws, *p)


def _note_views(base: Tensor, made: Any) -> None:
    for t in (made,) if isinstance(made, Tensor) else made:
        note_view(base, t)


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
    """Handle an operand that is not a Tensor: a payload from inside a transform, a NumPy number, or a mistake."""
    from .._payloads.transforms import Transformed

    result = overridden(info, operands)
    if result is not ...:
        return result
    if any(isinstance(t, Transformed) for t in operands):
        return registry.on_payloads(info, *args)
    if any(isinstance(t, np.generic) for t in operands):
        fixed = [t.item() if isinstance(t, np.generic) else t for t in operands]
        return info.core(*fixed, *args[len(fixed) :]) if info.arity >= 0 else info.core(fixed, *args[1:])
    for position, t in enumerate(operands):
        if t is not None and not isinstance(t, Tensor) and type(t) not in PYTHON_NUMBERS:
            if info.arity < 0:
                raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type_name(t)}")
            raise not_a_tensor(info.called, info.params[position], position + 1, t)
    raise AttributeError(f"{info.name}: a tensor without payload")


_NAMES = {
    "PLAIN_ARRAYS": {np.ndarray}, "NUMBERS": PYTHON_NUMBERS, "PLAIN": PLAIN, "alias_payload": alias_payload,
    "no_broadcast": _no_broadcast, "note_views": _note_views, "promoted": _promoted,
    "lift_to_common_level": lift_to_common_level, "refuse": _refuse, "transformed": _transformed, "wrap": wrap,
    "wrap_many": wrap_many,
}  # fmt: skip


# --------------------------------------------------------------------------------------------------- what a node saves
def _plain_dtype(a: Any) -> Any:
    """The array library's dtype of an operand, also behind the dtype of a transform's value."""
    while isinstance(a, Tensor):
        a = a._payload
    dtype = getattr(a, "dtype", None)
    return getattr(dtype, "base_dtype", dtype)


def _fresh_box(a: Any) -> Box:
    b = Box()
    b.a = a
    b.cell = None
    return b


def _edges_of(info: Operator, grad: Any) -> Any:
    """The function that lists a node's edges: an operand declared constant (an index, a mask) has none."""
    names = info.params[: info.arity]
    if isinstance(grad, dict) and info.arity > 1:
        kept = [k for k, name in enumerate(names) if grad.get(name) is not None]
        if len(kept) < len(names):
            return lambda n: tuple([n.fx[k] for k in kept])
    first = info.constants_from  # the first constant operand of a sequence
    return (lambda n: n.fx) if first is None else (lambda n: n.fx[:first])


class SavePlan:
    """The values that a general operator saves and the calls of its formulas, computed once per operator."""

    def __init__(self, info: Operator, grad: Any, holomorphic: bool) -> None:
        self.info = info
        self.holomorphic = holomorphic
        operand_names = info.params[: info.arity] if info.arity >= 0 else info.params[:1]
        self.joint = None if isinstance(grad, dict) else grad
        self.formulas = [(f, formula_names(f)) for f in map(grad.get, operand_names)] if isinstance(grad, dict) else []
        named = [names for _, names in self.formulas] or [formula_names(self.joint)]
        self.uses = tuple(dict.fromkeys(name for names in named for name in names))
        self.sources = tuple(self._source(name, operand_names) for name in self.uses)
        # for each saved value the operands whose formulas use it; those of a joint formula count for all operands
        self.users = tuple(
            tuple(k for k, (_, names) in enumerate(self.formulas) if use in names) or range(len(operand_names))
            for use in self.uses
        )
        self.pointwise = all(how in ("operand", "param") for how, _ in self.sources)
        self.kept_results = tuple((j, i) for j, (how, i) in enumerate(self.sources) if how == "result")
        self.public_names = tuple(n for n, (how, _) in zip(self.uses, self.sources, strict=True) if how != "needs")
        self.single = sum(info.differentiable) == 1 and info.outputs > 0

    def _source(self, name: str, operand_names: tuple[str, ...]) -> tuple[str, Any]:
        """The source of a value that a formula uses."""
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
        raise TypeError(f"a formula of {info.name} names '{name}', which it does not have{nearest(name, known)}")

    # -------------------------------------------------------------------------------------------------------- saving
    def listed(self, *operands: str) -> list[str]:
        """One expression for each saved value, for plain tensors with these names as operands.

        The result's box is ``b``; an operand's array has the operand's name followed by ``a``, or the name ``a`` if
        there is only one operand.
        """
        parts = []
        for (how, i), users in zip(self.sources, self.users, strict=True):
            if how == "operand":  # saved only if a formula that will run uses it
                x = operands[i]
                wanted = " or ".join(f"f{operands[u]} is not None" for u in users)
                parts.append(
                    f"{x}._box or box_of({x})"
                    if len(operands) == 1
                    else f"({x}._box or box_of({x})) if {wanted} else None"
                )
            else:
                how_ = {"param": f"p[{i}]", "shape": "a.shape", "dtype": "a.dtype", "result": "b"}
                parts.append(how_.get(how, "(True,)"))
        return parts

    def store(self) -> Any:
        """The function that makes the list of saved values for any operands, with one expression for each value."""
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
        shape = Shape("store", "return [{saved}]", "operands, raws, p, edges, results", {"saved": ", ".join(parts)})
        return hot("store", shape, lambda: {"plain_dtype": _plain_dtype, "fresh_box": _fresh_box})

    @staticmethod
    def release(n: Any) -> None:
        """Free the saved values."""
        n.s = [FREED if isinstance(v, Box) or (type(v) is list and v and isinstance(v[0], Box)) else v for v in n.s]

    # ------------------------------------------------------------------------------------------------------- reading
    def value(self, n: Any, j: int, xp: Any) -> Any:
        """The j-th saved value in the form for ``xp``."""
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
        return self.value(n, self.uses.index(key), TENSORS)

    def boxed_edges(self, n: Any) -> list[tuple[Any, Any]]:
        """(input node, saved box) pairs, from which an error message names the overwritten value."""
        pairs = []
        for (how, i), v in zip(self.sources, n.s, strict=True):
            if how == "operand":
                pairs.append((n.fx[i], v))
            elif how == "operands" and type(v) is list:
                pairs += zip(n.fx[i:], v, strict=True)
        return pairs

    # ------------------------------------------------------------------------------------------------- backward step
    def backward(self) -> Any:
        """The backward step: without loops for one result on plain arrays, the general one otherwise."""
        info = self.info
        broadcast = info.batch == "elementwise"
        general = _backward_of(self, info, broadcast)
        saved = "".join("b" if how in ("operand", "result") else "p" for how, _ in self.sources)
        scope: dict[str, Any] = {"transformed": general}
        values = [f"v{k}" for k in range(len(saved))]
        boxes = [v for v, how in zip(values, saved, strict=True) if how == "b"]
        read = ", ".join(values) + "," * (len(values) == 1)
        if info.outputs == 1 and self.joint is not None and info.arity == 1 and not broadcast:
            parts = {
                "values": read, "call": ", ".join(["xp", "g", *values]),
                "opened": "\n".join(_piece("open", x=v) for v in boxes),
                "freed": ", ".join("FREED" if v in boxes else v for v in values),
            }  # fmt: skip
            shape = Shape("general_backward", GENERAL_BACKWARD, BACKWARD, parts)
            scope["formula"] = self.joint
        elif info.outputs == 1 and broadcast and self.formulas and self.pointwise:
            calls = [
                "" if f is None else ", ".join(["xp", "g", *(values[self.uses.index(name)] for name in names)])
                for f, names in self.formulas
            ]
            parts = {
                "values": read, "opened": "\n".join(_piece("open_box", x=v) for v in boxes),
                "edges": ", ".join(f"f{i}" for i in range(len(calls))),
                "shapes": ", ".join(f"s{i}" for i in range(len(calls))),
                "steps": "\n".join(_piece("general_step", i=str(i), call=call) for i, call in enumerate(calls)),
            }  # fmt: skip
            shape = Shape("pointwise_backward", POINTWISE_BACKWARD, BACKWARD, parts)
            scope |= {f"formula{i}": f for i, (f, _) in enumerate(self.formulas)}
        else:
            return general
        return hot(f"{info.name}_backward", shape, lambda: scope)


def _backward_of(plan: SavePlan, info: Operator, broadcast: bool) -> Any:
    """The backward step for any number of operands and results, and for any payload."""
    joint = plan.joint
    places = {name: j for j, name in enumerate(plan.uses)}
    calls = tuple((f, tuple(places[name] for name in names)) for f, names in plan.formulas)

    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        conj = False
        if type(g) is Parts:
            xp, g = _materialized(n, xp, g, info, plan.single)
        if xp is ARRAYS:
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
        if joint is not None:  # its parameters, in order, are the saved values
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
    """The cotangents of all outputs; an unused output has zeros, or ``None`` if declared ``absent``."""
    parts = g.parts
    if xp is None:
        from .._tape.saved import xp_of

        xp = xp_of(next(iter(parts.values())))
    if single:
        return xp, parts[info.differentiable.index(True)]
    last = len(info.differentiable) - 1
    if info.absent:
        return xp, tuple(parts.get(k) for k in range(len(n.outputs_meta)))
    return xp, tuple(
        parts[k] if k in parts else (xp.zeros(shape, dtype) if info.differentiable[min(k, last)] else None)
        for k, (shape, dtype) in enumerate(n.outputs_meta)
    )


def named_by(operator: str, source: str, text: Callable[[Any], str]) -> None:
    """Name a general operator's nodes by one of their saved values: ``text(value)`` is the name.

    PyTorch has several functions, with several node names, for one operator here that takes any number of dimensions.
    """
    info = registry.REGISTRY[operator]
    j = info.saves.uses.index(source)
    info.node.name = lambda n: text(n.s[j])  # type: ignore[method-assign, assignment]

"""The kind for everything that is not elementwise in one or two tensors, linear or bilinear.

    @general(tensors=3, grad={"input": ..., "weight": ..., "bias": ...})
    def addmm(lib, input, weight, bias, beta, alpha): ...

The first ``tensors`` arguments are the operands (a Tensor, ``None`` or a Python number each; with ``tensors=-1`` the
first argument is a sequence of Tensors), the others are plain parameters, all given by position. ``grad`` is one
formula that returns the cotangents of all operands (of the one operand itself if there is only one), or a dict of one
formula per operand. A formula may name, after ``xp`` and ``g``: an operand, ``OPERAND_shape``, ``OPERAND_dtype``, a
parameter, ``result`` (``result0``, ``result1``, ... with several outputs) and ``needs`` (a bool for each operand).
With several differentiable outputs ``g`` is a tuple; an output that nothing used has zeros.

Forward mode comes from the formula: the tangent is the transpose of the transpose (``transforms.transposed_jvp``).
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, silently
from .._base import errors as lines
from .._base import registry
from .._base.modes import M
from .._base.registry import RAW, Impl, Info, T, own, place, register
from .._tape.error_text import type_text
from .._tape.node import FREED, Box, Parts, Port, box_of, port_of, ticks
from .._tape.promotion import cast, common_dtype
from .._tape.saved import is_complex, stale, unbox
from .._tape.tensor import Tensor, alias_payload, make, note_view, wrap
from .._tape.views import MULTI_OUTPUT_VIEW
from .declare import Formula, camel, formula_names, info_for, node_class
from .pointwise import pointwise, pointwise_backward
from .several import several
from .slow_path import overridden, push_down, slow


class _Plain(dict[type, bool]):
    """Payload type -> whether it is an array or a number, not a transform's value or a Tensor."""

    def __missing__(self, ty: type) -> bool:
        from .._payloads.transforms import Value

        plain = self[ty] = not issubclass(ty, (Value, Tensor)) and not hasattr(ty, "run_operator")
        return plain


PLAIN = _Plain()
ndarray = np.ndarray


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

    def declare(decl: Any) -> Any:
        many = outputs != 1
        info = info_for(decl, "general", {"arity": tensors, "outputs": outputs, "promote": promote, **facts})
        info.differentiable = differentiable or (True,) * max(outputs, 1)
        if isinstance(grad, dict):  # an operand without a formula is a constant, or an error in the backward pass
            formulas = [grad.get(name) for name in info.params[: max(tensors, 0)]]
            info.underived = tuple(k for k, f in enumerate(formulas) if f is None or getattr(f, "underived", False))
        info.formulas = plan = Plan(info, grad, holomorphic)  # type: ignore[attr-defined]
        table = Impl(info.name)
        broadcast = info.batch == "elementwise"

        N = None
        if grad is not None:
            N = node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "meta", "s", "shapes"),
                edges=_edges_of(info, grad),
                backward=_plan_backward(plan),
                release=plan.release,
                saved=lambda n, name: plan.saved(n, name),  # noqa: PLW0108  only a function binds to the node
                saved_names=plan.public_names,
                boxed_edges=property(plan.boxed_edges),
                plan=plan,
            )

        if tensors == 1 and outputs > 0 and not (broadcast or promote or info.view):
            template = (_one_to_many if many else _one_to_one)(info, plan, N, table)
            op = own(template, info.name, ("input",), info.doc)
            run = own(template, info.name, ("input",), info.doc, cells={"M": ()})
        elif broadcast and tensors in (2, 3) and not many:
            template = pointwise(info, plan, N, table, _runner(info, plan, N, table, broadcast, many, tensors))
            op = own(template, info.name, doc=info.doc)
            run = own(template, info.name, doc=info.doc, cells={"M": (), "EVERY": ()})
        elif tensors and not (broadcast or info.view or tensors == 1):
            run = _runner(info, plan, N, table, broadcast, many, tensors)
            template = several(info, plan, N, table, run, _wrap_many)
            op = own(template, info.name, doc=info.doc)
            run = own(template, info.name, doc=info.doc, cells={"M": ()})
        else:
            run = _runner(info, plan, N, table, broadcast, many, tensors)

            def op(*args: Any) -> Any:
                if M:
                    return slow(info, args)
                return run(*args)

            op.__name__ = op.__qualname__ = info.name
            op.__doc__ = info.doc
        info.op = op
        info.core = run
        info.node = N  # type: ignore[assignment]
        if N is None and info.why_not is None:
            info.why_not = "no derivative"
        register(info)
        if names:
            place(op, names)
        return op

    return declare


def _one_to_one(info: Info, plan: Plan, N: Any, table: Any) -> Any:
    """The recording function of an operator from one tensor to one: ``_runner`` without what only others need."""
    plain_results = N is None
    codes = plan.codes

    def op(input: Any, *p: Any) -> Any:
        if M:
            return slow(info, (input, *p))
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return _refuse(info, (input,), (input, *p))
        t = make()
        t._m = None
        try:
            t._a = r = table[type(a)](a, *p)
        except ARITHMETIC:
            t._a = r = silently(table[type(a)], a, *p)
        if fx is None or plain_results:
            t._fn = None
            return t
        n = N()
        n.fx = (fx,)
        n.seq = next(ticks)
        n.h = None
        n.s = s = []
        for k in codes:
            if k >= 0:
                s.append(p[k])
            elif k == RESULT:
                t._m = b = Box()
                b.a = r
                b.cell = None
                s.append(b)
            elif k == OPERAND:
                b = input._m
                s.append(b if b is not None else box_of(input))
            elif k == SHAPE:
                s.append(a.shape)
            elif k == DTYPE:
                s.append(a.dtype)
            else:
                s.append((True,))
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        t._fn = n
        return t

    return op


def _one_to_many(info: Info, plan: Plan, N: Any, table: Any) -> Any:
    """``_one_to_one`` for several results."""
    differentiable = info.differentiable

    def op(input: Any, *p: Any) -> Any:
        if M:
            return slow(info, (input, *p))
        try:
            fx = input._fn
            a = input._a
        except AttributeError:
            return _refuse(info, (input,), (input, *p))
        try:
            result = table[type(a)](a, *p)
        except ARITHMETIC:
            result = silently(table[type(a)], a, *p)
        if fx is None or N is None:
            return tuple([wrap(r) for r in result])
        n = N()
        n.fx = (fx,)
        n.seq = next(ticks)
        n.h = None
        f = getframe(1)
        n.code = c = f.f_code
        if c is not lines.user_code:
            f = lines.user_frame(f)
            n.code = f.f_code
        n.lasti = f.f_lasti
        boxes = plan.save(n, (input,), (a,), p, n.fx, result, True)
        return _wrap_many(info, n, result, boxes, (input,), p, differentiable, False)

    return op


RESULT, OPERAND, SHAPE, DTYPE, NEEDS = -1, -2, -3, -4, -5  # what a plan of one operand saves; from 0 on: a parameter


def _runner(info: Info, plan: Plan, N: Any, table: Any, broadcast: bool, many: bool, tensors: int) -> Any:
    """The recording function of a general operator."""
    promote = info.promote  # type: ignore[attr-defined]
    differentiable = info.differentiable
    view = info.view

    def run(*args: Any) -> Any:
        if tensors < 0:
            operands, p = args[0], args[1:]
        else:
            operands, p = args[:tensors], args[tensors:]
        if promote is not None:
            operands = _promoted(operands, promote)
        raws = []
        edges = []
        track = False
        plain = True
        lead = None
        for t in operands:
            try:
                a = t._a
                fn = t._fn
            except AttributeError:
                a = t
                fn = None
                if t is not None and type(t) not in _NUMBERS:
                    return _refuse(info, operands, args)
            else:
                if lead is None:
                    lead = type(a)
                if fn is not None:
                    track = True
            if not PLAIN[type(a)]:
                plain = False
            raws.append(a)
            edges.append(fn)
        if not plain:
            lifted = push_down(operands)
            if lifted is not None:
                return run(*lifted, *p) if tensors >= 0 else run(lifted, *p)
            if any(getattr(a, "is_meta", False) for a in raws):
                from .._payloads.meta import check_devices

                check_devices(info.name, raws)
            result = registry.on_payloads(info, *raws, *p) if tensors >= 0 else registry.on_payloads(info, raws, *p)
        else:
            if view and type(raws[0]) is not np.ndarray:
                raws[0] = alias_payload(operands[0])
            try:
                try:
                    result = table[lead](*raws, *p) if tensors >= 0 else table[lead](raws, *p)
                except ARITHMETIC:
                    result = silently(table[lead], *(raws if tensors >= 0 else (raws,)), *p)
            except ValueError as error:
                if broadcast and "broadcast" in str(error):
                    raise _broadcast_error(operands) from None
                raise
        n = None
        boxes = None
        if track and N is not None:
            n = N()
            n.fx = tuple(edges)
            n.seq = next(ticks)
            n.h = None
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            if broadcast:
                n.shapes = [getattr(a, "shape", ()) for a in raws]
            boxes = plan.save(n, operands, raws, p, edges, result, many)
        if not many:
            t = make()
            t._a = result
            t._fn = n
            t._m = None if boxes is None else boxes.get(0)
            if view:
                t._v = (operands[0], info, p, 0)
                if not plain:
                    note_view(operands[0], t)
            return t
        made = _wrap_many(info, n, result, boxes, operands, p, differentiable, view)
        if view and not plain:
            for t in made:
                note_view(operands[0], t)
        return made

    return run


_NUMBERS = frozenset((bool, int, float, complex))


def _wrap_many(
    info: Info, n: Any, result: Any, boxes: Any, operands: Any, p: Any, differentiable: tuple[bool, ...], view: bool
) -> tuple[Tensor, ...]:
    """The Tensors of an operator with several outputs; each that can be differentiated has its Port."""
    if n is not None:
        n.meta = [(a.shape, a.dtype) for a in result]
    tensors = []
    last = len(differentiable) - 1
    for k, a in enumerate(result):
        t = make()
        t._a = a
        t._m = None if boxes is None else boxes.get(k)
        t._fn = Port(n, k) if n is not None and differentiable[min(k, last)] and a.dtype.kind in "fcV" else None
        if view:
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


def _broadcast_error(operands: Any) -> Exception:
    from .._tape.error_text import broadcast_error

    tensors = [t for t in operands if isinstance(t, Tensor)]
    for i, x in enumerate(tensors):
        for y in tensors[i + 1 :]:
            try:
                np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
            except ValueError:
                return broadcast_error(x, y)
    return RuntimeError("shapes do not broadcast")


def _refuse(info: Info, operands: Any, args: tuple[Any, ...]) -> Any:
    """An operand that is no Tensor: a payload from inside a transform, a NumPy number, or a mistake."""
    from .._payloads.transforms import Value

    result = overridden(info, operands)
    if result is not ...:
        return result
    if any(isinstance(t, Value) for t in operands):
        return registry.on_payloads(info, *args)
    if any(isinstance(t, np.generic) for t in operands):
        fixed = [t.item() if isinstance(t, np.generic) else t for t in operands]
        return info.core(*fixed, *args[len(fixed) :]) if info.arity >= 0 else info.core(fixed, *args[1:])
    for position, t in enumerate(operands):
        if t is not None and not isinstance(t, Tensor) and type(t) not in _NUMBERS:
            name = info.called
            if info.arity < 0:
                raise TypeError(f"expected Tensor as element {position} in argument 0, but got {type_text(t)}")
            raise TypeError(
                f"{name}(): argument '{info.params[position]}' (position {position + 1}) must be Tensor, "
                f"not {type_text(t)}"
            )
    raise AttributeError(f"{info.name}: a tensor without payload")


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


def _storing(sources: Any, users: Any, joint: bool) -> Any:
    """The function that makes the list of what a node saves: one expression for each, instead of a loop over kinds."""
    parts = []
    for (how, i), wanted in zip(sources, users, strict=True):
        if how == "operand":  # kept only if a formula that will run names it
            t = f"operands[{i}]"
            kept = f"box_of({t})"
            if not joint:
                kept = f"({kept} if {' or '.join(f'edges[{u}] is not None' for u in wanted)} else None)"
            parts.append(f"{kept} if isinstance({t}, Tensor) else {t}")
        else:
            parts.append(
                {
                    "param": f"p[{i}]",
                    "shape": f"getattr(raws[{i}], 'shape', ())",
                    "dtype": f"_plain_dtype(raws[{i}])",
                    "result": f"_fresh_box(results[{i}])",
                    "operands": f"[box_of(t) if isinstance(t, Tensor) else t for t in operands[{i}:]]",
                    "shapes": "[a.shape for a in raws]",
                    "dtypes": "[_plain_dtype(a) for a in raws]",
                    "needs": "tuple([e is not None for e in edges])",
                }[how]
            )
    text = f"def store(operands, raws, p, edges, results):\n    return [{', '.join(parts)}]"
    if text not in _stores:  # many operators save alike
        scope = {"box_of": box_of, "Tensor": Tensor, "_plain_dtype": _plain_dtype, "_fresh_box": _fresh_box}
        exec(compile(text, "<what a node saves>", "exec"), scope)
        _stores[text] = scope["store"]
    return _stores[text]


_stores: dict[str, Any] = {}


def _edges_of(info: Info, grad: Any) -> Any:
    """How a node tells its edges: an operand that is a constant by declaration (an index, a mask) has none."""
    names = info.params[: info.arity]
    if isinstance(grad, dict) and info.arity > 1:
        kept = [k for k, name in enumerate(names) if grad.get(name) is not None]
        if len(kept) < len(names):
            return lambda n: tuple([n.fx[k] for k in kept])
    first = info.__dict__.get("constants_from")  # of a sequence of operands: from this one on
    return (lambda n: n.fx) if first is None else (lambda n: n.fx[:first])


class Plan:
    """What a general operator saves and how its formulas are called; made once per operator."""

    def __init__(self, info: Info, grad: Any, holomorphic: bool) -> None:
        self.info = info
        self.holomorphic = holomorphic
        operand_names = info.params[: info.arity] if info.arity >= 0 else info.params[:1]
        if isinstance(grad, dict):
            self.formulas = [(f, formula_names(f)) for f in (grad.get(name) for name in operand_names)]
            self.joint = None
        else:
            self.joint = (grad, formula_names(grad)) if grad is not None else None
            self.formulas = []
        uses: dict[str, None] = {}
        for _, names in (*self.formulas, self.joint) if self.joint else self.formulas:
            uses.update(dict.fromkeys(names))
        self.uses = tuple(uses)
        self.sources = tuple(self._source(name, operand_names) for name in self.uses)
        # for each of them the operands whose formulas use it; a joint formula's count as used by all
        self.users = tuple(
            tuple(k for k, (_, names) in enumerate(self.formulas) if use in names) or range(len(operand_names))
            for use in self.uses
        )
        numbers = {"result": RESULT, "operand": OPERAND, "shape": SHAPE, "dtype": DTYPE, "needs": NEEDS}
        self.codes = tuple(i if how == "param" else numbers.get(how, NEEDS) for how, i in self.sources)
        # the same for a pointwise operator whose formulas name operands and parameters only
        plain = all(how in ("operand", "param") for how, _ in self.sources)
        self.keep = (
            tuple((code, i, u) for code, (_, i), u in zip(self.codes, self.sources, self.users, strict=True))
            if plain
            else None
        )
        self.store: Any = self._store_first
        self.kept_results = tuple((j, i) for j, (how, i) in enumerate(self.sources) if how == "result")
        self.public_names = tuple(n for n, (how, _) in zip(self.uses, self.sources, strict=True) if how != "needs")
        self.single = sum(info.differentiable) == 1 and info.outputs > 0

    def _source(self, name: str, operand_names: tuple[str, ...]) -> tuple[str, Any]:
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
        if name.startswith("result"):
            return ("result", int(name[6:] or 0))
        results = info.__dict__.get("results", ())
        if name in results:
            return ("result", results.index(name))
        for suffix in ("_shape", "_dtype"):
            base = name.removesuffix(suffix)
            if base != name and base in operand_names:
                return (suffix[1:] if info.arity >= 0 else suffix[1:] + "s", operand_names.index(base))
        raise AssertionError(f"{info.name}: a formula names {name!r}, which is nothing of this operator")

    def save(
        self, n: Any, operands: Any, raws: Any, p: Any, edges: Any, result: Any, many: bool
    ) -> dict[int, Box] | None:
        """Store what the formulas name; the boxes made for outputs, by output."""
        n.s = s = self.store(operands, raws, p, edges, result if many else (result,))
        return {i: s[j] for j, i in self.kept_results} if self.kept_results else None

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

    def _store_first(self, *args: Any) -> Any:
        """The first call makes the function: a program uses few of the operators."""
        self.store = _storing(self.sources, self.users, self.joint is not None)
        return self.store(*args)

    def _output(self, n: Any, k: int) -> Any:
        if self.info.outputs == 1:
            return n
        return port_of(n, k) if self.info.differentiable[min(k, len(self.info.differentiable) - 1)] else None

    @staticmethod
    def release(n: Any) -> None:
        """Free the saved values."""
        n.s = [FREED if isinstance(v, Box) or (type(v) is list and v and isinstance(v[0], Box)) else v for v in n.s]

    def saved(self, n: Any, name: str) -> Any:
        """``_saved_NAME``."""
        name = name.replace("_sym_sizes", "_shape")
        if name not in self.uses:
            raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{name}'")
        return self.value(n, self.uses.index(name), T)

    def boxed_edges(self, n: Any) -> list[tuple[Any, Any]]:
        """(input node, saved box) pairs, so that a message can say whose value was overwritten."""
        pairs = []
        for (how, i), v in zip(self.sources, n.s, strict=True):
            if how == "operand":
                pairs.append((n.fx[i], v))
            elif how == "operands" and type(v) is list:
                pairs += zip(n.fx[i:], v, strict=True)
        return pairs


def _plan_backward(plan: Plan) -> Any:
    info = plan.info
    broadcast = info.batch == "elementwise"

    direct = (
        plan.joint[0] if plan.joint is not None and info.arity == 1 and info.outputs == 1 and not broadcast else None
    )
    if broadcast and plan.formulas and plan.keep is not None and info.outputs == 1:
        return pointwise_backward(plan, _plan_backward_general(plan, info, broadcast, direct))
    return _plan_backward_general(plan, info, broadcast, direct)


def _plan_backward_general(plan: Plan, info: Info, broadcast: bool, direct: Any) -> Any:
    joint = plan.joint[0] if plan.joint is not None else None
    single = info.arity == 1
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
            if direct is not None:
                d = direct(xp, g, *saved)
                if not keep:
                    n.release()
                return (n.fx[0], d)
        else:
            saved = [plan.value(n, j, xp) for j in range(len(plan.uses))]
            conj = plan.holomorphic and is_complex(g[0] if type(g) is tuple else g)
            if conj:
                g = tuple(xp.conj(x) for x in g) if type(g) is tuple else xp.conj(g)
        edges = n.fx
        if joint is not None:  # what it names, in its order, is what is saved
            ds = joint(xp, g, *saved)
            if single:
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


def _materialized(n: Any, xp: Any, g: Parts, info: Info, single: bool) -> tuple[Any, Any]:
    """The cotangents of all outputs; for one that nothing used zeros, or ``None`` where declared ``absent``."""
    parts = g.parts
    if xp is None:
        from .._tape.saved import xp_of

        xp = xp_of(next(iter(parts.values())))
    if single:
        return xp, parts[info.differentiable.index(True)]
    last = len(info.differentiable) - 1
    if info.__dict__.get("absent"):
        return xp, tuple(parts.get(k) for k in range(len(n.meta)))
    return xp, tuple(
        parts[k] if k in parts else (xp.zeros(shape, dtype) if info.differentiable[min(k, last)] else None)
        for k, (shape, dtype) in enumerate(n.meta)
    )


def named_by(operator: str, source: str, text: Callable[[Any], str]) -> None:
    """Let the name of a general operator's nodes depend on something that they keep: ``text`` of it is the name.

    PyTorch has several functions, and so node names, where one operator here takes any number of dimensions.
    """
    info = registry.REGISTRY[operator]
    j = info.formulas.uses.index(source)  # type: ignore[attr-defined]
    info.node.name = lambda n: text(n.s[j])  # type: ignore[method-assign, assignment]

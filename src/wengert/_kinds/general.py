"""The general kind: operators that are not elementwise in one or two tensors, linear or bilinear.

    @general(tensors=3, grad={"input": ..., "weight": ..., "bias": ...})
    def addmm(lib, input, weight, bias, beta, alpha): ...

The first ``tensors`` arguments are the operands (a Tensor, ``None`` or a Python number each; with ``tensors=-1`` the
first argument is a sequence of Tensors), the others are plain parameters, all given by position. ``grad`` is one
formula that returns the cotangents of all operands (of the one operand itself if there is only one), or a dict of one
formula per operand. A formula may name, after ``xp`` and ``g``: an operand, ``OPERAND_shape``, ``OPERAND_like`` (a
shape that tells whether it was channels-last), ``OPERAND_dtype``, a parameter, ``result`` (``result0``, ``result1``,
... with several outputs) and ``needs`` (a bool for each operand). With several differentiable outputs ``g`` is a tuple,
with zeros for an unused output.

Forward mode comes from the formula: the tangent is the transpose of the transpose (``transforms.transposed_jvp``).

Every operator of this kind has a recording function for all arguments (``ANYTHING``); most have a faster one in front
of it for plain arrays only, which leaves all other cases to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np

from .._arrays.layouts import when_needless
from .._base import registry
from .._base.dtypes import PYTHON_NUMBERS
from .._base.errors import nearest
from .._base.registry import TENSORS, Operator
from .._payloads.transforms import zeros
from .._tape.error_text import unbroadcast
from .._tape.node import FREED, Box, Node, Parts, Port, named, port_of, ticks
from .._tape.promotion import cast, common_dtype
from .._tape.saved import unbox, xp_of
from .._tape.tensor import Tensor, make, note_view, wrap
from .._tape.unrecorded import MULTI_OUTPUT_VIEW, several_views
from .backward import Call, backward_step
from .declare import Formula, camel, declared, enter, formula_names, names_of, node_class, not_saved
from .recording import ANYTHING, PLAIN_ARRAYS, head_of_one, one, outputs, parameters
from .slow_path import lift_to_common_level
from .templates import Shape, hot, piece


class _Plain(dict[type, bool]):
    """A dict from a payload type to whether it is an array or a number, not a transform's value or a Tensor."""

    def __missing__(self, ty: type) -> bool:
        from .._payloads.transforms import Transformed

        plain = self[ty] = not issubclass(ty, (Transformed, Tensor)) and not hasattr(ty, "run_operator")
        return plain


PLAIN = _Plain()


# ---- the declaration
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
        plan = info.saves = SavePlan(info, grad)
        broadcast = info.batch == "elementwise"

        def make_node() -> Any:
            return node_class(
                node or camel(info.name) + "Backward0",
                ("fx", "outputs_meta", "values", "shapes"),
                _edges=_edges_of(info, grad),
                backward=backward_step(info, plan.calls(), holomorphic, broadcast=broadcast, plan=plan),
                _release=plan.release,
                saved=lambda n, name: plan.saved(n, name),  # noqa: PLW0108  only a function binds to the node
                saved_names=plan.public_names,
                boxed_edges=property(plan.boxed_edges),
                piecewise=info.piecewise,
                own_derivative=info.own_derivative or info.piecewise,
                operator=info.name,
                plan=plan,
            )

        def scope() -> dict[str, Any]:
            return names_of(info, run=run(False), run_with_modes=run(True), **_NAMES)

        @cache
        def shapes() -> tuple[Shape, Shape]:
            return _shapes_of(info, head, plan, grad is not None)

        @cache
        def run(modes: bool) -> Any:
            return hot(info.name, shapes()[0].but(modes=modes), scope, info.doc)

        head = _head_of(info)
        return enter(info, None if grad is None else make_node, None, head, lambda: shapes()[1], scope, names)

    return declare


_FOR_ALL = "*args"


def _head_of(info: Operator) -> str:
    """The parameters of an operator's recording function."""
    count, broadcast = info.arity, info.batch == "elementwise"
    if not count or info.view or (broadcast and info.outputs != 1):
        return _FOR_ALL
    if count == 1:
        return _FOR_ALL if info.promote is not None or info.outputs < 0 else head_of_one(info)
    operands = "tensors" if count < 0 else ", ".join([f"x{k}" for k in range(count)])
    return operands + parameters(info)["p"]


def _shapes_of(info: Operator, head: str, plan: SavePlan, records: bool) -> tuple[Shape, Shape]:
    """The shapes of an operator's recording functions: for all arguments, and of the one in front of it, if any."""
    count, many, broadcast = info.arity, info.outputs != 1, info.batch == "elementwise"
    promoting, sequence = info.promote is not None, count < 0
    flags: dict[str, Any] = {
        "records": records, "many": many, "keep_result": bool(plan.kept_results) and not many,
        "broadcast": broadcast, "sequence": sequence, "pair": info.outputs == 2,
    }  # fmt: skip
    listing = {
        "p": ", *p", "ps": "p", "star": "" if sequence else "*", "given": "operands", "edges": "tuple(edges)",
        "tracked": "edges.count(None) < len(edges)", "shapes": '[getattr(a, "shape", ()) for a in arrays]',
    }  # fmt: skip

    def of_all() -> dict[str, str]:
        operands = [f"operands[{k}]" for k in range(count)]
        return listing | {"saved": plan.listed(operands, "arrays[{}]", "edges[{}]", 0, "operands", "p[{}]")}

    def of_plain() -> dict[str, str]:
        parts = parameters(info) | (outputs(info) if flags["pair"] else {}) | {"args": head}
        if sequence:
            return listing | parts | {
                "given": "tensors", "values": "arrays", "read": "arrays = [t._payload for t in tensors]",
                "not_plain": "{*map(type, arrays)} != JUST_ARRAYS"
                + " or len({a.dtype for a in arrays}) > 1" * promoting,
                "saved": plan.listed([], "", "", 0, "tensors"),
            }  # fmt: skip
        absent = [""] * sure + [f" and {x} is not None" for x in xs[sure:]]
        plain = [f"type({x}a) is not ndarray{unless}" for x, unless in zip(xs, absent, strict=True)]
        if promoting:
            plain += [f"{x} is None" for x in xs[sure:]] + [f"not {' is '.join(f'{x}a.dtype' for x in xs)}"]
        return parts | {
            "given": f"({', '.join(xs)})", "values": ", ".join(f"{x}a" for x in xs),
            "read": "\n".join(piece("read", x=x, optional=k >= sure, records=records) for k, x in enumerate(xs)),
            "not_plain": " or ".join(plain), "tracked": " or ".join(f"{x}f is not None" for x in xs),
            "edges": f"({', '.join(f'{x}f' for x in xs)})", "shapes": f"({', '.join(f'{x}a.shape' for x in xs)})",
            "saved": plan.listed(xs, "x{}a", "x{}f", sure),
        }  # fmt: skip

    whole = Shape("anything", ANYTHING, _FOR_ALL, of_all, **flags, count=count, promoting=promoting, view=info.view)
    if head == _FOR_ALL:
        return whole, whole
    if count == 1:
        saved = (lambda: plan.listed(["input"], "a", "fx", 1)) if records else str
        return whole, one(info, saved=saved, **flags)
    xs = [f"x{k}" for k in range(max(count, 0))]
    sure = count if broadcast else 1  # so many operands must be tensors, the others may be None
    if not sequence:
        flags["needless"] = when_needless(info.layout, *[f"{x}a" for x in xs], sure=sure)
    return whole, Shape("plain", PLAIN_ARRAYS, head, of_plain, **flags)


# ---- what the texts call
def wrap_many(info: Operator, n: Any, result: Any, operands: Any, p: Any) -> tuple[Tensor, ...]:
    """The Tensors of an operator with several outputs; each differentiable output has a Port."""
    tensors = []
    meta: list[Any] = []
    differentiable = info.differentiable
    last = len(differentiable) - 1
    for k, a in enumerate(result):
        t = make()
        t._payload = a
        t._box = t._node = None
        if n is not None:
            dtype = a.dtype
            meta.append((a.shape, dtype))
            if differentiable[k if k < last else last] and dtype.kind in "fcV":
                t._node = port = Port()
                port.fx = n
                port.k = k
                port._seq = next(ticks)
                port._hooks = None
                port._code = n._code
                port._lasti = n._lasti
        if info.view:
            t._view = (
                operands[0],
                info,
                (*p, k),
                MULTI_OUTPUT_VIEW if n is None else several_views(operands[0]._payload),
            )
        tensors.append(t)
    if n is not None:
        n.outputs_meta = meta
        for j, k in info.saves.kept_results:
            tensors[k]._box = n.values[j] = b = Box()
            b.a = result[k]
            b.cell = None
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
    if any(getattr(a, "is_meta", False) or getattr(a, "is_foreign", False) for a in raws):
        from .._payloads.meta import check_devices

        check_devices(info.name, raws)
    return registry.on_payloads(info, *raws, *p) if info.arity >= 0 else registry.on_payloads(info, raws, *p)


# ---- what a node saves
def _plain_dtype(a: Any) -> Any:
    """The array library's dtype of an operand, also behind the dtype of a transform's value."""
    if type(a) is np.ndarray:
        return a.dtype
    while isinstance(a, Tensor):
        a = a._payload
    dtype = getattr(a, "dtype", None)
    return getattr(dtype, "base_dtype", dtype)


_NAMES: dict[str, Any] = {
    "JUST_ARRAYS": {np.ndarray}, "NUMBERS": PYTHON_NUMBERS, "PLAIN": PLAIN,
    "lift_to_common_level": lift_to_common_level, "unbroadcast": unbroadcast,
    "note_view": note_view, "plain_dtype": _plain_dtype, "Port": Port, "promoted": _promoted,
    "transformed": _transformed, "wrap": wrap, "wrap_many": wrap_many,
}  # fmt: skip


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

    def __init__(self, info: Operator, grad: Any) -> None:
        self.info = info
        operand_names = info.params[: info.arity] if info.arity >= 0 else info.params[:1]
        self.joint = None if isinstance(grad, dict) else grad
        self.is_joint = self.joint is not None and info.arity != 1
        self.formulas = [(f, formula_names(f)) for f in map(grad.get, operand_names)] if isinstance(grad, dict) else []
        named = [names for _, names in self.formulas] or [formula_names(self.joint)]
        self.uses = tuple(dict.fromkeys([name for names in named for name in names]))
        self.sources = tuple([self._source(name, operand_names) for name in self.uses])
        self.kept_results = tuple([(j, i) for j, (how, i) in enumerate(self.sources) if how == "result"])
        self.single = sum(info.differentiable) == 1 and info.outputs > 0

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The variables of the saved values in the backward step."""
        return tuple([f"v{k}" for k in range(len(self.uses))])

    @cached_property
    def public_names(self) -> tuple[str, ...]:
        """The names of the saved values that a node shows."""
        return tuple([n for n, (how, _) in zip(self.uses, self.sources, strict=True) if how != "needs"])

    def _users(self, operands: int) -> list[Any]:
        """For each saved value the operands whose formulas use it; those of a joint formula count for all operands."""
        return [
            [k for k, (_, names) in enumerate(self.formulas) if use in names] or range(operands) for use in self.uses
        ]

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
        if base in operand_names and suffix in ("shape", "like", "dtype"):
            return (suffix if info.arity >= 0 else suffix + "s", operand_names.index(base))
        known = (*info.params, *info.results, "result", "needs")
        raise TypeError(f"a formula of {info.name} names '{name}', which it does not have{nearest(name, known)}")

    # ---- saving
    def listed(self, operands: list[str], array: str, edge: str, sure: int, sequence: str = "", p: str = "p{}") -> str:
        """The texts of the saved values.

        ``operands``, ``array`` and ``edge`` are the texts of the operands, of their arrays and nodes; the first
        ``sure`` operands are tensors. ``sequence``: the text of a sequence of operands. ``p``: that of a parameter.
        """
        parts = []
        for (how, i), users in zip(self.sources, self._users(len(operands)), strict=True):
            a = array.format(i)
            if how == "operand":  # saved only if a formula that will run uses it
                x = operands[i]
                text = f"{x}._box or box_of({x})"
                if self.formulas and len(operands) > 1:
                    text = f"({text}) if {' or '.join(f'{edge.format(u)} is not None' for u in users)} else None"
                if i >= sure:  # of plain arrays the others are None, else numbers too
                    there, absent = (f"{x} is not None", "None") if sure else (f"isinstance({x}, Tensor)", x)
                    text = f"({text}) if {there} else {absent}"
                parts.append(text)
            else:
                parts.append({
                    "param": p.format(i),
                    "shape": f"{a}.shape" if i < sure else f"getattr({a}, 'shape', ())",
                    "like": f"shape_like({a})",
                    "dtype": f"{a}.dtype" if i < sure and len(operands) > 1 else f"plain_dtype({a})",
                    "result": "b" if self.info.outputs == 1 else "None",  # ``wrap_many`` replaces it
                    "operands": f"[box_of(t) if isinstance(t, Tensor) else t for t in {sequence}[{i}:]]",
                    "shapes": "[a.shape for a in arrays]",
                    "dtypes": "[plain_dtype(a) for a in arrays]",
                    "needs": f"({', '.join([f'{edge.format(k)} is not None' for k in range(len(operands))])},)"
                    if operands else "tuple([e is not None for e in n.fx])",
                }[how])  # fmt: skip
        return ", ".join(parts)

    @staticmethod
    def release(n: Any) -> None:
        """Free the saved values."""
        n.values = [
            FREED if isinstance(v, Box) or (type(v) is list and v and isinstance(v[0], Box)) else v for v in n.values
        ]

    # ---- reading
    def value(self, n: Any, variable: str, xp: Any) -> Any:
        """A saved value in the form for ``xp``."""
        j = self.values.index(variable)
        how, i = self.sources[j]
        v = n.values[j]
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
        return port_of(n, k) if self.differentiable(k) else None

    def saved(self, n: Any, name: str) -> Any:
        """``_saved_NAME``."""
        key = name.replace("_sym_sizes", "_shape")
        if key not in self.uses:
            raise not_saved(n, key)
        return self.value(n, self.values[self.uses.index(key)], TENSORS)

    def boxed_edges(self, n: Any) -> list[tuple[Any, Any]]:
        """(input node, saved box) pairs, from which an error message names the overwritten value."""
        pairs = []
        for (how, i), v in zip(self.sources, n.values, strict=True):
            if how == "operand":
                pairs.append((n.fx[i], v))
            elif how == "operands" and type(v) is list:
                pairs += zip(n.fx[i:], v, strict=True)
        return pairs

    # ---- backward step
    def calls(self) -> tuple[Call, ...]:
        """The calls of the formulas, for ``backward_step``."""
        if self.joint is not None:
            return (("f0", self.joint, self.values),)
        place = dict(zip(self.uses, self.values, strict=True))
        return tuple((f"f{k}", f, tuple(place[name] for name in names)) for k, (f, names) in enumerate(self.formulas))

    def boxes(self, *hows: str) -> list[str]:
        """The variables of the values from these sources."""
        return [v for v, (how, _) in zip(self.values, self.sources, strict=True) if how in hows]

    def materialized(self, n: Any, xp: Any, g: Parts) -> tuple[Any, Any]:
        """The cotangents of all outputs; an unused output has zeros, or ``None`` if declared ``absent``."""
        parts = g.parts
        if xp is None:
            xp = xp_of(next(iter(parts.values())))
        if self.single:
            return xp, parts[self.info.differentiable.index(True)]
        if self.info.absent:
            return xp, tuple(parts.get(k) for k in range(len(n.outputs_meta)))
        make = xp.zeros if xp is TENSORS else zeros  # a dtype may be a transform's, or of a call that was recorded
        return xp, tuple(
            parts[k] if k in parts else make(shape, dtype) if self.differentiable(k) else None
            for k, (shape, dtype) in enumerate(n.outputs_meta)
        )

    def differentiable(self, k: int) -> bool:
        """Whether the k-th output is differentiable."""
        flags = self.info.differentiable
        return flags[min(k, len(flags) - 1)]


def named_by(operator: str, source: str, text: Callable[[Any], str]) -> None:
    """Name a general operator's nodes by one of their saved values: ``text(value)`` is the name.

    PyTorch has several functions, with several node names, for one operator here that takes any number of dimensions.
    """
    j = registry.REGISTRY[operator].saves.uses.index(source)
    name_by_node(operator, lambda n: text(n.values[j]))


def name_by_node(operator: str, text: Callable[[Any], str]) -> None:
    """Name an operator's nodes: ``text(node)`` is the name, its last part that of the class that programs see."""

    def looked_at(n: Any) -> Any:
        n, name = Node.looked_at(n), text(n).rpartition("::")[2]
        return n if type(n).__name__ == name else named(n, name)

    node = registry.REGISTRY[operator].node
    node.name, node.looked_at = text, looked_at

"""The parts of a declaration that all kinds share: the checked record, the node class, the published functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .._arrays.half import once
from .._arrays.layouts import shape_like
from .._base.errors import nearest
from .._base.late_names import Unmade
from .._base.registry import ARRAYS, TENSORS, Impl, Operator, bare, publish, register
from .._tape.node import FREED, Box, Node, unnamed
from .._tape.saved import unbox
from .backward import Call, OperandShape, backward_step, of_shape
from .templates import Shape, hot, variant

Formula = Callable[..., Any]
Sources = dict[str, str | int]  # the name of a saved value -> its slot, or the position of a parameter
Scope = Callable[[], dict[str, Any]]  # what makes the names of a text


# ---- the record
_OF_EVERY_KIND = ("batch", "called", "check", "domain", "dtypes", "in_float32", "jvp", "layout", "libname", "samples",
                  "no_derivative", "own_derivative", "piecewise")  # fmt: skip
FACTS: dict[str, tuple[str, ...]] = {
    "unary": ("in_place", "integer", "kernel", "out_rule"),
    "binary": ("domain_other", "in_place", "integer", "kernel", "number_first", "out_rule", "overloads", "symbol"),
    "parametric": ("saved_as",),
    "linear": (),
    "bilinear": ("refuse_mixed",),
    "affine": ("refuse_mixed", "saved_as"),
    "general": ("absent", "constants_from", "refuse_mixed", "results", "view"),
}  # by kind, the fields of ``Operator`` that a declaration may set besides the decorator's own keywords
_KNOWN = {kind: frozenset((*_OF_EVERY_KIND, *facts)) for kind, facts in FACTS.items()}


def declared(decorator: Any, body: Any, facts: dict[str, Any], **usual: Any) -> Operator:
    """The record of one operator: its checked ``facts`` override the ``usual`` values of the kind."""
    kind = decorator.__name__
    for name in facts.keys() - _KNOWN[kind]:
        code = decorator.__code__
        own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        raise TypeError(f"{kind}() got an unexpected keyword '{name}'{nearest(name, (*own, *_KNOWN[kind]))}")
    dtypes = facts.get("dtypes", "f")
    if not (isinstance(dtypes, str) and dtypes and set(dtypes) <= set("fcib")):
        raise ValueError(f"{body.__name__}: dtypes={dtypes!r} must be some of the letters 'fcib'")
    info = Operator(body, **{"kind": kind, **usual, **facts})
    if info.in_float32 in ("result", "both"):
        info.layout = once(info.layout)
    return info


def formula_names(formula: Formula | None, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The parameters of a formula after ``xp`` and ``g``, whose values must be saved. ``known``: permitted names."""
    if formula is None:
        return ()
    names = formula.__code__.co_varnames[2 : formula.__code__.co_argcount]
    for name in names if known else ():
        if name not in known:
            raise TypeError(f"a formula names '{name}', which is none of {', '.join(known)}{nearest(name, known)}")
    return names


def names_of(info: Operator, **more: Any) -> dict[str, Any]:
    """The names in the texts of an operator, and ``more`` names."""
    known = {
        "info": info, "N": info.node, "table": Impl(info.name), "raw": getattr(ARRAYS, info.name),
        "bare": bare(ARRAYS, info), "of_shape": of_shape, "shape_like": shape_like,
    }  # fmt: skip
    return known | more


def enter(
    info: Operator, make_node: Callable[[], Any] | None, jvp: Any, head: str, core: Callable[[], Shape], scope: Scope,
    names: str | None = None, **flags: Any,
) -> Any:  # fmt: skip
    """Make, register and publish an operator's function.

    ``make_node``: makes the class of its nodes; ``None``: it is not recorded. ``core()``: its shape without tests for
    modes. ``head``: the parameters of the public function, ``flags`` those that it has besides.
    """
    info.op = op = hot(info.name, lambda: core().but(head, modes=True, **flags), scope, info.doc, head)
    info.make_core = lambda: variant(op, core())
    info.make_node = make_node
    info.jvp = info.jvp or jvp
    if make_node is None and info.no_derivative is None:
        info.no_derivative = "no derivative"
    register(info)
    if info.in_place:
        from .._tape.refusal import record_in_place  # few operators need it

        record_in_place(op, info.in_place)
    if names:
        publish(op, names)
    return op


def publish_elementwise(
    info: Operator, names: str | None, method: Callable[[], Shape], inplace: bool, **replaced: Any
) -> None:
    """Publish an elementwise operator: function, method and in-place forms.

    ``method()``: the shape of the method, which has no ``out``.
    """
    if names is None:
        names = f"torch.{info.name} Tensor.{info.name}"
    elif names.startswith("special."):
        info.refused_as = f"special_{info.name}"
    every = names.split()
    of_tensor = tuple([full for full in every if full.startswith("Tensor.")])
    of_modules = tuple([full for full in every if full not in of_tensor])
    publish(info.op, of_modules)
    if of_tensor:
        info.make_method = lambda: variant(info.op, method(), **replaced)
        publish(Unmade(lambda: info.method), of_tensor)
    if inplace:
        spaces = ("Tensor.", "torch.") if info.arity == 1 else "Tensor."
        forms = [f"{full}_" for full in every if full.startswith(spaces) and not full.endswith("__")]
        publish(Unmade(partial(_inplace, info)), tuple(forms))


def _inplace(info: Operator) -> Any:
    from .._tape.inplace import inplace_form  # not needed to import the package

    return inplace_form(info)


# ---- nodes
def node_class(name: str, slots: tuple[str, ...], /, **members: Any) -> Any:
    """The node class of one operator, which prints like PyTorch's: ``<class 'MulBackward0'>``."""
    keys = members.get("saved_names", ())
    unnamed.update(keys, [key.replace("_shape", "_sym_sizes") for key in keys])
    return type(name, (Node,), {"__slots__": slots, "__module__": "builtins", **members})


def camel(name: str) -> str:
    """``log_softmax`` -> ``LogSoftmax``."""
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


_EDGES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "x": lambda n: (n.fx,),
    "xy": lambda n: (n.fx, n.fy),
    "cxy": lambda n: (n.fc, n.fx, n.fy),
    "xyc": lambda n: (n.fx, n.fy, n.fc),
    "xy-": lambda n: (n.fx, n.fy, None),
}  # the orders of ``next_functions``


def slotted(
    info: Operator, node: str | None, calls: tuple[Call, ...], sources: Sources, *kept: str, order: str = "",
    views: Any = None, holomorphic: bool = True, step: dict[str, Any] | None = None, **members: Any,
) -> Any:  # fmt: skip
    """What makes the node class of an operator whose nodes have one slot for each edge and each saved value.

    It is ``None`` without a formula. ``kept``: the slots of the values. ``order``: the order of the edges, if it is not
    that of the calls. ``views``: see ``saved_for``. ``step``: keywords of ``backward_step``. ``members`` replace the
    usual ones.
    """
    if calls[0][1] is None:
        return None

    def make_node() -> Any:
        edges = tuple(edge for edge, _, _ in calls)
        stepped = "".join(edge[1] for edge in edges)
        plain = len(info.params) <= max(info.arity, 1) and not info.view  # no parameters: nothing to write at each call
        slots = tuple(slot for slot in kept if slot != "params") if plain else kept
        usual: dict[str, Any] = {
            "_edges": _EDGES[order or stepped], "_release": lambda n: _release(n, slots),
            "backward": backward_step(info, calls, holomorphic, **(step or {})),
            "saved": saved_for(sources, views or {}), "saved_names": tuple(sources), "piecewise": info.piecewise,
            "operator": info.name, "own_derivative": info.own_derivative or info.piecewise,
        }  # fmt: skip
        if order not in ("", stepped):
            usual["step_order"] = tuple(order.index(edge) for edge in stepped if edge in order)
        if plain:
            usual["params"] = ()
        return node_class(node or camel(info.name) + "Backward0", (*edges, *slots), **{**usual, **members})

    return make_node


def _release(n: Any, slots: tuple[str, ...]) -> None:
    """Free the saved values in these slots; a shape in place of a box is not freed."""
    for slot in slots:
        if slot == "result" or isinstance(getattr(n, slot, None), Box):
            setattr(n, slot, FREED)


def not_saved(n: Any, name: str) -> AttributeError:
    """The error for a ``_saved_NAME`` that a node does not have."""
    return AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{name}'")


def saved_for(sources: Sources, views: dict[str, Any]) -> Any:
    """The look-up behind ``grad_fn._saved_NAME``: PyTorch's name -> slot, or the position of a parameter.

    ``views``: name -> (name, function of its value), for what PyTorch saves in another form.
    """

    def saved(n: Any, name: str) -> Any:
        of, view = views.get(name, (name, None))
        if of not in sources:
            raise not_saved(n, name)
        slot = sources[of]
        if isinstance(slot, int):
            return n.params[slot]
        value = getattr(n, slot)
        if slot != "shape":
            if isinstance(value, (tuple, OperandShape)):  # of an operand whose value no formula of this call needs
                return None
            value = unbox(n, value, n if slot == "result" else getattr(n, "f" + slot, None), TENSORS)
        return value if view is None or value is None else view(value)

    return saved

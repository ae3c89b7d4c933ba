"""What every kind of operator is made with: the registry entry, the node class, the finished functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .._arrays.threads import elementwise
from .._base.registry import Info, own, place, register
from .._tape.node import FREED, Box, Node
from .._tape.saved import unbox
from .._tape.saved_names import name_saved
from .slow_path import second_of_method

Formula = Callable[..., Any]


def formula_names(formula: Formula | None) -> tuple[str, ...]:
    """The names that a formula uses after ``xp`` and ``g``: what must be saved."""
    return () if formula is None else formula.__code__.co_varnames[2 : formula.__code__.co_argcount]


def node_class(name: str, slots: tuple[str, ...], /, **members: Any) -> Any:
    """A node class of one operator; as PyTorch's it prints ``<class 'MulBackward0'>``."""
    for key in members.get("saved_names", ()):
        name_saved(key, key.replace("_shape", "_sym_sizes"))
    return type(name, (Node,), {"__slots__": slots, "__module__": "builtins", **members})


def camel(name: str) -> str:
    """``log_softmax`` -> ``LogSoftmax``."""
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def info_for(decl: Any, kind: str, facts: dict[str, Any]) -> Info:
    """The registry entry that every kind fills; ``facts`` overrides what is usual."""
    info = Info()
    info.name = info.libname = decl.__name__
    info.kind = kind
    info.doc = decl.__doc__
    names = decl.__code__.co_varnames[: decl.__code__.co_argcount]
    info.decl = decl if names[:1] == ("lib",) else None
    info.params = names[1:] if info.decl is not None else names
    info.arity = 1
    info.outputs = 1
    info.differentiable = (True,)
    info.batch = info.jvp = info.samples = info.domain_other = info.why_not = None
    info.view = False
    info.domain = (-2.0, 2.0)
    info.dtypes = "fc"
    info.to_float = False
    info.called = decl.__name__.strip("_")
    info.__dict__.update(facts)
    return info


_PARAMETERS = {1: ("input",), 2: ("input", "other")}


def publish(info: Info, method: Any, names: str | None, inplace: bool = True) -> None:
    """Give an elementwise operator its public names: function, method and in-place forms.

    ``method``: the template of its methods, which have no ``out``.
    """
    if names is None:
        names = f"torch.{info.name} Tensor.{info.name}"
    elif names.startswith("special."):
        info.refused_as = f"special_{info.name}"  # type: ignore[attr-defined]
    of_tensor = [full for full in names.split() if full.startswith("Tensor.")]
    place(info.op, tuple(full for full in names.split() if full not in of_tensor))
    if of_tensor:
        cells = {"reject": second_of_method} if info.arity == 2 else None
        info.method = own(method, info.name, _PARAMETERS[info.arity], info.doc, cells=cells)
        place(info.method, tuple(of_tensor))
    if inplace:
        from .._tape.inplace import inplace_form

        form = inplace_form(info)
        for full in names.split():
            space, _, name = full.rpartition(".")
            if not name.endswith("__") and (space == "Tensor" or (space == "torch" and info.arity == 1)):
                place(form, f"{space}.{name}_")


def finish(info: Info, template: Any, N: Any, jvp: Any) -> None:
    """Make the operator's functions from its template and enter it into the registry."""
    params = _PARAMETERS[info.arity]
    info.op = own(template, info.name, params, info.doc)
    info.make_core = lambda: own(template, info.name, params, info.doc, cells={"M": (), "EVERY": ()})
    info.node = N
    info.jvp = info.__dict__.get("jvp") or jvp
    if info.why_not is None and N is None:
        info.why_not = "no derivative"
    register(info)


def edges_x(n: Any) -> tuple[Any, ...]:
    return (n.fx,)


def edges_xy(n: Any) -> tuple[Any, ...]:
    return (n.fx, n.fy)


def edges_of_tensors(n: Any) -> tuple[Any, ...]:
    """PyTorch has a function of its own for a number as second operand, whose node has one input."""
    return (n.fx,) if number_second(n) else (n.fx, n.fy)


def number_second(n: Any) -> bool:
    """Whether an elementwise operator's second operand was a number."""
    return n.y is not None and not isinstance(n.y, (Box, tuple))


def _release_nothing(n: Any) -> None:
    return None


def _release_x(n: Any) -> None:
    n.x = FREED


def _release_r(n: Any) -> None:
    n.r = FREED


def _release_xr(n: Any) -> None:
    n.x = n.r = FREED


def release_for(keep_self: bool, keep_result: bool) -> Any:
    table = {(False, False): _release_nothing, (True, False): _release_x, (False, True): _release_r}
    return table.get((keep_self, keep_result), _release_xr)


def saved_for(inputs: dict[str, str], results: dict[str, str]) -> Any:
    """The look-up behind ``grad_fn._saved_NAME``: PyTorch's name -> slot."""

    def saved(n: Any, name: str) -> Any:
        from .._base.registry import T

        if name in inputs:
            slot = inputs[name]
            value = getattr(n, slot)
            if isinstance(value, tuple):  # the shape of an operand whose value no formula of this call needs
                return None
            return unbox(n, value, getattr(n, "f" + slot, None), T)
        if name in results:
            return unbox(n, getattr(n, results[name]), n, T)
        raise AttributeError(f"'{type(n).__name__}' object has no attribute '_saved_{name}'")

    return saved


# -------------------------------------------------------------------------------------------------------- large arrays
class Lazily:
    """A function that is made when it is first called."""

    __slots__ = ("fn", "how")

    def __init__(self, how: Callable[[], Any]) -> None:
        self.how = how
        self.fn: Any = None

    def __call__(self, *args: Any) -> Any:
        if self.fn is None:
            self.fn = self.how()
        return self.fn(*args)


def blocked_form(template: Any, info: Info, raw: Any, N: Any, step: Any) -> Any:
    """An elementwise operator on large arrays: the same template, whose work and whose backward go by blocks.

    Modes were looked at by the operator that hands over to it.
    """
    if N is not None:
        N = type(N.__name__, (N,), {"__slots__": (), "__module__": N.__module__, "backward": step})
    cells = {"raw": partial(elementwise, raw), "N": N, "LARGE": math.inf, "M": (), "EVERY": ()}
    return own(template, info.name, template.__code__.co_varnames[: info.arity], cells=cells)


def blocked_formula(formula: Any) -> Any:
    """A derivative formula that runs block by block."""

    def by_blocks(xp: Any, g: Any, *values: Any) -> Any:
        return elementwise(partial(formula, xp), g, *values)

    return by_blocks

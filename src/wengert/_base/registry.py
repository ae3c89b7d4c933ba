"""What an operator is to the rest of the library, and where its public names live.

An operator is declared once (see ``_kinds.elementwise``). ``REGISTRY`` holds its ``Info``; the three ``xp`` namespaces
hold it in the three forms that a formula may run on: ``RAW`` on plain arrays, ``T`` on Tensors (so that what a backward
pass does is itself recorded), ``U`` on the values of transforms (``Dual``, ``Batched``).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .hooks import hook


class Namespace:
    """Functions by name: the ``xp`` that a derivative formula is given."""

    def __init__(self, name: str) -> None:
        self.namespace = name


T: Any = Namespace("T")
U: Any = Namespace("U")
RAW: Any = Namespace("RAW")
RAW_COMPLEX: Any = Namespace("RAW")  # the same functions; only its identity differs: the cotangent is complex
RAW_COMPLEX.__dict__ = RAW.__dict__

XPS: list[Any] = []  # one raw namespace per array library


class _ByType(dict[type, Any]):
    """Payload type -> the namespace that works on it."""

    def __missing__(self, ty: type) -> Any:
        for xp in XPS:
            if xp.owns(ty):
                self[ty] = xp
                return xp
        raise TypeError(f"no backend for arrays of type {ty.__module__}.{ty.__qualname__}")


XP: dict[type, Any] = _ByType()


class Impl(dict[type, Any]):
    """Payload type -> one operator's raw function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __missing__(self, ty: type) -> Any:
        fn = self[ty] = getattr(XP[ty], self.name)
        return fn


class Info:
    """What is known of one operator."""

    name: str
    kind: str
    doc: str | None
    decl: (
        Callable[..., Any] | None
    )  # the declared body, whose first argument is the array library; None: the library's own
    called: str  # its public function's name in errors
    libname: str  # its name in the array library
    arity: int  # how many leading arguments are tensors; -1: the first argument is a sequence of tensors
    params: tuple[str, ...]  # names of all arguments
    op: Callable[..., Any]  # the public, hot function
    method: Callable[..., Any] | None = None  # the method, where it is another function: it has no ``out``
    make_core: Callable[[], Callable[..., Any]]
    node: type
    outputs: int
    differentiable: tuple[bool, ...]  # for each output
    jvp: Callable[..., Any] | None  # (xp, tangents, out, *args) -> tangent of out
    batch: Any  # the batching rule
    view: bool
    domain: tuple[float, float]
    domain_other: tuple[float, float] | None
    samples: Any  # list of argument tuples or a function that returns it; None: drawn from the domain
    dtypes: str  # which groups of dtypes it takes: "fcib" float, complex, integer, bool
    why_not: str | None  # the reason if it has no derivative

    @functools.cached_property
    def core(self) -> Callable[..., Any]:
        """``op`` without the test for modes; made when it is first needed."""
        return self.make_core()

    def __repr__(self) -> str:
        return f"<operator {self.name}: {self.kind}>"


REGISTRY: dict[str, Info] = {}
WITH_SPARSE: dict[str, Callable[..., Any]] = {}  # what operators of several tensors do if some of them are sparse
PUBLIC: dict[str, dict[str, Any]] = {}  # "torch" -> {"exp": function}; "Tensor", "nn.functional", "linalg", ...


def place(fn: Any, names: str | tuple[str, ...]) -> Any:
    """Give a function its public names: ``"torch.exp Tensor.exp"``."""
    for full in names.split() if isinstance(names, str) else names:
        space, _, name = full.rpartition(".")
        PUBLIC.setdefault(space, {})[name] = fn
    return fn


def public(*names: str) -> Callable[[Any], Any]:
    """Decorator: the public names of a function that is composed of operators; it is called by the first of them."""
    all_names = tuple(n for name in names for n in name.split())

    def decorate(fn: Any) -> Any:
        inner = fn
        while isinstance(inner, types.FunctionType):  # what a decorator wrapped too: its name is in Python's own errors
            inner.__name__ = inner.__qualname__ = all_names[0].rpartition(".")[2]
            inner = getattr(inner, "__wrapped__", None)
        space = all_names[0].rpartition(".")[0]
        if isinstance(fn, types.FunctionType) and space != "Tensor":  # where pickle finds it again
            fn.__module__ = "wengert" if space == "torch" else f"wengert.{space}"
        return place(fn, all_names)

    return decorate


def add_backend(xp: Any, lib: Any, owns: Callable[[type], bool]) -> None:
    """Offer an array library: every operator, declared before or after, gets its raw function in ``xp``."""
    xp.lib = lib
    xp.owns = owns
    XPS.append(xp)
    for info in REGISTRY.values():
        bind_raw(xp, info)


def bind_raw(xp: Any, info: Info) -> None:
    """Put the operator's raw function for one library into that library's namespace."""
    if info.decl is None:
        fn = getattr(xp.lib, info.libname)
    else:
        fn = types.MethodType(info.decl, xp.lib)  # the interpreter puts what is bound in front without a call
    setattr(xp, info.name, fn)


def register(info: Info) -> None:
    """Enter an operator into the registry and into every namespace."""
    name = info.name
    assert name not in REGISTRY, f"two operators are called {name}"
    REGISTRY[name] = info
    setattr(T, name, info.op)
    setattr(U, name, _bound_value(info))
    for xp in XPS:
        bind_raw(xp, info)


def _bound_value(info: Info) -> Callable[..., Any]:
    def on_values(*args: Any) -> Any:
        return bind.run(info, *args)

    return on_values


@hook
def bind(info: Info, *args: Any) -> Any:
    """Run one operator on payloads of any nesting. Set by ``_payloads.transforms``."""


def on_payloads(info: Info, *args: Any) -> Any:
    """Run one operator on payloads of which some are no arrays: ``bind``, or what a payload's type does itself."""
    for a in args[: info.arity] if info.arity >= 0 else args[0]:
        own = getattr(type(a), "run_operator", None)
        if own is not None:
            return own(info, args)
    return bind.run(info, *args)


def own(
    fn: Any, name: str, params: tuple[str, ...] = (), doc: str | None = None, cells: dict[str, Any] | None = None
) -> Any:
    """A copy of a closure with its own code object: its name, its argument names, its own inline caches.

    ``cells`` replaces the values of free variables and globals: so one template gives the variants of an operator.
    """
    code = fn.__code__
    varnames = params + code.co_varnames[len(params) :]
    if len(set(varnames)) != len(varnames):  # a parameter is called like one of the template's locals
        varnames = params + tuple(v + "_" if v in params else v for v in code.co_varnames[len(params) :])
    closure = fn.__closure__
    if cells:
        closure = tuple(
            types.CellType(cells[n]) if n in cells else c for n, c in zip(code.co_freevars, closure, strict=True)
        )
    copy = types.FunctionType(
        code.replace(co_name=name, co_qualname=name, co_varnames=varnames),
        _globals_with(fn.__globals__, cells, code),
        name,
        fn.__defaults__,
        closure,
    )
    copy.__kwdefaults__ = fn.__kwdefaults__
    copy.__doc__ = doc
    copy.__module__ = "wengert"
    return copy


_replaced_globals: dict[Any, dict[str, Any]] = {}


def _globals_with(scope: dict[str, Any], values: dict[str, Any] | None, code: types.CodeType) -> dict[str, Any]:
    """A module's globals with some replaced (those of ``values`` that the code reads as such); one for all users."""
    replaced = {n: v for n, v in (values or {}).items() if n in code.co_names and n not in code.co_freevars}
    if not replaced:
        return scope
    key = (scope["__name__"], *((n, id(v)) for n, v in replaced.items()))
    if key not in _replaced_globals:
        _replaced_globals[key] = {**scope, **replaced}
    return _replaced_globals[key]

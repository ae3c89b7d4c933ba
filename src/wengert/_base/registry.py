"""What an operator is to the rest of the library, and where its public names live.

An operator is declared once (see ``_kinds.elementwise``). ``REGISTRY`` holds its ``Operator``; the three ``xp``
namespaces hold it in the three forms that a formula may run on: ``ARRAYS`` on plain arrays, ``TENSORS`` on Tensors (so
that what a backward pass does is itself recorded), ``TRANSFORMED`` on the values of transforms (``Dual``, ``Batched``).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .hooks import hook
from .late_names import LateFunction, Table


class Namespace:
    """Functions by name: the ``xp`` that a derivative formula is given."""

    def __init__(self, name: str) -> None:
        self.namespace = name


class OfValues(Namespace):
    """Operators on the values of transforms, each made when a formula first names it."""

    def __getattr__(self, name: str) -> Any:
        fn = types.MethodType(bind.run, REGISTRY[name]) if name in REGISTRY else None
        if fn is None:
            raise AttributeError(f"no operator is called {name}")
        setattr(self, name, fn)
        return fn


TENSORS: Any = Namespace("T")
TRANSFORMED: Any = OfValues("U")
ARRAYS: Any = Namespace("RAW")
COMPLEX_ARRAYS: Any = Namespace("RAW")  # the same functions; only its identity differs: the cotangent is complex
COMPLEX_ARRAYS.__dict__ = ARRAYS.__dict__

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


class Operator:
    """What is known of one operator. A declaration gives a fact by its field's name (see ``_kinds.declare.FACTS``)."""

    # what it is
    name: str  # in the registry: the declared body's name
    kind: str  # "unary", "binary", "linear", "bilinear", "affine" or "general"
    doc: str | None  # the declared body's docstring
    body: Callable[..., Any]  # what was declared
    decl: Callable[..., Any] | None  # ``body`` if its first argument is the array library, else None: the library's own
    libname: str  # the name of the function in the array library
    called: str  # the public function's name in errors
    params: tuple[str, ...]  # names of all arguments
    arity: int = 1  # how many leading arguments are tensors; -1: the first argument is a sequence of tensors
    outputs: int = 1  # how many results there are; -1: a list
    results: tuple[str, ...] = ()  # names of several results, for formulas
    view: bool = False  # whether the result shares the operand's memory

    # what was made of it
    op: Callable[..., Any]  # the public, hot function
    method: Callable[..., Any] | None = None  # the method, where it is another function: it has no ``out``
    make_core: Callable[[], Callable[..., Any]]  # makes ``core``
    node: Any = None  # the class of its nodes; None: it is not recorded
    node_without: Any = None  # the same, where nothing is added (affine)
    saves: Any = None  # what a general operator's nodes save

    # derivatives and transforms
    differentiable: tuple[bool, ...] = (True,)  # for each output
    underived: tuple[int, ...] = ()  # operands that have no formula
    no_derivative: str | None = None  # the reason if it has no derivative
    absent: bool = False  # whether a cotangent that did not arrive is None to the formula, not zeros
    constants_from: int | None = None  # from which on a sequence's operands have no edge
    jvp: Callable[..., Any] | None = None  # (xp, tangents, out, *args) -> tangent of out
    batch: Any = None  # the batching rule
    saved_as: dict[str, Any] = {}  # PyTorch's names of saved values, where they are others

    # dtypes and numbers
    dtypes: str = "fc"  # which groups of dtypes it takes, of "fcib": float, complex, integer, bool
    to_float: bool = False  # whether integers become the default dtype first
    integers: bool = False  # whether integers and bools have another body than floats
    integer: Callable[..., Any] | None = None  # that body
    promote: Any = None  # how operands come to one dtype: True, or a function of the operands that gives it
    numbers: frozenset[type] = frozenset((float, int))  # the types of number that the second operand may be
    number_first: bool | str = False  # whether the first operand may be a number; "alone": both may
    ufunc: Any = None  # NumPy's function for the in-place form, where it is not the operator's own
    symbol: Callable[..., Any] | None = None  # the Python operator, for arrays that are not NumPy's

    # what it refuses, and how
    check: Callable[..., Any] | None = None  # (info, x, y, dtype): raises PyTorch's error for a dtype it refuses
    refuse_mixed: Callable[..., Any]  # (info, *operands): raises PyTorch's error for operands of several dtypes
    overloads: bool = False  # whether PyTorch names its overloads when an argument is no tensor
    refused_as: str | None = None  # its name in errors about arguments, if it is not ``called``
    kernel: str | None = None  # the kernel that PyTorch says is not implemented for a dtype
    out_rule: Any = None  # which dtypes ``out=`` may have

    # how it is tested
    samples: Any = None  # list of argument tuples or a function that returns it; None: drawn from the domain
    domain: tuple[float, float] = (-2.0, 2.0)  # where samples are drawn from
    domain_other: tuple[float, float] | None = None  # the second operand's, if it is another

    def __init__(self, body: Callable[..., Any], **facts: Any) -> None:
        names = body.__code__.co_varnames[: body.__code__.co_argcount]
        self.body = body
        self.name = self.libname = body.__name__
        self.called = body.__name__.strip("_")
        self.doc = body.__doc__
        self.decl = body if names[:1] == ("lib",) else None
        self.params = names if self.decl is None else names[1:]
        self.__dict__.update(facts)

    @functools.cached_property
    def core(self) -> Callable[..., Any]:
        """``op`` without the test for modes; made when it is first needed."""
        return self.make_core()

    def __repr__(self) -> str:
        return f"<operator {self.name}: {self.kind}>"


REGISTRY = Table()  # the operators by name
WITH_SPARSE: dict[str, Callable[..., Any]] = {}  # what operators of several tensors do if some of them are sparse
PUBLIC: dict[str, Table] = {}  # "torch" -> {"exp": function}; "Tensor", "nn.functional", "linalg", ...
placed: list[tuple[str, str]] = []  # space and name of what was put there and is not attached yet (see ``publish``)


def table_of(space: str) -> Table:
    """The public names of one module or class."""
    if space not in PUBLIC:
        PUBLIC[space] = Table()
    return PUBLIC[space]


def publish(fn: Any, names: str | tuple[str, ...]) -> Any:
    """Give a function its public names: ``"torch.exp Tensor.exp"``."""
    for full in names.split() if isinstance(names, str) else names:
        space, _, name = full.rpartition(".")
        if not space:
            raise ValueError(f"'{full}' is no public name: one is 'space.name', as in 'torch.exp'")
        table_of(space)[name] = fn
        placed.append((space, name))
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
        return publish(fn, all_names)

    return decorate


def add_backend(xp: Any, lib: Any, owns: Callable[[type], bool]) -> None:
    """Offer an array library: every operator, declared before or after, gets its raw function in ``xp``."""
    xp.lib = lib
    xp.owns = owns
    XPS.append(xp)
    for name, module in REGISTRY.home.items():
        setattr(xp, name, LateFunction(xp, name, module))
    for _, info in REGISTRY.here():
        bind_raw(xp, info)


def expect(module: str, names: list[str]) -> None:
    """Say that this module, when it is imported, will register operators of these names."""
    REGISTRY.home.update(dict.fromkeys(names, module))
    for space in (TENSORS, *XPS):
        vars(space).update({name: LateFunction(space, name, module) for name in names})


def bind_raw(xp: Any, info: Operator) -> None:
    """Put the operator's raw function for one library into that library's namespace."""
    if info.decl is None:
        fn = getattr(xp.lib, info.libname)
    else:
        fn = types.MethodType(info.decl, xp.lib)  # the interpreter puts what is bound in front without a call
    setattr(xp, info.name, fn)


def register(info: Operator) -> None:
    """Enter an operator into the registry and into every namespace."""
    name = info.name
    assert not dict.__contains__(REGISTRY, name), f"two operators are called {name}"
    REGISTRY[name] = info
    setattr(TENSORS, name, info.op)
    for xp in XPS:
        bind_raw(xp, info)


@hook
def bind(info: Operator, *args: Any) -> Any:
    """Run one operator on payloads of any nesting. Set by ``_payloads.transforms``."""


def on_payloads(info: Operator, *args: Any) -> Any:
    """Run one operator on payloads of which some are no arrays: ``bind``, or what a payload's type does itself."""
    for a in args[: info.arity] if info.arity >= 0 else args[0]:
        own = getattr(type(a), "run_operator", None)
        if own is not None:
            return own(info, args)
    return bind.run(info, *args)


def own(fn: Any, name: str, doc: str | None = None) -> Any:
    """A copy of a closure with its own code object: its name and its own inline caches."""
    code = fn.__code__.replace(co_name=name, co_qualname=name)
    copy = types.FunctionType(code, fn.__globals__, name, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    copy.__doc__ = doc
    copy.__module__ = "wengert"
    return copy

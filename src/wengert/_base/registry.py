"""The record of an operator (``Operator``), the registry of operators, and the tables of their public names.

An operator is declared once (see ``_kinds.elementwise``). ``REGISTRY`` holds its ``Operator``. The three ``xp``
namespaces hold the three forms that a formula may call: ``ARRAYS`` for plain arrays, ``TENSORS`` for Tensors (so that
the backward pass is itself recorded), ``TRANSFORMED`` for the values of transforms (``Dual``, ``Batched``).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .docstrings import described
from .hooks import hook
from .late_names import PublicTable, Table, Unmade, import_one


class Namespace:
    """Functions by name: the ``xp`` argument of a derivative formula."""


class ByOperator(Namespace):
    """A namespace of operators: ``form(info)`` makes the function of one when a formula first uses its name."""

    def __init__(self, form: Callable[[Operator], Any]) -> None:
        self._form = form

    def __getattr__(self, name: str) -> Any:
        if name not in REGISTRY:
            raise AttributeError(f"no operator is called {name}")
        if name in REGISTRY.home:
            import_one.run(REGISTRY.home[name])  # to its end: the operator may use what stands behind it
        fn = self._form(REGISTRY[name])
        return self.__dict__.setdefault(name, fn)  # its module may have set another one


def _of_values(info: Operator) -> Any:
    return types.MethodType(bind.run, info)


TENSORS: Any = ByOperator(lambda info: info.op)
TRANSFORMED: Any = ByOperator(_of_values)
ARRAYS: Any = ByOperator(lambda info: laid_out(ARRAYS, info))
# The same functions; only its identity differs: the cotangent is complex.
COMPLEX_ARRAYS: Any = ByOperator(ARRAYS._form)
COMPLEX_ARRAYS.__dict__ = ARRAYS.__dict__


class _ByType(dict[type, Any]):
    """Payload type -> the namespace that works on it, or on a class that it derives from."""

    def __missing__(self, ty: type) -> Any:
        for base in ty.__mro__[1:]:
            if base in self:
                xp = self[ty] = self[base]
                return xp
        raise TypeError(f"no backend for arrays of type {ty.__module__}.{ty.__qualname__}")


XP: dict[type, Any] = _ByType()


class NO_ROWS:
    """The ``flags`` of payloads that are no arrays, in place of NumPy's: hot functions ask only this."""

    contiguous = False


class Impl(dict[type, Any]):
    """Payload type -> one operator's raw function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __missing__(self, ty: type) -> Any:
        fn = self[ty] = getattr(XP[ty], self.name)
        return fn


class Operator:
    """The record of one operator. A declaration sets a field by its name (see ``_kinds.declare.FACTS``)."""

    # identity
    name: str  # in the registry: the declared body's name
    kind: str  # "unary", "binary", "linear", "bilinear", "affine" or "general"
    doc: str | None  # the declared body's docstring
    body: Callable[..., Any]  # the declared function
    decl: Callable[..., Any] | None  # ``body`` if its first argument is the array library, else None: the library's own
    libname: str  # the name of the function in the array library
    called: str  # the public function's name in errors
    params: tuple[str, ...]  # names of all arguments
    arity: int = 1  # the number of leading tensor arguments; -1: the first argument is a sequence of tensors
    outputs: int = 1  # the number of results; -1: a list
    results: tuple[str, ...] = ()  # names of several results, for formulas
    view: bool = False  # whether the result shares the operand's memory
    layout: Callable[..., Any] | None = None  # the rule for strides, if it is not NumPy's (``_arrays.layouts``)

    # the functions and classes made from the declaration
    op: Callable[..., Any]  # the public, hot function
    make_method: Callable[[], Any] | None = None  # makes ``method``
    make_core: Callable[[], Callable[..., Any]]  # makes ``core``
    make_node: Callable[[], Any] | None = None  # makes ``node``; None: the operator is not recorded
    make_node_without: Callable[[], Any] | None = None  # makes the class of nodes without the added operand (affine)
    saves: Any = None  # the values that a general operator's nodes save

    # derivatives and transforms
    differentiable: tuple[bool, ...] = (True,)  # for each output
    underived: tuple[int, ...] = ()  # operands without a formula
    no_derivative: str | None = None  # the reason if it has no derivative
    own_derivative: bool = False  # whether PyTorch's derivative is one operator too, after which its node is named
    in_place: str = ""  # its in-place form, if not as the operator: "zeros" as gradient, "refused" there, "unrecorded"
    piecewise: bool = False  # whether it is linear in pieces: its second derivative is zeros, and not absent
    absent: bool = False  # whether the formula gets None, not zeros, for a missing cotangent
    constants_from: int | None = None  # the index from which on a sequence's operands have no edge
    jvp: Callable[..., Any] | None = None  # (xp, tangents, out, *args) -> tangent of out
    in_float32: str = ""  # what is computed in float32 for half precision: the "result", the "gradient" or "both"
    batch: Any = None  # the batching rule
    saved_as: dict[str, Any] = {}  # PyTorch's names of saved values, if they differ

    written: Callable[..., Any] | None = None  # its form on a tape, if its last argument is a list that it fills

    # dtypes and numbers
    dtypes: str = "fc"  # the accepted groups of dtypes, of "fcib": float, complex, integer, bool
    to_float: bool = False  # whether integers are first converted to the default dtype
    integers: bool = False  # whether integers and bools have another body than floats
    integer: Callable[..., Any] | None = None  # that body
    promote: Any = None  # how operands are promoted: True, or a function that returns their common dtype
    numbers: frozenset[type] = frozenset((float, int))  # the types of Python number that the second operand may have
    number_first: bool | str = False  # whether the first operand may be a number; "alone": both may
    ufunc: Any = None  # NumPy's function for the in-place form, if it is not the operator's own
    symbol: Callable[..., Any] | None = None  # the Python operator, for arrays that are not NumPy's

    # checks and errors
    check: Callable[..., Any] | None = None  # (info, x, y, dtype): raises PyTorch's error for an unsupported dtype
    refuse_mixed: Callable[..., Any]  # (info, *operands): raises PyTorch's error for mixed dtypes
    overloads: bool = False  # whether PyTorch's error lists the overloads when an argument is not a tensor
    refused_as: str | None = None  # the name in errors about arguments, if it is not ``called``
    kernel: str | None = None  # the kernel that PyTorch says is not implemented for a dtype
    out_rule: Any = None  # the dtypes that ``out=`` may have

    # tests
    samples: Any = None  # list of argument tuples or a function that returns it; None: drawn from the domain
    domain: tuple[float, float] = (-2.0, 2.0)  # the interval of samples
    domain_other: tuple[float, float] | None = None  # the second operand's interval, if it differs

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
    def method(self) -> Callable[..., Any] | None:
        """The method, made on first use, if it is another function than ``op``: it has no ``out``."""
        return self.make_method and self.__dict__.setdefault("method", self.make_method())  # as ``node``

    @functools.cached_property
    def core(self) -> Callable[..., Any]:
        """``op`` without the test for modes, made on first use."""
        return self.make_core()

    @functools.cached_property
    def node(self) -> Any:
        """The class of its nodes, made on first use; ``None`` if the operator is not recorded."""
        return self.make_node and self.__dict__.setdefault("node", self.make_node())  # two threads: the first one's

    @functools.cached_property
    def node_without(self) -> Any:
        """The class of nodes without the added operand (affine)."""
        return self.make_node_without and self.__dict__.setdefault("node_without", self.make_node_without())

    def __repr__(self) -> str:
        return f"<operator {self.name}: {self.kind}>"


REGISTRY = Table()  # the operators by name
WITH_SPARSE: dict[str, Callable[..., Any]] = {}  # operators on several tensors, some of them sparse COO
WITH_COMPRESSED: dict[str, Callable[..., Any]] = {}  # operators on several tensors, some of them sparse CSR or CSC
PUBLIC: dict[str, PublicTable] = {}  # "torch" -> {"exp": function}; "Tensor", "nn.functional", "linalg", ...
places: dict[int, list[tuple[str, str]]] = {}  # id of a function that is not ready yet -> (space, name) of each name
unplaced: dict[str, None] = {}  # names of methods for which ``Tensor`` has no placeholder yet


PLAIN: dict[str, Callable[..., Any]] = {}  # functions of ``lib`` for arrays of other libraries, by name
PLAIN_BODIES: dict[str, Callable[..., Any]] = {}  # and operators' bodies


def plain(fn: Any) -> Any:
    """Decorator: ``plain_NAME(lib, ...)`` is the function ``NAME`` of ``lib`` for arrays of other libraries than NumPy.

    It stands beside one that is tuned to NumPy's memory.
    """
    PLAIN[fn.__name__.removeprefix("plain_")] = fn
    return fn


def plain_body(fn: Any) -> Any:
    """Decorator: ``plain_NAME(lib, ...)`` is the operator ``NAME``'s body for arrays of other libraries than NumPy."""
    PLAIN_BODIES[fn.__name__.removeprefix("plain_")] = fn
    return fn


def of_any_library(fn: Any) -> Any:
    """Decorator: a function of ``lib`` that serves all libraries' arrays, because it has only methods of theirs."""
    PLAIN[fn.__name__] = lambda lib, *args: fn(*args)
    return fn


ON_HOST: set[str] = set()  # operators whose body for other libraries' arrays is NumPy's, on copies in NumPy


def on_host(*names: str) -> None:
    """Let operators that no array library has, such as LAPACK's, compute in NumPy for other libraries' arrays."""
    ON_HOST.update(names)


def table_of(space: str) -> PublicTable:
    """The public names of one module or class."""
    if space not in PUBLIC:
        PUBLIC[space] = PublicTable(space)
    return PUBLIC[space]


def publish(fn: Any, names: str | tuple[str, ...]) -> Any:
    """Give a function its public names: ``"torch.exp Tensor.exp"``."""
    full_names = tuple(names.split()) if isinstance(names, str) else names
    if isinstance(fn, types.FunctionType):
        fn.__doc__ = described(fn.__doc__, full_names)
    elif type(fn) is Unmade:
        fn.names += full_names
    split = []
    for full in full_names:
        space, _, name = full.rpartition(".")
        if not space:
            raise ValueError(f"'{name}' is no public name: one is 'space.name', as in 'torch.exp'")
        if space == "Tensor" and type(fn) is property:
            fn = not_writable(name, fn)
        split.append((space, name))
    places.setdefault(id(fn), []).extend(split)
    for space, name in split:  # after ``places``: from here on other threads find it
        table_of(space)[name] = fn
        if space == "Tensor":
            unplaced[name] = None
    return fn


def not_writable(name: str, member: property) -> property:
    """A property of ``Tensor``; without a setter it refuses writes in PyTorch's words: see ``tools/make_stubs.py``."""
    if member.fset is not None:
        return member

    def read_only(*_: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return member.setter(read_only).deleter(member.fdel or read_only)


def public(*names: str) -> Callable[[Any], Any]:
    """Decorator that publishes a function composed of operators; errors use the first of its public names."""
    all_names = tuple(n for name in names for n in name.split())

    def decorate(fn: Any) -> Any:
        inner = fn
        while isinstance(inner, types.FunctionType):  # wrapped functions too: Python's errors show their names
            inner.__name__ = inner.__qualname__ = all_names[0].rpartition(".")[2]
            inner = getattr(inner, "__wrapped__", None)
        space = all_names[0].rpartition(".")[0]
        if isinstance(fn, types.FunctionType) and space != "Tensor":  # pickle finds the function by its module
            fn.__module__ = "wengert" if space == "torch" else f"wengert.{space}"
        return publish(fn, all_names)

    return decorate


def laid_out(xp: Any, info: Operator) -> Any:
    """The operator's raw function for one library."""
    fn = bare(xp, info)
    return fn if info.layout is None else info.layout(fn)


def bare(xp: Any, info: Operator) -> Any:
    """The operator's raw function for one library, without its rule of layout."""
    if info.decl is None:
        return getattr(xp.lib, info.libname)
    return types.MethodType(info.decl, xp.lib)  # the interpreter inserts a bound argument without a call


def register(info: Operator) -> None:
    """Add an operator to the registry."""
    name = info.name
    there = dict.get(REGISTRY, name)  # the same declaration: an import of its module that was interrupted, once more
    assert there is None or there.body.__code__ == info.body.__code__, f"two operators are called {name}"
    REGISTRY[name] = info


@hook
def bind(info: Operator, *args: Any) -> Any:
    """Run one operator on payloads of any nesting. Set by ``_payloads.transforms``."""


def on_payloads(info: Operator, *args: Any) -> Any:
    """Run one operator if some payloads are not arrays: by ``bind``, or by the method of a payload's type."""
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

"""``torch.library``: custom operators, called as ``torch.ops.NAMESPACE.NAME`` or as the object that defines them.

A custom operator is a named Python function. A derivative (``register_autograd``) and a batching rule
(``register_vmap``) can be added to it. The operator is a single node of the graph: operations inside it are not
recorded.

>>> import numpy as np
>>> import wengert as torch
>>> @torch.library.custom_op("example::cube", mutates_args=())
... def cube(x: torch.Tensor) -> torch.Tensor:
...     return torch.from_numpy(x.numpy() ** 3)
>>> def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
>>> def backward(ctx, grad): return grad * 3 * ctx.saved_tensors[0] ** 2
>>> cube.register_autograd(backward, setup_context=setup_context)
>>> x = torch.tensor([1., 2.], requires_grad=True)
>>> torch.ops.example.cube(x).sum().backward()
>>> x.grad
tensor([ 3., 12.])
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import wengert as torch

from ._base.errors import noted, warn
from .utils._aten import OpOverload
from .utils._custom_ops import OPERATORS, CustomOpDef, overloads_of, packet_of
from .utils._schemas import infer_schema, keyword_only_tensors, signature_of, written_by

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract",
    "infer_schema", "opcheck", "register_autocast", "register_autograd", "register_fake", "register_kernel",
    "register_torch_dispatch", "register_vmap",
]  # fmt: skip

LIBRARIES_OF_TESTS = Path(str(torch.__file__)).parent / "lib"
_REFUSED: list[str] = []  # files that were passed to load_library


def custom_op(
    name: str,
    fn: Any = None,
    /,
    *,
    mutates_args: Any,
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function the custom operator ``"NAMESPACE::NAME"``. Also a decorator.

    ``mutates_args``: the names of the parameters that the function writes to, or ``"unknown"``. The parameters' types
    come from the annotations, unless a ``schema`` gives them.
    """
    if fn is None:
        return lambda fn: custom_op(
            name, fn, mutates_args=mutates_args, device_types=device_types, schema=schema, tags=tags
        )
    text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
    if mutates_args != "unknown" and {*mutates_args} != written_by(text):
        raise ValueError(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema "
            f"suggests that the op mutates {written_by(text)}which is different from what was provided to us in "
            "`mutates_args`. Please make these consistent."
        )
    if keyword_only_tensors(signature_of(text)):
        raise NotImplementedError(
            "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: "
            f"{name.partition('::')[2]}{text}"
        )
    if name.count("::") != 1:
        raise ValueError(
            f"Expected name to be in the form of `namespace::name`, but got {name}: an operator has one namespace"
        )
    made = CustomOpDef(name, fn, text, () if mutates_args == "unknown" else mutates_args)
    made.register_kernel(device_types, fn)
    return made


# ---- operators by their schemas
def _known(name: Any) -> CustomOpDef:
    if isinstance(name, CustomOpDef):
        return name
    name = getattr(name, "_qualname", name)
    if name not in OPERATORS:
        if "::" not in str(name):
            wanted = 'Expected `qualname` to be of the form "namespace::name"'
            raise ValueError(f"{wanted}, but got {name}. It has a namespace and a name, such as aten::sin.")
        raise RuntimeError(f"operator {name} does not exist")
    return OPERATORS[name]


def define(qualname: Any, schema: str, *, lib: Any = None, tags: Any = ()) -> Any:
    """Declare an operator by its schema, ``"(Tensor x, int n=3) -> Tensor"``; ``impl`` sets its function.

    With a ``Library`` for a name, a decorator: the function declares the operator there, and is its function.
    """
    if isinstance(qualname, Library):
        return lambda f: qualname.impl(qualname.define(schema), f) or f  # type: ignore[func-returns-value]
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    if "::" not in qualname:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    if "(" not in schema:
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    if qualname in OPERATORS:
        raise RuntimeError(
            f"Tried to register an operator ({qualname}{schema}) with the same name and overload name multiple times."
        )
    CustomOpDef(qualname, None, schema)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Set an operator's function on these devices. Also a decorator.

    The former call ``impl(library, name, dispatch_key="")`` is a decorator that calls ``library.impl``.
    """
    if isinstance(qualname, Library):
        return lambda f: qualname.impl(types, f, func or "") or f  # type: ignore[func-returns-value]
    if func is None:
        return lambda func: impl(qualname, types, func, lib=lib)
    names = [str(t).lower() for t in ([types] if isinstance(types, str) else types)]
    everywhere = ("default", "compositeimplicitautograd", "compositeexplicitautograd")
    return _known(qualname).register_kernel([None if name in everywhere else name for name in names], func)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """``op.register_kernel`` of an operator, given itself or by name; ``impl`` of one that ``define`` declared."""
    known = _known(op)
    if known._declared:
        return impl(known._qualname, "default" if device_types is None else device_types, func)
    return known.register_kernel(device_types, func)


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """``op.register_fake`` of an operator, given itself or by name.

    After ``torch.ops.load_library`` has refused a file, an unknown operator may belong to that file. The registration
    is then ignored without an error, which torchvision needs if its compiled part is missing.
    """
    if _REFUSED and isinstance(op, str) and op not in OPERATORS:
        return (lambda func: func) if func is None else func
    return _known(op).register_fake if func is None else _known(op).register_fake(func)


def register_autograd(op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None) -> None:
    """``op.register_autograd`` of an operator, given itself or by name."""
    _known(op).register_autograd(backward, setup_context=setup_context)


def impl_abstract(qualname: Any, func: Any = None, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """The former name of ``register_fake``."""
    return register_fake(qualname, func, lib=lib)


def register_autocast(op: Any, device_type: str, cast_inputs: torch.dtype, /, *, lib: Any = None) -> None:
    """``op.register_autocast`` of an operator, given itself or by name."""
    if not isinstance(op, (str, CustomOpDef, OpOverload)):
        raise ValueError(f"register_autocast({op}): got unexpected type for op: {type(op)}")
    _known(op).register_autocast(device_type, cast_inputs)


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """``op.register_torch_dispatch`` of an operator, given itself or by name."""
    return _known(op).register_torch_dispatch(torch_dispatch_class, func)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """``op.register_vmap`` of an operator, given itself or by name."""
    return _known(op).register_vmap(func)


def fallthrough_kernel() -> None:
    """A kernel for ``Library.impl`` that stands for none: the operator goes on to the next one."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class _FakeContext:
    """What ``get_ctx`` returns."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """Refuse a size that depends on data, which tensors without data do not have."""
        raise RuntimeError(
            "You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator may "
            "return an output Tensor with data-dependent shape. Meta Tensors don't support operators with outputs that "
            "have data-dependent shapes but FakeTensors do."
        )


def get_ctx() -> _FakeContext:
    """In the version of an operator for tensors without data: what its sizes are asked of."""
    return _FakeContext()


_CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _CHECKS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check what an operator was declared with on sample arguments.

    ``test_schema``: it writes to nothing else, and returns no argument's memory. ``test_autograd_registration``: what
    it records has a registered derivative. ``test_faketensor``: its version for tensors without data gives results of
    the same sizes, dtypes and strides. ``test_aot_dispatch_dynamic``: compiled functions give the same results and
    gradients.

    Returns ``"SUCCESS"`` or the error for each check, or raises the first error if ``raise_exception``.

    >>> import wengert as torch
    >>> torch.library.opcheck(torch.ops.aten.sin.default, (torch.ones(2),), test_utils="test_faketensor")
    {'test_faketensor': 'SUCCESS'}
    """
    from .testing._internal import optests

    options: Any = {"test_utils": test_utils, "raise_exception": raise_exception, "atol": atol, "rtol": rtol}
    return optests.opcheck(op, args, kwargs, **options)


def _forget(names: list[str]) -> None:
    for name in names:
        OPERATORS.pop(name, None)


class Library:
    """A namespace whose operators are declared by schema, for as long as it lives: ``Library("mine", "DEF")``."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self.m: Any = self.__class__  # PyTorch's compiled library, which tests delete
        self._defined: list[str] = []
        weakref.finalize(self, _forget, self._defined).atexit = False  # its operators end with it

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _destroy(self) -> None:
        """Forget the operators that were declared here, as when this object ends."""
        _forget(self._defined)

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator, ``"foo(Tensor x) -> Tensor"``, and return its name."""
        name, found, _ = schema.partition("(")
        if not found:
            raise RuntimeError("Tried to parse a function schema but only the operator name was given")
        name = name.strip()
        define(f"{self.ns}::{name}", schema[len(name) :])
        self._defined.append(f"{self.ns}::{name}")
        return name

    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        """Set an operator's function; only dispatch keys for the CPU, all devices and autograd have an effect.

        Without a key it is the library's; a library without one gives the function to all devices.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        dispatch_key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name if isinstance(op_name, str) else op_name._name
        op = _known(name if "::" in name else f"{self.ns}::{name}")
        if fn is fallthrough_kernel:
            return
        if dispatch_key in ("Autograd", "AutogradCPU"):
            op._autograd_kernel = fn
        elif dispatch_key in ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"):
            op.register_kernel("cpu" if dispatch_key == "CPU" else None, fn)
            op._composite = dispatch_key == "CompositeImplicitAutograd"
        elif dispatch_key == "Meta":
            op.register_fake(fn)


# ---- torch.ops
@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A ``Library`` for a block of a test."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()


class _Namespace:
    """``torch.ops.NAMESPACE``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = overloads_of(f"{self._name}::{name}")
        if not found:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return packet_of(found[0])


def load_library(path: str) -> None:
    """``torch.ops.load_library``, which fails: libraries compiled for PyTorch do not run in wengert.

    PyTorch's test suites load one of C++ examples before each test; that it is missing is a warning, since few use it.

    Raises:
        OSError: it is any other library.
    """
    _REFUSED.append(path)
    if Path(path).parent == LIBRARIES_OF_TESTS and "_test" in path:
        torch.classes.loaded_libraries.add(path)
        warn(f"{Path(path).name}: PyTorch's own C++ tests are not part of wengert, but for two of their classes")
        return
    raise noted(
        OSError(f"Could not load this library: {path}"),
        "Why: operators compiled for PyTorch do not run in wengert.",
        "What to do: declare the operator in Python, with torch.library.custom_op.",
    )


def namespace(name: str) -> _Namespace:
    """The operators of one namespace, which may have none yet."""
    if name.startswith("__"):
        raise AttributeError(f"torch.ops has no namespace {name!r}")
    return vars(torch.ops).setdefault(name, _Namespace(name))  # type: ignore[no-any-return]

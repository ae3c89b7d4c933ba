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

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import wengert as torch

from ._base.errors import noted, warn
from ._base.modes import is_grad_enabled
from ._tape.node import version_of
from ._tape.refusal import WarnNotImplemented, refusing, warn_of_fallback
from ._tape.tensor import Tensor, current_fn
from .autograd.function import Function
from .utils._aten import OpOverload, ask, not_tensors
from .utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten
from .utils._schemas import infer_schema, keyword_only_tensors, signature_of, written_by

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "infer_schema", "opcheck", "register_autograd",
    "register_fake", "register_kernel", "register_vmap",
]  # fmt: skip

_OPERATORS: dict[str, CustomOpDef] = {}  # by "namespace::name"
LIBRARIES_OF_TESTS = Path(str(torch.__file__)).parent / "lib"
_REFUSED: list[str] = []  # files that were passed to load_library


# ---- operators
class _Call:
    """One call of a custom operator; lists of tensors are taken apart, since ``autograd.Function`` has none."""

    def __init__(self, kwargs: dict[str, Any], defaults: int) -> None:
        self.kwargs = kwargs
        self.defaults = defaults  # how many of the last positional arguments have their default
        self.recorded = is_grad_enabled()

    def take(self, args: tuple[Any, ...]) -> list[Any]:
        """The arguments taken apart."""
        self.counts = [None if _is_leaf(a) else len(a) for a in args]
        flat, self.spec = tree_flatten(args, is_leaf=_is_leaf)
        return flat

    def out(self, result: Any) -> Any:
        """The output taken apart."""
        flat, self.out_spec = tree_flatten(result, is_leaf=_is_leaf)
        return result if isinstance(result, Tensor) else tuple(flat)

    def gradients(self, given: Any) -> list[Any]:
        """The gradients for the arguments taken apart."""
        grads: list[Any] = []
        for g, count in zip(given, self.counts, strict=False):
            grads += [g] if count is None else [None] * count if g is None else g
        missing = len(self.counts) - len(given)
        return grads + [None] * missing if 0 < missing <= self.defaults else grads


def _requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _is_leaf(value: Any) -> bool:
    if isinstance(value, list):
        return any(not isinstance(t, Tensor) for t in value)
    return not isinstance(value, tuple)


class CustomOpDef:
    """A custom operator; ``custom_op`` makes it."""

    def __init__(self, qualname: str, fn: Callable[..., Any] | None, schema: str, mutates: Iterable[str] = ()) -> None:
        self._namespace, _, self._name = qualname.partition("::")
        self._qualname, self._schema, self._init_fn, self._kernel = qualname, schema, fn, fn
        self._mutates = tuple(mutates)
        self._signature = signature_of(schema)
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None
        self._declared = fn is None  # by ``define``: PyTorch's operators of that kind have no node of their own
        self._composite = False  # whether the kernel is made of other operators, which have derivatives
        self._step = self._made_step()
        _OPERATORS[qualname] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @property
    def _opoverload(self) -> OpOverload:
        return _Overload(self)

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Use another function on these devices, of which only ``"cpu"`` exists. Also a decorator."""
        if fn is None:
            return lambda fn: self.register_kernel(device_types, fn)
        listed = [device_types] if isinstance(device_types, str) or device_types is None else list(device_types)
        if None in listed or "cpu" in listed:
            self._kernel = fn
        return fn

    def register_fake(self, fn: Any, /) -> Any:
        """Set the version for tensors without data (``device="meta"``). Also a decorator."""
        self._fake = fn
        return fn

    def register_autograd(self, backward: Any, /, *, setup_context: Any = None) -> None:
        """Set the derivative: ``backward(ctx, *grads)`` returns a gradient, or ``None``, for each input.

        ``setup_context(ctx, inputs, output)`` saves values for it. If the operator has keyword-only parameters, its
        arguments are ``ctx, inputs, keyword_only_inputs, output``.
        """
        if keyword_only_tensors(self._signature):
            raise NotImplementedError(
                "register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
                f"tensors not kwarg-only. Got: {self._qualname}{self._schema}"
            )
        self._backward = backward
        self._setup = setup_context

    def register_vmap(self, func: Any = None) -> Any:
        """Set the batching rule: ``func(info, in_dims, *args)`` returns ``(output, out_dims)``. Also a decorator."""
        if func is None:
            return self.register_vmap
        self._vmap = func
        return func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._bind(args, kwargs)
        if self._declared and self._backward is None:
            return self._fall_through(bound)
        written = tree_leaves([bound.arguments[name] for name in self._mutates])
        call = _Call(bound.kwargs, self._defaults_at_end(bound.args))
        flat = self._step.apply(*call.take(bound.args), call)
        result = tree_unflatten(list(flat) if isinstance(flat, tuple) else [flat], call.out_spec)
        for t in written:
            if isinstance(t, Tensor):
                torch.autograd.graph.increment_version(t)
        return result

    def _defaults_at_end(self, args: tuple[Any, ...]) -> int:
        """How many of the last positional arguments are their defaults: for these backward may return nothing."""
        defaults = [parameter.default for parameter in self._signature.parameters.values()][: len(args)]
        count = 0
        while count < len(args) and type(args[-1 - count]) is type(defaults[-1 - count]):
            if args[-1 - count] != defaults[-1 - count]:
                break
            count += 1
        return count

    def _takes(self, args: Any, kwargs: Any) -> bool:
        try:
            self._bind(args, kwargs)
        except RuntimeError:
            return False
        return True

    def _bind(self, args: Any, kwargs: Any) -> inspect.BoundArguments:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            text = str(error).replace("missing a required argument:", "is missing value for argument")
            if text == "too many positional arguments":
                most = sum(p.kind is not p.KEYWORD_ONLY for p in self._signature.parameters.values())
                text = f"expected at most {most} argument(s) but received {len(args) + len(kwargs)} argument(s)"
            declared = f"{self._qualname}{self._schema}"
            raise RuntimeError(f"{self._qualname}() {text}. Declaration: {declared}") from None
        for position, (name, value) in enumerate(bound.arguments.items()):
            if self._signature.parameters[name].annotation == "Tensor" and not isinstance(value, Tensor):
                if value is None and self._declared:  # PyTorch's dispatcher takes it for an undefined tensor
                    continue
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type 'Tensor' for argument '{name}' but instead found "
                    f"type '{type(value).__name__}'.\nPosition: {position}\nValue: {value}\nDeclaration: "
                    f"{self._qualname}{self._schema}"
                )
        bound.apply_defaults()
        return bound

    def _fall_through(self, bound: inspect.BoundArguments) -> Any:
        """Call the kernel as a function; in the mode "warn", backward passes through its results warn."""
        result = self._intercepted(bound.args, bound.kwargs)
        inputs = [t for t in tree_leaves((bound.args, bound.kwargs)) if isinstance(t, Tensor)]
        if not self._warns() or not any(t.requires_grad for t in inputs):
            return result
        nodes = tuple(current_fn(t) if t.requires_grad else None for t in inputs)
        several = isinstance(result, (tuple, list))
        outs = [self._warning(t, inputs, nodes) for t in (result if several else [result])]
        return type(result)(outs) if several else outs[0]

    def _warns(self) -> bool:
        return not self._composite and is_grad_enabled() and fallback_mode == "warn"

    def _warning(self, t: Any, inputs: list[Tensor], nodes: Any) -> Any:
        """A result whose backward warns: by a hook if the kernel recorded it, else by a node without gradients."""
        if not isinstance(t, Tensor) or not (t.is_floating_point() or t.is_complex()):
            return t
        if t.requires_grad:
            written = [t, t._base] if any(t is x for x in inputs) else [t]
            for x in (x for x in written if x is not None and x.requires_grad):
                x.register_hook(lambda g: warn_of_fallback(self._qualname))
            return t
        if any(t is x for x in inputs):  # its history may be a view's
            return t
        return refusing(WarnNotImplemented, self._qualname, (t,), nodes)[0]

    def _intercepted(self, args: Any, kwargs: Any) -> Any:
        """Run; selective checkpoints and dispatch modes, which are below autograd, see the call."""
        proceed = lambda: self._run(args, kwargs)
        selective = sys.modules.get(f"{__package__}.utils._selective")
        if selective is not None and (entered := selective._entered.get()):
            return entered[-1].context.see_custom(self._opoverload, args, proceed)
        dispatch = sys.modules.get(f"{__package__}.utils._python_dispatch")
        if dispatch is not None and (stack := dispatch._stack.get()):
            return stack[-1].asked(self._opoverload, args, kwargs)
        return proceed()

    def _run(self, args: Any, kwargs: Any) -> Any:
        if self._kernel is None:
            text = f"Could not run '{self._qualname}' with arguments from the 'CPU' backend."
            raise NotImplementedError(f"{text} Register a kernel with impl().")
        given = [a for a in tree_leaves(args) if isinstance(a, Tensor)]
        if self._fake is not None and any(a.is_meta for a in given):
            return self._fake(*args, **kwargs)
        result = self._kernel(*args, **kwargs)
        if self._declared:
            return result
        for r in tree_leaves(result):
            if isinstance(r, Tensor) and any(version_of(r) is version_of(a) for a in given):
                raise RuntimeError(
                    f"{self._name} (with implementation in {inspect.getmodule(self._kernel)}): The output of this "
                    "custom operator (1) must not also be an input to this custom operator and (2) may not alias any "
                    "inputs to this custom operator or other returns. The most common way to trigger this error is if "
                    "we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the "
                    "offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return "
                    "y."
                )
            given.append(r)
        return result

    def _made_step(self) -> type[Function]:
        """The ``autograd.Function`` that records a custom operator."""
        op = self

        class Step(Function):
            @staticmethod
            def forward(*given: Any) -> Any:
                *flat, call = given
                return call.out(op._intercepted(tree_unflatten(flat, call.spec), call.kwargs))

            @staticmethod
            def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
                *flat, call = inputs
                ctx._call = call
                if op._setup is None or not call.recorded or not any(_requires_grad(t) for t in flat):
                    return
                ctx.needs_input_grad = tuple(tree_unflatten(list(ctx.needs_input_grad[:-1]), call.spec))
                args = tuple(tree_unflatten(flat, call.spec))
                output = tree_unflatten(list(output) if isinstance(output, tuple) else [output], call.out_spec)
                if call.kwargs:
                    op._setup(ctx=ctx, inputs=args, keyword_only_inputs=call.kwargs, output=output)
                else:
                    op._setup(ctx=ctx, inputs=args, output=output)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                if op._backward is None:
                    raise RuntimeError(
                        f"Trying to backward through {op._namespace}.{op._name}.default but no autograd formula was "
                        "registered. Please use register_autograd to add one."
                    )
                call = ctx._call
                nested = tree_unflatten(list(grads), call.out_spec)
                given = op._backward(ctx, *nested) if isinstance(nested, tuple) else op._backward(ctx, nested)
                return (*call.gradients(given if isinstance(given, (tuple, list)) else (given,)), None)

            @staticmethod
            def vmap(info: Any, in_dims: Any, *given: Any) -> Any:
                if op._vmap is None:
                    raise noted(
                        RuntimeError(f"{op._qualname}: no batching rule is registered"),
                        "What to do: register_vmap, or loop over the examples.",
                    )
                *flat, call = given
                dims = tuple(tree_unflatten(list(in_dims[:-1]), call.spec))
                output, out_dims = op._vmap(info, dims, *tree_unflatten(flat, call.spec), **call.kwargs)
                result = call.out(output)
                listed: Any = broadcast_to_and_flatten(out_dims, call.out_spec)
                return result, tuple(listed) if isinstance(result, tuple) else listed[0]

        Step.__name__ = Step.__qualname__ = f"GeneratedBackwardFor_{op._namespace}_{op._name}_default"
        Step._backward_cls.__name__ = Step.__name__ + "Backward"
        return Step


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
    return CustomOpDef(name, fn, text, () if mutates_args == "unknown" else mutates_args)


fallback_mode = "warn"  # or "nothing": what backward does with results of operators without a derivative


# ---- operators by their schemas
def _known(name: Any) -> CustomOpDef:
    if isinstance(name, CustomOpDef):
        return name
    name = getattr(name, "_qualname", name)
    if name not in _OPERATORS:
        if "::" not in str(name):
            wanted = 'Expected `qualname` to be of the form "namespace::name"'
            raise ValueError(f"{wanted}, but got {name}. It has a namespace and a name, such as aten::sin.")
        raise RuntimeError(f"operator {name} does not exist")
    return _OPERATORS[name]


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare an operator by its schema, ``"(Tensor x, int n=3) -> Tensor"``; ``impl`` sets its function."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    CustomOpDef(qualname, None, schema)


def impl(qualname: str, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Set an operator's function on these devices. Also a decorator."""
    if func is None:
        return lambda func: impl(qualname, types, func, lib=lib)
    return _known(qualname).register_kernel(
        [str(t).lower() for t in ([types] if isinstance(types, str) else types)], func
    )


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """``op.register_kernel`` of an operator, given itself or by name."""
    return _known(op).register_kernel(device_types, func)


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """``op.register_fake`` of an operator, given itself or by name.

    After ``torch.ops.load_library`` has refused a file, an unknown operator may belong to that file. The registration
    is then ignored without an error, which torchvision needs if its compiled part is missing.
    """
    if _REFUSED and isinstance(op, str) and op not in _OPERATORS:
        return (lambda func: func) if func is None else func
    return _known(op).register_fake if func is None else _known(op).register_fake(func)


def register_autograd(op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None) -> None:
    """``op.register_autograd`` of an operator, given itself or by name."""
    _known(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """``op.register_vmap`` of an operator, given itself or by name."""
    return _known(op).register_vmap(func)


def opcheck(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
    test_utils: str | Sequence[str] = (
        "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True, atol: Any = None, rtol: Any = None,
) -> dict[str, str]:  # fmt: skip
    """Call an operator on examples, and check what was registered for it.

    ``test_schema``: it writes only to the arguments that it says. ``test_faketensor``: its version for tensors without
    data gives the same shapes and dtypes. ``test_aot_dispatch_dynamic``: a compiled call has the same results and
    gradients. The result says ``"SUCCESS"`` for each; without ``raise_exception``, or the exception.

    >>> import wengert as torch
    >>> torch.library.opcheck(torch.ops.aten.sin.default, (torch.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    from .testing._internal import optests

    return optests.opcheck(op, args, kwargs, test_utils, raise_exception, rtol, atol)  # type: ignore[no-any-return]


class Library:
    """A namespace whose operators are declared by schema: ``Library("mine", "DEF")``."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.m: Any = self.__class__  # PyTorch's compiled library, which tests delete

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator, ``"foo(Tensor x) -> Tensor"``, and return its name."""
        name, found, _ = schema.partition("(")
        if not found:
            raise RuntimeError("Tried to parse a function schema but only the operator name was given")
        name = name.strip()
        define(f"{self.ns}::{name}", schema[len(name) :])
        return name

    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "CPU", **options: Any) -> None:
        """Set an operator's function; only dispatch keys for the CPU and for all devices have an effect."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name if isinstance(op_name, str) else op_name._name
        op = _known(name if "::" in name else f"{self.ns}::{name}")
        if dispatch_key in ("", "CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"):
            op.register_kernel("cpu", fn)
            op._composite = dispatch_key == "CompositeImplicitAutograd"
        elif dispatch_key == "Meta":
            op.register_fake(fn)


# ---- torch.ops
@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A ``Library`` for a block of a test; what it defines stays."""
    yield Library(*args, **kwargs)


class _Namespace:
    """``torch.ops.NAMESPACE``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = _overloads(f"{self._name}::{name}")
        if not found:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return _packet_of(found[0])


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


def _overloads(qualname: str) -> list[CustomOpDef]:
    """The operators ``NAMESPACE::NAME``, first, and ``NAMESPACE::NAME.OVERLOAD``."""
    found = [op for name, op in _OPERATORS.items() if name.startswith(f"{qualname}.")]
    return [_OPERATORS[qualname], *found] if qualname in _OPERATORS else found


def _packet_of(op: CustomOpDef) -> Any:
    return vars(op).setdefault("_packet", _Packet(op))


class _Packet:
    """``torch.ops.NAMESPACE.NAME``, with its overloads, mostly ``.default`` alone."""

    def __init__(self, op: CustomOpDef) -> None:
        self._qualname = self._qualified_op_name = op._qualname.partition(".")[0]
        self.__name__ = op._name.partition(".")[0]
        self._op = op

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = not_tensors(args, kwargs)
        if found:
            return ask(self, found, args, kwargs)
        known = _overloads(self._qualname)
        op = next((op for op in known if op._takes(args, kwargs)), self._op) if len(known) > 1 else self._op
        return op(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("_"):
            raise AttributeError(name)
        op = _OPERATORS.get(f"{self._qualname}.{name}")
        if op is None:
            raise AttributeError(f"The underlying op of '{self!r}' has no overload name '{name}'")
        return _Overload(op)

    @property
    def default(self) -> OpOverload:
        """The overload without a name."""
        return _Overload(self._op)

    def overloads(self) -> list[str]:
        """The overloads' names."""
        return [op._name.partition(".")[2] or "default" for op in _overloads(self._qualname)]

    def __repr__(self) -> str:
        return self._qualname.replace("::", ".")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Packet) and self._op is other._op

    def __hash__(self) -> int:
        return hash(self._qualname)


class _Overload(OpOverload):
    """``torch.ops.NAMESPACE.NAME.default``."""

    def __init__(self, op: CustomOpDef) -> None:
        self.namespace = op._namespace
        super().__init__(_packet_of(op), op._name.partition(".")[2] or "default")
        self._op, self._qualname = op, op._qualname

    @property
    def _schema(self) -> str:
        return self._qualname + self._op._schema

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = not_tensors(args, kwargs)
        return ask(self, found, args, kwargs) if found else self._op(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self._op._namespace}.{self.__name__}"

    __str__ = __repr__


def namespace(name: str) -> _Namespace:
    """The operators of one namespace, which may have none yet."""
    if name.startswith("__"):
        raise AttributeError(f"torch.ops has no namespace {name!r}")
    return vars(torch.ops).setdefault(name, _Namespace(name))  # type: ignore[no-any-return]

"""Custom operators as objects: what ``torch.library`` makes, and what ``torch.ops`` has of them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np

import wengert as torch

from .._arrays.memory import storage_of
from .._base.modes import is_grad_enabled
from .._tape.inference import is_inference
from .._tape.node import version_of
from .._tape.refusal import WarnNotImplemented, refusing, warn_of_fallback
from .._tape.tensor import Tensor, current_fn
from ..amp.autocast_mode import _cast
from ..autograd.function import Function
from ._aten import OpOverload, OpOverloadPacket, ask, not_tensors
from ._pytree import broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten
from ._schemas import keyword_only_tensors, signature_of, with_aliases_named, written_by

OPERATORS: dict[str, CustomOpDef] = {}  # by "namespace::name"
below_autograd: ContextVar[bool] = ContextVar(
    "wengert_below_autograd", default=False
)  # kernels of "Autograd" are passed by
fallback_mode = "warn"  # or "nothing": what backward does with results of operators without a derivative


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


_TAKEN: dict[str, Callable[[Any], bool]] = {  # which values the dispatcher converts
    "Tensor": lambda v: isinstance(v, Tensor),
    "int": lambda v: hasattr(v, "__index__"),
    "float": lambda v: hasattr(v, "__float__") or hasattr(v, "__index__"),
    "bool": lambda v: v is None or hasattr(v, "__bool__"),
    "str": lambda v: isinstance(v, str),
}


def _fits(value: Any, kind: str) -> bool:
    """Whether an argument is of the declared type: a tensor, a number, a word, or a list of numbers."""
    kind = kind.removeprefix("Sym").replace("Int", "int")
    if kind.endswith("?"):
        return value is None or kind.startswith("Tensor") or _fits(value, kind[:-1])
    item, bracket, rest = kind.partition("[")
    if not bracket:
        return kind not in _TAKEN or _TAKEN[kind](value)
    if item not in ("int", "float", "bool") or (rest != "]" and _TAKEN[item](value)):
        return True
    return isinstance(value, (list, tuple)) and all(_TAKEN[item](v) for v in value)


def _shown(kind: str) -> str:
    """A declared type as messages show it.

    >>> _shown("SymInt[]?")
    'Optional[List[int]]'
    """
    if kind.endswith("?"):
        return f"Optional[{_shown(kind[:-1])}]"
    item, bracket, _ = kind.partition("[")
    item = {"SymInt": "int"}.get(item, item)
    return f"List[{item}]" if bracket else item


def _on_one_storage(r: Tensor, a: Tensor) -> bool:
    """Whether two tensors share memory. All inference tensors have one version."""
    if not is_inference(r):
        return version_of(r) is version_of(a)
    x, y = r._payload, a._payload
    return r is a or (isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and storage_of(x) is storage_of(y))


class CustomOpDef:
    """A custom operator; ``custom_op`` makes it."""

    def __init__(self, qualname: str, fn: Callable[..., Any] | None, schema: str, mutates: Iterable[str] = ()) -> None:
        self._namespace, _, self._name = qualname.partition("::")
        schema = with_aliases_named(schema)
        self._qualname, self._schema, self._init_fn = qualname, schema, fn
        self._kernels: dict[str | None, Any] = {}  # by the device's type; ``None``: on all devices
        self._disabled: set[str] = set()  # the types of devices whose kernels ``set_kernel_enabled`` turned off
        self._mutates = tuple(mutates)
        self._signature = signature_of(schema)
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None
        self._autograd_kernel: Callable[..., Any] | None = None  # runs in its place, but below autograd
        self._autocast: dict[str, torch.dtype] = {}  # by the device's type: what operands are cast to in a region
        self._rules: dict[Any, Callable[..., Any]] = {}  # by the class of a dispatch mode or of tensors
        self._declared = fn is None  # by ``define``: PyTorch's operators of that kind have no node of their own
        self._composite = False  # whether the kernel is made of other operators, which have derivatives
        self._step = self._made_step()
        OPERATORS[qualname] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @cached_property
    def _opoverload(self) -> OpOverload:
        return _Overload(self)

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Use another function on these devices, such as ``"cpu"``; ``None``: on all. Also a decorator."""
        if fn is None:
            return lambda fn: self.register_kernel(device_types, fn)
        listed = [device_types] if isinstance(device_types, str) or device_types is None else list(device_types)
        parameters = self._signature.parameters.values()
        if any(listed) and not any(str(p.annotation).startswith(("Tensor", "Device")) for p in parameters):
            raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")
        self._kernels.update(dict.fromkeys([kind and torch.device(kind).type for kind in listed], fn))
        return fn

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Inside, the kernel of a type of device runs, or the operator's first function in its place."""
        before = self._disabled
        self._disabled = before - {device_type} if enabled else before | {device_type}
        try:
            yield
        finally:
            self._disabled = before

    def register_fake(self, fn: Any, /) -> Any:
        """Set the version for tensors without data (``device="meta"``). Also a decorator."""
        self._fake = fn
        return fn

    def register_autograd(self, backward: Any, /, *, setup_context: Any = None) -> None:
        """Set the derivative: ``backward(ctx, *grads)`` returns a gradient, or ``None``, for each input.

        ``setup_context(ctx, inputs, output)`` saves values for it. If the operator has keyword-only parameters, its
        arguments are ``ctx, inputs, keyword_only_inputs, output``.
        """
        if written_by(self._schema) or self._schema.endswith("-> ()"):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{self._qualname}{self._schema}. Please create a functional operator and register an autograd formula "
                "for that."
            )
        if keyword_only_tensors(self._signature):
            raise NotImplementedError(
                "register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
                f"tensors not kwarg-only. Got: {self._qualname}{self._schema}"
            )
        self._backward = backward
        self._setup = setup_context

    @property
    def has_derivative(self) -> bool:
        """Whether its backward step is known: made by ``custom_op``, registered, or that of what it calls."""
        return not self._declared or self._composite or self._backward is not None or self._autograd_kernel is not None

    def register_autocast(self, device_type: str, cast_inputs: torch.dtype) -> None:
        """Cast floating point operands on a type of device inside of ``torch.autocast``."""
        self._autocast[torch.device(device_type).type] = cast_inputs

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> Any:
        """Set what a dispatch mode or a tensor subclass of a class gives: ``fn(mode, func, types, args, kwargs)``.

        It is called in place of the class's ``__torch_dispatch__``. Also a decorator.
        """
        if fn is None:
            return lambda fn: self.register_torch_dispatch(torch_dispatch_class, fn)
        self._rules[torch_dispatch_class] = fn
        return fn

    def register_vmap(self, func: Any = None) -> Any:
        """Set the batching rule: ``func(info, in_dims, *args)`` returns ``(output, out_dims)``. Also a decorator."""
        if func is None:
            return self.register_vmap
        self._vmap = func
        return func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if found := not_tensors(args, kwargs):
            return ask(self._opoverload, found, args, kwargs)
        bound = self._bind(args, kwargs)
        for device, dtype in self._autocast.items():
            if torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    return self(*_cast(bound.args, device, dtype), **bound.kwargs)
        for cls, rule in self._rules.items():
            if any(isinstance(t, cls) for t in tree_leaves((args, kwargs))):
                return rule(None, self._opoverload, (cls,), args, kwargs)
        if self._autograd_kernel is not None and not below_autograd.get():
            return self._autograd_kernel(*bound.args, **bound.kwargs)
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
        for name, value in bound.arguments.items():
            kind = str(self._signature.parameters[name].annotation)
            if not _fits(value, kind):
                if (
                    value is None and self._declared and kind == "Tensor"
                ):  # the dispatcher takes it for an undefined one
                    continue
                position = list(self._signature.parameters).index(name)
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type '{_shown(kind)}' for argument '{name}' but instead "
                    f"found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\nDeclaration: "
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
        results = result if isinstance(result, (tuple, list)) else [result]
        written = ["!" in text for text in self._schema.rpartition("->")[2].split(",")]
        outs = [self._warning(t, w, nodes) for t, w in zip(results, chain(written, repeat(False)), strict=False)]
        return outs[0] if results is not result else type(result)(outs)

    def _warns(self) -> bool:
        return not self._composite and is_grad_enabled() and fallback_mode == "warn"

    def _warning(self, t: Any, written: bool, nodes: Any) -> Any:
        """A result whose backward warns: by a hook if the kernel recorded it, else by a node without gradients.

        ``written``: by its schema it is an operand, whose history is left alone and may be a view's.
        """
        if not isinstance(t, Tensor) or not (t.is_floating_point() or t.is_complex()):
            return t
        if t.requires_grad:
            for x in (x for x in (t, t._base if written else None) if x is not None and x.requires_grad):
                x.register_hook(lambda g: warn_of_fallback(self._qualname))
            return t
        if written:
            return t
        return refusing(WarnNotImplemented, self._qualname, (t,), nodes)[0]

    def _intercepted(self, args: Any, kwargs: Any) -> Any:
        """Run; selective checkpoints and then dispatch modes, which are below autograd, see the call."""
        selective = sys.modules.get(f"{__package__}._selective")
        if selective is not None and (entered := selective._entered.get()):
            return entered[-1].context.see_custom(self._opoverload, args, lambda: self._intercepted(args, kwargs))
        dispatch = sys.modules.get(f"{__package__}._python_dispatch")
        if dispatch is not None and (stack := dispatch._stack.get()):
            rule = self._rules.get(type(stack[-1].mode))
            if rule is not None:
                token = dispatch._stack.set(stack[:-1])
                try:
                    return rule(stack[-1].mode, self._opoverload, (), args, kwargs)
                finally:
                    dispatch._stack.reset(token)
            given = args[: len(args) - self._defaults_at_end(args)]
            named = {k: v for k, v in kwargs.items() if v is not self._signature.parameters[k].default}
            return stack[-1].asked(self._opoverload, given, named)
        return self._run(args, kwargs)

    def _run(self, args: Any, kwargs: Any) -> Any:
        given = [a for a in tree_leaves((args, kwargs)) if isinstance(a, Tensor)]
        mode = next((a.fake_mode for a in given if hasattr(a, "fake_mode")), None)  # type: ignore[attr-defined]
        if mode is not None and not mode.running:
            return mode.run_custom(self._run, self._opoverload, args, kwargs)
        kernel = self._kernel_for("meta" if any(a.is_meta for a in given) else "cpu")
        result = kernel(*args, **kwargs)
        if self._declared:
            return result
        for r in tree_leaves(result):
            if isinstance(r, Tensor) and any(_on_one_storage(r, a) for a in given):
                raise RuntimeError(
                    f"{self._name} (with implementation in {inspect.getmodule(kernel)}): The output of this "
                    "custom operator (1) must not also be an input to this custom operator and (2) may not alias any "
                    "inputs to this custom operator or other returns. The most common way to trigger this error is if "
                    "we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the "
                    "offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return "
                    "y."
                )
            given.append(r)
        return result

    def _kernel_for(self, device: str) -> Any:
        if device == "meta" and self._fake is not None:
            return self._fake
        found = self._init_fn if device in self._disabled else self._kernels.get(device)
        if found is None and (device != "meta" or self._declared):
            found = self._kernels.get(None)
        if found is not None:
            return found
        if device != "meta":
            text = f"Could not run '{self._qualname}' with arguments from the 'CPU' backend."
            raise NotImplementedError(f"{text} Register a kernel with impl().")
        if written_by(self._schema) and self._schema.endswith("-> ()"):
            return lambda *args, **kwargs: None
        if self._declared:
            raise NotImplementedError(
                f"{self._qualname}: attempted to run this operator with Meta tensors, but there was no fake impl or "
                "Meta kernel registered for this operator. You may have run into this message while using an operator "
                "with PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs "
                "you'll need to add a fake impl."
            )
        raise RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for torch.compile/export/fx tracing to "
            f"work. Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."  # type: ignore[union-attr]
        )

    def _loop(self, size: int, dims: Any, flat: list[Any], call: _Call) -> Any:
        """The results of a mapped call without a batching rule: one call for each example, as in PyTorch."""
        text = f"Batching rule not implemented for {self._qualname}"
        if written_by(self._schema):
            raise RuntimeError(f"{text}; the fallback path doesn't work on out= or view ops.")
        if not size:
            raise RuntimeError(f"{text}. The fallback path does not support vmap over dims of size 0.")
        results = []
        for k in range(size):
            example = [t if dim is None else t.select(dim, k) for t, dim in zip(flat, dims, strict=True)]
            results.append(call.out(self(*tree_unflatten(example, call.spec), **call.kwargs)))
        if isinstance(results[0], Tensor):
            return torch.stack(results)
        if not all(isinstance(t, Tensor) for t in results[0]) or "[]" in self._schema.rpartition("->")[2]:
            raise RuntimeError(f"{text}. We could not generate a fallback.")
        return tuple(torch.stack(list(column)) for column in zip(*results, strict=True))

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
                *flat, call = given
                if op._vmap is None:
                    return op._loop(info.batch_size, in_dims[:-1], flat, call), 0
                dims = tuple(tree_unflatten(list(in_dims[:-1]), call.spec))
                output, out_dims = op._vmap(info, dims, *tree_unflatten(flat, call.spec), **call.kwargs)
                result = call.out(output)
                listed: Any = broadcast_to_and_flatten(out_dims, call.out_spec)
                return result, tuple(listed) if isinstance(result, tuple) else listed[0]

        Step.__name__ = Step.__qualname__ = f"GeneratedBackwardFor_{op._namespace}_{op._name}_default"
        Step._backward_cls.__name__ = Step.__name__ + "Backward"
        return Step


def overloads_of(qualname: str) -> list[CustomOpDef]:
    """The operators ``NAMESPACE::NAME``, first, and ``NAMESPACE::NAME.OVERLOAD``."""
    found = [op for name, op in OPERATORS.items() if name.startswith(f"{qualname}.")]
    return [OPERATORS[qualname], *found] if qualname in OPERATORS else found


def packet_of(op: CustomOpDef) -> Any:
    return vars(op).setdefault("_packet", _Packet(op))


class _Packet(OpOverloadPacket):
    """``torch.ops.NAMESPACE.NAME``, with its overloads, mostly ``.default`` alone."""

    def __init__(self, op: CustomOpDef) -> None:
        super().__init__(op._name.partition(".")[0], op._namespace)
        self._qualname, self._op = self._qualified_op_name, op

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = not_tensors(args, kwargs)
        if found:
            return ask(self, found, args, kwargs)
        known = overloads_of(self._qualname)
        op = next((op for op in known if op._takes(args, kwargs)), self._op) if len(known) > 1 else self._op
        return op(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("_"):
            raise AttributeError(name)
        op = OPERATORS.get(f"{self._qualname}.{name}")
        if op is None:
            raise AttributeError(f"The underlying op of '{self!r}' has no overload name '{name}'")
        return op._opoverload

    @property
    def default(self) -> OpOverload:
        """The overload without a name."""
        return self._op._opoverload

    def overloads(self) -> list[str]:
        """The overloads' names."""
        return [op._name.partition(".")[2] or "default" for op in overloads_of(self._qualname)]

    def __repr__(self) -> str:
        return self._qualname.replace("::", ".")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Packet) and self._op is other._op

    def __hash__(self) -> int:
        return hash(self._qualname)


class _Overload(OpOverload):
    """``torch.ops.NAMESPACE.NAME.default``."""

    def __init__(self, op: CustomOpDef) -> None:
        self.namespace = op._namespace
        super().__init__(packet_of(op), op._name.partition(".")[2] or "default")
        self._op, self._qualname = op, op._qualname

    @property
    def _schema(self) -> str:
        return self._qualname + re.sub(r"\((\$\d+!)\)", r"(\1 -> )", self._op._schema)  # as PyTorch prints it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._op(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self._op._namespace}.{self.__name__}"

    __str__ = __repr__

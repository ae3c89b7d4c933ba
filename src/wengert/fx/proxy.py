"""``Proxy``, which stands for a value while a program is traced, and ``TracerBase``, which makes nodes of what happens.

A proxy overrides PyTorch's functions (``__torch_function__``), Python's operators and attributes. Each of them writes
one node and gives another proxy.
"""

from __future__ import annotations

import copy
import dis
import enum
import inspect
import operator
import sys
import traceback
import weakref
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn

from .._base.exports import is_ours
from .._tensor_api.override_sites import check_everything, end_check
from ..nn.parameter import Parameter
from ..overrides import is_tensor_method_or_property
from ..utils._pytree import tree_leaves
from . import traceback as fx_traceback
from ._compatibility import compatibility as compatibility  # noqa: PLC0414  which programs take from here
from ._naming import function_name, module_of_frame
from ._script_objects import ScriptMethod
from .graph import Graph, magic_methods, reflectable_magic_methods
from .node import Node, base_types, map_arg
from .operator_schemas import check_for_mutable_operation

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]

COPIED_META = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
    "has_backward_hook", "from_node", "quantization_tag", "_numeric_debug_handle", "custom", "partitioner_tag",
)  # fmt: skip
# By these a function tells tensors from what is none: an operator takes for a tensor what has a payload.
_OF_TENSORS = frozenset({"_a", "_box", "_fn", "_is_root", "_m", "_node", "_payload", "_refuse_export", "_v", "_view"})


@compatibility(is_backward_compatible=True)
class TraceError(ValueError):
    """A program does with a proxy what has no value before it runs: a branch, a loop."""


class Scope:
    """The dotted name and the class of the module whose ``forward`` is being traced."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """A context in which one scope has the values of another."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope, self._prev_scope = scope, copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exc: object) -> None:
        self._scope.module_path = self._prev_scope.module_path
        self._scope.module_type = self._prev_scope.module_type


def _is_of_user(frame: traceback.FrameSummary, name: str) -> bool:
    """Whether a stack trace shows a frame: those of layers, but not of what records."""
    return not is_ours(name) or (".nn.modules." in name and not name.endswith(".nn.modules.module"))


@compatibility(is_backward_compatible=True)
class TracerBase:
    """What makes nodes: ``create_node`` and ``create_arg`` are there to be overridden.

    Attributes:
        record_stack_traces: note in each node the lines that made it, from the first ``forward`` on.
        check_mutable_operations: refuse functions that write into their arguments.
        trace_asserts: record ``assert`` on a proxy instead of an error.
        proxy_buffer_attributes: give a proxy for a buffer that is read from a module, as for a parameter.
    """

    graph: Graph
    record_stack_traces = False
    _record_forward_stack_traces_only = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Write a node into the graph."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            current = fx_traceback.get_current_meta()
            if trace := current.get("stack_trace"):
                node.stack_trace = trace
            node.meta.update({key: copy.copy(current[key]) for key in COPIED_META if key in current})
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(_stack_of_user())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()
        return node

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        frames = list(user_stack_summary)
        if self._record_forward_stack_traces_only:
            return traceback.StackSummary.from_list(
                [f for f in frames if f.name == "forward" or (f.filename, f.name) in fx_traceback.anchors]
            )
        first = next((i for i, f in enumerate(frames) if f.name == "forward"), len(frames))
        return traceback.StackSummary.from_list(frames[first:])

    def proxy(self, node: Node) -> Proxy:
        """The proxy that stands for a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """Write a node for arguments among which there may be proxies, and give the proxy of its value."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def _find_user_frame(self) -> Any:
        frame = inspect.currentframe()
        while frame is not None and is_ours(module_of_frame(frame)):
            frame = frame.f_back
        return frame

    def create_arg(self, a: Any) -> Any:
        """An object as a node's argument: nodes for proxies, in containers too.

        Raises:
            NotImplementedError: a node cannot hold it.
        """
        if isinstance(a, Proxy):
            return a.node
        if type(a) in _AS_THEY_ARE:
            return a
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._create_key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a):
            return self.create_node(
                "call_function", type(a), (), {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)}
            )
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        def refuse(arg: Any) -> NoReturn:
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {arg}")

        if not isinstance(key, str):
            key = self.create_arg(key)
            map_arg(key, refuse)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """What happens where a proxy is a condition.

        Raises:
            TraceError: always; an override may know the value.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What happens where a proxy is gone through.

        Raises:
            TraceError: always; an override may know the length.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """What happens at ``**proxy`` and ``proxy.keys()``: a node for the call."""
        return Attribute(obj, "keys")()


_AS_THEY_ARE = frozenset({*base_types, type(None), type(...)})


def _stack_of_user() -> traceback.StackSummary:
    frame: Any = sys._getframe(1)  # its own frame in its list would be a cycle, which keeps every caller's values
    frames = []
    while frame is not None:
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    frames.reverse()
    summary = traceback.StackSummary.extract(iter(frames))
    names = [module_of_frame(f) for f, _ in frames]
    return traceback.StackSummary.from_list([s for s, n in zip(summary, names, strict=True) if _is_of_user(s, n)])


@compatibility(is_backward_compatible=True)
class GraphAppendingTracer(TracerBase):
    """The tracer of a proxy that was made of a node: it writes at the end of the node's graph.

    >>> import wengert as torch
    >>> graph = torch.fx.Graph()
    >>> x = torch.fx.Proxy(graph.placeholder("x"))
    >>> torch.relu(x + 1)
    Proxy(relu)
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        weakref.finalize(self, end_check, check_everything()).atexit = False  # as long as there are proxies
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


def assert_fn(x: Any) -> None:
    """``assert x``, as a node."""
    if not x:
        raise AssertionError("Assertion failed")


def _instruction(frame: Any) -> tuple[list[dis.Instruction], int]:
    """A function's instructions, and the place of the one that is running."""
    instructions = list(dis.get_instructions(frame.f_code))
    return instructions, bisect_left(instructions, frame.f_lasti, key=lambda i: i.offset)


@compatibility(is_backward_compatible=True)
class Proxy:
    """Stands for a value while a program is traced: what is done with it becomes nodes of the graph.

    A proxy has no value, so it cannot be a condition or be gone through. ``Proxy(node)`` writes further nodes after
    those that the node's graph has.

    >>> import wengert as torch
    >>> graph = torch.fx.Graph()
    >>> x = torch.fx.Proxy(graph.placeholder("x"))
    >>> x.view(-1, 3).sum() * 2
    Proxy(mul)
    """

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in _OF_TENSORS:
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = Proxy.__new__(Proxy)
        for key, value in self.__dict__.items():
            try:
                made.__dict__[key] = copy.deepcopy(value, memo)
            except Exception:  # noqa: BLE001 - what cannot be copied is shared
                made.__dict__[key] = copy.copy(value)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        instructions, place = _instruction(sys._getframe(1))
        if instructions[place].opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(instructions[place].argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_assert(*_instruction(sys._getframe(1))):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """The keys of a dict: a node, which ``**proxy`` cannot go through unless the tracer knows how."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Proxy:
        args, kwargs = args or (), kwargs or {}
        leaves = [*tree_leaves(args), *tree_leaves(kwargs)]
        tracers = dict.fromkeys([leaf.tracer for leaf in leaves if isinstance(leaf, cls)])
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            name = orig_method.__name__
            return tracer.create_proxy("call_method", {"__pow__": "pow"}.get(name, name), args, kwargs)
        if isinstance(orig_method, ScriptMethod):
            return tracer.create_proxy("call_method", orig_method.name, (orig_method.owner, *args), kwargs)
        name = tracer.graph._target_to_str(function_name(orig_method))
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


def _is_assert(instructions: list[dis.Instruction], place: int) -> bool:
    """Whether a condition is that of an ``assert``: if it is false, an AssertionError is raised."""
    if instructions[place].opname in ("TO_BOOL", "COMPARE_OP"):  # since Python 3.13 they convert, not the jump
        place += 1
    if instructions[place].opname not in ("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE"):
        return False
    return any(
        i.opname == "LOAD_ASSERTION_ERROR" or (i.opname == "LOAD_COMMON_CONSTANT" and "Assertion" in i.argrepr)
        for i in instructions[place + 1 : place + 3]
    )


class MetaProxy(Proxy):
    """A proxy whose nodes hold in ``meta["val"]`` what the function gives for the values of its arguments."""

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> MetaProxy:
        args, kwargs = args or (), kwargs or {}
        first = next((arg for arg in args if isinstance(arg, MetaProxy)), None)
        if first is None:
            raise AssertionError("No MetaProxy found in arguments, but one is expected.")
        proxy = super().__torch_function__(orig_method, types, args, kwargs)
        with first.fake_mode:
            values = [a.node.meta["val"] if isinstance(a, Proxy) else a for a in args]
            proxy.node.meta["val"] = orig_method(*values, **kwargs)
        return MetaProxy(proxy.node, proxy.tracer, first.fake_mode)


@compatibility(is_backward_compatible=True)
class Attribute(Proxy):
    """An attribute of a proxy's value; a node is written when it is used, unless it is called, as a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of ``getattr``."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter, whose shape is known, so that conditions on it can be traced."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    def size(self) -> Any:
        """The parameter's shape."""
        return self.param.size()

    def dim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.ndim

    def numel(self) -> int:
        """The parameter's number of elements."""
        return self.param.numel()

    nelement = numel


def _define(name: str) -> None:
    def method(*args: Any, **kwargs: Any) -> Proxy:
        return args[0].tracer.create_proxy("call_function", getattr(operator, name), args, kwargs)

    method.__name__ = name
    setattr(Proxy, f"__{name.strip('_')}__", method)


def _define_reflected(name: str) -> None:
    def method(self: Proxy, rhs: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", getattr(operator, name), (rhs, self), {})

    method.__name__ = method.__qualname__ = f"__r{name.strip('_')}__"
    setattr(Proxy, method.__name__, method)


for _name in magic_methods:
    if hasattr(operator, _name) or _name == "div":
        _define(_name)
for _name in reflectable_magic_methods:
    _define_reflected(_name)

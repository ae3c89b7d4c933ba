"""``Tracer``: runs a program on proxies, and ``wrap``, which keeps a function as one call.

While a program is traced, ``Module.__call__`` and ``Module.__getattr__`` are replaced, and so are the wrapped functions
in the modules that use them; `_patching` puts all back.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any

from .._base.absent import absent_class
from .._base.errors import warn
from .._tape.tensor import Tensor
from .._tensor_api.assertions import _assert
from .._tensor_api.override_sites import check_everything, end_check
from .._tensor_api.python_calls import hands_on_at_once, is_written_in_python, signature_of
from ..nn import functional
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree
from ._compatibility import compatibility as compatibility  # noqa: PLC0414  which programs take from here
from ._lazy_graph_module import _make_graph_module
from ._naming import annotation, function_name, public_places
from ._patching import _maybe_revert_all_patches, _new_patcher, _Patcher
from ._script_objects import ScriptObject
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule
from .node import base_types, map_aggregate
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_orig_module_call: Callable[..., Any] = Module.__call__
_orig_module_getattr: Callable[..., Any] = Module.__getattr__
_proxyable_classes: dict[type, None] = {}
_is_fx_tracing_flag = False
_CONSTANTS = {  # what a trace refers to as an attribute of its root, and the name of one that the root does not have
    Tensor: "_tensor_constant", pytree.TreeSpec: "_tree_spec_constant", ScriptObject: "_torchbind_obj"
}  # fmt: skip


def is_fx_tracing() -> bool:
    """Whether a program is being traced.

    >>> import wengert as torch
    >>> torch.fx._symbolic_trace.is_fx_tracing()
    False
    """
    return _is_fx_tracing_flag


is_fx_symbolic_tracing = is_fx_tracing


@compatibility(is_backward_compatible=True)
class ProxyableClassMeta(type):
    """A metaclass: while a program is traced, making an instance from proxies is one call in the graph.

    >>> import wengert as torch
    >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> [n.op for n in torch.fx.symbolic_trace(lambda x: Pair(x, x)).graph.nodes]
    ['placeholder', 'call_function', 'output']
    """

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = cls.__new__(cls)  # type: ignore[call-overload]
        proxy = _find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        cls.__init__(instance, *args, **kwargs)
        return instance


def _patch_function(fn: FunctionType, nargs: int) -> FunctionType:
    """A function whose ``*args`` and ``**kwargs`` are ordinary parameters, so that a proxy may stand for them."""
    code = fn.__code__
    changed = code.replace(
        co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~HAS_VARSTUFF
    )
    return FunctionType(changed, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


class PHBase:
    """Stands in ``concrete_args`` for what shall be an input."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """Stands in ``concrete_args`` for an input whose node gets this object's attributes."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


def _transfer_attrs(fr: Any, to: Any) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


@compatibility(is_backward_compatible=True)
class Tracer(TracerBase):
    """Traces programs: ``trace`` runs a module or function on proxies and gives the graph of what it did.

    Methods are there to be overridden: ``is_leaf_module`` (which modules are one call), ``call_module``, ``getattr``,
    ``create_arg``, ``create_node``, ``proxy``, ``to_bool``, ``iter``, ``keys``.

    >>> import wengert as torch
    >>> print(torch.fx.Tracer().trace(lambda x: x.relu() + 1))
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_method[target=relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add

    Args:
        autowrap_modules: Python modules whose functions are kept as calls (see ``wrap``).
        autowrap_functions: functions that are kept as calls.
        param_shapes_constant: let the program read the shapes of parameters as numbers.
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        members = chain.from_iterable(vars(m).items() for m in autowrap_modules)
        self._autowrap_function_ids = {id(v) for n, v in members if not n.startswith("_") and callable(v)}
        self._autowrap_function_ids.update([id(f) for f in autowrap_functions])
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    root: Any
    tensor_attrs: dict[Any, str]
    _qualname_counter: dict[str, int] = collections.defaultdict(int)

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that the root has no attribute of: the prefix and a number."""
        if not hasattr(self.root, f"{prefix}0"):
            self._qualname_counter[prefix] = 0
            return f"{prefix}0"
        i = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        self._qualname_counter[prefix] = i + 1
        return f"{prefix}{i}"

    # ---- arguments
    def create_arg(self, a: Any) -> Any:
        """An object as a node's argument; parameters, buffers and constant tensors become ``get_attr`` nodes.

        Raises:
            NameError: a parameter that is not the root's.
        """
        if isinstance(a, Parameter):
            name = next((n for n, p in self.root.named_parameters() if a is p), None)
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, (Tensor, Module)):
            members = self.root.named_buffers() if isinstance(a, Tensor) else self.root.named_modules()
            for name, member in members:
                if a is member:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple([self.create_arg(item) for item in a]), {})
        if isinstance(a, tuple(_CONSTANTS)):
            name = self.tensor_attrs.get(a)
            if not name:
                prefixes = [prefix for kind, prefix in _CONSTANTS.items() if isinstance(a, kind)]
                name = self.get_fresh_qualname(prefixes[0])
                self.tensor_attrs[a] = name
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    # ---- modules
    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of a module is one node; by default that of a layer of ``torch.nn``, but for Sequential."""
        home = type(m).__module__.split(".")
        ours = home[0] in (__name__.partition(".")[0], "torch") and home[1:2] == ["nn"]
        return ours and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The dotted name of a module below the root.

        Raises:
            NameError: it is not there.
        """
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, m in self.root.named_modules() if m is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What happens at the call of a module: one node, or what ``forward`` does."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            key = f"{path}@{calls}" if calls > 0 else path
            self.module_stack[key] = (path, type(m))
            self.num_calls[path] = calls + 1
            if self.is_leaf_module(m, path):
                result: Any = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What a program gets that reads an attribute of a module: a proxy for a parameter, else the attribute."""
        if isinstance(attr_val, Parameter):
            named: Iterable[tuple[str, Any]] = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            named = self.root.named_buffers()
        else:
            return attr_val
        for name, member in named:
            if attr_val is member:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self._attribute_proxy(name, attr_val)
                return parameter_proxy_cache[name]
        return attr_val

    def _attribute_proxy(self, name: str, value: Any) -> Proxy:
        if not self.param_shapes_constant or "proxy_factory_fn" not in inspect.signature(self.create_proxy).parameters:
            return self.create_proxy("get_attr", name, (), {})

        def made(node: Any) -> ParameterProxy:
            return ParameterProxy(self, node, name, value)

        return self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=made)

    # ---- inputs
    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> tuple[Any, list[Any]]:
        """The placeholders for a function's parameters; the function, changed so that it can be called with them."""
        unwrapped = inspect.unwrap(root_fn)
        code = unwrapped.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        sig = inspect.signature(unwrapped)
        if isinstance(concrete_args, tuple) and concrete_args and code.co_flags & HAS_VARSTUFF and total == 1:
            for i, concrete in enumerate(concrete_args):
                out = self.create_proxy("placeholder", f"input_{i}", (), {})
                if isinstance(concrete, PHBase) and concrete is not PH:
                    _transfer_attrs(fr=concrete, to=out.node)
                args.append(out)
            return root_fn, args
        parameters = [next(names) for _ in range(len(args), total)]
        if isinstance(concrete_args, tuple):
            if len(parameters) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(parameters)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(parameters, concrete_args, strict=True))
        args += [self._proxy_placeholder(name, concrete_args, sig, unwrapped) for name in parameters]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            for flag, star in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
                if code.co_flags & flag:
                    args.append(self._proxy_placeholder(star + next(names), concrete_args, sig, unwrapped))
            root_fn = _patch_function(root_fn, len(args))
        flat, spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return root_fn, args
        return self._flattening(root_fn, list(code.co_varnames)[:total], spec), flat

    def _flattening(self, root_fn: Any, names: list[str], spec: Any) -> Callable[..., Any]:
        """The function of the leaves of its arguments, giving the leaves of its result."""
        codegen = self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names, spec, None))

        def flatten_fn(*args: Any) -> Any:
            leaves, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(args), spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return leaves

        flatten_fn.__annotations__ = {}
        return flatten_fn

    def _proxy_placeholder(self, name: str, concrete_args: Any, sig: inspect.Signature, fn: Any) -> Any:
        default: tuple[Any, ...] = ()
        if name[0] != "*" and sig.parameters[name].default is not inspect.Parameter.empty:
            default = (sig.parameters[name].default,)
        if concrete_args is None or name not in concrete_args:
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation(fn, name))
        count = 0

        def replace(x: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if x is not PH:
                    _transfer_attrs(fr=x, to=out.node)
                return out
            self._specialize(name, out, x)
            return x

        return pytree.tree_map(replace, concrete_args[name])

    def _specialize(self, name: str, out: Proxy, x: Any) -> None:
        """Check in the graph that an input has the value that was traced with."""
        if type(x) is bool or (type(x) in base_types and type(x) is not Tensor):
            _assert(out == x, f"{name} has been specialized to have value {x} but got another value")
        elif x is None:
            args = (out, f"{name} has been specialized to have value None but got another value")
            self.create_proxy("call_function", _assert_is_none, args, {})
        else:
            warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up "
                "to the user to make sure that your inputs match the inputs you specialized the function with."
            )

    # ---- tracing
    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of a module's ``forward``, or of a function.

        Afterwards ``self.root`` is the module that the graph's names refer to.
        """
        global _is_fx_tracing_flag
        former = _is_fx_tracing_flag
        everything = check_everything()
        _is_fx_tracing_flag = True
        try:
            self._trace(self._enter_root(root), isinstance(root, Module), concrete_args)
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = former
            end_check(everything)
        return self.graph

    def _enter_root(self, root: Any) -> Any:
        """Note the root and what it holds; the function to trace."""
        if isinstance(root, Module):
            self.root = root
            for module in root.modules():
                if isinstance(module, GraphModule) and hasattr(module, "real_recompile"):
                    module.real_recompile()  # a lazy one
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {mod: name for name, mod in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.graph = Graph(tracer_cls=type(self))
        if hasattr(fn, "__code__"):
            code = fn.__code__
            self.graph._co_fields = {
                "co_name": code.co_name, "co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno
            }  # fmt: skip
        self.tensor_attrs = {}
        for path, module in self.root.named_modules():
            for key, value in vars(module).items():
                if isinstance(value, tuple(_CONSTANTS)):
                    self.tensor_attrs[value] = f"{path}.{key}" if path else key
        if id(fn) in public_places():
            if not (is_written_in_python(fn) or hands_on_at_once(fn)):
                raise AssertionError("Expected FunctionType, got <class 'builtin_function_or_method'>")
            return _with_parameters(fn)
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        return fn

    def _trace(self, fn: Any, is_module: bool, concrete_args: Any) -> None:
        fn_globals = fn.__globals__
        fn, args = self.create_args_for_root(fn, is_module, concrete_args)
        cache: dict[str, Any] = {}

        @functools.wraps(_orig_module_getattr)
        def module_getattr(mod: Module, attr: str) -> Any:
            return self.getattr(attr, _orig_module_getattr(mod, attr), cache)

        @functools.wraps(_orig_module_call)
        def module_call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return _orig_module_call(mod, *args, **kwargs)

            scope = getattr(getattr(mod, "forward", mod), "__globals__", {})
            _autowrap_check(patcher, scope, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        with _new_patcher() as patcher:
            patcher.patch_method(Module, "__getattr__", module_getattr, deduplicate=False)
            patcher.patch_method(Module, "__call__", module_call, deduplicate=False)
            for name, made in _CALLERS.items():
                getattr(functional, name)  # it is not there before it is asked for
                patcher.patch(vars(functional), name, made)
            _patch_wrapped_functions(patcher)
            _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patcher, vars(module), self._autowrap_function_ids)
            returned = annotation(inspect.unwrap(fn), "return")
            self.create_node("output", "output", (self.create_arg(fn(*args)),), {}, type_expr=returned)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = Tracer.__new__(Tracer)
        for key, value in vars(self).items():  # modules cannot be copied
            made.__dict__[key] = copy.copy(value) if key == "_autowrap_search" else copy.deepcopy(value, memo)
        return made


def _with_parameters(fn: Any) -> Any:
    """A function of the package as one whose code has PyTorch's parameters."""
    parameters = signature_of(fn).parameters
    if "return_indices" in parameters and not function_name(fn).endswith("_indices"):

        def chooses(*args: Any, **kwargs: Any) -> Any:  # PyTorch's takes anything, and chooses by that flag
            return fn(*args, **kwargs)

        return chooses
    given = ", ".join([f"{name}={name}" for name in parameters])
    made: FunctionType = eval(f"lambda {', '.join(parameters)}: _fn({given})", {"_fn": fn})
    made.__name__ = function_name(fn)
    made.__defaults__ = tuple([p.default for p in parameters.values() if p.default is not p.empty])
    return made


# Functions of PyTorch's that call the method of their argument, which a trace shows.
_CALLERS: dict[str, Any] = {"sigmoid": lambda input: input.sigmoid(), "tanh": lambda input: input.tanh()}


# ---- wrapping
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}  # (id of a module's globals, name) -> the globals
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def _find_proxy(*objects: Any) -> Proxy | None:
    """The last proxy in nested containers."""
    found: list[Proxy] = []

    def look(x: Any) -> None:
        if isinstance(x, Proxy):
            found.append(x)

    map_aggregate(objects, look)
    return found[-1] if found else None


def _create_wrapped_func(orig_fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Callable[..., Any]:
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    for (_, name), scope in _wrapped_fns_to_patch.copy().items():
        if name not in scope and not hasattr(builtins, name):
            continue  # the module deleted it
        fn = getattr(builtins, name) if name not in scope and hasattr(builtins, name) else scope[name]
        patcher.patch(scope, name, _create_wrapped_func(fn))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, scope: dict[str, Any], function_ids: set[int]) -> None:
    """Wrap the functions of ``autowrap_modules`` where a module has them among its globals."""
    if patcher.visit_once(scope):
        for name, value in list(scope.items()):
            if not name.startswith("_") and callable(value) and id(value) in function_ids:
                patcher.patch(scope, name, _create_wrapped_func(value))


def wrap(fn_or_name: Any) -> Any:
    """Keep a function as one call in graphs: a decorator, or a call with the name of a global, at a module's top level.

    Raises:
        NotImplementedError: called elsewhere.

    >>> import wengert as torch
    >>> @torch.fx.wrap
    ... def half(x):
    ...     return x / 2
    >>> [n.op for n in torch.fx.symbolic_trace(lambda x: half(x)).graph.nodes]
    ['placeholder', 'call_function', 'output']
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """Trace a module or function, by running it on proxies, and give a module that does the same.

    Args:
        concrete_args: values for some of the parameters, by name: the trace sees them instead of proxies, so that
            conditions on them are decided. In containers, ``torch.fx.PH`` stands for what shall be an input.

    >>> import wengert as torch
    >>> gm = torch.fx.symbolic_trace(lambda x, n: x * n if n > 0 else x, {"n": 2})
    >>> [n.name for n in gm.graph.nodes]
    ['x', 'n_1', 'eq', '_assert', 'mul', 'output']
    >>> gm(torch.ones(2), 2)
    tensor([2., 2.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return _make_graph_module(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)

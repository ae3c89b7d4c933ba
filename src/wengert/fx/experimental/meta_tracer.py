"""``symbolic_trace`` with example inputs on the meta device: sizes are numbers, and programs may branch on them."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._base.errors import warn
from ...nn.utils.stateless import _reparametrize_module
from ..graph_module import GraphModule
from ..node import Node, map_aggregate
from ..proxy import Proxy

__all__ = ["MetaAttribute", "MetaDeviceAttribute", "MetaProxy", "MetaTracer", "proxys_to_metas", "symbolic_trace"]

manual_meta_overrides: dict[Any, Callable[..., Any]] = {}


class MetaProxy(Proxy):
    """A value in a graph that knows its sizes, ``_tensor_meta``, where they could be found."""

    def install_tensor_meta(self, tensor_meta: Any) -> None:
        """Note what the value is: a tensor without data."""
        self._tensor_meta = tensor_meta

    def _known(self, get: Callable[[Any], Any], kind: str, target: Any, *args: Any) -> Any:
        meta = self.__dict__.get("_tensor_meta")
        return self.tracer.create_proxy(kind, target, (self, *args), {}) if meta is None else get(meta)

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them."""
        args = () if dim is None else (dim,)
        return self._known(lambda meta: meta.size(*args), "call_method", "size", *args)

    def dim(self) -> Any:
        """The number of dimensions."""
        return self._known(lambda meta: meta.dim(), "call_method", "dim")

    @property
    def shape(self) -> Any:
        """The sizes."""
        return self._known(lambda meta: meta.shape, "call_function", builtins.getattr, "shape")

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._known(lambda meta: meta.dtype, "call_function", builtins.getattr, "dtype")

    @property
    def device(self) -> MetaDeviceAttribute:
        """The device: where sizes are computed, the meta device takes its place."""
        return MetaDeviceAttribute(self, "device")

    def __getattr__(self, k: str) -> Any:
        if k == "_tensor_meta":
            raise AttributeError(k)
        return MetaAttribute(self, k)


class MetaAttribute(MetaProxy):
    """An attribute of a value: a node if it is used as one, a method if it is called."""

    def __init__(self, root: MetaProxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node, made when it is first asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class MetaDeviceAttribute(MetaAttribute):
    """The device of a value."""


def proxys_to_metas(v: Any) -> Any:
    """What stands for an argument where sizes are computed."""
    if isinstance(v, MetaDeviceAttribute):
        return "meta"
    if not isinstance(v, Proxy):
        return v
    if not isinstance(v, MetaProxy):
        raise AssertionError(f"Expected MetaProxy but got {type(v)}")
    if "_tensor_meta" not in v.__dict__:
        raise AssertionError("MetaProxy does not have an associated meta")
    return v._tensor_meta


def _recorded_maker(target: Any) -> Any:
    @functools.wraps(target)
    def maker(*args: Any, **kwargs: Any) -> Any:
        proxies: list[Proxy] = []
        map_aggregate((args, kwargs), lambda a: proxies.append(a) if isinstance(a, Proxy) else None)
        if proxies:
            return proxies[0].tracer.create_proxy("call_function", target, args, kwargs)
        return target(*args, **kwargs)

    return maker


class MetaTracer(torch.fx.Tracer):
    """A tracer that runs each call on tensors without data beside."""

    allow_insert_stateless_mods = True
    _TORCH_METHODS_TO_PATCH = ("arange", "zeros", "ones", "full_like", "eye")

    def create_proxy(self, kind: str, target: Any, args: Any, kwargs: Any, *rest: Any, **more: Any) -> Any:
        """A proxy, with the sizes of its value."""
        made = super().create_proxy(kind, target, args, kwargs, *rest, **more)
        if kind == "placeholder" and target in self.meta_args:
            made.install_tensor_meta(self.meta_args[target])
        elif kind not in ("placeholder", "output"):
            if kind == "call_function" and target in self.orig_fns and "device" in kwargs:
                kwargs = {**kwargs, "device": "meta"}
            try:
                made.install_tensor_meta(self._meta_of(kind, target, *map_aggregate((args, kwargs), proxys_to_metas)))
            except Exception as e:  # noqa: BLE001 - of any function of the program
                warn(f"Could not compute metadata for {kind} target {target}: {e}")
        return made

    def _meta_of(self, kind: str, target: Any, args: Any, kwargs: Any) -> Any:
        if kind == "call_function":
            return manual_meta_overrides.get(target, target)(*args, **kwargs)
        if kind == "call_method":
            return getattr(args[0], target)(*args[1:], **kwargs)
        self._disable_module_getattr = True
        try:
            if kind == "get_attr":
                return functools.reduce(getattr, target.split("."), self.root).to(device="meta")
            module = self.root.get_submodule(target)
            if type(module) in manual_meta_overrides:
                return manual_meta_overrides[type(module)](module, *args, **kwargs)
            state = {k: v.to(device="meta") for k, v in [*module.named_parameters(), *module.named_buffers()]}
            with _reparametrize_module(module, state):
                return self.orig_forward(*args, **kwargs)
        finally:
            self._disable_module_getattr = False

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """An attribute of a module: itself, while sizes are computed."""
        if getattr(self, "_disable_module_getattr", False):
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def call_module(self, m: Any, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A call of a module."""
        self.orig_forward = forward
        return super().call_module(m, forward, args, kwargs)

    def path_of_module(self, mod: Any) -> str:
        """The name of a module: a new one, if a module without state was made while the program ran."""
        try:
            return super().path_of_module(mod)
        except NameError:
            if not self.allow_insert_stateless_mods or [*mod.parameters(), *mod.buffers()]:
                raise
        name, i = type(mod).__name__.lower(), 0
        while hasattr(self.root, f"{name}_{i}"):
            i += 1
        self.root.add_module(f"{name}_{i}", mod)
        return f"{name}_{i}"

    def proxy(self, node: Node) -> MetaProxy:
        """The proxy of a node."""
        return MetaProxy(node, self)

    def trace(self, root: Any, meta_args: Any = None, concrete_args: Any = None) -> Any:  # type: ignore[override]
        """Record a program for inputs of these sizes, given by the parameters' names."""
        if not isinstance(meta_args, dict):
            raise AssertionError(f"Expected dict for meta_args, got {type(meta_args)}")
        self.meta_args = meta_args
        makers = {name: getattr(torch, name) for name in self._TORCH_METHODS_TO_PATCH}
        self.orig_fns = set(makers.values())
        for name, maker in makers.items():
            setattr(torch, name, _recorded_maker(maker))
        try:
            graph = super().trace(root, concrete_args)
            graph._tracer_extras = {"meta_args": meta_args}
            return graph
        finally:
            for name, maker in makers.items():
                setattr(torch, name, maker)


def symbolic_trace(
    root: Any, meta_args: dict[str, Any] | None = None, concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """Record a program for inputs of the sizes of these tensors.

    >>> import wengert as torch
    >>> from wengert.fx.experimental import meta_tracer
    >>> def f(x):
    ...     return torch.relu(x) if x.shape[0] < 3 else torch.sigmoid(x)
    >>> print(meta_tracer.symbolic_trace(f, {"x": torch.ones(5, device="meta")}).code.strip())
    def forward(self, x):
        sigmoid = torch.sigmoid(x);  x = None
        return sigmoid

    Args:
        meta_args: a tensor on the meta device for each parameter.
    """
    tracer = MetaTracer()
    graph = tracer.trace(root, meta_args, concrete_args)
    name = type(root).__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)

"""``Node``, one call in a graph, and ``map_arg``, by which its arguments are gone through.

A node is a link in its graph's doubly-linked list. It holds its arguments as immutable collections, the nodes among
them in ``_input_nodes``, and the nodes that use it in ``users``; setting ``args`` or ``kwargs`` keeps both in step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

from .._base.constants import LAYOUTS, device, layout, memory_format
from .._base.dtypes import dtype
from .._base.exports import is_ours
from .._base.grad_mode import set_grad_enabled
from .._tape.tensor import Tensor
from ..autograd.profiler import _record_function_enter, _record_function_enter_new, _record_function_exit
from ..utils._aten import OpOverload
from ._compatibility import compatibility as compatibility  # noqa: PLC0414  which programs take from here
from ._naming import function_name, qualified_name, type_text
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

Target = Callable[..., Any] | str
Argument = Any
ArgumentT = TypeVar("ArgumentT", bound=Argument)
base_types = (str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload)

OPS = dict.fromkeys(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
_legal_ops = OPS
_get_qualified_name = qualified_name
_type_repr = type_text

_side_effectful_functions: set[Any] = {
    operator.setitem, set_grad_enabled, _record_function_enter, _record_function_enter_new, _record_function_exit
}  # fmt: skip
_RANDOM = frozenset({"bernoulli", "multinomial", "normal", "poisson", "rand", "randint", "randn", "randperm"})
_RANDOM |= {"rand_like", "randint_like", "randn_like"}


def has_side_effect(fn: Any) -> Any:
    """Keep calls of a function whose results nobody uses: ``Graph.eliminate_dead_code`` leaves them.

    >>> import wengert as torch
    >>> @torch.fx.has_side_effect
    ... def log(x):
    ...     print(x)
    """
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function to each object in nested tuples, lists, dicts and slices; lists and dicts become immutable.

    >>> import wengert as torch
    >>> torch.fx.node.map_aggregate([1, (2, {"a": 3})], lambda x: 10 * x)
    [10, (20, {'a': 30})]
    """
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict([(k, map_aggregate(v, fn)) for k, v in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply a function to each node in nested tuples, lists, dicts and slices.

    >>> import wengert as torch
    >>> node = torch.fx.Graph().placeholder("x")
    >>> torch.fx.map_arg([node, 1], lambda n: n.name)
    ['x', 1]
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, (list, tuple)):
        items = ", ".join(_format_arg(a) for i, a in enumerate(arg) if i < max_list_len)
        more = "" if len(arg) < max_list_len + 1 else f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}{more}]"
        return f"({items}{',' if len(arg) == 1 else ''}{more})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _typename(x: Any) -> str:
    import wengert as torch

    return torch.typename(x)


@compatibility(is_backward_compatible=True)
class Node:
    """One call in a graph: what is called (``op``, ``target``), with which arguments, under which name.

    ``op`` is ``placeholder`` (an input), ``get_attr``, ``call_function``, ``call_method``, ``call_module`` or
    ``output``. Nodes are made by the graph's methods.

    >>> import wengert as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> graph.call_function(torch.relu, (x,)).format_node()
    '%relu : [num_users=0] = call_function[target=torch.relu](args = (%x,), kwargs = {})'

    Attributes:
        args, kwargs: the arguments, in which other nodes stand for their values.
        users: the nodes that use this one, as a dict in order of use.
        meta: what passes note about the node.
        type: the annotation of its value, or None.
    """

    def __init__(
        self, graph: Any, name: str, op: str, target: Any, args: Any, kwargs: Any, return_type: Any = None
    ) -> None:
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {_typename(target)} "
                    "but a Callable is expected"
                )
        elif op not in OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {_typename(target)} "
                "but a str is expected"
            )
        self.__dict__.update(
            graph=graph, name=name, op=op, target=target, type=return_type, meta={}, users={}, _input_nodes={},
            _prev=self, _next=self, _erased=False, _sort_key=(), _repr_fn=None, _args=(), _kwargs=immutable_dict(),
        )  # fmt: skip
        self._update_args_kwargs(args, kwargs)

    graph: Any
    name: str
    op: str
    target: Any
    type: Any
    meta: dict[str, Any]
    users: dict[Node, None]
    _input_nodes: dict[Node, None]
    _prev: Node
    _next: Node
    _erased: bool
    _sort_key: tuple[int, ...]
    _repr_fn: Any
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]

    # ---- arguments
    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        def use(n: Node) -> Node:
            self._input_nodes.setdefault(n)
            n.users.setdefault(self)
            return n

        for n in self._input_nodes:
            n.users.pop(self, None)
        self._input_nodes = {}
        self._args = map_arg(args, use)
        self._kwargs = map_arg(kwargs, use)

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; an assignment of new ones updates the users of the nodes in them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments; an assignment of new ones updates the users of the nodes in them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument before the one at this place."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self._args = (*self.args[:idx], arg, *self.args[idx:])

        def use(n: Node) -> Node:
            self._input_nodes.setdefault(n)
            n.users.setdefault(self)
            return n

        map_arg(arg, use)

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def _replace_input_with(self, old: Node, new: Any) -> None:
        def swap(n: Node) -> Any:
            return new if n is old else n

        self._update_args_kwargs(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use one node instead of another in all arguments."""
        for hook in self._hooks("_replace_hooks"):
            hook(old=old_input, new=new_input.name, user=self)
        self._replace_input_with(old_input, new_input)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Use another node instead of this one, everywhere (or in the users that ``delete_user_cb`` is true for).

        Returns:
            The users that were changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            for hook in self._hooks("_replace_hooks"):
                hook(old=self, new=replace_with.name, user=user)
            user._replace_input_with(self, replace_with)
        return changed

    def _hooks(self, name: str) -> list[Any]:
        return getattr(self.graph.owning_module, name, None) or []

    # ---- place in the graph
    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move a node to the place before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x
        x._sort_key = _key_between(before._sort_key, self._sort_key)

    _prepend = prepend

    def append(self, x: Node) -> None:
        """Move a node to the place after this one."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def _compared(self, other: Node, compare: Any) -> bool:
        return compare(self._sort_key, other._sort_key) if isinstance(other, Node) else NotImplemented

    def __lt__(self, other: Node) -> bool:
        return self._compared(other, operator.lt)

    def __gt__(self, other: Node) -> bool:
        return self._compared(other, operator.gt)

    def __le__(self, other: Node) -> bool:
        return self._compared(other, operator.le)

    def __ge__(self, other: Node) -> bool:
        return self._compared(other, operator.ge)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name":
            for user in self.users:
                for hook in self._hooks("_replace_hooks"):
                    hook(old=self, new=value, user=user)
        if name in ("op", "target"):  # what the graph's table of nodes is made from
            table = self.graph._find_nodes_lookup_table
            known = self in table
            if known:
                table.remove(self)
            object.__setattr__(self, name, value)
            if known:
                table.insert(self)
            return
        object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            space = self.graph._graph_namespace
            self.name = space.create_name(candidate, None)
            space._rename_object(self, self.name)

    # ---- what it is and does
    @property
    def stack_trace(self) -> str | None:
        """The lines that made the node, if the tracer recorded them."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the call does more than give a value, so that it must stay although nobody uses the value."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False))
        return self.op == "call_function" and _is_impure_function(self.target)

    def normalized_arguments(
        self,
        root: Any,
        arg_types: Any = None,
        kwarg_types: Any = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments by the names of the parameters, with defaults; None where they cannot be found."""
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    # ---- text
    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        if isinstance(target, str):
            return target
        name = getattr(target, "__name__", None)
        if name is not None and (home := {"builtins": "builtins", "_operator": "operator"}.get(target.__module__)):
            return f"{home}.{name}"
        return qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The node's line in ``str(graph)``."""
        users, typed = f"[num_users={len(self.users)}]", "" if self.type is None else f"{type_text(self.type)} "
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f"{self.target}: {type_text(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} : {typed}{users} = {self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"%{self.name} : {typed}{users} = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_text(self.type)}"
            return f"return {self.args[0]}"
        value = self.meta.get("val", self.meta.get("tensor_meta", self.meta.get("example_value")))
        if include_tensor_metadata and isinstance(value, Tensor) and value.layout is LAYOUTS["strided"]:
            typed = f'Tensor "{tensor_text(value)}{list(value.stride())}{value.device}"'
        return (
            f"%{self.name} : {typed}{users} = {self.op}[target={self._pretty_print_target(self.target)}]("
            f"args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )


_ABBREVIATIONS = {
    "bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16", "complex32": "c32", "complex64": "c64",
    "complex128": "c128", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "bool": "b8", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


def tensor_text(meta: Any) -> str:
    """A tensor's dtype and shape as annotations write them: ``f32[2, 3]``."""
    name = str(meta.dtype).removeprefix("torch.")
    return f"{_ABBREVIATIONS.get(name, name)}[{', '.join(map(str, meta.shape))}]"


def _key_between(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """A key that sorts between two others, so that nodes are ordered without a walk through the list."""
    if len(before) > len(after):
        *prefix, last = before[: len(after) + 1]
        return (*prefix, last + 1)
    if len(before) < len(after):
        *prefix, last = after[: len(before) + 1]
        return (*prefix, last - 1)
    return (*before, 0)


def _is_impure_function(fn: Any) -> bool:
    if fn in _side_effectful_functions:
        return True
    if isinstance(fn, OpOverload):
        name = fn.overloadpacket.__name__
        return name.endswith("_") or fn._overloadname.endswith("out") or name in _RANDOM
    return is_ours(getattr(fn, "__module__", None)) and function_name(fn) in {"_assert", *_RANDOM}

"""Graphs in which every argument stands under its parameter's name, or every operator is Python's."""

from __future__ import annotations

import operator
from typing import Any

import wengert as torch

from ..interpreter import Transformer
from ..node import Node, map_aggregate
from ..operator_schemas import create_type_hint, normalize_function, normalize_module

__all__ = ["NormalizeArgs", "NormalizeOperators"]

_OPERATORS = {
    torch.add: operator.add, torch.mul: operator.mul, torch.sub: operator.sub, torch.div: operator.truediv,
    torch.floor_divide: operator.floordiv, torch.remainder: operator.mod, torch.eq: operator.eq,
    torch.ne: operator.ne, torch.lt: operator.lt, torch.le: operator.le, torch.gt: operator.gt, torch.ge: operator.ge,
}  # fmt: skip


class NormalizeArgs(Transformer):
    """Gives functions and layers their arguments under the names of the parameters, with defaults.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.normalize import NormalizeArgs
    >>> gm = torch.fx.symbolic_trace(lambda x: torch.nn.functional.relu(x))
    >>> [dict(n.kwargs) for n in NormalizeArgs(gm).transform().graph.nodes if n.op == "call_function"]
    [{'input': x, 'inplace': False}]
    """

    def __init__(self, module: Any, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Any, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        """Write one node; it keeps its ``meta`` and type."""
        if n.op == "call_function":
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            shown = map_aggregate((n.args, dict(n.kwargs)), _type_of)
            types = tuple([create_type_hint(t) for t in shown[0]]), dict(shown[1])
            out = self.call_function(n.target, args, kwargs, *types)
        else:
            out = super().run_node(n)
        if n.op != "output":
            self.node_map[out] = n
            out.node.meta, out.node.type = n.meta, n.type
        return out

    def call_function(
        self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], arg_types: Any = None, kwarg_types: Any = None
    ) -> Any:
        """A node for the call; ``arg_types`` and ``kwarg_types`` tell overloads apart."""
        only = self.normalize_to_only_use_kwargs
        found = normalize_function(target, args, kwargs, arg_types, kwarg_types, only)
        if found is None:
            return super().call_function(target, args, kwargs)
        return self.tracer.create_proxy("call_function", target, found.args, found.kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A node for the call."""
        found = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        return super().call_module(target, *(found or (args, kwargs)))


class NormalizeOperators(Transformer):
    """Calls Python's operators where the graph calls ``torch.add`` and its like."""

    binary_magic_method_remap = _OPERATORS

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A node for the call."""
        if target in self.binary_magic_method_remap and len(args) == 2:
            return super().call_function(self.binary_magic_method_remap[target], args, {})
        return super().call_function(target, args, kwargs)


def _type_of(arg: Any) -> Any:
    return arg.meta.get("type", arg.type) if isinstance(arg, Node) else type(arg)

"""``split_const_subgraphs``: what a graph computes from parameters alone, computed once."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from ..._tape.tensor import Tensor
from ...nn.modules.container import ParameterList
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..passes.split_module import split_module

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A graph module that, at its first call, computes what depends on no input and keeps it as parameters."""

    def __init__(
        self, root: Any, graph: Graph, const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None, device_for_folded_attrs: str = "cpu",
    ) -> None:  # fmt: skip
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constants, once.

        Raises:
            AssertionError: they were computed.
        """
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        folded = self.const_subgraph_module()
        made = ParameterList([_parameter(t) for t in folded]) if isinstance(folded, tuple) else _parameter(folded)
        setattr(self, self.fx_const_folded_attrs_name, made)


def _parameter(value: Any) -> Parameter:
    if isinstance(value, Tensor):
        return Parameter(value.detach().clone(), requires_grad=value.requires_grad)
    return Parameter(Tensor([value]), requires_grad=False)


def get_unique_attr_name_in_module(mod_traced: Any, name: str) -> str:
    """A name like this one that the module does not have."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    name = f"_{name}" if name[0].isdigit() else name
    while hasattr(mod_traced, name):
        found = re.match(r"(.*)_(\d+)$", name)
        name = f"{found[1]}_{int(found[2]) + 1}" if found else f"{name}_1"
    return name


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Any]:
    """Put the nodes of a graph module in the place of its call; the new node of each."""
    inner = dict(gm.named_modules())[inline_mod_name]
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    calls = gm.graph.find_nodes(op="call_module", target=inline_mod_name)
    if not calls:
        raise AssertionError(f"Could not find call_module node for {inline_mod_name}")
    call, places = calls[0], iter(calls[0].args)
    values: dict[Node, Any] = {}

    def value_of(node: Node) -> Any:
        values[node].meta = node.meta.copy()
        return values[node]

    for node in inner.graph.nodes:
        if node.op == "placeholder":
            values[node] = call.kwargs[node.name] if node.name in call.kwargs else next(places)
        elif node.op != "output":
            with gm.graph.inserting_before(call):
                values[node] = gm.graph.node_copy(node, value_of)
        else:
            result: Any = map_arg(node.args[0], value_of)
            users = [u for u in call.users if u.target is operator.getitem and isinstance(u.args[1], int)]
            call.replace_all_uses_with(result)
            for user in users if isinstance(result, (list, tuple)) else ():
                values[user] = result[user.args[1]]
                user.replace_all_uses_with(values[user])
                gm.graph.erase_node(user)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return values


def _has_effects(module: Any) -> bool:
    return isinstance(module, GraphModule) and any(
        (node.op == "call_function" and node.is_impure())
        or (node.op == "call_module" and _has_effects(module.get_submodule(str(node.target))))
        for node in module.graph.nodes
    )


def _constants(gm: GraphModule, skipped: Callable[[Node], bool] | None) -> set[Node]:
    """The nodes that depend on no input."""
    found: set[Node] = set()
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        fixed = node.op == "get_attr" or found.issuperset(node.all_input_nodes)
        if not fixed or (skipped and skipped(node)) or node.is_impure():
            continue
        if node.op != "call_module" or not _has_effects(gm.get_submodule(str(node.target))):
            found.add(node)
    return found


def split_const_subgraphs(
    module: Module, skip_folding_node_fn: Callable[[Node], bool] | None = None, device_for_folded_attrs: str = "cpu"
) -> FoldedGraphModule:
    """A module that computes what depends on parameters and constants alone at its first call, and never again.

    Args:
        skip_folding_node_fn: true for nodes that are to be computed in every call.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.const_fold import split_const_subgraphs
    >>> class Scaled(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = torch.nn.Parameter(torch.ones(2))
    ...     def forward(self, x):
    ...         return x * torch.exp(self.scale + 1)
    >>> print(split_const_subgraphs(Scaled()).graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %_fx_const_folded_attrs : [num_users=1] = get_attr[target=_FX_CONST_FOLDED_ATTRS]
        %mul : [num_users=1] = call_function[target=operator.mul](args = (%x, %_fx_const_folded_attrs), kwargs = {})
        return mul
    """
    gm = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constants(gm, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constants):
        return FoldedGraphModule(gm, gm.graph)
    split = split_module(gm, module, lambda node: 0 if node in constants else 1)
    inner: Any = split.submod_0
    for part in (inner, getattr(split, "submod_1", None)):
        for node in part.graph.find_nodes(op="call_module") if part is not None else ():
            setattr(split, node.target, getattr(part, node.target))
    (call,) = split.graph.find_nodes(op="call_module", target="submod_0")
    once = GraphModule(split, inner.graph)
    for node, given in zip(once.graph.find_nodes(op="placeholder"), call.args, strict=True):
        if given.op != "get_attr":
            raise AssertionError(f"Expected get_attr, got {given.op}")
        with once.graph.inserting_before(node):
            made = once.graph.create_node("get_attr", given.target)
        made.meta = node.meta.copy()
        node.replace_all_uses_with(made)
        once.graph.erase_node(node)
    several = isinstance(once.graph.output_node().args[0], tuple)
    name = get_unique_attr_name_in_module(gm, "_FX_CONST_FOLDED_ATTRS")
    setattr(split, name, ParameterList() if several else Parameter(Tensor()))
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if hasattr(split, "submod_1"):
        _inline_module(split, "submod_1")
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, once.graph, name, device_for_folded_attrs)

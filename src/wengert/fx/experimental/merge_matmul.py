"""``merge_matmul``: products with the same right factor made one product."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ...nn.modules.module import Module
from .._symbolic_trace import symbolic_trace
from ..graph_module import GraphModule
from ..node import Node
from ..passes.tools_common import legalize_graph
from ..proxy import Proxy

__all__ = ["are_nodes_independent", "may_depend_on", "merge_matmul", "split_result_tensors"]


def split_result_tensors(result: Tensor, inputs: list[Tensor]) -> Any:
    """The rows of a merged product that belong to each input."""
    return torch.split(result, [0 if isinstance(result, Proxy) else x.shape[0] for x in inputs])


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Whether a node may use another; True if ``search_depth`` steps do not tell."""
    if a == b:
        return True
    if not a.all_input_nodes:
        return False
    return search_depth == 0 or any(may_depend_on(n, b, search_depth - 1) for n in a.all_input_nodes)


def are_nodes_independent(nodes: list[Node]) -> bool:
    """Whether none of the nodes may use another."""
    return not any(may_depend_on(i, j) or may_depend_on(j, i) for i, j in itertools.combinations(nodes, 2))


def merge_matmul(in_mod: Module) -> GraphModule:
    """A graph module in which calls of ``torch.matmul`` with the same right factor are one call."""
    gm = symbolic_trace(in_mod)
    graph = gm.graph
    users: dict[Any, list[Node]] = {}
    for node in graph.find_nodes(op="call_function", target=torch.matmul):
        right = node.args[1]
        users.setdefault(right.target if right.op == "get_attr" else right, []).append(node)
    for right, products in users.items():
        if len(products) < 2 or not are_nodes_independent(products):
            continue
        lefts = [p.args[0] for p in products]
        factor = graph.get_attr(right) if isinstance(right, str) else right
        whole = graph.call_function(torch.matmul, (graph.call_function(torch.cat, (lefts,), {}), factor), {})
        parts = graph.call_function(split_result_tensors, (whole, lefts), {})
        items = [graph.call_function(operator.getitem, (parts, i), {}) for i in range(len(lefts))]
        for product, item in zip(products, items, strict=True):
            product.replace_all_uses_with(item)
            graph.erase_node(product)
        legalize_graph(gm)
    gm.recompile()
    gm.graph.lint()
    return gm

"""The inputs of ``make_fx``'s graphs: names for arguments, attributes where they are used."""

from __future__ import annotations

import inspect
from typing import Any

from ..graph import Graph
from ..node import Node
from ..proxy import COPIED_META


def parameter_names(f: Any, count: int) -> list[str]:
    """The names of the inputs: those of the function's parameters, ``arg0`` where it has none of its own."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    fixed = code is not None and not code.co_flags & inspect.CO_VARARGS
    names = list(code.co_varnames[: code.co_argcount]) if fixed else []
    return names[:count] if len(names) >= count else [f"arg{i}" for i in range(count)]


def defaults_of(f: Any) -> dict[str, Any]:
    """The defaults of a function's parameters, by the names of the inputs."""
    if getattr(inspect.unwrap(f), "__code__", None) is None:  # it has no names of its own
        return {}
    return {f"{p.name}_1": p.default for p in inspect.signature(f).parameters.values() if p.default is not p.empty}


def leaf_names(names: list[str], spec: Any) -> list[str]:
    """The names of the leaves: ``d_1``, ``d_2`` for those of ``d``."""
    return [
        f"{name}_{i + 1}" for name, child in zip(names, spec.children(), strict=True) for i in range(child.num_leaves)
    ]


def fetch_at_each_use(graph: Graph) -> None:
    """Write each attribute anew where it is used again, as PyTorch does."""
    used: set[Node] = set()
    for user in list(graph.nodes):
        for node in [n for n in user.all_input_nodes if n.op == "get_attr"]:
            if node in used:
                with graph.inserting_before(user):
                    again = graph.get_attr(node.target)
                again.meta = node.meta | {key: user.meta[key] for key in COPIED_META if key in user.meta}
                user.replace_input_with(node, again)
            used.add(node)

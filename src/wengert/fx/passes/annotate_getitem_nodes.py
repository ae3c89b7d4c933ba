"""Types for the items of tuples and lists whose types are known."""

from __future__ import annotations

import operator
import typing
from typing import Any

from ..._tape.tensor import Tensor
from ..graph import Graph

__all__ = ["annotate_getitem_nodes"]


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give the nodes of items the types that the annotations of their tuples, lists and named tuples say."""
    for node in graph.nodes:
        if node.target is not operator.getitem:
            continue
        sequence, index = node.args
        kind: Any = sequence.type
        if not kind or kind is Tensor:
            continue
        inside = typing.get_args(kind)
        if typing.get_origin(kind) is tuple:
            if len(inside) == 2 and inside[1] is ...:
                node.type = inside[0]
            else:
                if len(inside) <= index:
                    raise AssertionError(f"Index {index} out of range for parameterized_types (len={len(inside)})")
                node.type = inside[index]
        elif typing.get_origin(kind) is list:
            if len(inside) != 1:
                raise AssertionError(f"Expected 1 parameterized type, got {len(inside)}")
            node.type = inside[0]
        elif hasattr(kind, "_fields"):
            node.type = kind.__annotations__[kind._fields[index]]

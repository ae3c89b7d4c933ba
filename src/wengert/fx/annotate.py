"""``annotate``: a type for a value inside of a program that is traced."""

from __future__ import annotations

from typing import Any

from .proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """Give the node of a proxy a type; any other value is given back as it is.

    Raises:
        RuntimeError: the node has a type already.

    >>> import wengert as torch
    >>> from wengert.fx.annotate import annotate
    >>> graph = torch.fx.symbolic_trace(lambda x: annotate(x + 1, torch.Tensor)).graph
    >>> graph.find_nodes(op="output")[0].args[0].type
    <class 'torch.Tensor'>
    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} and new "
                f"type is {type}. This could happen if you tried to annotate a function parameter value (in which case "
                "you should use the type slot on the function signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val

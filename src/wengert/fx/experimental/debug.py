"""``set_trace``: a breakpoint at the beginning of a graph module's code."""

from __future__ import annotations

from ..graph_module import GraphModule

__all__ = ["set_trace"]


def set_trace(gm: GraphModule) -> GraphModule:
    """Let the module's code start Python's debugger when it runs."""
    with gm.graph.on_generate_code(
        lambda former: lambda body: ["import pdb; pdb.set_trace()\n", *(former(body) if former else body)]
    ):
        gm.recompile()
    return gm

"""``torch.fx``: programs as graphs that can be read, changed and run: a symbolic tracer, a graph, Python from it.

`symbolic_trace` runs a module or function on proxies (`proxy`, `_symbolic_trace`). What they meet is written as the
nodes of a `Graph` (`node`, `graph`), which `_codegen` writes as Python again, the `forward` of a `GraphModule`.
`Interpreter` and `Transformer` run a graph node by node; `passes` and `experimental` are built on them.
"""

from __future__ import annotations

from . import immutable_collections, traceback
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

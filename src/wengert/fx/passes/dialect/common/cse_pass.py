"""``CSEPass``: equal calls with equal arguments made one."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .....utils._aten import OpOverload
from .....utils._pytree import tree_flatten
from ....graph import Graph
from ....graph_module import GraphModule
from ....node import Node
from ...infra.pass_base import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]

_RANDOM = "dropout bernoulli multinomial native_dropout normal poisson rrelu rand_like rand randint randn randperm"
_IN_PLACE = "add_ sub_ mul_ div_ pow_ lerp_ relu_ sigmoid_ tanh_"


def get_CSE_banned_ops() -> set[Any]:
    """Random operators and those that write in place, whose calls are not alike."""
    return {getattr(torch.ops.aten, name) for name in f"{_RANDOM} {_IN_PLACE}".split()}


class CSEPass(PassBase):
    """Makes equal calls one, except for those of ``banned_ops``; for graphs of functions without effects.

    >>> import wengert as torch
    >>> from wengert.fx.passes.dialect.common.cse_pass import CSEPass
    >>> result = CSEPass()(torch.fx.symbolic_trace(lambda x: torch.cos(x) + torch.cos(x)))
    >>> result.modified, [n.name for n in result.graph_module.graph.nodes]
    (True, ['x', 'cos', 'add', 'output'])
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = banned_ops or set()
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """A new module, if there are equal calls."""
        graph, modified = Graph(), False
        values: dict[Node, Node] = {}
        known: dict[Any, tuple[Any, Node]] = {}
        for n in graph_module.graph.nodes:
            target = n.target.overloadpacket if isinstance(n.target, OpOverload) else n.target
            if n.op in ("placeholder", "output", "get_attr") or target in self.banned_ops:
                values[n] = graph.node_copy(n, lambda x: values[x])
                continue
            leaves, spec = tree_flatten((n.args, n.kwargs))
            leaves = [values.get(v, v) if isinstance(v, Node) else v for v in leaves]
            call = (n.target, [(type(v), v) for v in leaves], spec)
            key = (n.target, tuple(leaves))
            same = known.get(key)
            if same is not None and same[0] == call:
                modified = True
                values[n] = same[1]
                continue
            values[n] = graph.node_copy(n, lambda x: values[x])
            known.setdefault(key, (call, values[n]))
        return PassResult(GraphModule(graph_module, graph) if modified else graph_module, modified)

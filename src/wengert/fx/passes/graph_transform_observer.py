"""``GraphTransformObserver``: notes which nodes a pass makes and removes, and in the new ones where they come from."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..graph_module import GraphModule
from ..node import Node
from ..traceback import NodeSource, NodeSourceAction
from .graph_drawer import FxGraphDrawer

__all__ = ["GraphTransformObserver"]


class GraphTransformObserver:
    """A context around a pass over a graph.

    >>> import wengert as torch
    >>> from wengert.fx.passes.graph_transform_observer import GraphTransformObserver
    >>> gm = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    >>> with GraphTransformObserver(gm, "double", log_url=None) as observer:
    ...     _ = gm.graph.call_function(torch.neg, (gm.graph.find_nodes(op="placeholder")[0],))
    >>> sorted(observer.created_nodes)
    ['neg']

    Args:
        log_url: a folder into which pictures of the graph before and after the pass are written.
    """

    __pass_count = 0

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None, log_url: str | None = None
    ) -> None:
        self.gm, self.passname, self.subsystem, self.log_url = gm, passname, subsystem, log_url
        self.active = True
        self.erased_nodes: set[str] = set()
        self.created_nodes: set[str] = set()
        self.name_to_node: dict[str, Node] = {}
        self.copied_gms: list[GraphModule] = []
        self._hooks: dict[str, Callable[..., Any]] = {
            "create_node": self._created, "erase_node": self._erased, "replace_node": self._replaced,
            "deepcopy": self.copied_gms.append,
        }  # fmt: skip
        if log_url is not None:
            GraphTransformObserver.__pass_count += 1
            self.input_dot_graph = self._drawn()

    def __deepcopy__(self, memo: Any) -> GraphTransformObserver:
        """Itself: the hooks of a copied module are this observer's."""
        return self

    def _drawn(self) -> Any:
        return FxGraphDrawer(self.gm, self.passname, True, True).get_dot_graph()

    @classmethod
    def get_current_pass_count(cls) -> int:
        """How many observers have written pictures."""
        return cls.__pass_count

    def apply_gm_pass(self, pass_fn: Callable[[GraphModule], Any]) -> Any:
        """Run a pass on the module."""
        with self:
            return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Callable[[Any], Any]) -> Any:
        """Run a pass on the graph."""
        with self:
            return pass_fn(self.gm.graph)

    def __enter__(self) -> GraphTransformObserver:
        for kind, hook in self._hooks.items():
            getattr(self.gm, f"_register_{kind}_hook")(hook)
        self.name_to_node.update({node.name: node for node in self.gm.graph.nodes})
        return self

    def __exit__(self, *exc: object) -> None:
        for gm in [*self.copied_gms, self.gm]:
            for kind, hook in self._hooks.items():
                getattr(gm, f"_unregister_{kind}_hook")(hook)
        if self.log_url is not None and (self.created_nodes or self.erased_nodes):
            name = f"pass_{self.__pass_count}_{self.passname}"
            self.input_dot_graph.write_dot(os.path.join(self.log_url, f"{name}_input_graph.dot"))
            self._drawn().write_dot(os.path.join(self.log_url, f"{name}_output_graph.dot"))

    def _created(self, node: Node) -> None:
        self.created_nodes.add(node.name)
        self.name_to_node[node.name] = node
        source = NodeSource(None, self.passname, NodeSourceAction.CREATE)
        node.meta["from_node"] = [*node.meta.get("from_node", ()), source]

    def _erased(self, node: Node) -> None:
        self.erased_nodes.add(node.name)
        self.name_to_node.pop(node.name, None)

    def _replaced(self, old: Node, new: str, user: Node) -> None:
        node = self.name_to_node.get(new)
        sources = [] if node is None else node.meta.get("from_node", [])
        if node is None or any(source.name == old.name for source in sources):
            return
        action = [NodeSourceAction.REPLACE]
        if node.name in self.created_nodes:
            action.append(NodeSourceAction.CREATE)
        kept = [s for s in sources if s.pass_name != self.passname or s.action != [NodeSourceAction.CREATE]]
        node.meta["from_node"] = [*kept, NodeSource(old, self.passname, action)]

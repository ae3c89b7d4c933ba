"""``CapabilityBasedPartitioner``: groups of nodes that a backend supports, as large as uses allow, made submodules."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..._naming import qualified_name
from ...graph_module import GraphModule
from ...node import Node
from ..operator_support import OperatorSupportBase
from ..utils.fuser_utils import fuse_by_partitions

__all__ = ["CapabilityBasedPartitioner", "Partition"]


class Partition:
    """A group of nodes; ``nodes`` has their places as values."""

    def __init__(
        self, id: int | None = None, nodes: Iterable[Node] | None = None, node_orders: Iterable[int] | None = None
    ) -> None:
        self.id = id
        nodes = list(nodes or ())
        self.nodes: dict[Node, int | None] = dict.fromkeys(nodes)
        if node_orders is not None:
            self.nodes = dict(zip(nodes, node_orders, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        del self.nodes[node]

    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Groups the nodes that ``operator_support`` supports.

    >>> import wengert as torch
    >>> from wengert.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    >>> from wengert.fx.passes.operator_support import create_op_support
    >>> gm = torch.fx.symbolic_trace(lambda x: torch.neg(torch.exp(torch.relu(x))))
    >>> support = create_op_support(lambda submodules, node: node.target in (torch.relu, torch.exp))
    >>> CapabilityBasedPartitioner(gm, support).partition_and_fuse().graph.find_nodes(op="call_module")
    [fused_0]

    Args:
        allows_single_node_partition: keep groups that compute only one thing.
        non_compute_ops: functions that do not count as computing, by their qualified names.
        allowed_single_node_partition_ops: functions that may be groups alone.
        skip_horizontal_fusion: join a node's group only with those of its users.
    """

    def __init__(
        self, graph_module: GraphModule, operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False, non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None, skip_horizontal_fusion: bool = False,
    ) -> None:  # fmt: skip
        self.graph_module, self.operator_support = graph_module, operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """The groups, the nodes of each in order."""
        groups = _Groups(self.graph_module)
        for place, node in enumerate(reversed(self.graph_module.graph.nodes)):
            candidates: list[int] = []
            if self._is_node_supported(node) and node not in groups.of:
                candidates.append(groups.start(node, place))
                if self.skip_horizontal_fusion:
                    candidates += [groups.of[user] for user in node.users if user in groups.of]
            if not self.skip_horizontal_fusion:
                candidates += [i for i, _ in sorted(groups.first.items(), key=operator.itemgetter(1))]
            candidates = list(dict.fromkeys(candidates))
            for other in candidates[1:]:
                candidates[0] = groups.join(candidates[0], other)
        for group in groups.groups.values():
            group.nodes = dict(sorted(group.nodes.items(), key=operator.itemgetter(1), reverse=True))
        while changes := self._items_elsewhere(groups):
            for node, i in changes.items():
                groups.move(node, i)
        return [g for g in groups.groups.values() if g.size() and (self.allows_single_node_partition or self._keeps(g))]

    def _items_elsewhere(self, groups: _Groups) -> dict[Node, int | None]:
        """The items of tuples that are not in the group of the tuple, with that group."""
        found: dict[Node, int | None] = {}
        for node in self.graph_module.graph.nodes:
            if all(user.op == "call_function" and user.target is operator.getitem for user in node.users):
                i = groups.of.get(node)
                found.update({user: i for user in node.users if groups.of.get(user) != i})
        return found

    def _keeps(self, group: Partition) -> bool:
        names = [_name(node) for node in group.nodes if node.op == "call_function"]
        idle = {"torch.ops.aten.view", "_operator.getitem", *self.non_compute_ops}
        return sum((n not in idle) + (n in self.allowed_single_node_partition_ops) for n in names) > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Make each group a call of a submodule."""
        return fuse_by_partitions(self.graph_module, [p.nodes for p in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Take from each group what computes nothing and stands at its border."""
        for group in partitions:
            inside = set(group.nodes)
            removed: set[Node] = set()

            def at_border(node: Node, next_to: str, inside: Any = inside, removed: Any = removed) -> bool:
                if node.op == "placeholder" or node not in inside or node in removed:
                    return True
                near = node.all_input_nodes if next_to == "inputs" else list(node.users)
                return self._computes_nothing(node) and all(at_border(n, next_to) for n in near)

            for node in group.nodes:
                if self._computes_nothing(node) and (at_border(node, "inputs") or at_border(node, "users")):
                    removed.add(node)
            for node in removed:
                group.nodes.pop(node)

    def _computes_nothing(self, node: Node) -> bool:
        return node.op == "call_function" and _name(node) in self.non_compute_ops

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Group the nodes and make each group a call of a submodule."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


def _name(node: Node) -> str:
    return "_operator.getitem" if node.target is operator.getitem else qualified_name(node.target)


class _Groups:
    """The groups so far, and which of them lead to which."""

    def __init__(self, module: GraphModule) -> None:
        self.groups: dict[int, Partition] = {}
        self.of: dict[Node, int] = {}
        self.first: dict[int, int] = {}  # the first number that a group's nodes had
        self.users: dict[int, set[Node]] = {}
        self.after: dict[int, set[int]] = defaultdict(set)  # the groups that a group leads to
        self.below: dict[Node, set[Node]] = {}  # all that a node leads to
        for node in reversed(module.graph.nodes):
            self.below[node] = set(node.users).union(*[self.below[user] for user in node.users])
        self.count = 0

    def _groups_below(self, nodes: Iterable[Node], without: set[int]) -> set[int]:
        found: set[int] = set()
        for node in nodes:
            for other in chain((node,), self.below[node]):
                if other in self.of:
                    found |= {self.of[other]} | self.after[self.of[other]]
        return found - without

    def start(self, node: Node, place: int) -> int:
        """A new group of one node."""
        i, self.count = self.count, self.count + 1
        self.groups[i], self.of[node], self.first[i] = Partition(i, [node], [place]), i, i
        self.users[i] = set(node.users)
        self.after[i] |= self._groups_below(node.users, {i})
        return i

    def join(self, i: int, j: int) -> int:
        """Make two groups one, unless a path would leave it and come back; the group that there is then."""
        inside = self.groups[i].nodes.keys() | self.groups[j].nodes.keys()
        users = (self.users[i] | self.users[j]) - inside
        for user in users:
            for node in chain((user,), self.below[user]):
                if node in inside or (node in self.of and {i, j} & self.after[self.of[node]]):
                    return i
        if self.groups[i].size() < self.groups[j].size():
            i, j = j, i
        gone = self.groups.pop(j)
        self.groups[i].nodes.update(gone.nodes)
        self.of.update(dict.fromkeys(gone.nodes, i))
        self.first[i] = min(self.first[i], self.first.pop(j))
        self.users[i] = users
        del self.users[j]
        self.after[i] = (self.after[i] | self.after.pop(j, set()) | self._groups_below(users, {i, j})) - {i, j}
        return i

    def move(self, node: Node, i: int | None) -> None:
        """Put a node into another group, or into none."""
        if node in self.of:
            self.groups[self.of.pop(node)].remove_node(node)
        if i is not None:
            self.of[node] = i
            self.groups[i].add_node(node)

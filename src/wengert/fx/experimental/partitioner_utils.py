"""What ``accelerator_partitioner`` counts with: parts of a graph, devices, and how long both take."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from ..node import Node

__all__: list[str] = []

_NO_CALLS = ("placeholder", "get_attr")


class Partition:
    """Nodes that run on the same device.

    Attributes:
        nodes: the calls, and the inputs and attributes that they take.
        used_mem_bytes: the bytes of their values and parameters, and of the values that come from other parts.
        logical_device_ids: the devices; more than one hold copies.
    """

    def __init__(self, partition_id: int) -> None:
        self.partition_id = partition_id
        self.nodes: set[Node] = set()
        self.parents: set[Partition] = set()
        self.children: set[Partition] = set()
        self.bfs_level = -1
        self.used_mem_bytes = 0
        self.left_mem_bytes = 0
        self.logical_device_ids: list[int] = []

    def __str__(self) -> str:
        return str(self.partition_id)

    def recalculate_mem_size(self) -> None:
        """Count the bytes anew."""
        self.used_mem_bytes = sum(get_extra_size_of(node, self.nodes) for node in self.nodes)

    def add_node(self, node: Node) -> None:
        """Add a call, with its inputs that are no calls."""
        self.nodes |= {node, *(n for n in node.all_input_nodes if n.op in _NO_CALLS)}
        self.recalculate_mem_size()

    def remove_node(self, node: Node) -> None:
        """Remove a call, and those of its inputs that nothing else here takes."""
        if node in self.nodes:
            self.nodes.remove(node)
            self.nodes -= {n for n in node.all_input_nodes if n.op in _NO_CALLS and self.nodes.isdisjoint(n.users)}
            self.recalculate_mem_size()


class Device(NamedTuple):
    """A device with its memory."""

    name: str
    available_mem_bytes: int
    logical_id: int


class NodeLatency(NamedTuple):
    """The seconds that a node needs for its memory and for its computation."""

    mem_latency_sec: float
    computer_latency_sec: float


class PartitionLatency(NamedTuple):
    """The seconds of a part's longest path: those for memory, those for computation, and the greater of both."""

    mem_latency_sec: float
    computer_latency_sec: float
    overall_latency_sec: float


class PartitionMode(Enum):
    """How a graph is divided."""

    size_based = 0
    sparse_nn = 1
    cost_aware = 2
    kl_based = 3
    aot_based = 4


class PartitionerConfig(NamedTuple):
    """The devices, how to divide the graph, and what that needs."""

    devices: list[Device]
    mode: PartitionMode = PartitionMode.size_based
    transfer_rate_bytes_per_sec: float = 0.0
    node_to_latency_mapping: dict[Node, NodeLatency] = {}
    node_to_partition_mapping: dict[Node, int] = {}
    partition_to_logical_device_mapping: dict[int, list[int]] = {}
    saturate_host: bool = False


def _bytes_of(node: Node) -> Any:
    size = getattr(node, "size_bytes", None)
    if not size:
        raise RuntimeError("node has no size_bytes attr")
    return size


def get_extra_size_of(node: Node, nodes: set[Node]) -> int:
    """The bytes that a set of nodes needs in addition for one more: its own, and those of inputs outside of the set.

    Raises:
        RuntimeError: ``get_size_of_all_nodes`` did not run.
    """
    return sum(_bytes_of(n).output_size for n in node.all_input_nodes if n not in nodes) + _bytes_of(node).total_size


def get_latency_of_one_partition(
    partition: Partition, node_to_latency_mapping: dict[Node, NodeLatency]
) -> PartitionLatency:
    """The seconds of a part's longest path."""
    nothing = PartitionLatency(0.0, 0.0, 0.0)

    def longest_from(node: Node, before: PartitionLatency) -> PartitionLatency:
        latency = node_to_latency_mapping[node]
        after = PartitionLatency(*(a + b for a, b in zip(before, [*latency, max(latency)], strict=True)))
        ways = [longest_from(user, after) for user in node.users if user in partition.nodes]
        return max(ways, key=lambda way: way.overall_latency_sec, default=after)

    calls = {n for n in partition.nodes if n.op not in _NO_CALLS}
    starts = [n for n in calls if calls.isdisjoint(n.all_input_nodes)]
    return max([longest_from(n, nothing) for n in starts], key=lambda way: way.overall_latency_sec, default=nothing)


def get_partition_to_latency_mapping(
    partitions: list[Partition], node_to_latency_mapping: dict[Node, NodeLatency]
) -> dict[Partition, PartitionLatency]:
    """The seconds of each part."""
    return {part: get_latency_of_one_partition(part, node_to_latency_mapping) for part in partitions}


def get_comm_latency_between(
    parent_partition: Partition, child_partition: Partition, transfer_rate_bytes_per_sec: float
) -> float:
    """The seconds that values take from one part to another: none on the same device."""
    devices = parent_partition.logical_device_ids
    if devices and devices == child_partition.logical_device_ids:
        return 0.0
    sent = {n for node in child_partition.nodes for n in node.all_input_nodes if n in parent_partition.nodes}
    sizes = [getattr(n, "size_bytes", None) for n in sent]
    return sum(size.output_size for size in sizes if size is not None) / transfer_rate_bytes_per_sec


def get_latency_of_partitioned_graph(
    partitions: list[Partition],
    partition_to_latency_mapping: dict[Partition, PartitionLatency],
    transfer_rate_bytes_per_sec: float,
) -> float:
    """The seconds of the longest path from part to part."""

    def longest_from(part: Partition, before: float) -> float:
        after = before + partition_to_latency_mapping[part].overall_latency_sec
        return max(
            (
                longest_from(child, after + get_comm_latency_between(part, child, transfer_rate_bytes_per_sec))
                for child in part.children
            ),
            default=after,
        )

    return max((longest_from(part, 0.0) for part in partitions if not part.parents), default=0.0)

"""``Partitioner``: a graph divided into submodules that fit into the memories of several devices.

There are no such devices here; what is made is the division, as PyTorch makes it, and its plan.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ..graph_module import GraphModule
from ..node import Node
from ..passes.graph_manipulation import get_size_of_all_nodes
from ..passes.split_module import split_module
from ..passes.tools_common import CALLABLE_NODE_OPS
from .partitioner_utils import (
    Device,
    NodeLatency,
    Partition,
    PartitionerConfig,
    PartitionMode,
    get_extra_size_of,
    get_latency_of_partitioned_graph,
    get_partition_to_latency_mapping,
)

__all__: list[str] = []


class DAGNode:
    """A part in the plan."""

    def __init__(
        self, submodule_node: Node, input_nodes: list[Node], output_nodes: list[Node], logical_device_ids: list[int],
        size_bytes: int,
    ) -> None:  # fmt: skip
        self.submodule_node, self.input_nodes, self.output_nodes = submodule_node, input_nodes, output_nodes
        self.logical_device_ids, self.size_bytes = logical_device_ids, size_bytes

    def __str__(self) -> str:
        return str(self.submodule_node)


class DAG:
    """The plan: which part runs on which devices."""

    def __init__(self) -> None:
        self.nodes: list[DAGNode] = []

    def create_node(self, *args: Any) -> None:
        """Add a part, with the arguments of ``DAGNode``."""
        self.nodes.append(DAGNode(*args))


class PartitionResult(NamedTuple):
    """The plan, and the module whose submodules are the parts."""

    dag: DAG
    module_with_submodules: GraphModule


# ---- lists of parts
def reset_partition_device(partitions: list[Partition]) -> None:
    """Take the devices away from the parts."""
    for part in partitions:
        part.logical_device_ids = []


def combine_two_partitions(partition_0: Partition, partition_1: Partition, partitions: list[Partition]) -> None:
    """Make one part of two, the last of the list."""
    both = Partition(len(partitions))
    both.nodes = partition_0.nodes | partition_1.nodes
    both.recalculate_mem_size()
    partitions.append(both)
    partitions.remove(partition_0)
    partitions.remove(partition_1)
    reorganize_partitions(partitions)


def set_parents_and_children(partitions: list[Partition]) -> None:
    """Note which part takes values from which."""
    for part in partitions:
        part.children, part.parents = set(), set()
    for part in partitions:
        for node in part.nodes:
            for other in partitions:
                if other is not part and node not in other.nodes and not other.nodes.isdisjoint(node.users):
                    part.children.add(other)
                    other.parents.add(part)


def reorganize_partitions(partitions: list[Partition]) -> None:
    """Number the parts anew, and note which takes values from which."""
    for i, part in enumerate(partitions):
        part.partition_id = i
    set_parents_and_children(partitions)


def get_bfs_level_partition(partitions: list[Partition]) -> None:
    """Note how far each part is from those that take nothing from others."""
    level, now = 0, {part for part in partitions if not part.parents}
    while now:
        for part in now:
            part.bfs_level = level
        now = {child for part in now for child in part.children}
        level += 1


def get_node_to_partition_mapping(partitions: list[Partition]) -> dict[Node, int]:
    """The number of each node's part."""
    return {node: part.partition_id for part in partitions for node in part.nodes}


def get_logical_id_to_device(devices: list[Device]) -> dict[int, Device]:
    """The devices by their numbers."""
    return {device.logical_id: device for device in devices}


def get_device_partition_stats(
    partitions: list[Partition], devices: list[Device]
) -> tuple[dict[Device, list[Partition]], dict[Device, int], list[Partition]]:
    """The parts on each device, the bytes that are left there, and the parts without a device."""
    by_id = get_logical_id_to_device(devices)
    placed: dict[Device, list[Partition]] = {d: [] for d in devices}
    left = {d: d.available_mem_bytes for d in devices}
    for part in partitions:
        for i in part.logical_device_ids:
            placed[by_id[i]].append(part)
            left[by_id[i]] -= part.used_mem_bytes
    return placed, left, [part for part in partitions if not part.logical_device_ids]


def get_device_to_partitions_mapping(partitions: list[Partition], devices: list[Device]) -> bool:
    """Put each part that has no device where it fits most tightly; whether all fit."""
    placed, left, homeless = get_device_partition_stats(partitions, devices)
    for part in homeless:
        for device in sorted(devices, key=lambda d: left[d]):
            there = set().union(*(p.nodes for p in placed[device]))
            needed = part.used_mem_bytes
            if there:
                needed = sum(get_extra_size_of(node, there | part.nodes) for node in part.nodes)
            if needed < left[device]:
                placed[device].append(part)
                part.logical_device_ids.append(device.logical_id)
                left[device] -= needed
                break
        else:
            return False
    return True


def check_dependency(partition: Partition) -> bool:
    """Whether a part takes values that come from itself."""
    seen, waiting = {partition}, [partition]
    while waiting:
        for child in waiting.pop().children:
            if child is partition:
                return True
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


class Partitioner:
    """Divides a graph among devices.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.accelerator_partitioner import Partitioner
    >>> from wengert.fx.experimental.partitioner_utils import Device, PartitionerConfig
    >>> from wengert.fx.passes.graph_manipulation import get_size_of_all_nodes
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    >>> gm = torch.fx.symbolic_trace(net)
    >>> get_size_of_all_nodes(gm, [torch.ones(4)])
    >>> config = PartitionerConfig([Device("a", 130, 0), Device("b", 130, 1)])
    >>> [node.logical_device_ids for node in Partitioner().partition_graph(gm, net, config).dag.nodes]
    [[0], [1]]
    """

    def __init__(self) -> None:
        self.partitions: list[Partition] = []
        self.node_to_partition: dict[Node, int] = {}
        self.devices: list[Device] = []

    def partition_graph(
        self, fx_module: GraphModule, torch_module: Any, partitioner_config: PartitionerConfig
    ) -> PartitionResult:
        """Divide a graph, on which ``ShapeProp`` ran.

        Raises:
            RuntimeError: the devices have too little memory, or there is nothing to run.
        """
        self.graph_module, self.torch_module = fx_module, torch_module
        self.devices = partitioner_config.devices
        if not self.devices:
            raise RuntimeError("No devices")
        get_size_of_all_nodes(fx_module)
        if not self._calls():
            raise RuntimeError("No Partition since no operations in the module")
        self._divide(partitioner_config)
        if partitioner_config.saturate_host:
            self.saturate_host()
        divided = self.do_partition()
        return PartitionResult(self.dump_dag(divided), divided)

    def _divide(self, config: PartitionerConfig) -> None:
        total = sum(node.size_bytes.total_size for node in self.graph_module.graph.nodes if node.op != "output")
        greatest = max(self.devices, key=lambda d: d.available_mem_bytes)
        cost = config.transfer_rate_bytes_per_sec, config.node_to_latency_mapping
        if config.mode is PartitionMode.aot_based:
            self.aot_based_partition(config.node_to_partition_mapping, config.partition_to_logical_device_mapping)
        elif total <= greatest.available_mem_bytes:
            self.find_single_partition(total, logical_device_id=greatest.logical_id)
        elif total > sum(d.available_mem_bytes for d in self.devices):
            raise RuntimeError("Devices do not have enough memory for the module")
        elif config.mode is PartitionMode.sparse_nn:
            if len({d.available_mem_bytes for d in self.devices}) > 1:
                raise RuntimeError("All devices must have same memory size!")
            self.sparse_nn_partition(self.devices[0].available_mem_bytes)
        elif config.mode is PartitionMode.cost_aware:
            self.cost_aware_partition(*cost)
        elif config.mode is PartitionMode.kl_based:
            self.kl_based_partition(*cost)
        else:
            self.size_based_partition()

    def _calls(self) -> list[Node]:
        return [node for node in self.graph_module.graph.nodes if node.op in CALLABLE_NODE_OPS]

    def create_partition(self) -> Partition:
        """A new part, the last."""
        self.partitions.append(Partition(len(self.partitions)))
        return self.partitions[-1]

    def create_single_node_partition(self, node: Node) -> None:
        """A new part of one call."""
        self.create_partition().add_node(node)

    def find_single_partition(self, total_size_of_graph: int, logical_device_id: int = 0) -> None:
        """Put all on one device."""
        part = self.create_partition()
        part.nodes = {node for node in self.graph_module.graph.nodes if node.op != "output"}
        part.used_mem_bytes, part.logical_device_ids = total_size_of_graph, [logical_device_id]
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def size_based_partition(self) -> None:
        """Fill one device after the other; give what is left to devices with room, call by call.

        Raises:
            RuntimeError: a call fits into no device, or what is left finds no room.
        """
        occupied: list[Device] = []

        def device_for(node: Node) -> Device:
            needed = get_extra_size_of(node, set())
            for d in self.devices:
                if d not in occupied and d.available_mem_bytes >= needed:
                    occupied.append(d)
                    return d
            raise RuntimeError(f"{node} is too large to fit any device")

        part = self.create_partition()
        for node in self._calls():
            needed = get_extra_size_of(node, part.nodes)
            full = part.used_mem_bytes and part.left_mem_bytes < needed
            if len(self.partitions) > len(self.devices) or (full and len(self.partitions) == len(self.devices)):
                self.create_single_node_partition(node)
                continue
            if full or not part.used_mem_bytes:
                device = device_for(node)
                if full:
                    part = self.create_partition()
                    needed = get_extra_size_of(node, part.nodes)
                part.left_mem_bytes = device.available_mem_bytes
                part.logical_device_ids.append(device.logical_id)
            part.add_node(node)
            part.left_mem_bytes -= needed
        reorganize_partitions(self.partitions)
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)
        if not get_device_to_partitions_mapping(self.partitions, self.devices):
            raise RuntimeError("Cannot Get a Valid Partition to Logical Device Mapping")

    def saturate_host(self) -> None:
        """Give copies of all parts to devices that have nothing, as often as there are enough of them."""
        placed, left, homeless = get_device_partition_stats(self.partitions, self.devices)
        if homeless:
            raise AssertionError(f"Expect no_device_partitions has 0 device, but get {len(homeless)}")
        used = [d for d in self.devices if placed[d]]
        copies: dict[Device, Device] = {}
        while 2 * len(used) + len(copies) <= len(self.devices):
            idle = [d for d in self.devices if d not in used and d not in copies]
            more: dict[Device, Device] = {}
            for device in used:
                needed = device.available_mem_bytes - left[device]
                fits = [d for d in idle if d.available_mem_bytes >= needed and d not in more]
                if not fits:
                    break
                more[min(fits, key=lambda d: d.available_mem_bytes)] = device
            if len(more) < len(used):
                break
            copies |= more
        for copy, device in copies.items():
            for part in placed[device]:
                part.logical_device_ids.append(copy.logical_id)

    def sparse_nn_partition(self, available_mem_bytes: int) -> None:
        """Divide a graph of embeddings and layers: an embedding part each device, with a copy of all other parts.

        Raises:
            RuntimeError: there are too few devices, or they have too little memory.
        """
        kinds: dict[bool, list[Partition]] = {True: [], False: []}
        embeds = False
        part = self.create_partition()
        for node in self._calls():
            crosses = self._embeds(node) != embeds
            if crosses and part.used_mem_bytes:
                kinds[embeds].append(part)
                part = self.create_partition()
            embeds ^= crosses
            if get_extra_size_of(node, part.nodes) + part.used_mem_bytes > available_mem_bytes:
                kinds[embeds].append(part)
                part = self.create_partition()
                if get_extra_size_of(node, part.nodes) > available_mem_bytes:
                    raise RuntimeError(f"{node.target} is too large to fit into a device")
            part.add_node(node)
        reorganize_partitions(self.partitions)
        kinds[embeds].append(part)
        for kind in (False, True):
            while self._combine_smallest(kinds[kind], available_mem_bytes):
                pass
        layers = sum(p.used_mem_bytes for p in kinds[False])
        if len(kinds[True]) > len(self.devices):
            raise RuntimeError(f"Need {len(kinds[True])} devices, but only {len(self.devices)} provided")
        devices: list[int] = []
        for device, part in zip(self.devices, kinds[True], strict=False):
            if layers + part.used_mem_bytes > available_mem_bytes:
                raise RuntimeError(
                    f"partition_{part.partition_id}(embedding partition) and non embedding partitions can not fit "
                    "into one device"
                )
            part.logical_device_ids = [device.logical_id]
            devices.append(device.logical_id)
        for part in kinds[False]:
            part.logical_device_ids = devices
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def _embeds(self, node: Node) -> bool:
        modules: Any = self.graph_module
        for name in str(node.target).split(".") if node.op == "call_module" else []:
            modules = getattr(modules, name)
            if "Embedding" in str(modules):
                return True
        return False

    def _combine_smallest(self, parts: list[Partition], available_mem_bytes: int) -> bool:
        """Combine the smallest part with the greatest one near it with which it fits."""
        if not parts:
            return False
        get_bfs_level_partition(self.partitions)
        smallest, *others = sorted(parts, key=lambda p: p.used_mem_bytes)
        for part in reversed(others):
            nodes = part.nodes | smallest.nodes
            fits = sum(get_extra_size_of(node, nodes) for node in nodes) <= available_mem_bytes
            if fits and abs(smallest.bfs_level - part.bfs_level) <= 1:
                combine_two_partitions(part, smallest, self.partitions)
                parts.remove(smallest)
                parts.remove(part)
                parts.append(self.partitions[-1])
                return True
        return False

    def _cost(self, partitions: list[Partition], rate: float, latencies: dict[Node, NodeLatency]) -> float:
        return get_latency_of_partitioned_graph(
            partitions, get_partition_to_latency_mapping(partitions, latencies), rate
        )

    def cost_aware_partition(
        self, transfer_rate_bytes_per_sec: float, node_to_latency_mapping: dict[Node, NodeLatency]
    ) -> None:
        """Begin with a part for each call, and combine the two that make the graph fastest, while that helps."""
        for node in self._calls():
            self.create_single_node_partition(node)
        set_parents_and_children(self.partitions)
        get_bfs_level_partition(self.partitions)

        def cost(partitions: list[Partition]) -> float:
            return self._cost(partitions, transfer_rate_bytes_per_sec, node_to_latency_mapping)

        while self._combine_best(cost):
            pass
        reorganize_partitions(self.partitions)
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def _combine_best(self, cost: Callable[[list[Partition]], float]) -> bool:
        if len(self.partitions) == 1:
            return False
        best: tuple[int, int] | None = None
        least = cost(self.partitions)
        for i in range(len(self.partitions) - 1):
            for j in range(i + 1, len(self.partitions)):
                parts = self.partitions[:]
                found = float("inf")
                if self._may_combine(parts[i], parts[j]):
                    combine_two_partitions(parts[i], parts[j], parts)
                    if not check_dependency(parts[-1]) and self._placed(parts):
                        found = cost(parts)
                if found <= least:
                    best, least = (i, j), found
                reorganize_partitions(self.partitions)
        if best is not None:
            combine_two_partitions(self.partitions[best[0]], self.partitions[best[1]], self.partitions)
        get_bfs_level_partition(self.partitions)
        self._placed(self.partitions)
        return best is not None

    def _may_combine(self, p0: Partition, p1: Partition) -> bool:
        return abs(p0.bfs_level - p1.bfs_level) <= 1 or p0 in p1.parents or p0 in p1.children

    def _placed(self, partitions: list[Partition]) -> bool:
        reset_partition_device(partitions)
        return get_device_to_partitions_mapping(partitions, self.devices)

    def kl_based_partition(
        self, transfer_rate_bytes_per_sec: float, node_to_latency_mapping: dict[Node, NodeLatency]
    ) -> None:
        """Divide by size, then exchange or move calls while that makes the graph faster (Kernighan and Lin)."""
        self.size_based_partition()

        def swap(n0: Node | None, n1: Node | None, p0: Partition, p1: Partition) -> None:
            for node, source, sink in ((n0, p0, p1), (n1, p1, p0)):
                if node is not None:
                    source.remove_node(node)
                    sink.add_node(node)
            reorganize_partitions(self.partitions)

        def cost_of(n0: Node, n1: Node | None, p0: Partition, p1: Partition) -> float:
            swap(n0, n1, p0, p1)
            found = float("inf")
            if not check_dependency(p0) and not check_dependency(p1) and self._placed(self.partitions):
                found = self._cost(self.partitions, transfer_rate_bytes_per_sec, node_to_latency_mapping)
            swap(n1, n0, p0, p1)
            self._placed(self.partitions)
            return found

        least = self._cost(self.partitions, transfer_rate_bytes_per_sec, node_to_latency_mapping)
        for node in self._calls():
            p0 = next(part for part in self.partitions if node in part.nodes)
            best: tuple[Node | None, Partition] | None = None
            for p1 in [part for part in self.partitions if part is not p0]:
                for other in [*(n for n in p1.nodes if n.op in CALLABLE_NODE_OPS), None]:
                    found = cost_of(node, other, p0, p1)
                    if found < least:
                        best, least = (other, p1), found
            if best is not None:
                swap(node, best[0], p0, best[1])
                self._placed(self.partitions)
        self._placed(self.partitions)
        self.node_to_partition = get_node_to_partition_mapping(self.partitions)

    def aot_based_partition(
        self, node_to_partition_mapping: dict[Node, int], partition_to_logical_device_mapping: dict[int, list[int]]
    ) -> None:
        """Divide as is said."""
        parts: dict[int, Partition] = {}
        self.node_to_partition = node_to_partition_mapping
        for node, i in node_to_partition_mapping.items():
            if i not in parts:
                parts[i] = Partition(i)
                parts[i].logical_device_ids = partition_to_logical_device_mapping[i]
                self.partitions.append(parts[i])
            parts[i].add_node(node)

    def do_partition(self) -> GraphModule:
        """The module whose submodules are the parts."""
        return split_module(self.graph_module, self.torch_module, lambda node: self.node_to_partition[node])

    def dump_dag(self, module_with_submodules: GraphModule) -> DAG:
        """The plan for a divided module."""
        dag = DAG()
        for node in module_with_submodules.graph.nodes:
            if node.op not in CALLABLE_NODE_OPS or node.target is operator.__getitem__:
                continue
            outputs = list(node.users) if len(node.users) > 1 else [node]
            part = self.partitions[int(node.name.rsplit("_", 1)[-1])]
            dag.create_node(node, list(node.all_input_nodes), outputs, part.logical_device_ids, part.used_mem_bytes)
        return dag

"""Graphs divided among devices, and graphs traced with tensors without data."""

import pickle

import pytest

import wengert as torch
from wengert.fx.experimental import meta_tracer
from wengert.fx.experimental._dynamism import track_dynamism_across_examples
from wengert.fx.experimental.accelerator_partitioner import Partitioner
from wengert.fx.experimental.partitioner_utils import (
    Device,
    NodeLatency,
    PartitionerConfig,
    PartitionMode,
    get_latency_of_partitioned_graph,
    get_partition_to_latency_mapping,
)
from wengert.fx.passes.graph_manipulation import get_size_of_all_nodes


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.first(x)
        return self.second(y) + y


def divided(sizes, **options):
    """The plan, and the partitioner, for devices of these sizes; the divided module gives the same."""
    net, x = Net(), torch.rand(4)
    gm = torch.fx.symbolic_trace(net)
    get_size_of_all_nodes(gm, [x])
    if "latency" in options:
        calls = [n for n in gm.graph.nodes if n.op.startswith("call")]
        options["node_to_latency_mapping"] = dict.fromkeys(calls, NodeLatency(*options.pop("latency")))
    if options.get("mode") is PartitionMode.aot_based:
        calls = [n for n in gm.graph.nodes if n.op.startswith("call")]
        options["node_to_partition_mapping"] = {n: int(i > 0) for i, n in enumerate(calls)}
    partitioner = Partitioner()
    config = PartitionerConfig([Device(f"d{i}", size, i) for i, size in enumerate(sizes)], **options)
    result = partitioner.partition_graph(gm, net, config)
    assert torch.equal(result.module_with_submodules(x), net(x))
    return [node.logical_device_ids for node in result.dag.nodes], partitioner


def test_a_graph_is_divided_by_size() -> None:
    assert divided([1000])[0] == [[0]]
    assert divided([150, 200])[0] == [[0], [1]]
    assert divided([150, 200], mode=PartitionMode.sparse_nn.size_based)[0] == [[0], [1]]


def test_devices_that_are_too_small_are_refused() -> None:
    with pytest.raises(RuntimeError, match="Devices do not have enough memory for the module"):
        divided([20, 30])
    with pytest.raises(RuntimeError, match="too large to fit any device"):
        divided([90] * 5)
    with pytest.raises(RuntimeError, match="All devices must have same memory size!"):
        divided([150, 200], mode=PartitionMode.sparse_nn)


def test_a_part_is_copied_to_devices_with_nothing_to_do() -> None:
    assert divided([150, 200, 150, 200], saturate_host=True)[0] == [[0, 2], [1, 3]]


@pytest.mark.parametrize("mode", [PartitionMode.cost_aware, PartitionMode.kl_based])
def test_a_graph_is_divided_by_its_latency(mode) -> None:
    _, partitioner = divided([180, 200], mode=mode, latency=(1.0, 2.0), transfer_rate_bytes_per_sec=16)
    latencies = {n: NodeLatency(1.0, 2.0) for part in partitioner.partitions for n in part.nodes}
    found = get_partition_to_latency_mapping(partitioner.partitions, latencies)
    assert get_latency_of_partitioned_graph(partitioner.partitions, found, 16) == 7.0


def test_a_division_can_be_given() -> None:
    placed = {0: [3], 1: [4]}
    assert divided([1] * 5, mode=PartitionMode.aot_based, partition_to_logical_device_mapping=placed)[0] == [[3], [4]]


def test_sizes_are_numbers_while_a_program_is_traced() -> None:
    class Branching(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(9, 4)

        def forward(self, i):
            x = self.embedding(i) + torch.arange(4, device=i.device)
            return torch.relu(x) if x.shape[0] < 3 and x.dim() == 2 else x.sum()

    net = Branching()
    for count, target in ((2, torch.relu), (5, "sum")):
        i = torch.arange(count)
        gm = meta_tracer.symbolic_trace(net, {"i": i.to("meta")})
        assert [n.target for n in gm.graph.nodes][-2] == target
        assert torch.equal(gm(i), net(i))
        assert torch.equal(pickle.loads(pickle.dumps(gm))(i), net(i))


def test_sizes_that_differ_among_examples() -> None:
    nets = [{"self": torch.nn.Linear(n, 2), "k": n} for n in (3, 4)]
    found = track_dynamism_across_examples(nets)
    assert found["k"] == {"L['k']": (True,)}
    assert found["self"]["L['self']['_parameters']['weight']"] == (False, True)
    assert found["self"]["L['self']['in_features']"] == (True,)
    assert found["self"]["L['self']['out_features']"] == (False,)

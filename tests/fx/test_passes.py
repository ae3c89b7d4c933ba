"""torch.fx.passes and torch.fx.experimental: shapes, parts, pictures, passes in order, layers merged."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

import wengert as torch
from wengert import fx, nn
from wengert.fx.experimental.normalize import NormalizeArgs, NormalizeOperators
from wengert.fx.experimental.optimization import extract_subgraph, fuse, remove_dropout
from wengert.fx.experimental.rewriter import RewritingTracer
from wengert.fx.passes.graph_drawer import FxGraphDrawer
from wengert.fx.passes.graph_manipulation import get_size_of_all_nodes, replace_target_nodes_with
from wengert.fx.passes.infra.pass_base import PassBase, PassResult
from wengert.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint
from wengert.fx.passes.shape_prop import ShapeProp
from wengert.fx.passes.split_module import split_module
from wengert.fx.passes.tools_common import legalize_graph


class Model(nn.Module):
    """Two linear layers, a parameter and a result in two parts."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 5)
        self.scale = nn.Parameter(torch.randn(5))

    def forward(self, x: Any) -> Any:
        hidden = self.first(x).clamp(min=0.0) * self.scale
        return self.second(hidden) + hidden, hidden.sum()


@pytest.mark.parametrize("how", [{}, {"keep_original_order": True}, {"keep_original_node_name": True},
                                 {"keep_original_input_name": False}, {"tuple_return": True}])  # fmt: skip
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_parts_compute_what_the_whole_does(how: dict[str, Any], parts: int) -> None:
    model, x = Model(), torch.randn(3, 4)
    gm = fx.symbolic_trace(model)
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    names: dict[str, str] = {}
    split = split_module(gm, model, lambda node: order[node] * parts // len(order), names, **how)
    assert len(list(split.children())) == len(split.meta["partition_names"])
    assert set(names.values()) == {"first", "second"}
    split.graph.lint()
    for a, b in zip(split(x), model(x), strict=True):
        assert torch.equal(a, b)


def test_parts_that_need_each_other_are_refused() -> None:
    gm = fx.symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    with pytest.raises(RuntimeError, match="cycle exists between partitions"):
        split_module(gm, gm, lambda node: node.name == "mul")


def test_shapes_are_noted_and_printed() -> None:
    gm = fx.symbolic_trace(Model())
    ShapeProp(gm).propagate(torch.ones(3, 4))
    meta = gm.graph.find_nodes(op="call_module", target="first")[0].meta["tensor_meta"]
    assert (meta.shape, meta.dtype, meta.stride) == ((3, 5), torch.float32, (5, 1))
    assert meta.memory_format is torch.contiguous_format
    assert 'first: "f32[3, 5]" = self.first(x)' in gm.print_readable(print_output=False)
    get_size_of_all_nodes(gm)
    assert gm.graph.find_nodes(op="call_module", target="first")[0].size_bytes == (60, 4 * (15 + 20 + 5))
    with pytest.raises(RuntimeError, match="ShapeProp error for"):
        ShapeProp(gm).propagate(torch.ones(3, 3))


def test_a_picture_is_sound_xml_with_a_box_for_each_node() -> None:
    gm = fx.symbolic_trace(Model())
    drawing = FxGraphDrawer(gm, "model").get_dot_graph()
    svg = ElementTree.fromstring(drawing.create_svg())
    boxes = [e for e in svg.iter("{http://www.w3.org/2000/svg}rect") if e.get("rx")]
    assert len(boxes) == len(gm.graph.nodes) == drawing.to_string().count("[label=")


def test_layers_are_merged_and_left_out() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout()).eval()
    with torch.no_grad():
        model[1].running_mean.add_(0.5)
    x = torch.randn(2, 1, 5, 5)
    merged = fuse(model)
    assert [name for name, _ in merged.named_children()] == ["0", "2", "3"]
    torch.testing.assert_close(merged(x), model(x))
    assert [name for name, _ in remove_dropout(model).named_children()] == ["0", "1", "2"]
    gm = fx.symbolic_trace(lambda x: (x + 1).relu() * 2)
    _, add, relu, _, _ = gm.graph.nodes
    assert float(extract_subgraph(gm, [relu], [add], [relu])(torch.tensor(-1.0))[0]) == 0.0


def test_passes_run_in_an_allowed_order_until_nothing_changes() -> None:
    log: list[str] = []

    class Twice(PassBase):
        """Changes something two times."""

        def call(self, graph_module: Any) -> PassResult:
            log.append("Twice")
            return PassResult(graph_module, log.count("Twice") < 3)

    def first(gm: Any) -> PassResult:
        log.append("first")
        return PassResult(gm, False)

    twice = Twice()
    gm = fx.symbolic_trace(lambda x: x + 1)
    manager = PassManager([twice, first], [this_before_that_pass_constraint(first, twice)], steps=10)
    assert manager(gm).modified
    assert log == ["first", "Twice"] * 3
    with pytest.raises(RuntimeError, match="Circular dependency"):
        PassManager([twice, first], [lambda a, b: False])(gm)
    with pytest.raises(Exception, match="An error occurred when running the '<lambda>' pass"):
        PassManager([lambda gm: 3])(gm)
    assert pass_result_wrapper(lambda gm: None)(gm) == (gm, True)


def test_graphs_are_normalized_and_put_in_order() -> None:
    gm = fx.symbolic_trace(lambda x: torch.add(x, nn.functional.relu(x)))
    assert "relu(input = x, inplace = False)" in NormalizeArgs(gm).transform().code
    assert "add = x + relu" in NormalizeOperators(gm).transform().code
    replace_target_nodes_with(gm, "call_function", torch.add, "call_function", torch.mul)
    assert float(gm(torch.tensor(3.0))) == 9.0
    x, relu, _, _ = gm.graph.nodes
    relu.append(x)
    legalize_graph(gm).graph.lint()


def test_asserts_are_rewritten() -> None:
    def f(x: Any) -> Any:
        assert x.sum() > 0, "negative"
        return x

    graph = RewritingTracer().trace(f)
    assert len(graph.find_nodes(op="call_function", target=torch._assert)) == 1

"""torch.fx: graphs and nodes, the code written from them, and graph modules copied, pickled and saved."""

from __future__ import annotations

import copy
import doctest
import io
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import wengert as torch
from wengert import fx, nn
from wengert.fx.immutable_collections import immutable_dict, immutable_list

F, CPU = nn.functional, torch.device("cpu")


class Pair(NamedTuple):
    """A container that a traced function makes."""

    left: Any
    right: Any


@fx.wrap
def leaf(x: Any) -> Any:
    """A function that stays one call."""
    return x + 1


fx.wrap("len")


class Model(nn.Module):
    """Parameters, buffers, layers, a wrapped function, a function of `math`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.seq = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x: torch.Tensor) -> Any:
        y = self.seq(self.linear(x) * self.scale + self.shift)
        return leaf(y) / math.sqrt(len(x))


def chain() -> fx.Graph:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(torch.tanh, (graph.call_method("relu", (x,)),)))
    return graph


def test_the_code_does_what_the_module_does() -> None:
    model, x = Model(), torch.randn(4, 3)
    gm = fx.symbolic_trace(model)
    assert torch.equal(gm(x), model(x))
    assert {name for name, _ in gm.named_parameters()} == {name for name, _ in model.named_parameters()}
    gm.graph.lint()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda gm: pickle.loads(pickle.dumps(gm)), lambda gm: saved(gm)]
)
def test_a_copy_has_the_same_code_and_values(copied: Any) -> None:
    gm, x = fx.symbolic_trace(Model()), torch.randn(4, 3)
    made = copied(gm)
    assert made.code == gm.code
    assert str(made.graph) == str(gm.graph)
    assert torch.equal(made(x), gm(x))


def saved(gm: Any) -> Any:
    file = io.BytesIO()
    torch.save(gm, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def test_a_file_with_code_is_refused_where_only_weights_are_wanted() -> None:
    file = io.BytesIO()
    torch.save(fx.symbolic_trace(Model()), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)


def test_a_deep_copy_shares_nothing() -> None:
    gm = fx.symbolic_trace(Model())
    made = copy.deepcopy(gm)
    with torch.no_grad():
        made.scale.zero_()
    made.graph.erase_node(made.graph.output_node())
    assert float(gm.scale.sum()) == 3.0
    assert gm.graph.output_node().op == "output"


def test_a_folder_is_a_package_with_the_module(tmp_path: Path) -> None:
    gm, x = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU())), torch.randn(4, 3)
    with pytest.warns(UserWarning, match="saved as pickled files instead"):
        gm.to_folder(tmp_path / "made_by_fx", "Made")
    sys.path.insert(0, str(tmp_path))
    try:
        from made_by_fx import Made  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(tmp_path))
    assert torch.equal(Made()(x), gm(x))


def test_nodes_are_moved_replaced_and_erased() -> None:
    graph = chain()
    x, relu, tanh, output = graph.nodes
    with graph.inserting_after(relu):
        exp = graph.call_function(torch.exp, (relu,))
    assert list(graph.nodes) == [x, relu, exp, tanh, output] == sorted({*graph.nodes})
    tanh.replace_all_uses_with(exp)
    assert (list(tanh.users), list(exp.users), list(relu.users)) == ([], [output], [tanh, exp])
    graph.erase_node(tanh)
    assert (list(relu.users), len(graph.nodes)) == ([exp], 4)
    assert graph.find_nodes(op="call_function", target=torch.exp) == [exp]
    exp.target = torch.sin
    assert graph.find_nodes(op="call_function", target=torch.exp) == []
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(relu)


def test_arguments_cannot_be_changed_in_place() -> None:
    graph = fx.Graph()
    node = graph.call_function(torch.cat, ([graph.placeholder("x")],), {"dim": 0})
    assert type(node.args[0]) is immutable_list
    assert type(node.kwargs) is immutable_dict
    with pytest.raises(TypeError, match="does not support mutation"):
        node.args[0].append(1)
    with pytest.raises(TypeError, match="does not support mutation"):
        node.kwargs["dim"] = 1
    node.update_kwarg("dim", 1)
    assert node.kwargs == {"dim": 1}


def test_names_are_unique_and_shadow_nothing() -> None:
    graph = fx.Graph()
    names = [graph.create_node("placeholder", "x", name=n).name for n in ("a", "a", "a_1", "for", "len", "1x", "b.c")]
    assert names == ["a", "a_1", "a_2", "for_1", "len_1", "_1x", "b_c"]


def test_lint_finds_what_is_wrong() -> None:
    graph = chain()
    x, relu, *_ = graph.nodes
    relu.append(x)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    other = fx.Graph()
    other.call_function(torch.relu, (x,))
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        other.lint()
    gm = fx.symbolic_trace(Model())
    gm.graph.find_nodes(op="call_module", target="linear")[0].target = "absent"
    with pytest.raises(RuntimeError, match="references nonexistent attribute absent"):
        gm.graph.lint()


def test_dead_code_goes_and_effects_stay() -> None:
    def f(x: Any) -> Any:
        torch.relu(x)
        torch._assert(x.sum() > 0, "negative")
        torch.rand_like(x)
        return x + 1

    gm = fx.symbolic_trace(f)
    assert gm.graph.eliminate_dead_code()
    assert [n.name for n in gm.graph.nodes] == ["x", "sum_1", "gt", "_assert", "rand_like", "add", "output"]
    assert not gm.graph.eliminate_dead_code()


def test_what_is_not_a_number_is_written_as_python() -> None:
    def f(x: Any, d: Any = torch.float64, s: Any = slice(1, 2), e: Any = CPU) -> Any:
        return Pair(x, (float("inf"), float("nan"), s)), d, e

    gm = fx.symbolic_trace(f)
    (left, (infinite, nan, s)), d, e = gm(3)
    assert (left, infinite, s, d, e) == (3, math.inf, slice(1, 2), torch.float64, CPU)
    assert math.isnan(nan)
    assert pickle.loads(pickle.dumps(gm)).code == gm.code


def test_hooks_are_told_of_changes() -> None:
    log: list[tuple[str, ...]] = []
    gm = fx.GraphModule({}, chain())
    gm._register_create_node_hook(lambda n: log.append(("made", n.name)))
    gm._register_erase_node_hook(lambda n: log.append(("erased", n.name)))
    x, relu, tanh, _ = gm.graph.nodes
    with gm._set_replace_hook(lambda old, new, user: log.append((old.name, new, user.name))):
        with gm.graph.inserting_after(x):
            exp = gm.graph.call_function(torch.exp, (x,))
        relu.replace_all_uses_with(exp)
        gm.graph.erase_node(relu)
        exp.name = "renamed"
    assert log == [("made", "exp"), ("relu", "exp", "tanh"), ("erased", "relu"), ("exp", "renamed", "tanh")]
    assert tanh.args == (exp,)


def test_an_error_in_generated_code_shows_its_lines(capsys: Any) -> None:
    def f(x: Any) -> Any:
        return x.absent(1)

    with pytest.raises(AttributeError, match="absent"):
        fx.symbolic_trace(f)(torch.ones(1))
    shown = capsys.readouterr().err
    assert "line 5 of the traced Module's generated forward function" in shown
    assert "<--- HERE" in shown


def test_the_module_is_imported_when_it_is_asked_for() -> None:
    program = "import sys, wengert; assert 'wengert.fx' not in sys.modules; wengert.fx.Graph()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_page_in_docs_does_what_it_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "fx.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 5) == (0, True)

"""Files of programs: they come back the same, and hostile ones run nothing."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import random
from typing import Any

import pytest

import wengert as torch
from wengert.export import _files

nn = torch.nn
CLEAR = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError)


@functools.cache
def small() -> Any:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 2)

        def forward(self, x: Any, flag: bool = True) -> Any:
            y = self.linear(x).view(x.shape[0] * 2, -1).to(torch.float64)
            return {"y": y * float("inf"), "z": [x.max(1)[0], torch.zeros(2) + torch.tensor(1.0)]}

    return torch.export.export(M(), (torch.ones(4, 3), True), dynamic_shapes=({0: torch.export.Dim("b")}, None))


def read(obj: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.export.load(file)


def written(program: Any) -> dict[str, Any]:
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.load(file)  # type: ignore[no-any-return]


def test_a_program_comes_back_the_same() -> None:
    program = small()
    again = read(written(program))
    assert str(again) == str(program) and again.range_constraints == program.range_constraints
    x = torch.randn(6, 3)
    assert torch.equal(again.module()(x, True)["z"][0], program.module()(x, True)["z"][0])
    with pytest.raises(AssertionError, match="Guard failed"):
        again.module()(torch.ones(6, 4), True)
    with pytest.raises(AssertionError, match="Guard failed"):
        again.module()(torch.ones(6, 3), False)


def test_values_of_many_dimensions_come_back() -> None:
    program = torch.export.export(nn.ReLU(), (torch.empty(8, 64, 32, 112, 112, device="meta"),))
    assert str(read(written(program))) == str(program)  # the product of its strides has 64 bits


def test_extra_files_and_other_files() -> None:
    file = io.BytesIO()
    torch.export.save(small(), file, extra_files={"note": "text"})
    file.seek(0)
    extra = {"note": "", "none": "x"}
    torch.export.load(file, extra_files=extra)
    assert extra == {"note": "text", "none": "x"}
    with pytest.raises(RuntimeError, match="not a program"):
        read({"a": torch.ones(2)})
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram'"):
        torch.export.save(nn.ReLU(), file)


@pytest.mark.parametrize(
    "target",
    ["aten.nothing.default", "aten.linear.out", "os.system", "builtins.eval", "operator.attrgetter", "aten.__class__.x",
     "aten._find_public.default", "aten..default", "aten.from_file.default", "torch.load", "x" * 100_000, ""],
)  # fmt: skip
def test_an_operator_that_is_not_known_is_refused(target: str) -> None:
    data = written(small())
    next(n for n in data["nodes"] if n["op"] == "call_function")["target"] = target
    with pytest.raises(RuntimeError, match=r"the operator .* is not known") as raised:
        read(data)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("name", ["a; import os", "a\n", "lambda", "__class__", "torch", "", "é", 3, None, "a" * 300])
def test_names_are_identifiers(name: Any) -> None:
    for kind in ("placeholder", "call_function"):
        data = written(small())
        node = next(n for n in data["nodes"] if n["op"] == kind)
        node["name"] = name
        if kind == "placeholder":
            data["inputs"][0]["name"] = name
        with pytest.raises(RuntimeError, match=r"torch\.export\.load: the file is damaged"):
            read(data)


def test_lines_of_the_program_stay_in_comments(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    data = written(small())
    said = "x\r__import__('os')\x1b[2J"
    for node in data["nodes"]:
        node["stack_trace"] = f'File "{said}", line 1, in f\n  """;print(1);"""'
    shown = read(data).module().print_readable(print_output=False)
    assert "\r" not in shown and "\x1b" not in shown and r"x\r__import__('os')\x1b[2J" in shown
    monkeypatch.setenv("FX_GRAPH_SHOW_META", "1")
    read(data).module()(torch.ones(4, 3), True)
    assert not capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["quint8", "bits8", "float8_e4m3fn", "complex32", "uint1", "Tensor", "nothing"])
def test_no_value_has_a_dtype_that_tensors_cannot_have(dtype: str) -> None:
    data = written(small())
    node = next(n for n in data["nodes"] if "val" in n)
    node["val"][2] = dtype
    with pytest.raises(RuntimeError, match=r"torch\.export\.load: the file is damaged"):
        read(data)


def test_one_long_text_is_not_written_at_each_place() -> None:
    """The file has it once: what is made of the file would have it for each node."""
    said = "x\n" * 10_000
    data = written(small())
    for node in data["nodes"]:
        node["stack_trace"] = said
    program = _files._Reader(data).program()
    assert sum(len(n.stack_trace or "") for n in program.graph.nodes) < 5001 * len(data["nodes"])
    call = next(n for n in data["nodes"] if n["op"] == "call_function")
    call["args"] = {"tuple": [said, said]}
    with pytest.raises(RuntimeError, match="a container is there twice"):
        _files._Reader(data).program()


def test_other_texts_that_code_is_written_from() -> None:
    def changed(change: Any) -> None:
        data = written(small())
        change(data)
        with pytest.raises(RuntimeError, match=r"torch\.export\.load: the file is damaged"):
            _files._Reader(data).program()

    call = next(i for i, n in enumerate(written(small())["nodes"]) if n["op"] == "call_function")
    evil = 'x"); import os; ("'
    changed(lambda d: d["nodes"][call]["kwargs"].update({evil: 1}))
    changed(lambda d: d["nodes"][call].update(op="get_attr"))
    changed(lambda d: d["nodes"][call].update(args=[1]))
    changed(lambda d: d["nodes"][call].update(args={"node": 0}))
    changed(lambda d: d["nodes"][call].update(args={"tuple": [{"node": 99}]}))
    changed(lambda d: d["nodes"][call].update(args={"tuple": [{"dtype": "load"}]}))
    changed(lambda d: d["nodes"][call].update(args={"tuple": [{"device": evil}]}))
    changed(lambda d: d["inputs"][0].update(target=evil))
    changed(lambda d: d["inputs"][0].update(target="__class__.a"))
    changed(lambda d: d["inputs"][0].update(kind="OTHER"))
    changed(lambda d: d.update(in_spec={"tuple": [None]}))
    changed(lambda d: d.update(in_spec={"tuple": [{"tuple": [None, None]}, {"dict": [[evil, None]]}]}))
    changed(lambda d: d.update(name=evil))
    changed(lambda d: d["dynamic"].append([0, 0, evil]))
    changed(lambda d: d["nodes"][0].update(val=[[1 << 60], [1], "float32"]))
    changed(lambda d: d["nodes"][0].update(val=[[1 << 30, 1 << 30], [1, 1], "float32"]))
    changed(lambda d: d["nodes"][0].update(val=[[1 << 39] * 200_000, [1], "float32"]))  # a product of hours
    changed(lambda d: d["nodes"][call].update(args={"tuple": [10**5000]}))  # no text of it can be written
    changed(lambda d: d["nodes"][0].update(val=[[1 << 25, 1 << 24], [1 << 49, 1 << 49], "float32"]))
    changed(lambda d: d["nodes"][0].update(symbolic_shape=[1] * 10_000))  # of each of many nodes
    changed(lambda d: d["nodes"][0].update(symbolic_shape=[10**5000, 1]))
    changed(lambda d: d["nodes"][call]["kwargs"].update({10**5000: 1}))
    changed(lambda d: d["dynamic"].append([0, 10**5000, "b"]))
    changed(lambda d: d.update(ranges={"s0": [0, 10**5000]}))
    changed(lambda d: d["inputs"][0].update(target="_modules"))
    changed(lambda d: d["tensors"].update({"forward": torch.ones(1)}))
    changed(lambda d: d["tensors"].update({"a": torch.ones(1), "a.b": torch.ones(1)}))
    for kind, items in (("tuple", lambda x: [x, x]), ("dict", lambda x: [["a", x], ["b", x]])):
        shared: Any = None
        for _ in range(48):  # 2**48 values
            shared = {kind: items(shared)}
        changed(lambda d, shared=shared: d.update(outputs=[shared]))
        changed(lambda d, shared=shared: d.update(in_spec={"tuple": [{"tuple": [shared]}, {"dict": []}]}))
    endless: Any = ()
    for _ in range(60):  # its text has 2**60 letters
        endless = (endless, endless)
    changed(lambda d: d.update(parameters=[endless]))
    changed(lambda d: d.update(parameters=["x", "x"]))
    deep: Any = None
    for _ in range(60):
        deep = {"list": [deep]}
    changed(lambda d: d["nodes"][call].update(args={"tuple": [deep]}))
    changed(lambda d: d.update(out_spec=deep))


def test_random_changes_are_clear_errors_or_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and keys anywhere in a file are changed for others; what loads is of known operators only."""
    base = written(small())
    tensors = base.pop("tensors")
    values: list[Any] = [
        None,
        True,
        -1,
        3,
        1 << 70,
        2.5,
        "x",
        "aten.add.Tensor",
        [],
        {},
        [[]],
        {"node": 1},
        {"list": [1]},
        torch.ones(1),
    ]
    random.seed(0)

    def places(tree: Any, found: list[Any]) -> list[Any]:
        for key in range(len(tree)) if isinstance(tree, list) else list(tree):
            found.append((tree, key))
            if isinstance(tree[key], (list, dict)):
                places(tree[key], found)
        return found

    loaded = 0
    for _ in range(300):
        data = copy.deepcopy(base)
        for _ in range(random.choice((1, 1, 2))):
            container, key = random.choice(places(data, []))
            container[key] = random.choice(values)
        data["tensors"] = tensors
        try:
            program = _files._Reader(data).program()
        except CLEAR:
            continue
        loaded += 1
        for node in program.graph.nodes:
            assert node.op != "call_function" or type(node.target).__name__ == "OpOverload" or node.target in (
                *_files._PYTHON.values(), torch._C._set_grad_enabled,
            )  # fmt: skip
    assert 0 < loaded < 300


class Branches(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


def test_functions_in_files_are_graphs_of_operators() -> None:
    def changed(change: Any) -> None:
        data = written(torch.export.export(Branches(), (torch.ones(2),)))
        by_name = {n["name"]: n for n in data["nodes"]}
        change(data, by_name)
        with pytest.raises(RuntimeError, match=r"torch\.export\.load: "):
            read(data)

    changed(lambda data, nodes: nodes["cond"]["args"]["tuple"].__setitem__(1, {"node": 0}))
    changed(lambda data, nodes: nodes["cond"]["args"]["tuple"].__setitem__(3, 5))
    changed(lambda data, nodes: nodes["cond"]["args"]["tuple"].__setitem__(3, {"tuple": [1]}))
    changed(lambda data, nodes: nodes["cond"].update(target="higher_order.eval"))
    changed(lambda data, nodes: nodes["cond"].update(target="higher_order.while_loop"))
    for name in ("forward", "graph", "code", "meta", "recompile", "print_readable"):  # what a module has, or its class
        changed(lambda data, nodes, name=name: nodes["true_graph_0"].update(name=name))
    changed(lambda data, nodes: nodes["true_graph_0"].pop("nodes"))
    changed(lambda data, nodes: nodes["true_graph_0"].update(outputs={"tuple": [1]}))
    changed(lambda data, nodes: nodes["true_graph_0"]["nodes"].reverse())
    changed(lambda data, nodes: nodes["true_graph_0"]["nodes"][1].update(target="os.system"))
    changed(lambda data, nodes: nodes["true_graph_0"]["nodes"].append(nodes["true_graph_0"]))
    changed(lambda data, nodes: data["nodes"].append({"name": "c", "op": "placeholder"}))

"""`wengert.explain`: each answer names the cause that the program was written to have."""

from __future__ import annotations

import gc
import json
import linecache
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import wengert as T
from wengert import explain
from wengert.explain._cause import causes
from wengert.explain._facts import in_order

HERE = Path(__file__).name


def line(text: str) -> str:
    """The place of the line of this file that ends with a mark: ``test_explain.py:40``."""
    lines = Path(__file__).read_text().splitlines()
    return f"{HERE}:{next(n for n, row in enumerate(lines, 1) if row.endswith('# ' + text))}"


# --------------------------------------------------------------------------------------------------------- about, none
def test_a_result_names_its_line_and_its_leaves() -> None:
    w = T.ones(3, requires_grad=True)
    b = T.ones(1, requires_grad=True)
    y = w * 2 + b  # made here
    text = str(explain(y))
    assert "made by AddBackward0" in text and line("made here") in text
    assert "2 operations, 2 leaves" in text and "w" in text and "b" in text


def test_a_tensor_that_is_no_leaf() -> None:
    w = T.ones(3, requires_grad=True)
    scaled = w * 0.1  # scaled
    text = str(explain.none(scaled, scaled.sum()))
    assert text.startswith("scaled.grad is None because scaled is not a leaf.")
    assert line("scaled") in text and "goes on to w" in text and "retain_grad" in text


def test_a_leaf_that_the_loss_does_not_depend_on_names_the_line_that_used_it() -> None:
    used, unused = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    aside = unused.exp()  # aside
    text = str(explain.none(unused, (used * 2).sum()))
    assert "no path leads from the loss to unused" in text and "depends on used" in text
    assert line("aside") in text and aside.requires_grad


def test_other_reasons_for_none() -> None:
    w, k = T.ones(2, requires_grad=True), T.arange(3)
    loss = (w * 2).sum()
    assert "backward() was not called" in str(explain.none(w, loss))
    assert "holds torch.int64" in str(explain.none(k, loss))
    assert "x does not require grad" in str(explain.none(w.detach(), loss))
    loss.backward()
    assert "is not None" in str(explain.none(w, loss))


# -------------------------------------------------------------------------------------------- what cut a loss's history
def without_recording(x: Any) -> Any:
    with T.no_grad():
        return (x * 2).sum()


@T.no_grad()
def decorated(x: Any) -> Any:
    return (x * 2).sum()


class Frozen(T.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = T.nn.Linear(2, 2)
        self.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        return self.inner(x)


def test_causes_of_a_lost_history() -> None:
    w, model, frozen = T.ones(2, requires_grad=True), T.nn.Linear(2, 3), Frozen()
    inputs = T.ones(1, 2)
    loss = without_recording(w)
    assert any("inside `with T.no_grad()`" in c for c in causes(loss)), causes(loss)
    loss = decorated(w)
    assert any("decorated with `@T.no_grad()`" in c for c in causes(loss))
    best = model(inputs).argmax(1)
    loss = best.float().mean()
    assert any("argmax` has no derivative" in c for c in causes(loss))
    loss = T.tensor((w * w).sum().item(), requires_grad=False)
    assert any("copies values, not history" in c for c in causes(loss))
    loss = frozen(inputs).sum()
    assert any("none of the 2 parameters of `frozen` requires grad" in c for c in causes(loss))
    right = (model(inputs).argmax(1) == T.tensor([1])).float()
    loss = 1 - right.mean()
    assert any("comparison" in c for c in causes(loss))
    assert "Probably: " in str(explain.none(w, loss)) and "no history" in str(explain.nan(loss))


# ------------------------------------------------------------------------------------------------------------ nan, zero
def test_nan_of_where_names_the_element_and_the_reason() -> None:
    x = T.tensor([4.0, 0.0], requires_grad=True)
    loss = T.where(x > 0, x.sqrt(), 0.0).sum()  # where
    text = str(explain.nan(loss))
    assert "forward: finite everywhere" in text and line("where") in text and "SqrtBackward0" in text
    assert "nan at [1], 1 of 2" in text and "thrown this element away" in text
    assert x.grad is None
    loss.backward()  # the graph is still there
    assert x.grad is not None


def test_nan_in_the_forward_pass_names_the_first_operation() -> None:
    x = T.tensor([1.0, -1.0], requires_grad=True)
    logs = x.log()  # log
    text = str(explain.nan((logs.exp() * logs).sum()))
    assert text.startswith("forward: ") and "nan at [1]" in text
    assert "All saved values" in str(explain.nan((x * x).sum()))
    x = T.tensor([float("inf")], requires_grad=True)
    assert "The leaf x is not finite: inf at [0]" in str(explain.nan((x * 2).sum()))


def test_zero_names_dead_units_and_unused_parameters() -> None:
    model = T.nn.ModuleDict({"used": T.nn.Linear(2, 2), "unused": T.nn.Linear(2, 2)})
    T.nn.init.constant_(model["used"].bias, -100.0)
    loss = T.relu(model["used"](T.ones(1, 2))).sum()  # relu
    text = str(explain.zero(loss, model))
    assert "ReluBackward0 turns a gradient into zeros" in text and line("relu") in text and "dead units" in text
    assert "does not depend on unused.weight, unused.bias" in text
    w = T.ones(2, requires_grad=True)
    assert str(explain.zero((w * 2).sum())) == "No operation turns a gradient into zeros."


# --------------------------------------------------------------------------------------------------------- memory, time
def test_memory_names_a_graph_that_grows() -> None:
    gc.collect()
    w, total = T.ones(1000, requires_grad=True), T.zeros(())
    for _ in range(30):
        total = total + (w * w).sum()  # total
    text = str(explain.memory())
    assert line("total") in text and "grows with each iteration" in text and "loss.item()" in text
    del total
    assert line("total") not in str(explain.memory())


def test_time_charges_backward_steps_to_the_lines_of_their_operations() -> None:
    w = T.ones(64, 64, requires_grad=True)

    def step() -> None:
        h = (w @ w).tanh()  # heavy
        h.sum().backward()

    text = str(explain.time(step, calls=3))
    row = next(row for row in text.splitlines() if line("heavy") in row)
    assert len(re.findall(r"[\d.]+ [um]s", row)) == 2 and sys.gettrace() is None
    assert text.startswith("3 calls")


# ------------------------------------------------------------------------------------------------------------- pictures
def rnn(steps: int) -> Any:
    cell, h = T.nn.RNNCell(4, 4), T.zeros(1, 4)
    for _ in range(steps):
        h = cell(T.ones(1, 4), h)  # cell
    return h.sum()


def test_a_loop_of_300_steps_fits_a_screen() -> None:
    picture = explain.graph(rnn(300))
    text = str(picture)
    assert len(text.splitlines()) < 10 and f"{line('cell')} x 300" in text
    assert len(ElementTree.fromstring(picture.svg()).findall(".//{*}rect")) < 10
    assert len(explain.graph(rnn(3), fold=False).boxes) == len(in_order(rnn(3).grad_fn))


def test_pictures_are_saved_by_ending(tmp_path: Path) -> None:
    w = T.ones(3, requires_grad=True)
    picture = explain.graph((w * w).sum(), title='a "b" <c>')
    for ending in ("svg", "html", "dot", "mmd"):
        picture.save(tmp_path / f"g.{ending}")
    assert ElementTree.parse(tmp_path / "g.svg").getroot().find("{*}title").text == 'a "b" <c>'  # type: ignore[union-attr]
    assert "MulBackward0" in (tmp_path / "g.dot").read_text() and "-->" in (tmp_path / "g.mmd").read_text()
    with pytest.raises(ValueError, match=r"cannot write a graph as \.png"):
        picture.save(tmp_path / "g.png")
    with pytest.raises(ValueError, match="a leaf has no graph"):
        explain.graph(w)


class _Script(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside, self.scripts, self.ids = False, list[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag == "script"
        self.ids |= {value for name, value in attrs if name == "id"}

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts.append(data)
            self.inside = False


def steps_of(page: Any) -> tuple[list[dict[str, Any]], set[str]]:
    parser = _Script()
    parser.feed(page.html)
    found = re.search(r"const steps = (\[.*?\]);\n", parser.scripts[0], re.DOTALL)
    assert found is not None
    return json.loads(found[1]), parser.ids


def test_the_page_has_each_step_and_what_accumulates() -> None:
    w = T.tensor([1.0, 2.0], requires_grad=True)
    w.grad = T.tensor([10.0, 10.0])
    loss = (w * w + w).sum()
    steps, ids = steps_of(explain.steps(loss, title="</script><b>"))
    assert [step["name"] for step in steps if step["phase"] == "backward"] == [
        "SumBackward0", "AddBackward0", "MulBackward0"
    ]  # fmt: skip
    leaf = dict(steps[-1]["rows"])
    assert leaf[".grad before"].startswith("[10., 10.]") and leaf[".grad after"].startswith("[13., 15.]")
    assert {f"n{step['node']}" for step in steps} <= ids
    assert "def mul(" in next(step["formula"] for step in steps if step["name"] == "MulBackward0")
    assert w.grad.tolist() == [10.0, 10.0]
    loss.backward()
    assert w.grad.tolist() == [13.0, 15.0]


def test_in_a_notebook_a_line_is_that_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython tells which cell a file stands for; without a running shell the file keeps its name."""
    cell, program = "/tmp/ipykernel_1/12345.py", "w = T.ones(2, requires_grad=True)\nloss = w.exp().sum()\n"
    monkeypatch.setitem(linecache.cache, cell, (len(program), None, program.splitlines(keepends=True), cell))
    scope: dict[str, Any] = {"T": T}
    exec(compile(program, cell, "exec"), scope)
    known = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[7]") if file == cell else None)
    for shell, place in ((SimpleNamespace(compile=known), "In[7]"), (None, "12345.py")):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert f"{place}:2" in str(explain.graph(scope["loss"]))
        assert f"<h3>{place}</h3>" in explain.steps(scope["loss"]).html


def test_large_tensors_are_summaries_and_scripts_cannot_be_closed_by_the_program() -> None:
    w = T.linspace(0, 1, 1000).requires_grad_()
    name = "</script><script>alert(1)</script>"
    page = explain.steps((w * w).sum(), title=name)
    steps, _ = steps_of(page)
    assert "alert(1)</script>" not in page.html.replace("&lt;", "<").partition("<script>")[2].partition("<script>")[2]
    value = dict(steps[-1]["rows"])["value"]
    assert len(value["bars"]) == 32 and sum(value["bars"]) == 1000 and "min 0, mean 0.5, max 1" in value["text"]
    assert page._repr_html_().startswith("<iframe srcdoc=")


# --------------------------------------------------------------------------------------------------------- command line
def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wengert", "explain", *words], capture_output=True, text=True, check=False
    )


def test_the_command_prints_pages_and_explains_the_first_nan(tmp_path: Path) -> None:
    page = command("w002")
    assert page.returncode == 0 and page.stdout.startswith("## W002 ")
    missing = command("W999")
    assert missing.returncode == 2 and "there is no page W999" in missing.stderr
    program = tmp_path / "train.py"
    program.write_text(
        "import torch\nx = torch.tensor([4.0, 0.0], requires_grad=True)\nfor _ in range(3):\n"
        "    torch.where(x > 0, x.sqrt(), 0.0).sum().backward()\nprint('went on')\n"
    )
    done = command(str(program))
    assert done.returncode == 0 and "went on" in done.stdout
    assert done.stderr.count("explain: ") == 1 and "train.py:4" in done.stderr and "nan at [1]" in done.stderr

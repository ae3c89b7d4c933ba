"""The command line: `python -m wengert`, run as a user runs it, in a process of its own.

What only reads arguments and prints is called in this process, `called`, where one of its kind has been run as a user
runs it: a process takes a third of a second.
"""

import io
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as T
from wengert.__main__ import main
from wengert._base.registry import REGISTRY
from wengert._cli import progress, show, tour
from wengert._cli.data import load_digits
from wengert.explain import svg

SVG = "{http://www.w3.org/2000/svg}"


def python(*arguments, cwd, **environment):
    """Run Python with `arguments` and return the finished process, its output as text."""
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environment
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def cli(*arguments, cwd, **environment):
    return python("-m", "wengert", *arguments, cwd=cwd, **environment)


@pytest.fixture
def called(capsys, monkeypatch, tmp_path):
    """The command line in this process: a function of the arguments that gives what `cli` gives."""

    def called(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["-m", *arguments])
        capsys.readouterr()
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=printed.out, stderr=printed.err)

    return called


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path


# --- arguments ---


def test_without_arguments_it_shows_help_and_is_content(tmp_path):
    done = cli(cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("tour", "run", "info", "examples:"):
        assert word in done.stdout


def test_version(called):
    done = called("--version")
    assert (done.returncode, done.stdout) == (0, f"wengert {T.version.wengert}\n")


@pytest.mark.parametrize("command", ["tour", "run", "info"])
def test_every_command_has_help(command, called):
    done = called(command, "--help")
    assert done.returncode == 0
    assert f"usage: python -m wengert {command}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "invalid choice: 'dance'"),
        (["--loud"], "--loud"),
        (["tour", "--seed", "many"], "whole number"),
        (["tour", "--seed", "-1"], "--seed"),
        (["tour", "extra"], "unrecognized arguments: extra"),
        (["tur"], "; did you mean 'tour'?"),
        (["info", "--opps"], "unrecognized arguments: --opps; did you mean '--ops'?"),
        (["info", "--ops", "softmx"], "there is no operator 'softmx'; did you mean 'softmax'?"),
        (["info", "--ops", "layer_norm"], "python -m wengert show layer_norm"),
        (["info", "--nothing"], "--nothing"),
        (["run"], "which program"),
        (["run", "-m"], "which program"),
    ],
)
def test_a_slip_is_a_usage_message_and_exit_code_2(arguments, words, called):
    _is_a_slip(called(*arguments), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "invalid choice: 'dance'"),
        (["info", "--ops", "softmx"], "there is no operator 'softmx'; did you mean 'softmax'?"),
        (["run", "absent.py"], "can't open file"),
    ],
)
def test_a_slip_ends_a_process_with_exit_code_2(arguments, words, tmp_path):
    _is_a_slip(cli(*arguments, cwd=tmp_path), words)


def _is_a_slip(done, words):
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("usage: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_start_is_light(tmp_path):
    source = (
        "import sys, wengert; a = [m for m in sys.modules if m.startswith('wengert._cli')]\n"
        "import wengert.__main__; b = [m for m in sys.modules if m.startswith('wengert._cli.')]\n"
        "print(a, b)"
    )
    done = python("-c", source, cwd=tmp_path)
    assert done.stdout == "[] []\n", done.stderr


# --- info ---


def test_info_names_what_a_report_needs(tmp_path):
    done = cli("info", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = dict(re.split(r":\s+", line, maxsplit=1) for line in done.stdout.splitlines())
    assert facts["wengert"].startswith(T.version.wengert)
    assert facts["NumPy"] == np.__version__
    assert facts["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert {"SciPy", "BLAS", "threads", "CPU", "platform"} <= set(facts)


def test_info_imports_no_large_library(tmp_path):
    source = "import sys; from wengert._cli import info; info.report(); print({'scipy', 'torch'} & set(sys.modules))"
    assert python("-c", source, cwd=tmp_path).stdout == "set()\n"


# --- tour ---


@pytest.fixture(scope="module")
def whole_tour(tmp_path_factory):
    """The tour as it is without options, in an empty folder."""
    folder = tmp_path_factory.mktemp("tour")
    return cli("tour", cwd=folder), folder


def test_tour_runs_and_reads_the_digits(whole_tour):
    done, _ = whole_tour
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    percent = re.search(r"^([\d.]+)% of the test digits are read correctly$", done.stdout, re.MULTILINE)
    assert percent is not None
    assert float(percent[1]) > 95


def test_tour_shows_every_line_that_it_runs(whole_tour):
    done, _ = whole_tour
    shown = {line[4:] for line in done.stdout.splitlines() if line.startswith((">>> ", "... "))}
    for lesson in (*tour.LESSONS, tour.TRAINING):
        for line in filter(None, tour.dedent(lesson.code).splitlines()):
            assert line in shown


@pytest.mark.parametrize(
    "outcome",
    [
        ">>> w.grad, x.grad, b.grad\n(tensor([2.]), tensor([1.]), tensor([1.]))\n",
        ">>> v.grad\ntensor([[0.5000, 1.0000],\n        [1.5000, 2.0000]])\n",
        ">>> x.grad\ntensor([2.0000, 0.2000, 0.0200, 0.0020])\n",
        "MeanBackward0\n    PowBackward0\n        AddBackward0\n            SubBackward0\n",
        ">>> w.grad\ntensor([  2.,  20., 200.])\n",
        "RuntimeError: Trying to backward through the graph a second time",
        ">>> v.grad\ntensor([3., 3., 3.])\n",
        "(tensor([2.], grad_fn=<AddBackward0>), False, tensor([2.]))\n",
    ],
)
def test_tour_outcomes(whole_tour, outcome):
    assert outcome in whole_tour[0].stdout


def test_tour_on_a_pipe_is_plain_text(whole_tour):
    output = whole_tour[0].stdout
    assert "\x1b" not in output
    assert "\r" not in output
    assert 1 <= len(re.findall(r"^epoch \d+/\d+  loss ", output, re.MULTILINE)) <= 5


def test_tour_names_its_pictures_and_they_are_well_formed(whole_tour):
    done, folder = whole_tour
    assert sorted(path.name for path in folder.iterdir()) == ["wengert-tour-graph.svg", "wengert-tour-loss.svg"]
    for path in folder.iterdir():
        assert str(path.resolve()) in done.stdout
        root = ElementTree.parse(path).getroot()
        assert root.tag == SVG + "svg"
        assert "prefers-color-scheme: dark" in root.find(SVG + "style").text
    texts = [text.text for text in ElementTree.parse(folder / "wengert-tour-graph.svg").iter(SVG + "text")]
    assert texts[0] == "loss = ((w * x + b).tanh() - 1 + w).pow(2).mean()"
    assert {"MeanBackward0", "TanhBackward0", "w (2,)", "b (2,)"} <= set(texts)


def test_tour_is_the_same_again_and_replaces_its_own_pictures(whole_tour, tmp_path):
    def steady(text):
        return re.sub(r"\(\d+\.\d seconds\)", "", text)

    first = cli("tour", "--quick", "--seed", "5", "--out", "new/pictures", cwd=tmp_path)
    again = cli("tour", "--quick", "--seed", "5", "--out", "new/pictures", cwd=tmp_path)
    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    assert steady(first.stdout) == steady(again.stdout)
    assert steady(first.stdout) != steady(whole_tour[0].stdout)
    assert len(list((tmp_path / "new" / "pictures").iterdir())) == 2


def test_tour_never_overwrites_a_foreign_file(tmp_path):
    mine = write(tmp_path, "wengert-tour-graph.svg", "<svg>my own</svg>")
    done = cli("tour", "--quick", cwd=tmp_path)
    assert done.returncode == 2
    assert "wengert-tour-graph.svg" in done.stderr and "--out DIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert mine.read_text() == "<svg>my own</svg>"
    assert list(tmp_path.iterdir()) == [mine]


def test_tour_says_that_a_folder_cannot_be_written_before_it_begins(tmp_path):
    write(tmp_path, "taken", "a file")
    done = cli("tour", "--out", "taken", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write pictures in 'taken'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of this kind are POSIX's")
def test_tour_stopped_by_the_user(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "wengert", "tour"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert "executed as you see them" in running.stdout.readline()
        # While modules are imported, Python loses one interrupt in a hundred: in its callback for their locks.
        assert any(line.startswith("epoch ") for line in running.stdout)
        running.send_signal(signal.SIGINT)
        errors = running.communicate(timeout=60)[1]
    assert (running.returncode, errors) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes of this kind are POSIX's")
def test_tour_into_a_pipe_that_closes(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "wengert", "tour"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout.readline() != ""
        running.stdout.close()
        errors = running.stderr.read()
        running.wait(60)
    assert (running.returncode, errors) == (141, "")


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("lesson", [lesson for lesson in tour.LESSONS if not lesson.mistake], ids=lambda one: one.title)
def test_lessons_print_what_pytorch_prints(lesson, capsys):
    outputs = []
    for library in ("wengert", "torch"):
        names = {}
        for code in (tour.LESSONS[0].code, lesson.code):
            capsys.readouterr()
            code = code.replace("import wengert", f"import {library}").replace("from wengert", f"from {library}")
            tour.play(tour.Lesson("", "", code), names, "<lesson>")
        outputs.append(capsys.readouterr().out.replace(f"import {library}", "").replace(f"from {library}", ""))
    assert outputs[0] == outputs[1]
    assert outputs[0].count(">>> ") > 2


def test_a_lesson_whose_mistake_works_is_a_bug(capsys):
    with pytest.raises(AssertionError, match="meant to fail"):
        tour.play(tour.Lesson("", "", "1 + 1", mistake=True), {}, "<lesson>")
    with pytest.raises(ZeroDivisionError):
        tour.play(tour.Lesson("", "", "1 / 0"), {}, "<lesson>")
    assert capsys.readouterr().out == ">>> 1 + 1\n2\n>>> 1 / 0\n"


def test_digits():
    images, labels, test_images, test_labels = load_digits()
    assert (images.shape, test_images.shape) == ((1437, 64), (360, 64))
    assert (images.dtype, labels.dtype) == (np.float32, np.int64)
    assert (images.min(), images.max()) == (0, 1)
    # the numbers of each digit that the UCI page gives for this part of the data
    counts = np.bincount(labels) + np.bincount(test_labels)
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert labels[:8].tolist() == [3, 3, 8, 8, 7, 2, 2, 4]  # the split never changes


def test_digits_ship_small_and_with_their_licence():
    folder = resources.files("wengert._cli.data")
    assert sum(len(path.read_bytes()) for path in folder.iterdir() if path.is_file()) < 100_000
    notice = folder.joinpath("README.md").read_text(encoding="utf-8")
    for words in ("Alpaydin", "Kaynak", "10.24432/C50P49", "CC BY 4.0", "creativecommons.org/licenses/by/4.0"):
        assert words in notice


# --- progress ---


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def xterm(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    return monkeypatch


def test_bar_on_a_terminal_is_rewritten_in_place(xterm):
    page = Terminal()
    with progress.Bar("epoch", 4, page) as bar:
        bar.show(1, "loss 12.5")
        bar.show(4, "loss 1")
        page.write("next")
    first, second = page.getvalue().split("\r")[1:]
    assert "\n" not in first
    assert "epoch 1/4  loss 12.5" in first
    # shorter than the first, it covers the rest with blanks, and ends its line before what comes next
    assert second.endswith("epoch 4/4  loss 1   \nnext")
    assert "\x1b[32m" in first


def test_bar_without_colour_where_the_user_wants_none(xterm):
    xterm.setenv("NO_COLOR", "1")
    page = Terminal()
    with progress.Bar("epoch", 2, page) as bar:
        bar.show(1)
    assert page.getvalue() == "\r[" + "#" * 12 + "-" * 12 + "] epoch 1/2  \n"


def test_bar_is_no_wider_than_the_window(xterm):
    xterm.setenv("NO_COLOR", "1")
    xterm.setenv("COLUMNS", "40")
    page = Terminal()
    with progress.Bar("epoch", 2, page) as bar:
        bar.show(1, "x" * 100)
    assert len(page.getvalue().strip("\r\n")) == 39


def test_bar_off_a_terminal_is_a_few_plain_lines(xterm):
    for page in (io.StringIO(), Terminal()):
        xterm.setenv("TERM", "dumb")
        with progress.Bar("epoch", 100, page) as bar:
            for done in range(1, 101):
                bar.show(done, "x")
        assert page.getvalue().splitlines() == [f"epoch {done}/100  x" for done in (20, 40, 60, 80, 100)]


def test_bar_leaves_an_error_a_line_of_its_own(xterm):
    page = Terminal()
    with pytest.raises(KeyError), progress.Bar("epoch", 10, page) as bar:
        bar.show(3)
        raise KeyError
    assert page.getvalue().endswith("\n")


# --- pictures ---


def elements(picture, kind, name):
    return [one for one in ElementTree.fromstring(picture).iter(SVG + kind) if one.get("class") == name]


@pytest.mark.parametrize(
    "values", [[1.0], [0.0, 0.0], [-3.0, 5.0], [1e-9, 1e9], [float("nan"), 2.0, float("inf"), 1.0], list(range(1000))]
)
def test_curve_stays_on_its_sheet(values):
    picture = svg.curve(values, 'a < b & "c"', "x", "y")
    assert ElementTree.fromstring(picture).find(SVG + "title").text == 'a < b & "c"'
    (line,) = elements(picture, "path", "faint")
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", line.get("d"))]
    assert len(numbers) == 2 * sum(map(np.isfinite, values))
    assert all(svg._LEFT <= x <= svg._RIGHT for x in numbers[::2])
    assert all(svg._TOP <= y <= svg._BOTTOM for y in numbers[1::2])


def test_curve_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least one finite value"):
        svg.curve([float("nan")], "t", "x", "y")


def test_ticks_are_round_and_enclose():
    assert svg._ticks(0, 2.3) == [0, 0.5, 1, 1.5, 2, 2.5]
    assert svg._ticks(-1, 1) == [-1, -0.5, 0, 0.5, 1]
    assert svg._ticks(0, 1000) == [0, 200, 400, 600, 800, 1000]


def test_graph_has_a_box_for_each_node_and_an_arrow_for_each_pair():
    a = T.ones(2, 3, requires_grad=True)
    b = T.ones(3, requires_grad=True)
    product = a * b
    picture = svg.graph((product * product + a).sum(), "t", {"a": a})
    boxes = elements(picture, "text", "name")
    names = ["SumBackward0", "AddBackward0", *["MulBackward0"] * 2, *["AccumulateGrad"] * 2, "a (2, 3)", "(3,)"]
    assert sorted(box.text for box in boxes) == sorted(names)
    assert len(elements(picture, "rect", "node")) == 4
    assert len(elements(picture, "rect", "leaf")) == 2
    # sum-add, add-mul, add-a, mul-product, product-a, product-b; the product counts once for its square
    assert len(elements(picture, "path", "edge")) == 6


def test_graph_places_no_box_over_another():
    a = T.ones(2, requires_grad=True)
    total = a
    for _ in range(4):
        total = (total * a).tanh() + (total + a).neg()
    boxes = [one for kind in ("node", "leaf") for one in elements(svg.graph(total, "t", {}), "rect", kind)]
    spans = [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in boxes]
    for index, (x, y, width, height) in enumerate(spans):
        for other_x, other_y, other_width, other_height in spans[:index]:
            beside = x + width <= other_x or other_x + other_width <= x
            above = y + height <= other_y or other_y + other_height <= y
            assert beside or above
    assert len(spans) == 4 * 5 + 1


def test_graph_of_a_long_chain_does_not_recurse():
    x = T.ones(1, requires_grad=True)
    y = x
    for _ in range(2000):
        y = y + 1
    assert len(elements(svg.graph(y, "t", {"x": x}), "rect", "node")) == 2000


def test_graph_of_a_leaf_is_an_error():
    with pytest.raises(ValueError, match="a leaf has no graph"):
        svg.graph(T.ones(1, requires_grad=True), "t", {})


# --- run: like Python itself ---

SAME = {
    "argv": "import sys; print(sys.argv, sys.flags.optimize)",
    "names": (
        "import sys\nprint(__name__, __file__, __package__, __spec__, __doc__, type(__loader__), sys.path[0])\n"
        "print(sys.modules['__main__'].__dict__ is globals(), sorted(set(globals()) - {'__annotations__'}))"
    ),
    "neighbour": "import neighbour; print(neighbour.value)",
    "exit 3": "import sys; sys.exit(3)",
    "exit none": "import sys; sys.exit()",
    "exit text": "import sys; sys.exit('sorry')",
    "raise SystemExit in a function": "def f(): raise SystemExit(7)\nf()",
    "error": "def f():\n    1 / 0\n\nf()",
    "chained": "try:\n    {}['k']\nexcept KeyError as error:\n    raise ValueError('so') from error",
    "syntax": "x = (",
    "encoding": "# -*- coding: latin-1 -*-\nprint(len('é'))",
    "import error": "import there_is_no_such_module",
    "from import error": "from os import there_is_no_such_name",
    "attribute error": "import os\nos.pathh",
    "own hook": "import sys\nsys.excepthook = lambda kind, value, trace: print('hook', kind, trace.tb_lineno)\n1 / 0",
    "atexit": "import atexit\natexit.register(print, 'bye')\nraise OSError('no')",
    "interrupted": "raise KeyboardInterrupt",
    "group": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    "thread": "import threading\nthreading.Thread(target=lambda: print('from a thread')).start()",
    "future": "def f(x: int): pass\nprint(f.__annotations__)",  # a class, not a string
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "source": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))",
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_run_is_what_python_does(source, tmp_path):
    write(tmp_path, "folder/neighbour.py", "value = 5")
    write(tmp_path, "folder/program.py", source)
    arguments = ["folder/program.py", "one", "-h", "--two=3", "-m", "--"]
    expected = python(*arguments, cwd=tmp_path)
    done = cli("run", *arguments, cwd=tmp_path)
    assert done.stdout == expected.stdout
    assert done.stderr == expected.stderr
    assert done.returncode == expected.returncode
    assert done.stdout + done.stderr != "" or done.returncode or source == SAME["exit none"]


@pytest.mark.parametrize("name", ["package", "package.part", "absent", "package.absent", "failing", "broken.part"])
def test_run_module_is_what_python_does(name, tmp_path):
    report = "import sys; print(sys.argv, __name__, __file__, __package__, __spec__.name, sys.path[0])\n"
    write(tmp_path, "package/__init__.py", "")
    write(tmp_path, "package/__main__.py", report + "from . import part")
    write(tmp_path, "package/part.py", report + "sys.exit(4)")
    write(tmp_path, "failing.py", "1 / 0")
    write(tmp_path, "broken/__init__.py", "def f():\n    1 / 0\n\nf()")
    arguments = ["-m", name, "one", "-h", "--two=3"]
    expected = python(*arguments, cwd=tmp_path)
    done = cli("run", *arguments, cwd=tmp_path)
    frames_of_loading = r'  File "<frozen [\w.]+>", line \d+, in \w+\n'
    assert done.stdout == expected.stdout
    assert done.stderr == re.sub(frames_of_loading, "", expected.stderr)
    assert done.returncode == expected.returncode


def test_what_a_spawned_process_spawns_has_the_alias_too(tmp_path):
    program = (
        "import multiprocessing as mp, torch\n"
        "def inner():\n"
        "    print(torch.__file__, flush=True)\n"
        "def outer():\n"
        "    process = mp.get_context('spawn').Process(target=inner)\n"
        "    process.start(); process.join()\n"
        "    raise SystemExit(process.exitcode)\n"
        "if __name__ == '__main__':\n"
        "    process = mp.get_context('spawn').Process(target=outer)\n"
        "    process.start(); process.join()\n"
        "    raise SystemExit(process.exitcode)\n"
    )
    done = cli("run", write(tmp_path, "nested.py", program), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "wengert" in done.stdout


def test_run_a_folder(tmp_path):
    write(tmp_path, "folder/__main__.py", "import sys, torch; print(sys.argv, sys.path[0], __name__); sys.exit(6)")
    done = cli("run", "folder", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (6, f"['folder', 'x'] {tmp_path / 'folder'} __main__\n"), done.stderr
    (tmp_path / "empty").mkdir()
    done = cli("run", "empty", cwd=tmp_path)
    assert done.returncode == 1
    assert "can't find '__main__' module" in done.stderr


# --- run: torch is wengert ---


def run(source, tmp_path):
    return cli("run", write(tmp_path, "program.py", source), cwd=tmp_path)


def test_a_program_for_an_early_pytorch(tmp_path):
    source = """
import torch
from torch.autograd import Variable

w = Variable(torch.Tensor([1]), requires_grad=True)
y = w * Variable(torch.Tensor([2])) + 3
y.backward()
print(w.grad.data, isinstance(y, torch.Tensor))
"""
    done = run(source, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tensor([2.]) True\n", "")


def test_torch_and_what_is_below_it_are_the_same_modules(tmp_path):
    source = """
import torch
import torch.autograd
from torch import autograd
import wengert
assert torch is wengert and torch.autograd is autograd is wengert.autograd

import importlib, pkgutil, sys
names = [found.name for found in pkgutil.walk_packages(wengert.__path__, "wengert.")]
names = [name for name in names if "._" not in name and ".tensorboard" not in name]  # that one needs an extra
for name in names:
    alias = "torch" + name.removeprefix("wengert")
    one = importlib.import_module(alias)
    two = importlib.import_module(name)
    assert one is two is sys.modules[alias] is sys.modules[name], name
    assert (one.__spec__.name, one.__name__) == (name, name if ".ops" in name else alias), name
assert "torch._C" not in sys.modules
print(len(names))
"""
    done = run(source, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize("name", ["torch.nn.functional", "torch.nn.utils.rnn", "torch.optim.lr_scheduler"])
def test_import_as_of_a_submodule(name, tmp_path):
    source = f"import {name} as alias, sys\nprint(alias.__name__, alias is sys.modules['wengert' + '{name}'[5:]])"
    done = run(source, tmp_path)
    assert (done.stdout, done.stderr) == (f"{name} True\n", "")


@pytest.mark.parametrize(
    ("source", "kind", "name", "owner"),
    [
        ("import torch.absent", "ModuleNotFoundError", "torch.absent", "torch"),
        ("import torch.absent.part as p", "ModuleNotFoundError", "torch.absent", "torch"),
        ("from torch import absent", "ImportError", "torch.absent", "torch"),
        ("from torch.autograd import absent", "ImportError", "torch.autograd.absent", "torch.autograd"),
        ("import torch\ntorch.absent", "AttributeError", "torch.absent", "torch"),
        ("import torch\ntorch.autograd.absent", "AttributeError", "torch.autograd.absent", "torch.autograd"),
        ("import torch\ntorch.ones(1).absent", "AttributeError", "torch.Tensor.absent", "torch.Tensor"),
        ("import torch\ntorch.Tensor.absent", "AttributeError", "torch.Tensor.absent", "torch.Tensor"),
    ],
)
def test_what_is_missing_says_so(source, kind, name, owner, tmp_path):
    done = run(source, tmp_path)
    assert done.returncode == 1
    assert f"\n{kind}: " in done.stderr
    assert done.stderr.count(f"wengert does not have {name}; dir({owner}) lists what it has") == 1
    assert "_cli" not in done.stderr
    assert f", line {source.count(chr(10)) + 1}, in <module>" in done.stderr


FUNCTORCH = """
import functorch, torch, warnings
from functorch import combine_state_for_ensemble, grad, jacrev, make_functional, make_functional_with_buffers, vmap
torch.manual_seed(0)
warnings.simplefilter("error")
try:
    vmap(torch.sin)
except FutureWarning as warning:
    print(warning)
warnings.simplefilter("ignore")
x = torch.randn(4, 3)
func, params = make_functional(torch.nn.Linear(3, 3))
print(func, func.param_names, [g.shape for g in grad(lambda p: func(p, x).pow(2).sum())(params)])
models = [torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).eval() for _ in range(3)]
func, params, buffers = combine_state_for_ensemble(models)
print([p.shape for p in (*params, *buffers)], vmap(func, (0, 0, None))(params, buffers, x)[2])
func, params, buffers = make_functional_with_buffers(models[0], disable_autograd_tracking=True)
print(func.buffer_names, params[0].requires_grad, func(params, buffers, x), jacrev(torch.sin)(x[0]))
for wrong in (lambda: make_functional(models[0]), lambda: combine_state_for_ensemble([])):
    try:
        wrong()
    except RuntimeError as error:
        print(error)
"""


def test_functorch_is_found_beside_torch(tmp_path, torch):
    done = run(FUNCTORCH, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == python("program.py", cwd=tmp_path).stdout


def test_the_metadata_of_torch_is_there(tmp_path):
    source = """
import importlib.metadata, torch
print(importlib.metadata.version("torch") == torch.__version__, importlib.metadata.metadata("torch")["Name"])
"""
    done = run(source, tmp_path)
    assert (done.stdout, done.stderr) == ("True torch\n", "")


def test_a_missing_module_is_what_programs_that_probe_expect(tmp_path):
    source = """
import importlib.util
print(importlib.util.find_spec("torch") is not None, importlib.util.find_spec("torch.autograd") is not None)
print(importlib.util.find_spec("torch.absent"))
try:
    import torch.absent
except ModuleNotFoundError as error:
    print(error.name)
print(hasattr(__import__("torch"), "absent"))
"""
    assert run(source, tmp_path).stdout == "True True\nNone\ntorch.absent\nFalse\n"


def test_a_module_that_wengert_has_and_cannot_import_is_not_called_missing(tmp_path):
    write(tmp_path, "more/needs_another.py", "import there_is_no_such_module")
    done = run("import torch\ntorch.__path__.append('more')\nimport torch.needs_another", tmp_path)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'there_is_no_such_module'\n")
    assert "_cli" not in done.stderr


def test_an_error_of_the_program_alone_gets_no_note(tmp_path):
    done = run("import torch\nclass A: pass\nA().absent", tmp_path)
    assert done.stderr.endswith("AttributeError: 'A' object has no attribute 'absent'\n")


def test_the_alias_can_be_installed_twice_and_undone(tmp_path):
    source = """
import sys
from wengert._cli.run import install_torch_alias
before = list(sys.meta_path)
undo = install_torch_alias()
install_torch_alias()
print(len(sys.meta_path) - len(before), sys.modules["torch"] is sys.modules["wengert"])
undo()
print(sys.meta_path == before, [name for name in sys.modules if name.partition(".")[0] == "torch"])
"""
    assert python("-c", source, cwd=tmp_path).stdout == "1 True\nTrue []\n"


def test_the_alias_refuses_to_replace_an_imported_pytorch(tmp_path):
    source = """
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
from wengert._cli.run import install_torch_alias
try:
    install_torch_alias()
except RuntimeError as error:
    print(error)
"""
    assert "must come before the first import torch" in python("-c", source, cwd=tmp_path).stdout


def test_a_program_reads_pytorchs_names(tmp_path):
    source = """
import inspect, pickle, torch, torch.nn as nn
print(nn.Linear, type(nn.ReLU()))
print(torch.optim.SGD, nn.Parameter.__module__, type(torch.ones(1)))
print(torch.nn.__name__, nn.functional.relu.__module__, torch.relu.__module__, torch.tensor.__module__)
print(torch.no_grad, torch.autograd.Function)
print(type(torch.Size([1])).__module__, torch.float32.__class__)
print(torch.distributions.Normal, torch.utils.data.DataLoader)
print(torch.optim.lr_scheduler.StepLR)
print(type((torch.ones(1, requires_grad=True) * 2).grad_fn), isinstance(torch.autograd.graph.Node, type))
print(inspect.getmodule(nn.Linear).__name__, "class Linear" in inspect.getsource(nn.Linear))
net = nn.Sequential(nn.Linear(2, 1), nn.ReLU())
text = pickle.dumps(net)
print(b"wengert" in text, b"torch.nn.modules.linear" in text, pickle.loads(text))
things = [nn.Linear, torch.add, nn.functional.relu, torch.no_grad, torch.Size, torch.distributions.Normal, torch.finfo]
things += [torch.autograd.grad, torch.tensor, torch.float32, torch.autograd.graph.Node, torch.UntypedStorage]
for thing in things:
    text = pickle.dumps(thing)
    assert pickle.loads(text) is thing and b"wengert" not in text, (thing, text)
"""
    done = run(source, tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "<class 'torch.nn.modules.linear.Linear'> <class 'torch.nn.modules.activation.ReLU'>",
        "<class 'torch.optim.sgd.SGD'> torch.nn.parameter <class 'torch.Tensor'>",
        "torch.nn torch.nn.functional torch torch",
        "<class 'torch.autograd.grad_mode.no_grad'> <class 'torch.autograd.function.Function'>",
        "torch <class 'torch.dtype'>",
        "<class 'torch.distributions.normal.Normal'> <class 'torch.utils.data.dataloader.DataLoader'>",
        "<class 'torch.optim.lr_scheduler.StepLR'>",
        "<class 'MulBackward0'> True",
        "torch.nn.modules.linear True",
        "False True Sequential(",
        "  (0): Linear(in_features=2, out_features=1, bias=True)",
        "  (1): ReLU()",
        ")",
    ]


def test_the_names_are_wengerts_again_without_the_alias(tmp_path):
    source = """
import wengert
def names():
    return [wengert.nn.Linear.__module__, wengert.__name__, wengert.nn.__name__, wengert.no_grad.__module__,
            wengert.relu.__module__, wengert.Tensor.__module__]
before = names()
from wengert._cli.run import install_torch_alias
undo = install_torch_alias()
import torch.distributions
during = names()
undo()
print(before == names(), [name.partition(".")[0] for name in during])
"""
    done = python("-c", source, cwd=tmp_path)
    assert done.stdout == f"True {['torch'] * 6}\n"


# --- show ---


def test_show_prints_the_parts_of_an_operator(tmp_path):
    done = cli("show", "mul", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "# mul: declaration\n@binary(",
        "# mul: recording function\ndef mul(input, other, *, out=None):\n",
        "    n._lasti = f.f_lasti\n",
        "# mul: backward step\ndef mul_backward(n, xp, g, keep):\n",
        "# mul: body in NumPy\nnumpy.multiply",
    ):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("torch.exp", ["exp"]),
        ("sum", ["sum_all", "sum_dim"]),
        ("lt", ["lt"]),
        ("cat", ["cat"]),
    ],
)
def test_show_finds_operators_by_public_names(name, operators):
    assert [info.name for info in show.found(name)] == operators
    assert all("# " + info.name + ": declaration" in show.shown(info) for info in show.found(name))


def test_show_can_show_every_operator():
    for name in REGISTRY:
        (info,) = show.found(name)
        assert "def " in show.shown(info)


def test_show_prints_a_function_that_is_made_of_operators(called):
    done = called("show", "mm")
    assert done.returncode == 0
    assert "# mm: a function that is made of operators\n" in done.stdout


def test_show_names_the_nearest_operator(called):
    done = called("show", "torch.mull")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no operator 'torch.mull'; did you mean 'mul'?" in done.stderr


def test_under_pytorchs_names_functionals_refuse_what_is_no_tensor_as_outside(tmp_path):
    source = """
import torch, torch.nn.functional as F
for call in (lambda: F.mse_loss(torch.ones(2), [1.]), lambda: F.softmax([1.], 0)):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
"""
    done = run(source, tmp_path)
    lacks = "AttributeError 'list' object has no attribute"
    assert done.stdout.splitlines() == [f"{lacks} 'size'", f"{lacks} 'softmax'"], done.stderr


def test_a_whole_traceback_is_shown_where_the_program_asks_for_it(tmp_path):
    source = """
import os, torch
os.environ["WENGERT_TRACEBACK"] = "full"
torch.nn.functional.mse_loss(torch.ones(2), 3)
"""
    done = run(source, tmp_path)
    assert done.stderr.splitlines()[-1] == "AttributeError: 'int' object has no attribute 'size'"

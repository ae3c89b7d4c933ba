"""What shows a program: `torch.compiler.program` and `python -m wengert compile script.py:step --show`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._cli import UsageError
from wengert._cli.compile import main

SCRIPT = """\
import torch, sys

w = torch.ones(3, requires_grad=True)
scale = 2.0

def step(x):
    loss = (x * w * scale).sin().sum()
    loss.backward()
    return loss.detach()

def broken(x):
    y = x * 2
    return y if y.sum() > 0 else -y

def never():
    pass

for k in range(2):
    print(step(torch.arange(3.0)).item() > 0, sys.argv[1:])
broken(torch.ones(2))
if "exit" in sys.argv:
    sys.exit(3)
if "fail" in sys.argv:
    raise ValueError("of the script")
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    """Runs the command in this process; gives what it prints."""
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "no-compiler")
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)  # PyTorch itself, where another test has imported it

    def run(target: str, *arguments: str, show: bool = False) -> str:
        assert main(target, show, list(arguments)) == 0
        return capsys.readouterr().out

    return run


def test_the_command_tells_of_programs(run: Any) -> None:
    lines = run("script.py:step", "a", "b").splitlines()
    assert lines[:3] == ["True ['a', 'b']", "True ['a', 'b']", "step: 2 programs, 0 breaks"]  # the second has a .grad
    assert lines[3].startswith("program 1: <program of ") and lines[3].endswith(" bytes of planned memory")
    assert len(lines) == 5


def test_the_command_shows_the_source_with_the_users_lines(run: Any) -> None:
    text = run("script.py:step", show=True)
    assert "def program(x0, x1):" in text
    assert "# script.py:7  loss = (x * w * scale).sin().sum()" in text
    guards = text[text.index("guards:") :].splitlines()
    assert "  args[0] is a Tensor float32[3]" in guards and "  scale == 2.0" in guards


def test_the_command_tells_of_breaks(run: Any) -> None:
    lines = run("script.py:broken").splitlines()
    assert lines[-2] == "broken: 0 programs, 1 breaks"
    assert lines[-1].startswith("break: the elements of a tensor are read by bool(), File ")
    assert lines[-1].endswith("line 13")
    assert run("script.py:never").splitlines()[-1] == "never: 0 programs, 0 breaks"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("script.py:stepp", "script.py defines no function 'stepp'"),
        ("script.py", "name a function of a file"),
        ("other.py:step", "can't open file 'other.py'"),
    ],
)
def test_wrong_targets(run: Any, target: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(target)


def test_a_script_may_be_encoded_as_python_allows_and_pickle_its_classes(run: Any, tmp_path: Path) -> None:
    text = "# coding: latin-1\nimport pickle\nclass C: pass\ndef f(x): return x\npickle.dumps(C()); print('\xe9')\n"
    (tmp_path / "script.py").write_bytes(text.encode("latin-1"))
    assert run("script.py:f").startswith("\xe9\n")


@pytest.mark.parametrize(
    "text", [b"def f(x: return x", b"import torch\0", b"'\xff'", b"def f(x): return " + b"-" * 100000]
)
def test_a_file_that_is_no_program(run: Any, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "script.py").write_bytes(text)
    with pytest.raises(UsageError, match=r"script.py is no program: ."):
        run("script.py:f")


def test_how_the_script_ends_is_how_the_command_ends(run: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wengert", "compile", "script.py:step", "exit"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 3 and "step: 2 programs" in done.stdout and "Traceback" not in done.stderr
    with pytest.raises(ValueError, match="of the script"):
        run("script.py:step", "fail")


def test_a_program_and_its_backward() -> None:
    w = torch.ones(3, requires_grad=True)
    made = torch.compiler.program(lambda x: ((x * w).tanh() + 1).sum(), torch.arange(3.0))
    assert [op.name for op in made.tape.ops] == ["mul", "tanh", "add", "sum_all"]
    assert str(made.tape).splitlines()[:2] == ["v0: float32[3] = args[0]", "v1: float32[3] = w"]
    assert {op.name for op in made.backward_tape.ops} >= {"tanh_backward"} or made.backward_tape.ops
    assert made.source.count("def program(") == 2
    memory = made.memory
    assert memory["nbytes"] == sum(n for n, _ in memory["buffers"]) > 0
    assert all(name.startswith("v") for _, names in memory["buffers"] for name in names)
    said = list(made.guards)
    assert "args[0] is a Tensor float32[3]" in said and "w is a Tensor float32[3], which requires grad" in said
    assert len(said) == len(made.guards) and str(made.guards) == "\n".join(said)
    assert repr(made).startswith("<program of ")


def test_a_program_of_a_compiled_function_and_of_a_module() -> None:
    f = torch.compile(lambda x: x + 1, backend="numpy")
    assert [op.name for op in torch.compiler.program(f, torch.ones(2)).tape.ops] == ["add"]
    m = torch.nn.Linear(2, 2)
    assert "linear" in torch.compiler.program(m, torch.ones(1, 2)).source
    with pytest.raises(torch._dynamo.exc.Unsupported, match="The elements of a tensor are read"):
        torch.compiler.program(lambda x: x.item(), torch.ones(1))

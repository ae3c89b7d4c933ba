"""`python -m wengert info --ops`: the table says of every operator what its declaration says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wengert as torch
from wengert.__main__ import main
from wengert._base.registry import REGISTRY
from wengert._cli import operators

ROWS = {row.name: row for row in operators.rows()}


def test_every_operator_has_a_line() -> None:
    assert sorted(ROWS) == sorted(REGISTRY)


def test_a_hole_has_its_reason() -> None:
    assert [row.name for row in ROWS.values() if not row.reverse and not row.reason] == []
    assert [row.name for row in ROWS.values() if row.vmap is None and "no batching rule" not in row.reason] == []
    assert [row.name for row in ROWS.values() if "no reason is declared" in row.reason] == []


def test_what_is_differentiable() -> None:
    exp, argmax = ROWS["exp"], ROWS["argmax"]
    assert exp.reverse and exp.forward and exp.second and exp.vmap == "elementwise" and exp.forward_by == "formula"
    assert "torch.exp" in exp.public and "Tensor.exp" in exp.public
    assert exp.dtypes == ("float", "complex", "int", "bool")
    assert not (argmax.reverse or argmax.forward or argmax.second) and "indices" in argmax.reason


def test_what_raises_does() -> None:
    assert ROWS["floor_divide"].raises
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        (x // 2).sum().backward()


def test_operands_and_outputs_without_a_derivative_are_named() -> None:
    assert "indices" in ROWS["embedding"].reason
    assert ROWS["mul"].reason == ""


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["operator", "kind", "reverse", "forward", "second", "vmap", "dtypes", "reason"]
    assert [line.split()[0] for line in lines[1:-2]] == list(ROWS)
    assert lines[-1].startswith(f"{len(REGISTRY)} operators: reverse mode ")
    assert " 0 without a reason" in lines[-1]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--ops", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["summary"]["operators"] == len(found["operators"]) == len(REGISTRY)
    by_name = {row["name"]: row for row in found["operators"]}
    assert by_name["sin"]["reverse"] is True and by_name["sin"]["vmap"] == "elementwise"


def test_facts_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["wengert"].startswith(torch.version.wengert)


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m wengert info --ops | head -n 1",
        shell=True, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("operator") and done.stderr == ""


def test_operators_are_named_or_public() -> None:
    assert [row.name for row in operators.rows(["torch.mul", "Tensor.exp"])] == ["exp", "mul"]
    table = operators.rows(None, public=True)
    assert all(row.public for row in table) and len(table) < len(ROWS)
    every = [bool(row.public) for row in operators.rows()]
    assert every == sorted(every, reverse=True) and not all(every)
    assert operators.text(operators.rows(["mul"])).splitlines()[1].startswith("mul  ")

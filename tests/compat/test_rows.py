"""Modules that only answer are rows of a table (`_compat/_rows.py`); to programs they are modules as all others."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import wengert
from wengert._compat import TABLE
from wengert._compat._rows import ROWS

PACKAGE = Path(wengert.__file__).parent


def found(package: str = "") -> set[str]:
    module = importlib.import_module(f"wengert.{package}".rstrip("."))
    return {info.name for info in pkgutil.iter_modules(module.__path__, f"{package}.".lstrip("."))}


@pytest.mark.parametrize("row", sorted(ROWS))
def test_a_row_is_a_module(row: str) -> None:
    owner, _, _ = row.rpartition(".")
    assert row in found(owner)
    spec = importlib.util.find_spec(f"wengert.{row}")
    module = importlib.import_module(f"wengert.{row}")
    assert spec is not None and spec.origin == module.__file__ and os.path.isfile(module.__file__ or "")
    assert inspect.getdoc(module) and module.__name__ == f"wengert.{row}"
    assert all(hasattr(module, name) for name in module.__all__)
    if module.__file__ == TABLE:
        assert getattr(sys.modules[f"wengert.{owner}".rstrip(".")], row.rpartition(".")[2]) is module
        members = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
        assert all(inspect.getdoc(value) for value in members)
        assert not (PACKAGE / "_compat" / f"{row.replace('.', '/')}.py").exists()


def test_the_table_is_not_read_at_the_start_nor_for_what_is_a_file() -> None:
    program = """
import sys, wengert as torch
torch.nn, torch.futures, torch.autograd
assert "wengert._compat._rows" not in sys.modules
torch.cuda
assert "wengert._compat._rows" in sys.modules and "wengert.amp" in sys.modules
from wengert import *
backends.cudnn, mps, xpu
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_rows_have_pytorchs_names_in_a_run(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch.fx.graph, torch.distributed.tensor.experimental, torch.backends.cudnn as cudnn\n"
        "from torch.cuda.amp import GradScaler\n"
        "print(torch.fx.graph.__name__, torch.cuda.Event, torch.mps.is_available.__module__, GradScaler)\n"
        "import importlib.util as util; print(util.find_spec('torch.cuda.nothing'), util.find_spec('torch.nothing'))\n"
        "import torch.cuda.nothing\n"
    )
    command = [sys.executable, "-m", "wengert", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first, second = done.stdout.splitlines()
    assert first == ("torch.fx.graph <class 'torch.cuda.Event'> torch.mps <class 'torch.cuda.amp.GradScaler'>")
    assert second == "None None" and "wengert does not have torch.cuda.nothing" in done.stderr


def test_the_root_stays_small() -> None:
    assert len([entry for entry in os.listdir(PACKAGE) if entry != "__pycache__"]) <= 55

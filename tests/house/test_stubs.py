"""The type stubs: a typed program passes mypy with them, and they say what the objects say.

Whether they are up to date is CI's business (`python tools/make_stubs.py --check`): a test would fail between a new
operator and the stubs made for it.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wengert

TESTS = Path(__file__).resolve().parent
PACKAGE = Path(wengert.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def test_the_stubs_are_shipped() -> None:
    assert {"__init__.pyi", "tensor.pyi"} <= {path.name for path in STUBS}


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_stub_is_python(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert any(isinstance(node, ast.ImportFrom) for node in tree.body)


def test_typed_program_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(TESTS / "typing_sample.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed: pip install '.[dev]'")
def test_typed_program_passes_mypy(tmp_path: Path) -> None:
    options = ["--config-file=", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(TESTS / "typing_sample.py")],
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent) if "site-packages" not in PACKAGE.parts else ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

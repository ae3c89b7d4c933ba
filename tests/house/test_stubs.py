"""The type stubs: a typed program passes mypy and pyright with them, and they say what the objects say.

Whether they are up to date is CI's business (`python tools/make_stubs.py --check`): a test would fail between a new
operator and the stubs made for it.
"""

from __future__ import annotations

import ast
import importlib.util
import json
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
    shipped = {path.relative_to(PACKAGE).as_posix() for path in STUBS}
    assert {"__init__.pyi", "_tape/tensor.pyi", "nn/__init__.pyi", "return_types.pyi"} <= shipped


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_stub_is_python(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert any(isinstance(node, ast.ImportFrom) for node in tree.body)


def test_typed_program_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(TESTS / "typing_sample.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _checked(command: list[str], folder: Path) -> None:
    env = {**os.environ, "MYPYPATH": str(PACKAGE.parent) if "site-packages" not in PACKAGE.parts else ""}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not _installed("mypy"), reason="mypy is not installed: pip install '.[dev]'")
def test_typed_program_passes_mypy(tmp_path: Path) -> None:
    options = ["--config-file=", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    _checked([sys.executable, "-m", "mypy", *options, str(TESTS / "typing_sample.py")], tmp_path)


@pytest.mark.skipif(not _installed("pyright"), reason="pyright is not installed: pip install '.[dev]'")
def test_typed_program_passes_pyright(tmp_path: Path) -> None:
    """Strictly, so that a type that is not known is an error too."""
    config: dict[str, object] = {
        "include": [str(TESTS / "typing_sample.py")],
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
    }
    if "site-packages" not in PACKAGE.parts:
        config["extraPaths"] = [str(PACKAGE.parent)]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    _checked([sys.executable, "-m", "pyright", f"--pythonpath={sys.executable}", "--project", str(tmp_path)], tmp_path)

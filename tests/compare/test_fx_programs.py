"""Small programs over all of ``torch.fx`` print the same on both libraries: graphs, code, values and errors."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAMS = Path(__file__).parent.parent / "programs" / "fx_programs.py"
NAMES = [n.name for n in ast.parse(PROGRAMS.read_text()).body if isinstance(n, ast.FunctionDef) and n.name[:2] == "t_"]


@functools.cache
def printed(*command: str) -> dict[str, str]:
    """What each program prints."""
    ran = subprocess.run([sys.executable, *command, str(PROGRAMS)], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_same_text(torch: ModuleType, name: str) -> None:
    assert printed("-m", "wengert", "run")[name] == printed()[name]

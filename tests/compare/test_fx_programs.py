"""Small programs over all of ``torch.fx`` print the same on both libraries: graphs, code, values and errors."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

from compare.two_processes import answers

PROGRAMS = Path(__file__).parent.parent / "programs" / "fx_programs.py"
NAMES = [n.name for n in ast.parse(PROGRAMS.read_text()).body if isinstance(n, ast.FunctionDef) and n.name[:2] == "t_"]


def test_the_same_text(torch: ModuleType) -> None:
    ours, theirs = answers(PROGRAMS)
    assert {name: ours[name] for name in NAMES} == {name: theirs[name] for name in NAMES}

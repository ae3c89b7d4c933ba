"""``make_fx`` beside PyTorch's: the operators below autograd, their overloads and arguments, to the character."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parent.parent / "programs" / "make_fx_calls.py"
CALLS, SLOPES = (part.strip().split("\n") for part in re.findall(r'= """\n(.*?)"""', PROGRAM.read_text(), re.DOTALL))

STEPS = ("block", "residual", "words")


@functools.cache
def graphs(*command: str) -> dict[str, list[str]]:
    """The nodes of each graph."""
    ran = subprocess.run([sys.executable, *command, str(PROGRAM)], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "call", [*CALLS, *[f"slope of {call}" for call in SLOPES], *[f"step of {name}" for name in STEPS]]
)
def test_the_operators_are_pytorchs(torch: ModuleType, call: str) -> None:
    assert graphs("-m", "wengert", "run")[call] == graphs()[call]

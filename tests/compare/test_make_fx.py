"""``make_fx`` beside PyTorch's: the operators below autograd, their overloads and arguments, to the character."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from compare.two_processes import answers

PROGRAM = Path(__file__).parent.parent / "programs" / "make_fx_calls.py"
CALLS, SLOPES, DIVISIONS, MADE, SIZES = (
    part.strip().split("\n") for part in re.findall(r'= """\n(.*?)"""', PROGRAM.read_text(), re.DOTALL)
)
STEPS = ("block", "residual", "words")
ALL = [
    *CALLS,
    *[f"slope of {call}" for call in SLOPES],
    *[f"divided {call}" for call in DIVISIONS],
    *MADE,
    *[f"sizes of {call}" for call in SIZES],
    *[f"step of {name}" for name in STEPS],
]


def test_the_operators_are_pytorchs(torch: ModuleType) -> None:
    ours, theirs = answers(PROGRAM)
    assert {call: ours[call] for call in ALL} == {call: theirs[call] for call in ALL}

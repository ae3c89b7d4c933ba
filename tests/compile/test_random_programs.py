"""Random programs compiled beside eager, on other values; programs in NumPy."""

from __future__ import annotations

import compile_programs
import pytest
from compile_programs import doubles  # noqa: F401  a fixture

from wengert._compile.dispatch import Compiled


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program(seed: int) -> None:
    fn = compile_programs.program(seed)
    made = Compiled(fn, None, False)
    assert not compile_programs.check(fn, made) or not made.broken

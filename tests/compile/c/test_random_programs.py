"""Random programs compiled beside eager, on other values; programs in C, in memory full of nan."""

from __future__ import annotations

from dataclasses import replace

import compile_programs
import pytest
from compile_programs import doubles  # noqa: F401  a fixture

from wengert._compile import c
from wengert._compile.c import cache, compilers, program
from wengert._compile.dispatch import Compiled

pytestmark = pytest.mark.usefixtures("c_cache")


@pytest.mark.parametrize("seed", range(100, 110))
def test_a_random_program(seed, monkeypatch):
    found = compilers.compiler()
    quick = replace(found, flags=tuple("-O0" if flag == "-O3" else flag for flag in found.flags))
    monkeypatch.setattr(cache, "compiler", lambda: quick)
    init = program.CProgram.__init__
    monkeypatch.setattr(program.CProgram, "__init__", lambda self, plan, owners=None: init(self, plan, owners, True))
    fn = compile_programs.program(seed)
    made = Compiled(fn, "c", False)
    if compile_programs.check(fn, made, turns=1):
        c.wait()
        compile_programs.check(fn, made)

"""Forward mode with dual tensors, as in PyTorch."""

from __future__ import annotations

from types import ModuleType

import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("forward")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("forward")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("forward")

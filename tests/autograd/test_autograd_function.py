"""Custom functions, as in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("functions")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("functions")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("functions")


def test_an_attribute_called_meta_is_the_users() -> None:
    class Scaled(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.meta = {"factor": 3.0}
            return x * ctx.meta["factor"]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.meta["factor"]

    x = T.ones(2, requires_grad=True)
    Scaled.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]

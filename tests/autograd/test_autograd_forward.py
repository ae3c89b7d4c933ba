"""Forward mode with dual tensors, as in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("forward")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("forward")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("forward")


@pytest.mark.filterwarnings("ignore:.*is not called for a tensor with memory of its own:UserWarning")
def test_the_class_of_a_primal_is_asked_for_its_alias() -> None:
    class Asked(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with T.overrides.enable_reentrant_dispatch():
                asked.append((func, args[0] is primal, T.ones(1, requires_grad=True).exp().requires_grad))
            return func(*args, **(kwargs or {}))

    asked: list[Any] = []
    primal = T.Tensor._make_subclass(Asked, T.ones(2))
    with T.autograd.forward_ad.dual_level():
        dual = T.autograd.forward_ad.make_dual(primal, T.ones(2))
        assert T.autograd.forward_ad.unpack_dual(dual * 2).tangent.tolist() == [2.0, 2.0]
        T.autograd.forward_ad.make_dual(T.ones(2), primal)
    assert asked == [(T.ops.aten.alias.default, True, True)]

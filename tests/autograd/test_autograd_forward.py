"""Forward mode with dual tensors, as in PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from programs import running

import wengert as T
import wengert.autograd.forward_ad as fwAD

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


def test_copies_and_reductions_of_dual_tensors_are_dual_tensors() -> None:
    functions: list[Any] = [
        lambda d: d.softmax(-1), lambda d: d.cumsum(0), lambda d: d.sort(0)[0], lambda d: d.max(0)[0],
        lambda d: T.put(d, T.tensor(0), T.tensor(1.0)), lambda d: T.view_copy(d, (1,)), lambda d: d.quantile(0.5),
    ]  # fmt: skip
    for function in functions:
        with fwAD.dual_level():
            memory = T.tensor(2.0, requires_grad=True) * 1
            made = function(fwAD.make_dual(memory, T.tensor(1.0)))
            assert made.requires_grad and fwAD.unpack_dual(made).tangent is not None
            made.mul_(3)
        assert memory.item() == 2
        assert made.grad_fn is not None and "tangent" not in repr(made) and "lvl" not in repr(made)


def test_what_only_hidden_leaves_lead_to_has_no_gradient() -> None:
    leaf = T.ones(3, requires_grad=True)
    with fwAD.dual_level():
        y = (fwAD.make_dual(T.ones(3), leaf) * 2).sum()
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            y.backward()
        with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
            T.autograd.grad(y, leaf, allow_unused=True)
        assert T.autograd.grad(fwAD.unpack_dual(y).tangent, leaf)[0].tolist() == [2.0, 2.0, 2.0]


def test_the_primal_of_a_dual_tensor_is_a_view_with_a_node_of_its_own() -> None:
    x = T.ones(2, requires_grad=True)
    with fwAD.dual_level():
        y = fwAD.make_dual(x, T.ones(2)) * 2
        for t in (x, x * 3, y):
            primal = fwAD.unpack_dual(t).primal
            assert primal._is_view()
            assert primal.grad_fn.name() == "torch::autograd::Identity"
            if t is not x:
                assert primal.grad_fn.next_functions[0][0] is t.grad_fn

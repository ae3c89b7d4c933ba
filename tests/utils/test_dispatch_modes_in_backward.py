"""Operators that a dispatch mode sees beside those of formulas: accumulation into leaves, and those of pack hooks."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import wengert as torch
from wengert.utils._python_dispatch import TorchDispatchMode
from wengert.utils.checkpoint import checkpoint


class Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        node = torch._C._current_autograd_node()
        self.names.append(
            f"{func.__name__.partition('.')[0]} {type(node).__name__ if node is not None else ''}".strip()
        )
        return func(*args, **(kwargs or {}))


def logged(call: Any) -> list[str]:
    with Log() as log:
        call()
    return log.names


def test_accumulation_into_leaves() -> None:
    x = torch.rand(3, requires_grad=True)
    assert logged((x * 2).sum().backward)[-2:] == ["mul MulBackward0", "detach AccumulateGrad"]
    first = x.grad
    assert logged((x * 2).sum().backward)[-2:] == ["mul MulBackward0", "add_ AccumulateGrad"]
    assert x.grad is first and first.tolist() == [4, 4, 4]
    x.grad = None
    assert logged(x.sum().backward)[-2:] == ["new_empty_strided AccumulateGrad", "copy_ AccumulateGrad"]
    assert x.grad.stride() == (1,) and x.grad.tolist() == [1, 1, 1]


def test_the_innermost_of_two_modes_is_asked() -> None:
    x = torch.rand(3, requires_grad=True)
    y = (x * 2).sum()
    with Log() as outer, Log() as inner:
        y.backward()
    assert inner.names == outer.names
    assert inner.names.count("detach AccumulateGrad") == 1


def test_a_modes_answer_becomes_the_gradient() -> None:
    class Doubled(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.ops.aten.detach.default else result

    x = torch.rand(3, requires_grad=True)
    y = (x * 3).sum()
    with Doubled():
        y.backward()
    assert x.grad.tolist() == [6, 6, 6]


def test_hooks_of_leaves_run_around_it() -> None:
    x = torch.rand(3, requires_grad=True)
    x.register_hook(lambda g: g + 1)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    assert logged((x * 2).sum().backward)[-1] == "detach AccumulateGrad"
    assert seen == [[3, 3, 3]]


@pytest.mark.parametrize("early_stop", [True, False])
def test_what_a_checkpoint_detaches(early_stop: bool) -> None:
    log = Log()

    def modes() -> Any:
        return contextlib.nullcontext(), log

    x = torch.rand(3, requires_grad=True)
    out = checkpoint(lambda x: x.exp().tanh(), x, use_reentrant=False, context_fn=modes, early_stop=early_stop)
    assert log.names == []
    out.sum().backward()
    assert [name.split()[0] for name in log.names] == ["exp", "detach", "tanh", "detach"]

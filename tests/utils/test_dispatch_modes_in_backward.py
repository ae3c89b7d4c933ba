"""What dispatch modes are asked beside formulas: accumulation into leaves, pack hooks, composed operators, answers."""

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


@pytest.fixture(params=["wengert", pytest.param("torch", marks=pytest.mark.compare)])
def T(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def calls_of(T: Any, call: Any) -> list[str]:
    """The overloads that a mode is asked for, with the shapes of their tensors."""
    calls: list[str] = []

    class Shapes(T.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            shown = [list(a.shape) if isinstance(a, T.Tensor) else a for a in args]
            calls.append(f"{func} {shown} {kwargs or {}}")
            return func(*args, **(kwargs or {}))

    with Shapes():
        call()
    return calls


def test_a_linear_layer_is_asked_in_steps(T: Any) -> None:
    x, w, b = T.ones(2, 3), T.ones(4, 3), T.ones(4)
    linear = T.nn.functional.linear
    assert calls_of(T, lambda: linear(x, w)) == ["aten.t.default [[4, 3]] {}", "aten.mm.default [[2, 3], [3, 4]] {}"]
    steps = ["aten.t.default [[4, 3]] {}", "aten.addmm.default [[4], [2, 3], [3, 4]] {}"]
    assert calls_of(T, lambda: linear(x, w, b)) == steps
    views = ["aten.view.default [[1, 2, 3], [2, 3]] {}", "aten.view.default [[2, 4], [1, 2, 4]] {}"]
    assert calls_of(T, lambda: linear(x[None], w, b))[1:] == [views[0], *steps, views[1]]
    assert calls_of(T, lambda: T.addmv(b, w, x[0], beta=2))[1:] == ["aten.addmv.default [[4], [4, 3], [3]] {'beta': 2}"]
    assert calls_of(T, lambda: x.sort(0)) == ["aten.sort.default [[2, 3], 0] {}"]


def test_linear_in_a_mode_has_its_gradients() -> None:
    x, w, b = torch.rand(2, 1, 3), torch.rand(4, 3, requires_grad=True), torch.rand(4, requires_grad=True)
    expected = torch.autograd.grad(torch.nn.functional.linear(x, w, b).sin().sum(), (w, b))
    with Log():
        found = torch.autograd.grad(torch.nn.functional.linear(x, w, b).sin().sum(), (w, b))
    for e, f in zip(expected, found, strict=True):
        torch.testing.assert_close(f, e)


@pytest.mark.parametrize(
    ("answer", "call", "text"),
    [
        (
            NotImplemented,
            lambda T, x: T.ones(1),
            "Multiple dispatch failed for 'torch._ops.aten.ones.default'; all __t",
        ),
        (
            NotImplemented,
            lambda T, x: x.max(0),
            "Multiple dispatch failed for 'torch._ops.aten.max.dim'; all __torch_d",
        ),
        ("arf", lambda T, x: T.ones(1), "Unable to cast arf to Tensor"),
        ("arf", lambda T, x: x + 1, "Unable to cast arf to Tensor"),
        ((1,), lambda T, x: x.add_(1), r"Unable to cast \(1,\) to Tensor"),
        (3, lambda T, x: x.split(1), "Unable to cast Python instance of type <class 'int'> to C\\+\\+ type"),
        (3, lambda T, x: x.max(0), "Object of type 'int' is not an instance of 'sequence'"),
    ],
)
def test_answers_that_are_no_results(T: Any, answer: Any, call: Any, text: str) -> None:
    class Wrong(T.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return answer

    x = T.ones(2)
    with Wrong(), pytest.raises((RuntimeError, TypeError), match=text):
        call(T, x)

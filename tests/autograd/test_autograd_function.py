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


def test_a_returned_input_after_another_tensor_was_reshaped_in_place() -> None:
    """Its view is made again from its base's history by the operator that is noted for it."""

    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    T.zeros(2, 3).t_()
    x = T.ones(2, requires_grad=True).clone()
    view = Same.apply(x)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        _ = view * 2


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x.view_as(x), lambda ctx, x: x[:1]])
def test_a_view_of_a_function_that_was_not_recorded(forward: Any) -> None:
    """A write that would have to be recorded is refused, as after a call that was."""
    F = type("F", (T.autograd.Function,), {"forward": staticmethod(forward)})
    view = F.apply(T.ones(2))
    view.add_(1)
    for write in (lambda v, y: v.mul_(y), lambda v, y: v.copy_(y)):
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            write(view, T.ones(1, requires_grad=True))


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.__setitem__(0, 3), lambda x: x.view(2).fill_(1)])
def test_a_saved_input_without_history_that_is_written(write: Any) -> None:
    class Times(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x)
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return None, g * x

    x, w = T.ones(2), T.ones(2, requires_grad=True)
    y = Times.apply(x, w)
    write(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert w.grad is None


def _pure(forward: Any) -> Any:
    class Pure(T.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx._is_pure_view = True
            return forward(*args)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            Pure.calls += 1
            return T.cat((g, T.zeros(1)))

    return Pure


def test_a_write_to_a_pure_view_rewrites_its_base() -> None:
    """The function's backward does not see the write, as the hooks of a view's old value do not."""
    first_two = _pure(lambda x: x[:2])
    x = T.ones(3, requires_grad=True)
    base = x * 1
    view = first_two.apply(base)
    view *= 5
    assert (view.grad_fn.name(), base.grad_fn.name()) == ("AsStridedBackward0", "torch::autograd::CopySlices")
    base.sum().backward()
    assert (x.grad.tolist(), first_two.calls) == ([5.0, 5.0, 1.0], 0)
    first_two.apply(x * 1).sum().backward()
    assert (x.grad.tolist(), first_two.calls) == ([6.0, 6.0, 1.0], 1)


def test_a_pure_view_has_one_tensor_and_one_output() -> None:
    a, b = T.ones(3), T.ones(3)
    for forward, args in (
        (lambda x, y: x[:2], (a, b)),
        (lambda x: (x[:2], x[1:]), (a,)),
        (lambda x: (x[:2], 5), (a,)),
    ):
        with pytest.raises(RuntimeError, match="can only have one input Tensor and one output Tensor"):
            _pure(forward).apply(*args)
    assert _pure(lambda x, n: x[:n]).apply(a, 2).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        _pure(lambda x: (x * 2)[:2]).apply(T.ones(3, requires_grad=True) * 1).add_(1)


def test_an_instance_has_what_nodes_have() -> None:
    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        f = Same()
    leaf = T.ones(1, requires_grad=True)
    leaf._backward_hooks = {}
    assert f.next_functions == f._input_metadata == f.saved_tensors == f._raw_saved_tensors == ()
    assert f.name() == "Same"
    assert f.metadata == {}
    f._set_sequence_nr(2)
    assert f._sequence_nr() == 2
    assert f._register_hook_dict(leaf) is None
    f.register_hook(lambda given, taken: None).remove()
    with pytest.raises(RuntimeError, match="_register_hook_dict expected a Tensor"):
        f._register_hook_dict(2)
    with pytest.raises(AttributeError, match="'Same' object has no attribute 'nothing'"):
        f.nothing


def test_an_output_without_a_derivative_is_saved_without_a_history() -> None:
    class Gated(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            factor = x * 2
            ctx.mark_non_differentiable(factor)
            ctx.save_for_backward(factor)
            return x * factor, factor

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            (factor,) = ctx.saved_tensors
            assert not factor.requires_grad
            return g * factor

    x = T.ones(2, requires_grad=True)
    y = Gated.apply(x)[0]
    assert y.grad_fn.saved_tensors[0].is_leaf
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    assert not g.requires_grad


def test_hooks_of_a_node_get_a_cotangent_for_each_output() -> None:
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x.detach().long()

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            return g * 2

    seen: list[Any] = []
    y = Two.apply(T.ones(2, requires_grad=True))[0]
    y.grad_fn.register_prehook(lambda given: seen.append([g is None for g in given]))
    y.grad_fn.register_hook(lambda made, given: seen.append([g is None for g in given]))
    y.sum().backward()
    assert seen == [[False, True], [False, True]]

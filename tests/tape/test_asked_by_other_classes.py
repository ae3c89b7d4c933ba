"""What the classes of PyTorch's autograd suite beside TestAutograd ask of the tape."""

from __future__ import annotations

from typing import Any

import wengert as T
from wengert._tape.node import Node


def test_the_order_of_nodes_can_be_changed() -> None:
    x, y, z = (T.ones(2, requires_grad=True) for _ in range(3))
    a, b = x + y, y + z
    c = a + b
    order: list[str] = []
    for name, t, number in (("a", a, 100), ("b", b, 99), ("c", c, 98)):
        t.grad_fn._set_sequence_nr(number)
        assert t.grad_fn._sequence_nr() == number
        t.register_hook(lambda g, name=name: order.append(name))
    try:
        c.sum().backward(retain_graph=True)
        assert order == ["c", "a", "b"]
        assert (x.grad.tolist(), y.grad.tolist()) == ([1, 1], [2, 2])
        assert [g.tolist() for g in T.autograd.grad(c.sum(), (x, y, z))] == [[1, 1], [2, 2], [1, 1]]
    finally:
        Node.renumbered = False


def test_whether_the_running_pass_keeps_the_graph() -> None:
    seen: list[bool] = []
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(T._C._autograd._get_current_graph_task_keep_graph()))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert seen == [True, False]


def test_hooks_of_leaves_run_in_the_order_of_accumulation_also_with_inputs() -> None:
    order: list[str] = []

    class Noted(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
            order.append("function")
            return g

    a, b = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    b.register_hook(lambda g: order.append("leaf"))
    (Noted.apply(a) * b).sum().backward(inputs=(a, b))
    assert order == ["leaf", "function"]


def test_operators_on_inference_tensors_alone_are_not_recorded() -> None:
    with T.inference_mode():
        c = T.ones(2, requires_grad=True)
    for y in (c * c, c.exp(), T.cat([c, c]), c.view(2, 1)):
        assert not y.requires_grad
    assert (c + 1).requires_grad
    assert (c + T.ones(2)).requires_grad

"""``_raw_saved_NAME``: what nodes hold, with and without hooks, and saved tensors that a program makes."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch
from wengert._tape import saved_names
from wengert._tape.node import Node, unnamed

make = torch._C._autograd._make_saved_tensor


def test_the_data_are_the_tensor_that_was_saved() -> None:
    a, k = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0])
    b = a.exp()
    c, d = b * a, a * k
    assert c.grad_fn._raw_saved_self.data is b is c.grad_fn._raw_saved_self.unpack()
    assert c.grad_fn._raw_saved_other.data is a
    assert d.grad_fn._raw_saved_other.data is k
    assert d.grad_fn._saved_other is k
    own = b.grad_fn._raw_saved_result.data  # the node's own result: without the history that leads back to it
    assert (own.requires_grad, own.tolist()) == (False, b.tolist())
    saved = c.grad_fn._raw_saved_self
    c.sum().backward()
    assert saved.data is None


def test_packed_data_are_what_the_hook_returned() -> None:
    a = torch.tensor([2.0], requires_grad=True)

    def unpack(pair: Any) -> Any:
        return pair[0]

    with torch.autograd.graph.saved_tensors_hooks(lambda t: (t, "kept"), unpack):
        b = a**2
    saved = b.grad_fn._raw_saved_self
    assert saved.data[0] is a
    assert saved.data[1] == "kept"
    assert saved.unpack_hook is unpack


def test_values_of_custom_functions() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            z = x * y
            ctx.save_for_backward(x, y, z, None)
            return z

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y, _, _ = ctx.saved_tensors
            return g * y, g * x

    y = torch.tensor([2.0], requires_grad=True)
    x = y * 1
    z = Product.apply(x, y)
    first, second, third, none = z.grad_fn._raw_saved_tensors
    assert first.data is x is first.unpack()
    assert second.data is y is second.unpack()
    assert (third.data.requires_grad, none.data, none.unpack(), first.unpack_hook) == (False, None, None, None)
    first.register_hooks(lambda t: t * 10, lambda t: t)
    assert (first.data.tolist(), first.unpack().tolist()) == ([20.0], [20.0])
    z.sum().backward()
    assert y.grad.tolist() == [22.0]
    assert second.data is None


def test_a_program_makes_one() -> None:
    a, k = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0])
    x = a * 1
    for t in (a, k, x):
        saved = make(t, False)
        assert saved.data is t is saved.unpack()
    saved = make(a, is_output=True)  # a leaf is nobody's result
    saved.register_hooks(lambda t: t * 2, lambda t: t + 1)
    assert (saved.data.tolist(), saved.unpack().tolist()) == ([4.0], [5.0])
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="has been detached in-place"):
        make(x, True).unpack()
    saved = make(x, False)
    x.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of Add, is at version 1; expected version 0"):
        saved.unpack()
    for wrong in ((None, False), (3, True), (a, 1)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            make(*wrong)


def test_one_goes_through_the_hooks() -> None:
    a = torch.tensor([2.0], requires_grad=True)
    counts = [0, 0]

    def count(which: int, t: Any) -> Any:
        counts[which] += 1
        return t

    with torch.autograd.graph.saved_tensors_hooks(lambda t: count(0, t), lambda t: count(1, t)):
        saved = make(a, False)
        first, second = saved.unpack(), saved.unpack()
    assert counts == [1, 2]
    assert first.tolist() == second.tolist() == [2.0]
    assert (first is a, first.requires_grad) == (False, True)


def test_an_interrupted_look_at_a_node_leaves_the_names_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name was taken out of the set before its attribute was made: after Ctrl-C nodes never had it, and of two
    threads one found the set not empty and nothing in it."""

    def interrupted(key: str) -> Any:
        raise KeyboardInterrupt

    unnamed.add("interrupted")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(saved_names, "_Saved", interrupted)
        saved_names.name_all()
    saved_names.name_all()
    assert not unnamed and isinstance(Node._saved_interrupted, saved_names._Saved)  # type: ignore[attr-defined]
    for name in ("_saved_interrupted", "_raw_saved_interrupted"):
        monkeypatch.delattr(Node, name)
    monkeypatch.setattr(saved_names, "_named", saved_names._named - {"interrupted"})

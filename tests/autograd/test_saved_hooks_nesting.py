"""Saved-tensor hooks that are entered and left in another order than ``with`` does, as in the middle of a pass."""

from __future__ import annotations

import weakref

import wengert as torch

hooks = torch.autograd.graph.saved_tensors_hooks


def test_a_hook_that_leaves_its_context() -> None:
    """Leaving takes the innermost pair away, and restores no other mode: recording stays as it is."""

    def unpack(x: torch.Tensor) -> torch.Tensor:
        inner.__exit__()
        return x

    inner, outer = hooks(lambda x: x, unpack), hooks(lambda x: x, lambda x: x)
    for _ in range(3):
        with outer:
            inner.__enter__()
            torch.randn(3, requires_grad=True).sin().sum().backward()
    for _ in range(3):
        inner.__exit__()
    assert torch.is_grad_enabled()
    assert torch._C._autograd._top_saved_tensors_default_hooks() is None
    y = torch.ones(2, requires_grad=True).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


def test_one_that_is_left_without_being_entered() -> None:
    hooks(lambda x: x, lambda x: x).__exit__()
    assert torch._C._autograd._top_saved_tensors_default_hooks() is None


def test_a_pack_hook_sees_the_history_of_a_result_that_is_saved() -> None:
    seen = []

    def pack(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.requires_grad, type(x.grad_fn).__name__, x.is_leaf))
        return x

    x = torch.rand(2, 2, requires_grad=True)
    with hooks(pack, lambda x: x):
        y = x.exp()
        torch.softmax(x, 0)
        torch.linalg.qr(x)
    assert seen == [(True, f"{name}Backward0", False) for name in ("Exp", "Softmax", "LinalgQr", "LinalgQr")]
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_it_makes_no_cycle(no_gc: None) -> None:
    x = torch.rand(2, requires_grad=True)
    with hooks(lambda x: (x,), lambda x: x[0]):
        node = weakref.ref(x.exp().grad_fn)
    assert node() is None

"""Saved-tensor hooks that are entered and left in another order than ``with`` does, as in the middle of a pass."""

from __future__ import annotations

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

"""The attributes that a custom function may give its context: every name, except those that PyTorch's own has."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch

# Names of the engine's own at some time, and names that programs are likely to use.
NAMES = (
    "h seq code lasti fx edges outputs saved release shape shapes params result hooks p s r x y n k a b c "
    "i j step index indices mask scale size stride padding kernel dim dims weight bias eps alpha beta "
    "gamma hidden state config args kwargs meta cell box version writer node graph backward_fn forward_fn "
    "inputs input output grad layer order "
)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("name", NAMES.split())
def test_a_context_takes_any_attribute(name: str) -> None:
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            setattr(ctx, name, "mine")
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(getattr(ctx, name))
            return g * 2 + ctx.saved_tensors[0] * 0

    x = torch.ones(3, requires_grad=True)
    other = torch.ones(3, requires_grad=True)
    y = Double.apply(x * 1)
    assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    y.register_hook(lambda g: g + 1)
    (y * other).sum().backward(inputs=[x])
    assert seen == ["mine"] and x.grad.tolist() == [4.0] * 3
    with torch.autograd.detect_anomaly():
        (grad,) = torch.autograd.grad(Double.apply(x).sum(), x, create_graph=True)
    assert grad.tolist() == [2.0] * 3

"""Helpers of tests of modules."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ... import nn
from ..._tape.tensor import Tensor
from ._test_case import TestCase
from .common_utils import freeze_rng_state as freeze_rng_state  # noqa: PLC0414  programs import it from here

__all__: list[str] = []


class NNTestCase(TestCase):
    """Base of the tests of modules."""


def get_reduction(m: Any) -> str:
    """How a loss reduces."""
    return m.reduction


def get_weight(m: Any) -> Any:
    """The weight of a loss, or ``None``."""
    return getattr(m, "weight", None)


def _create_basic_net() -> tuple[Any, Any, Any]:
    """A layer, a net with such a layer, and a sequence with that net twice; all with a parameter and a buffer."""

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer_dummy_param = nn.Parameter(torch.empty(3, 5))
            self.layer_dummy_buf = nn.Buffer(torch.zeros(1, 3, 3, 7))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l1 = Layer()
            self.dummy_param = nn.Parameter(torch.empty(3, 5))
            self.dummy_buf = nn.Buffer(torch.zeros(7, 3, 3, 1))

    net = Net()
    return Layer(), net, nn.Sequential(net, net)


def _test_bfloat16_ops(
    test_case: Any, op: Any, device: Any, inp_dims: Any = (), prec: float = 1e-2, scale_factor: float | None = None
) -> None:
    """Compare a module's result and gradient in bfloat16 with those in float32."""
    start = torch.randn(inp_dims, device=device) if scale_factor is None else torch.rand(inp_dims) * scale_factor
    x = start.requires_grad_()
    out = op(x)
    g = torch.randn_like(out)
    out.backward(g)
    y = x.detach().bfloat16().requires_grad_()
    narrow = op.bfloat16()(y)
    narrow.backward(g.bfloat16())
    for one, other in ((out, narrow), (x.grad, y.grad)):
        test_case.assertEqual(one, other, atol=prec, rtol=prec, exact_dtype=False)


def _test_module_empty_input(
    test_case: Any, module: Any, inp: Tensor, check_size: bool = True, inference: bool = False
) -> None:
    """Run a module on a tensor without elements; its gradients are zeros."""
    if not inference:
        inp.requires_grad_()
    out = module(inp)
    if check_size:
        test_case.assertEqual(out.size(), inp.size())
    if inference:
        return
    out.backward(torch.rand_like(out))
    for p in (*module.parameters(), inp):
        if p.requires_grad:
            test_case.assertEqual(p.grad, torch.zeros_like(p))

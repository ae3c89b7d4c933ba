"""float16: one rounding where PyTorch has one. `tests/compare` has the operator database; here float32 is the judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as torch

F = torch.nn.functional

ONCE: dict[str, Callable[..., Any]] = {
    "addcmul": lambda x, y: torch.addcmul(x, y, y, value=0.3),
    "addcdiv": lambda x, y: torch.addcdiv(y, x, y, value=0.3),
    "adaptive_avg_pool1d": lambda x, y: F.adaptive_avg_pool1d(x, 7),
    "celu": lambda x, y: F.celu(x, 2.0),
    "deg2rad": lambda x, y: torch.deg2rad(x),
    "elu": lambda x, y: F.elu(x),
    "gelu": lambda x, y: F.gelu(x),
    "gelu of tanh": lambda x, y: F.gelu(x, approximate="tanh"),
    "glu": lambda x, y: F.glu(x),
    "hardsigmoid": lambda x, y: F.hardsigmoid(x),
    "hardswish": lambda x, y: F.hardswish(x),
    "leaky_relu": lambda x, y: F.leaky_relu(x),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "linear": lambda x, y: F.linear(x, y, y[:, 0]),
    "logsigmoid": lambda x, y: F.logsigmoid(x),
    "mish": lambda x, y: F.mish(x),
    "selu": lambda x, y: F.selu(x),
    "sigmoid": lambda x, y: torch.sigmoid(x),
    "silu": lambda x, y: F.silu(x),
    "softplus": lambda x, y: F.softplus(x, 2.0, 1.0),
}
DERIVED = ("celu", "deg2rad", "elu", "gelu", "hardswish", "leaky_relu", "mish", "selu", "silu", "softplus")


def _operands() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return tuple(torch.from_numpy(rng.standard_normal((20, 16)).astype(np.float16)) for _ in range(2))


def _exactly(x: Any, y: Any) -> bool:
    return x.dtype is y.dtype and torch.equal(x, y)


@pytest.mark.parametrize("name", list(ONCE))
def test_rounded_once(name: str) -> None:
    x, y = _operands()
    assert _exactly(ONCE[name](x, y), ONCE[name](x.float(), y.float()).half())


def test_large_tensors_are_rounded_once_too() -> None:
    x = torch.from_numpy(np.random.default_rng(0).standard_normal(1 << 18).astype(np.float16))
    for name in ("silu", "gelu", "sigmoid", "leaky_relu"):
        assert _exactly(ONCE[name](x, x), ONCE[name](x.float(), x).half())


@pytest.mark.parametrize("name", DERIVED)
def test_gradient_rounded_once(name: str) -> None:
    x, y = _operands()
    grads = []
    for leaf, g in ((x.clone(), y), (x.float(), y.float())):
        leaf.requires_grad_()
        grads += torch.autograd.grad(ONCE[name](leaf, leaf), leaf, g)
    assert _exactly(grads[0], grads[1].half())


def test_tanh_and_attention() -> None:
    x, y = _operands()
    leaf = x.clone().requires_grad_()
    result = leaf.tanh()
    (g,) = torch.autograd.grad(result, leaf, y)
    wide = result.detach().float()
    assert _exactly(g, (y.float() * (1 - wide * wide)).half())
    q, k = x.view(1, 20, 16), y.view(1, 20, 16)
    assert _exactly(F.scaled_dot_product_attention(q, k, k),
                    F.scaled_dot_product_attention(q.float(), k.float(), k.float()).half())  # fmt: skip


def test_products_with_a_sum() -> None:
    x, y = _operands()
    for call in (
        lambda c, a, b: torch.addmm(c, a, b),
        lambda c, a, b: torch.addmm(c, a, b, alpha=0.3, beta=0.7),
        lambda c, a, b: torch.baddbmm(c, a[None], b[None], alpha=0.3),
    ):
        operands = x @ y.t(), x, y.t()
        assert _exactly(call(*operands), call(*[t.float() for t in operands]).half())


def test_double_becomes_half_by_way_of_float() -> None:
    near_a_tie = 1 + 2.0**-11 + 2.0**-30  # float32 rounds it to the tie, which float16 rounds to even
    x = torch.tensor([near_a_tie], dtype=torch.float64)
    assert x.half().item() == 1
    assert x.clone().requires_grad_().half().item() == 1
    assert torch.zeros(1, dtype=torch.float16).copy_(x).item() == 1

"""torch.fx.experimental.proxy_tensor: graphs of operators compute what the functions do, on other inputs too."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import wengert as torch
from wengert import nn
from wengert.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from wengert.utils._pytree import tree_leaves

F = nn.functional
WEIGHT = torch.nn.Parameter(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))
LAYERS = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4), nn.Linear(4, 2), nn.Softmax(1))
ENCODER = nn.TransformerEncoderLayer(3, 1, 8, batch_first=True).eval()


def slopes(x: Any) -> Any:
    x = x.detach().requires_grad_()
    hidden = torch.tanh(x @ WEIGHT)
    loss = (hidden * hidden).sum() + F.cross_entropy(x @ WEIGHT, torch.tensor([0, 2])) + x.exp().mean()
    return torch.autograd.grad(loss, [x, WEIGHT])


def written(x: Any) -> Any:
    y = x.clone()
    y[0].add_(1)
    y[1] = 5
    y.mul_(x)
    return y.sum(0), torch.add(x, 1, out=torch.empty(2, 3))


FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: torch.sin(x) + 1,
    lambda x: x.view(-1).softmax(0).mean(),
    lambda x: torch.cat([x, x]).transpose(0, 1).contiguous(),
    lambda x: torch.zeros_like(x) + torch.arange(3) * x.sum(),
    lambda x: torch.max(x, 1)[0] + x.split(1)[0].sum(),
    lambda x: F.max_pool2d(F.conv2d(x.reshape(1, 1, 2, 3), torch.ones(1, 1, 2, 2)), (1, 2)),
    lambda x: {"a": x * 2, "b": (x[0], [x[:, None]])},
    lambda x: torch.func.grad(lambda w: ((x @ w) ** 2).mean())(WEIGHT),
    lambda x: torch.func.grad(torch.func.grad(lambda t: (t**3).sum()))(x.sum()),
    slopes,
    written,
    LAYERS,
    lambda x: ENCODER(x[None]),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_graph_computes_what_the_function_does(f: Any) -> None:
    gm = make_fx(f)(torch.randn(2, 3))
    gm.graph.lint()
    assert get_proxy_mode() is None
    x = torch.randn(2, 3)
    want, got = tree_leaves(f(x)), tree_leaves(gm(x))
    assert len(want) == len(got)
    for a, b in zip(want, got, strict=True):
        torch.testing.assert_close(a, b)


def test_what_a_failed_call_left_unfinished_is_no_constant() -> None:
    unfinished = torch.Tensor.__new__(torch.Tensor)  # as the traceback of an operator that failed may hold it
    assert len(make_fx(lambda x: x.sin())(torch.ones(2)).graph.nodes) == 3
    del unfinished


def test_operators_have_the_names_of_aten() -> None:
    gm = make_fx(lambda x, w: (x @ w).relu().sum())(torch.randn(2, 3), torch.randn(3, 3))
    assert [n.name for n in gm.graph.nodes] == ["x_1", "w_1", "mm", "relu", "sum_1", "output"]
    assert "relu = torch.ops.aten.relu.default(mm)" in gm.code
    assert gm.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default)[0].meta["val"].shape == (2, 3)
    x, w = torch.randn(2, 3), torch.randn(3, 3)
    assert torch.equal(pickle.loads(pickle.dumps(gm))(x, w), gm(x, w))


def test_operators_of_aten_take_their_first_argument_by_name() -> None:
    x, y = torch.tensor([1.0, -2.0]), torch.zeros(2)
    assert torch.equal(torch.ops.aten.log_sigmoid(self=x), F.logsigmoid(x))
    assert torch.equal(torch.ops.aten.mse_loss.default(self=x, target=y, reduction=2), torch.tensor(5.0))
    assert torch.equal(torch.ops.aten.cross_entropy_loss(x[None], torch.tensor([0]), None, 2), F.cross_entropy(x[None], torch.tensor([0])))


def test_nested_inputs_are_flattened() -> None:
    gm = make_fx(lambda d: d["x"] * d["y"][0])({"x": torch.ones(2), "y": [torch.ones(2)]})
    assert torch.equal(gm({"x": torch.full((2,), 2.0), "y": [torch.full((2,), 3.0)]}), torch.full((2,), 6.0))


def test_what_has_no_operators_is_refused_and_not_a_constant() -> None:
    x = torch.randn(2, 3)
    with pytest.raises(NotImplementedError, match="no operator computed"):
        make_fx(torch.func.vmap(lambda t: t.sum()))(x)
    with pytest.raises(NotImplementedError, match="no operator computed"):
        make_fx(lambda x: torch.func.jvp(torch.sin, (x,), (x,)))(x)
    with pytest.raises(NotImplementedError, match="backward"):
        make_fx(lambda x: x.requires_grad_().sum().backward())(x)
    assert get_proxy_mode() is None
    assert torch.autograd.grad((WEIGHT * 2).sum(), WEIGHT)[0].sum() == 18  # all is as before

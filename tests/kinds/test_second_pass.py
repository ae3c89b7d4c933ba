"""When a second backward pass through the same graph is refused: one rule for all operators (README.md, Differences).

A pass frees what nodes saved. A node that saved a tensor refuses a second pass; one that saved none, because its
formula names neither operands nor results, runs again.
"""

from __future__ import annotations

from typing import Any

import pytest
from op_cases import arguments, call, cases, differentiable, is_variable, tensors

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._tape.node import Port
from wengert._tape.saved_hooks import places

NAMES = sorted({n for n, _ in cases() if REGISTRY[n].node is not None and REGISTRY[n].no_derivative is None})
REFUSED = "Trying to backward through the graph a second time"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_where_a_tensor_was_saved(name: str) -> None:
    for i in (i for n, i in cases() if n == name):
        operands, params = arguments(name, i)
        underived = REGISTRY[name].__dict__.get("underived", ())
        ks = [k for k, a in enumerate(operands) if is_variable(a) and k not in underived]
        ins = tensors(operands, requires_grad=ks)
        outs = [o for o in differentiable(name, call(name, ins, params)) if o.requires_grad] if ks else []
        if not outs:
            continue
        node: Any = outs[0]._node.fx if type(outs[0]._node) is Port else outs[0]._node

        def passed(outs: Any = outs, wanted: Any = tuple(ins[k] for k in ks)) -> None:
            torch.autograd.grad(outs, wanted, [torch.ones_like(o) for o in outs], allow_unused=True)

        saved = bool(places(node))
        passed()
        if saved:
            with pytest.raises(RuntimeError, match=REFUSED):
                passed()
        else:
            passed()


def function(saves: bool) -> Any:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            if saves:
                ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 if not saves else g * 2 + 0 * ctx.saved_tensors[0]

    return Twice.apply


FREE = [
    lambda x: x * 2, lambda x: x / 2, lambda x: x + x, lambda x: -x, lambda x: x.t(), lambda x: x[0], lambda x: x.sum(),
    lambda x: x.mean(), lambda x: torch.cat([x, x]), lambda x: x.real, lambda x: x.double(), lambda x: x.clone(),
    lambda x: torch.nn.functional.avg_pool2d(x[None], 2), function(saves=False),
    lambda x: torch.nn.functional.pad(x[None], (1, 1), mode="reflect"),
]  # fmt: skip
SAVING = [
    lambda x: x * x, lambda x: x.exp(), lambda x: x @ x, lambda x: x.relu(), lambda x: x[torch.tensor([0, 1])],
    lambda x: x.max(), lambda x: x.sort()[0], lambda x: torch.nn.functional.linear(x, x), function(saves=True),
    lambda x: x * torch.ones(3, 3), lambda x: torch.where(x > 0, x, 0.0),
    lambda x: x.gather(0, torch.zeros(1, 3).long()),
]  # fmt: skip


@pytest.mark.parametrize("f", FREE)
def test_what_saves_nothing_runs_again(f: Any) -> None:
    x = torch.randn(3, 3, requires_grad=True)
    y = f(x).sum()
    y.backward()
    first = x.grad.clone()
    y.backward()
    assert torch.equal(x.grad, 2 * first)


@pytest.mark.parametrize("f", SAVING)
def test_what_saves_is_refused(f: Any) -> None:
    x = torch.randn(3, 3, requires_grad=True)
    y = f(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match=REFUSED):
        y.backward()

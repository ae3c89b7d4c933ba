"""Compiled functions beside PyTorch's: what they raise, and what ``torch.compile`` refuses."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import wengert

pytestmark = pytest.mark.compare


def _floats(t: Any) -> Any:
    return t.arange(12.0).reshape(3, 4)


#: by what they do with a tensor of shape (3, 4); ``t`` is the library
REFUSED = {
    "matmul": lambda t, x: x @ t.ones(7, 7),
    "view": lambda t, x: x.t().view(12),
    "cat": lambda t, x: t.cat([x, t.ones(2, 2)]),
    "broadcast in place": lambda t, x: t.ones(4).add_(x),
    "set": lambda t, x: x.clone().__setitem__(0, t.ones(7)),
    "where": lambda t, x: t.where(x > 0, x, t.ones(7)),
    "dtype in place": lambda t, x: t.ones(3, 4, dtype=t.int64).add_(0.5),
    "mean of integers": lambda t, x: t.ones(3, dtype=t.int64).mean(),
    "topk": lambda t, x: x.topk(9),
    "std": lambda t, x: t.normal(0.0, -1.0, (2,)),
    "mode": lambda t, x: t.div(x, 2, rounding_mode="up"),
    "duplicate dims": lambda t, x: x.permute(0, 0),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (7,)),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1])),
    "layer": lambda t, x: t.nn.Linear(5, 2)(x),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 2.0),
    "scatter": lambda t, x: x.clone().scatter_(0, t.zeros(1, 4, dtype=t.int64), t.ones(1, 4, dtype=t.float64)),
    # of elements
    "index": lambda t, x: x[10],
    "gather": lambda t, x: x.gather(0, t.tensor([[9]])),
    "target": lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 9])),
    "probability": lambda t, x: t.multinomial(t.tensor([-1.0, 2.0]), 1),
    "range": lambda t, x: t.nn.functional.binary_cross_entropy(t.full((2,), 5.0), t.ones(2)),
    "division": lambda t, x: t.ones(2, dtype=t.int64) // t.zeros(2, dtype=t.int64),
    "singular": lambda t, x: t.linalg.inv(t.zeros(3, 3)),
    "item": lambda t, x: x.item(),
    # of programs and of backward passes
    "dim": lambda t, x: x.sum(5),
    "key": lambda t, x: {"a": x}["b"],
    "check": lambda t, x: t._check(x.shape[0] == 9, lambda: "no"),
    "no grad": lambda t, x: (x * 2).sum().backward(),
    "not one": lambda t, x: (x * t.ones(3, 4, requires_grad=True)).backward(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(torch: Any, name: str) -> None:
    found = []
    for t, backend in ((torch, "eager"), (wengert, "numpy"), (wengert, "eager")):
        with pytest.raises(Exception) as caught:
            t.compile(lambda x, t=t: REFUSED[name](t, x), backend=backend)(_floats(t))
        said = str(caught.value).strip().partition("\n")[0]
        found.append((type(caught.value).__module__.replace("wengert", "torch"), type(caught.value).__name__, said))
    assert found[1] == found[0]
    assert found[2] == found[0]


def _double(x: Any) -> Any:
    return x * 2


def _without_options(gm: Any, example_inputs: Any) -> Any:
    return gm.forward


#: calls of ``torch.compile`` and its like that one argument makes wrong
WRONG = {
    "option": lambda t: t.compile(_double, options={"nothing": 1}),
    "option of a group": lambda t: t.compile(_double, options={"triton.nothing": 1}),
    "option's type": lambda t: t.compile(_double, options={"max_autotune": 1}),
    "option's type in a group": lambda t: t.compile(_double, options={"triton.cudagraphs": "yes"}),
    "no dict": lambda t: t.compile(_double, options=["max_autotune"]),
    "mode": lambda t: t.compile(_double, mode="fast"),
    "mode of a module": lambda t: t.nn.Linear(3, 2).compile(mode="fast"),
    "option of a module": lambda t: t.nn.Linear(3, 2).compile(options={"nothing": 1}),
    "backend of a module": lambda t: t.nn.Linear(3, 2).compile(backend="nothing"),
    "keyword of a module": lambda t: t.nn.Linear(3, 2).compile(nothing=1),
    "position of a module": lambda t: t.nn.Linear(3, 2).compile("eager"),
    "both": lambda t: t.compile(_double, mode="default", options={"max_autotune": True}),
    "backend": lambda t: t.compile(_double, backend="nothing"),
    "number": lambda t: t.compile(_double, backend=3)(t.ones(1)),
    "options that a backend does not take": lambda t: t.compile(_double, backend=_without_options, options={"a": 1})(
        t.ones(1)
    ),
    "keyword": lambda t: t.compile(_double, nothing=1),
    "dynamic": lambda t: t.compile(_double, dynamic="yes", backend="eager")(t.ones(1)),
    "no function": lambda t: t.compile(3),
    "disable": lambda t: t.compiler.disable(3),
    "list_mode_options": lambda t: t._inductor.list_mode_options("fast"),
    "stance": lambda t: t.compiler.set_stance("eager_on_recompile", force_backend="eager"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(torch: Any, name: str) -> None:
    found = []
    for t in (torch, wengert):
        with pytest.raises(Exception) as caught:
            WRONG[name](t)
        said = str(caught.value).strip().partition("\n")[0].partition(", known options are")[0]
        found.append((type(caught.value).__module__.replace("wengert", "torch"), type(caught.value).__name__, said))
    assert found[1] == found[0]


def test_options_that_are_taken(torch: Any) -> None:
    for t in (torch, wengert):
        given = []

        def backend(gm: Any, example_inputs: Any, given: Any = given, **kwargs: Any) -> Any:
            given.append(kwargs)
            return gm.forward

        for arguments in ({"options": {"a": 1}}, {"mode": "reduce-overhead"}, {"mode": "default"}, {"options": {}}):
            t._dynamo.reset()
            assert t.compile(_double, backend=backend, **arguments)(t.ones(1)).item() == 2
        assert given == [{"options": {"a": 1}}, {"mode": "reduce-overhead"}, {}, {}]
    assert wengert._inductor.list_options() == torch._inductor.list_options()
    assert wengert._inductor.list_mode_options() == torch._inductor.list_mode_options()
    for options in ({"max-autotune": True}, {"triton.cudagraphs": False, "shape_padding": True}, {"cpp.simdlen": None}):
        assert wengert.compile(_double, options=options)(wengert.ones(1)).item() == 2


def _partly(t: Any, x: Any) -> Any:
    with t.no_grad():
        y = x * 2
    return x * y


#: functions of a tensor of shape (3, 4) that requires grad
TRAINED = {
    "mlp": lambda t, x: t.relu(x @ t.ones(4, 2)).sum(),
    "two results": lambda t, x: (x * 2, x > 1, x.sin()),
    "softmax": lambda t, x: t.softmax(t.nn.functional.gelu(x), -1),
    "split": lambda t, x: t.cat(x.split(2, 1)[::-1], 1).exp(),
    "max": lambda t, x: x.max(1)[0],
    "layer norm": lambda t, x: t.nn.functional.layer_norm(x, (4,)),
    "convolution": lambda t, x: t.nn.functional.conv1d(x[None], t.ones(2, 3, 3)).tanh(),
    "detached": lambda t, x: x * x.detach(),
    "partly": _partly,
}


@pytest.mark.parametrize("name", TRAINED)
def test_forward_and_backward_graphs(torch: Any, name: str) -> None:
    found = []
    for t in (torch, wengert):
        t._dynamo.reset()
        codes = []

        def compiler(gm: Any, example_inputs: Any, codes: Any = codes) -> Any:
            codes.append((gm.code.replace("wengert", "torch"), [tuple(a.shape) for a in example_inputs]))
            boxed = lambda args: gm.forward(*args)
            boxed._boxed_call = True
            return boxed

        common = import_module("torch._dynamo.backends.common" if t is torch else "wengert._dynamo.backends.common")
        made = t.compile(lambda x, t=t: TRAINED[name](t, x), backend=common.aot_autograd(fw_compiler=compiler))
        x = _floats(t).requires_grad_()
        out = made(x)
        first = out[0] if isinstance(out, tuple) else out
        first.sum().backward()
        found.append((codes, x.grad.tolist()))
    assert found[1][0] == found[0][0]
    assert found[1][1] == [pytest.approx(row, rel=1e-5, abs=1e-6) for row in found[0][1]]

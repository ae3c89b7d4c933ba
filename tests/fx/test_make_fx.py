"""torch.fx.experimental.proxy_tensor: graphs of operators compute what the functions do, on other inputs too."""

from __future__ import annotations

import functools
import gc
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import wengert as torch
from wengert import nn
from wengert._dynamo.source import LocalSource
from wengert.fx.experimental.proxy_tensor import (
    DecompositionInterpreter,
    get_isolated_graphmodule,
    get_proxy_mode,
    make_fx,
)
from wengert.fx.experimental.symbolic_shapes import (
    GuardOnDataDependentSymNode,
    bind_symbols,
    eval_guards,
    fx_placeholder_vals,
)
from wengert.testing._internal.optests import make_fx_check
from wengert.utils._pytree import tree_leaves

F = nn.functional
NUMBERS = itertools.count(1)
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
    assert torch.equal(
        torch.ops.aten.cross_entropy_loss(x[None], torch.tensor([0]), None, 2),
        F.cross_entropy(x[None], torch.tensor([0])),
    )


def test_nested_inputs_are_flattened() -> None:
    gm = make_fx(lambda d: d["x"] * d["y"][0])({"x": torch.ones(2), "y": [torch.ones(2)]})
    assert torch.equal(gm({"x": torch.full((2,), 2.0), "y": [torch.full((2,), 3.0)]}), torch.full((2,), 6.0))


def test_what_has_no_operators_is_refused_and_not_a_constant() -> None:
    x = torch.randn(2, 3)
    with pytest.raises(NotImplementedError, match="no operator computed"):
        make_fx(torch.func.vmap(lambda t: t.sum()))(x)
    with pytest.raises(NotImplementedError, match="no operator computed"):
        make_fx(lambda x: torch.func.jvp(torch.sin, (x,), (x,)))(x)
    assert get_proxy_mode() is None
    assert torch.autograd.grad((WEIGHT * 2).sum(), WEIGHT)[0].sum() == 18  # all is as before


def step(x: Any, params: Any) -> Any:
    for p in params:
        p.grad = None
    for _ in range(2):  # the second pass adds to the gradients of the first
        (x @ params[0] + params[1]).relu().pow(2).sum().backward()
    return [p - 0.1 * p.grad for p in params]


def test_backward_writes_what_leaves_accumulate() -> None:
    x, params = torch.randn(2, 3), [torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)]
    gm = make_fx(step)(x, params)
    again = torch.randn(2, 3), [torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)]
    torch.testing.assert_close(gm(*again), step(*again))
    assert gm.graph.find_nodes(op="call_function", target=torch.ops.aten.add_.Tensor)


def test_leaf_hooks_run_before_a_leaf_accumulates() -> None:
    def slope(x: Any) -> Any:
        x.register_hook(lambda g: g * 3)
        x.sin().sum().backward()
        return x.grad

    gm = make_fx(slope)(torch.zeros(2, requires_grad=True))
    assert torch.equal(gm(torch.zeros(2)), torch.full((2,), 3.0))


def test_a_table_of_decompositions_divides_operators() -> None:
    aten = torch.ops.aten

    def addmm(bias: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        return NotImplemented if beta == 1 else beta * bias + a @ b

    def pair(x: Any, dim: int) -> Any:
        return x.amax(dim), x.argmax(dim)

    def f(x: Any) -> Any:
        values, places = x.max(1)
        return torch.addmm(x, x, x) + torch.addmm(x, x, x, beta=2) + values * places + F.silu(x)

    table = {
        aten.addmm.default: addmm,
        aten.max.dim: pair,
        aten.silu.default: lambda x: x * torch.sigmoid(x) * torch.tensor(1.0),
    }
    x, y = torch.randn(2, 3, 3)
    gm = make_fx(f, decomposition_table=table)(x)
    torch.testing.assert_close(gm(y), f(y))
    targets = [n.target for n in gm.graph.nodes]
    assert targets.count(aten.addmm.default) == 1
    assert aten.amax.default in targets and aten.max.dim not in targets and aten.silu.default not in targets
    new = torch.fx.Graph()
    whole = make_fx(f)(x)
    interpreter = DecompositionInterpreter(whole, new, decomposition_table=table)
    torch.testing.assert_close(interpreter.run(y), f(y))
    torch.testing.assert_close(torch.fx.GraphModule(whole, new)(x), f(x))
    assert [n.target for n in new.nodes if n.op == "call_function"].count(aten.addmm.default) == 1


@pytest.mark.parametrize("number", [lambda x: x.sum().item(), lambda x: bool(x[0] > 0), lambda x: torch.allclose(x, x)])
def test_numbers_of_the_examples_are_refused(number: Any) -> None:
    with pytest.raises(RuntimeError, match="data-dependent"):
        make_fx(lambda x: x * number(x))(torch.ones(2))


def test_numbers_of_constants_are_not() -> None:
    scale = torch.tensor(2.0)
    gm = make_fx(lambda x: x * scale.item() * torch.tensor(3.0).item())(torch.ones(2))
    assert torch.equal(gm(torch.ones(2)), torch.full((2,), 6.0))


def test_a_trace_inside_of_another_is_not_seen_by_it() -> None:
    inner = []

    def f(x: Any) -> Any:
        inner.append(make_fx(lambda y: y.cos() + torch.ones(2))(x))
        inner.append(get_isolated_graphmodule(lambda a, b: a.exp() + b, (x,), {"b": torch.ones(2)}))
        return inner[0](x.sin())

    gm = make_fx(f)(torch.zeros(2))
    targets = [n.target for n in gm.graph.nodes]
    assert torch.ops.aten.exp.default not in targets and targets.count(torch.ops.aten.cos.default) == 1
    assert torch.equal(gm(torch.zeros(2)), torch.full((2,), 2.0))
    assert torch.equal(inner[1]([torch.zeros(2), torch.ones(2)]), torch.full((2,), 2.0))


def test_functions_before_autograd_are_written_whole() -> None:
    def f(x: Any, w: Any) -> Any:
        with torch.no_grad():
            y = F.linear(x, w)
        return y + torch.matmul(x, x)

    gm = make_fx(f, pre_dispatch=True)(torch.ones(2, 2), torch.ones(2, 2))
    assert [n.name for n in gm.graph.nodes if n.op == "call_function"] == [
        "_set_grad_enabled", "linear", "_set_grad_enabled_1", "matmul", "add",
    ]  # fmt: skip
    x, w = torch.randn(2, 2, 2).requires_grad_()
    (slope,) = torch.autograd.grad(gm(x, w).sum(), x)
    assert torch.equal(slope, torch.autograd.grad((x @ x).sum(), x)[0])


def test_objects_are_handed_on() -> None:
    class Counter(torch._opaque_base.OpaqueBase):
        pass

    torch._library.opaque_object.register_opaque_type(Counter, typ="reference")
    gm = make_fx(lambda x, counter: (x + 1, counter))(torch.ones(2), Counter())
    other = Counter()
    assert gm(torch.zeros(2), other)[1] is other


def test_a_call_and_its_graph_are_checked() -> None:
    for mode in ("real", "fake"):
        make_fx_check(torch.sin, (torch.ones(2),), {}, mode)
        make_fx_check(torch.mul, [torch.ones(2), torch.ones(2)], {}, mode, randomize_data=True)
    with pytest.raises(AssertionError):
        make_fx_check(lambda x: x * next(NUMBERS), (torch.ones(2),), {}, "real")


def test_a_custom_operator_is_one_node() -> None:
    @torch.library.custom_op("test_make_fx::twice", mutates_args=())
    def twice(x: torch.Tensor, k: int = 2) -> torch.Tensor:
        return x.sin() * k

    x = torch.randn(2)
    gm = make_fx(lambda x: twice(x) + 1)(x)
    assert "torch.ops.test_make_fx.twice.default(x_1)" in gm.code
    assert torch.equal(gm(x), twice(x) + 1)


def test_every_node_notes_its_value() -> None:
    m = torch.nn.Linear(2, 2)
    gm = make_fx(lambda x: torch.func.grad(lambda x: m(x).relu().sum())(x))(torch.ones(3, 2))
    nodes = [n for n in gm.graph.nodes if n.op == "call_function"]
    assert all(n.meta["tensor_meta"].shape == n.meta["val"].shape for n in nodes)
    assert next(iter(gm.graph.nodes)).name == "x_1"


def symbolic(f: Any, *args: Any) -> Any:
    return make_fx(f, tracing_mode="symbolic")(*args)


def guards(gm: Any, *names: str) -> list[str]:
    return gm.shape_env.produce_guards(fx_placeholder_vals(gm), [LocalSource(name) for name in names])


def test_a_symbolic_graph_is_one_for_other_sizes() -> None:
    norm = torch.nn.BatchNorm2d(4, track_running_stats=False)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1), norm, torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 5),
    )  # fmt: skip

    def slopes(x: torch.Tensor, parameters: Any) -> Any:
        loss = torch.func.functional_call(model, parameters, (x,)).log_softmax(1).mean()
        return torch.autograd.grad(loss, list(parameters.values()))

    parameters = dict(model.named_parameters())
    model.requires_grad_(False)
    parameters = {name: p.detach().clone().requires_grad_() for name, p in parameters.items()}
    gm = symbolic(slopes, torch.randn(2, 3, 8, 10), parameters)
    for shape in ((2, 3, 8, 10), (7, 3, 12, 6)):
        x = torch.randn(shape)
        torch.testing.assert_close(gm(x, parameters), slopes(x, parameters))


def test_comparisons_of_sizes_are_guards() -> None:
    def f(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        assert 3 < a.size(0) < 20
        assert a.size(0) == 2 * b.size(0)
        return a.cos() if b.size(1) > a.size(1) else b

    gm = symbolic(f, torch.ones(8, 3), torch.ones(4, 5))
    assert set(guards(gm, "a", "b")) == {
        "L['a'].size()[0] == 2*L['b'].size()[0]", "L['b'].size()[1] > L['a'].size()[1]",
        "L['a'].stride()[0] == L['a'].size()[1]", "L['b'].stride()[0] == L['b'].size()[1]",
        "2 <= L['b'].size()[0] and L['b'].size()[0] <= 9", "2 <= L['a'].size()[1]", "3 <= L['b'].size()[1]",
    }  # fmt: skip
    assert eval_guards(gm, torch.ones(12, 2), torch.ones(6, 7))
    assert not eval_guards(gm, torch.ones(12, 2), torch.ones(5, 7))
    assert not eval_guards(gm, torch.ones(12, 7), torch.ones(6, 2))
    assert not eval_guards(gm, torch.ones(22, 2), torch.ones(11, 7))
    assert sorted(bind_symbols(gm, torch.ones(12, 2), torch.ones(6, 7)).values()) == [2, 6, 7]


def test_operators_say_which_sizes_are_equal() -> None:
    def f(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
        return a.view(b.size(0)) + torch.cat([c, d])

    env = symbolic(f, torch.ones(4, 2), torch.ones(8), torch.ones(3), torch.ones(5)).shape_env
    assert len(env.backed_var_to_val) - len(env.replacements) == 3
    assert env.get_nontrivial_guards() == []
    fixed = symbolic(lambda x: x.view(3, 2).sum(), torch.ones(6)).shape_env
    assert list(fixed.replacements.values()) == [6]


def test_numbers_taken_out_of_tensors_are_in_symbolic_graphs() -> None:
    def f(x: torch.Tensor, n: torch.Tensor) -> Any:
        count, others = x.nonzero(), x.nonzero()
        assert count.size(0) == others.size(0)
        with pytest.raises(GuardOnDataDependentSymNode):
            bool(count.size(0) == 3)
        k = n.item()
        torch._check(k == x.size(0))
        return x[x > 0] * 2, torch.zeros(k) + x if k < 100 else None

    gm = symbolic(lambda x, n: f(x, n)[0], torch.tensor([1.0, 0.0, 2.0]), torch.tensor(3))
    assert gm(torch.tensor([1.0, 5.0, 0.0, 2.0]), torch.tensor(4)).tolist() == [2.0, 10.0, 4.0]


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
def test_tensors_that_are_no_inputs_are_refused(mode: str) -> None:
    class Own(torch.Tensor):
        pass

    gm = make_fx(lambda x: x + torch.tensor([1.0, 2.0]), tracing_mode=mode)(torch.ones(3, 2))
    assert gm(torch.ones(3, 2)).tolist() == [[2.0, 3.0]] * 3
    for tensor, error in ((WEIGHT, AssertionError), (torch.ones(3, 3).as_subclass(Own), TypeError)):
        with pytest.raises(error, match=r"^Please convert all Tensors|^Multiple dispatch failed"):
            make_fx(functools.partial(torch.ops.aten.t.default, tensor), tracing_mode=mode)()
    del Own, tensor
    gc.collect()  # functions look for overrides as long as the class lives


def test_a_called_overload_is_divided_by_its_name() -> None:
    table = {torch.ops.aten.norm.Scalar: lambda x, p: x.square().sum().sqrt()}
    gm = make_fx(lambda x: torch.ops.aten.norm.Scalar(x, 2.0), table)(torch.ones(4))
    assert not any("norm" in str(n.target) for n in gm.graph.nodes)
    assert gm(torch.tensor([3.0, 4.0])) == 5


OTHER_SIZES: list[Callable[[Any], Any]] = [
    lambda x: torch.add(x.shape[0], 3),
    lambda x: torch.add(x.shape[1], x.shape[0], alpha=3),
    lambda x: torch.full((3,), x.shape[0]),
    lambda x: x[:, :-3],
    lambda x: x[:, -3:] + x[-1, -1],
    lambda x: x[: -x.shape[0] + 1].sum() + x.select(1, -1),
    lambda x: x.narrow(1, 2, x.shape[0]) * x.narrow(-1, x.shape[0], 2).sum(),
    lambda x: torch.stack(x.chunk(2, 1)),
    lambda x: x.unflatten(1, (-1, 2)).sum(2),
    lambda x: x.diff().sum(1) + (x > 0).diff().sum(),
]


@pytest.mark.parametrize("f", OTHER_SIZES)
def test_numbers_and_places_are_not_the_examples(f: Callable[[Any], Any]) -> None:
    gm = symbolic(f, torch.ones(3, 8))
    for x in (torch.randn(3, 8), torch.randn(5, 14), torch.randn(4, 10)):
        assert torch.equal(gm(x), f(x))


def test_a_count_is_no_size_of_an_input_that_is_equal_to_it() -> None:
    def f(x: Any, mask: Any) -> Any:
        return torch.eye(3) @ x[mask]

    gm = symbolic(f, torch.ones(12, 3, 3), torch.ones(12, dtype=torch.bool))
    x, mask = torch.randn(7, 3, 3), torch.arange(7) % 3 == 0
    assert torch.equal(gm(x, mask), f(x, mask))


def test_a_decomposition_sees_the_sizes_of_a_symbolic_graph() -> None:
    aten = torch.ops.aten

    def zeros(x: Any, size: Any, **_: Any) -> Any:
        return torch.zeros(size, dtype=x.dtype) * x.shape[1]

    table = {aten.new_zeros.default: zeros, aten.silu.default: lambda x: x * torch.sigmoid(x) * x.shape[0]}

    def f(x: Any) -> Any:
        return F.silu(x) + x.new_zeros(x.size())

    gm = make_fx(f, table, "symbolic")(torch.ones(2, 3))
    x = torch.randn(5, 4)
    assert torch.allclose(gm(x), F.silu(x) * 5)
    values = {n.name: n.meta["val"] for n in gm.graph.nodes if n.op != "output"}
    assert str(tuple(values["sigmoid"].shape)) == str(tuple(values["x_1"].shape)) == str(tuple(values["zeros"].shape))


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_a_constant_is_a_number_for_makers(mode: str) -> None:
    def f(x: Any) -> Any:
        filled = torch.full((2,), torch.tensor(3.0)) + torch.arange(torch.tensor(2))
        return filled + torch.zeros(torch.tensor(2)) + torch.zeros_like(x)

    gm = make_fx(f, tracing_mode=mode)(torch.tensor(2))
    filled = gm.graph.find_nodes(op="call_function", target=torch.ops.aten.full.default)[0]
    assert filled.args == ([2], 3.0)
    assert gm(torch.tensor(7)).tolist() == [3.0, 4.0]


def test_values_that_a_trace_cannot_know() -> None:
    with pytest.raises(RuntimeError, match="trying to get value out of a tracing tensor"):
        make_fx(lambda x: torch.full((2,), x))(torch.tensor(1.0))
    with pytest.raises(torch._subclasses.fake_tensor.DataDependentOutputException, match=r"aten\.allclose\.default"):
        make_fx(lambda x: torch.allclose(x, x), tracing_mode="fake")(torch.ones(2))
    with pytest.raises(AssertionError, match="tracing_mode must be real/fake/symbolic, got other"):
        make_fx(torch.sin, tracing_mode="other")


def test_sums_of_numbers_are_in_the_graph() -> None:
    gm = make_fx(lambda x: torch.add(5, 2, alpha=2) + torch.sub(5, x, alpha=3))(torch.tensor([1.0]))
    assert gm(torch.tensor([2.0])).tolist() == [8.0]
    targets = [str(n.target) for n in gm.graph.nodes if n.op == "call_function"]
    assert targets == ["aten.add.Tensor", "aten.sub.Tensor", "aten.add.Tensor"]


@pytest.mark.parametrize(
    ("call", "target", "named"),
    [
        (lambda x: torch.add(x, 1, out=torch.ones(1)), "out", ["out"]),
        (lambda x: torch.sub(2, x, alpha=1, out=torch.ones(1)), "out", ["out"]),
        (lambda x: torch.add(1, 2, out=torch.ones(())) + x, "out", ["out"]),
        (lambda x: torch.div(x, 2, rounding_mode="floor", out=torch.ones(1)), "out_mode", ["rounding_mode", "out"]),
        (lambda x: torch.div(x, 2, rounding_mode=None), "Tensor_mode", ["rounding_mode"]),
        (lambda x: torch.sub(2, x, alpha=1), "Tensor", []),
        (lambda x: torch.sub(2, x, alpha=1.0), "Tensor", ["alpha"]),
    ],
)
def test_arithmetic_with_a_number_belongs_to_pytorchs_overload(call: Any, target: str, named: list[str]) -> None:
    arithmetic = ("aten.add", "aten.sub", "aten.div")
    nodes = make_fx(call)(torch.tensor([1.0])).graph.nodes
    first = next(n for n in nodes if str(n.target).startswith(arithmetic))
    assert str(first.target).split(".")[-1] == target
    assert list(first.kwargs) == named

"""``cond``, ``while_loop``, ``map`` and ``scan`` in graphs: a node each, which computes what other inputs need."""

from __future__ import annotations

import importlib
import io
from types import ModuleType
from typing import Any

import pytest

import wengert
from wengert.fx.experimental.proxy_tensor import make_fx
from wengert.utils import _pytree as pytree

nn, Dim = wengert.nn, wengert.export.Dim
UNCAPTURED = wengert._dynamo.exc.UncapturedHigherOrderOpError


class Calls:
    """The functions of one library."""

    def __init__(self, torch: ModuleType) -> None:
        self.torch, self.cond, self.while_loop = torch, torch.cond, torch.while_loop
        for name in ("map", "scan"):
            module = importlib.import_module(f"{torch.__name__}._higher_order_ops.{name}")
            setattr(self, name, getattr(module, name))


# a function of a library's calls and a 2 by 3 tensor; what it computes depends on the tensor's sign
FLOWS: dict[str, Any] = {
    "cond": lambda c, x: c.cond(x.sum() > 0, lambda x: x.cos(), lambda x: -x, (x,)),
    "trees": lambda c, x: c.cond(x.sum() > 0, lambda d: {"a": d["b"] + 1}, lambda d: {"a": -d["b"]}, ({"b": x},)),
    "outside": lambda c, x: (lambda y: c.cond(x.sum() > 0, lambda x: x + y, lambda x: x * y, (x,)))(x * 2),
    "no operands": lambda c, x: c.cond(x.sum() > 0, lambda: x + 1, lambda: -x),
    "nested": lambda c, x: c.cond(
        x.sum() > 0, lambda x: c.cond(x.max() > 2, lambda x: x + 1, lambda x: x + 2, (x,)), lambda x: -x, (x,)
    ),
    "two": lambda c, x: (
        c.cond(x.sum() > 0, lambda x: x + 1, lambda x: -x, (x,))
        + c.cond(x.max() > 5, lambda x: x.sin(), lambda x: x.cos(), (x,))
    ),
    "while": lambda c, x: c.while_loop(lambda x: x.sum().abs() < 50, lambda x: (x * 2 + 1,), (x,)),
    "while, outside": lambda c, x: c.while_loop(lambda y: y.sum().abs() < 50, lambda y: (y + x,), (x,)),
    "map": lambda c, x: c.map(lambda row, y: row.sum() * y, x, x[0].clone()),
    "scan": lambda c, x: c.scan(lambda a, row: (a + row, a * row), x[0].clone(), x),
    "scan, reversed": lambda c, x: c.scan(
        lambda a, row: (a + row, (a * 2, row + 1)), x[:, 0].clone(), x, dim=1, reverse=True
    ),
}  # fmt: skip
SLOPES = {
    "cond": lambda c, x: c.cond(x.sum() > 0, lambda x: x.cos().sum(), lambda x: -x.sum(), (x,)),
    "map": lambda c, x: c.map(lambda row, y: row * row * y, x, x.sum()).sum(),
}
INPUTS = [sign * wengert.arange(1.0, 7).reshape(2, 3) for sign in (1, -1, 3)]


def shown(module: Any) -> list[str]:
    """The code of a module and of those below it."""
    below = [line for m in module.children() if hasattr(m, "code") for line in shown(m)]
    return [*module.code.strip().split("\n"), *below]


def same(a: Any, b: Any) -> None:
    for x, y in zip(pytree.tree_leaves(a), pytree.tree_leaves(b), strict=True):
        wengert.testing.assert_close(x, y)


def exported(torch: ModuleType, flow: Any, x: Any, **options: Any) -> Any:
    class Flow(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return flow(Calls(torch), x)

    return torch.export.export(Flow(), (x,), **options)


def slope(torch: ModuleType, flow: Any, x: Any) -> Any:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(flow(Calls(torch), x), x)


@pytest.mark.parametrize("name", FLOWS)
def test_a_graph_takes_the_branches_of_its_inputs(name: str) -> None:
    flow, calls = FLOWS[name], Calls(wengert)
    program = exported(wengert, flow, INPUTS[0]).module()
    graph = make_fx(lambda x: flow(calls, x))(INPUTS[0])
    for x in INPUTS:
        same(program(x), flow(calls, x))
        same(graph(x), flow(calls, x))
        same(make_fx(graph)(INPUTS[0])(x), flow(calls, x))


@pytest.mark.parametrize("name", FLOWS)
def test_programs_are_saved_with_their_branches(name: str) -> None:
    def flow(c: Calls, x: Any) -> Any:
        return FLOWS[name](c, x * x.shape[0])

    program = exported(wengert, flow, INPUTS[0], dynamic_shapes={"x": {0: Dim("rows")}})
    file = io.BytesIO()
    wengert.export.save(program, file)
    file.seek(0)
    read = wengert.export.load(file)
    assert shown(read.graph_module) == shown(program.graph_module)
    for x in INPUTS:
        same(read.module()(x[:1]), flow(Calls(wengert), x[:1]))


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_take_the_branches_of_their_inputs(name: str) -> None:
    graph = make_fx(lambda x: slope(wengert, SLOPES[name], x))(INPUTS[0])
    for x in INPUTS:
        same(graph(x), slope(wengert, SLOPES[name], x))


def test_a_gradient_that_cannot_be_written_is_refused() -> None:
    def f(x: Any) -> Any:
        x = x.clone().requires_grad_()
        return wengert.autograd.grad(FLOWS["while"](Calls(wengert), x)[0].sum() + x.sum(), x)

    with pytest.raises(NotImplementedError, match="the gradient of this while_loop"):
        make_fx(f)(INPUTS[0])


@pytest.mark.parametrize("name", [name for name in FLOWS if name != "outside"])  # it is the first operand there
def test_the_graphs_are_pytorchs(torch: ModuleType, name: str) -> None:
    x = torch.arange(1.0, 7).reshape(2, 3)
    assert shown(exported(wengert, FLOWS[name], INPUTS[0]).graph_module) == shown(
        exported(torch, FLOWS[name], x).graph_module
    )


@pytest.mark.parametrize("name", FLOWS)
def test_sizes_that_differ_are_operands(name: str) -> None:
    def flow(c: Calls, x: Any) -> Any:
        return pytree.tree_map(lambda t: t + x.shape[0], FLOWS[name](c, x)), c.cond(
            x.sum() > 0, lambda x: x * x.shape[0], lambda x: x - 2 * x.shape[0] + 1, (x,)
        )

    program = exported(wengert, flow, INPUTS[0], dynamic_shapes={"x": {0: Dim("rows")}})
    for x in INPUTS:
        x = wengert.cat([x, x])
        same(program.module()(x), flow(Calls(wengert), x))


def test_sizes_of_a_symbolic_graph_are_operands() -> None:
    def flow(x: Any) -> Any:
        n = x.shape[0] * 2
        y = wengert.cond(
            x.sum() > 2, lambda x: x.sin().expand(n, x.shape[0]), lambda x: x.cos().expand(n, x.shape[0]), (x,)
        )
        return wengert.cond(x.shape[0] > 3, lambda y: y + n, lambda y: y - n, (y,))

    graph = make_fx(flow, tracing_mode="symbolic")(wengert.ones(3))
    graph.graph.lint()
    for x in (wengert.ones(2), -wengert.ones(5)):
        same(graph(x), flow(x))


def test_counts_and_numbers_inside_of_branches() -> None:
    def flow(c: Calls, x: Any) -> Any:
        found = x.nonzero()
        return c.cond(x.sum() > 0, lambda y: y * y.shape[0], lambda y: y + 1, (found,)), c.cond(
            x.sum().item() > 0, lambda x: x * x.max().item(), lambda x: -x, (x,)
        )

    program = exported(wengert, flow, wengert.tensor([1.0, 0.0, 2.0])).module()
    for x in (wengert.tensor([1.0, 1.0, 2.0]), wengert.tensor([0.0, 0.0, -2.0])):
        same(program(x), flow(Calls(wengert), x))


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return wengert.cond(x.sum() > 0, lambda x: self.linear(x) + wengert.tensor([1.0, 2.0, 3.0]), lambda x: -x, (x,))


def test_branches_are_divided_by_a_table() -> None:
    gated = Gated()
    program = wengert.export.export(gated, (INPUTS[0],), dynamic_shapes=({0: Dim("rows")},))
    table = {wengert.ops.aten.linear.default: lambda x, w, b: x @ w.t() + b}
    divided = program.run_decompositions(table)
    assert "linear" in "".join(shown(program.graph_module)) and "linear.d" not in "".join(shown(divided.graph_module))
    for x in INPUTS:
        same(divided.module()(x[:1]), gated(x[:1]))
    graph = make_fx(lambda x: wengert.cond(x.sum() > 0, lambda x: wengert.nn.functional.silu(x), lambda x: -x, (x,)), {
        wengert.ops.aten.silu.default: lambda x: x * x.sigmoid()
    })(INPUTS[0])  # fmt: skip
    assert "silu" not in "".join(shown(graph))
    same(graph(INPUTS[2]), wengert.nn.functional.silu(INPUTS[2]))


def test_gradients_of_parameters_that_branches_use() -> None:
    gated = Gated()

    def f(x: Any) -> Any:
        return wengert.autograd.grad(gated(x).sum(), list(gated.parameters()), allow_unused=True)

    graph = make_fx(f)(INPUTS[0])
    same(graph(INPUTS[2]), f(INPUTS[2]))
    assert not any(g.any() for g in graph(INPUTS[1]))


@pytest.mark.parametrize(
    "branch",
    [lambda x: x, lambda x: x.view(3, 2).t(), lambda x: x.add_(1), lambda x: (x + 1)[:1], lambda x: 1.0],
)
def test_functions_that_no_graph_can_hold(branch: Any) -> None:
    with pytest.raises(UNCAPTURED, match=r"^This higher order operator doesn't work unless"):
        make_fx(lambda x: wengert.cond(x.sum() > 0, branch, lambda x: x * 2, (x,)))(INPUTS[0].clone())


def test_cond_takes_each_elements_branch_inside_of_vmap() -> None:
    f = wengert.vmap(lambda p, x: wengert.cond(p, lambda x: x + 1, lambda x: x * 2, (x,)))
    assert f(wengert.tensor([True, False]), wengert.tensor([1.0, 5.0])).tolist() == [2.0, 10.0]


def test_traces_of_jit_have_both_branches() -> None:
    module = Gated()
    with pytest.warns(DeprecationWarning, match="is deprecated"):
        traced = wengert.jit.trace(module, INPUTS[0])
    for x in INPUTS:
        same(traced(x), module(x))


def test_numbers_beside_results_with_a_history_are_results_of_the_call() -> None:
    linear = nn.Linear(3, 3)

    def flow(c: Calls, x: Any) -> Any:
        return c.while_loop(lambda i, y: i < x.sum(), lambda i, y: (i + 1, linear(y)), (wengert.tensor(0), x * 2))

    program = exported(wengert, flow, INPUTS[0]).module()
    graph = make_fx(lambda x: flow(Calls(wengert), x))(INPUTS[0])
    for x in INPUTS:
        assert program(x)[0] == graph(x)[0] == flow(Calls(wengert), x)[0]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (lambda x: (x.long(),), "dtype: torch.int64 vs"),
        (lambda x: (wengert.cat([x, x]),), r"shape: torch.Size\(\[6\]\) vs"),
    ],
)
def test_a_loop_carries_tensors_of_one_kind(body: Any, what: str) -> None:
    with pytest.raises(wengert._dynamo.exc.UncapturedHigherOrderOpError, match=what):
        wengert.while_loop(lambda x: x.sum() < 30, body, (wengert.ones(3),))

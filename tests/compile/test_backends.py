"""Backends that are functions: the graphs that they are given, and that what they return is what runs."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch
from wengert import nn

BAR = """graph():
    %l_a_ : torch.Tensor [num_users=2] = placeholder[target=L_a_]
    %l_b_ : torch.Tensor [num_users=1] = placeholder[target=L_b_]
    %abs_1 : [num_users=1] = call_function[target=torch.abs](args = (%l_a_,), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%abs_1, 1), kwargs = {})
    %x : [num_users=1] = call_function[target=operator.truediv](args = (%l_a_, %add), kwargs = {})
    %sum_1 : [num_users=1] = call_method[target=sum](args = (%l_b_,), kwargs = {})
    %lt : [num_users=1] = call_function[target=operator.lt](args = (%sum_1, 0), kwargs = {})
    return (lt, x)"""


def bar(a: Any, b: Any) -> Any:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


class Kept:
    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.runs = 0

    def __call__(self, gm: Any, example_inputs: Any) -> Any:
        self.graphs.append(gm)

        def run(*args: Any) -> Any:
            self.runs += 1
            return gm(*args)

        return run


def test_pieces_of_the_tutorial() -> None:  # the texts are PyTorch 2.13's
    kept = Kept()
    made = torch.compile(bar, backend=kept)
    a, b = torch.arange(-3.0, 3.0), torch.ones(6)
    for sign in (1, -1, 1, -1):
        assert torch.equal(made(a, sign * b), bar(a, sign * b))
    assert len(kept.graphs) == 3
    assert str(kept.graphs[0].graph).replace("wengert.", "torch.") == BAR
    assert "return (mul,)" in str(kept.graphs[1].graph) and "return (mul_1,)" in str(kept.graphs[2].graph)


def test_what_a_backend_returns_runs_with_gradients() -> None:
    kept = Kept()
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    made = torch.compile(net, backend=kept)
    x = torch.randn(5, 3)
    for _ in range(3):
        net.zero_grad()
        net(x).sum().backward()
        wanted = [p.grad.clone() for p in net.parameters()]
        net.zero_grad()
        out = made(x)
        out.sum().backward()
        assert torch.equal(out, net(x)) and all(map(torch.equal, wanted, (p.grad for p in net.parameters())))
    assert (len(kept.graphs), kept.runs) == (1, 3)
    names = [n.name for n in kept.graphs[0].graph.nodes if n.op == "placeholder"]
    assert names[:2] == ["l_self_modules_0_parameters_weight_", "l_self_modules_0_parameters_bias_"]


def test_a_changed_graph_is_obeyed() -> None:
    def backend(gm: Any, example_inputs: Any) -> Any:
        for n in gm.graph.nodes:
            if n.target is torch.sin:
                n.target = torch.cos
        gm.recompile()
        return gm.forward

    made = torch.compile(lambda x: torch.sin(x) + 1, backend=backend)
    assert made(torch.zeros(2)).tolist() == made(torch.zeros(2)).tolist() == [2, 2]


def test_writes_in_place_happen_once() -> None:
    def step(x: Any) -> Any:
        x.add_(1)
        return x * 2

    made = torch.compile(step, backend=Kept())
    x = torch.zeros(2)
    for k in range(1, 4):
        assert made(x).tolist() == [2 * k, 2 * k] and x.tolist() == [k, k]


@pytest.mark.parametrize(("dynamic", "graphs"), [(None, 2), (True, 1), (False, 3)])
def test_graphs_for_other_sizes(dynamic: Any, graphs: int) -> None:
    kept = Kept()
    made = torch.compile(lambda x: x * 2, backend=kept, dynamic=dynamic)
    for n in (4, 5, 6):
        assert torch.equal(made(torch.ones(n)), torch.full((n,), 2.0))
    assert len(kept.graphs) == graphs


def test_mark_dynamic() -> None:
    kept = Kept()
    made = torch.compile(lambda x: x * 2, backend=kept)
    x = torch.ones(4, 3)
    torch._dynamo.mark_dynamic(x, 0)
    assert [made(y).shape[0] for y in (x, torch.ones(5, 3), torch.ones(6, 3))] == [4, 5, 6]
    assert len(kept.graphs) == 1


def test_a_backend_that_fails() -> None:
    def fails(gm: Any, example_inputs: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=r"backend='fails' raised:\nValueError: no"):
        torch.compile(lambda x: x + 1, backend=fails)(torch.ones(1))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        torch.compile(lambda x: x + 1, backend=lambda gm, x: 3)(torch.ones(1))


def test_registered_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert._compat import _compilers

    monkeypatch.setattr(_compilers, "backends", _compilers.backends)
    kept = Kept()
    torch._dynamo.register_backend(kept, name="kept")
    try:
        assert "kept" in torch._dynamo.list_backends() and torch._dynamo.lookup_backend("kept") is kept
        assert torch.compile(lambda x: x + 1, backend="kept")(torch.ones(1)).item() == 2
        assert len(kept.graphs) == 1
    finally:
        del _compilers.backends["kept"]


def test_counters_of_tests() -> None:
    cnt = torch._dynamo.testing.CompileCounter()

    @torch.compile(backend=cnt)
    def f(x: Any) -> Any:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2 + 3

    f(torch.ones(3)), f(torch.ones(3))
    assert (cnt.frame_count, cnt.op_count) == (2, 3)


def test_the_eager_backend_compiles_too() -> None:
    def f(x: Any) -> Any:
        return x + 1 if torch.compiler.is_compiling() else x - 1

    made = torch.compile(f, backend="eager")
    assert [made(torch.zeros(())).item() for _ in range(3)] == [1, 1, 1]
    with torch.compiler.set_stance("force_eager"):
        assert made(torch.zeros(())).item() == -1
    assert made(torch.ones(2, requires_grad=True)).grad_fn.name() == "AddBackward0"


def test_a_disabled_function_compiles_inside() -> None:
    def inner(x: Any) -> Any:
        return x + 10 if torch.compiler.is_compiling() else x + 1

    @torch.compiler.disable
    def middle(x: Any) -> Any:
        return inner(x) + torch.compile(inner, backend="eager")(x)

    outer = torch.compile(lambda x: middle(x * 2) * 3, backend="eager")
    assert [outer(torch.ones(())).item() for _ in range(2)] == [45, 45]


FIRST_LINES = [
    (lambda x: x if x.sum() > 0 else -x, "Data-dependent branching"),
    (lambda x: (torch._dynamo.graph_break(), x)[1], "Call to `torch._dynamo.graph_break()`"),
    (lambda x: torch.compiler.disable(lambda y: y)(x), "Skip calling `torch.compiler.disable()`d function"),
    (lambda x: (print(end=""), x)[1], "Failed to trace builtin operator"),  # noqa: T201
    (lambda x: x if torch.equal(x, x) else -x, "Data dependent operator"),
    (lambda x: (torch.manual_seed(0), x)[1], "Attempted to call function marked as skipped"),
]


@pytest.mark.parametrize("backend", ["eager", "numpy", Kept()])
@pytest.mark.parametrize(("fn", "line"), FIRST_LINES)
def test_first_lines_of_fullgraph(fn: Any, line: str, backend: Any) -> None:
    with pytest.raises(torch._dynamo.exc.Unsupported) as error:
        torch.compile(fn, backend=backend, fullgraph=True)(torch.ones(3))
    assert str(error.value).splitlines()[0] == line


def test_limits_and_switches() -> None:
    config, exc = torch._dynamo.config, torch._dynamo.exc
    with config.patch(error_on_recompile=True):
        made = torch.compile(lambda x: x + 1, backend="eager")
        made(torch.ones(1))
        with pytest.raises(exc.RecompileError, match=r"Recompiling function <lambda> in .*test_backends.py:\d+"):
            made(torch.ones(2))
    with config.patch(recompile_limit=1):
        made = torch.compile(lambda x: x + 1, backend="eager", fullgraph=True)
        made(torch.ones(1))
        with pytest.raises(exc.FailOnRecompileLimitHit, match="Hard failure due to fullgraph=True"):
            made(torch.ones(2))
        with config.patch("fail_on_recompile_limit_hit", True):
            made = torch.compile(lambda x: x + 1, backend="eager")
            made(torch.ones(1))
            with pytest.raises(exc.FailOnRecompileLimitHit, match="Hard failure due to fail_on_recompile_limit_hit"):
                made(torch.ones(2))
    assert (config.recompile_limit, config.error_on_recompile) == (8, False)
    with pytest.raises(AttributeError, match="nope"):
        config.patch(nope=1)


def test_explain_counts_graphs() -> None:
    def fn(x: Any, y: Any) -> Any:
        a = torch.sin(x)
        torch._dynamo.graph_break()
        return a + torch.cos(y)

    e = torch._dynamo.explain(fn)(torch.zeros(2), torch.zeros(2))
    assert (e.graph_count, e.graph_break_count, e.op_count, len(e.break_reasons)) == (2, 1, 3, 1)
    assert str(e).startswith("Graph Count: 2\nGraph Break Count: 1\nOp Count: 3\nBreak Reasons:\n  Break Reason 1:\n")


def test_aot_autograd_gives_operators() -> None:
    from wengert._dynamo.backends.common import aot_autograd

    codes = []

    def compiler(gm: Any, example_inputs: Any) -> Any:
        codes.append(gm.code)
        return gm.forward

    made = torch.compile(lambda x: x.sin().cos(), backend=aot_autograd(fw_compiler=compiler))
    assert torch.equal(made(torch.ones(2)), torch.ones(2).sin().cos())
    assert "torch.ops.aten.sin.default(arg0_1)" in codes[0]
    x = torch.ones(2, requires_grad=True)
    made(x).sum().backward()
    assert torch.allclose(x.grad, -x.sin().sin() * x.cos())

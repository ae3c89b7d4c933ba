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
    assert names[:2] == ["l_fn_modules_0_parameters_weight_", "l_fn_modules_0_parameters_bias_"]


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
    compiled = torch.compile(fn, backend=backend, fullgraph=True)
    for _ in range(10):  # each call, as in PyTorch, and no limit is hit
        with pytest.raises(torch._dynamo.exc.Unsupported) as error:
            compiled(torch.ones(3))
        assert str(error.value).splitlines()[0] == line


@pytest.mark.parametrize("backend", ["eager", "numpy"])
def test_cond_is_no_branch_of_the_program(backend: str) -> None:
    def either(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    compiled = torch.compile(either, backend=backend, fullgraph=True)
    assert [compiled(torch.tensor([v])).item() for v in (2.0, -2.0, 3.0, -3.0)] == [3, -3, 4, -4]


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


@pytest.mark.parametrize("backend", ["numpy", "eager", lambda gm, inputs: gm])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x @ x,
        lambda x: torch.cat([x, x[0]]),
        lambda x: x.view(5),
        lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([1])),
        torch.nn.Linear(4, 2),
        lambda x: torch.nn.Sequential(torch.nn.Linear(4, 2))(x),
        lambda x: x.topk(9),
        lambda x: x.mul_(2).add_(torch.ones(5)),
    ],
)
def test_shapes_that_an_operator_refuses(f: Any, backend: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.compile(f, backend=backend)(torch.ones(2, 3))
    assert type(caught.value) is torch._dynamo.exc.TorchRuntimeError
    assert str(caught.value).startswith("RuntimeError when making fake tensor call\n") and "got " in str(caught.value)
    assert 'File "' in str(caught.value).partition("from user code:")[2]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sum().backward(),
        lambda x: x.item(),
        lambda x: torch.gather(x, 0, torch.tensor([[7]])),
        lambda x: torch.nn.functional.one_hot(torch.tensor([5]), 2) + x,
        lambda x: torch.linalg.cholesky(-x),
        lambda x: torch.multinomial(torch.tensor([-1.0, 2.0]), 1),
        lambda x: torch.nn.functional.binary_cross_entropy(torch.full((2,), 5.0), torch.ones(2)),
        lambda x: torch.ones(2, dtype=torch.int64) // torch.zeros(2, dtype=torch.int64),
        lambda x: (x * torch.ones(2, 2, requires_grad=True)).backward(),
        lambda x: (x * 2).register_hook(lambda g: g),
        lambda x: (x * 2).retain_grad(),
    ],
)
def test_errors_that_are_not_of_shapes_are_eagers(f: Any) -> None:
    found = []
    for g in (f, torch.compile(f, backend="numpy")):
        with pytest.raises(RuntimeError) as caught:
            g(torch.ones(2, 2))
        found.append((type(caught.value), str(caught.value)))
    assert found[0] == found[1]


def test_recompile_limit_of_a_function() -> None:
    kept = Kept()
    made = torch.compile(lambda x: x * 2, backend=kept, dynamic=False, recompile_limit=2)
    assert [made(torch.ones(n)).shape[0] for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert len(kept.graphs) == 2  # and the backend is asked no more
    strict = torch.compile(lambda x: x * 2, backend="numpy", fullgraph=True, recompile_limit=1)
    strict(torch.ones(1))
    with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit, match="Hard failure due to fullgraph=True"):
        strict(torch.ones(2))


def test_a_method_that_is_compiled_already() -> None:
    class Scaled(nn.Module):
        k = 3

        @torch.compile(backend="numpy")
        def forward(self, x: Any) -> Any:
            return x * self.k

    module = Scaled()
    assert torch.compile(module.forward, backend="numpy")(torch.ones(1)).item() == 3
    module.compile(backend="numpy")
    assert module(torch.ones(1)).item() == 3


def test_no_grad_is_in_the_graph() -> None:
    def partly(x: Any) -> Any:
        with torch.no_grad():
            y = x * 2
        return x * y

    kept = Kept()
    made = torch.compile(partly, backend=kept)
    x = torch.arange(3.0).requires_grad_()
    for _ in range(2):
        made(x).sum().backward()
        assert x.grad.tolist() == [0, 2, 4]  # the factor that was made without history
        x.grad = None
    assert [n.args[0] for n in kept.graphs[0].graph.nodes if "set_grad" in n.name] == [False, True]


def test_a_graph_of_no_grad_is_not_one_with_gradients() -> None:
    from wengert._dynamo.backends.common import aot_autograd

    made = torch.compile(lambda x: x.sin(), backend=aot_autograd(fw_compiler=lambda gm, inputs: gm))
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not made(x).requires_grad
    made(x).sum().backward()
    assert torch.equal(x.grad, x.detach().cos())


def test_aot_autograd_partitions() -> None:
    from wengert._dynamo.backends.common import aot_autograd
    from wengert._functorch.aot_autograd import make_boxed_func
    from wengert._functorch.partitioners import default_partition

    seen: list[Any] = []

    def partition(joint: Any, inputs: Any, *, num_fwd_outputs: int, **options: Any) -> Any:
        seen.append(num_fwd_outputs)
        return default_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs)

    def compiler(gm: Any, example_inputs: Any) -> Any:
        seen.append([n.name for n in gm.graph.nodes if n.op == "placeholder"])
        assert len(example_inputs) == len(seen[-1])
        return make_boxed_func(gm.forward)

    made = torch.compile(
        lambda x, w: (x * w, x > 0), backend=aot_autograd(fw_compiler=compiler, partition_fn=partition)
    )
    x, w = torch.arange(3.0), torch.ones(3, requires_grad=True)
    for _ in range(2):
        y, positive = made(x, w)
        assert not positive.requires_grad and type(y.grad_fn).__name__ == "CompiledFunctionBackward"
        y.sum().backward()
        assert w.grad.tolist() == [0, 1, 2]
        w.grad = None
    assert seen == [2, ["primals_1", "primals_2"], ["primals_1", "tangents_1"]]
    made = torch.compile(lambda x: x.sin(), backend=aot_autograd(fw_compiler=lambda gm, inputs: gm))
    (g,) = torch.autograd.grad(made(w).sum(), w, create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        g.sum().backward()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_aot_autograd_of_writes(requires_grad: bool) -> None:
    from wengert._dynamo.backends.common import aot_autograd

    def f(x: Any, count: Any) -> Any:
        count.add_(1)
        y = x * 2
        y.mul_(x)
        y[0] = 7.0
        return y * x

    made = torch.compile(f, backend=aot_autograd(fw_compiler=lambda gm, inputs: gm))
    counts = torch.zeros(1), torch.zeros(1)
    for _ in range(3):
        grads = []
        for fn, count in zip((f, made), counts, strict=True):
            x = torch.arange(3.0).requires_grad_(requires_grad)
            out = fn(x, count)
            if requires_grad:
                out.sum().backward()
            grads.append((out, x.grad, count.item()))
        assert torch.equal(grads[0][0], grads[1][0]) and grads[0][2] == grads[1][2]
        assert not requires_grad or torch.equal(grads[0][1], grads[1][1])


@pytest.mark.parametrize("trials", [0, 8])
@pytest.mark.parametrize("backend", ["numpy", "eager", lambda gm, inputs: gm])
def test_is_compiling_is_true_in_every_call(backend: Any, trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert._compile import dispatch

    monkeypatch.setattr(dispatch, "TRIALS", trials)

    def whole(x: Any) -> Any:
        return x + 1 if torch.compiler.is_compiling() else x

    def broken(x: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        return x if torch.compiler.is_compiling() else x * 100

    for f in (whole, broken):
        made = torch.compile(f, backend=backend)
        assert [made(torch.ones(1)).item() for _ in range(12)] == [2] * 12
    assert not torch.compiler.is_compiling()


def test_a_graph_whose_inputs_were_one_variable() -> None:
    ws = [torch.ones(2), torch.arange(2.0)]

    def f(x: Any) -> Any:
        torch._dynamo.graph_break()
        for w in ws:
            x = x + w * 2
        return x

    kept = Kept()
    made = torch.compile(f, backend=kept)
    for _ in range(2):
        assert made(torch.zeros(2)).tolist() == [2, 4]
    names = [n.target for n in kept.graphs[-1].graph.nodes if n.op == "placeholder"]
    assert len(names) == len(set(names)) == 3


def test_custom_functions_keep_their_backward() -> None:
    class Tenfold(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 10

    made = torch.compile(lambda x: Tenfold.apply(x) + x, backend=Kept())
    for _ in range(2):
        x = torch.ones(2, requires_grad=True)
        made(x).sum().backward()
        assert x.grad.tolist() == [11, 11]


def test_a_graph_has_the_names_of_a_chain_and_of_pytorchs_layers() -> None:
    codes: list[str] = []

    def backend(graph: Any, inputs: Any) -> Any:
        codes.append(graph.code)
        return graph.forward

    class Body(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.chain = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Sigmoid())

        def forward(this, x: Any) -> Any:
            y = this.chain(x)
            return y.exp()

    torch.compile(Body(), backend=backend)(torch.ones(2))
    assert "input_2 = torch.sigmoid(input_1)" in codes[0]
    assert "y = " not in codes[0]
    layer = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Flatten())
    torch.compile(layer, backend=backend)(torch.ones(3, 2))
    assert "L_fn_modules_0_parameters_weight_" in codes[1]
    assert "L_args_0_" in codes[1]
    assert "input_2 = input_1.flatten(1, -1)" in codes[1]
    assert ", True, 0.1, 1e-05)" in codes[1]

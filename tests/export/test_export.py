"""``torch.export``: graphs compute what was exported; signatures, guards, sizes that differ, errors."""

from __future__ import annotations

import io
from contextlib import nullcontext
from typing import Any

import pytest
from export_cases import all_expressions, module_of

import wengert as torch
from wengert._decomp import core_aten_decompositions
from wengert.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from wengert.utils import _pytree as pytree

nn = torch.nn
Dim = torch.export.Dim


@pytest.mark.parametrize("expression", all_expressions())
def test_a_graph_computes_what_was_exported(expression: str) -> None:
    module, inputs = module_of(torch, expression)
    program = torch.export.export(module, inputs)
    called = [n.target for n in program.graph.nodes if n.op == "call_function"]
    assert [f for f in called if type(f).__name__ == "function" and not f.__name__.startswith("sym_")] == []
    _, again = module_of(torch, expression)
    expected = module(*module_of(torch, expression)[1])
    for a, b in zip(pytree.tree_leaves(program.module()(*again)), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("other", torch.ones(2), persistent=False)
        self.plain = torch.ones(2)

    def forward(self, x: Any, y: Any = None, *, z: float = 1.0) -> Any:
        x = x + y["a"][0] * z + self.plain + self.other
        return {"sum": self.linear(x) * torch.tensor([1.0, 2.0]), "rest": [x, y["a"][1], None]}


def test_nested_inputs_and_results_and_the_signature() -> None:
    module, x, y = Nested(), torch.ones(3, 2), {"a": (torch.ones(2), 3)}
    program = torch.export.export(module, (x, y), {"z": 2.0})
    signature = program.graph_signature
    assert signature.parameters == ("linear.weight", "linear.bias")
    assert signature.buffers == ("kept", "other") and signature.non_persistent_buffers == ("other",)
    assert signature.lifted_tensor_constants == ("plain", "lifted_tensor_0")
    assert signature.user_inputs == ("x", "y_a_0", 3, 2.0)
    assert signature.user_outputs[1:] == ("add_2", 3, None)
    assert dict(program.named_parameters()).keys() == {"linear.weight", "linear.bias"}
    assert program.state_dict.keys() == {"linear.weight", "linear.bias", "kept"}
    again = program.module()
    result, expected = again(x, y, z=2.0), module(x, y, z=2.0)
    assert pytree.tree_structure(result) == pytree.tree_structure(expected)
    torch.testing.assert_close(result["sum"], expected["sum"])
    result["sum"].sum().backward()
    assert module.linear.weight.grad is not None  # the module of a program shares the parameters
    for wrong in ((torch.ones(4, 2), y), (x, {"a": (torch.ones(2), 4)})):
        with pytest.raises(AssertionError, match="Guard failed"):
            again(*wrong, z=2.0)
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram directly"):
        program(x, y)


def test_a_program_leaves_the_module_its_inputs_and_the_random_stream_as_they_were() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU(inplace=True), nn.Dropout())
    before = {k: v.clone() for k, v in model.state_dict().items()}
    torch.manual_seed(0)
    state = torch.get_rng_state()
    program = torch.export.export(model, (torch.randn(3, 2),), dynamic_shapes=({0: Dim("b")},))
    torch.manual_seed(0)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    program.module()(torch.randn(5, 2))
    assert model[1].num_batches_tracked == 1  # running it does what the module does


def test_no_grad_is_part_of_the_graph() -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            with torch.no_grad():
                y = x * 2
            return y + x

    x = torch.ones(2, requires_grad=True)
    torch.export.export(M(), (x,)).module()(x).sum().backward()
    assert x.grad.tolist() == [1, 1]


# Expressions of `a`, whose sizes and numbers depend on what it holds; in a loaded program and an ONNX model too.
BY_VALUE = """
a.nonzero().shape[0] * a
a[a > 0].sum() / a[a > 0].shape[0]
torch.zeros(a.nonzero().shape[0] * 2 + 1)
torch.ones(a[a > 0].shape[0]) + a[a > 0]
torch.cat([a[a > 0], a[a <= 0]]) + a
a.masked_select(a > 0).numel() * a
torch.unique(a).shape[0] * a
a * a[2].item() + a.nonzero().shape[0] / 2
a[: a.nonzero().shape[0]]
torch.arange(a.nonzero().shape[0] // 2) + a.nonzero().size(0) % 2
torch.zeros(max(a.nonzero().shape[0], 2))
a[a > 0].view(a[a > 0].shape[0], 1) * 2
(lambda n: (torch._check(n >= 0), torch._check(n <= 5), a[:n])[2])(a[2].long().item())
(lambda y: y.view(y.shape[:-1] + (1, 1)))(a.nonzero())
torch.bincount(a.long()).shape[0] * a
torch.arange(5).repeat_interleave(a.long()).shape[0] * a
torch.arange(6.0).split(a.long().tolist())
F.cross_entropy(a[a > 0][:, None].expand(-1, 3), torch.zeros(a[a > 0].shape[0], dtype=torch.long))
torch.nn.functional.one_hot(a.long()).shape[1] * a
"""
_NOT_IN_ONNX = ("bincount", "repeat_interleave", "split", "cross_entropy", "one_hot")


@pytest.mark.parametrize("expression", BY_VALUE.strip().split("\n"))
def test_what_depends_on_values_is_computed_when_the_program_runs(expression: str, tmp_path: Any) -> None:
    class M(nn.Module):
        def forward(self, a: Any) -> Any:
            return eval(expression, {"torch": torch, "F": nn.functional, "a": a})

    program = torch.export.export(M(), (torch.tensor([1.0, 0, 2, 0, 3]),))
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file)
    for values in ([1.0, 1, 2, 2, 0], [2.0, 0, 1, 0, 3], [2.0, 1, 1, 1, 1]):
        x = torch.tensor(values)
        programs = [program, loaded]
        if "split" not in expression:  # whose pieces make up 6 rows: no other number may stand in for one of them
            programs.append(program.run_decompositions(core_aten_decompositions()))
        for again in programs:
            torch.testing.assert_close(again.module()(x), M()(x))
    assert set(loaded.range_constraints) == set(program.range_constraints) != set()
    if not any(name in expression for name in _NOT_IN_ONNX):
        runtime = pytest.importorskip("onnxruntime")
        torch.onnx.export(program, (), tmp_path / "model.onnx", dynamo=True)
        session = runtime.InferenceSession(tmp_path / "model.onnx")
        torch.testing.assert_close(torch.tensor(session.run(None, {"a": x.numpy()})[0]), M()(x), check_dtype=False)


def test_values_that_a_program_asserts() -> None:
    class Three(nn.Module):
        def forward(self, x: Any) -> Any:
            return x[x > 0] + torch.ones(3)

    class Checked(nn.Module):
        def forward(self, x: Any) -> Any:
            n = x.nonzero().shape[0]
            torch._check(n > 2)
            return x * (1 if n > 1 else 2)

    few, many = torch.tensor([1.0, 1, 0]), torch.ones(3)
    for module in (Three(), Checked()):
        again = torch.export.export(module, (many,)).module()
        assert torch.equal(again(many * 2), module(many * 2))
        with pytest.raises(RuntimeError, match="Runtime assertion failed for expression u0 >= 3"):
            again(few)


def test_values_that_are_needed_at_once_are_refused() -> None:
    class Branch(nn.Module):
        def forward(self, x: Any) -> Any:
            return x if x.sum() > 0 else -x

    class Constant(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * torch.tensor(3).item()

    with pytest.raises(
        GuardOnDataDependentSymNode, match=r"Could not guard on data-dependent expression Eq\(u0, 1\)"
    ) as e:
        torch.export.export(Branch(), (torch.ones(2),))
    assert "torch.where(condition, a, b) in place of a branch" in "\n".join(e.value.__notes__)
    assert torch.export.export(Constant(), (torch.ones(2),)).module()(torch.ones(2)).tolist() == [3, 3]


def test_what_cannot_be_exported() -> None:
    with pytest.raises(ValueError, match=r"Expected `mod` to be an instance of `torch\.nn\.Module`"):
        torch.export.export(lambda x: x, (torch.ones(1),))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Expecting `args` to be a tuple of example positional inputs"):
        torch.export.export(nn.ReLU(), torch.ones(1))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Detected mismatch between the structure"):
        torch.export.export(nn.ReLU(), (torch.ones(1),), dynamic_shapes={"nothing": {0: Dim("b")}})


def test_a_table_divides_the_operators_of_a_program() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.act = nn.Linear(3, 4), nn.SiLU()

        def forward(self, input: Any) -> Any:
            hidden = self.act(self.linear(input))
            return {"hidden": hidden, "loss": nn.functional.mse_loss(hidden, input.new_ones(2, 4)), "n": 3}

    m, x = M(), torch.randn(2, 3)
    program = torch.export.export(m, (torch.randn(2, 3),))
    divided = program.run_decompositions(core_aten_decompositions())
    divided.validate()
    targets = [n.target for n in divided.graph.nodes]
    assert torch.ops.aten.sigmoid.default in targets and torch.ops.aten.silu.default not in targets
    assert torch.ops.aten.mse_loss.default not in targets and torch.ops.aten.linear.default in targets
    torch.testing.assert_close(divided.module()(x), m(x))
    made = io.BytesIO()
    torch.export.save(divided, made)
    made.seek(0)
    torch.testing.assert_close(torch.export.load(made).module()(x), m(x))
    with pytest.raises(NotImplementedError, match="makes a tensor of numbers"):
        program.run_decompositions({torch.ops.aten.silu.default: lambda x: x * torch.tensor(2.0)})


class Writes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bn = nn.BatchNorm1d(3)
        self.register_buffer("n", torch.zeros(3), persistent=False)

    def forward(self, x: Any, y: Any) -> Any:
        y.add_(1)
        self.n.add_(x.sum(0))
        rows = x.clone()
        rows[0].mul_(2)
        first, second = rows.chunk(2, 1)
        second.zero_()
        return self.bn(rows) + y, first, torch.nn.functional.relu(rows.t() - 1, inplace=True)


def _twice(call: Any) -> Any:
    x, y = torch.arange(6.0).view(2, 3), torch.ones(2, 3)
    call(x, y)
    return call(x, y), y


def test_decompositions_write_nothing() -> None:
    """The new values are results; the program's module writes them, as those of a file and of its layers."""
    m = Writes()
    program = torch.export.export(m, (torch.ones(2, 3), torch.ones(2, 3)))
    whole, file = program.run_decompositions(), io.BytesIO()
    torch.export.save(whole, file)
    file.seek(0)
    expected = _twice(m)
    held = [b.clone() for b in m.buffers()]
    for made in (whole, program.run_decompositions({}), whole.run_decompositions(), torch.export.load(file)):
        assert not [
            n for n in made.graph.nodes if str(n.target).split(".")[1:2] and str(n.target).split(".")[1][-1] == "_"
        ]
        signature = made.graph_signature
        assert list(signature.buffers_to_mutate.values()) == [
            "n",
            "bn.running_mean",
            "bn.running_var",
            "bn.num_batches_tracked",
        ]
        assert list(signature.user_inputs_to_mutate.values()) == ["y"] and len(signature.user_outputs) == 3
        for called in (made.module(), torch.export.unflatten(made)):
            for name, b in called.named_buffers():
                with torch.no_grad():
                    b.fill_(1 if "var" in name else 0)
            torch.testing.assert_close(_twice(called), expected)
            torch.testing.assert_close(
                sorted(b.sum().item() for b in called.buffers()), sorted(b.sum().item() for b in held)
            )


def test_a_call_with_out_writes_to_it() -> None:
    def f(x: Any) -> Any:
        made, part, values, order = torch.empty_like(x), torch.zeros(2, 3), torch.empty(3), torch.empty(3).long()
        torch.mul(x, 2, out=made)
        torch.add(x, x, out=part[1])
        torch.sort(x, out=(values, order))
        product = torch.tensordot(x, x, 1, out=torch.empty(()))  # which is no operator
        return made, part, values, order, torch.cat([x, x], out=torch.empty(0)), product

    program, other = torch.export.export(Of(f), (torch.ones(3),)), torch.tensor([2.0, 0.5, 1.0])
    with pytest.warns(DeprecationWarning, match="torch.jit.trace"):
        traced = torch.jit.trace(f, torch.ones(3))
    for made in (program.module(), program.run_decompositions().module(), traced):
        torch.testing.assert_close(made(other), f(other))


class Assigns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))
        self.last, self.log, self.calls = None, [], 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        self.last = x * 2
        self.log.append(self.last)
        self.seen = self.seen + x.sum(0)
        return self.seen * self.calls


def test_what_forward_assigns() -> None:
    """A buffer that is assigned is written; attributes are as they were, and a warning names the tensors."""
    module = Assigns()
    seen = module.seen
    with pytest.warns(UserWarning, match=r"tensor attributes self.last, self.log\[0\] were assigned during export"):
        program = torch.export.export(module, (torch.ones(3, 2),), dynamic_shapes=({0: Dim("n")},))
    assert module.seen is seen and torch.equal(seen, torch.zeros(2))
    assert (module.last, module.log, module.calls) == (None, [], 0)
    made = program.module()
    assert [made(torch.ones(n, 2))[0].item() for n in (2, 5)] == [2, 7]
    assert torch.equal(made.seen, torch.full((2,), 7.0))
    assert list(program.run_decompositions().graph_signature.buffers_to_mutate.values()) == ["seen"]


@pytest.mark.parametrize("expression", all_expressions())
def test_decompositions_compute_the_same(expression: str) -> None:
    if expression.startswith("w.narrow(0, 0, c.nonzero()"):
        pytest.skip("a size that depends on values is tried with more rows than there are")
    module, inputs = module_of(torch, expression)
    program = torch.export.export(module, inputs)
    (_, first), (_, second) = module_of(torch, expression), module_of(torch, expression)
    torch.manual_seed(0)
    made = program.run_decompositions().module()(*first)
    torch.manual_seed(0)
    expected = module(*second)
    for a, b in zip(pytree.tree_leaves((made, first)), pytree.tree_leaves((expected, second)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_a_table_divides_programs_of_any_size() -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            return F.silu(x).view(x.shape[0] * 2, -1).mean(0), F.gelu(x[1:]), x.shape[0]

    F, aten = nn.functional, torch.ops.aten
    program = torch.export.export(M(), (torch.randn(4, 6),), dynamic_shapes=({0: Dim("b", min=3)},))
    table = {
        aten.silu.default: lambda x: x * x.sigmoid(),
        aten.mean.dim: lambda x, d: x.sum(d) / x.shape[d[0]],
        aten.gelu.default: lambda x, approximate="none": x.new_full(x.shape, float(x.shape[1])) + x,
    }
    divided = program.run_decompositions(table)
    assert "silu" not in str(divided.graph) and divided.range_constraints == program.range_constraints
    x = torch.randn(7, 6)
    mean, rows, size = divided.module()(x)
    torch.testing.assert_close(mean, M()(x)[0])
    assert torch.equal(rows, x[1:] + 6) and size == 7
    with pytest.raises(RuntimeError, match="Constraints violated"):
        program.run_decompositions({aten.silu.default: lambda x: x * (1 / x.shape[0])})


# ------------------------------------------------------------------------------------------------------------ sizes
def test_sizes_that_differ_are_computed() -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            rows = x.view(x.shape[0] * x.shape[1], -1) + x.size(0)
            return rows, torch.arange(x.size(1)) / x.size(1), x.shape[0]

    b, t = Dim("b", min=2, max=64), Dim("t")
    program = torch.export.export(M(), (torch.ones(4, 3, 2),), dynamic_shapes={"x": {0: b, 1: t}})
    assert str(program.range_constraints) == "{s77: VR[2, 64], s27: VR[0, int_oo]}"
    assert 'f32[s27*s77, 2]"' in str(program) and '"Sym(s77)"' in str(program)
    again, x = program.module(), torch.rand(7, 5, 2)
    for got, expected in zip(again(x), M()(x), strict=True):
        torch.testing.assert_close(got, expected)
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] <= 64"):
        again(torch.ones(65, 3, 2))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[2\] == 2"):
        again(torch.ones(4, 3, 3))


def test_one_size_of_two_inputs() -> None:
    class M(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

    b = Dim("b")
    program = torch.export.export(M(), (torch.ones(4), torch.ones(4)), dynamic_shapes=((b,), (b,)))
    assert program.module()(torch.ones(6), torch.ones(6)).shape == (6,)
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(torch.ones(6), torch.ones(1))
    with pytest.raises(RuntimeError, match=r"Constraints violated \(b\)!"):
        torch.export.export(M(), (torch.ones(4), torch.ones(1)), dynamic_shapes=((b,), (b,)))


def test_sizes_without_names_are_united_or_fixed() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x: Any, y: Any, z: Any) -> Any:
            return self.layer(x + y), x * z[:, None]

    every = (Dim.AUTO, Dim.AUTO)
    examples = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3)
    program = torch.export.export(M(), examples, dynamic_shapes={"x": every, "y": every, "z": (Dim.AUTO,)})
    first, second = program.module()(torch.ones(5, 3), torch.ones(5, 3), torch.ones(5))
    assert first.shape == (5, 2) and second.shape == (5, 3) and len(program.range_constraints) == 1
    with pytest.raises(RuntimeError, match="Constraints violated"):  # what must be dynamic is not fixed
        torch.export.export(nn.Linear(3, 2), (torch.ones(4, 3),), dynamic_shapes=((Dim.DYNAMIC, Dim.DYNAMIC),))


class Of(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


@pytest.mark.parametrize(
    ("function", "range"),
    [
        (lambda x: x + 1 if x.shape[0] > 100 else x - 1, "VR[2, 100]"),
        (lambda x: x + 1 if torch.cat([x, x]).shape[0] * 3 < 100 else x - 1, "VR[2, 16]"),
        (lambda x: x + 1 if x.shape[0] > 1 else x - 1, "VR[2, int_oo]"),
        (lambda x: torch._check(x.shape[0] < 100) or x * 2, "VR[2, 99]"),
    ],
)
def test_a_branch_bounds_the_size_that_decides_it(function: Any, range: str) -> None:
    program = torch.export.export(Of(function), (torch.ones(4),), dynamic_shapes=(({0: Dim.DYNAMIC},),))
    assert str(*program.range_constraints.values()) == range
    with pytest.raises(RuntimeError, match="Constraints violated") if "oo" not in range else nullcontext():
        torch.export.export(Of(function), (torch.ones(4),), dynamic_shapes=(({0: Dim("d")},),))


def test_sizes_derived_of_others(tmp_path: Any) -> None:
    n = Dim("n", min=2, max=9)
    assert str([n + 1, 2 * n - 1, (n * 2 + 1) * 2, n]) == "[n + 1, 2*n - 1, 4*n + 2, Dim('n', max=9)]"
    assert ((n * 2 - 1).min, (n * 2 - 1).max, (3 * n).root is n) == (3, 17, True)
    for wrong in (lambda: n * 0, lambda: n + 1.5, lambda: 1 - n, lambda: n + n):
        with pytest.raises(NotImplementedError, match="Only increasing linear operations"):
            wrong()
    with pytest.raises(AssertionError, match="Expected derived min value of m - 1 to be >= 0"):
        torch.export.export(Of(lambda x: x), (torch.ones(4),), dynamic_shapes=(({0: Dim("m") - 1},),))

    def pairs(x: Any, y: Any) -> Any:
        return x.view(x.shape[0] // 2, 2)[:, 0] + y[1:] * x.shape[0]

    sizes = ({0: 2 * n}, {0: n + 1})
    program = torch.export.export(Of(pairs), (torch.ones(8), torch.ones(5)), dynamic_shapes=(sizes,))
    torch.export.save(program, tmp_path / "program.pt2")
    for made in (program, torch.export.load(tmp_path / "program.pt2"), program.run_decompositions()):
        x, y = torch.arange(6.0), torch.arange(4.0)
        assert torch.equal(made.module()(x, y), pairs(x, y))
        for wrong in ((x[:4], y), (x[:5], y), (torch.ones(20), torch.ones(11))):
            with pytest.raises(AssertionError, match="Guard failed"):
                made.module()(*wrong)
    with pytest.raises(RuntimeError, match=r"size\(\)\[0\] to be equal to 2\*k, where k = 5, but got 8"):
        torch.export.export(
            Of(pairs), (torch.ones(8), torch.ones(5)), dynamic_shapes=(({0: 2 * Dim("k")}, {0: Dim("k")}),)
        )


def test_inputs_and_buffers_of_one_name() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("add", torch.tensor([2.0]))
            self.mul = nn.Parameter(torch.tensor([3.0]))

        def forward(self, p_mul: Any, add: Any, x: Any, x_0: Any) -> Any:
            return p_mul * self.add - add * self.mul + x[0] / x_0

    inputs = torch.tensor([5.0]), torch.tensor([7.0]), [torch.tensor([1.0])], torch.tensor([4.0])
    program = torch.export.export(M(), inputs)
    names = [n.name for n in program.graph.nodes if n.op == "placeholder"]
    assert names == ["p_mul_1", "b_add", "p_mul", "add", "x_0", "x_0_1"]
    for made in (program.module(), torch.export.unflatten(program), program.run_decompositions().module()):
        assert torch.equal(made(*inputs), M()(*inputs))


def test_an_input_of_any_size_is_written() -> None:
    program = torch.export.export(Of(lambda x: x.add_(1) * 2), (torch.ones(4),), dynamic_shapes=(({0: Dim("d")},),))
    x = torch.zeros(7)
    assert torch.equal(program.module()(x), torch.full((7,), 2.0)) and torch.equal(x, torch.ones(7))


def test_a_node_tells_the_line_of_forward() -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            return self.inner(x) * 2

        def inner(self, x: Any) -> Any:
            return x + 1

    text = str(torch.export.export(M(), (torch.ones(2),)))
    assert "in forward, code: return self.inner(x) * 2" in text and "in inner" not in text


def test_a_size_whose_number_python_needs_is_constant() -> None:
    def export(dim: Any) -> Any:
        return torch.export.export(
            Of(lambda x: x + 1 if len(x) > 9 else x), (torch.ones(4),), dynamic_shapes=(({0: dim},),)
        )

    assert export(Dim.AUTO).range_constraints == {}
    with pytest.raises(RuntimeError, match="your code specialized it to be a constant"):
        export(Dim.DYNAMIC)


@pytest.mark.parametrize(
    ("function", "computed"),
    [
        (lambda x: x * min(x.shape[0], 50), "sym_min"),
        (lambda x: x[: x.shape[0] // 2], "floordiv"),
        (lambda x: x * (1 / x.shape[0]), "truediv"),
        (lambda x: x * torch.tensor(x.shape[0]), "scalar_tensor"),
        (lambda x: x * torch.tensor([[1.5, x.shape[0]]])[0, 1], "stack"),
        (lambda x: torch.cond(x.shape[0] > 100, lambda x: x + 1, lambda x: x - 1, (x,)), "gt"),
    ],
)
def test_what_is_computed_of_a_size_is_in_the_graph(function: Any, computed: str) -> None:
    program = torch.export.export(Of(function), (torch.ones(4),), dynamic_shapes=(({0: Dim.DYNAMIC},),))
    assert [n for n in program.graph.nodes if n.name == computed]
    for n in (4, 7, 120):
        x = torch.arange(float(n))
        assert torch.equal(program.module()(x), function(x))


@pytest.mark.parametrize(
    ("forward", "named"),
    [
        (lambda x: x.view(4, 6), r"aten\.view\.default fails"),
        (lambda x: x * 2 if x.shape[0] > 4 else x.relu(), r"aten\.relu\.default or aten\.mul\.Tensor"),
        (lambda x: x * torch.tensor([float(i) for i in range(x.shape[0])])[:, None, None], "the constant lifted"),
        (lambda x: torch.cat([x] * x.shape[0]), r"aten\.cat\.default is given 4 or"),
    ],
)
def test_a_size_that_is_not_dynamic_is_an_error_that_names_the_operator(forward: Any, named: str) -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            return forward(x)

    with pytest.raises(RuntimeError, match=named) as e:
        torch.export.export(M(), (torch.ones(4, 3, 2),), dynamic_shapes={"x": {0: Dim("b")}})
    assert str(e.value).startswith("Constraints violated (b)!")


def test_layers_with_any_batch_and_length() -> None:
    b, t = Dim("b"), Dim("t")
    for model in (
        nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True),
        nn.TransformerEncoderLayer(3, 1, 8, batch_first=True),
    ):
        program = torch.export.export(model.eval(), (torch.randn(2, 5, 3),), dynamic_shapes=({0: b, 1: t},))
        x = torch.randn(4, 9, 3)
        for got, expected in zip(pytree.tree_leaves(program.module()(x)), pytree.tree_leaves(model(x)), strict=True):
            torch.testing.assert_close(got, expected)


# ------------------------------------------------------------------------------------------------------------- traces
def test_jit_trace_runs_the_operators_of_the_examples(tmp_path: Any) -> None:
    linear = nn.Linear(3, 2)
    with pytest.warns(DeprecationWarning, match="`torch.jit.trace` is deprecated"):
        made = torch.jit.trace(linear, torch.ones(4, 3))
    assert isinstance(made, torch.jit.ScriptModule) and list(made.state_dict()) == ["weight", "bias"]
    assert repr(made) == "Linear(original_name=Linear)"
    assert "torch.ops.aten.linear.default" in made.code and "aten.linear.default" in str(made.graph)
    made.save(tmp_path / "linear.pt")
    x = torch.randn(7, 3)
    assert torch.equal(torch.jit.load(tmp_path / "linear.pt")(x), linear(x)) and torch.equal(made(x), linear(x))

    made.weight = nn.Parameter(torch.full((2, 3), 7.0))
    torch.jit.save(made, tmp_path / "linear.pt", _extra_files={"text": "a", "bytes": b"b"})
    texts: dict[str, Any] = {"text": "", "bytes": "", "absent": "c"}
    again = torch.jit.load(tmp_path / "linear.pt", _extra_files=texts)
    assert torch.equal(again(x), made(x)) and texts == {"text": b"a", "bytes": b"b", "absent": b""}
    with pytest.raises(AssertionError, match="Expected string but got <class 'int'>"):
        made.save(tmp_path / "linear.pt", {"number": 3})

    def branch(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else -x

    with (
        pytest.warns(torch.jit.TracerWarning, match="Converting a tensor to a Python boolean"),
        pytest.warns(DeprecationWarning, match="is deprecated"),
    ):
        positive = torch.jit.trace(branch, torch.ones(2))
    assert positive(-torch.ones(2)).tolist() == [-2, -2]


def test_a_tensor_that_no_operator_made_is_no_constant() -> None:
    class Hidden(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + torch.func.vmap(lambda r: r * 2)(x)

    kept = torch.ones(2)

    class Captured(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + kept

    with pytest.raises(NotImplementedError, match="a tensor was made that no operator computed"):
        torch.export.export(Hidden(), (torch.ones(2),))
    program = torch.export.export(Captured(), (torch.ones(2),))
    assert program.graph_signature.lifted_tensor_constants == ("lifted_tensor_0",)


# -------------------------------------------------------------------------------------------------- what nodes tell
class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.act = nn.Linear(2, 2), nn.Linear(2, 2, bias=False), nn.ReLU()
        self.last.weight = self.first.weight
        self.again = self.first

    def forward(self, x: Any) -> Any:
        return self.last(self.act(self.first(x))) + self.again(x)


def test_nodes_tell_their_layers_and_calls() -> None:
    nodes = {n.name: n for n in torch.export.export(Tied(), (torch.ones(1, 2),)).graph.nodes}
    stacks = {name: [path for path, _ in n.meta.get("nn_module_stack", {}).values()] for name, n in nodes.items()}
    assert stacks["linear"] == ["", "first"] and stacks["relu"] == ["", "act"] and stacks["linear_1"] == ["", "last"]
    assert stacks["linear_2"] == ["", "again"] and stacks["add"] == [""] and stacks["x"] == []
    assert nodes["linear_2"].meta["torch_fn"] == ("linear_3", "builtin_function_or_method.linear")
    assert nodes["add"].meta["tensor_meta"].requires_grad


def test_every_way_to_call_relu_is_told_apart() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act, self.here = nn.ReLU(), nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            return self.here(nn.functional.relu(self.act(torch.relu(x.relu()))) + 1)

    nodes = torch.export.export(M(), (torch.randn(3),)).graph.nodes
    told = [n.meta["torch_fn"] for n in nodes if str(n.target).startswith("aten.relu")]
    kinds = ["method_descriptor", "builtin_function_or_method", "function", "function", "function"]
    assert told == [(f"relu_{i}", f"{kind}.relu") for i, kind in zip([1, 1, 1, 2, 3], kinds, strict=True)]


def test_a_shared_parameter_has_every_name() -> None:
    m = Tied()
    program = torch.export.export(m, (torch.ones(1, 2),))
    weights = ("first.weight", "last.weight", "again.weight")
    assert tuple(n for n in program.graph_signature.parameters if n.endswith("weight")) == weights
    again = program.module()
    with torch.no_grad():
        m.first.weight.mul_(2)
    x = torch.randn(1, 2)
    torch.testing.assert_close(again(x), m(x))
    assert len({id(p) for p in again.parameters()}) == 2


def test_custom_operators_and_functions_are_parts_of_a_program() -> None:
    @torch.library.custom_op("test_export::twice", mutates_args=())
    def twice(x: torch.Tensor, k: int = 2) -> torch.Tensor:
        return x * k

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            torch._assert(True, "it asks function modes itself")
            return Sine.apply(twice(x, k=3)) + torch.ops.test_export.twice(x)

    program = torch.export.export(M(), (torch.ones(2),))
    targets = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    assert targets == ["test_export.twice.default", "aten.sin.default", "test_export.twice.default", "aten.add.Tensor"]
    x = torch.randn(2)
    assert torch.equal(program.module()(x), M()(x))


def test_sizes_without_a_name_become_equal_or_constant() -> None:
    class M(nn.Module):
        def forward(self, x: Any, y: Any, w: Any) -> Any:
            return (x + y) @ w

    auto = (Dim.AUTO, Dim.AUTO)
    examples = torch.ones(4, 3), torch.ones(4, 3), torch.ones(3, 2)
    program = torch.export.export(M(), examples, dynamic_shapes=(auto, auto, None))
    again = program.module()
    assert again(torch.ones(7, 3), torch.ones(7, 3), torch.ones(3, 2)).shape == (7, 2)
    with pytest.raises(AssertionError, match=r"Guard failed: y.size\(\)\[0\] == x.size\(\)\[0\]"):
        again(torch.ones(7, 3), torch.ones(6, 3), torch.ones(3, 2))
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 3"):
        again(torch.ones(7, 4), torch.ones(7, 4), torch.ones(4, 2))
    with pytest.raises(RuntimeError, match="Constraints violated"):
        torch.export.export(M(), examples, dynamic_shapes=((None, Dim.DYNAMIC), (None, Dim.DYNAMIC), None))


def test_a_branch_below_the_example_is_found() -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1 if x.shape[0] > 3 else x

    with pytest.raises(RuntimeError, match=r"Constraints violated \(b\)!"):
        torch.export.export(M(), (torch.ones(4),), dynamic_shapes=({0: Dim("b")},))


def test_keywords_have_the_order_of_the_call() -> None:
    class M(nn.Module):
        def forward(self, x: Any, k: float = 2.0, **rest: Any) -> Any:
            return x * k + rest["z"]

    program = torch.export.export(M(), (torch.ones(2),), {"z": torch.zeros(2), "k": 3.0})
    assert program.graph_signature.user_inputs == ("x", "z", 3.0)


def test_a_program_has_one_mode() -> None:
    with pytest.raises(NotImplementedError, match=r"Calling eval\(\) is not supported yet"):
        torch.export.export(nn.Dropout(), (torch.ones(2),)).module().eval()

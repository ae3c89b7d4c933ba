"""Passes that divide, fuse and fold graphs, and the helpers of test suites about graphs."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert import fx, nn
from wengert.fx._lazy_graph_module import _LazyGraphModule
from wengert.fx.experimental.const_fold import split_const_subgraphs
from wengert.fx.experimental.merge_matmul import merge_matmul
from wengert.fx.experimental.proxy_tensor import make_fx
from wengert.fx.operator_schemas import check_for_mutable_operation, get_signature_for_torch_op, normalize_function
from wengert.fx.passes.dialect.common.cse_pass import CSEPass, get_CSE_banned_ops
from wengert.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from wengert.fx.passes.operator_support import create_op_support
from wengert.fx.passes.reinplace import reinplace
from wengert.fx.passes.split_utils import split_by_tags
from wengert.fx.passes.utils.source_matcher_utils import get_source_partitions
from wengert.testing import FileCheck
from wengert.testing._internal.common_device_type import instantiate_device_type_tests, ops
from wengert.testing._internal.common_methods_invocations import op_db
from wengert.testing._internal.common_utils import find_library_location
from wengert.testing._internal.jit_utils import JitTestCase


def calls(x: Any, y: Any) -> Any:
    a = torch.relu(x) + torch.relu(x)
    return (a * y).neg() + torch.exp(a)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("supported", ["add relu", "mul neg", "add", "relu exp add mul neg"])
def test_a_divided_graph_computes_the_same(supported: str, alone: bool) -> None:
    gm = fx.symbolic_trace(calls)
    support = create_op_support(lambda _, node: node.op != "output" and node.name.split("_")[0] in supported.split())
    partitioner = CapabilityBasedPartitioner(gm, support, allows_single_node_partition=alone)
    fused = partitioner.partition_and_fuse()
    x, y = torch.randn(3), torch.randn(3)
    assert torch.equal(fused(x, y), calls(x, y))
    fused.graph.lint()


def test_equal_calls_become_one() -> None:
    result = CSEPass(banned_ops=get_CSE_banned_ops())(fx.symbolic_trace(calls))
    assert len(result.graph_module.graph.find_nodes(op="call_function", target=torch.relu)) == 1
    random = fx.symbolic_trace(lambda x: torch.ops.aten.rand_like(x) - torch.ops.aten.rand_like(x))
    assert not CSEPass(banned_ops=get_CSE_banned_ops())(random).modified


class Scaled(nn.Module):
    """A layer with a part that depends on parameters alone."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(2)), nn.Parameter(torch.randn(2))

    def forward(self, x: Any, y: Any) -> Any:
        scale = torch.exp(self.a + self.b)
        return torch.matmul(x, scale) + torch.matmul(y, scale)


def test_constants_are_computed_once() -> None:
    module, x = Scaled(), torch.randn(3, 2)
    folded = split_const_subgraphs(module)
    assert torch.equal(folded(x, x), module(x, x))
    assert not folded.graph.find_nodes(op="call_function", target=torch.exp)
    with torch.no_grad():
        module.a.zero_()
    assert not torch.equal(folded(x, x), module(x, x))  # they are kept
    with pytest.raises(AssertionError, match="Folding has already been run"):
        folded.run_folding()


def test_products_with_the_same_factor_become_one() -> None:
    module, x, y = Scaled(), torch.randn(3, 2), torch.randn(3, 2)
    merged = merge_matmul(module)
    assert len(merged.graph.find_nodes(op="call_function", target=torch.matmul)) == 1
    assert torch.allclose(merged(x, y), module(x, y))


@pytest.mark.parametrize(
    ("f", "written"),
    [
        (lambda x: x.sin().add(1).relu(), 2),
        (lambda x: x.add(1), 0),  # an input
        (lambda x: (x.sin().expand(2, 2, 2).add(1), x.sin() > 0), 0),  # overlapping memory, another dtype
        (lambda x: (lambda a: (a.view(-1).add(1), a))(x.sin()), 0),  # which is read again
        (lambda x: (lambda a: torch.select_scatter(a, a[0].add(1), 0, 0))(x.sin()), 1),
        (lambda x: (lambda a: torch.select_scatter(a, a[0].add(1), 0, 1))(x.sin()), 1),  # of another row
    ],
)
def test_results_are_written_over_operands(f: Any, written: int) -> None:
    x = torch.rand(2, 2)
    gm = reinplace(make_fx(f)(x), x)
    assert sum(str(n.target).partition(".d")[0][-1] == "_" or "_." in str(n.target) for n in gm.graph.nodes) == written
    kept = x.clone()
    torch.testing.assert_close(gm(x), f(x))
    assert torch.equal(x, kept)


def test_parts_by_tag() -> None:
    gm = fx.symbolic_trace(calls)
    for i, node in enumerate([n for n in gm.graph.nodes if n.op.startswith("call")]):
        node.tag = "first" if i < 3 else "second"
    split, x = split_by_tags(gm, ["first", "second"]), torch.randn(3)
    assert [n.target for n in split.graph.find_nodes(op="call_module")] == ["first", "second"]
    assert torch.equal(split(x, x), calls(x, x))


def test_a_lazy_module_writes_its_code_when_it_is_called() -> None:
    gm = _LazyGraphModule({}, fx.symbolic_trace(calls).graph)
    assert gm._needs_recompile()
    assert torch.equal(gm(torch.ones(1), torch.ones(1)), calls(torch.ones(1), torch.ones(1)))
    assert not gm._needs_recompile()
    gm.recompile()
    assert fx.symbolic_trace(gm).code == fx.symbolic_trace(calls).code


def test_nodes_by_their_layers() -> None:
    class Inside(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return False

    graph = Inside().trace(nn.Sequential(nn.ReLU(), nn.ReLU()))
    assert len(get_source_partitions(graph, [nn.ReLU])[nn.ReLU]) == 2


def test_overloads_are_told_apart() -> None:
    assert str(get_signature_for_torch_op(torch.mul)[0]).startswith("(input: ")
    with pytest.raises(RuntimeError, match="schema match was ambiguous"):
        normalize_function(torch.add, (1, 2))
    found = normalize_function(torch.add, (1, 2), arg_types=(torch.Tensor, int), normalize_to_only_use_kwargs=True)
    assert found is not None and found.kwargs == {"input": 1, "other": 2, "alpha": 1}
    for function, kwargs in (
        (torch.relu_, {}),
        (torch.sigmoid, {"out": 1}),
        (torch.ops.aten.add_.Tensor, {"other": 1}),
    ):
        with pytest.raises(RuntimeError, match="Tried to trace mutable operation aten::"):
            check_for_mutable_operation(function, (1,), kwargs)
    check_for_mutable_operation(torch.relu, (1,), {})


@pytest.mark.parametrize("equation", ["bij,bjk->bik", "ij,kj->ik", "ij->", "ii->i", "i,j->ij", "...ij,...jk->...ik",
                                      "ij,jk,kl->il", "bij,ij->b", "ij,ji", "ijk->k"])  # fmt: skip
def test_einsum_in_steps_is_einsum(equation: str) -> None:
    sizes = dict(zip("bijkl", (2, 3, 3, 3, 3), strict=True))
    terms = equation.partition("->")[0].split(",")
    given = [torch.randn([2] * ("." in term) + [sizes[c] for c in term if c != "."]) for term in terms]
    graph = make_fx(lambda *xs: torch.einsum(equation, *xs))(*given)
    assert torch.allclose(graph(*given), torch.einsum(equation, *given), atol=1e-6)
    assert not any("contract" in n.name for n in graph.graph.nodes)


# ----------------------------------------------------------------------------------------------- helpers of test suites
TEXT = "abc\ndef foo foo\nghi\nfoo bar\n"


@pytest.mark.parametrize(
    "check",
    [
        FileCheck().check("abc").check("foo").check("bar"),
        FileCheck().check_count("foo", 3, exactly=True),
        FileCheck().check("def").check_same("foo").check_next("ghi"),
        FileCheck().check_dag("ghi").check_dag("abc").check_not("abc"),
        FileCheck().check_regex("d.f").check_not("abc"),
    ],
)
def test_texts_that_pass(check: FileCheck) -> None:
    check.run(TEXT)
    check.run(TEXT)  # checks can be made again


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (FileCheck().check("foo").check("abc"), 'Expected to find "abc" but did not find it'),
        (FileCheck().check("abc").check_not("def").check("ghi"), 'Expected to not find "def" but found it'),
        (FileCheck().check_count("foo", 2, exactly=True), 'Expected to not find "foo"'),
        (FileCheck().check_count("foo", 4), 'Expected to find "foo"'),
        (FileCheck().check("abc").check_next("ghi"), "CHECK-NEXT: ghi"),
        (FileCheck().check("def").check_same("ghi"), "CHECK-SAME: ghi"),
        (FileCheck().check_regex("z.f"), "Expected to find regex"),
        (FileCheck(), "No checks have been added"),
    ],
)
def test_texts_that_fail(check: FileCheck, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        check.run(TEXT)


def test_checks_may_stand_in_comments() -> None:
    FileCheck().run("# CHECK: abc\n# CHECK-NEXT: foo\n# CHECK-COUNT-1-EXACTLY: ghi", TEXT)


def test_a_suite_about_graphs_runs(monkeypatch: Any) -> None:
    """PyTorch's own suites load a library of C++ examples, derive from ``JitTestCase`` and go through ``op_db``."""
    with pytest.warns(UserWarning, match="C.. tests are not part of wengert"):
        torch.ops.load_library(str(find_library_location("libtorchbind_test.so")))
    with pytest.raises(OSError, match="Could not load this library"):
        torch.ops.load_library(str(Path(sys.prefix) / "lib" / "mine.so"))
    with pytest.raises(RuntimeError, match="Tried to instantiate class"):
        torch.classes._TorchScriptTesting._Foo(1)

    class TestSignatures(JitTestCase):
        @ops(op_db[:5], allowed_dtypes=(torch.float32,))
        def test_signatures(self, device: Any, dtype: Any, op: Any) -> None:
            found = get_signature_for_torch_op(op.op)
            for sample in op.sample_inputs(device, dtype):
                assert any(_binds(s, sample) for s in found)

    scope: dict[str, Any] = {}
    instantiate_device_type_tests(TestSignatures, scope)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(scope["TestSignaturesCPU"])
    result = unittest.TestResult()
    suite.run(result)
    assert (result.testsRun, result.failures, result.errors) == (5, [], [])


def _binds(signature: Any, sample: Any) -> bool:
    try:
        signature.bind(sample.input, *sample.args, **sample.kwargs)
    except TypeError:
        return False
    return True

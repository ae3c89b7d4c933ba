"""Types of graphs with sizes that are not known."""

import pytest

import wengert as torch
from wengert.fx.experimental.graph_gradual_typechecker import (
    GraphTypeChecker,
    Refine,
    broadcast_types,
    register_inference_rule,
)
from wengert.fx.experimental.refinement_types import Equality
from wengert.fx.experimental.rewriter import RewritingTracer
from wengert.fx.experimental.unification import Var, unify
from wengert.fx.experimental.unify_refinements import infer_symbolic_types
from wengert.fx.tensor_type import Dyn, TensorType


def checked(gm):
    assert GraphTypeChecker({}, gm).type_check()
    return [n.type for n in gm.graph.nodes]


def test_sizes_go_through_layers() -> None:
    net = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, stride=2), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.AdaptiveAvgPool2d(3), torch.nn.Linear(3, 7),
    )  # fmt: skip
    gm = torch.fx.symbolic_trace(net)
    next(iter(gm.graph.nodes)).type = TensorType((Dyn, 2, 11, 9))
    conv = TensorType((Dyn, 4, 5, 4))
    pooled, averaged, last = (TensorType((Dyn, 4, *picture)) for picture in ((2, 2), (3, 3), (3, 7)))
    assert checked(gm) == [TensorType((Dyn, 2, 11, 9)), conv, conv, conv, pooled, averaged, last, last]


@pytest.mark.parametrize("size", [(3, 4), (Dyn, 3, 4, 4)])
def test_sizes_that_do_not_fit_are_refused(size) -> None:
    gm = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3)))
    next(iter(gm.graph.nodes)).type = TensorType(size)
    with pytest.raises(TypeError):
        GraphTypeChecker({}, gm).type_check()


def test_a_call_without_a_rule_is_refused() -> None:
    with pytest.raises(RuntimeError, match="No inference rule registered for target"):
        GraphTypeChecker({}, torch.fx.symbolic_trace(lambda x: torch.sin(x))).type_check()
    with pytest.raises(RuntimeError, match=r"No inference rule registered for class <class '.*Dropout'>"):
        GraphTypeChecker({}, torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Dropout()))).type_check()
    with pytest.raises(RuntimeError, match="Inference rule already registered for"):
        register_inference_rule(torch.add)(len)


def test_only_an_int_is_added_to_any_tensor() -> None:
    def f(x: TensorType((2, Dyn)), y: float):
        return torch.add(x, y)

    gm = torch.fx.symbolic_trace(f)
    with pytest.raises(TypeError, match="Cannot broadcast types"):
        GraphTypeChecker({}, gm).type_check()
    gm.graph.find_nodes(op="placeholder")[1].type = int
    assert checked(gm)[2] == TensorType((2, Dyn))


def test_functions_know_sizes() -> None:
    def f(x: TensorType((2, Dyn, 6))):
        return torch.flatten(torch.transpose(torch.reshape(x, [2, -1, 3]), 0, 2), 1)

    assert checked(torch.fx.symbolic_trace(f))[1:] == [
        TensorType((2, Dyn, 3)), TensorType((3, Dyn, 2)), TensorType((3, Dyn)), TensorType((3, Dyn))
    ]  # fmt: skip
    assert broadcast_types(TensorType((3, 1)), TensorType((2, 1, 5))) == (TensorType((2, 3, 5)), TensorType((2, 3, 5)))


def test_equal_sizes_get_one_name_and_computed_ones_a_formula() -> None:
    def f(x: TensorType((Dyn, 3)), y: TensorType((5, 3))):
        return torch.add(y, x)

    gm = torch.fx.symbolic_trace(f)
    checked(gm)
    refiner = Refine(gm)
    refiner.refine()
    assert refiner.constraints == [Equality(3, 3)]

    sympy = pytest.importorskip("sympy", reason="sizes that are symbols are those of SymPy, which is not installed")
    gm = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3), torch.nn.ReLU()))
    next(iter(gm.graph.nodes)).type = TensorType((Dyn, 1, 8, Dyn))
    checked(gm)
    infer_symbolic_types(gm)
    x, conv, relu, _ = [n.type for n in gm.graph.nodes]
    assert x.dims[0] == conv.dims[0] == relu.dims[0]
    assert conv.dims[2:] == (6, sympy.floor(x.dims[3]) - 2)


def test_unification() -> None:
    a, b = Var("a"), Var("b")
    assert unify((a, 2), (b, b)) == {a: b, b: 2}
    assert unify((a, a), (1, 2)) is False


def test_annotations_are_in_the_code() -> None:
    def f(x: TensorType((1, Dyn)), y: Dyn):
        return x

    code = torch.fx.symbolic_trace(f).code
    assert "x : torch.fx.tensor_type.TensorType[_1,torch.fx.tensor_type._DynType]" in code
    assert "y : torch.fx.tensor_type._DynType" in code


def test_a_rewritten_program_keeps_its_annotations_and_texts() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: TensorType((1, 2))):
            why = """
further left
"""
            assert x is not None, why
            return x

    graph = RewritingTracer().trace(Net())
    assert next(iter(graph.nodes)).type == TensorType((1, 2))

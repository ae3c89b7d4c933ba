"""``FakeTensorMode``: programs run without data, and say what they need it for."""

from __future__ import annotations

import copy
import importlib
from types import ModuleType
from typing import Any

import pytest

import wengert
from wengert._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    is_fake,
    unset_fake_temporarily,
)
from wengert._tensor_api import override_sites
from wengert.fx.passes.fake_tensor_prop import FakeTensorProp

nn = wengert.nn

# of `torch`, `x` (2 by 3) and `mode`, which is entered
EXPRESSIONS = """
x; x @ x.t(); x.to(torch.float16); x.sum(); x.split(2, 1); x.max(0); x[0]; x[:, 1:]; x[torch.tensor([0, 1])]; x.shape; x.t().stride()
torch.rand(3, requires_grad=True); torch.arange(5); torch.zeros(2, dtype=torch.long); torch.tensor([1.0, 2.0]); torch.tensor(3).item()
torch.empty(2, device="cuda") + 1; x.device; x.is_meta; x.add_(1); torch.add(x, x, out=torch.empty(2, 3)); x.new_zeros(4); f"{x}"
torch.nn.Parameter(x); torch.nn.Linear(3, 4)(x); torch.nn.Linear(3, 4).weight; torch.nn.functional.cross_entropy(x, torch.tensor([1, 2]))
[r.shape for r in x]; len(x); type(x).__name__; isinstance(x, torch.Tensor); x.fake_mode is mode; torch.empty(2, device="meta")
torch._guards.detect_fake_mode([x]) is mode; x.numel(); x.tolist()
x.item(); x[0, 0].item(); bool(x.sum() > 0); float(x.sum()); x.numpy(); x.nonzero(); x[x > 0]; torch.unique(x); torch.equal(x, x)
torch.allclose(x, x); torch._assert_async(x.sum() > 0); x + torch.empty(3, device="cuda"); torch.einsum("ij,kj->ik", x, x).stride()
"""  # noqa: E501


def seen(torch: ModuleType, expression: str) -> str:
    fake = importlib.import_module(f"{torch.__name__}._subclasses.fake_tensor")
    with fake.FakeTensorMode() as mode:
        try:
            return str(eval(expression, {"torch": torch, "x": torch.empty(2, 3), "mode": mode}))
        except (RuntimeError, AssertionError) as e:
            return f"{type(e).__name__}: {str(e).splitlines()[0]}"


@pytest.mark.parametrize("expression", [e for line in EXPRESSIONS.strip().split("\n") for e in line.split("; ")])
def test_values_are_shown_as_pytorchs(torch: ModuleType, expression: str) -> None:
    assert seen(wengert, expression) == seen(torch, expression)


MODELS: list[Any] = [
    (lambda: nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.LayerNorm(5), nn.Dropout(), nn.Linear(5, 2)), (3, 4)),
    (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2)), (2, 3, 5, 5)),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8)),
    (lambda: nn.LSTM(4, 6, 2, batch_first=True), (2, 5, 4)),
]  # fmt: skip


@pytest.mark.parametrize("made", MODELS)
@pytest.mark.parametrize("optimizer", [wengert.optim.SGD, wengert.optim.Adam])
def test_a_step_of_training_without_data(made: Any, optimizer: Any) -> None:
    real = made[0]()(wengert.rand(made[1]))
    with FakeTensorMode():
        model = made[0]()
        steps = optimizer(model.parameters(), lr=0.1)
        result = model(wengert.rand(made[1]))
        first, expected = (r[0] if isinstance(r, tuple) else r for r in (result, real))
        assert (first.shape, first.stride(), first.dtype) == (expected.shape, expected.stride(), expected.dtype)
        first.sum().backward()
        steps.step()
    for p in model.parameters():
        assert is_fake(p) and is_fake(p.grad) and isinstance(p, nn.Parameter) and p.grad.shape == p.shape
        assert p.device == p.grad.device == wengert.device("cpu")


def test_nothing_is_allocated() -> None:
    with FakeTensorMode():
        assert nn.Linear(1 << 24, 1 << 24)(wengert.empty(8, 1 << 24)).shape == (8, 1 << 24)


def test_tensors_with_data_are_converted_or_refused() -> None:
    mode, real, weight = FakeTensorMode(), wengert.ones(2, 3), nn.Parameter(wengert.ones(3))
    fake = mode.from_tensor(real)
    assert fake is mode.from_tensor(real) and fake.device == real.device and not fake.requires_grad
    assert isinstance(mode.from_tensor(weight), nn.Parameter) and mode.from_tensor(weight).requires_grad
    with pytest.raises(AssertionError, match=r"^Please convert all Tensors to FakeTensors first"):
        fake + real
    with mode, pytest.raises(AssertionError, match=r"^Please convert all Tensors to FakeTensors first"):
        real.sin()
    with FakeTensorMode(), pytest.raises(AssertionError, match="Mixing fake modes"):
        fake + wengert.ones(3)
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert isinstance(nn.functional.linear(wengert.ones(1, 3), real), FakeTensor)
    assert isinstance((fake * 2).sum(), FakeTensor)  # outside of the mode, too
    assert copy.deepcopy(fake).shape == (2, 3)
    assert type(wengert.ones(2)) is wengert.Tensor


def test_functions_look_for_fake_tensors_only_while_there_is_a_mode(no_gc: None) -> None:
    mode = FakeTensorMode()
    assert id(FakeTensor) in override_sites._subclasses
    mode.from_tensor(wengert.ones(2)).sum()
    del mode
    assert id(FakeTensor) not in override_sites._subclasses


def test_what_needs_data_names_the_operator() -> None:
    x = FakeTensorMode().from_tensor(wengert.ones(2))
    with pytest.raises(DataDependentOutputException) as number:
        x.sum().item()
    with pytest.raises(DynamicOutputShapeException) as shape:
        x.nonzero()
    assert number.value.func is wengert.ops.aten._local_scalar_dense.default
    assert shape.value.func is wengert.ops.aten.nonzero.default


def test_numbers_that_are_known_are_counted_on() -> None:
    with FakeTensorMode():
        step = wengert.tensor(1.0)
        step += 2
        assert step.item() == 3 and (step * 2).item() == 6
        step.fill_(wengert.rand(()))
        with pytest.raises(DataDependentOutputException):
            step.item()


def test_operators_of_the_program_run_their_versions_without_data() -> None:
    @wengert.library.custom_op("fakes::twice", mutates_args=())
    def twice(x: wengert.Tensor) -> wengert.Tensor:
        return wengert.cat([x, x])

    @wengert.library.custom_op("fakes::positive", mutates_args=())
    def positive(x: wengert.Tensor) -> wengert.Tensor:
        return x[x > 0].clone()

    x = FakeTensorMode().from_tensor(wengert.ones(2))
    with pytest.raises(RuntimeError, match=r"^There was no fake impl registered"):
        twice(x)
    twice.register_fake(lambda x: x.new_empty(2 * len(x)))
    positive.register_fake(lambda x: x.new_empty(wengert.library.get_ctx().new_dynamic_size()))
    assert isinstance(twice(x), FakeTensor) and twice(x).shape == (4,) and twice(x).device == x.device
    with pytest.raises(DynamicOutputShapeException, match=r"fakes\.positive\.default"):
        positive(x)


def test_values_of_a_graph_without_data() -> None:
    graph = wengert.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    result = FakeTensorProp(graph, mode).propagate(wengert.ones(4, 3))
    assert isinstance(result, FakeTensor) and all(is_fake(n.meta["val"]) for n in graph.graph.nodes)


def test_a_mode_is_left_for_a_while() -> None:
    with FakeTensorMode() as mode:
        with unset_fake_temporarily() as left:
            assert left is mode and wengert.ones(2).tolist() == [1, 1]
        assert is_fake(wengert.ones(2))

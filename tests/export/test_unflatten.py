"""``torch.export.unflatten``: programs as the modules that they were exported from; ``draft_export``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import wengert

Dim = wengert.export.Dim


def model(torch: ModuleType) -> Any:
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.register_buffer("kept", torch.ones(3))

        def forward(self, x: Any, turned: bool = False) -> Any:
            y = self.linear(x) + self.kept
            return (-y if turned else y), x * 2

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.list = nn.ModuleList([nn.Linear(3, 3)])
            self.unused = nn.Linear(2, 2)

        def forward(self, x: Any, *, scale: Any) -> Any:
            first, twice = self.block(x)
            y = self.layers(first) + twice
            second, third = self.block(y)
            return {"sum": (self.list[0](y) + second) * self.layers[0].bias, "scaled": third * scale}

    torch.manual_seed(0)
    return Model()


def unflattened(torch: ModuleType) -> Any:
    inputs = torch.ones(2, 3), {"scale": torch.ones(3)}
    return torch.export.unflatten(torch.export.export(model(torch), inputs[:1], inputs[1]))


@pytest.mark.filterwarnings("ignore:`isinstance:FutureWarning")  # PyTorch's own
def test_modules_and_graphs_are_pytorchs(torch: ModuleType) -> None:
    ours, theirs = unflattened(wengert), unflattened(torch)
    assert str(ours.graph) == str(theirs.graph) and type(ours).__name__ == type(theirs).__name__
    graphs = {name: str(m.graph) for name, m in theirs.named_modules() if hasattr(m, "graph") and name != "list"}
    assert {name: str(m.graph) for name, m in ours.named_modules() if hasattr(m, "graph")} == graphs
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict())


def test_modules_can_be_exchanged() -> None:
    made, module, x = unflattened(wengert), model(wengert), wengert.rand(2, 3)
    scale = wengert.rand(3)
    for name, value in module(x, scale=scale).items():
        wengert.testing.assert_close(made(x, scale=scale)[name], value)
    assert made.state_dict().keys() == module.state_dict().keys()
    assert made.block is made.get_submodule("block") and made.block.linear.weight.requires_grad
    made.layers, module.layers[1] = (
        wengert.nn.Sequential(made.get_submodule("layers.0"), wengert.nn.Tanh()),
        wengert.nn.Tanh(),
    )
    wengert.testing.assert_close(made(x, scale=scale)["sum"], module(x, scale=scale)["sum"])
    made(x, scale=scale)["sum"].sum().backward()
    assert made.block.linear.weight.grad is not None
    with pytest.raises(RuntimeError, match=r"Expected input at \*args\[0\]\.shape\[0\] to be equal to 2, but got 3"):
        made(wengert.ones(3, 3), scale=scale)


class Turned(wengert.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block, self.norm = model(wengert).block, wengert.nn.BatchNorm1d(3)

    def forward(self, x: Any) -> Any:
        y = self.norm(self.block(x)[0] + x)
        y = wengert.cond(y.sum() > 0, lambda y: self.block(y)[1], lambda y: y.cos(), (y,))
        return self.block(y, turned=True)[0]


def test_calls_that_differ_branches_and_sizes() -> None:
    module = Turned()
    program = wengert.export.export(module, (wengert.ones(2, 3),), dynamic_shapes=({0: Dim("rows")},))
    made = wengert.export.unflatten(program)
    assert "block@1" in made._modules and made._modules["block@1"].linear is made.block.linear
    for rows in (2, 5):
        x = wengert.rand(rows, 3)
        wengert.testing.assert_close(made(x), module(x))
    wengert.testing.assert_close(made.norm.running_mean, module.norm.running_mean)


class Branch(wengert.nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1 if x.sum() > 0 else -x


def test_a_draft_tells_what_it_took_from_the_example() -> None:
    program = wengert.export.draft_export(Branch(), (wengert.ones(2),))
    assert program.module()(wengert.ones(2)).tolist() == [2, 2]
    assert not program._report.successful() and len(program._report.failures) == 1
    assert program._report.failures[0].failure_type == "DATA_DEPENDENT_ERROR"
    sound = wengert.export.draft_export(wengert.nn.ReLU(), (wengert.ones(2),), dynamic_shapes=({0: Dim.AUTO},))
    assert sound._report.successful() and sound.module()(wengert.ones(3)).tolist() == [1, 1, 1]


def test_a_module_has_tensors_of_its_own() -> None:
    """What one module of a program writes is not seen in another, as in PyTorch."""

    class Counts(wengert.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", wengert.zeros(1))
            self.w = wengert.nn.Parameter(wengert.ones(1))

        def forward(self, x: Any) -> Any:
            return x * self.w + self.n.add_(1)

    program = wengert.export.export(Counts(), (wengert.ones(1),))
    whole, made = program.module(), wengert.export.unflatten(program)
    assert whole(wengert.ones(1)).item() == made(wengert.ones(1)).item() == 2
    assert made.w is not whole.w and made.w.requires_grad

"""NumPy's error state and warnings as errors, which a program may set, do not come out of optimizers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from safe_programs import OPTIMIZERS, optimizer_of

import wengert as torch
from wengert.optim import _as_c
from wengert.optim._elementwise import number

GRADIENTS = (1e30, 1e-30, 1e-45, 0.0, math.inf, math.nan, 3e38)


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def stepped(name: str, value: float, dtype: torch.dtype, shape: tuple[int, ...]) -> np.ndarray:
    w = torch.ones(shape, dtype=dtype, requires_grad=True)
    optimizer = optimizer_of(name, [w])
    for option, given in (("weight_decay", 0.1), ("centered", True), ("maximize", True)):
        if option in optimizer.param_groups[0] and name != "Adafactor":
            optimizer.param_groups[0][option] = given
    for _ in range(3):

        def closure() -> torch.Tensor:
            w.grad = torch.full(shape, value, dtype=dtype)
            if name == "SparseAdam":
                w.grad = w.grad.to_sparse()
            return torch.zeros(())

        optimizer.step(closure)
    result: np.ndarray = w.detach().numpy()
    return result


@pytest.mark.parametrize("value", GRADIENTS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_as_under_numpys_usual_state(name: str, value: float) -> None:
    for dtype, shape in ((torch.float32, (2, 3)), (torch.float64, (2, 3)), (torch.float32, (100, 70))):
        if value > np.finfo(np.float32).max and dtype is torch.float32 and not math.isinf(value):
            continue
        strict = stepped(name, value, dtype, shape)
        with np.errstate(all="ignore"):
            assert np.array_equal(strict, stepped(name, value, dtype, shape), equal_nan=True)


def test_a_closure_runs_in_the_programs_own_state() -> None:
    w = torch.ones(2, requires_grad=True)

    def closure() -> torch.Tensor:
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.zeros(1, np.float32)
        w.grad = torch.ones(2)
        return torch.zeros(())

    for name in OPTIMIZERS:
        if name not in ("SparseAdam", "Muon"):
            optimizer_of(name, [w]).step(closure)


def test_clipping_scaling_and_averaging() -> None:
    for value in GRADIENTS:
        w = torch.nn.Parameter(torch.ones(3))
        w.grad = torch.full((3,), value)
        torch.nn.utils.clip_grad_norm_([w], 1.0)
        w.grad = torch.full((3,), value)
        torch.nn.utils.clip_grad_value_([w], 1.0)
        optimizer = torch.optim.SGD([w], lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(torch.ones(()))
        w.grad = torch.full((3,), value)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        model = torch.nn.Linear(1, 1)
        averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn())
        with torch.no_grad():
            model.weight.fill_(value)
        averaged.update_parameters(model)
        averaged.update_parameters(model)


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if hasattr(getattr(torch.optim, n), "_rule")])
def test_the_numbers_of_a_compiled_step_follow_from_the_rule(name: str) -> None:
    """They are computed from the constants alone after the first steps, to the same bits."""
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    optimizer = optimizer_of(name, [w])
    group, followed = optimizer.param_groups[0], 0
    for k in range(12):
        group["lr"] = 0.1 / (k + 1)
        decay = 0.0 if k % 2 else 0.01 * k
        kernel, names, constants = optimizer._rule(group, optimizer._state_of(group, w), number)
        given = (kernel, np.dtype(float), len(names), constants)
        found = _as_c.written(*given, decay, k % 3 == 0)
        text, numbers = _as_c._lines(*given, decay or None, k % 3 == 0)
        assert found == (text, [float(n) for n in numbers])
        ways = [v for key, v in _as_c._ways.items() if key[0] is kernel]
        followed += bool(ways) and not any(None in v for v in ways)
    assert followed == 12

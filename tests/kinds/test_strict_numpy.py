"""NumPy's error state and warnings as errors, which a program may set, do not come out of operators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import op_cases
import pytest

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._tape.tensor import Tensor

EXTREMES = np.array([1e38, 1e-30, 0.0, np.inf, -np.inf, np.nan, -1e38, 1e-45, 1.0])


def extreme(a: Any, dtype: Any) -> Any:
    """Values of the same shape at the ends of a dtype's range."""
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
        return a
    return np.resize(EXTREMES, a.shape).astype(dtype)


def run(name: str, number: int, dtype: Any) -> list[Any]:
    operands, params = op_cases.arguments(name, number)
    with np.errstate(all="ignore"):
        given = op_cases.tensors([extreme(a, dtype) for a in operands], requires_grad=True)
    results: list[Any] = []
    try:
        outs = op_cases.call(name, given, params)
        results += outs
        leaves = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
        for y in outs:
            if y.requires_grad:
                cotangent = torch.ones_like(y)
                grads = torch.autograd.grad(y, leaves, cotangent, allow_unused=True, retain_graph=True)
                results += grads
    except (FloatingPointError, Warning):
        raise
    except Exception as error:  # noqa: BLE001  values that the operator refuses: the same error in both states
        results.append(type(error))
    return results


# Their second operand is the number of steps of a recurrence.
NAMES = [name for name in sorted(REGISTRY) if "_polynomial_" not in name]


@pytest.mark.filterwarnings("ignore::RuntimeWarning:numpy.*")
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_under_a_strict_error_state(name: str) -> None:
    for number in range(op_cases._count(REGISTRY[name])):
        torch.manual_seed(0)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            strict = run(name, number, np.float32)
        torch.manual_seed(0)
        for a, b in zip(strict, run(name, number, np.float32), strict=True):
            if isinstance(a, Tensor) and isinstance(a._payload, (np.ndarray, np.generic)):
                x, y = np.asarray(a._payload), np.asarray(b._payload)
                assert np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")


@pytest.mark.parametrize("action", ["always", "error"])
def test_filters_that_a_program_resets_show_nothing_of_numpys(action: str) -> None:
    zero = torch.zeros(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()
        warnings.simplefilter(action)  # type: ignore[arg-type]
        _ = zero / zero + zero.log() + torch.tensor([1e38]) * 10
    assert not shown

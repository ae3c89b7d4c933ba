"""NumPy's error state and warnings, shown or as errors, which a program may set, do not come out of operators."""

from __future__ import annotations

import contextlib
import pickle
import sys
import warnings
from collections.abc import Iterator
from types import FunctionType
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
                results += torch.autograd.grad(y, leaves, cotangent, allow_unused=True, retain_graph=True)
                cotangent.requires_grad_(not y.is_complex())
                grads = torch.autograd.grad(y, leaves, cotangent, allow_unused=True, create_graph=True)
                for g in [g for g in grads if g is not None and g.requires_grad]:
                    results += torch.autograd.grad(
                        g, [*leaves, cotangent], torch.ones_like(g), allow_unused=True, retain_graph=True
                    )
        results += transformed(name, given, params)
    except (FloatingPointError, Warning):
        raise
    except Exception as error:  # noqa: BLE001  values that the operator refuses: the same error in both states
        results.append(type(error))
    return results


def transformed(name: str, given: list[Any], params: tuple[Any, ...]) -> list[Any]:
    """An operator's forward mode, and its gradients for a batch."""
    places = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.is_floating_point()]

    def total(*tensors: Tensor) -> Any:
        changed = dict(zip(places, tensors, strict=True))
        outs = op_cases.call(name, [changed.get(i, t) for i, t in enumerate(given)], params)
        return sum([y.sum() for y in outs if y.is_floating_point()], torch.zeros(()))

    leaves = tuple(given[i].detach() for i in places)
    batch = [torch.stack([x, x]) for x in leaves]
    return [*torch.func.jvp(total, leaves, leaves), torch.func.vmap(torch.func.grad(total))(*batch)]


# Their second operand is the number of steps of a recurrence.
NAMES = [name for name in sorted(REGISTRY) if "_polynomial_" not in name]


@contextlib.contextmanager
def setting(name: str) -> Iterator[None]:
    """What a program may set; nothing is shown while it holds."""
    with np.errstate(**{"all": "raise"} if name == "raise" else {}), warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()
        warnings.simplefilter("always" if name == "shown" else "error")
        yield
    assert not [str(w) for w in shown if issubclass(w.category, RuntimeWarning)]


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_under_a_strict_error_state(name: str) -> None:
    for number in range(op_cases._count(REGISTRY[name])):
        torch.manual_seed(0)
        expected = run(name, number, np.float32)
        for strict in ("raise", "error", "shown"):
            torch.manual_seed(0)
            with setting(strict):
                results = run(name, number, np.float32)
            for a, b in zip(results, expected, strict=True):
                if isinstance(a, Tensor) and isinstance(a._payload, (np.ndarray, np.generic)):
                    x, y = np.asarray(a._payload), np.asarray(b._payload)
                    assert np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")


def test_modules_without_a_name_in_their_globals_are_modules_as_others() -> None:
    torch.ones(2).log_softmax(0)
    module = sys.modules["wengert._arrays.softmax"]
    assert module.__name__ == "wengert._arrays.softmax"
    assert pickle.loads(pickle.dumps(module.log_softmax_rows)) is module.log_softmax_rows
    assert "softmax.py" in repr(module)
    assert not [n for n, f in vars(Tensor).items() if isinstance(f, FunctionType) and f.__module__ is None]


@pytest.mark.parametrize("action", ["always", "error"])
def test_filters_that_a_program_resets_show_nothing_of_numpys(action: str) -> None:
    zero = torch.zeros(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()
        warnings.simplefilter(action)  # type: ignore[arg-type]
        _ = zero / zero + zero.log() + torch.tensor([1e38]) * 10
    assert not shown

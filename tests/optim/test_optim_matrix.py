"""Optimizers that look at a matrix as a whole: Adafactor and Muon."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert
from wengert.optim.muon import orthogonal

ADAFACTOR: list[dict[str, Any]] = [
    {},
    {"lr": 0.1, "beta2_decay": -0.5, "eps": (1e-4, 1e-2), "d": 1.5, "weight_decay": 0.1},
    {"lr": 0.05, "maximize": True, "foreach": False},
]
MUON: list[dict[str, Any]] = [
    {},
    {"lr": 0.1, "momentum": 0.5, "nesterov": False, "weight_decay": 0.0},
    {"lr": 0.02, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
]


def run(t: Any, name: str, options: dict[str, Any], shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    params = [t.tensor(rng.standard_normal(s).astype(np.float32), requires_grad=True) for s in shapes]
    optimizer = getattr(t.optim, name)(params, **options)
    for _ in range(8):
        for p in params:
            p.grad = t.tensor(rng.standard_normal(p.shape).astype(np.float32))
        optimizer.step()
    return [p.detach().numpy() for p in params]


@pytest.mark.parametrize("options", ADAFACTOR, ids=str)
def test_adafactor_as_torch(torch: ModuleType, options: dict[str, Any]) -> None:
    shapes = [(3, 4), (5,), (), (2, 3, 4), (1, 7)]
    ours, theirs = (run(t, "Adafactor", options, shapes) for t in (wengert, torch))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("options", MUON, ids=str)
def test_muon_as_torch(torch: ModuleType, options: dict[str, Any]) -> None:
    shapes = [(3, 4), (6, 2), (5, 5)]
    ours, theirs = (run(t, "Muon", options, shapes) for t in (wengert, torch))
    for a, b in zip(ours, theirs, strict=True):  # products in bfloat16 have two to three digits
        np.testing.assert_allclose(a, b, rtol=0, atol=0.05 * options.get("lr", 1e-3) * 8)


def test_adafactor_is_its_formula() -> None:
    rng = np.random.default_rng(0)
    p, g = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    w = wengert.tensor(p, requires_grad=True)
    w.grad = wengert.tensor(g)
    wengert.optim.Adafactor([w], lr=0.01).step()
    moments = (
        np.outer((g * g).mean(1), (g * g).mean(0)) / (g * g).mean()
    )  # the first step takes the squares as they are
    update = g / np.sqrt(moments)
    update /= max(1.0, np.sqrt((update**2).mean()))
    np.testing.assert_allclose(w.detach().numpy(), p - 0.01 * np.sqrt((p * p).mean()) * update, rtol=1e-12)


def test_adafactor_keeps_a_row_and_a_column() -> None:
    w = wengert.ones(4, 5, 6, requires_grad=True)
    w.grad = wengert.ones(4, 5, 6)
    optimizer = wengert.optim.Adafactor([w])
    optimizer.step()
    state = optimizer.state[w]
    assert {name: tuple(s.shape) for name, s in state.items()} == {
        "step": (),
        "row_var": (4, 5, 1),
        "col_var": (4, 1, 6),
    }
    again = pickle.loads(pickle.dumps(optimizer.state_dict()))
    optimizer.load_state_dict(again)
    assert optimizer.state[w]["step"].item() == 1


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3)])
def test_newton_schulz_brings_singular_values_near_one(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).standard_normal(shape)
    made = orthogonal(matrix, (3.4445, -4.7750, 2.0315), 5, 1e-7)
    values = np.linalg.svd(made, compute_uv=False)
    assert values.min() > 0.3
    assert values.max() < 1.4
    u, _, v = np.linalg.svd(matrix, full_matrices=False)
    assert np.sum(made * (u @ v)) / np.linalg.norm(made) / np.linalg.norm(u @ v) > 0.9


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Adafactor", {"lr": -1.0}, "Learning rate should be >= 0 but is: -1.0"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
        ("Adafactor", {"eps": (-1.0, 1e-3)}, "epsilon1 should be >= 0 but is: -1.0"),
        ("Muon", {"momentum": -1.0}, "momentum should be >= 0 but is: -1.0"),
        ("Muon", {"adjust_lr_fn": "no"}, "Adjust learning rate function no is not supported"),
    ],
)
def test_refuses_bad_options(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(wengert.optim, name)([wengert.ones(2, 2, requires_grad=True)], **options)


def test_muon_takes_matrices_only() -> None:
    with pytest.raises(ValueError, match=r"Muon only supports 2D parameters whereas we found a parameter with size: "):
        wengert.optim.Muon([wengert.ones(2, requires_grad=True)])

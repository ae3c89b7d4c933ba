"""torch.optim: every optimizer and schedule beside torch, beside formulas in NumPy, and their states and errors."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert
from wengert import optim
from wengert.optim import lr_scheduler

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True},
        {"lr": 0.01, "maximize": True, "weight_decay": 0.2, "foreach": True},
        {"lr": 0.01, "fused": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-3},
        {"lr": 0.1, "betas": (0.3, 0.4), "weight_decay": 0.1},
        {"lr": 0.1, "amsgrad": True, "maximize": True},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "amsgrad": True},
        {"lr": 0.1, "fused": True},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3}, {"lr": 0.1, "amsgrad": True, "foreach": True, "maximize": True}],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True, "eps": 1e-3, "betas": (0.4, 0.9)}],
    "NAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.02},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "betas": (0.9, 0.99)},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "initial_accumulator_value": 0.5, "maximize": True, "eps": 1e-3},
    ],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.7, "weight_decay": 0.1}, {"maximize": True, "eps": 1e-3}],
    "RMSprop": [
        {},
        {"lr": 0.01, "alpha": 0.9, "momentum": 0.5, "weight_decay": 0.1},
        {"lr": 0.01, "centered": True, "eps": 1e-3},
        {"lr": 0.01, "centered": True, "momentum": 0.9, "maximize": True},
    ],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.2)}, {"maximize": True}],
    "ASGD": [{}, {"lr": 0.1, "lambd": 0.1, "t0": 3, "weight_decay": 0.1}, {"alpha": 0.5, "maximize": True}],
}
CASES = [(name, options) for name, many in OPTIONS.items() for options in many]
IDS = [f"{name}-{'-'.join(options) or 'defaults'}" for name, options in CASES]
SHAPES = [(3, 4), (4,), (), (40, 500), (0, 2)]


def grads(step: int, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng([step, *shape])
    return np.asarray(rng.standard_normal(shape), np.float32)


def parameters(t: Any, dtype: Any = np.float32) -> list[Any]:
    rng = np.random.default_rng(1)
    return [t.tensor(np.asarray(rng.standard_normal(s), dtype), requires_grad=True) for s in SHAPES]


def train(t: Any, optimizer: Any, params: list[Any], steps: int = 20, start: int = 0) -> None:
    for step in range(start, start + steps):
        for p in params:
            p.grad = t.tensor(grads(step, tuple(p.shape))).to(p.dtype)
        optimizer.step()


def make(t: Any, name: str, options: dict[str, Any], dtype: Any = np.float32) -> tuple[Any, list[Any]]:
    params = parameters(t, dtype)
    return getattr(t.optim, name)(params, **options), params


def assert_same(ours: Any, theirs: Any, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """Two nests of dicts, lists and tensors, one of each package."""
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for key in ours:
            assert_same(ours[key], theirs[key], rtol, atol)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, rtol, atol)
    elif isinstance(ours, wengert.Tensor):
        assert str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=atol)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-12, nan_ok=True)
    else:
        assert ours == theirs


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_twenty_steps_as_torch(torch: Any, name: str, options: dict[str, Any]) -> None:
    ours, p = make(wengert, name, options)
    theirs, q = make(torch, name, options)
    assert repr(ours) == repr(theirs)
    train(wengert, ours, p)
    train(torch, theirs, q)
    assert_same(p, q)
    a, b = ours.state_dict(), theirs.state_dict()
    assert_same(a["param_groups"], b["param_groups"])
    for i in b["state"]:
        assert_same(dict(sorted(a["state"][i].items())), dict(sorted(b["state"][i].items())), atol=1e-5)
    assert list(a["state"]) == list(b["state"])


@pytest.mark.parametrize("name", OPTIONS)
def test_complex_parameters_as_torch(torch: Any, name: str) -> None:
    ours, p = make(wengert, name, {"lr": 0.05}, np.complex64)
    theirs, q = make(torch, name, {"lr": 0.05}, np.complex64)
    train(wengert, ours, p)
    train(torch, theirs, q)
    assert_same(p, q)


@pytest.mark.parametrize("name", OPTIONS)
def test_float64_to_the_last_digits(torch: Any, name: str) -> None:
    options = OPTIONS[name][1]
    ours, p = make(wengert, name, options, np.float64)
    theirs, q = make(torch, name, options, np.float64)
    train(wengert, ours, p)
    train(torch, theirs, q)
    assert_same(p, q, rtol=1e-6 if name in ("ASGD", "NAdam") else 1e-12, atol=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_gradients_through_a_step_as_torch(torch: Any, name: str) -> None:
    results = []
    for t in (wengert, torch):
        w = t.tensor([1.0, -2.0, 3.0], dtype=t.float64, requires_grad=True)
        p = w.clone()
        optimizer = getattr(t.optim, name)([p], lr=0.1, differentiable=True)
        for _ in range(1 if name in ("Adamax", "Rprop") else 2):  # torch's own cannot do two
            q = p.clone()
            p.grad = t.autograd.grad((q**3).sum(), q, create_graph=True)[0]
            optimizer.step()
        (p * p).sum().backward()
        results.append(w.grad.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


# -------------------------------------------------------------------------------------------------- without torch
def test_sgd_with_momentum_is_its_formula() -> None:
    optimizer, params = make(wengert, "SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01})
    expected = [p.detach().numpy().copy() for p in params]
    buffers: list[Any] = [None] * len(params)
    train(wengert, optimizer, params, 5)
    for step, i in itertools.product(range(5), range(len(params))):
        g = grads(step, expected[i].shape) + 0.01 * expected[i]
        buffers[i] = g if step == 0 else 0.9 * buffers[i] + g
        expected[i] = expected[i] - 0.1 * (g + 0.9 * buffers[i])
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), e, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decoupled", [False, True])
def test_adam_is_its_formula(decoupled: bool) -> None:
    options = {"lr": 0.1, "weight_decay": 0.2, "decoupled_weight_decay": decoupled}
    optimizer, params = make(wengert, "Adam", options, np.float64)
    expected = [p.detach().numpy().copy() for p in params]
    m = [np.zeros_like(e) for e in expected]
    v = [np.zeros_like(e) for e in expected]
    train(wengert, optimizer, params, 5)
    for step, i in itertools.product(range(1, 6), range(len(params))):
        g = grads(step - 1, expected[i].shape).astype(np.float64)
        if decoupled:
            expected[i] = expected[i] * (1 - 0.1 * 0.2)
        else:
            g = g + 0.2 * expected[i]
        m[i] = 0.9 * m[i] + 0.1 * g
        v[i] = 0.999 * v[i] + 0.001 * g * g
        expected[i] = expected[i] - 0.1 * (m[i] / (1 - 0.9**step)) / (np.sqrt(v[i] / (1 - 0.999**step)) + 1e-8)
    for p, e in zip(params, expected, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), e, rtol=1e-10)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_optimizer_goes_downhill(name: str) -> None:
    w = wengert.tensor([3.0, -4.0], requires_grad=True)
    optimizer = getattr(optim, name)([w], lr={"Adadelta": 30.0}.get(name, 0.05))

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    for _ in range(60):
        last = optimizer.step(closure)
    assert last.item() < 0.9 * first.item()


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_state_dict_goes_round(name: str, options: dict[str, Any]) -> None:
    optimizer, params = make(wengert, name, options)
    train(wengert, optimizer, params, 3)
    saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
    copies = [p.detach().clone().requires_grad_() for p in params]
    other = getattr(optim, name)(copies, **(options | {"lr": 9.0}))
    other.load_state_dict(saved)
    train(wengert, optimizer, params, 3, start=3)
    train(wengert, other, copies, 3, start=3)
    for p, q in zip(params, copies, strict=True):
        np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())


def test_pickle_and_deepcopy_keep_state_with_their_own_parameters() -> None:
    optimizer, params = make(wengert, "Adam", {"lr": 0.1})
    train(wengert, optimizer, params, 2)
    for other in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        q = other.param_groups[0]["params"]
        assert q[0] is not params[0]
        assert other.state[q[0]]["step"].item() == 2
        train(wengert, other, q, 1, start=2)
        assert other.state[q[0]]["step"].item() == 3
    assert optimizer.state[params[0]]["step"].item() == 2


def test_step_counts_as_a_write() -> None:
    w = wengert.tensor([1.0, 2.0], requires_grad=True)
    optimizer = optim.Adam([w])
    loss = (w * w).sum()
    w.grad = wengert.ones(2)
    before = w._version
    optimizer.step()
    assert w._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_step_writes_into_the_same_memory_and_makes_no_state_anew() -> None:
    optimizer, params = make(wengert, "Adam", {})
    train(wengert, optimizer, params, 1)
    places = [p.data_ptr() for p in params]
    states = [optimizer.state[p]["exp_avg"] for p in params]
    train(wengert, optimizer, params, 1)
    assert [p.data_ptr() for p in params] == places
    assert all(optimizer.state[p]["exp_avg"] is s for p, s in zip(params, states, strict=True))


def test_gradients_of_any_layout() -> None:
    base = np.arange(60000, dtype=np.float32).reshape(200, 300) / 1e4
    results = []
    for g in (wengert.tensor(base.T.copy()), wengert.tensor(base).t()):
        w = wengert.ones(300, 200, requires_grad=True)
        w.grad = g
        optim.Adam([w], lr=0.1).step()
        results.append(w.detach().numpy())
    np.testing.assert_allclose(*results, rtol=1e-6)  # contiguous ones are added by BLAS, with one rounding


@pytest.mark.parametrize("turned", [False, True], ids=["contiguous", "transposed"])
def test_large_parameters_are_stepped_in_all_their_parts(turned: bool) -> None:
    start, grad = (np.random.default_rng(k).standard_normal((300, 700)).astype(np.float32) for k in (0, 1))
    p = wengert.tensor(start.T.copy()).T if turned else wengert.tensor(start)
    p.requires_grad_()
    optimizer = wengert.optim.Adam([p], lr=0.1, weight_decay=0.5, maximize=True)
    for _ in range(2):
        p.grad = wengert.tensor(grad)
        optimizer.step()
    m, v, want = (np.zeros((300, 700)), np.zeros((300, 700)), start.astype(np.float64))
    for t in (1, 2):
        g = 0.5 * want - grad
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        want = want - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(p.detach().numpy(), want, rtol=1e-4, atol=1e-6)


def test_tensor_learning_rate() -> None:
    rate = wengert.tensor(0.5)
    w = wengert.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([w], lr=rate)
    scheduler = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    w.grad = wengert.tensor([1.0])
    optimizer.step()
    scheduler.step()
    assert w.item() == 0.5
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.25
    assert scheduler.get_last_lr()[0].item() == 0.25


def test_zero_grad() -> None:
    w = wengert.ones(2, requires_grad=True)
    optimizer = optim.SGD([w])
    w.sum().backward()
    grad = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is grad and grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert w.grad is None
    optimizer.step()
    assert w.tolist() == [1.0, 1.0]


def test_hooks() -> None:
    w = wengert.ones(1, requires_grad=True)
    optimizer = optim.SGD([w])
    seen: list[str] = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post")),
        optim.optimizer.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("global pre")),
        optim.optimizer.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("global post")),
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1}),
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("second")),
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True),
        optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append("load")),
        optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded")),
    ]
    optimizer.step()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert state["extra"] == 1
    assert seen == ["global pre", "pre", "post", "global post", "first", "second", "load", "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 8


def test_lbfgs_finds_rosenbrocks_minimum() -> None:
    for options, tolerance in (({"line_search_fn": "strong_wolfe"}, 1e-4), ({"lr": 0.2}, 0.5)):
        w = wengert.tensor([-1.5, 2.0], dtype=wengert.float64, requires_grad=True)
        optimizer = optim.LBFGS([w], max_iter=200, **options)

        def closure(w: Any = w, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
            loss.backward()
            return loss

        optimizer.step(closure)
        assert closure().item() < tolerance


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_as_torch(torch: Any, search: str | None) -> None:
    results = []
    for t in (wengert, torch):
        w = t.tensor([-1.5, 2.0, 0.5], dtype=t.float64, requires_grad=True)
        b = t.tensor([[0.5]], dtype=t.float64, requires_grad=True)
        optimizer = t.optim.LBFGS([w, b], lr=0.3, max_iter=7, history_size=3, line_search_fn=search)

        def closure(w: Any = w, b: Any = b, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = ((1 - w) ** 2).sum() + 10 * (w[1] - w[0] ** 2) ** 2 + ((b * w) ** 4).sum()
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(4)]
        state = optimizer.state_dict()["state"][0]
        counts = (state["n_iter"], state["func_evals"], sorted(state))
        results.append((losses, w.detach().numpy(), counts))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-7)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-6)
    assert results[0][2] == results[1][2]


# --------------------------------------------------------------------------------------------------------- errors
def failures(t: Any) -> list[Any]:
    w = t.ones(2, requires_grad=True)
    v = t.ones(2, requires_grad=True)
    o = t.optim
    s = o.lr_scheduler
    sgd = o.SGD([w], lr=0.1)
    adagrad = o.Adagrad([w])
    return [
        lambda: o.SGD(w),
        lambda: o.SGD([]),
        lambda: o.SGD([w], lr=-1),
        lambda: o.SGD([w], lr=t.ones(2)),
        lambda: o.SGD([w], momentum=-1.0),
        lambda: o.SGD([w], weight_decay=-1.0),
        lambda: o.SGD([w], nesterov=True),
        lambda: o.SGD([w], fused=True, foreach=True),
        lambda: o.SGD([w], fused=True, differentiable=True),
        lambda: o.SGD([w * 2]),
        lambda: o.SGD([1]),
        lambda: o.SGD([{"params": {w}}]),
        lambda: o.SGD([{"params": [w]}, {"params": [w]}]),
        lambda: o.SGD([("w", w), v]),
        lambda: o.SGD([{"params": [("w", w)]}, {"params": [v]}]),
        lambda: sgd.add_param_group([v]),
        lambda: sgd.load_state_dict({"state": {}, "param_groups": []}),
        lambda: sgd.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}),
        lambda: o.Adam([w], lr=-0.5),
        lambda: o.Adam([w], eps=-0.5),
        lambda: o.Adam([w], betas=(1.0, 0.5)),
        lambda: o.Adam([w], betas=(0.5, -0.5)),
        lambda: o.Adam([w], betas=(0, 0.5)),
        lambda: o.Adam([w], weight_decay=-0.5),
        lambda: o.Adam([w], lr=t.tensor(0.1), foreach=True),
        lambda: o.NAdam([w], momentum_decay=-1),
        lambda: o.Adadelta([w], rho=2.0),
        lambda: o.RMSprop([w], alpha=-1),
        lambda: o.RMSprop([w], momentum=-1),
        lambda: o.Rprop([w], etas=(2.0, 3.0)),
        lambda: o.Adagrad([w], lr_decay=-1),
        lambda: o.Adagrad([w], initial_accumulator_value=-1),
        lambda: o.SparseAdam([w], lr=0.0),
        lambda: o.SparseAdam([t.ones(2, dtype=t.complex64, requires_grad=True)]),
        lambda: o.SparseAdam([w, t.sparse_coo_tensor([[0]], [1.0], (3,), check_invariants=False)]),
        lambda: o.LBFGS([{"params": [w]}, {"params": [v]}]),
        lambda: s.StepLR(1, 1),
        lambda: s.StepLR(sgd, 1, last_epoch=3),
        lambda: s.LambdaLR(sgd, [abs, abs]),
        lambda: s.MultiplicativeLR(sgd, 3),
        lambda: s.ConstantLR(sgd, factor=2.0),
        lambda: s.LinearLR(sgd, start_factor=0.0),
        lambda: s.LinearLR(sgd, end_factor=2.0),
        lambda: s.SequentialLR(sgd, [], []),
        lambda: s.SequentialLR(sgd, [s.StepLR(sgd, 1)], [1]),
        lambda: s.SequentialLR(sgd, [s.ReduceLROnPlateau(sgd)], []),
        lambda: s.SequentialLR(sgd, [1], []),
        lambda: s.ChainedScheduler([]),
        lambda: s.ReduceLROnPlateau(sgd, factor=1.0),
        lambda: s.ReduceLROnPlateau(sgd, mode="x"),
        lambda: s.ReduceLROnPlateau(sgd, threshold_mode="x"),
        lambda: s.ReduceLROnPlateau(sgd, min_lr=[1, 2]),
        lambda: s.CyclicLR(sgd, 0.1, 1.0, mode="x"),
        lambda: s.CyclicLR(sgd, [0.1, 0.2], 1.0),
        lambda: s.CyclicLR(adagrad, 0.1, 1.0),
        lambda: s.CosineAnnealingWarmRestarts(sgd, 0),
        lambda: s.CosineAnnealingWarmRestarts(sgd, 1, T_mult=0),
        lambda: s.OneCycleLR(sgd, 1.0),
        lambda: s.OneCycleLR(sgd, 1.0, total_steps=0),
        lambda: s.OneCycleLR(sgd, 1.0, epochs=0, steps_per_epoch=3),
        lambda: s.OneCycleLR(sgd, 1.0, total_steps=5, pct_start=2.0),
        lambda: s.OneCycleLR(sgd, 1.0, total_steps=5, anneal_strategy="x"),
        lambda: o.swa_utils.SWALR(sgd, 0.1, anneal_strategy="x"),
        lambda: o.swa_utils.SWALR(sgd, 0.1, anneal_epochs=-1),
    ]


def test_errors_as_torch(torch: Any) -> None:
    for i, (ours, theirs) in enumerate(zip(failures(wengert), failures(torch), strict=True)):
        with pytest.raises((ValueError, TypeError, RuntimeError, KeyError)) as expected:
            theirs()
        with pytest.raises(type(expected.value)) as raised:
            ours()
        assert str(raised.value) == str(expected.value), i


def test_sparse_adam_refuses_dense_gradients() -> None:
    w = wengert.ones(2, requires_grad=True)
    optimizer = optim.SparseAdam([w])
    optimizer.step()
    w.grad = wengert.ones(2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        optimizer.step()


def test_sparse_adam_of_a_tensor_without_dims(torch: ModuleType) -> None:
    results = []
    for library in (torch, wengert):
        w = library.tensor(2.0, requires_grad=True)
        optimizer = library.optim.SparseAdam([w], lr=0.1)
        for g in (1.0, 3.0):
            w.grad = library.tensor(g).to_sparse()
            optimizer.step()
        results.append((w.item(), optimizer.state[w]["exp_avg"].item(), optimizer.state[w]["exp_avg_sq"].item()))
    assert results[0] == results[1]


def test_required_option() -> None:
    class Custom(optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            pass

    w = wengert.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Custom([w], {"lr": optim.optimizer.required})
    with pytest.warns(UserWarning, match="duplicate parameters"):
        Custom([w, w], {"lr": 1})


# ------------------------------------------------------------------------------------------------------- schedules
def half(epoch: int) -> float:
    return 0.5**epoch


class Decay:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, epoch: int) -> float:
        return self.factor**epoch


SCHEDULES: dict[str, Any] = {
    "lambda": lambda s, o: s.LambdaLR(o, half),
    "lambda list": lambda s, o: s.LambdaLR(o, [half, Decay(0.9)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multistep": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, 0.25, 0.75, total_iters=6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=7, power=2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=5, eta_min=0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.1, 1.0, step_size_up=3, step_size_down=5),
    "cyclic 2": lambda s, o: s.CyclicLR(o, [0.1, 0.2], [1.0, 2.0], step_size_up=3, mode="triangular2"),
    "cyclic exp": lambda s, o: s.CyclicLR(o, 0.1, 1.0, step_size_up=3, mode="exp_range", gamma=0.9),
    "cyclic fn": lambda s, o: s.CyclicLR(o, 0.1, 1.0, step_size_up=3, scale_fn=half, cycle_momentum=False),
    "one cycle": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=22),
    "one cycle 3": lambda s, o: s.OneCycleLR(o, [1.0, 2.0], total_steps=22, three_phase=True, anneal_strategy="linear"),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 5)], [4, 9]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.9)]),
}


def two_groups(t: Any, name: str = "SGD") -> Any:
    groups = [{"params": [t.ones(1, requires_grad=True)]}, {"params": [t.ones(1, requires_grad=True)], "lr": 0.3}]
    return getattr(t.optim, name)(groups, lr=0.5, **({"momentum": 0.9} if name == "SGD" else {}))


def course(t: Any, make_schedule: Any, name: str = "SGD", steps: int = 20) -> tuple[list[Any], dict[str, Any]]:
    optimizer = two_groups(t, name)
    schedule = make_schedule(t.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(steps):
        momenta = [g["momentum"] if name == "SGD" else g["betas"][0] for g in optimizer.param_groups]
        seen.append([*schedule.get_last_lr(), *(g["lr"] for g in optimizer.param_groups), *momenta])
        optimizer.step()
        schedule.step()
    return seen, schedule.state_dict()


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_schedule_as_torch(torch: Any, name: str, optimizer: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*epoch parameter.*")
        ours, state = course(wengert, SCHEDULES[name], optimizer)
        theirs, expected = course(torch, SCHEDULES[name], optimizer)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    assert sorted(state) == sorted(expected)
    for key, value in state.items():
        assert_same(value, expected[key]) if key not in ("milestones", "_schedulers") else None


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_state_goes_round(name: str) -> None:
    optimizer, other = two_groups(wengert), two_groups(wengert)
    first = SCHEDULES[name](lr_scheduler, optimizer)
    for _ in range(6):
        optimizer.step()
        first.step()
    second = SCHEDULES[name](lr_scheduler, other)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    for _ in range(6):
        for o, s in ((optimizer, first), (other, second)):
            o.step()
            s.step()
        assert first.get_last_lr() == second.get_last_lr()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "max", "patience": 1, "factor": 0.5},
        {"patience": 0, "threshold": 0.1, "threshold_mode": "abs", "cooldown": 2, "min_lr": [0.1, 0.2]},
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.2, "patience": 2},
    ],
)
def test_plateau_as_torch(torch: Any, options: dict[str, Any]) -> None:
    results = []
    for t in (wengert, torch):
        optimizer = two_groups(t)
        schedule = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for i in range(40):
            schedule.step(t.tensor(math.cos(i) / (1 + i)))
            rates.append(schedule.get_last_lr())
        results.append((rates, schedule.state_dict()))
    assert results[0] == results[1]


def test_closed_form_rates_as_torch(torch: Any) -> None:
    names = ["step", "multistep", "constant", "linear", "exponential", "polynomial", "cosine", "lambda", "restarts"]
    for name in names:
        rates = []
        for t in (wengert, torch):
            optimizer = two_groups(t)
            schedule = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
            optimizer.step()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for epoch in (4, 2, 9):
                    schedule.step(epoch)
                    rates.append(schedule.get_last_lr())
        np.testing.assert_allclose(rates[:3], rates[3:], rtol=1e-12)


def test_warnings() -> None:
    optimizer = two_groups(wengert)
    schedule = lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(
        UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"
    ) as seen:
        schedule.step()
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(3)
    optimizer = two_groups(wengert)
    schedule = lr_scheduler.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden"):
        schedule.step()


def test_swa(torch: Any) -> None:
    results = []
    for t in (wengert, torch):
        optimizer = two_groups(t)
        schedule = t.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=4)
        rates = []
        for _ in range(7):
            optimizer.step()
            schedule.step()
            rates.append(schedule.get_last_lr())
        model = t.nn.Linear(2, 1)
        averages = [
            t.optim.swa_utils.AveragedModel(model),
            t.optim.swa_utils.AveragedModel(model, multi_avg_fn=t.optim.swa_utils.get_ema_multi_avg_fn(0.8)),
            t.optim.swa_utils.AveragedModel(model, avg_fn=t.optim.swa_utils.get_ema_avg_fn(0.7)),
        ]
        for i in range(4):
            t.nn.init.constant_(model.weight, float(i * i))
            for average in averages:
                average.update_parameters(model)
        rates.append([average.module.weight[0, 0].item() for average in averages[:2]])
        rates.append([averages[2].module.weight[0, 1].item(), averages[0].n_averaged.item()])
        results.append(rates)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_tensor_as_the_rate_of_muon() -> None:
    w = wengert.nn.Parameter(wengert.eye(2))
    optimizer = optim.Muon([w], lr=wengert.tensor(0.1))
    w.grad = wengert.ones(2, 2)
    optimizer.step()
    assert not wengert.equal(w, wengert.eye(2))


def test_options_that_old_states_lack() -> None:
    w = wengert.nn.Parameter(wengert.ones(2))
    for cls, options in ((optim.SparseAdam, ("maximize",)), (optim.Adafactor, ("foreach",))):
        optimizer = cls([w])
        state = optimizer.state_dict()
        for option in options:
            del state["param_groups"][0][option]
        optimizer.load_state_dict(state)
        w.grad = wengert.ones(2).to_sparse() if cls is optim.SparseAdam else wengert.ones(2)
        optimizer.step()
    assert optimizer.param_groups[0]["foreach"] is None


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Rprop", "ASGD", "NAdam", "Adafactor"])
def test_an_interrupt_of_the_first_step_leaves_a_whole_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p = wengert.nn.Parameter(wengert.ones(3, 2))
    opt = getattr(optim, name)([p], lr=0.1)
    p.grad = wengert.ones(3, 2)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        for maker in ("zeros_like", "full_like", "Tensor.new_zeros"):
            patched.setattr(f"wengert.{maker}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opt.step()
    opt.step()
    assert p.isfinite().all() and not p.equal(wengert.ones(3, 2))


def test_an_interrupt_of_the_first_closure_of_lbfgs() -> None:
    p = wengert.nn.Parameter(wengert.tensor([3.0]))
    opt = optim.LBFGS([p], max_iter=5)
    calls = itertools.count()

    def closure() -> Any:
        if next(calls) == 1:
            raise KeyboardInterrupt
        opt.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with pytest.raises(KeyboardInterrupt):
        opt.step(closure)
    opt.step(closure)
    assert abs(p.item()) < 1e-3


def test_states_of_schedules_and_scalers_that_lie_are_refused() -> None:
    """They were taken: a scale of None was NaN, and an unknown schedule a linear one."""
    schedule = optim.lr_scheduler.OneCycleLR(optim.SGD([wengert.nn.Parameter(wengert.ones(2))], 0.1), 0.1, 10)
    schedule.optimizer.step()
    schedule.load_state_dict({**schedule.state_dict(), "_anneal_func_type": "sine"})
    with pytest.raises(ValueError, match="Unknown _anneal_func_type: sine"):
        schedule.step()
    scaler = wengert.amp.GradScaler("cpu")
    good = scaler.state_dict()
    for name, value in (("scale", None), ("scale", [1]), ("_growth_tracker", "1"), ("_growth_tracker", {})):
        with pytest.raises(TypeError, match=r"full\(\): argument 'fill_value' \(position 2\) must be Number"):
            scaler.load_state_dict({**good, name: value})
        assert scaler.state_dict() == good


@pytest.mark.parametrize("size", [2, 5000])
@pytest.mark.parametrize("name", ["Adam", "SGD", "RMSprop", "Adagrad", "Rprop", "Adafactor", "Muon"])
def test_state_of_another_shape_is_refused(name: str, size: int) -> None:
    """Blocks of a large parameter were stepped with the first elements of a larger state."""
    shape = (size, 2) if name == "Muon" else (size,)
    options = {"momentum": 0.9} if name == "SGD" else {}
    for change in (lambda v: v[:1].clone(), lambda v: wengert.cat([v, v]), lambda v: v[..., None], lambda v: v[None]):
        p = wengert.nn.Parameter(wengert.ones(shape))
        opt = getattr(wengert.optim, name)([p], **options)
        p.grad = wengert.ones(shape)
        opt.step()
        saved = opt.state_dict()
        parts = saved["state"][0]
        for key in [
            key for key, value in parts.items() if isinstance(value, wengert.Tensor) and value.numel() == p.numel()
        ]:
            parts[key] = change(parts[key])
        opt.load_state_dict(saved)
        before = p.detach().clone()
        with pytest.raises(RuntimeError, match=r"^(The size of tensor [ab] \(|output with shape \[)"):
            opt.step()
        assert wengert.equal(p, before)


def order_of_states(torch: Any, steps: int, search: str | None) -> list[list[str]]:
    """The keys of state_dicts, in their order: of L-BFGS and of schedulers."""
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.LBFGS([p], max_iter=steps, line_search_fn=search)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((p - 3) ** 4).sum()
        loss.backward()
        return loss

    keys = []
    for _ in range(2):
        optimizer.step(closure)
        keys.append(list(optimizer.state_dict()["state"].get(0, {})))
    sgd = torch.optim.SGD([p], 0.1, momentum=0.9)
    rates = torch.optim.lr_scheduler
    schedulers = [
        rates.ReduceLROnPlateau(sgd), rates.CosineAnnealingWarmRestarts(sgd, 3), rates.CyclicLR(sgd, 0.1, 1.0),
        rates.OneCycleLR(sgd, 1.0, 10), rates.PolynomialLR(sgd), torch.optim.swa_utils.SWALR(sgd, 0.1),
    ]  # fmt: skip
    return keys + [list(scheduler.state_dict()) for scheduler in schedulers]


@pytest.mark.parametrize(("steps", "search"), [(1, None), (3, None), (3, "strong_wolfe")])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_states_are_in_pytorchs_order(torch: Any, steps: int, search: str | None) -> None:
    import torch.optim.swa_utils

    assert order_of_states(wengert, steps, search) == order_of_states(torch, steps, search)

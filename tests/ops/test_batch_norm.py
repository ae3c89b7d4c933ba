"""Batch norm's sums: how the work is cut, and what is lost where means are large beside deviations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert._arrays import batch_norm as module

# few elements (summed in float64), one block, many blocks, samples that are cut, one value a channel
SHAPES = [(6, 3, 5), (8, 16, 14, 14), (40, 3, 50, 50), (2, 40, 70, 70), (32, 64), (700, 400)]


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


@pytest.mark.parametrize("offset", [0.0, 1.5, 4.0, 1e3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_float32_is_as_precise_as_its_input(shape: tuple[int, ...], offset: float) -> None:
    x = (draw(*shape) + offset).astype(np.float32)
    g = draw(*shape, seed=1).astype(np.float32)
    weight, bias = (a.astype(np.float32) for a in (draw(shape[1], seed=2), draw(shape[1], seed=3)))
    given = [wg.tensor(a, requires_grad=True) for a in (x, weight, bias)]
    mean, var = wg.zeros(shape[1]), wg.ones(shape[1])
    y = wg.nn.functional.batch_norm(given[0], mean, var, *given[1:], True, 1.0, 1e-5)
    y.backward(wg.tensor(g))

    dims, along = (0, *range(2, len(shape))), (1, -1, *(1,) * (len(shape) - 2))
    wide = x.astype(np.float64)
    m, v = wide.mean(dims), wide.var(dims)
    s = (v + 1e-5) ** -0.5
    z = (wide - m.reshape(along)) * s.reshape(along)
    total, product, count = g.sum(dims, np.float64), (g * z).sum(dims), x.size // shape[1]
    gx = (g - total.reshape(along) / count - z * product.reshape(along) / count) * (weight * s).reshape(along)
    wanted = (z * weight.reshape(along) + bias.reshape(along), gx, product, total, m, v * count / (count - 1))
    got = (y.detach(), *(t.grad for t in given), mean, var)
    for a, b in zip(got, wanted, strict=True):
        assert a.numpy().dtype == np.float32
        np.testing.assert_allclose(a.numpy(), b, rtol=0, atol=2e-6 * np.abs(b).max())


@pytest.mark.parametrize("size", [5, 5000])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6, -3e-20])
def test_a_constant_channel(value: float, size: int) -> None:
    x = wg.full((4, 2, size), value, requires_grad=True)
    y = wg.nn.functional.batch_norm(x, None, None, None, None, True)
    y.backward(wg.tensor(draw(4, 2, size).astype(np.float32)))
    assert np.abs(y.detach().numpy()).max() <= 1e-5 * abs(value)
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize("size", [3, 3000])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_only_the_channel_of_a_nan_is_nan(bad: float, size: int) -> None:
    x = draw(4, 3, size)
    x[2, 1, 0] = bad
    y = wg.nn.functional.batch_norm(wg.tensor(x), None, None, None, None, True).numpy()
    assert np.isnan(y[:, 1]).any() and not np.isnan(y[:, [0, 2]]).any()


@given(st.tuples(st.integers(1, 40), st.integers(1, 300), st.sampled_from([1, 7, 1000, 3136, 200_000])))
def test_parts_are_everything_once(view: tuple[int, int, int]) -> None:
    seen = np.zeros(view[:2], int)
    for part in module._parts(view):
        assert seen[part].size
        seen[part] += 1
    assert (seen == 1).all()


def test_a_leafs_gradient_is_nobody_elses_memory() -> None:
    x = wg.tensor(draw(2, 3, 4, 5), requires_grad=True)
    layer = wg.nn.BatchNorm2d(3).double()
    layer(x).pow(2).sum().backward()
    for t in (x, *layer.parameters()):
        assert t.grad.numpy().flags.c_contiguous and t.grad._base is None


@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d"])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_writes_of_running_statistics_are_counted_as_in_pytorch(torch: Any, name: str, compiled: bool) -> None:
    counts = []
    for library in (torch, wg):
        layer = getattr(library.nn, name)(3, track_running_stats=True)
        run = wg.compile(layer, backend="numpy") if compiled and library is wg else layer
        for _ in range(3):
            run(library.arange(12.0).view(2, 3, 2))
        counts.append([b._version for b in layer.buffers()])
    assert counts[0] == counts[1]

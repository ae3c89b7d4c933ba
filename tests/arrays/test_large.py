"""What is done in another way when there are many elements: NumPy's values, dtypes and special cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from wengert._arrays import large

SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.5, 1e-40], np.float32)


def _equal_bits(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


# --------------------------------------------------------------------------------------------------------------- where
@given(
    st.sampled_from(("f2", "f4", "f8", "i1", "i4", "i8", "u2", "?", "F", "D")),
    st.sampled_from(("arrays", "zero", "other zero", "number", "array zero", "row")),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=120, deadline=None)
def test_where_is_numpys(dtype, kind, seed):
    rng = np.random.default_rng(seed)
    condition = rng.random((60, 70)) > rng.random()
    x, y = ((rng.normal(size=(60, 70)) * 3).astype(dtype) for _ in range(2))
    x, y = {
        "arrays": (x, y),
        "zero": (x, 0),
        "other zero": (0, y),
        "number": (x, x.dtype.type(1)),
        "array zero": (np.zeros((), dtype), y),
        "row": (x[:1], y[:, :1]),
    }[kind]
    result = large.where(condition, x, y)
    _equal_bits(result, np.where(condition, x, y))
    assert result.base is None


def test_where_keeps_every_bit():
    x = np.tile(SPECIAL, 1000)
    condition = np.arange(x.size) % 3 == 0
    for a, b in ((x, -x), (x, x[::-1]), (x, np.float32(0)), (np.float32(0), x), (x, np.float32(-0.0))):
        _equal_bits(large.where(condition, a, b), np.where(condition, a, b))


def test_where_of_a_transposed_condition_keeps_the_order():
    condition = (np.arange(10_000).reshape(100, 100) % 3 == 0).T
    x = np.arange(10_000.0).reshape(100, 100).T
    result = large.where(condition, x, 0)
    np.testing.assert_array_equal(result, np.where(condition, x, 0))
    assert result.strides == x.strides


# -------------------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize("limits", [(0, None), (None, 0.5), (-0.5, 0.25), (1.0, -1.0), (None, None)])
def test_limited(limits):
    x = np.tile(SPECIAL, 1000)
    low, high = limits
    expected = x if low is None else np.maximum(x, np.float32(low))
    expected = expected if high is None else np.minimum(expected, np.float32(high))
    result = large.limited(x, low, high)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "slopes", [[0.25], [1.0], [-0.5], [0.0], [1.5], [0.1, 0.3, 1.0], [0.1, -0.3, 1.0], [0.1, 0.0, 2.0]]
)
def test_prelu_of_many_numbers_chooses(slopes):
    """With slopes of at most 1 it is a maximum."""
    x = np.random.default_rng(0).normal(size=(4, len(slopes), 3000)).astype(np.float32)
    x[0, 0, : len(SPECIAL)] = SPECIAL
    slope = np.array(slopes, np.float32)
    t = wg.from_numpy(x).requires_grad_()
    result = wg.nn.functional.prelu(t, wg.from_numpy(slope))
    lower = slope[:, None] if len(slopes) > 1 else slope
    with np.errstate(invalid="ignore"):
        _equal_bits(result.detach().numpy(), np.where(x > 0, x, x * lower))
    result.sum().backward()
    np.testing.assert_array_equal(t.grad.numpy(), np.where(x > 0, np.float32(1), np.broadcast_to(lower, x.shape)))


# ---------------------------------------------------------------------------------------------------------- remainders
@pytest.mark.parametrize("name", ["fmod", "remainder"])
@pytest.mark.parametrize("spread", [0.1, 3.0, 12.0])
@pytest.mark.parametrize("other", ["array", "row", "number"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_remainders_of_many_numbers_are_numpys(name, spread, other):
    """The quotient is computed in float64 where that is exact; parts with nan or a huge quotient are not."""
    rng = np.random.default_rng(0)
    x, y = (np.exp(rng.normal(0, spread, (600, 500))) * rng.choice([-1, 1], (600, 500)) for _ in range(2))
    x, y = x.astype(np.float32), y.astype(np.float32)
    x[0, :8], y[1, :8], x[300:] = SPECIAL, SPECIAL, np.round(x[300:])
    y = {"array": y, "row": y[:1], "number": y[0, 0]}[other]
    result = getattr(wg, name)(wg.from_numpy(x), float(y) if other == "number" else wg.from_numpy(y)).numpy()
    expected = getattr(np, name)(x, y)
    np.testing.assert_array_equal(result, expected)
    zero = expected == 0
    assert zero.any()
    np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(x[zero]))


# ---------------------------------------------------------------------------------------------------------------- sums
SHAPES = [((5000,), None), ((5000,), (0,)), ((70, 90), (1,)), ((70, 90), (0,)), ((6, 10, 2500), (2,)), ((600, 5), 1)]
SHAPES += [((6, 10, 50, 8), dims) for dims in ((2, 3), (3, 2), (1, 2, 3), (1, 3), (0, 1), (1, 2))]


@pytest.mark.parametrize(("shape", "dim"), [*SHAPES, ((520, 600), (1,)), ((520, 600), (0, 1)), ((3, 300_000), (1,))])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums(shape, dim, keepdim, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    axis = dim if isinstance(dim, int) or dim is None else tuple(dim)
    wide = x.astype(np.longdouble)
    mean = np.asarray(x.mean(axis, keepdims=True, dtype=dtype)) + dtype(1)
    eps = 40 * np.finfo(dtype).eps
    for result, terms in (
        (large.sum_over(x, dim, keepdim), wide),
        (large.sum_of_squares(x, dim, keepdim), wide * wide),
        (large.sum_of_deviations(x, mean, dim, keepdim), (wide - mean) ** 2),
    ):
        expected = terms.sum(axis, keepdims=keepdim)
        scale = np.abs(terms).sum(axis, keepdims=keepdim)
        assert result.dtype == dtype
        assert result.shape == expected.shape
        assert (np.abs(result - expected) <= eps * scale).all()


@pytest.mark.parametrize("n", [1000, 1024, 5000, 300_001])
def test_long_rows_are_added_pairwise(n):
    x = np.full((2, n), 0.1, np.float32)
    exact = float(np.float32(0.1)) * n
    assert np.abs(large.row_sums(x) - exact).max() <= 6e-7 * exact
    assert np.abs(large.row_products(x, x) - exact * float(np.float32(0.1))).max() <= 1e-6 * exact


def test_cotangents_of_many_rows_keep_their_digits():
    x = wg.full((1 << 20, 2), 0.1)
    exact = float(np.float32(0.1)) * len(x)
    for work in (lambda x, b: x.detach() * b, lambda x, b: wg.nn.functional.layer_norm(x, (2,), bias=b) * x):
        b = wg.ones(2, requires_grad=True)
        work(x, b).sum().backward()
        assert np.abs(b.grad.numpy() - exact).max() <= 1e-5 * exact


def test_product_of_all():
    x = np.random.default_rng(0).uniform(0.99, 1.01, 100_001)
    np.testing.assert_allclose(large.product_of_all(x), np.multiply.reduce(x), rtol=1e-10)
    assert np.isnan(large.product_of_all(np.append(x, np.nan)))
    assert large.product_of_all(np.append(x, 0.0)) == 0


# --------------------------------------------------------------------------------------------------- operators built so
def test_normal_cdf():
    x = np.concatenate([np.linspace(-9, 9, 20_001), SPECIAL, [1e30, -1e30]]).astype(np.float32)
    expected = np.array([(1 + math.erf(float(v) / math.sqrt(2))) / 2 for v in x])
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(large.normal_cdf(x), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("shape", [(3000, 100), (1000, 300), (300, 1000), (70, 5000)])
@pytest.mark.parametrize("offset", [0.0, 200.0])
def test_large_softmax(shape, offset):
    x = wg.tensor(np.random.default_rng(0).normal(size=shape) + offset, requires_grad=True)
    g = np.random.default_rng(1).normal(size=shape)
    a = x.detach().numpy()
    e = np.exp(a - a.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    y = x.softmax(1)
    np.testing.assert_allclose(y.detach().numpy(), p, rtol=1e-12)
    y.backward(wg.tensor(g))
    np.testing.assert_allclose(x.grad.numpy(), p * (g - (g * p).sum(1, keepdims=True)), rtol=1e-10, atol=1e-15)
    x.grad = None
    y = x.log_softmax(1)
    np.testing.assert_allclose(y.detach().numpy(), np.log(p), rtol=1e-10)
    y.backward(wg.tensor(g))
    np.testing.assert_allclose(x.grad.numpy(), g - p * g.sum(1, keepdims=True), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("shape", "groups"), [((600, 500), None), ((8, 40, 1000), None), ((8, 12, 60, 50), 3)])
def test_large_norms(shape, groups, affine):
    rng = np.random.default_rng(0)
    channels = shape[1] if groups else shape[-1]
    x, g = rng.normal(size=shape) * 2 + 3, rng.normal(size=shape)
    w, b = rng.normal(size=channels), rng.normal(size=channels)
    across = (1, channels, 1, 1) if groups else (channels,)
    t, tw, tb = (wg.tensor(a, requires_grad=True) for a in (x, w, b))
    weights = (tw, tb) if affine else ()
    if groups:
        y = wg.nn.functional.group_norm(t, groups, *weights)
    else:
        y = wg.nn.functional.layer_norm(t, (channels,), *weights)
    rows = x.reshape(shape[0] * groups, -1) if groups else x.reshape(-1, channels)
    s = 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    z = (rows - rows.mean(1, keepdims=True)) * s
    full = z.reshape(shape)
    scale, shift = (w.reshape(across), b.reshape(across)) if affine else (1.0, 0.0)
    np.testing.assert_allclose(y.detach().numpy(), full * scale + shift, rtol=1e-9, atol=1e-11)
    y.backward(wg.tensor(g))
    h = (g * scale).reshape(rows.shape)
    expected = s * (h - h.mean(1, keepdims=True) - z * (h * z).mean(1, keepdims=True))
    np.testing.assert_allclose(t.grad.numpy(), expected.reshape(shape), rtol=1e-8, atol=1e-10)
    if affine:
        others = tuple(k for k in range(len(shape)) if k != (1 if groups else len(shape) - 1))
        np.testing.assert_allclose(tw.grad.numpy(), (g * full).sum(others), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(tb.grad.numpy(), g.sum(others), rtol=1e-8, atol=1e-9)


LOSSES = {
    "mse_loss": lambda d: (d * d, 2 * d),
    "l1_loss": lambda d: (np.abs(d), np.sign(d)),
    "smooth_l1_loss": lambda d: (np.where(np.abs(d) < 1, d * d / 2, np.abs(d) - 0.5), np.clip(d, -1, 1)),
    "huber_loss": lambda d: (np.where(np.abs(d) < 1, d * d / 2, np.abs(d) - 0.5), np.clip(d, -1, 1)),
}


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_large_losses(name, reduction):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(600, 500)) * 2, rng.normal(size=(600, 500))
    t = wg.tensor(x, requires_grad=True)
    loss = getattr(wg.nn.functional, name)(t, wg.tensor(y), reduction=reduction)
    values, slopes = LOSSES[name](x - y)
    count = x.size if reduction == "mean" else 1
    expected = values if reduction == "none" else values.sum() / count
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-10)
    loss.sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), slopes / count, rtol=1e-10)


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0.5, 2, 2.0, 3, 3.0, 4, 1.5])
def test_powers(exponent):
    x = np.random.default_rng(0).uniform(0.1, 3, 300_000)
    t = wg.tensor(x, requires_grad=True)
    y = t**exponent
    np.testing.assert_allclose(y.detach().numpy(), x**exponent, rtol=1e-14)
    y.sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), exponent * x ** (exponent - 1.0), rtol=1e-13)

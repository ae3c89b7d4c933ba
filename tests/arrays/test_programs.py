"""Elementwise bodies as lists of calls: the digits of the plain call, and what operators on many elements give."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as wg
from wengert._arrays import fused, kernels, large
from wengert._arrays import threads as _blocks

F = wg.nn.functional
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 1.0, -1.0, 88.0, -88.0, 1e19, -1e19], np.float32)
N = _blocks.LARGE + 1000


def _many(seed: int = 0, scale: float = 4.0) -> np.ndarray:
    x = (np.random.default_rng(seed).standard_normal(N) * scale).astype(np.float32)
    x[: SPECIAL.size] = SPECIAL
    return x


def _equal_bits(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


# ------------------------------------------------------------------------------------------------------------- programs
def _polynomial(x, y):
    z = x * x
    r = z * 3 + 1
    r *= z
    r += y
    return np.tanh(r) / (2 - y) + z


def _in_place(x, y):
    d = np.multiply(x, x)
    np.subtract(1, d, d)
    return np.multiply(y, d, d)


def _repeated(x, y):
    return (x * y + x * y) * 1 - np.maximum(0, x * y) ** 0.5


def _compared(x, y):
    return large.where((x > 0) & (y <= 1), x * y, large.where(x < y, y, 0))


BODIES = [_polynomial, _in_place, _repeated, _compared]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_program_is_the_body(body, dtype):
    x, y = _many(1).astype(dtype), _many(2).astype(dtype)
    kept = x.copy(), y.copy()
    with np.errstate(all="ignore"):
        expected = body(x, y)
        program = fused.fused_body_of(body, (x, y))
        assert program is not None
        out = np.empty_like(x)
        program.run([out], [x, y])
        _equal_bits(out, expected)
        _equal_bits(_blocks.elementwise(body, x, y), expected)
    _equal_bits(x, kept[0])
    _equal_bits(y, kept[1])


def test_the_same_step_is_done_once():
    program = fused.fused_body_of(_repeated, (np.ones(2), np.ones(2)))
    assert program is not None
    assert [step[0] for step in program.steps].count(np.multiply) == 1


def test_dtypes_and_parameters_make_programs_of_their_own():
    def body(x, n):
        return x**n + 1

    x = np.linspace(0.5, 2, 100)
    programs = [fused.fused_body_of(body, (a, n)) for a in (x, x.astype(np.float32)) for n in (2, 3.0, -0.0, 0.0)]
    assert len(set(map(id, programs))) == 8
    assert fused.fused_body_of(body, (x + 1, 2)) is programs[0]
    assert fused.fused_body_of(body, (x, [])) is None


def test_closures_over_other_values_are_other_programs():
    def multiple(k):
        return lambda x: x * k + 1

    x = np.ones(10)
    a, b, again = (fused.fused_body_of(multiple(k), (x,)) for k in (2.0, 3.0, 2.0))
    assert a is not b
    assert a is again
    assert fused.fused_body_of(multiple(np.ones(10)), (x,)) is None  # an array may change
    assert fused.fused_body_of(partial(_polynomial, x), (x,)) is None


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.sum() + x,
        lambda x: x if x.all() else -x,
        lambda x: np.sort(x),
        lambda x: np.where(x > 0, x, 0),
        lambda x: x[::-1] + x,
        lambda x: np.add.reduce(x) + x,
        lambda x: np.float64(len(x)) + x,
        lambda x: np.add(x, 1, dtype=np.float64),
        lambda x: np.modf(x)[0],
    ],
)
def test_what_asks_for_more_than_elements_is_no_program(body):
    assert fused.fused_body_of(body, (np.ones(10),)) is None


@pytest.mark.parametrize("body", [lambda x: x, lambda x: (x, x + 1), lambda x: np.where(x > 0, x, 0), lambda x: 3])
def test_what_is_no_program_is_called_as_it_is(body):
    x = np.linspace(-1, 1, N)
    assert fused.fused_body_of(body, (x,)) is None
    np.testing.assert_equal(_blocks.elementwise(body, x), body(x))


@given(
    st.sampled_from(BODIES),
    st.sampled_from(("plain", "transposed", "row", "column", "stepped", "expanded")),
    st.sampled_from((np.float32, np.float64)),
)
@settings(max_examples=40, deadline=None)
def test_programs_take_any_layout(body, kind, dtype):
    x = _many(3)[: 1 << 18].astype(dtype).reshape(512, 512)
    y = _many(4)[: 1 << 18].astype(dtype).reshape(512, 512)
    y = {
        "plain": lambda: y,
        "transposed": lambda: y.T,
        "row": lambda: y[0],
        "column": lambda: y[:, :1],
        "stepped": lambda: np.repeat(y, 2, 1)[:, ::2],
        "expanded": lambda: np.broadcast_to(y[:1, :1], y.shape),
    }[kind]()
    with np.errstate(all="ignore"):
        _equal_bits(np.ascontiguousarray(_blocks.elementwise(body, x, y)), np.ascontiguousarray(body(x, y)))


def test_numpys_error_state_is_kept():
    x = np.zeros(N)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        _blocks.elementwise(lambda x: 1 / x + 1, x)


# -------------------------------------------------------------------------------------------------------------- kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels(dtype):
    x, y = _many(5).astype(dtype), _many(6).astype(dtype)
    condition = y > 0
    with np.errstate(all="ignore"):
        _equal_bits(kernels.kept(x, condition), np.where(condition, x, dtype(0)))
        _equal_bits(kernels.dropped(x, condition), np.where(condition, dtype(0), x))
        _equal_bits(kernels.chosen(x, y, condition), np.where(condition, x, y))
        _equal_bits(kernels.where_not_zero(x, y), np.where(y != 0, x, dtype(0)))
        np.testing.assert_array_equal(kernels.with_slope(x, y, 0.3), np.where(y > 0, x, x * dtype(0.3)))
        np.testing.assert_array_equal(kernels.signs(x), np.nan_to_num(np.sign(x), nan=0))
        np.testing.assert_array_equal(kernels.with_sign_of(np.abs(x), x), x)


def test_density_and_logistic_curve():
    x = np.linspace(-30, 30, 100_001).astype(np.float32)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(kernels.bell(x), np.exp(-exact * exact / 2) / np.sqrt(2 * np.pi), rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(kernels.one_and_exp_of_negative(x), 1 + np.exp(-exact), rtol=3e-7)


def test_error_function():
    x = np.concatenate([np.linspace(-6, 6, 20_001), np.logspace(-40, 0, 2000), SPECIAL]).astype(np.float32)
    expected = np.array([math.erf(float(v)) for v in x])
    with np.errstate(all="ignore"):
        result = large.error_function(x)
    digit = np.spacing((np.abs(expected) * (1 - 1e-7)).astype(np.float32))
    np.testing.assert_array_less(np.abs(result - expected)[~np.isnan(x)], 2.5 * digit[~np.isnan(x)])
    np.testing.assert_array_equal(np.isnan(result), np.isnan(x))
    np.testing.assert_array_equal(np.signbit(result[x == 0]), np.signbit(x[x == 0]))


# ------------------------------------------------------------------------------------------ operators on many elements
UNARY = {
    "relu": wg.relu,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "elu": F.elu,
    "elu, alpha": lambda x: F.elu(x, 0.7),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 2.0),
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu, tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sigmoid": wg.sigmoid,
    "softplus": F.softplus,
    "softplus, beta": lambda x: F.softplus(x, 2.0, 10.0),
    "logsigmoid": F.logsigmoid,
    "mish": F.mish,
    "hardtanh": F.hardtanh,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "clamp": lambda x: x.clamp(-0.5, 1.0),
    "clamp_min": lambda x: x.clamp(min=0.25),
    "abs": wg.abs,
    "sgn": wg.sgn,
    "square": wg.square,
    "cube": lambda x: x**3,
    "fourth power": lambda x: x**4,
    "fifth power": lambda x: x**5.0,
    "sixth power": lambda x: x**6,
    "ninth power": lambda x: x**9,
    "minus third power": lambda x: x**-3,
    "infinite power": lambda x: x ** float("inf"),
    "sqrt": lambda x: wg.sqrt(x * x),
    "erf": wg.erf,
    "where": lambda x: wg.where(x > 1, x, x * 2),
}


def _with_gradient(f, x, g):
    x = wg.tensor(x, requires_grad=True)
    y = f(x)
    y.backward(wg.tensor(g))
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY)
def test_many_elements_are_like_few(name, dtype):
    """Few go by NumPy's own functions: the same values to the last digits, the same special ones."""
    f = UNARY[name]
    x = np.concatenate([SPECIAL, np.random.default_rng(0).standard_normal(1000) * 4]).astype(dtype)
    g = np.random.default_rng(1).standard_normal(x.size).astype(dtype)
    repeats = -(-N // x.size)
    tolerance = {"rtol": 3e-6 if dtype is np.float32 else 1e-13, "atol": 2e-6 if dtype is np.float32 else 1e-14}
    few, many = _with_gradient(f, x, g), _with_gradient(f, np.tile(x, repeats), np.tile(g, repeats))
    for a, b in zip(few, many, strict=True):
        np.testing.assert_allclose(b[: x.size], a, **tolerance)
        _equal_bits(b[: x.size], b[x.size : 2 * x.size])  # wherever in the array
        at_zero = slice(3, 5)
        np.testing.assert_array_equal(np.signbit(a[at_zero]), np.signbit(b[at_zero]))


@pytest.mark.parametrize("name", UNARY)
def test_threads_do_not_matter(name, monkeypatch):
    x, g = _many(7), _many(8)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(_blocks, "requested", threads)
        monkeypatch.setattr(_blocks._pool, "processors", 3)
        results.append(_with_gradient(UNARY[name], x, g))
    for other in results[1:]:
        _equal_bits(other[0], results[0][0])
        _equal_bits(other[1], results[0][1])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0's maximum of -0. and 0. is either")
def test_zeros_keep_their_sign_in_relu_and_limits():
    for n in (1, 5, 3000, N):
        for dtype in (np.float32, np.float64):
            x = wg.tensor(np.full(n, -0.0, dtype))
            for f in (wg.relu, F.relu6, lambda x: x.clamp(min=0), lambda x: F.leaky_relu(x), F.elu):
                assert np.signbit(f(x).numpy()).all()
            assert not np.signbit((-x).clamp(max=-0.0).numpy()).any()
    assert np.signbit(wg.relu(wg.tensor(-0.0)).numpy())


@pytest.mark.parametrize("f", [F.silu, F.gelu])
def test_a_result_that_was_overwritten_is_not_needed(f):
    x = wg.tensor(_many(9)[SPECIAL.size :], requires_grad=True)
    y = f(x)
    (plain,) = wg.autograd.grad(y.sum(), x, retain_graph=True)
    with wg.no_grad():
        y.mul_(3)
    (again,) = wg.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(again.numpy(), plain.numpy(), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("f", [F.silu, F.gelu, F.elu, F.softplus])
def test_second_derivatives_of_many_elements(f):
    few = np.linspace(-3, 3, 50).astype(np.float32)
    second = []
    for a in (few, np.tile(few, -(-N // few.size))):
        x = wg.tensor(a, requires_grad=True)
        (d,) = wg.autograd.grad(f(x).sum(), x, create_graph=True)
        (dd,) = wg.autograd.grad(d.sum(), x)
        second.append(dd.numpy()[:50])
    np.testing.assert_allclose(second[1], second[0], rtol=1e-5, atol=1e-5)


def test_a_result_kept_for_its_derivative_is_let_go(no_gc):
    import weakref

    x = wg.tensor(np.ones(N, np.float32), requires_grad=True)
    y = F.silu(x)
    gone = weakref.ref(y._payload)
    y.sum().backward()
    del y
    assert gone() is None


# ------------------------------------------------------------------------------------------------------------- extremes
@pytest.mark.parametrize("shape", [(70, 64), (3, 40, 100), (600, 1000)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_extremes_of_rows(shape, dtype, keepdim):
    a = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    a[..., 0, 5] = np.nan
    a[..., 1, 7] = np.inf
    x = wg.tensor(a)
    for name, fn, where in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
        values, indices = getattr(x, name)(-1, keepdim)
        np.testing.assert_array_equal(values.numpy(), fn(a, -1, keepdims=keepdim))
        np.testing.assert_array_equal(indices.numpy(), where(a, -1, keepdims=keepdim))
        alone = getattr(x, f"a{name}")(-1, keepdim)
        np.testing.assert_array_equal(alone.numpy(), fn(a, -1, keepdims=keepdim))


@pytest.mark.parametrize(("shape", "dim"), [((600, 128), 0), ((4, 300, 70), 1), ((3, 200, 130), 0)])
@pytest.mark.parametrize("nan", [False, True])
def test_extremes_of_columns(shape, dim, nan):
    a = np.random.default_rng(0).integers(-50, 50, shape).astype(np.float32)  # many are equal: the first counts
    if nan:
        a[1, 5] = np.nan
    for array in (a, a.astype(np.int32) if not nan else a.astype(np.float64)):
        x = wg.tensor(array)
        for name, fn, where in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
            for keepdim in (False, True):
                values, indices = getattr(x, name)(dim, keepdim)
                np.testing.assert_array_equal(values.numpy(), fn(array, dim, keepdims=keepdim))
                np.testing.assert_array_equal(indices.numpy(), where(array, dim, keepdims=keepdim))
                alone = getattr(x, f"arg{name}")(dim, keepdim)
                np.testing.assert_array_equal(alone.numpy(), where(array, dim, keepdims=keepdim))


def test_extremes_of_all():
    a = np.random.default_rng(0).standard_normal((1500, 1600)).astype(np.float32)
    assert wg.tensor(a).max().item() == a.max()
    assert wg.tensor(a.T).min().item() == a.min()
    a[700, 3] = np.nan
    assert np.isnan(wg.tensor(a).max().item())


@pytest.mark.parametrize("name", ["none", "tanh", "silu"])
def test_a_kept_slope_serves_several_backward_passes(name):
    f = F.silu if name == "silu" else lambda x: F.gelu(x, approximate=name)
    values, g = _many(9).astype(np.float32), wg.tensor(_many(10).astype(np.float32))
    x = wg.tensor(np.clip(values, -50, 50), requires_grad=True)
    y = f(x)
    first, again = (wg.autograd.grad(y, x, g, retain_graph=keep)[0] for keep in (True, False))
    _equal_bits(first.numpy(), again.numpy())
    with pytest.raises(RuntimeError, match="second time"):
        wg.autograd.grad(y, x, g)
    y = f(x)
    _equal_bits(y.detach().numpy(), f(x.detach()).numpy())  # recording changes no digit
    recorded = wg.autograd.grad(y, x, g, create_graph=True)[0]
    np.testing.assert_allclose(recorded.detach().numpy(), first.numpy(), rtol=1e-5, atol=1e-5)
    x.data.mul_(1)
    y = f(x)
    with wg.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(g)


def test_several_results_of_one_body():
    x, y = _many(11), _many(12)

    def body(x, y):
        return x * y + 1, x - y, np.abs(x) > 1

    with np.errstate(all="ignore"):
        for result, expected in zip(_blocks.elementwise_multi(body, x, y), body(x, y), strict=True):
            _equal_bits(result, expected)
        few = _blocks.elementwise_multi(body, x[:5], y[:5])
    assert [a.shape for a in few] == [(5,)] * 3


@pytest.mark.parametrize("vector", [False, True], ids=["plain", "vector functions"])
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64], ids=str)
@pytest.mark.parametrize("name", ["sigmoid", "silu", "mish", "logsigmoid", "softplus", "gelu", "tanh"])
def test_activations_are_programs_on_every_processor(
    name: str, dtype: wg.dtype, vector: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded, given = fused._recorded, []

    def listening(body, operands):
        given.append(recorded(body, operands))
        return given[-1]

    monkeypatch.setattr(fused, "_recorded", listening)
    monkeypatch.setattr(kernels, "has_vector_functions", lambda: vector)
    monkeypatch.setattr(fused, "_programs", type(fused._programs)())
    x = wg.rand(N, dtype=dtype, requires_grad=True)
    getattr(F, name)(x).sum().backward()
    with wg.no_grad():
        getattr(F, name)(x)
    assert None not in given

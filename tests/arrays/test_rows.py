"""What normalises rows: softmax and its logarithm, cross entropy, layer and group norm; few, many, long and short rows.

Expected values are those of the definitions in float64.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert.autograd import detect_anomaly

F = wg.nn.functional
SHAPES = [(1, 2), (4, 10), (32, 10), (7, 100), (70, 64), (3000, 10), (300, 1000), (40, 9000)]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def leaf(a):
    return wg.tensor(a, requires_grad=True)


# -------------------------------------------------------------------------------------------------------------- softmax
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1, 5, 40])
@pytest.mark.parametrize("offset", [0, -300, 300])
def test_softmax_in_float32(shape, scale, offset):
    rng = np.random.default_rng(0)
    a = (rng.normal(size=shape) * scale + offset).astype(np.float32)
    g = rng.normal(size=shape).astype(np.float32)
    p, logs = softmax(a.astype(np.float64)), log_softmax(a.astype(np.float64))
    spacing = 1.2e-7 * np.ptp(a)  # what rounding x - max(x) costs
    x = leaf(a)
    y = x.softmax(1)
    np.testing.assert_allclose(y.detach().numpy(), p, rtol=1e-6 + spacing, atol=1e-37)
    y.backward(wg.tensor(g))
    wanted = p * (g - (g * p).sum(1, keepdims=True))
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-5 + spacing, atol=1e-6)
    x.grad = None
    y = x.log_softmax(1)
    np.testing.assert_allclose(y.detach().numpy(), logs, rtol=5e-7, atol=3e-7 + 2e-7 * scale)
    y.backward(wg.tensor(g))
    total = g.astype(np.float64).sum(1, keepdims=True)
    np.testing.assert_allclose(x.grad.numpy(), g - p * total, rtol=2e-6, atol=2e-6 * (1 + abs(total).max()))


@pytest.mark.parametrize("n", [3, 100, 1000])
def test_log_probabilities_near_zero_keep_their_digits(n):
    a = np.zeros((5000 if n == 3 else 50, n), np.float32)
    a[:, 0] = np.linspace(8, 14, len(a))
    expected = log_softmax(a.astype(np.float64))
    found = wg.tensor(a).log_softmax(1).numpy()
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=0, atol=1.3e-7)  # float32's step at one


ROWS = [  # what a row begins with; the rest is random
    [],
    [np.inf],
    [np.nan],
    [-np.inf],
    [1e30],
    [-1e30],
    [200.0],
    [-200.0, -np.inf],
]


@pytest.mark.parametrize("shape", [(8, 5), (8, 1000), (800, 10)])
def test_rows_with_infinities_are_as_numpy_has_them(shape):
    a = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for k, beginning in enumerate(ROWS):
        a[k, : len(beginning)] = beginning
    a[-1] = -np.inf
    with np.errstate(all="ignore"):
        p, logs = softmax(a.astype(np.float64)), log_softmax(a.astype(np.float64))
        sums = np.log(np.exp(a.astype(np.float64)).sum(1))
    np.testing.assert_allclose(wg.tensor(a).softmax(1).numpy(), p, rtol=2e-6, atol=1e-30)
    np.testing.assert_allclose(wg.tensor(a).log_softmax(1).numpy(), logs, rtol=1e-6, atol=1e-6)
    sums[4] = np.float32(1e30)  # which exp does not reach
    np.testing.assert_allclose(wg.logsumexp(wg.tensor(a), 1).numpy(), sums, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_softmax_along_any_dim_of_a_large_array(dim):
    a = np.random.default_rng(0).normal(size=(30, 100, 110))
    g = np.random.default_rng(1).normal(size=a.shape)
    p = np.moveaxis(softmax(np.moveaxis(a, dim, -1)), -1, dim)
    for f, value, grad in (
        ("softmax", p, p * (g - (g * p).sum(dim, keepdims=True))),
        ("log_softmax", np.log(p), g - p * g.sum(dim, keepdims=True)),
    ):
        x = leaf(a)
        y = getattr(wg, f)(x, dim)
        np.testing.assert_allclose(y.detach().numpy(), value, rtol=1e-11)
        y.backward(wg.tensor(g))
        np.testing.assert_allclose(x.grad.numpy(), grad, rtol=1e-9, atol=1e-13)


def test_large_softmax_of_what_does_not_lie_in_rows():
    a = np.random.default_rng(0).normal(size=(600, 500)).astype(np.float32)
    x = wg.tensor(a).t()
    np.testing.assert_allclose(x.softmax(1).numpy(), softmax(a.T.astype(np.float64)), rtol=1e-5)
    y = leaf(a)
    y.log_softmax(1).sum().backward()  # a cotangent that is repeated
    expected = 1 - 500 * softmax(a.astype(np.float64))
    np.testing.assert_allclose(y.grad.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(400, 1000), (5000, 60)])
def test_large_logsumexp(shape):
    a = np.random.default_rng(0).normal(size=shape)
    x = leaf(a)
    y = x.logsumexp(1)
    np.testing.assert_allclose(y.detach().numpy(), np.log(np.exp(a).sum(1)), rtol=1e-12)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), softmax(a), rtol=1e-11)
    assert x.detach().logsumexp(1, keepdim=True).shape == (shape[0], 1)


# -------------------------------------------------------------------------------------------------------- cross entropy
def loss_and_grad(a, t, reduction, g):
    a = a.astype(np.float64)
    here = (np.arange(len(a)), t)
    losses = -log_softmax(a)[here]
    grad = softmax(a)
    grad[here] -= 1
    if reduction == "none":
        return losses, grad * g[:, None]
    share = 1 / len(a) if reduction == "mean" else 1.0
    return losses.sum() * share, grad * share * g


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cross_entropy(shape, reduction, dtype):
    rng = np.random.default_rng(0)
    a, t = rng.normal(size=shape).astype(dtype), rng.integers(0, shape[1], shape[0])
    g = rng.normal(size=shape[0] if reduction == "none" else ()).astype(dtype)
    loss, grad = loss_and_grad(a, t, reduction, g)
    x = leaf(a)
    y = F.cross_entropy(x, wg.tensor(t), reduction=reduction)
    rtol = 1e-6 if dtype is np.float32 else 1e-13
    assert y.detach().numpy().dtype == dtype
    np.testing.assert_allclose(y.detach().numpy(), loss, rtol=rtol)
    y.backward(wg.tensor(g), retain_graph=True)
    assert x.grad.numpy().dtype == dtype
    np.testing.assert_allclose(x.grad.numpy(), grad, rtol=2 * rtol, atol=rtol * abs(grad).max())
    x.grad = None
    y.backward(wg.tensor(g))  # now in the memory of what was kept
    np.testing.assert_allclose(x.grad.numpy(), grad, rtol=2 * rtol, atol=rtol * abs(grad).max())
    np.testing.assert_allclose(F.cross_entropy(x.detach(), wg.tensor(t), reduction=reduction), loss, rtol=rtol)


@given(
    rows=st.integers(1, 40),
    classes=st.integers(1, 90),
    scale=st.sampled_from([0.0, 1.0, 30.0, 1000.0]),
    seed=st.integers(0, 1000),
)
def test_cross_entropy_is_the_likelihood_of_the_logarithm(rows, classes, scale, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(rows, classes)) * scale
    t = wg.tensor(rng.integers(0, classes, rows))
    x, y = leaf(a), leaf(a)
    one, two = F.cross_entropy(x, t), F.nll_loss(y.log_softmax(1), t)
    one.backward()
    two.backward()
    np.testing.assert_allclose(one.detach(), two.detach(), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(x.grad, y.grad, rtol=1e-10, atol=1e-15)


def small_loss():
    x = leaf(np.arange(20, dtype=np.float32).reshape(4, 5) / 7)
    t = wg.tensor([0, 1, 2, 4])
    return x, t, F.cross_entropy(x, t)


def test_behind_the_loss_stand_the_two_nodes_of_pytorch():
    x, _, loss = small_loss()
    likelihood = loss.grad_fn
    assert likelihood.name() == "NllLossBackward0"
    ((logarithm, k),) = [f for f in likelihood.next_functions if f[0] is not None]
    assert (logarithm.name(), k) == ("LogSoftmaxBackward0", 0)
    np.testing.assert_allclose(logarithm._saved_result.detach(), log_softmax(x.detach().numpy()), rtol=1e-6)
    assert logarithm.next_functions[0][0].variable is x
    seen = []
    logarithm.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_outputs[0].clone()))
    loss.backward()
    assert (seen[0] != 0).sum() == 4
    fresh, _, other = small_loss()
    other.backward()
    np.testing.assert_allclose(x.grad, fresh.grad, rtol=1e-6, atol=1e-8)


def test_a_hook_on_the_loss_sees_the_cotangent_of_the_log_probabilities():
    _, _, loss = small_loss()
    seen = []
    loss.grad_fn.register_hook(lambda grad_inputs, grad_outputs: seen.append(grad_inputs[0].clone()))
    loss.backward()
    assert (seen[0] != 0).sum() == 4
    _, _, loss = small_loss()
    loss.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 0,))
    loss.backward()


def test_cross_entropy_twice_differentiable():
    rng = np.random.default_rng(0)
    t = wg.tensor(rng.integers(0, 6, 5))
    x = leaf(rng.normal(size=(5, 6)))
    assert wg.autograd.gradcheck(lambda x: F.cross_entropy(x, t), (x,))
    assert wg.autograd.gradgradcheck(lambda x: F.cross_entropy(x, t), (x,))
    assert wg.autograd.gradcheck(lambda x: F.cross_entropy(x, t), (x,), check_forward_ad=True)
    large = leaf(rng.normal(size=(600, 500)))
    loss = F.cross_entropy(large, wg.tensor(rng.integers(0, 500, 600)), reduction="sum")
    (g,) = wg.autograd.grad(loss, large, create_graph=True)
    v = rng.normal(size=(600, 500))
    (h,) = wg.autograd.grad(g, large, wg.tensor(v))
    p = softmax(large.detach().numpy())
    np.testing.assert_allclose(h, p * (v - (p * v).sum(1, keepdims=True)), rtol=1e-9, atol=1e-13)


def test_cross_entropy_refuses_what_was_overwritten_or_freed():
    _, t, loss = small_loss()
    t.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    _, _, loss = small_loss()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    assert loss.grad_fn.next_functions


def test_logits_may_be_overwritten():
    a = np.arange(20, dtype=np.float32).reshape(4, 5) / 7
    expected = loss_and_grad(a, [0, 1, 2, 4], "mean", 1.0)[1]
    x = leaf(a)
    logits = x * 1
    loss = F.cross_entropy(logits, wg.tensor([0, 1, 2, 4]))
    logits.detach().zero_()
    loss.backward()
    np.testing.assert_allclose(x.grad, expected, rtol=1e-6, atol=1e-8)


def test_cross_entropy_elsewhere():
    x, t, loss = small_loss()
    loss.backward()
    y = leaf(x.detach().numpy())
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        watched = detect_anomaly()
    with watched:
        F.cross_entropy(y, t).backward()
    np.testing.assert_allclose(y.grad, x.grad, rtol=1e-6)
    with wg.no_grad():
        assert F.cross_entropy(x, t).grad_fn is None
    per_sample = wg.func.vmap(lambda a, b: F.cross_entropy(a[None], b[None]))(x.detach(), t)
    np.testing.assert_allclose(per_sample.mean(), loss.detach(), rtol=1e-6)
    grad = wg.func.grad(lambda a: F.cross_entropy(a, t))(x.detach())
    np.testing.assert_allclose(grad, x.grad, rtol=1e-6)
    (g,) = wg.autograd.grad(F.cross_entropy(x, t), x)
    np.testing.assert_allclose(g, x.grad, rtol=1e-6)
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        F.cross_entropy(x, wg.tensor([0, 1, 5, 0]))
    ignored = F.cross_entropy(x, wg.tensor([0, -100, 2, 4]))
    np.testing.assert_allclose(ignored.detach(), F.cross_entropy(x.detach()[[0, 2, 3]], wg.tensor([0, 2, 4])))


def test_the_memory_of_a_loss_is_let_go(no_gc):
    _, _, loss = small_loss()
    ref = weakref.ref(loss.grad_fn)
    loss.backward()
    del loss
    assert ref() is None
    assert gc.isenabled() is False


# ---------------------------------------------------------------------------------------------------------------- norms
def normalised(rows, eps=1e-5):
    c = rows - rows.mean(1, keepdims=True)
    return c / np.sqrt((c * c).mean(1, keepdims=True) + eps)


@pytest.mark.parametrize("shape", [(4, 10), (32, 10), (3, 2, 6), (64, 100), (300, 1000)])
@pytest.mark.parametrize("value", [0.0, 3.3, -1000.0])
def test_equal_elements_are_normalised_to_zero(shape, value):
    x = wg.full(shape, value)
    y = F.layer_norm(x, shape[-1:], wg.ones(shape[-1]), wg.full(shape[-1:], 0.5)).numpy()
    np.testing.assert_allclose(y, 0.5, rtol=0, atol=0 if shape[-1] <= 64 else 1e-6)


@pytest.mark.parametrize("shape", [(4, 10), (200, 30), (300, 1000), (3, 200, 500), (3, 90_001)])
@pytest.mark.parametrize("mean", [0.0, 100.0])
def test_layer_norm_in_float32(shape, mean):
    rng = np.random.default_rng(0)
    n = shape[-1]
    a, g = (rng.normal(m, 1, shape).astype(np.float32) for m in (mean, 0))
    w, b = (rng.normal(size=n).astype(np.float32) for _ in range(2))
    x, weight, bias = leaf(a), leaf(w), leaf(b)
    y = F.layer_norm(x, (n,), weight, bias)
    rows = a.reshape(-1, n).astype(np.float64)
    z = normalised(rows)
    tolerance = 3e-6 + 1e-6 * mean
    np.testing.assert_allclose(y.detach().numpy().reshape(-1, n), z * w + b, rtol=0, atol=tolerance)
    y.backward(wg.tensor(g))
    h = (g * w.astype(np.float64)).reshape(-1, n)
    s = 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    expected = s * (h - h.mean(1, keepdims=True) - z * (h * z).mean(1, keepdims=True))
    np.testing.assert_allclose(x.grad.numpy().reshape(-1, n), expected, rtol=0, atol=tolerance * 3)
    flat = g.reshape(-1, n).astype(np.float64)
    loose = tolerance * 10 * len(flat) ** 0.5
    np.testing.assert_allclose(weight.grad, (flat * z).sum(0), rtol=0, atol=loose)
    np.testing.assert_allclose(bias.grad, flat.sum(0), rtol=0, atol=loose)


@pytest.mark.parametrize("needs", [(True, False, False), (False, True, False), (False, False, True)])
@pytest.mark.parametrize("shape", [(4, 10), (600, 500)])
def test_layer_norm_gives_only_the_gradients_asked_for(needs, shape):
    rng = np.random.default_rng(0)
    given = [rng.normal(size=s) for s in (shape, shape[-1:], shape[-1:])]
    tensors = [wg.tensor(a, requires_grad=k) for a, k in zip(given, needs, strict=True)]
    everything = [leaf(a) for a in given]
    for x, w, b in (tensors, everything):
        F.layer_norm(x, shape[-1:], w, b).cos().sum().backward()
    for t, whole, k in zip(tensors, everything, needs, strict=True):
        assert (t.grad is not None) is k
        if k:
            np.testing.assert_allclose(t.grad, whole.grad, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(600, 600), (600, 600, 1), (30, 40, 300), (4, 8), (2, 6, 3)])
@pytest.mark.parametrize("groups", [1, 2])
def test_group_norm_with_few_or_no_positions(shape, groups):
    rng = np.random.default_rng(0)
    a, w, b = rng.normal(3, 1, shape), rng.normal(size=shape[1]), rng.normal(size=shape[1])
    x, weight, bias = leaf(a), leaf(w), leaf(b)
    y = F.group_norm(x, groups, weight, bias)
    across = (shape[1], *(1,) * (len(shape) - 2))
    z = normalised(a.reshape(shape[0] * groups, -1)).reshape(shape)
    np.testing.assert_allclose(y.detach(), z * w.reshape(across) + b.reshape(across), rtol=1e-9, atol=1e-10)
    g = rng.normal(size=shape)
    y.backward(wg.tensor(g))
    others = (0, *range(2, len(shape)))
    np.testing.assert_allclose(weight.grad, (g * z).sum(others), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(bias.grad, g.sum(others), rtol=1e-8, atol=1e-9)
    rows = a.reshape(shape[0] * groups, -1)
    s = 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    h, zr = (g * w.reshape(across)).reshape(rows.shape), z.reshape(rows.shape)
    expected = s * (h - h.mean(1, keepdims=True) - zr * (h * zr).mean(1, keepdims=True))
    np.testing.assert_allclose(x.grad.numpy().reshape(rows.shape), expected, rtol=1e-7, atol=1e-9)


# ----------------------------------------------------------------------------------------------------- sums along rows
@pytest.mark.parametrize(
    "shape", [(4, 10), (32, 64), (40, 65), (1000, 9), (700, 511), (700, 512), (90, 3333), (3, 90_000)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_along_rows(shape, dtype, keepdim):
    a = np.random.default_rng(0).uniform(0, 1, shape).astype(dtype)
    x, wide = wg.tensor(a), a.astype(np.float64)
    rtol = 4e-7 if dtype is np.float32 else 1e-14
    for name, expected in (
        ("sum", wide.sum(1)),
        ("mean", wide.mean(1)),
        ("norm", np.sqrt((wide * wide).sum(1))),
        ("var", wide.var(1, ddof=1)),
        ("std", wide.std(1, ddof=1)),
    ):
        r = getattr(x, name)(dim=1, keepdim=keepdim)
        assert r.numpy().dtype == dtype
        np.testing.assert_allclose(
            r, expected[:, None] if keepdim else expected, rtol=3 * rtol if "n" in name else rtol * 8
        )


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("shape", [(4, 10), (300, 1000)])
def test_a_special_value_stays_in_its_row(special, shape):
    a = np.ones(shape, np.float32)
    a[1, 3] = special
    total = wg.tensor(a).sum(1).numpy()
    np.testing.assert_array_equal(total[1], np.float32(special))
    assert (np.delete(total, 1) == shape[1]).all()
    assert np.isnan(wg.tensor(a).var(1).numpy()[1])
    assert (np.delete(wg.tensor(a).var(1).numpy(), 1) == 0).all()

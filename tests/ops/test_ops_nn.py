"""Losses, normalisation, padding, resampling, convolution, pooling, attention: what the generated tests cannot know.

Derivatives, forward mode and vmap of each primitive are checked by test_every_op.py. Here: values by hand, edges, saved
memory, errors, and PyTorch's own answers, first and second derivatives included, where it is installed.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def leaf(a: Any) -> wg.Tensor:
    return wg.tensor(np.asarray(a), requires_grad=True)


def array(t: Any) -> np.ndarray:
    return t.detach().numpy()


def numeric(f: Any, a: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """The gradient of the sum of ``f(a)``."""
    g = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        up, down = a.copy(), a.copy()
        up[i] += h
        down[i] -= h
        g[i] = (np.sum(f(up)) - np.sum(f(down))) / (2 * h)
    return g


# --------------------------------------------------------------------------------------------------------------- losses
def test_losses_by_hand() -> None:
    x, t = wg.tensor([1.0, 2.0, 5.0]), wg.tensor([1.0, 4.0, 1.0])
    assert F.mse_loss(x, t).item() == pytest.approx(20 / 3)
    assert F.mse_loss(x, t, reduction="sum").item() == 20
    assert F.mse_loss(x, t, reduction="none").tolist() == [0, 4, 16]
    assert F.l1_loss(x, t, reduction="sum").item() == 6
    assert F.smooth_l1_loss(x, t, reduction="none").tolist() == [0, 1.5, 3.5]
    assert F.huber_loss(x, t, reduction="none", delta=2.0).tolist() == [0, 2, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert F.mse_loss(x, t, size_average=False).item() == 20
        assert F.mse_loss(x, t, reduce=False).tolist() == [0, 4, 16]


def test_a_broadcast_target_warns() -> None:
    with (
        pytest.warns(UserWarning, match="Using a target size"),
        pytest.raises(RuntimeError, match="The size of tensor a"),
    ):
        F.mse_loss(wg.ones(3), wg.ones(4))
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[1\]\)\) that is different"):
        assert F.mse_loss(wg.tensor([1.0, 3.0]), wg.tensor([1.0])).item() == 2


def test_cross_entropy_is_stable_and_minus_the_log_softmax() -> None:
    x = leaf([[1000.0, 0.0], [0.0, -1000.0]])
    loss = F.cross_entropy(x, wg.tensor([1, 1]), reduction="none")
    assert loss.tolist() == [1000.0, 1000.0]
    loss.sum().backward()
    assert x.grad.tolist() == [[1.0, -1.0], [1.0, -1.0]]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ignored_targets_have_no_part(reduction: str) -> None:
    x = leaf(draw(4, 3))
    logs = F.log_softmax(x, 1)
    loss = F.nll_loss(logs, wg.tensor([0, -100, 2, -100]), reduction=reduction)
    want = -array(logs)[[0, 2], [0, 2]]
    np.testing.assert_allclose(
        array(loss), {"mean": want.mean(), "sum": want.sum(), "none": [want[0], 0, want[1], 0]}[reduction]
    )
    loss.sum().backward()
    assert not x.grad[1].any()
    assert not x.grad[3].any()


def test_all_targets_ignored_is_nan_on_average() -> None:
    assert math.isnan(F.cross_entropy(wg.ones(2, 3), wg.tensor([-100, -100])).item())
    assert F.cross_entropy(wg.ones(2, 3), wg.tensor([-100, -100]), reduction="sum").item() == 0


def test_probability_targets_equal_class_targets() -> None:
    x = draw(5, 4)
    classes = np.array([0, 3, 1, 1, 2])
    one_hot = np.eye(4)[classes]
    for smoothing in (0.0, 0.1):
        a = F.cross_entropy(wg.tensor(x), wg.tensor(classes), label_smoothing=smoothing)
        b = F.cross_entropy(wg.tensor(x), wg.tensor(one_hot), label_smoothing=smoothing)
        assert a.item() == pytest.approx(b.item())


def test_bce_at_the_ends() -> None:
    x, t = leaf([0.0, 1.0, 0.5]), leaf([0.3, 0.3, 0.3])
    loss = F.binary_cross_entropy(x, t, reduction="none")
    np.testing.assert_allclose(array(loss), [30, 70, math.log(2)])
    loss.sum().backward()
    np.testing.assert_allclose(array(x.grad), [-0.3e12, 0.7e12, 0.8])
    np.testing.assert_allclose(array(t.grad), [np.inf, -np.inf, 0])


def test_bce_with_logits_does_not_overflow() -> None:
    x = leaf([0.0, 1000.0, -1000.0])
    loss = F.binary_cross_entropy_with_logits(x, wg.full((3,), 0.25, dtype=wg.float64), reduction="none")
    np.testing.assert_allclose(array(loss), [math.log(2), 750, 250])
    loss.sum().backward()
    np.testing.assert_allclose(array(x.grad), [0.25, 0.75, -0.25])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda o: F.mse_loss(o(3).long(), o(3).long()), NotImplementedError, "not implemented for 'Long'"),
        (lambda o: F.mse_loss(o(3), o(3), reduction="x"), ValueError, "x is not a valid value for reduction"),
        (lambda o: F.nll_loss(o(3, 4), o(2).long()), ValueError, r"Expected input batch_size \(3\) to match"),
        (lambda o: F.nll_loss(o(2, 3), o(2).long() * 5), IndexError, "Target 5 is out of bounds"),
        (lambda o: F.nll_loss(o(2, 3), -o(2).long()), IndexError, "Target -1 is out of bounds"),
        (lambda o: F.nll_loss(o(3, 4), o(3)), RuntimeError, "expected target dtype to be Long or Byte, but got Float"),
        (
            lambda o: F.nll_loss(o(3, 4), o(3).long(), o(3)),
            RuntimeError,
            "weight tensor should be defined either for all 4",
        ),
        (lambda o: F.cross_entropy(o(3, 4), o(3, 4).long()), RuntimeError, "Expected floating point type for target"),
        (
            lambda o: F.binary_cross_entropy(o(3) * 2, o(3)),
            RuntimeError,
            "all elements of input should be between 0 and 1",
        ),
        (lambda o: F.binary_cross_entropy(o(3), o(4)), ValueError, "Using a target size"),
        (lambda o: F.smooth_l1_loss(o(3), o(3), beta=-1), RuntimeError, "does not support negative values for beta"),
        (lambda o: F.huber_loss(o(3), o(3), delta=0), RuntimeError, "does not support non-positive values for delta"),
        (
            lambda o: F.layer_norm(o(3, 4), (3,)),
            RuntimeError,
            r"Given normalized_shape=\[3\], expected input with shape",
        ),
        (lambda o: F.group_norm(o(3, 4, 2), 3), RuntimeError, "divisible by num_groups"),
        (
            lambda o: F.batch_norm(o(1, 4), None, None, training=True),
            ValueError,
            "Expected more than 1 value per channel",
        ),
        (lambda o: F.batch_norm(o(2, 4), None, None), RuntimeError, "running_mean must be defined in evaluation mode"),
        (lambda o: F.pad(o(3, 4), (1,)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda o: F.pad(o(3, 4, 5), (5, 5), "reflect"), RuntimeError, "Padding size should be less than"),
        (lambda o: F.pad(o(3), (1, 1), "foo"), NotImplementedError, "Unrecognised padding mode foo"),
        (lambda o: F.pad(o(3), (1.0, 1)), TypeError, "but found element of type float at pos 0"),
        (lambda o: F.interpolate(o(1, 1, 4)), ValueError, "either size or scale_factor should be defined"),
        (lambda o: F.interpolate(o(1, 1, 4), 8, mode="bilinear"), NotImplementedError, "Got 3D input, but bilinear"),
        (lambda o: F.conv2d(o(2, 3, 5, 5), o(4, 2, 3, 3)), RuntimeError, "to have 2 channels, but got 3 channels"),
        (lambda o: F.conv2d(o(2, 3, 2, 2), o(4, 3, 3, 3)), RuntimeError, "Kernel size can't be greater than actual"),
        (lambda o: F.conv2d(o(2, 3, 5, 5), o(4, 3, 3, 3), o(3)), RuntimeError, "expected bias to be 1-dimensional"),
        (lambda o: F.conv2d(o(2, 3, 5, 5), o(4, 3, 3, 3), stride=0), RuntimeError, "non-positive stride"),
        (lambda o: F.max_pool2d(o(2, 3, 4, 4), 2, padding=2), RuntimeError, "pad should be at most half"),
        (lambda o: F.max_pool2d(o(2, 3, 2, 2), 3), RuntimeError, "Output size is too small"),
        (lambda o: F.adaptive_avg_pool2d(o(2, 3, 4, 4), (1, 2, 3)), RuntimeError, "output_size must be 2"),
        (lambda o: F.fold(o(2, 12, 8), (4, 4), 2), RuntimeError, "expected size of input's dimension 2 to match"),
        (lambda o: F.pixel_shuffle(o(2, 7, 3, 3), 2), RuntimeError, "divisible by the square of upscale_factor"),
        (lambda o: F.grid_sample(o(1, 1, 2, 2), o(2, 1, 1, 2), align_corners=False), RuntimeError, "same batch size"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(wg.ones)


@pytest.mark.parametrize("shape", [(2, 3), (40, 3), (3,), (2, 3, 4)])
def test_a_loss_of_zero_is_not_minus_zero(shape: tuple[int, ...]) -> None:
    """As in PyTorch, whose sums begin at 0; the losses of several samples are -0. there too."""
    x = wg.zeros(shape)
    targets = wg.zeros(shape[:1] + shape[2:] if len(shape) > 1 else (), dtype=wg.int64)
    for reduction in ("mean", "sum"):
        assert not F.nll_loss(x, targets, reduction=reduction).signbit()
    assert bool(F.nll_loss(x, targets, reduction="none").signbit().all()) is (len(shape) > 1)


@pytest.mark.parametrize("loss", [F.nll_loss, functools.partial(F.multi_margin_loss, p=2)])
def test_weights_of_losses_have_no_derivative(loss: Any) -> None:
    w = leaf(np.ones(3))
    with pytest.raises(RuntimeError, match="is not differentiable with respect to argument 'weight'"):
        loss(wg.tensor(draw(2, 3)), wg.tensor([0, 1]), weight=w)


def test_multi_margin_loss_of_a_transposed_matrix() -> None:
    x, target = draw(4, 3), wg.tensor([0, 2, 1, 2])
    turned = wg.tensor(np.asfortranarray(x)).t().contiguous().t()
    np.testing.assert_allclose(F.multi_margin_loss(turned, target), F.multi_margin_loss(wg.tensor(x), target))


@pytest.mark.parametrize(
    ("mode", "size", "antialias", "expected"),
    [
        ("bilinear", (2, 5), False, [[11, 19, 28, 36, 44], [77, 85, 94, 102, 110]]),
        ("bicubic", (4, 3), False, [[0, 14, 29], [24, 40, 55], [66, 82, 97], [92, 108, 123]]),
        ("bicubic", (2, 3), True, [[16, 31, 45], [76, 91, 105]]),
    ],
)
def test_images_of_bytes_are_resampled_as_in_pytorch(mode: str, size: Any, antialias: bool, expected: Any) -> None:
    image = (wg.arange(24).reshape(1, 2, 3, 4) * 11 % 256).to(wg.uint8)
    assert F.interpolate(image, size, mode=mode, antialias=antialias)[0, 0].tolist() == expected


def test_a_scale_that_leaves_a_size_as_it_is_leaves_the_elements_too() -> None:
    x = wg.tensor([[[[0.0, 1, 4], [9, 16, 25]]]])
    wide = [[0.0, 0.25, 0.75, 1.75, 3.25, 4.0], [9.0, 10.75, 14.25, 18.25, 22.75, 25.0]]
    assert F.interpolate(x, scale_factor=(1.2, 2.0), mode="bilinear")[0, 0].tolist() == wide
    assert F.interpolate(x, scale_factor=(1.2, 1.0), mode="bicubic", antialias=True).tolist() == x.tolist()


def test_a_loss_of_counts_has_the_dtype_of_the_rates() -> None:
    rates = wg.ones(3, dtype=wg.float16)
    loss = F.poisson_nll_loss(rates, wg.full((3,), 3, dtype=wg.int32), full=True)
    assert loss.dtype is wg.float16 and loss.item() == 1.482421875


def test_a_distance_of_order_0_keeps_nan() -> None:
    d = wg.cdist(wg.tensor([[math.nan, 1.0], [2.0, 1.0]]), wg.ones(1, 2), 0.0)
    assert math.isnan(d[0, 0]) and d[1, 0] == 1


@pytest.mark.parametrize("p", [1, 2])
def test_multi_margin_loss_by_hand(p: int) -> None:
    x, target, weight = draw(4, 3), np.array([0, 2, 1, 2]), np.array([0.5, 1.0, 2.0])
    rows = [
        weight[t] * sum(max(0, 0.7 - row[t] + row[j]) ** p for j in range(3) if j != t) / 3
        for row, t in zip(x, target, strict=True)
    ]
    loss = F.multi_margin_loss(leaf(x), wg.tensor(target), p, 0.7, wg.tensor(weight))
    assert type(loss.grad_fn).__name__ == "MultiMarginLossBackward0"
    np.testing.assert_allclose(array(loss), np.mean(rows))
    with pytest.raises(NotImplementedError, match="\"multi_margin_loss_cpu_kernel\" not implemented for 'Half'"):
        F.multi_margin_loss(wg.tensor(x).half(), wg.tensor(target))


# -------------------------------------------------------------------------------------------------------- normalisation
def test_batch_norm_moves_the_running_statistics() -> None:
    x = draw(6, 3, 4)
    mean, var = wg.zeros(3, dtype=wg.float64), wg.ones(3, dtype=wg.float64)
    y = F.batch_norm(wg.tensor(x), mean, var, training=True, momentum=0.25)
    by_channel = x.transpose(1, 0, 2).reshape(3, -1)
    np.testing.assert_allclose(array(mean), 0.25 * by_channel.mean(1))
    np.testing.assert_allclose(array(var), 0.75 + 0.25 * by_channel.var(1, ddof=1))
    np.testing.assert_allclose(array(y).transpose(1, 0, 2).reshape(3, -1).std(1), 1, atol=1e-4)
    assert mean._version == 0  # not counted as a write, as in PyTorch
    still = mean.clone()
    F.batch_norm(wg.tensor(x), mean, var)
    assert mean.equal(still)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(
    "norm",
    [
        lambda x, w, b: F.layer_norm(x, (4, 2), None if w is None else w[:4, None].expand(4, 2), None),
        lambda x, w, b: F.group_norm(x, 2, None if w is None else w[:4], None if b is None else b[:4]),
        lambda x, w, b: F.batch_norm(x, None, None, None if w is None else w[:4], None if b is None else b[:4], True),
        lambda x, w, b: F.instance_norm(x, weight=None if w is None else w[:4], bias=None if b is None else b[:4]),
        lambda x, w, b: F.rms_norm(x, (2,), None if w is None else w[:2]),
        lambda x, w, b: F.local_response_norm(x, 3, 0.5),
    ],
    ids=["layer", "group", "batch", "instance", "rms", "local response"],
)
def test_norms_have_the_numeric_gradient(norm: Any, affine: bool) -> None:
    x, w, b = draw(3, 4, 2), draw(4, seed=1), draw(4, seed=2)
    u = draw(3, 4, 2, seed=3)

    def value(a: np.ndarray) -> np.ndarray:
        return u * array(norm(wg.tensor(a), wg.tensor(w) if affine else None, wg.tensor(b) if affine else None))

    tx = leaf(x)
    (norm(tx, wg.tensor(w) if affine else None, wg.tensor(b) if affine else None) * wg.tensor(u)).sum().backward()
    np.testing.assert_allclose(array(tx.grad), numeric(value, x), rtol=1e-5, atol=1e-7)


# ----------------------------------------------------------------------------------------------- padding and resampling
def test_pad_by_hand() -> None:
    x = wg.arange(4.0).view(1, 4)
    pads = {"constant": [9, 9, 0, 1, 2, 3, 9], "reflect": [2, 1, 0, 1, 2, 3, 2], "replicate": [0, 0, 0, 1, 2, 3, 3]}
    pads["circular"] = [2, 3, 0, 1, 2, 3, 0]
    for mode, want in pads.items():
        assert F.pad(x, (2, 1), mode, value=9 if mode == "constant" else None).tolist() == [want]
    assert F.pad(x, (-1, -1)).tolist() == [[1, 2]]
    assert F.pad(x, (-1, 1), value=7).tolist() == [[1, 2, 3, 7]]
    assert F.pad(wg.ones(2, dtype=wg.int64), (1, 0)).dtype is wg.int64


def test_what_is_not_finite_stays_where_it_is() -> None:
    x = wg.tensor([[[0.0, math.inf, 0.0, 0.0, 1.0, math.nan]]])
    y = F.interpolate(x, scale_factor=2, mode="linear")
    assert y[0, 0, 7:9].tolist() == [0.25, 0.75]
    assert F.interpolate(x, scale_factor=2)[0, 0, :2].tolist() == [0, 0]


# ---------------------------------------------------------------------------------------------------------- convolution
GEOMETRIES = [
    # input, weight, stride, padding, dilation, groups
    ((2, 3, 9), (4, 3, 3), 2, 1, 1, 1),
    ((2, 4, 9), (6, 2, 2), 1, 2, 3, 2),
    ((2, 2, 6, 7), (3, 2, 3, 2), (2, 1), (1, 0), (1, 2), 1),
    ((3, 2, 12, 11), (2, 2, 2, 2), 1, 0, 1, 1),
    ((2, 4, 5, 5), (4, 1, 3, 3), 1, 1, 1, 4),
    ((1, 2, 4, 5, 6), (2, 2, 2, 3, 2), 1, (1, 0, 1), 1, 1),
    ((2, 3, 4, 4), (5, 3, 1, 1), 1, 0, 1, 1),
    ((0, 3, 5, 5), (2, 3, 3, 3), 1, 0, 1, 1),
]


def direct(x: np.ndarray, w: np.ndarray, stride: Any, padding: Any, dilation: Any, groups: int) -> np.ndarray:
    """Convolution as it is defined: one loop over places, one over the filter's elements."""
    k = x.ndim - 2
    stride, padding, dilation = (v if isinstance(v, tuple) else (v,) * k for v in (stride, padding, dilation))
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    out = [
        (n - d * (m - 1) - 1) // s + 1 for n, m, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation, strict=True)
    ]
    y = np.zeros((len(x), len(w), *out))
    size = len(w) // groups
    for o in range(len(w)):
        channels = slice(o // size * w.shape[1], (o // size + 1) * w.shape[1])
        for place in itertools.product(*map(range, out)):
            for e in itertools.product(*map(range, w.shape[2:])):
                at = tuple(p * s + i * d for p, s, i, d in zip(place, stride, e, dilation, strict=True))
                y[(slice(None), o, *place)] += x[(slice(None), channels, *at)] @ w[(o, slice(None), *e)]
    return y


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_convolution_is_what_it_is_defined_as(geometry: Any) -> None:
    xs, ws, *rest = geometry
    x, w, b = draw(*xs), draw(*ws, seed=1), draw(ws[0], seed=2)
    conv = getattr(F, f"conv{len(xs) - 2}d")
    y = conv(wg.tensor(x), wg.tensor(w), wg.tensor(b), *rest)
    np.testing.assert_allclose(array(y), direct(x, w, *rest) + b.reshape(-1, *(1,) * (len(xs) - 2)), atol=1e-12)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_transposed_convolution_is_the_transpose(geometry: Any) -> None:
    """``<conv(x, w), y> = <x, conv_transpose(y, w)>``."""
    xs, ws, stride, padding, dilation, groups = geometry
    k = len(xs) - 2
    x, w = wg.tensor(draw(*xs)), wg.tensor(draw(*ws, seed=1))
    y = getattr(F, f"conv{k}d")(x, w, None, stride, padding, dilation, groups)
    u = wg.tensor(draw(*y.shape, seed=2))
    back = getattr(F, f"conv_transpose{k}d")
    plain = back(u, w, None, stride, padding, 0, groups, dilation)
    extra = tuple(n - m for n, m in zip(x.shape[2:], plain.shape[2:], strict=True))
    if any(extra):
        plain = back(u, w, None, stride, padding, extra, groups, dilation)
    assert (y * u).sum().item() == pytest.approx((x * plain).sum().item())


def test_images_of_any_size_take_a_bounded_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    from wengert._arrays.conv import columns, products

    x, w = leaf(draw(2, 2, 9, 8)), leaf(draw(3, 2, 3, 3, seed=1))
    whole = F.conv2d(x, w, padding=1)
    u = wg.tensor(draw(*whole.shape, seed=2))
    want = wg.autograd.grad(whole, (x, w), u)
    monkeypatch.setattr(columns, "LIMIT", 2000)  # a few rows of one image at a time
    monkeypatch.setattr(columns, "BLOCK", 1000)
    monkeypatch.setattr(products, "_FEW", 0)
    products._convolution.cache_clear()
    cut = F.conv2d(x, w, padding=1)
    np.testing.assert_allclose(array(cut), array(whole), atol=1e-12)
    for a, b in zip(wg.autograd.grad(cut, (x, w), u), want, strict=True):
        np.testing.assert_allclose(array(a), array(b), atol=1e-12)


def test_convolution_keeps_only_what_its_gradients_need() -> None:
    x, w = wg.ones(1, 1, 3, 3), leaf(np.ones((1, 1, 2, 2), np.float32))
    node = F.conv2d(x, w).grad_fn
    assert node.name() == "ConvolutionBackward0"
    assert node._saved_weight is None
    assert node._saved_input is not None


# -------------------------------------------------------------------------------------------------------------- pooling
def test_max_pool_takes_the_first_of_equals_and_every_nan() -> None:
    x = leaf([[[[1.0, 1.0], [1.0, 1.0]]]])
    y, where = F.max_pool2d(x, 2, return_indices=True)
    assert (y.item(), where.item()) == (1, 0)
    y.sum().backward()
    assert x.grad.tolist() == [[[[1, 0], [0, 0]]]]
    y, where = F.max_pool2d(wg.tensor([[[[1.0, math.nan], [math.nan, 3.0]]]]), 2, return_indices=True)
    assert math.isnan(y.item())
    assert where.item() == 2
    assert F.max_pool2d(wg.full((1, 1, 2, 2), -math.inf), 2, padding=1, return_indices=True)[1].tolist() == [
        [[[0, 1], [2, 3]]]
    ]


def test_unpooling_puts_maxima_back() -> None:
    x = wg.arange(16.0).view(1, 1, 4, 4)
    y, where = F.max_pool2d(x, 2, return_indices=True)
    z = F.max_unpool2d(y, where, 2)
    assert z.sum().item() == y.sum().item()
    assert z[0, 0, 3, 3].item() == 15


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("include", [False, True])
def test_avg_pool_counts_what_is_inside(ceil_mode: bool, include: bool) -> None:
    x = wg.ones(1, 1, 5, 5)
    y = F.avg_pool2d(x, 3, 2, 1, ceil_mode, include)
    assert y.shape == (1, 1, 3, 3)
    assert y[0, 0, 1, 1].item() == 1
    assert y[0, 0, 0, 0].item() == pytest.approx(4 / 9 if include else 1)


# ------------------------------------------------------------------------------------------------------------ attention
def test_a_query_that_may_look_at_nothing_gives_zeros() -> None:
    q = leaf(draw(1, 2, 4))
    mask = wg.tensor([[True, False], [False, False]])
    y = F.scaled_dot_product_attention(q, q, q, mask)
    assert not y[0, 1].any()
    y.sum().backward()
    assert wg.isfinite(q.grad).all()


def test_causal_attention_sees_no_future() -> None:
    q = wg.tensor(draw(1, 4, 3))
    y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    np.testing.assert_allclose(array(y[0, 0]), array(q[0, 0]))
    later = q.clone()
    later[0, 3] = 100.0
    np.testing.assert_allclose(
        array(F.scaled_dot_product_attention(later, later, later, is_causal=True)[0, :3]), array(y[0, :3])
    )


# ------------------------------------------------------------------------------------------------ beside PyTorch itself
def labels(t: Any, n: int, *shape: int) -> Any:
    return t.tensor(np.random.default_rng(0).integers(0, n, shape))


def probabilities(t: Any, *shape: int) -> Any:
    return t.tensor(np.random.default_rng(1).uniform(0.05, 0.95, shape))


FP: dict[str, tuple[tuple[int, ...], Any]] = {
    "mse": ((4, 3), lambda t, f, x: f.mse_loss(x, probabilities(t, 4, 3))),
    "l1": ((4, 3), lambda t, f, x: f.l1_loss(x, probabilities(t, 4, 3), reduction="sum")),
    "smooth l1": ((4, 3), lambda t, f, x: f.smooth_l1_loss(x, probabilities(t, 4, 3), beta=0.7)),
    "huber": ((4, 3), lambda t, f, x: f.huber_loss(x, probabilities(t, 4, 3), delta=0.7)),
    "bce": ((4, 3), lambda t, f, x: f.binary_cross_entropy(x.sigmoid(), probabilities(t, 4, 3))),
    "bce logits": (
        (4, 3),
        lambda t, f, x: f.binary_cross_entropy_with_logits(
            x, probabilities(t, 4, 3), probabilities(t, 3), pos_weight=probabilities(t, 3)
        ),
    ),
    "nll weighted": ((4, 3), lambda t, f, x: f.nll_loss(x, labels(t, 3, 4), probabilities(t, 3), ignore_index=1)),
    "nll image": ((2, 3, 2, 2), lambda t, f, x: f.nll_loss(x, labels(t, 3, 2, 2, 2))),
    "cross entropy": ((4, 3), lambda t, f, x: f.cross_entropy(x, labels(t, 3, 4))),
    "cross entropy smooth": (
        (4, 3),
        lambda t, f, x: f.cross_entropy(x, labels(t, 3, 4), probabilities(t, 3), label_smoothing=0.2, ignore_index=0),
    ),
    "cross entropy probabilities": ((2, 3, 2), lambda t, f, x: f.cross_entropy(x, probabilities(t, 2, 3, 2))),
    "kl": ((4, 3), lambda t, f, x: f.kl_div(f.log_softmax(x, 1), probabilities(t, 4, 3), reduction="batchmean")),
    "poisson": ((4, 3), lambda t, f, x: f.poisson_nll_loss(x, labels(t, 5, 4, 3), full=True)),
    "gaussian": ((4, 3), lambda t, f, x: f.gaussian_nll_loss(x, probabilities(t, 4, 3), probabilities(t, 4, 3))),
    "soft margin": ((4, 3), lambda t, f, x: f.soft_margin_loss(x, labels(t, 2, 4, 3) * 2.0 - 1)),
    "multi margin": ((4, 3), lambda t, f, x: f.multi_margin_loss(x, labels(t, 3, 4), p=2, margin=0.5)),
    "multilabel soft margin": ((4, 3), lambda t, f, x: f.multilabel_soft_margin_loss(x, labels(t, 2, 4, 3))),
    "cosine embedding": (
        (4, 3),
        lambda t, f, x: f.cosine_embedding_loss(x, probabilities(t, 4, 3), t.tensor([1, -1, 1, -1])),
    ),
    "triplet": ((4, 3), lambda t, f, x: f.triplet_margin_loss(x, x.flip(0), probabilities(t, 4, 3), swap=True)),
    "normalize": ((4, 3), lambda t, f, x: f.normalize(x, dim=0)),
    "cosine similarity": ((4, 3), lambda t, f, x: f.cosine_similarity(x, probabilities(t, 3), dim=1)),
    "pairwise distance": ((4, 3), lambda t, f, x: f.pairwise_distance(x, probabilities(t, 4, 3), p=3)),
    "cdist": ((4, 3), lambda t, f, x: t.cdist(x, x.flip(0) * 2)),
    "layer norm": ((4, 3), lambda t, f, x: f.layer_norm(x, (3,), probabilities(t, 3), probabilities(t, 3))),
    "group norm": ((2, 4, 3), lambda t, f, x: f.group_norm(x, 2, probabilities(t, 4))),
    "batch norm": ((4, 3, 2), lambda t, f, x: f.batch_norm(x, None, None, probabilities(t, 3), None, True)),
    "batch norm eval": (
        (4, 3, 2),
        lambda t, f, x: f.batch_norm(x, probabilities(t, 3), probabilities(t, 3), probabilities(t, 3)),
    ),
    "instance norm": ((2, 3, 4), lambda t, f, x: f.instance_norm(x)),
    "rms norm": ((4, 3), lambda t, f, x: f.rms_norm(x, (3,), probabilities(t, 3))),
    "pad": ((2, 3), lambda t, f, x: f.pad(x, (1, 2, 0, 1), value=0.5)),
    "pad reflect": ((1, 2, 3, 4), lambda t, f, x: f.pad(x, (2, 1, 1, 2), mode="reflect")),
    "pad replicate": ((1, 2, 3), lambda t, f, x: f.pad(x, (2, 4), mode="replicate")),
    "pad circular": ((1, 2, 3, 4), lambda t, f, x: f.pad(x, (2, 1, 1, 2), mode="circular")),
    "nearest": ((1, 2, 3, 4), lambda t, f, x: f.interpolate(x, (5, 3))),
    "linear": ((1, 2, 5), lambda t, f, x: f.interpolate(x, scale_factor=1.7, mode="linear")),
    "bilinear": ((1, 2, 3, 4), lambda t, f, x: f.interpolate(x, (5, 7), mode="bilinear", align_corners=True)),
    "bicubic": ((1, 2, 5, 4), lambda t, f, x: f.interpolate(x, (4, 7), mode="bicubic")),
    "bilinear antialias": ((1, 1, 6, 5), lambda t, f, x: f.interpolate(x, (3, 2), mode="bilinear", antialias=True)),
    "area": ((1, 2, 5, 4), lambda t, f, x: f.interpolate(x, (3, 3), mode="area")),
    "conv1d same": ((2, 2, 6), lambda t, f, x: f.conv1d(x, probabilities(t, 3, 2, 3), padding="same", dilation=2)),
    "conv2d": ((2, 2, 5, 6), lambda t, f, x: f.conv2d(x, x[:, :, :2, :3], probabilities(t, 2), stride=2, padding=1)),
    "conv_transpose2d": (
        (2, 2, 3, 3),
        lambda t, f, x: f.conv_transpose2d(x, x, stride=2, padding=1, output_padding=1, dilation=1),
    ),
    "max pool": ((1, 2, 5, 6), lambda t, f, x: f.max_pool2d(x, (2, 3), 1, 1, (2, 1), ceil_mode=True)),
    "avg pool": ((1, 2, 5, 6), lambda t, f, x: f.avg_pool2d(x, 3, 2, 1, True, False)),
    "avg pool 1d": ((2, 2, 5), lambda t, f, x: f.avg_pool1d(x, 2)),
    "adaptive avg": ((1, 2, 5, 6), lambda t, f, x: f.adaptive_avg_pool2d(x, (3, 4))),
    "adaptive max": ((1, 2, 5, 6), lambda t, f, x: f.adaptive_max_pool2d(x, (3, 4))),
    "lp pool": ((1, 2, 4, 4), lambda t, f, x: f.lp_pool2d(x, 3, 2)),
    "unfold": ((1, 2, 4, 5), lambda t, f, x: f.unfold(x, (2, 3), padding=1, stride=2)),
    "fold": ((1, 8, 6), lambda t, f, x: f.fold(x, (3, 4), 2)),
    "pixel shuffle": ((1, 8, 2, 3), lambda t, f, x: f.pixel_shuffle(x, 2)),
    "attention": ((1, 2, 3, 4), lambda t, f, x: f.scaled_dot_product_attention(x, x * 2, x.flip(2), is_causal=True)),
    "affine grid": ((1, 2, 3), lambda t, f, x: f.affine_grid(x, (1, 1, 3, 4), align_corners=False)),
}
NO_SECOND = {"multi margin", "cdist", "attention"}  # PyTorch has none
COMPOSED = {  # one node in PyTorch, several operators here, or the other way round
    "multi margin",
    "pairwise distance",
    "cross entropy probabilities",
}


@pytest.mark.parametrize("name", list(FP))
def test_as_in_torch(torch: ModuleType, name: str) -> None:
    """Value, first and second derivative, dtype and the node's name."""
    shape, program = FP[name]
    x = draw(*shape)
    results = []
    for t, f in ((torch, torch.nn.functional), (wg, F)):
        leaf_ = t.tensor(x, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = program(t, f, leaf_)
        u = t.tensor(draw(*y.shape, seed=5))
        (g,) = t.autograd.grad(y, leaf_, u, create_graph=True)
        found = [y, g]
        if name not in NO_SECOND and g.requires_grad:
            v = t.tensor(draw(*shape, seed=6))
            (h,) = t.autograd.grad(g, leaf_, v, allow_unused=True)
            found.append(t.zeros_like(leaf_) if h is None else h)
        results.append((y.grad_fn.name(), found))
    (want_name, want), (got_name, got) = results
    assert got_name == want_name or name in COMPOSED
    if len(want) != len(got):  # one of them knows that the second derivative is zero and does not record it
        want, got = want[:2], got[:2]
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(array(b), a.numpy(force=True), rtol=1e-7, atol=1e-9)


def test_grid_sample_as_in_torch(torch: ModuleType) -> None:
    rng = np.random.default_rng(0)
    image, places = rng.standard_normal((2, 2, 4, 5)), rng.uniform(-1.4, 1.4, (2, 3, 3, 2))
    for mode, padding, align in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    ):
        found = []
        for t in (torch, wg):
            x, grid = (t.tensor(a, requires_grad=True) for a in (image, places))
            y = t.nn.functional.grid_sample(x, grid, mode, padding, align)
            u = t.tensor(draw(*y.shape))
            found.append([y, *t.autograd.grad(y, (x, grid), u)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(array(b), a.detach().numpy(), rtol=1e-9, atol=1e-10)


# ------------------------------------------------------------------------------------------------ lower-level functions
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_of_torch_take_reductions_as_numbers(reduction: str) -> None:
    code = ("none", "mean", "sum").index(reduction)
    x, y = wg.tensor(draw(4, 3)), wg.tensor(draw(4, 3, seed=1))
    sign = wg.tensor([1.0, -1.0, 1.0, -1.0], dtype=wg.float64)
    p = wg.sigmoid(y)
    pairs = [
        (
            wg.kl_div(x, p, code),
            F.kl_div(x, p, reduction=reduction) if code != 1 else F.kl_div(x, p, reduction="sum") / 12,
        ),
        (
            wg.binary_cross_entropy_with_logits(x, p, None, None, code),
            F.binary_cross_entropy_with_logits(x, p, reduction=reduction),
        ),
        (wg.poisson_nll_loss(x, p, True, False, 1e-8, code), F.poisson_nll_loss(x, p, reduction=reduction)),
        (
            wg.cosine_embedding_loss(x, y, sign, 0.1, code),
            F.cosine_embedding_loss(x, y, sign, 0.1, reduction=reduction),
        ),
        (wg.hinge_embedding_loss(x[:, 0], sign, 1.0, code), F.hinge_embedding_loss(x[:, 0], sign, reduction=reduction)),
        (
            wg.margin_ranking_loss(x[:, 0], y[:, 0], sign, 0.1, code),
            F.margin_ranking_loss(x[:, 0], y[:, 0], sign, 0.1, reduction=reduction),
        ),
        (
            wg.triplet_margin_loss(x, y, p, 1.0, 2.0, 1e-6, True, code),
            F.triplet_margin_loss(x, y, p, swap=True, reduction=reduction),
        ),
    ]
    for got, want in pairs:
        np.testing.assert_allclose(array(got), array(want), rtol=1e-12)
    with pytest.raises(TypeError, match=r"argument 'reduction' .* must be int, not str"):
        wg.kl_div(x, p, "mean")


def test_layers_of_torch() -> None:
    x, w, b = draw(5, 2, 3), draw(2, 3, 4, seed=1), draw(4, seed=2)
    got = wg.conv_tbc(wg.tensor(x), wg.tensor(w), wg.tensor(b), 1)
    want = F.conv1d(wg.tensor(x).permute(1, 2, 0), wg.tensor(w).permute(2, 1, 0), wg.tensor(b), padding=1)
    np.testing.assert_allclose(array(got), array(want.permute(2, 0, 1)))
    mean, var = wg.zeros(3, dtype=wg.float64), wg.ones(3, dtype=wg.float64)
    out, m, scale = wg.native_batch_norm(wg.tensor(x), None, None, None, None, True, 0.1, 1e-5)
    np.testing.assert_allclose(array(m), x.mean((0, 2)))
    np.testing.assert_allclose(array(scale), 1 / np.sqrt(x.var((0, 2)) + 1e-5)) if x.shape[1] == 3 else None
    out, m, scale = wg.native_batch_norm(wg.tensor(draw(4, 3)), None, None, mean, var, False, 0.1, 0.0)
    np.testing.assert_allclose(array(out), draw(4, 3))
    assert m.numel() == scale.numel() == 0
    v = draw(3, 4)
    np.testing.assert_allclose(array(wg.norm_except_dim(wg.tensor(v), 2, 1)), np.sqrt((v * v).sum(0, keepdims=True)))
    rows = wg.tensor([[3.0, 4.0], [0.3, 0.4]])
    assert wg.embedding_renorm_(rows, wg.tensor([0]), 1.0, 2.0) is rows
    np.testing.assert_allclose(array(rows), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-5)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_functions_are_the_layers(kind: str, bidirectional: bool) -> None:
    layer = getattr(wg.nn, kind)(3, 4, 2, bidirectional=bidirectional).double()
    fn = {"LSTM": wg.lstm, "GRU": wg.gru, "RNN": wg.rnn_tanh}[kind]
    x = wg.tensor(draw(5, 2, 3))
    h = wg.tensor(draw(4 if bidirectional else 2, 2, 4, seed=1))
    state = (h, h * 2) if kind == "LSTM" else h
    want, last = layer(x, state)
    rest = (layer._flat_weights, True, 2, 0.0, False, bidirectional)
    found = fn(x, state, *rest, False)
    for got, expected in zip(found, (want, *(last if kind == "LSTM" else (last,))), strict=True):
        np.testing.assert_allclose(array(got), array(expected))
    np.testing.assert_allclose(array(fn(x.transpose(0, 1), state, *rest, True)[0].transpose(0, 1)), array(want))
    packed = wg.nn.utils.rnn.pack_padded_sequence(x, [5, 3])
    np.testing.assert_allclose(
        array(fn(packed.data, packed.batch_sizes, state, *rest)[0]), array(layer(packed, state)[0][0])
    )
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        fn(x)


def test_cells_are_the_modules() -> None:
    x, h = wg.tensor(draw(2, 3)), wg.tensor(draw(2, 4, seed=1))
    for kind, fn in (("LSTMCell", wg.lstm_cell), ("GRUCell", wg.gru_cell), ("RNNCell", wg.rnn_tanh_cell)):
        cell = getattr(wg.nn, kind)(3, 4).double()
        state = (h, h * 2) if kind == "LSTMCell" else h
        got, want = fn(x, state, *cell.parameters()), cell(x, state)
        for a, b in zip(got if kind == "LSTMCell" else (got,), want if kind == "LSTMCell" else (want,), strict=True):
            np.testing.assert_allclose(array(a), array(b))
    with pytest.raises(RuntimeError, match="hidden0 has inconsistent hidden_size: got 5, expected 4"):
        wg.gru_cell(x, wg.zeros(2, 5), *wg.nn.GRUCell(3, 4).double().parameters())


# ------------------------------------------------------------------------------------------------- linear cross entropy
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_cross_entropy_in_chunks(reduction: str, weighted: bool) -> None:
    target = wg.tensor([0, 4, 2, -100, 1, 3, 3])
    kw: dict[str, Any] = {"reduction": reduction, "weight": wg.tensor([1.0, 2, 3, 4, 5]).double() if weighted else None}
    found = []
    for options in (None, wg.nn.LinearCrossEntropyOptions(batch_chunk_size=3)):
        x, w, b = leaf(draw(7, 3)), leaf(draw(5, 3, seed=1)), leaf(draw(5, seed=2))
        loss = F.linear_cross_entropy(x, w, target, linear_bias=b, options=options, **kw)
        first = wg.autograd.grad((loss * loss).sum(), (x, w, b), create_graph=True)
        second = wg.autograd.grad(sum((g * g).sum() for g in first), (x, w, b))
        found.append([array(t) for t in (loss, *first, *second)])
    want = F.cross_entropy(F.linear(leaf(draw(7, 3)), leaf(draw(5, 3, seed=1)), leaf(draw(5, seed=2))), target, **kw)
    np.testing.assert_allclose(found[0][0], array(want))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_linear_cross_entropy_refuses_and_warns() -> None:
    x, w, target = wg.ones(2, 3), wg.ones(4, 3), wg.tensor([0, 1])
    with pytest.raises(RuntimeError, match="expected equal input and linear_weight last dimensions"):
        F.linear_cross_entropy(x, wg.ones(4, 2), target)
    options = wg.nn.LinearCrossEntropyOptions()
    with pytest.warns(UserWarning, match="``options`` ignored") as caught:
        F.linear_cross_entropy(x, w, target, label_smoothing=0.1, options=options)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="invalid chunking_method"):
        wg.nn.LinearCrossEntropyOptions(chunking_method="other")
    assert options.rows_for(64, 8, 64, wg.float32) == 4
    layer = wg.nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True)
    assert layer(x, wg.zeros(2, 2, dtype=wg.int64)).shape == ()


# ------------------------------------------------------------------------------------------------------- numerical care
@pytest.mark.parametrize(
    ("f", "second"),
    [
        (F.elu, [0.0, 0.0, np.exp(-1.0)]), (F.selu, [0.0, 0.0, 1.0507009873554805 * 1.6732632423543772 * np.exp(-1.0)]),
        (F.celu, [0.0, 0.0, np.exp(-1.0)]), (F.softplus, [0.0, 0.25, 0.19661193324148185]),
        (F.logsigmoid, [0.0, -0.25, -0.19661193324148185]),
    ],
)  # fmt: skip
def test_second_derivatives_far_out_and_at_zero(f: Any, second: list[float]) -> None:
    x = leaf([1e4, 0.0, -1.0])
    (g,) = wg.autograd.grad(f(x).sum(), x, create_graph=True)
    (h,) = wg.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(array(h), second, atol=1e-12)


@pytest.mark.parametrize("padding", [0, 1])
def test_many_images_are_pooled_in_blocks(monkeypatch: pytest.MonkeyPatch, padding: int) -> None:
    from wengert._arrays import pooling
    from wengert._ops.nn import pool_primitive

    values = draw(3, 5, 9, 8)
    values[1, 2, 3, 4] = np.nan
    found = []
    monkeypatch.setattr(pooling, "FEW", 0)
    for many in (1 << 20, 100):
        for module in (pooling, pool_primitive):
            monkeypatch.setattr(module, "MANY", many)
        monkeypatch.setattr(pooling, "_BLOCK", 150)
        x = leaf(values)
        y, index = F.max_pool2d(x, 2, padding=padding, return_indices=True)
        y.nan_to_num(0.0).pow(2).sum().backward()
        found.append((array(y), array(index), array(x.grad)))
    for whole, blocks in zip(*found, strict=True):
        np.testing.assert_array_equal(blocks, whole)


def test_a_mean_of_each_image_takes_any_rank() -> None:
    """With an output size of 1, as in PyTorch; with another size the ranks of images are asked for."""
    F = wg.nn.functional
    for shape in ((3, 4), (2, 2, 2, 3, 4), (3, 0, 4)):
        assert F.adaptive_avg_pool2d(wg.ones(shape), 1).shape == (*shape[:-2], 1, 1)
        with pytest.raises(RuntimeError, match=r"Expected (3D or 4D tensor|input to have non-zero size)"):
            F.adaptive_avg_pool2d(wg.ones(shape), 2)
    with pytest.raises(IndexError, match="Dimension out of range"):
        F.adaptive_avg_pool3d(wg.ones(3, 4), 1)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1)])
def test_log_softmax_of_one_element_is_zero(shape: tuple[int, ...]) -> None:
    for seed in range(50):
        x = wg.tensor(draw(*shape, seed=seed), dtype=wg.float32).tanh()
        assert not x.log_softmax(-1).any()


def test_multi_margin_loss_of_a_number_has_one_class() -> None:
    x, target = wg.tensor(0.5), wg.tensor(0)
    assert wg.nn.functional.multi_margin_loss(x, target, weight=wg.ones(1)).item() == 0


def test_what_cross_entropy_divides_by_a_number_has_the_name_of_that_form() -> None:
    x, target = wg.ones(5, 3, requires_grad=True), wg.zeros(5, dtype=wg.long)
    of_probabilities = wg.nn.functional.cross_entropy(x, wg.ones(5, 3) / 3)
    assert of_probabilities.grad_fn.name() == "DivBackward1"
    smoothed = wg.nn.functional.cross_entropy(x, target, label_smoothing=0.1)
    assert [node.name() for node, _ in smoothed.grad_fn.next_functions] == ["MulBackward1", "MulBackward1"]


@pytest.mark.parametrize("value", [float("nan"), 2.0, -0.1])
@pytest.mark.parametrize("count", [3, 5000])
def test_a_probability_that_is_none_is_refused_wherever_the_loss_is_computed(value: float, count: int) -> None:
    """Nan too, as in PyTorch: a model that has diverged does not train on."""
    loss, good, bad = F.binary_cross_entropy, wg.full((count,), 0.5), wg.full((count,), value)
    pair = wg.stack([good, bad])
    for call in (
        lambda: loss(bad, good),
        lambda: wg.func.vmap(loss)(pair, wg.ones(2, count)),
        lambda: wg.func.grad(loss)(bad, good),
    ):
        with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
            call()
    with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
        loss(good, bad)
    compiled = wg.compile(lambda x, y: loss(x, y))
    leaf = good.clone().requires_grad_()
    for _ in range(3):
        compiled(leaf, good).backward()
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        compiled(bad.clone().requires_grad_(), good)


def test_fake_quantization_is_pytorch_s(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        found: list[Any] = []
        for kind in (lib.float32, lib.float64, lib.float16, lib.bfloat16):
            x = lib.tensor([-1.0, 0.24, 0.26, 0.5, 2.0, float("nan"), float("inf")], dtype=kind, requires_grad=True)
            rows, step = x.view(7, 1), lib.tensor([0.5, 0.1, 0.3, 0.5, 0.5, 0.5, 0.5])
            for y in (
                lib.fake_quantize_per_tensor_affine(x, 0.5, 1, 0, 3),
                lib.fake_quantize_per_tensor_affine(x, lib.tensor(0.5), lib.tensor(1), 0, 3),
                lib.fake_quantize_per_channel_affine(rows, step, lib.arange(7, dtype=lib.int32), 0, 0, 7),
                lib.fake_quantize_per_channel_affine(rows, step, lib.full((7,), 0.25), 0, 0, 7),
            ):
                x.grad = None
                y.sum().backward()
                found += [y.tolist(), str(y.dtype), y.grad_fn.name(), x.grad.tolist()]
        for bad in ((0.5, 5, 0, 3), (0.5, 1, 4, 3)):
            with pytest.raises(RuntimeError) as refused:
                lib.fake_quantize_per_tensor_affine(x, *bad)
            found.append(str(refused.value))
        return found

    assert repr(outcome(wg)) == repr(outcome(torch))


def test_products_of_groups_are_pytorch_s(torch: Any) -> None:
    rows, experts = np.random.default_rng(0).random((8, 4)), np.random.default_rng(1).random((2, 4, 8))
    wide = np.random.default_rng(2).random((4, 8))

    def outcome(lib: Any) -> list[Any]:
        a, b, c = (lib.tensor(t, dtype=lib.float32) for t in (rows, experts, wide))
        ends = lib.tensor([3, 8], dtype=lib.int32)
        grouped = lib.nn.functional.grouped_mm
        products = [grouped(a, b, offs=ends), grouped(b.mT, c, offs=ends), grouped(c, a, offs=ends), grouped(b.mT, b)]
        with pytest.raises(RuntimeError, match="Have to provide offsets"):
            grouped(a, b)
        with pytest.raises(RuntimeError, match="Offsets have to be int32"):
            grouped(a, b, offs=ends.long())
        return [p.shape for p in products], [p.flatten() for p in products]

    (shapes, values), (expected_shapes, expected) = outcome(wg), outcome(torch)
    assert shapes == expected_shapes
    for p, q in zip(values, expected, strict=True):
        np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=1e-5)


def test_products_of_groups_have_gradients() -> None:
    a, b = wg.randn(5, 3, dtype=wg.float32, requires_grad=True), wg.randn(2, 3, 4, requires_grad=True)
    wg.nn.functional.grouped_mm(a, b, offs=wg.tensor([2, 5], dtype=wg.int32)).sum().backward()
    wg.testing.assert_close(a.grad[3], b[1].sum(1).detach())
    wg.testing.assert_close(b.grad[0], a[:2].sum(0).detach()[:, None].expand(3, 4))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_norms_of_half_precision_are_pytorch_s(torch: Any, kind: str) -> None:
    """Statistics are computed in float32; the backward pass gets them rounded. A twentieth may be rounded otherwise."""
    numbers, cotangents = np.random.default_rng(0).standard_normal((2, 8, 6, 12))

    def outcome(lib: Any) -> list[Any]:
        dtype, found = getattr(lib, kind), []
        for norm, stats in (
            (lambda t: lib.layer_norm(t, (12,)), lambda t: lib.native_layer_norm(t, (12,), None, None, 1e-5)),
            (lambda t: lib.group_norm(t, 2), lambda t: lib.native_group_norm(t, None, None, 8, 6, 12, 2, 1e-5)),
        ):
            x = lib.tensor(numbers, dtype=dtype, requires_grad=True)
            norm(x).backward(lib.tensor(cotangents, dtype=dtype))
            found += [t.float().numpy() for t in (x.grad, *stats(x.detach()))]
        return found

    for mine, theirs in zip(outcome(wg), outcome(torch), strict=True):
        assert (mine == theirs).mean() > 0.95

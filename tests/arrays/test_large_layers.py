"""Convolution and batch norm of sizes at which the work is cut: into samples, into rows, onto threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert._arrays import blas
from wengert._arrays.conv import columns

F = wg.nn.functional


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def direct(x: np.ndarray, w: np.ndarray, stride: int, padding: int, groups: int) -> np.ndarray:
    """Convolution by its definition, an element of the filter after the other."""
    x = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    kh, kw = w.shape[2:]
    height, width = ((n - k) // stride + 1 for n, k in zip(x.shape[2:], (kh, kw), strict=True))
    y = np.zeros((len(x), groups, len(w) // groups, height, width))
    for i in range(kh):
        for j in range(kw):
            part = x[:, :, i : i + height * stride : stride, j : j + width * stride : stride]
            part = part[:, :, :height, :width].reshape(len(x), groups, -1, height, width)
            y += np.einsum("gof,ngfhw->ngohw", w[:, :, i, j].reshape(groups, -1, w.shape[1]), part)
    return y.reshape(len(x), len(w), height, width)


CASES = {
    "wide": ((9, 6, 40, 41), (7, 6, 3, 3), 1, 0, 1),
    "padded": ((5, 6, 40, 41), (6, 6, 3, 3), 1, 1, 1),
    "strided": ((4, 16, 60, 61), (5, 16, 3, 3), 2, 1, 1),
    "grouped": ((4, 8, 44, 44), (8, 4, 5, 3), 1, 1, 2),
    "one sample": ((1, 9, 70, 70), (3, 9, 3, 3), 1, 0, 1),
}


@pytest.mark.parametrize("rows", [False, True], ids=["whole", "in rows"])
@pytest.mark.parametrize("case", CASES)
def test_convolution(case: str, rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if rows:
        monkeypatch.setattr(columns, "LIMIT", 1 << 16)
        monkeypatch.setattr(columns, "BLOCK", 1 << 16)
    xs, ws, stride, padding, groups = CASES[case]
    x, w = draw(*xs), draw(*ws, seed=1)
    a, b = (wg.tensor(t, requires_grad=True) for t in (x, w))
    y = F.conv2d(a, b, None, stride, padding, 1, groups)
    np.testing.assert_allclose(y.detach().numpy(), direct(x, w, stride, padding, groups), atol=1e-11)
    g = draw(*y.shape, seed=2)
    y.backward(wg.tensor(g))
    # what is linear and its transpose: <g, conv(v)> is <conv'(g), v>
    for grad, v, image in (
        (a.grad, draw(*xs, seed=3), lambda v: direct(v, w, stride, padding, groups)),
        (b.grad, draw(*ws, seed=4), lambda v: direct(x, v, stride, padding, groups)),
    ):
        assert float((grad.numpy() * v).sum()) == pytest.approx(float((g * image(v)).sum()), rel=1e-10)


@pytest.mark.parametrize("shape", [(4, 8, 90, 100), (70000, 4), (1, 3, 300, 301)])
def test_batch_norm(shape: tuple[int, ...]) -> None:
    x, g = draw(*shape) * 3 + 5, draw(*shape, seed=1)
    w, b = draw(shape[1], seed=2), draw(shape[1], seed=3)
    dims = (0, *range(2, len(shape)))
    along = (1, -1, *(1,) * (len(shape) - 2))
    a, weight, bias = (wg.tensor(t, requires_grad=True) for t in (x, w, b))
    mean, var = wg.zeros(shape[1]).double(), wg.ones(shape[1]).double()
    y = F.batch_norm(a, mean, var, weight, bias, True, 0.1, 1e-5)
    scale = 1 / np.sqrt(x.var(dims, keepdims=True) + 1e-5)
    z = (x - x.mean(dims, keepdims=True)) * scale
    np.testing.assert_allclose(y.detach().numpy(), z * w.reshape(along) + b.reshape(along), atol=1e-11)
    y.backward(wg.tensor(g))
    gz = g * w.reshape(along)
    n = x.size // shape[1]
    want = scale * (gz - gz.sum(dims, keepdims=True) / n - z * (gz * z).sum(dims, keepdims=True) / n)
    np.testing.assert_allclose(a.grad.numpy(), want, atol=1e-11)
    np.testing.assert_allclose(weight.grad.numpy(), (g * z).sum(dims), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(bias.grad.numpy(), g.sum(dims), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mean.numpy(), 0.1 * x.mean(dims), rtol=1e-12)
    np.testing.assert_allclose(var.numpy(), 0.9 + 0.1 * x.var(dims) * n / (n - 1), rtol=1e-12)


def test_batch_norm_of_a_large_mean_keeps_its_digits() -> None:
    x = (draw(6, 2, 50) + 1000).astype(np.float32)
    exact = x.astype(np.float64)
    scale = 1 / np.sqrt(exact.var((0, 2), keepdims=True) + 1e-5)
    y = F.batch_norm(wg.tensor(x), None, None, training=True)
    np.testing.assert_allclose(y.numpy(), (exact - exact.mean((0, 2), keepdims=True)) * scale, atol=5e-4)


def test_running_statistics_have_pytorchs_versions() -> None:
    m = wg.nn.BatchNorm1d(3)
    m(wg.tensor(draw(4, 3).astype(np.float32)))
    assert (m.running_mean._version, m.running_var._version) == (1, 1)  # one write when the layer was made


def test_samples_are_all_done_in_order() -> None:
    for n in (1, 2, 7, 8, 9, 100):
        for work in (0, 1e3, 1e4):
            parts = blas.over_samples(lambda part: part, n, work)
            assert [i for part in parts for i in range(n)[part]] == list(range(n))
            assert parts == blas.samples_parts(n, work) or blas._control() is None
            assert len(parts) <= blas.PARTS


def test_the_threads_of_blas_are_given_back() -> None:
    control = blas._control()
    if control is None:
        pytest.skip("NumPy's BLAS is not OpenBLAS, or cannot be asked")
    set_threads, get_threads = control
    before = get_threads()
    try:
        set_threads(2)
        many = get_threads()  # 1 where OpenBLAS knows of one processor only

        def fail(part: slice) -> Any:
            assert get_threads() == 1
            raise ValueError(part)

        with pytest.raises(ValueError, match="slice"):
            blas.over_samples(fail, 4, 1e4)
        assert get_threads() == many
        with blas.one_thread, blas.one_thread:
            assert get_threads() == 1
        assert get_threads() == many
    finally:
        set_threads(before)


def test_the_number_of_threads_is_that_of_blas_too() -> None:
    control = blas._control()
    if control is None:
        pytest.skip("NumPy's BLAS is not OpenBLAS, or cannot be asked")
    set_threads, get_threads = control
    before, mine = get_threads(), wg.get_num_threads()
    try:
        wg.set_num_threads(1)
        assert get_threads() == 1
        with blas.one_thread:
            wg.set_num_threads(2)
            assert get_threads() == 1  # what is under way keeps its one
        assert get_threads() == min(2, blas._usable_processors())
    finally:
        wg.set_num_threads(mine)
        set_threads(before)


def test_without_a_library_to_ask_samples_are_done_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_control", lambda: None)
    assert blas.over_samples(lambda part: part, 9, 1e4) == [slice(0, 9)]


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, w = draw(9, 8, 40, 40).astype(np.float32), draw(8, 8, 3, 3, seed=1).astype(np.float32)
    before = wg.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            wg.set_num_threads(threads)
            a, b = (wg.tensor(t, requires_grad=True) for t in (x, w))
            y = F.batch_norm(F.conv2d(a, b, padding=1), None, None, training=True)
            (y * y * y).sum().backward()
            found.append([y.detach().numpy(), a.grad.numpy(), b.grad.numpy()])
    finally:
        wg.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e-38, 1e30])
@pytest.mark.parametrize("first", [0, 1], ids=["with a row of zeros", "without"])
def test_norms_of_rows_of_all_scales(scale, first, torch):
    x = draw(600, 500)
    x[0] = 0
    values = (x[first:] * scale).astype(np.float32)
    found = []
    for T in (wg, torch):
        t = T.tensor(values, requires_grad=True)
        norms = t.norm(dim=1)
        norms.backward(T.ones(len(values)))
        found.append((norms.detach().numpy(), t.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)

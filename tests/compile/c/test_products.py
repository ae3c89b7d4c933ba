"""Products of matrices in C: every layout, sizes around those of tiles and blocks, special numbers, threads."""

from __future__ import annotations

import ctypes
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as torch
from wengert._compile.c import cache, threads

pytestmark = pytest.mark.usefixtures("c_cache")
SIZES = st.one_of(st.integers(1, 70), st.sampled_from([255, 257, 511, 513, 530]))


@pytest.fixture(scope="module")
def gemm(c_cache):
    """The package's own tiles, on every processor."""
    text = resources.files("wengert._compile.c").joinpath("gemm.c").read_text(encoding="utf-8")
    lib = cache.library("#define OWN 1\n" + text)
    lib.init((ctypes.c_void_p * 3)(threads.address(), None, None))
    i, n, p, f = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_float
    lib.wengert_sgemm.argtypes = [i, i, i, n, n, n, f, p, n, p, n, f, p, n]
    lib.wengert_sgemm.restype = None

    def product(x, y, o, add=False):
        given = []
        for a in (x, y):
            rows = a.strides[1] == 4
            given += [111 if rows else 112, a.ctypes.data, (a.strides[0] if rows else a.strides[1]) // 4]
        tx, x_at, lx, ty, y_at, ly = given
        (m, k), n = x.shape, y.shape[1]
        lib.wengert_sgemm(101, tx, ty, m, n, k, 1, x_at, lx, y_at, ly, int(add), o.ctypes.data, o.strides[0] // 4)
        return o

    return product


def matrix(rng, m, n, turned, gap):
    """A matrix of float32 with unit steps along one dim, in memory that is wider than it."""
    shape = (n, m + gap) if turned else (m, n + gap)
    a = rng.standard_normal(shape).astype(np.float32)
    return a[:, :m].T if turned else a[:, :n]


@settings(max_examples=60, deadline=None)
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_every_layout(gemm, m, n, k, x_turned, y_turned, add, gap):
    rng = np.random.default_rng(m * 1000 + n)
    x, y = matrix(rng, m, k, x_turned and m > 1 and k > 1, gap), matrix(rng, k, n, y_turned and n > 1 and k > 1, gap)
    if any(4 not in a.strides for a in (x, y)):
        return
    around = np.full((m, n + 3), 7, np.float32)
    o = around[:, :n]
    o[:] = rng.standard_normal((m, n)) if add else np.nan
    wide = [a.astype(np.float64) for a in (x, y, o)]
    exact = wide[0] @ wide[1] + (wide[2] if add else 0)
    size = np.abs(wide[0]) @ np.abs(wide[1]) + (np.abs(wide[2]) if add else 0)
    gemm(x, y, o, add)
    # rounded once for each of k numbers, as OpenBLAS does
    assert np.all(np.abs(o - exact) <= max(4, k**0.5 / 2) * np.spacing(size.astype(np.float32)))
    assert np.all(around[:, n:] == 7)


def test_special_numbers(gemm):
    rng = np.random.default_rng(0)
    for m, n, k in ((3, 5, 4), (17, 40, 300), (40, 33, 2)):
        x, y = rng.standard_normal((m, k)).astype("f"), rng.standard_normal((k, n)).astype("f")
        x[0, 0], x[1, 1], x[2, 0], y[0, 1], y[1, 2] = np.nan, np.inf, 1e-42, -np.inf, 0
        got = gemm(x, y, np.empty((m, n), "f"))
        with np.errstate(invalid="ignore"):
            exact = x.astype(np.float64) @ y.astype(np.float64)
        assert np.array_equal(np.isnan(got), np.isnan(exact)) and np.array_equal(np.isinf(got), np.isinf(exact))
    tiny = gemm(np.full((20, 1), 1e-30, "f"), np.full((1, 40), 1e-12, "f"), np.empty((20, 40), "f"))
    assert np.all(tiny == np.float32(1e-30) * np.float32(1e-12)) and tiny[0, 0] > 0


@pytest.mark.parametrize("shape", [(400, 300, 100), (100, 900, 300)])
def test_threads_change_no_digit(gemm, shape):
    m, n, k = shape
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((m, k)).astype("f"), rng.standard_normal((k, n)).astype("f")
    pool, found = threads.pool(), []
    try:
        for count in (1, 2, 3, 7):
            pool.wengert_threads(ctypes.c_int64(count))
            found.append(gemm(x, y, np.empty((m, n), "f")))
    finally:
        threads.told[0] = ...
        pool.wengert_threads(ctypes.c_int64(threads.told[1]))
    assert all(np.array_equal(a, found[0]) for a in found)


def test_the_normal_distribution_in_gelus_derivative():
    from scipy.special import ndtr

    from wengert._compile import c

    x = torch.cat((torch.linspace(-14, 14, 4001), torch.tensor([0.0, -0.0, 1e-42, 60.0, -60.0, float("nan")])))
    x.requires_grad_()

    @torch.compile(backend="c")
    def slope(x):
        return torch.autograd.grad(torch.nn.functional.gelu(x).sum(), x)[0]

    slope(x)
    c.wait()
    got, wide = slope(x).numpy(), x.detach().numpy().astype(np.float64)
    (program,) = [p for found in slope._compiled.programs.values() for p in found]
    assert "cdf_f" in program.source
    exact = ndtr(wide) + wide * np.exp(-wide * wide / 2) / np.sqrt(2 * np.pi)
    assert np.nanmax(np.abs(got - exact)) <= 4 * np.spacing(np.float32(1))
    assert np.isnan(got[-1]) and np.isnan(got).sum() == 1

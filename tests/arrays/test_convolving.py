"""Convolution's three products on arrays: any geometry, cut in any way, against the definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wengert._arrays.conv import by_table, columns, few_places, products, rows

Ints = tuple[int, ...]


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def terms(x: Ints, w: Ints, out: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Iterator[Any]:
    """For each element of a filter its index, the places where it meets the input, and what it meets there."""
    for element in itertools.product(*map(range, w[2:])):
        places, inputs = [], []
        for n, o, s, p, d, e in zip(x[2:], out, stride, padding, dilation, element, strict=True):
            found = [(t, t * s + e * d - p) for t in range(o) if 0 <= t * s + e * d - p < n]
            places.append([t for t, _ in found])
            inputs.append([i for _, i in found])
        yield element, np.ix_(*places), np.ix_(*inputs)


def at(a: np.ndarray, index: Any) -> Any:
    """The places of an index in all channels of all samples."""
    channels = [np.arange(n).reshape(-1, *(1,) * (a.ndim - 1 - i)) for i, n in enumerate(a.shape[:3])]
    return (*channels, *index)


def by_definition(
    x: np.ndarray, w: np.ndarray, g: np.ndarray, geometry: tuple[Ints, Ints, Ints], groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The output, and the cotangents of the input and of the weight for the cotangent ``g``."""
    size, out = x.shape[2:], g.shape[2:]
    n, filters, channels = len(x), len(w) // groups, w.shape[1]
    a, c = x.reshape(n, groups, channels, *size), g.reshape(n, groups, filters, *out)
    v = w.reshape(groups, filters, channels, *w.shape[2:])
    y, to_a, to_v = np.zeros(c.shape), np.zeros(a.shape), np.zeros(v.shape)
    for element, places, inputs in terms(x.shape, w.shape, out, *geometry):
        part, given_part, of = a[at(a, inputs)], c[at(c, places)], v[(..., *element)]
        y[at(y, places)] += np.einsum("gof,ngf...->ngo...", of, part)
        to_a[at(to_a, inputs)] += np.einsum("gof,ngo...->ngf...", of, given_part)
        to_v[(..., *element)] = np.einsum("ngox,ngfx->gof", *(t.reshape(*t.shape[:3], -1) for t in (given_part, part)))
    return y.reshape(g.shape), to_a.reshape(x.shape), to_v.reshape(w.shape)


@st.composite
def geometries(draw_: Any) -> Any:
    k = draw_(st.sampled_from((1, 2, 2, 3)))

    def each(low: int, high: int) -> Ints:
        return tuple(draw_(st.integers(low, high)) for _ in range(k))

    groups = draw_(st.sampled_from((1, 1, 2, 4)))
    kernel, stride, dilation, padding = each(1, 4), each(1, 3), each(1, 3), each(0, 3)
    size = tuple(
        max(1, n + d * (e - 1) - 2 * p)
        for n, e, d, p in zip(each(1, {1: 200, 2: 24, 3: 7}[k]), kernel, dilation, padding, strict=True)
    )
    samples, channels, filters = draw_(st.integers(1, 9)), draw_(st.integers(1, 5)), draw_(st.integers(1, 6))
    x, w = (samples, groups * channels, *size), (groups * filters, channels, *kernel)
    return x, w, (stride, padding, dilation), groups


@pytest.fixture(params=["whole", "cut", "small", "by table"], scope="module")
def how(request: pytest.FixtureRequest) -> Iterator[str]:
    """As large samples would be cut; on threads; in one block; with the columns' positions in a table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_table, "_FEW_TO_INPUT", 10**9)
        patch.setattr(by_table, "_FEW", 10**9 if request.param == "by table" else 0)
        if request.param == "cut":
            patch.setattr(columns, "LIMIT", 3000)
            patch.setattr(columns, "BLOCK", 1500)
            patch.setattr(products, "_PER_MICROSECOND", 1e-3)
            patch.setattr(products, "_FEW", 5)
            patch.setattr(few_places, "_MANY_BYTES", 2000)
            patch.setattr(rows, "SMALL_PRODUCT", 3000)
            patch.setattr(products, "_WIDE", 10)
            patch.setattr(columns, "ROW", 10**9)
        elif request.param == "whole":
            patch.setattr(products, "_PER_MICROSECOND", 1e-3)
            patch.setattr(columns, "_MOST_PHASES", 3)
            patch.setattr(columns, "ROW", 0)
            patch.setattr(rows, "_IDLE", 16)
            patch.setattr(rows, "_BYTES", 3000)
        products._convolution.cache_clear()
        yield request.param
    products._convolution.cache_clear()


@given(case=geometries())
def test_the_three_products(how: str, case: Any) -> None:
    xs, ws, geometry, groups = case
    stride, padding, dilation = geometry
    x, w, bias = draw(*xs), draw(*ws, seed=1), draw(ws[0], seed=2)
    out = columns.out_size(xs[2:], ws[2:], *geometry)
    g = draw(xs[0], ws[0], *out, seed=3)
    y, to_x, to_w = by_definition(x, w, g, geometry, groups)
    added = bias.reshape(-1, *(1,) * len(out))
    for _ in range(2):  # again, with buffers that were used
        found = products.convolve(x, w, stride, padding, dilation, groups)
        np.testing.assert_allclose(found, y, atol=1e-11)
        assert found.flags.c_contiguous
        with_bias = products.convolve(x, w, stride, padding, dilation, groups, bias)
        np.testing.assert_allclose(with_bias, y + added, atol=1e-11)
        found = products.convolve_input(g, w, xs[2:], stride, padding, dilation, groups)
        np.testing.assert_allclose(found, to_x, atol=1e-11)
        assert found.flags.c_contiguous
        found = products.convolve_weight(x, g, ws[2:], stride, padding, dilation, groups)
        np.testing.assert_allclose(found, to_w, atol=1e-11)
        assert found.flags.c_contiguous


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 1, 3, 2), (1, 0, 2, 3)])
def test_operands_may_lie_in_memory_as_they_like(order: Ints) -> None:
    x, w, g = draw(3, 3, 12, 12), draw(3, 3, 3, 3, seed=1), draw(3, 3, 10, 10, seed=2)
    strange = [np.ascontiguousarray(a.transpose(order)).transpose(np.argsort(order))[..., ::-1] for a in (x, w, g)]
    plain = [np.ascontiguousarray(a) for a in strange]
    ones, none = (1, 1), (0, 0)
    for f, operands, shape in (
        (products.convolve, (0, 1), ()),
        (products.convolve_input, (2, 1), ((12, 12),)),
        (products.convolve_weight, (0, 2), ((3, 3),)),
    ):
        one, other = (f(*(a[i] for i in operands), *shape, ones, none, ones, 1) for a in (strange, plain))
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_numbers_outside_a_window_do_not_reach_its_output() -> None:
    """Infinities and nan stay where they are: places that do not exist are computed, but never seen."""
    x = np.zeros((2, 1, 12, 12), np.float32)
    x[:, :, 3, 5], x[:, :, 9, 11] = np.inf, np.nan
    y = products.convolve(x, np.ones((2, 1, 3, 3), np.float32), (1, 1), (1, 1), (1, 1), 1)
    finite = np.ones((12, 12), bool)
    finite[2:5, 4:7] = finite[8:11, 10:] = False
    np.testing.assert_array_equal(np.isfinite(y), np.broadcast_to(finite, y.shape))
    assert not y[:, :, finite].any()


def test_float32_is_as_exact_as_a_sum_in_any_order() -> None:
    x, w = draw(2, 64, 30, 30).astype(np.float32), draw(32, 64, 3, 3, seed=1).astype(np.float32)
    geometry: Any = ((1, 1), (1, 1), (1, 1))
    y = products.convolve(x, w, *geometry, 1)
    exact = products.convolve(x.astype(float), w.astype(float), *geometry, 1)
    size = products.convolve(abs(x.astype(float)), abs(w.astype(float)), *geometry, 1)
    assert (abs(y - exact) / size).max() < 8 * np.finfo(np.float32).eps


@pytest.mark.parametrize("shape", [(1, 2, 9, 9), (4, 16, 40, 40), (2, 16, 130, 130)])
def test_what_is_kept_for_the_next_call_holds_nothing_of_this_one(shape: Ints) -> None:
    x, w = draw(*shape), draw(6, shape[1], 3, 3, seed=1)
    geometry: Any = ((1, 1), (0, 0), (1, 1), 1)
    first = products.convolve(x, w, *geometry)
    kept = first.copy()
    products.convolve(x + 1, w + 1, *geometry, np.ones(6))
    turned = np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3)  # the same numbers in another order
    np.testing.assert_allclose(products.convolve(turned, w, *geometry), kept, atol=1e-12)
    second = products.convolve(x, w, *geometry)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, kept)

"""Pooling's windows on arrays: any geometry against the definition, window by window."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert._arrays.pooling import pooled_size, window_maxima

F = wg.nn.functional
Ints = tuple[int, ...]


@st.composite
def geometries(draw: Any, dilated: bool) -> Any:
    k = draw(st.sampled_from((1, 2, 2, 3)))

    def each(low: int, high: int) -> Ints:
        return tuple(draw(st.integers(low, high)) for _ in range(k))

    kernel, stride = each(1, 4), each(1, 4)
    dilation = each(1, 2) if dilated else (1,) * k
    padding = tuple(draw(st.integers(0, n // 2)) for n in kernel)
    size = tuple(d * (n - 1) + more for d, n, more in zip(dilation, kernel, each(1, 6), strict=True))
    return size, kernel, stride, padding, dilation, draw(st.booleans())


def windows(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """For each window its place and the elements of the input in it, in order."""
    for place in itertools.product(*map(range, out)):
        elements = []
        for offset in itertools.product(*map(range, kernel)):
            where = tuple(
                t * s + e * d - p for t, s, e, d, p in zip(place, stride, offset, dilation, padding, strict=True)
            )
            if all(0 <= i < n for i, n in zip(where, size, strict=True)):
                elements.append(where)
        yield place, elements


@given(case=geometries(dilated=True), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from("fdil"))
def test_the_first_largest_element_or_the_last_nan_is_found(case: Any, seed: int, dtype: str) -> None:
    *sizes, ceil_mode = case
    size, kernel, stride, padding, dilation = sizes
    out = pooled_size(*sizes, ceil_mode)
    rng = np.random.default_rng(seed)
    values = [-3, -1, 0, 2, 2] if dtype in "il" else [-math.inf, -1, 0, 2, math.inf]
    if dtype in "fd" and seed % 2:
        values.append(math.nan)
    x = rng.choice(values, (2, *size)).astype(dtype)
    best, index = window_maxima(x, kernel, stride, padding, dilation, out)
    assert (best.dtype, index.dtype) == (x.dtype, np.int64)
    for place, elements in windows(size, kernel, stride, padding, dilation, out):
        for sample in range(2):
            found = [x[(sample, *e)] for e in elements]
            nans = [n for n, v in enumerate(found) if v != v]
            n = nans[-1] if nans else found.index(max(found))
            np.testing.assert_array_equal(best[(sample, *place)], found[n])
            assert index[(sample, *place)] == np.ravel_multi_index(elements[n], size)


@given(case=geometries(dilated=False), include_pad=st.booleans())
def test_means_of_windows_and_their_derivative(case: Any, include_pad: bool) -> None:
    size, kernel, stride, padding, dilation, ceil_mode = case
    k = len(size)
    x = wg.randn(1, 2, *size, dtype=wg.float64, requires_grad=True)
    if k == 1:
        y = F.avg_pool1d(x, kernel, stride, padding, ceil_mode, include_pad)
    else:
        y = getattr(F, f"avg_pool{k}d")(x, kernel, stride, padding, ceil_mode, include_pad)
    out = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    assert y.shape == (1, 2, *out)
    g = wg.randn(*y.shape, dtype=wg.float64)
    y.backward(g)
    values, back = x.detach().numpy(), np.zeros(x.shape)
    for place, elements in windows(size, kernel, stride, padding, dilation, out):
        count = len(elements)
        if include_pad:  # as far as the padding reaches, but no further
            starts = [t * s - p for t, s, p in zip(place, stride, padding, strict=True)]
            ends = [min(a + n, m + p) for a, n, m, p in zip(starts, kernel, size, padding, strict=True)]
            count = math.prod(b - a for a, b in zip(starts, ends, strict=True))
        total = sum(values[(0, slice(None), *e)] for e in elements)
        np.testing.assert_allclose(y.detach().numpy()[(0, slice(None), *place)], total / count, atol=1e-12)
        for e in elements:
            back[(0, slice(None), *e)] += g.numpy()[(0, slice(None), *place)] / count
    np.testing.assert_allclose(x.grad.numpy(), back, atol=1e-12)


@pytest.mark.parametrize(("size", "out"), [((12, 8), (3, 4)), ((40, 6), (2, 6)), ((7, 9), (3, 9)), ((5, 6), (5, 1))])
def test_means_of_parts_and_their_derivative(size: Ints, out: Ints) -> None:
    x = wg.randn(2, 3, *size, dtype=wg.float64, requires_grad=True)
    y = F.adaptive_avg_pool2d(x, out)
    g = wg.randn(*y.shape, dtype=wg.float64)
    y.backward(g)
    back = np.zeros(x.shape)
    for i, j in itertools.product(*map(range, out)):
        rows, columns = (slice(p * n // o, -(-(p + 1) * n // o)) for p, n, o in zip((i, j), size, out, strict=True))
        part = x.detach().numpy()[:, :, rows, columns]
        np.testing.assert_allclose(y.detach().numpy()[:, :, i, j], part.mean((2, 3)), atol=1e-12)
        back[:, :, rows, columns] += g.numpy()[:, :, i : i + 1, j : j + 1] / part[0, 0].size
    np.testing.assert_allclose(x.grad.numpy(), back, atol=1e-12)

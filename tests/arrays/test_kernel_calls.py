"""Calls of compiled kernels beside the NumPy functions that they stand before: any shapes, strides and values.

The kernels are those of the installed ``wengert-kernels``; without it these tests are skipped.
"""

from __future__ import annotations

import copy
import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert  # noqa: F401  the rooms' hooks
from wengert._arrays import (
    accumulate,
    along,
    attention,
    blas,
    compiled,
    compiled_products,
    large,
    norms,
    pooling,
    recurrent,
    scan,
)
from wengert._arrays import compiled_places as places
from wengert._arrays import compiled_rows as rows
from wengert._arrays import compiled_steps as steps
from wengert._arrays import compiled_windows as windows
from wengert._arrays.conv import products

if compiled.kernels() is None:
    pytest.skip("wengert-kernels is not installed (python -m pip install ./kernels)", allow_module_level=True)

DTYPES = st.sampled_from([np.float32, np.float64])
SMALL = st.integers(1, 5)
MANY = settings(max_examples=60, deadline=None)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 1.0]


@st.composite
def arrays(draw: Any, shape: tuple[int, ...], dtype: Any, special: bool = True) -> np.ndarray:
    """Numbers in any layout: C order, another order of the dims, every second element, backwards, expanded."""
    random = np.random.RandomState(draw(st.integers(0, 1 << 16)))
    layout = draw(st.sampled_from(["C", "turned", "strided", "backwards", "expanded", "offset"]))
    lead = (1,) * min(len(shape), 1) + shape[1:] if layout == "expanded" else shape
    x = random.uniform(-1, 1, lead).astype(dtype)
    if special and draw(st.booleans()):
        x.reshape(-1)[random.randint(0, max(x.size, 1), min(x.size, 3))] = random.choice(SPECIAL)
    if layout == "turned":
        return np.ascontiguousarray(x.T).T
    if layout == "strided" and shape:
        r = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        r[...] = x
        return r
    if layout == "backwards":
        return x[::-1].copy()[::-1] if shape else x
    if layout == "offset" and shape:
        r = np.zeros(x.size + 1, dtype)[1:].reshape(shape)
        r[...] = x
        return r
    return np.broadcast_to(x, shape) if layout == "expanded" else x


def check(kernel: Any, function: Any, *args: Any, size: float = 8.0, results: tuple[int, ...] = ()) -> None:
    """The kernel's results, or what it wrote to the operands of these numbers, equal the NumPy function's.

    They may differ by 4 units of the last place of ``size`` and of their own.
    """
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    mine = tuple(
        a if type(a) is np.ndarray and k not in results else m for k, (a, m) in enumerate(zip(args, mine, strict=True))
    )
    with np.errstate(all="ignore"):
        found = kernel(compiled.kernels(), *mine)
        if found is None:
            return
        want = function.__wrapped__(*theirs)
    if results:
        found, want = [mine[k] for k in results], [theirs[k] for k in results]
    for got, expected in zip(*(a if type(a) in (tuple, list) else [a] for a in (found, want)), strict=True):
        if expected is None:
            assert got is None
            continue
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        if got.dtype.kind != "f":
            np.testing.assert_array_equal(got, expected)
            continue
        unit = 4 * np.finfo(got.dtype).eps
        np.testing.assert_allclose(got, expected, rtol=unit, atol=unit * size)


def shapes(least: int = 1, most: int = 3) -> Any:
    return st.lists(st.sampled_from([1, 2, 3, 7, 17, 33]), min_size=least, max_size=most).map(tuple)


@MANY
@given(st.data(), DTYPES, shapes())
def test_running_sums(data: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    dim, ufunc = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.sampled_from([np.add, np.multiply]))
    check(places.running, scan.scanned, ufunc, data.draw(arrays(shape, dtype)), dim, data.draw(st.booleans()))


@MANY
@given(st.data(), st.sampled_from([np.float32, np.float64, np.int64, np.int32, np.int8, np.int16]), shapes())
def test_reading_along(data: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    x = np.ascontiguousarray((data.draw(arrays(shape, np.float64, False)) * 100).astype(dtype))
    dim, count = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.sampled_from([1, 2, 40]))
    index = data.draw(arrays((*shape[:dim], count, *shape[dim + 1 :]), np.float64, False))
    check(places.read_along, along._read_lines, (abs(index) * shape[dim]).astype(np.int64) % shape[dim], x, dim)


@MANY
@given(st.data(), DTYPES, shapes())
def test_adding_along(data: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    dim, count = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.sampled_from([1, 2, 40]))
    there = (*shape[:dim], count, *shape[dim + 1 :])
    index = (abs(data.draw(arrays(there, np.float64, False))) * shape[dim]).astype(np.int64) % shape[dim]
    r = np.ascontiguousarray(data.draw(arrays(shape, dtype, False)))
    check(places.add_along, along._add_lines, index, r, dim, data.draw(arrays(there, dtype)), results=(1,))


@MANY
@given(st.data(), DTYPES, st.sampled_from([1, 2, 16, 17, 40]), st.sampled_from([1, 3, 200]))
def test_adding_rows(data: Any, dtype: Any, run: int, count: int) -> None:
    at = np.random.RandomState(count).randint(0, 9, count)
    values, r = data.draw(arrays((count, run), dtype)), np.ones((9, run), dtype)
    check(places.add_rows, accumulate._add_rows, values, r, at, run, size=200, results=(1,))
    check(places.sum_rows, accumulate._sum_rows, np.ascontiguousarray(values), at, run, (9, run), size=200)


@MANY
@given(st.data(), st.sampled_from([np.float32, np.complex128, np.int8]), shapes(2), st.sampled_from([(1,), (40, 3)]))
def test_reading_rows(data: Any, dtype: Any, shape: tuple[int, ...], there: tuple[int, ...]) -> None:
    """Places count from the end if they are negative; one out of range is NumPy's to refuse."""
    x = np.ascontiguousarray((data.draw(arrays(shape, np.float64, False)) * 100).astype(dtype))
    index = np.random.RandomState(x.size).randint(-shape[0], shape[0], there)
    np.testing.assert_array_equal(places.rows_at(compiled.kernels(), x, index), x[index])
    for bad in (-shape[0] - 1, shape[0], 1 << 62, -(1 << 62)):
        index[-1] = bad
        assert places.rows_at(compiled.kernels(), x, index) is None


@MANY
@given(st.data(), DTYPES, st.tuples(SMALL, st.integers(1, 40), st.integers(24, 60)))
def test_maxima_of_windows(data: Any, dtype: Any, shape: tuple[int, int, int]) -> None:
    two = st.tuples(SMALL, st.integers(1, 2))
    kernel, stride, dilation = data.draw(two), data.draw(two), data.draw(two)
    padding = tuple(data.draw(st.integers(0, k // 2)) for k in kernel)
    if any(n + 2 * p < d * (k - 1) + 1 for n, p, k, d in zip(shape[1:], padding, kernel, dilation, strict=True)):
        return
    out = pooling.pooled_size(shape[1:], kernel, stride, padding, dilation, data.draw(st.booleans()))
    x = data.draw(arrays(shape, dtype))
    check(windows.window_maxima, pooling.maxima_of_many, x, kernel, stride, padding, dilation, out)


@MANY
@given(st.data(), DTYPES, SMALL, st.sampled_from([1, 7, 40]))
def test_adding_in_rows(data: Any, dtype: Any, rows: int, n: int) -> None:
    """Rows whose places repeat."""
    g = data.draw(arrays((rows, 30), dtype, False))
    at = np.random.RandomState(n).randint(0, n, (rows, 30))
    check(windows.scattered_in_rows, pooling.added_in_rows, g, at, n, size=30)


@MANY
@given(st.data(), DTYPES, st.tuples(SMALL, st.integers(1, 40), st.integers(1, 40)))
def test_means_of_parts(data: Any, dtype: Any, shape: tuple[int, int, int]) -> None:
    size, x = shape[1:], data.draw(arrays(shape, dtype))
    out = tuple(data.draw(st.integers(1, 9)) for _ in size)
    edges = [pooling.adaptive_edges(n, o) for n, o in zip(size, out, strict=True)]
    g, back = data.draw(arrays((shape[0], *out), dtype, False)), np.zeros(shape)
    unit = 8 * np.finfo(dtype).eps
    with np.errstate(all="ignore"):
        found = windows.part_means(compiled.kernels(), x, size, out, False)
        for i, j in np.ndindex(*out):
            part = (slice(None), slice(*edges[0][i]), slice(*edges[1][j]))
            some = x[part].astype(np.float64)
            np.testing.assert_allclose(found[:, i, j], some.mean((1, 2)).astype(dtype), unit, unit)
            back[part] += (g[:, i, j] / math.prod(some.shape[1:]))[:, None, None]
    np.testing.assert_allclose(windows.part_means(compiled.kernels(), g, size, out, True), back, unit, 8 * unit)


@MANY
@given(st.data(), DTYPES, st.integers(1, 3))
def test_convolution(data: Any, dtype: Any, rank: int) -> None:
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(rank))
    kernel, stride, padding, dilation = draw(1, 4), draw(1, 3), draw(0, 4), draw(1, 2)
    groups, c, o = data.draw(st.sampled_from([(1, 9, 40), (1, 3, 17), (2, 8, 9), (6, 1, 1), (3, 1, 2), (1, 20, 2)]))
    size = tuple(d * (k - 1) + data.draw(st.integers(1, 9)) for d, k in zip(dilation, kernel, strict=True))
    out = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )
    x, w = (
        data.draw(arrays((2, groups * c, *size), dtype, False)),
        data.draw(arrays((groups * o, c, *kernel), dtype, False)),
    )
    g, bias = data.draw(arrays((2, groups * o, *out), dtype, False)), data.draw(arrays((groups * o,), dtype, False))
    least, windows._LEAST = windows._LEAST, 0
    windows._sizes.cache_clear()
    rest, taps, all_places = (stride, padding, dilation, groups), math.prod(kernel), 2 * math.prod(out)
    try:
        check(windows.convolve, products.convolve, np.ascontiguousarray(x), w, *rest, bias, size=c * taps)
        check(
            windows.convolve_weight,
            products.convolve_weight,
            np.ascontiguousarray(x),
            g,
            kernel,
            *rest,
            size=all_places,
        )
        check(windows.convolve_input, products.convolve_input, g, w, size, *rest, size=o * taps)
    finally:
        windows._LEAST = least
        windows._sizes.cache_clear()


@MANY
@given(st.data(), DTYPES, SMALL, SMALL, SMALL, st.sampled_from([1, 5, 40, 330]))
def test_norms_of_groups(data: Any, dtype: Any, n: int, groups: int, c: int, length: int) -> None:
    channels = groups * c
    view, along_ = (n * groups, c * length), (channels, 1)
    if view[1] < 2:
        return
    x, g = (np.ascontiguousarray(data.draw(arrays((n, channels, length), dtype, False))) for _ in range(2))
    w, b = (data.draw(st.none() | arrays((channels,), dtype, False)) for _ in range(2))
    check(rows.normalized, norms._normalized, x, w, b, view, (1,), 0.1, along_, None)
    stats: list[Any] = []
    norms._normalized.__wrapped__(x, w, b, view, (1,), 0.1, along_, stats)
    needs = (True, w is not None, b is not None)
    if len(stats) == 3 and stats[0] is not None:
        stats = [np.ascontiguousarray(a) for a in stats]
        given_ = (g, x, w, None if b is None else b.shape, needs, view, (1,), along_, stats)
        check(rows.cotangents, norms._cotangents, *given_, size=16.0 * n * length)


@MANY
@given(st.data(), DTYPES, st.integers(1, 6), st.sampled_from([1, 7, 16, 33]), st.sampled_from([1, 5, 18]))
def test_lstm(data: Any, dtype: Any, length: int, batch: int, n: int) -> None:
    half = lambda *shape: data.draw(arrays(shape, dtype, False)) / 2
    biased, reverse, ended, keep = (data.draw(st.booleans()) for _ in range(4))
    ends = np.array(data.draw(st.lists(st.integers(0, length - 1), min_size=batch, max_size=batch))) if ended else None
    bias = [half(4 * n) if biased else None for _ in range(2)]
    tape: list[Any] | None = [] if keep else None
    given_ = (half(length, batch, 3), half(batch, n), half(batch, n), half(4 * n, 3), half(4 * n, n), *bias)
    check(steps.lstm_forward, recurrent.lstm_forward, *given_, reverse, ends, tape, size=16.0)
    g = [half(*shape) if data.draw(st.booleans()) else None for shape in ((length, batch, n), (batch, n), (batch, n))]
    factors = half(length, batch, 6, n)
    check(steps.lstm_gate_cotangents, recurrent.lstm_gate_cotangents, g, given_[4], reverse, ends, factors, size=64.0)


SIDES = st.integers(8, 40) | st.sampled_from([1, 200, 530])


@MANY
@given(st.data(), DTYPES, SIDES, st.sampled_from([1, 9, 70, 300]), SIDES, st.booleans(), st.booleans())
def test_products(data: Any, dtype: Any, m: int, k: int, n: int, x_turned: bool, y_turned: bool) -> None:
    x, y = (
        data.draw(arrays(s, dtype, False)) for s in ((m, k)[:: -1 if x_turned else 1], (k, n)[:: -1 if y_turned else 1])
    )
    with mock.patch.object(compiled_products, "UNSHARED_PRODUCT", 0):
        x, y = x.T if x_turned else x, y.T if y_turned else y
        check(compiled_products.product, blas.large_product, x, y, size=1.0 * k)


@MANY
@given(
    st.data(), DTYPES, st.sampled_from([(3,), (1,), (2, 3)]), st.sampled_from([1, 7, 70]), st.sampled_from([1, 9, 64]),
    st.integers(1, 20), st.integers(1, 20), st.sampled_from(["none", "causal", "whole", "row", "minus infinity"]),
)  # fmt: skip
def test_attention(
    data: Any, dtype: Any, lead: tuple[int, ...], queries: int, keys: int, width: int, values: int, mask: str
) -> None:
    """Forward and backward: operands in any layout, masks that broadcast, and rows whose keys are all masked."""
    query, key, value, g = (
        data.draw(arrays((*lead, *shape), dtype, False))
        for shape in ((queries, width), (keys, width), (keys, values), (queries, values))
    )
    given_ = {"whole": (*lead, queries, keys), "row": (1, keys), "minus infinity": (queries, keys)}.get(mask)
    added = None if given_ is None else data.draw(arrays(given_, dtype, False))
    if mask == "minus infinity":
        added = np.where(np.abs(added) < 0.3, dtype(-np.inf), added)
        added[-1] = -np.inf
    rest = added, mask == "causal", 0.3
    check(compiled_products.attended, attention.attended, query, key, value, *rest, None)
    tape: list[Any] = []
    attention.attended.__wrapped__(query, key, value, *rest, tape)
    if tape:
        needs = data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
        check(
            compiled_products.attention_cotangents, attention.attention_cotangents, g, query, key, value, added,
            (*needs, False), *rest[1:], tape, size=16.0,
        )  # fmt: skip


@MANY
@given(st.data(), DTYPES, st.integers(1, 6), st.sampled_from([1, 7, 16, 33]), st.sampled_from([1, 5, 18]))
def test_steps(data: Any, dtype: Any, length: int, batch: int, n: int) -> None:
    inputs, half = 3, lambda *shape: np.ascontiguousarray(data.draw(arrays(shape, dtype, False))) / 2
    z, rows_of = half(length + 1, inputs + 1 + n, batch), inputs + 1 + n
    given_ = data.draw(st.sampled_from([[None] * length, half(length, n, batch)]))
    weights = half(2 * n, rows_of), half(n, n + 1), half(n, inputs + 1)
    check(
        steps.gru_steps,
        recurrent._gru_steps,
        *weights,
        z,
        np.empty((length, 4 * n, batch), dtype),
        results=(3, 4),
        size=16,
    )
    gates = half(length, 4 * n, batch)
    check(
        steps.gru_steps_back,
        recurrent._gru_steps_back,
        gates,
        z,
        half(n, 3 * n),
        half(n, batch),
        given_,
        np.empty_like(gates),
        results=(3, 5),
        size=64,
    )
    for tanh in (True, False):
        check(steps.rnn_steps, recurrent._rnn_steps, z, half(n, rows_of), tanh, results=(0,), size=16)
    check(
        steps.rnn_steps_back,
        recurrent._rnn_steps_back,
        half(length, n, batch),
        half(n, n),
        half(n, batch),
        given_,
        results=(0, 2),
        size=64,
    )


@MANY
@given(st.data(), DTYPES, st.sampled_from([1, 3, 70]), st.sampled_from([1, 2, 15, 16, 17, 63, 300, 5000]))
def test_rows_and_columns(data: Any, dtype: Any, m: int, n: int) -> None:
    x = data.draw(arrays((m, n), dtype, False))
    check(rows.row_sums, large._many_row_sums, x, size=math.sqrt(n))
    check(rows.column_sums, large.column_sums, x, size=m)

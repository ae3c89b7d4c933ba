"""Reading, writing and adding at places: on every path that size, layout and dtype choose, beside plain loops.

`test_ops_index` compares with PyTorch; here the expected values are NumPy's, and sums are compared digit by digit, as
each is the sum in the order of the index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as W
from wengert._arrays import accumulate as _accumulate
from wengert._ops.indexing import _along

DTYPES = ["float32", "float64", "complex64", "int64", "int32", "uint8", "float16", "bool"]


def drawn(rng: Any, shape: Any, dtype: str) -> Any:
    """Numbers of which sums depend on the order of the additions."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    a = rng.standard_normal(shape) * 10.0 ** rng.integers(0, 3, shape)
    if dtype == "complex64":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def added(r: Any, at: Any, values: Any) -> Any:
    """Rows of ``values`` added to those of ``r``, one after the other."""
    r = r.copy()
    for i, v in zip(at.tolist(), values, strict=True):
        r[i] = r[i] | v if r.dtype.kind == "b" else r[i] + v
    return r


# ------------------------------------------------------------------------------------------------------- rows are added
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DTYPES), st.sampled_from([1, 2, 3, 64]), st.sampled_from([0, 1, 5, 60, 3000]), st.integers(1, 50),
    st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_rows_are_added_in_their_order(dtype: str, run: int, n: int, rows: int, compiled: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    at = rng.integers(0, rows, n)
    r, values = drawn(rng, (rows, run), dtype), drawn(rng, (n, run), dtype)
    expected = added(r, at, values)
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:  # SciPy's module may be missing one day
            patch.setattr(_accumulate, "_compiled", lambda: None)
        _accumulate.add_rows(r, at, run, values)
    np.testing.assert_array_equal(r, expected)


def test_infinities_and_nans_are_added_as_numbers_are() -> None:
    for dtype in (np.float32, np.complex64):
        r = np.zeros((3, 300), dtype)
        values = np.full((4, 300), np.inf, dtype)
        values[1] = -np.inf
        values[2] = 1
        _accumulate.add_rows(r, np.array([0, 0, 1, 2]), 300, values)
        assert np.isnan(r[0]).all()
        assert (r[1] == 1).all()
        assert (r[2] == np.inf).all()


def test_the_compiled_module_is_found_without_the_package_around_it() -> None:
    tools = _accumulate._compiled()
    assert callable(tools.csc_matvecs)
    assert callable(tools.csc_matvec)


@pytest.mark.parametrize("rows", [5, 400])
@pytest.mark.parametrize("index_dtype", [W.int64, W.int32])
def test_gradients_of_repeated_rows_are_sums_in_order(rows: int, index_dtype: Any) -> None:
    rng = np.random.default_rng(0)
    i = rng.integers(-20, 20, rows)
    g = drawn(rng, (rows, 7), "float32")
    expected = added(np.zeros((20, 7), np.float32), i % 20, g)
    x = W.zeros(20, 7, requires_grad=True)
    x[W.tensor(i, dtype=index_dtype)].backward(W.tensor(g))
    np.testing.assert_array_equal(x.grad.numpy(), expected)
    source = W.tensor(g, requires_grad=True)
    z = W.zeros(20, 7).index_put((W.tensor(i, dtype=index_dtype),), source, accumulate=True)
    np.testing.assert_array_equal(z.detach().numpy(), expected)
    z.sum().backward()
    assert (source.grad == 1).all()


def test_an_index_that_was_changed_behind_the_tape_is_refused() -> None:
    """The compiled loops look at no bounds, so what NumPy's owner did to an index is found before them."""
    shared = np.arange(300) % 4
    x = W.zeros(4, 3, requires_grad=True)
    y = x[W.from_numpy(shared)]
    shared[7] = 10**9
    with pytest.raises(IndexError, match="index 1000000000 is out of bounds for dimension 0 with size 4"):
        y.sum().backward()


# ---------------------------------------------------------------------------------------------------- along a dimension
SHAPES = [
    ((6, 5), (4, 3)),
    ((40, 70), (40, 70)),
    ((7, 9, 11), (6, 9, 10)),
    ((300, 400), (299, 400)),
    ((3, 300, 200), (3, 300, 199)),
    ((90_000,), (70_000,)),
]


@pytest.mark.parametrize(("shape", "lengths"), SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_along_every_dimension(shape: Any, lengths: Any, threads: int, turned: bool) -> None:
    """``gather``, ``scatter``, ``scatter_add`` and their gradients, small and in blocks, on one thread and on two."""
    rng = np.random.default_rng(0)
    before = W.get_num_threads()
    W.set_num_threads(threads)
    try:
        for dim in range(len(shape)):
            i = rng.integers(0, shape[dim], tuple(n if d == dim else min(n, shape[d]) for d, n in enumerate(lengths)))
            a, s = drawn(rng, shape, "float32"), drawn(rng, i.shape, "float32")
            if turned:
                i, s = np.asfortranarray(i), np.asfortranarray(s)
            places = tuple(np.indices(i.shape)[d] if d != dim else i for d in range(i.ndim))
            index = W.from_numpy(i)
            x, v = W.tensor(a, requires_grad=True), W.from_numpy(s).clone().requires_grad_()
            np.testing.assert_array_equal(x.gather(dim, index).detach().numpy(), a[places])
            total, last = a.copy(), a.copy()
            np.add.at(total, places, s)
            y = x.scatter_add(dim, index, v)
            np.testing.assert_array_equal(y.detach().numpy(), total)
            last[places] = s  # of several the last stays, in NumPy too
            np.testing.assert_array_equal(x.scatter(dim, index, v).detach().numpy(), last)
            g = drawn(rng, shape, "float32")
            y.backward(W.from_numpy(g))
            np.testing.assert_array_equal(v.grad.numpy(), g[places])
            x.grad = None
            x.gather(dim, index).backward(W.from_numpy(s))
            back = np.zeros(shape, np.float32)
            np.add.at(back, places, s)
            np.testing.assert_array_equal(x.grad.numpy(), back)
    finally:
        W.set_num_threads(before)


@pytest.mark.parametrize("width", [3, 2000])
def test_an_index_expanded_from_rows(width: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, 50)
    a, s = drawn(rng, (9, width), "float32"), drawn(rng, (50, width), "float32")
    index = W.tensor(rows)[:, None].expand(50, width)
    x = W.tensor(a)
    np.testing.assert_array_equal(x.gather(0, index).numpy(), a[rows])
    np.testing.assert_array_equal(x.scatter_add(0, index, W.tensor(s)).numpy(), added(a, rows, s))
    put = a.copy()
    put[rows] = s
    np.testing.assert_array_equal(x.scatter(0, index, W.tensor(s)).numpy(), put)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_parts_taken_along_every_dimension(threads: int) -> None:
    rng = np.random.default_rng(0)
    a = drawn(rng, (30, 20, 50), "float32")
    before = W.get_num_threads()
    W.set_num_threads(threads)
    try:
        for dim, n in enumerate(a.shape):
            for shape in ((4000,), (2, 1500), (0,)):
                i = rng.integers(-n, n, shape)
                key = (slice(None),) * dim
                np.testing.assert_array_equal(W.tensor(a)[(*key, W.tensor(i))].numpy(), a[(*key, i)])
            i = rng.integers(0, n, 4000)
            i[-1] = n
            with pytest.raises(IndexError, match=f"index {n} is out of bounds for dimension {dim} with size {n}"):
                W.tensor(a)[(*key, W.tensor(i))]
    finally:
        W.set_num_threads(before)


def test_lines_of_nothing() -> None:
    for dim in (0, 1):
        assert _along.along((0, 3), np.zeros((0, 3), np.int64), dim).shape == (0, 3)
        assert W.zeros(4, 0).sort(dim)[1].shape == (4, 0)


@pytest.mark.parametrize("bad", [-1, 4])
def test_an_index_out_of_range_is_refused_before_anything_is_written(bad: int) -> None:
    x, i = W.ones(4, 4), W.zeros(4, 4, dtype=W.int64)
    i[3, 3] = bad
    text = f"index {bad} is out of bounds for dimension 1 with size 4"
    for call in (
        lambda: x.gather(1, i),
        lambda: x.scatter(1, i, 2.0),
        lambda: x.scatter_(1, i, 2.0),
        lambda: x.scatter_(1, i, x.clone()),
        lambda: x.scatter_add(1, i, x.clone()),
        lambda: x.scatter_add_(1, i, x.clone()),
        lambda: W.vmap(lambda j: x[0].gather(0, j))(i),
    ):
        with pytest.raises(RuntimeError, match="is out of bounds"):
            call()
    with pytest.raises(RuntimeError, match=text):
        x.gather(1, i)
    j = W.tensor([0, bad])
    for call in (
        lambda: x.index_select(0, j),
        lambda: x.index_add_(0, j, W.ones(2, 4)),
        lambda: x.index_put_((j.abs() + 3,), W.ones(2, 4)),
        lambda: x.__setitem__((slice(None), j.abs() + 3), 7.0),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            call()
    assert (x == 1).all()


# ---------------------------------------------------------------------------------------------------------------- masks
@pytest.mark.parametrize("shape", [(40, 50), (5, 8), (2000,)])
@pytest.mark.parametrize("leading", [False, True])
def test_masks_large_and_small(shape: Any, leading: bool) -> None:
    rng = np.random.default_rng(0)
    a = drawn(rng, (*shape, 3) if leading else shape, "float32")
    m = rng.random(shape) < 0.4
    x, mask = W.tensor(a, requires_grad=True), W.tensor(m)
    y = x[mask]
    np.testing.assert_array_equal(y.detach().numpy(), a[m])
    g = drawn(rng, a[m].shape, "float32")
    y.backward(W.tensor(g))
    back = np.zeros_like(a)
    back[m] = g
    np.testing.assert_array_equal(x.grad.numpy(), back)
    for value in (7.0, g):
        z, expected = W.tensor(a), a.copy()
        expected[m] = value
        z[mask] = value if isinstance(value, float) else W.tensor(value)
        np.testing.assert_array_equal(z.numpy(), expected)
    turned = W.tensor(a).transpose(0, -1)
    np.testing.assert_array_equal(turned[turned > 0].numpy(), a.swapaxes(0, -1)[a.swapaxes(0, -1) > 0])
    turned[turned > 0] = 1.0
    assert (turned <= 1).all()


@pytest.mark.parametrize("width", [0, 1, 3, 70])
@pytest.mark.parametrize("count", [5, 200])
def test_rows_written(width: int, count: int) -> None:
    rng = np.random.default_rng(0)
    i = rng.integers(-30, 30, count)
    for dtype in ("float32", "complex64", "uint8", "bool"):
        a, v = drawn(rng, (30, width), dtype), drawn(rng, (count, width), dtype)
        expected = a.copy()
        expected[i] = v  # of several the last stays
        for values in (v, np.asfortranarray(v)):
            x = W.tensor(a)
            x[W.tensor(i)] = W.from_numpy(values)
            np.testing.assert_array_equal(x.numpy(), expected)
            np.testing.assert_array_equal(W.tensor(a).index_put((W.tensor(i),), W.from_numpy(values)).numpy(), expected)
        if not width and np.lib.NumpyVersion(np.__version__) < "2.3.0":
            continue  # where nothing would be written, older NumPy does not look at the index
        x = W.tensor(a)
        with pytest.raises(IndexError, match="index 30 is out of bounds for dimension 0 with size 30"):
            x[W.tensor([*i, 30])] = W.tensor(np.concatenate((v, v[:1])))
        np.testing.assert_array_equal(x.numpy(), a)


@pytest.mark.parametrize("key", [[2**63], [2**70], ([0, 2**63],)])
def test_a_list_of_numbers_too_large_for_int64(key: Any) -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        W.zeros(3)[key]


def test_a_mask_of_another_shape_is_no_mask_of_these_rows() -> None:
    x = W.zeros(2000, 2)
    with pytest.raises(IndexError, match="The shape of the mask"):
        x[W.ones(1999, dtype=W.bool)]
    with pytest.raises(RuntimeError):
        x[W.ones(2000, dtype=W.bool)] = W.ones(3, 2)
    assert not x.any()


# ------------------------------------------------------------------------------------------------ written straight into
def writes() -> dict[str, Any]:
    i, j = W.tensor([[0, 1], [1, 0]]), W.tensor([1, 0])
    v, m = W.tensor([[5.0, 6.0], [7.0, 8.0]]), W.tensor([[True, False], [False, True]])
    return {
        "scatter_": lambda x: x.scatter_(1, i, v),
        "scatter_ of a number": lambda x: x.scatter_(1, i, 3.0),
        "scatter_ of a part": lambda x: x.scatter_(1, i[:1], v),
        "scatter_add_": lambda x: x.scatter_add_(0, i, v),
        "index_add_": lambda x: x.index_add_(0, j, v),
        "index_put_": lambda x: x.index_put_((j, j), v[0]),
        "index_fill_": lambda x: x.index_fill_(1, j[:1], 9.0),
        "masked_fill_": lambda x: x.masked_fill_(m, 9.0),
        "x[i, j] = v": lambda x: x.__setitem__((j, j), v[0]) or x,
        "x[:, j] = 2.": lambda x: x.__setitem__((slice(None), j[:1]), 2.0) or x,
        "normal_": lambda x: x.normal_(generator=W.Generator().manual_seed(0)),
    }


@pytest.mark.parametrize("name", writes())
def test_a_direct_write_is_a_write(name: str) -> None:
    """The values of the recorded form, one version more, and a saved value that went stale is an error."""
    write = writes()[name]
    start = W.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = start.clone()
    version = x._version
    assert write(x) is x
    assert x._version == version + 1
    recorded = start.clone().requires_grad_() * 1.0
    write(recorded)
    np.testing.assert_array_equal(x.numpy(), recorded.detach().numpy())
    recorded.sum().backward()
    w = W.ones(2, 2, requires_grad=True)
    y = start.clone()
    product = w * y
    write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        write(w)
    with W.no_grad():
        assert write(w) is w
    part = W.zeros(3, 2, 2)
    write(part[1])
    assert not part[0].any() and not part[2].any()
    turned = start.clone().t()
    write(turned)
    other = start.t().clone()
    write(other)
    if name != "normal_":  # which draws in another way into what is not contiguous
        np.testing.assert_array_equal(turned.numpy(), other.numpy())


def test_operands_that_share_memory_are_read_first() -> None:
    """Of those with gaps, the others are refused: PyTorch 2.13 gave these numbers."""
    y = W.arange(4.0)
    y.index_add_(0, W.tensor([1, 2]), y[::2])
    assert y.tolist() == [0.0, 1.0, 4.0, 3.0]
    y = W.arange(4.0)
    y.index_copy_(0, W.tensor([1, 2]), y[::2])
    assert y.tolist() == [0.0, 0.0, 2.0, 3.0]
    k = W.tensor([1, 2, 0])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        k.scatter_(0, k, k.clone())
    assert k.tolist() == [1, 2, 0]


def test_sixteen_bit_and_large_numbers_go_the_long_way() -> None:
    x = W.zeros(2, dtype=W.float16)
    with pytest.raises(RuntimeError, match="without overflow"):
        x.scatter_(0, W.tensor([0]), 1e6)
    with pytest.raises(RuntimeError, match="without overflow"):
        W.zeros(2).scatter_(0, W.tensor([0]), 1e39)
    with pytest.raises(RuntimeError, match="without overflow"):
        W.zeros(2).index_fill_(0, W.tensor([0]), 1e39)
    assert not x.any()

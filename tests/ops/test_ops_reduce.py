"""Reductions, extrema, norms, scans, softmax, sorting, statistics, counting: what the generated tests cannot know.

Derivatives, forward mode and vmap of every operator are checked by test_every_op.py. Here: values at the edges (empty,
0-dimensional, ties, zeros, nan), dtypes, errors, and PyTorch's own answers where it is installed.
"""

from __future__ import annotations

import bisect
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as wg

INF, NAN = math.inf, math.nan


def values(t: Any) -> np.ndarray:
    return t.detach().numpy()


def grad(f: Callable[[Any], Any], x: Any, dtype: Any = None) -> np.ndarray:
    """The gradient of f at x for a cotangent of ones."""
    leaf = wg.tensor(x, dtype=dtype or wg.float64, requires_grad=True)
    y = f(leaf)
    y.backward(wg.ones_like(y))
    assert leaf.grad is not None
    return values(leaf.grad)


def hessian(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    """Second derivatives of a scalar function."""
    leaf = wg.tensor(x, dtype=wg.float64, requires_grad=True)
    (g,) = wg.autograd.grad(f(leaf), leaf, create_graph=True)
    rows = [wg.autograd.grad(g[i], leaf, retain_graph=True)[0] for i in range(len(x))]
    return np.stack([values(r) for r in rows])


def same(a: Any, b: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------------------------------------------------- sums, means
def test_sum_takes_every_form_of_dims() -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    x = wg.tensor(a)
    for dim in (None, 0, -1, (0, 2), [1], (-1, 0), (0, 1, 2)):
        axis = None if dim is None else tuple(dim) if isinstance(dim, (tuple, list)) else dim
        for keep in (False, True):
            same(values(x.sum(dim, keep)), a.sum(axis, keepdims=keep))
            same(values(wg.mean(x, dim, keepdim=keep)), a.mean(axis, keepdims=keep))
    same(values(x.sum(())), a.sum())
    same(values(x.sum(axis=1, keepdims=True)), a.sum(1, keepdims=True))
    same(values(x.sum(np.int64(1))), a.sum(1))
    assert x.sum(dim=None, keepdim=True).shape == (1, 1, 1)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16"])
def test_integers_add_up_and_multiply_in_int64(dtype: str) -> None:
    x = wg.tensor([1, 1, 100] if dtype != "bool" else [True, True, True]).to(getattr(wg, dtype))
    for f in (wg.sum, wg.prod, lambda t: wg.sum(t, 0), lambda t: wg.cumsum(t, 0), lambda t: wg.cumprod(t, 0)):
        assert f(x).dtype is wg.int64
    if dtype == "int8":
        assert (x * 1).sum().item() == 102 and wg.cumprod(x, 0).tolist() == [1, 1, 100]
    assert x.sum(dtype=wg.int32).dtype is wg.int32
    assert x.prod(0, dtype=wg.uint8).dtype is wg.uint8


def test_half_precision_adds_up_in_single() -> None:
    x = wg.ones(5000, dtype=wg.float16)
    assert x.sum().item() == 5000.0 and x.sum().dtype is wg.float16
    assert x.sum(0).item() == 5000.0 and x.mean().item() == 1.0
    assert wg.ones(5000, 2, dtype=wg.float16).sum(0).tolist() == [5000.0, 5000.0]
    assert wg.cumsum(x, 0)[-1].item() == 5000.0
    assert wg.softmax(x, 0).dtype is wg.float16


def test_sums_are_pairwise() -> None:
    x = wg.full((10**6,), 0.1, dtype=wg.float32)
    assert abs(x.sum().item() - 1e5) < 0.1


def test_of_nothing() -> None:
    e, e3 = wg.empty(0), wg.empty(0, 3)
    assert e.sum().item() == 0 and e.prod().item() == 1 and math.isnan(e.mean().item())
    assert e3.sum(0).tolist() == [0, 0, 0] and e3.sum(1).shape == (0,)
    assert np.isnan(values(e3.mean(0))).all()
    assert e.all().item() is True and e.any().item() is False
    assert e.logsumexp(0).item() == -INF and e.norm().item() == 0
    assert e.softmax(0).shape == (0,) and e.cumsum(0).shape == (0,) and e.cummax(0).indices.shape == (0,)
    assert e.sort().indices.dtype is wg.int64 and e.unique().shape == (0,)
    assert math.isnan(e.median().item())
    for name in ("max", "min", "amax", "amin"):
        with pytest.raises(
            RuntimeError, match=rf"{name}\(\): Expected reduction dim to be specified for input.numel\(\)"
        ):
            getattr(e, name)()
        with pytest.raises(IndexError, match=rf"{name}\(\): Expected reduction dim 0 to have non-zero size"):
            getattr(e3, name)(0)
        r = getattr(e3, name)(1)
        assert (r if name.startswith("a") else r.values).shape == (0,)
    with pytest.raises(IndexError, match=r"argmax\(\): Expected reduction dim to be specified"):
        e.argmax()
    with pytest.raises(RuntimeError, match="cannot compute the inf norm on an empty tensor"):
        e.norm(INF)
    with pytest.raises(RuntimeError, match="quantile"):
        e.quantile(0.5)


def test_a_scalar_has_dims_0_and_minus_1() -> None:
    s = wg.tensor(2.0, requires_grad=True)
    for f in (
        lambda t, d: t.sum(d), lambda t, d: t.mean(d), lambda t, d: t.prod(d), lambda t, d: t.amax(d),
        lambda t, d: t.max(d).values, lambda t, d: t.cumsum(d), lambda t, d: t.cumprod(d), lambda t, d: t.cummin(d)[0],
        lambda t, d: t.sort(d).values, lambda t, d: t.topk(1, d).values, lambda t, d: t.logsumexp(d),
        lambda t, d: t.median(d).values, lambda t, d: t.mode(d)[0], lambda t, d: t.kthvalue(1, d)[0],
        lambda t, d: t.logcumsumexp(d), lambda t, d: t.norm(dim=d),
    ):  # fmt: skip
        for d in (0, -1):
            y = f(s, d)
            assert y.shape == () and y.item() == 2.0
            (g,) = wg.autograd.grad(y, s)
            assert g.shape == () and g.item() == 1.0
        with pytest.raises(IndexError, match=r"expected to be in range of \[-1, 0\], but got 1"):
            f(s, 1)
    assert s.argmax(0).item() == 0 and s.softmax(0).item() == 1.0


def test_dims_are_refused_as_in_pytorch() -> None:
    x = wg.ones(2, 3)
    for f in (x.sum, x.mean, x.amax, x.std, x.softmax, x.cumsum, x.max, x.argmin, x.sort, x.all, x.logsumexp, x.median):
        with pytest.raises(
            IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2"
        ):
            f(2)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        x.sum((0, -2))
    for bad in (1.0, "a", True):
        with pytest.raises(TypeError):
            x.sum(bad)
        with pytest.raises(TypeError):
            x.max(bad)
    with pytest.raises(TypeError, match=r"cumsum\(\): argument 'dim' .* must be int, not tuple"):
        x.cumsum((0, 1))
    with pytest.raises(TypeError, match=r"sum\(\): argument 'input' \(position 1\) must be Tensor, not int"):
        wg.sum(3)


def test_mean_is_for_floating_dtypes() -> None:
    i = wg.tensor([1, 2])
    with pytest.raises(RuntimeError, match=r"mean\(\): could not infer output dtype. Input dtype .* Got: Long"):
        i.mean()
    with pytest.raises(RuntimeError, match=r"Input dtype .* Got: Bool"):
        wg.tensor([True]).mean(0)
    with pytest.raises(RuntimeError, match=r"Optional dtype .* Got: Int"):
        wg.ones(2).mean(dtype=wg.int32)
    assert i.mean(dtype=wg.float64).item() == 1.5


def test_nansum_nanmean() -> None:
    x = [[1.0, NAN], [NAN, NAN]]
    assert wg.nansum(wg.tensor(x)).item() == 1.0
    assert wg.nansum(wg.tensor(x), 1).tolist() == [1.0, 0.0]
    assert values(wg.nanmean(wg.tensor(x), 1))[0] == 1.0 and np.isnan(values(wg.nanmean(wg.tensor(x), 1))[1])
    same(grad(wg.nansum, x), [[1, 0], [0, 0]])
    same(grad(wg.nanmean, [1.0, NAN, 5.0]), [0.5, 0, 0.5])


def test_all_any_of_uint8_are_uint8() -> None:
    u = wg.tensor([0, 3], dtype=wg.uint8)
    assert u.all().dtype is wg.uint8 and u.any(0).dtype is wg.uint8 and u.any().item() == 1
    f = wg.tensor([[0.0, NAN], [1.0, 2.0]])
    assert f.all(1).tolist() == [False, True] and f.any(0).tolist() == [True, True]
    assert f.all(()).shape == (2, 2) and f.all((0, 1)).item() is False


def test_out_is_written_and_resized() -> None:
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = wg.empty(0)
    assert wg.sum(x, 0, out=out) is out and out.tolist() == [4.0, 6.0]
    v, i = wg.empty(2), wg.empty(2, dtype=wg.int64)
    r = wg.max(x, 1, out=(v, i))
    assert v.tolist() == [2.0, 4.0] and i.tolist() == [1, 1] and r.values is v
    largest = wg.tensor([1.0, 2.0])  # as optimizers with AMSGrad keep it
    assert wg.max(largest, wg.tensor([2.0, 1.0]), out=largest) is largest and largest.tolist() == [2.0, 2.0]
    assert wg.min(largest, other=wg.tensor([1.0, 3.0]), out=largest).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        wg.sum(x.requires_grad_(), 0, out=out)


# ------------------------------------------------------------------------------------------------------------- products
def all_products(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of a product, by multiplying out."""
    n = len(x)
    first = np.array([np.prod(np.delete(x, i)) for i in range(n)])
    second = np.array([[0.0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(n)] for i in range(n)])
    return first, second


@pytest.mark.parametrize("x", [[2.0, 3.0, -1.5], [0.0, 3.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [5.0]])
def test_prod_and_cumprod_have_right_derivatives_at_zeros(x: list[float]) -> None:
    a = np.array(x)
    first, second = all_products(a)
    for f in (wg.prod, lambda t: t.prod(0), lambda t: t.cumprod(0)[-1] if len(x) > 1 else t.prod()):
        same(grad(f, x), first)
        same(hessian(f, x), second)
    # the gradient of the sum of the running products, again multiplied out
    running = sum(np.pad(all_products(a[: k + 1])[0], (0, len(a) - k - 1)) for k in range(len(a)))
    same(grad(lambda t: t.cumprod(0), x), running)


def test_third_order_of_prod_at_zeros() -> None:
    x = wg.tensor([0.0, 2.0, 0.0, 3.0], dtype=wg.float64, requires_grad=True)
    (g,) = wg.autograd.grad(x.prod(), x, create_graph=True)
    (h,) = wg.autograd.grad(g[0], x, create_graph=True)
    (k,) = wg.autograd.grad(h[2], x)
    assert k.tolist() == [0.0, 3.0, 0.0, 2.0]


def test_prod_of_infinity_sends_no_nan() -> None:
    assert grad(wg.prod, [INF, 2.0, 3.0]).tolist() == [6.0, INF, INF]


@pytest.mark.parametrize("shape", [(1000,), (3, 50), (200, 30), (40, 5, 6)])
def test_the_recurrence_behind_cumprod(shape: tuple[int, ...]) -> None:
    from wengert._base.registry import ARRAYS

    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, shape), rng.standard_normal(shape)
    for dim in range(len(shape)):
        for transposed in (False, True):
            h = ARRAYS._recurrence(a, b, dim, transposed)
            x, y, z = (np.moveaxis(v, dim, 0) for v in (a, b, h))
            if transposed:
                same(z[:-1], y[:-1] + x[1:] * z[1:])
                same(z[-1], y[-1])
            else:
                same(z[1:], y[1:] + x[1:] * z[:-1])
                same(z[0], y[0])


# -------------------------------------------------------------------------------------------------------------- extrema
def test_results_are_named_tuples_like_pytorch_s() -> None:
    r = wg.max(wg.tensor([[1.0, 3.0], [4.0, 2.0]]), 1)
    assert isinstance(r, tuple) and r[0] is r.values and len(r) == 2
    assert repr(r) == "torch.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 0]))"
    v, i = r
    assert v.tolist() == [3.0, 4.0] and i.dtype is wg.int64
    assert type(r)([1, 2]).indices == 2
    with pytest.raises(TypeError, match=r"torch.return_types.max\(\) takes a 2-sequence \(1-sequence given\)"):
        type(r)((1,))
    again = pickle.loads(pickle.dumps(type(r)((1, 2))))
    assert type(again) is type(r) and again.values == 1
    for name, call in {
        "sort": lambda t: t.sort(), "topk": lambda t: t.topk(1), "kthvalue": lambda t: t.kthvalue(1),
        "median": lambda t: t.median(0), "nanmedian": lambda t: t.nanmedian(0), "mode": lambda t: t.mode(),
        "cummax": lambda t: t.cummax(0), "cummin": lambda t: t.cummin(0), "min": lambda t: t.min(0),
        "aminmax": lambda t: t.aminmax(), "histogram": lambda t: t.histogram(2),
    }.items():  # fmt: skip
        assert repr(call(wg.tensor([1.0, 2.0]))).startswith(f"torch.return_types.{name}(")


def test_the_three_forms_of_max() -> None:
    x, y = wg.tensor([[1.0, 5.0], [7.0, 3.0]]), wg.tensor([[2.0, 2.0], [2.0, 9.0]])
    assert x.max().item() == 7.0 and wg.min(x).item() == 1.0
    assert x.max(dim=0).values.tolist() == [7.0, 5.0] and x.max(0, True).values.shape == (1, 2)
    assert x.max(axis=-1).indices.tolist() == [1, 0]
    assert wg.max(x, y).tolist() == [[2.0, 5.0], [7.0, 9.0]] and x.min(other=y).tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert x.max(wg.tensor(4.0)).tolist() == [[4.0, 5.0], [7.0, 4.0]]


def test_ties() -> None:
    t = [2.0, 2.0, 1.0]
    same(grad(wg.max, t), [0.5, 0.5, 0])
    same(grad(wg.amax, t), [0.5, 0.5, 0])
    same(grad(lambda x: x.max(0)[0], t), [1, 0, 0])
    same(grad(lambda x: x.aminmax()[1], t), [0.5, 0.5, 0])
    same(grad(lambda x: x.cummax(0)[0], t), [1, 2, 0])
    x = wg.tensor([1, 3, 3, 0, 0])
    assert x.argmax().item() == 1 and x.argmin(0).item() == 3 and x.max(0).indices.item() == 1
    assert wg.tensor([1.0, 1.0, 2.0, 2.0]).cummax(0).indices.tolist() == [0, 1, 2, 3]


def test_nan_wins() -> None:
    n = [1.0, NAN, -2.0]
    x = wg.tensor(n)
    assert math.isnan(x.max().item()) and math.isnan(x.amin().item()) and x.argmax().item() == 1
    assert x.min(0).indices.item() == 1
    same(grad(wg.max, n), [0, 1, 0])
    assert wg.tensor([1.0, NAN, 3.0, NAN, 0.0]).cummax(0).indices.tolist() == [0, 1, 1, 3, 3]
    assert math.isnan(x.median().item()) and x.nanmedian().item() == -2.0


def test_extrema_refuse_what_has_no_order() -> None:
    c = wg.tensor([1 + 2j, 3 - 1j])
    for name in ("max", "min", "amax", "amin", "median", "mode", "sort", "topk", "cummax"):
        with pytest.raises((NotImplementedError, RuntimeError)):
            getattr(c, name)(*((1,) if name == "topk" else (0,) if name == "cummax" else ()))
    with pytest.raises(RuntimeError, match="does not support bool input"):
        wg.tensor([True]).argmax()


# ---------------------------------------------------------------------------------------------------------------- norms
@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, 3.5, INF, -INF, -1, -2.5])
def test_norms_are_what_they_say(p: float) -> None:
    a = np.random.default_rng(1).standard_normal((3, 4))
    x = wg.tensor(a)
    for axis in (None, 0, 1):
        expected = np.linalg.norm(a.reshape(-1) if axis is None else a, p, axis)
        same(values(wg.linalg.vector_norm(x, p, axis)), expected)
        same(values(x.norm(p, axis)), expected)


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, INF, -INF, -1])
def test_the_gradient_of_a_norm_at_zero_is_zero(p: float) -> None:
    assert grad(lambda x: x.norm(p), [0.0, 0.0]).tolist() == [0.0, 0.0]
    assert grad(lambda x: wg.dist(x, wg.zeros(2, dtype=wg.float64), p), [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_norm_of_order_two_is_right_beside_a_zero_row() -> None:
    g = grad(lambda x: x.norm(dim=1), [[3.0, 4.0], [0.0, 0.0]])
    same(g, [[0.6, 0.8], [0, 0]])
    assert np.isfinite(hessian(lambda x: x.norm(), [0.0, 0.0])).all()


def test_norm_checks_its_arguments() -> None:
    with pytest.raises(RuntimeError, match=r"Expected a floating point or complex tensor as input. Got Long"):
        wg.tensor([1]).norm()
    with pytest.raises(RuntimeError, match="should be convertible without narrowing"):
        wg.linalg.vector_norm(wg.ones(2, dtype=wg.float64), dtype=wg.float32)
    with pytest.raises(RuntimeError, match=r"If dim is not specified but ord is, the input must be 1D or 2D. Got 3D"):
        wg.linalg.norm(wg.ones(1, 1, 1), 2)
    with pytest.raises(TypeError, match=r"'ord' .* must be Number, not str"):
        wg.linalg.vector_norm(wg.ones(2), "fro")
    assert wg.linalg.norm(wg.ones(2, 2)).item() == 2.0 and wg.linalg.norm(wg.tensor([3.0, 4.0]), 1).item() == 7.0
    assert wg.linalg.vector_norm(wg.tensor([3 + 4j])).dtype is wg.float32


def test_renorm() -> None:
    x = wg.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], dtype=wg.float64)
    same(values(x.renorm(2, 0, 1.0)), [[0.6, 0.8], [0.3, 0.4], [0, 0]], 1e-7)
    same(grad(lambda t: t.renorm(2, 0, 1.0)[1:], values(x)), [[0, 0], [1, 1], [1, 1]])
    with pytest.raises(RuntimeError, match="non-positive-norm not supported"):
        x.renorm(-1, 0, 1.0)


# ---------------------------------------------------------------------------------------------------------------- scans
def test_scans_run_in_double_as_pytorch_s() -> None:
    a = np.random.default_rng(0).standard_normal(10000).astype(np.float32)
    assert (values(wg.tensor(a).cumsum(0)) == np.cumsum(a.astype(float)).astype(np.float32)).all()
    b = (1 + a / 100).astype(np.float32)
    assert (values(wg.tensor(b).cumprod(0)) == np.cumprod(b.astype(float)).astype(np.float32)).all()


def test_scans_of_large_arrays_go_part_by_part() -> None:
    a = np.random.default_rng(0).standard_normal((40, 50, 60)).astype(np.float32)
    for v in (a, a[::2], a.transpose(2, 0, 1)):
        for d in range(3):
            x = wg.tensor(v, requires_grad=True)
            y = x.cumsum(d)
            assert (values(y) == np.cumsum(v.astype(float), d).astype(np.float32)).all()
            y.backward(wg.tensor(v))
            backward = np.flip(np.cumsum(np.flip(v.astype(float), d), d), d).astype(np.float32)
            assert (values(x.grad) == backward).all()


def test_scans_in_place() -> None:
    x = wg.tensor([1, 2, 3], dtype=wg.int32)
    assert x.cumsum_(0) is x and x.dtype is wg.int32 and x.tolist() == [1, 3, 6]
    y = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = y * 1
    z.cumprod_(0)
    z.sum().backward()
    assert z.tolist() == [1.0, 2.0, 6.0] and y.grad.tolist() == [9.0, 4.0, 2.0]


def test_logcumsumexp() -> None:
    x = [-INF, 0.0, 1000.0, 999.0, -INF]  # PyTorch's gradient at the first is nan: log(0) of nothing but zeros
    y = values(wg.tensor(x, dtype=wg.float64).logcumsumexp(0))
    assert y[0] == -INF and y[1] == 0.0 and y[2] == 1000.0
    same(y[3], 1000 + math.log1p(math.exp(-1)))
    largest = 1 / (1 + math.exp(-1))
    same(grad(lambda t: t.logcumsumexp(0)[-1], x)[1:], [0, largest, 1 - largest, 0])


def test_diff() -> None:
    a = np.array([[1.0, 4.0, 9.0], [2.0, 3.0, 5.0]])
    x = wg.tensor(a)
    for n, dim in itertools.product((0, 1, 2, 5), (0, 1, -1)):
        assert (
            values(wg.diff(x, n, dim)) == (np.diff(a, n, dim) if n <= a.shape[dim] else np.diff(a, a.shape[dim], dim))
        ).all()
    assert wg.diff(x, prepend=wg.zeros(2, 1, dtype=wg.float64)).tolist() == [[1, 3, 5], [2, 1, 2]]
    assert wg.diff(wg.tensor([True, False, False])).tolist() == [True, False]
    with pytest.raises(RuntimeError, match="order must be non-negative but got -1"):
        x.diff(-1)
    with pytest.raises(RuntimeError, match=r"input.size\(0\) = 2, but got tensor.size\(0\) = 3"):
        x.diff(prepend=wg.zeros(3, 1, dtype=wg.float64))


def test_trapezoids() -> None:
    y = wg.tensor([1.0, 2.0, 3.0])
    assert wg.trapezoid(y).item() == 4.0 and wg.trapz(y, dx=2).item() == 8.0
    assert wg.trapezoid(y, wg.tensor([0.0, 1.0, 3.0])).item() == 6.5
    assert wg.cumulative_trapezoid(y).tolist() == [1.5, 4.0]
    assert wg.trapezoid(wg.ones(2, 0)).tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="There must be one `x` value for each sample point"):
        wg.trapezoid(wg.ones(2, 4), wg.ones(3))


def test_gradient() -> None:
    a = np.random.default_rng(0).standard_normal((4, 5))
    x = wg.tensor(a)
    points = [np.array([0.0, 0.5, 2.0, 2.5]), np.array([0.0, 1.0, 1.5, 3.0, 4.0])]
    for order in (1, 2):
        for ours, theirs in zip(wg.gradient(x, edge_order=order), np.gradient(a, edge_order=order), strict=True):
            same(values(ours), theirs)
        for ours, theirs in zip(
            wg.gradient(x, spacing=[wg.tensor(p) for p in points], edge_order=order),
            np.gradient(a, *points, edge_order=order),
            strict=True,
        ):
            same(values(ours), theirs)
    same(values(wg.gradient(x, spacing=0.5, dim=1)[0]), np.gradient(a, 0.5, axis=1))
    with pytest.raises(RuntimeError, match="only supports edge_order=1 and edge_order=2"):
        wg.gradient(x, edge_order=3)
    with pytest.raises(RuntimeError, match=r"at least edge_order\+1"):
        wg.gradient(wg.ones(1))


# -------------------------------------------------------------------------------------------------------------- softmax
@pytest.mark.parametrize("shape", [(4,), (3, 5), (2000, 10), (100, 100), (3, 5000), (40, 30, 20)])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_softmax_on_every_path(shape: tuple[int, ...], scale: float) -> None:
    """Small and large, narrow rows and long ones, with and without the need to look for maxima."""
    a = np.random.default_rng(0).standard_normal(shape) * scale
    for dim in range(len(shape)):
        e = np.exp(a - a.max(dim, keepdims=True))
        expected = e / e.sum(dim, keepdims=True)
        for dtype, tolerance in ((wg.float64, 1e-12), (wg.float32, 1e-4)):
            x = wg.tensor(a, dtype=dtype, requires_grad=True)
            y = x.softmax(dim)
            z = x.log_softmax(dim)
            np.testing.assert_allclose(values(y), expected, rtol=tolerance * scale, atol=tolerance / 100)
            logs = a - a.max(dim, keepdims=True) - np.log(e.sum(dim, keepdims=True))
            np.testing.assert_allclose(values(z), logs, rtol=tolerance, atol=tolerance * scale)
            g = np.random.default_rng(1).standard_normal(shape)
            y.backward(wg.tensor(g, dtype=dtype))
            np.testing.assert_allclose(
                values(x.grad), expected * (g - (g * expected).sum(dim, keepdims=True)), atol=tolerance * scale
            )
            x.grad = None
            z.backward(wg.tensor(g, dtype=dtype))
            np.testing.assert_allclose(
                values(x.grad),
                g - expected * g.sum(dim, keepdims=True),
                rtol=tolerance * 10,
                atol=tolerance * scale * 10,
            )


def test_softmax_at_infinity() -> None:
    assert wg.softmax(wg.tensor([1000.0, 1000.0, -INF]), 0).tolist() == [0.5, 0.5, 0.0]
    assert np.isnan(values(wg.softmax(wg.tensor([-INF, -INF]), 0))).all()
    large = wg.full((100, 100), -INF)
    large[:, 0] = 0.0
    assert (values(wg.softmax(large, 1))[:, 0] == 1.0).all()
    assert wg.log_softmax(wg.tensor([-INF, 1.0]), 0).tolist() == [-INF, 0.0]
    same(grad(lambda x: x.log_softmax(0), [-INF, 1.0]), [1, -1])


def test_log_softmax_keeps_the_digits_near_zero() -> None:
    x = wg.full((100, 100), 0.0)
    x[:, 0] = 20.0
    small = values(wg.log_softmax(x, 1))[:, 0]
    np.testing.assert_allclose(small, -math.log1p(99 * math.exp(-20)), atol=1.2e-7)
    assert (small <= 0).all()


def test_softmax_of_integers_needs_a_dtype() -> None:
    i = wg.tensor([[1, 2], [3, 4]])
    with pytest.raises(NotImplementedError, match="softmax_lastdim_kernel_impl\" not implemented for 'Long'"):
        i.softmax(1)
    assert i.softmax(1, dtype=wg.float64).dtype is wg.float64
    assert wg.nn.functional.softmin(i, dim=1, dtype=wg.float32)[0, 0] > 0.5
    with pytest.raises(TypeError, match="must be int, not NoneType"):
        wg.softmax(wg.ones(2), None)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_old_programs_leave_out_the_dim(name: str) -> None:
    f = getattr(wg.nn.functional, name)
    for shape, dim in (((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 1, 2, 2), 1)):
        x = wg.randn(*shape)
        with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name} has been deprecated") as caught:
            y = f(x)
        assert caught[0].filename == __file__
        assert (y == f(x, dim=dim)).all()


def test_softmax_saves_its_result_only() -> None:
    x = wg.randn(3, 4, requires_grad=True)
    for y in (x.softmax(1), x.log_softmax(1)):
        assert y.grad_fn._saved_dim == 1
        assert np.shares_memory(values(y.grad_fn._saved_result), values(y))
        with pytest.raises(AttributeError):
            y.grad_fn._saved_self
    assert x.softmax(1).grad_fn.name() == "SoftmaxBackward0"


def test_logsumexp() -> None:
    a = np.random.default_rng(0).standard_normal((2, 3, 4)) * 100
    x = wg.tensor(a)
    for dim in (0, -1, (0, 2), (0, 1, 2)):
        top = a.max(dim, keepdims=True)
        expected = np.log(np.exp(a - top).sum(dim, keepdims=True)) + top
        same(values(x.logsumexp(dim, True)), expected)
        same(values(wg.special.logsumexp(x, dim)), np.squeeze(expected, dim))
    assert wg.logsumexp(wg.tensor([1, 1]), 0).dtype is wg.float32
    assert (
        wg.logsumexp(wg.tensor([-INF, -INF]), 0).item() == -INF and wg.logsumexp(wg.tensor([INF, 1.0]), 0).item() == INF
    )


# -------------------------------------------------------------------------------------------------------------- sorting
def ordered(row: list[Any], descending: bool) -> list[int]:
    """Stable order with nan above everything, in Python."""
    key = [(1, 0) if isinstance(v, float) and math.isnan(v) else (0, v) for v in row]
    return sorted(range(len(row)), key=lambda i: key[i], reverse=descending)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(7,), (3, 70), (5000,), (50, 100)])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_in_every_dtype(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    rng = np.random.default_rng(len(shape))
    a = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    if dtype.startswith("float"):
        a -= 50
        a.flat[:: max(a.size // 5, 1)] = NAN
        a.flat[1 :: max(a.size // 4, 1)] = -0.0
        a.flat[2 :: max(a.size // 3, 1)] = -INF
    elif dtype.startswith("int"):
        a -= 50
    r = wg.tensor(a).sort(descending=descending, stable=True)
    for row, v, i in zip(*(np.atleast_2d(z) for z in (a, values(r.values), values(r.indices))), strict=True):
        expected = ordered(row.tolist(), descending)
        assert i.tolist() == expected
        np.testing.assert_array_equal(v, row[expected])
    # along another dim, through the same code
    other = wg.tensor(np.ascontiguousarray(np.moveaxis(a, -1, 0))).sort(0, descending)
    np.testing.assert_array_equal(np.moveaxis(values(other.values), 0, -1), values(r.values))


def test_integers_beyond_32_bits_sort_right() -> None:
    a = np.random.default_rng(0).integers(-(2**62), 2**62, 5000)
    a[:10] = a[10:20]
    assert (values(wg.tensor(a).sort().values) == np.sort(a)).all()
    assert (values(wg.tensor(a).argsort()) == np.argsort(a, kind="stable")).all()
    big = wg.tensor(np.array([3_000_000_000, 5, 4_000_000_000] * 1000, dtype=np.uint32))
    assert (np.diff(values(big.sort().values).astype(np.int64)) >= 0).all()


@pytest.mark.parametrize(("n", "k"), [(5, 3), (5, 5), (100, 7), (5000, 10), (5000, 4000), (5, 0)])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_is_the_start_of_sort(n: int, k: int, largest: bool) -> None:
    a = np.random.default_rng(0).permutation(n).astype(np.float32)
    x = wg.tensor(np.stack([a, -a]))
    r, s = x.topk(k, 1, largest), x.sort(1, largest)
    assert (r.values == s.values[:, :k]).all() and (r.indices == s.indices[:, :k]).all()
    if k:
        kth = wg.tensor(a).kthvalue(k)
        assert kth.values.item() == np.sort(a)[k - 1] and a[kth.indices.item()] == kth.values.item()


def test_sorting_sends_gradients_back_to_their_places() -> None:
    x = [3.0, 1.0, 2.0]
    w = wg.tensor([1.0, 10.0, 100.0], dtype=wg.float64)
    same(grad(lambda t: t.sort().values * w, x), [100, 1, 10])
    same(grad(lambda t: wg.msort(t) * w, x), [100, 1, 10])
    same(grad(lambda t: t.topk(2).values * w[:2], x), [1, 0, 10])
    same(grad(lambda t: t.kthvalue(2).values, x), [0, 0, 1])
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        wg.tensor(x).topk(4)
    with pytest.raises(RuntimeError, match=r"kthvalue\(\): selected number k out of range for dimension 0"):
        wg.tensor(x).kthvalue(0)


def test_unique() -> None:
    x = wg.tensor([[3, 1, 3], [2, 1, 3]])
    u, inverse, counts = wg.unique(x, return_inverse=True, return_counts=True)
    assert u.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 3] and (u[inverse] == x).all()
    assert wg.unique(wg.tensor([NAN, NAN, 1.0])).shape == (3,)
    rows = wg.tensor([[1, 2], [0, 5], [1, 2]])
    v, inv, c = rows.unique(dim=0, return_inverse=True, return_counts=True)
    assert v.tolist() == [[0, 5], [1, 2]] and inv.tolist() == [1, 0, 1] and c.tolist() == [1, 2]
    assert rows.unique(dim=1).tolist() == [[1, 2], [0, 5], [1, 2]]
    w, inv, c = wg.unique_consecutive(wg.tensor([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True)
    assert w.tolist() == [1, 2, 1] and inv.tolist() == [0, 0, 1, 1, 2] and c.tolist() == [2, 2, 1]
    assert wg.unique_consecutive(rows, dim=0).tolist() == rows.tolist()
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions"):
        wg.empty(2, 0).unique(dim=0)
    f = wg.tensor([1.0, 2.0], requires_grad=True).unique()
    assert f.grad_fn.name() == "Unique2Backward0"
    with pytest.raises(NotImplementedError, match="the derivative for '_unique2' is not implemented"):
        f.sum().backward()


@pytest.mark.parametrize(
    "call",
    [
        "T.histogram(x, 3)", "T.histogram(y, 3, weight=x)", "T.histogram(y, edges)", "T.histogramdd(x[:, None], 2)",
        "T.histogramdd(y[:, None], [2], weight=x)", "T.histogramdd(y[:, None], [edges])",
        "T.bincount(T.arange(4), x)", "T.binomial(T.full((4,), 3.), x)",
    ],
)  # fmt: skip
def test_results_that_are_recorded_without_a_derivative(torch: ModuleType, call: str) -> None:
    said: dict[Any, list[Any]] = {}
    for T in (torch, wg):
        x, edges = T.tensor([0.1, 0.3, 0.4, 0.9], requires_grad=True), T.tensor([0.0, 0.5, 1.0], requires_grad=True)
        run = lambda x, T=T, edges=edges: eval(call, {"T": T, "x": x, "y": x.detach(), "edges": edges})
        said[T] = []
        for t in (
            itertools.chain(*(r if isinstance(r, tuple) else (r,) for r in run(x))) if "histo" in call else (run(x),)
        ):
            said[T].append((type(t.grad_fn).__name__, t.requires_grad, t is edges))
            if t is not edges:
                with pytest.raises(RuntimeError, match="derivative for aten::") as caught:
                    t.sum().backward()
                said[T].append(str(caught.value).splitlines()[0])
        with T.no_grad():
            assert not run(x)[0].requires_grad
        if "edges" not in call:
            with pytest.raises(NotImplementedError, match="Trying to use forward AD with aten") as caught:
                T.func.jvp(run, (x.detach(),), (x.detach(),))
            said[T].append(str(caught.value))
    assert said[torch] == said[wg]


def test_searchsorted_agrees_with_bisect() -> None:
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 20, (6, 15)), 1)
    points = rng.integers(-2, 23, (6, 9))
    for right in (False, True):
        find = bisect.bisect_right if right else bisect.bisect_left
        expected = [[find(r.tolist(), v) for v in p.tolist()] for r, p in zip(rows, points, strict=True)]
        assert wg.searchsorted(wg.tensor(rows), wg.tensor(points), right=right).tolist() == expected
        one = [[find(rows[0].tolist(), v) for v in p.tolist()] for p in points]
        assert wg.searchsorted(wg.tensor(rows[0]), wg.tensor(points), right=right).tolist() == one
        assert wg.bucketize(wg.tensor(points), wg.tensor(rows[0]), right=right).tolist() == one
    s = wg.tensor([1.0, 3.0, 5.0])
    assert wg.searchsorted(s, 3).item() == 1 and wg.searchsorted(s, 3, side="right").item() == 2
    assert wg.searchsorted(s.long(), 3.5).item() == 2 and wg.searchsorted(s, wg.tensor([NAN])).item() == 3
    assert wg.searchsorted(s, s, out_int32=True).dtype is wg.int32
    assert wg.searchsorted(s.flip(0), s, sorter=wg.tensor([2, 1, 0])).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="side can only be 'left' or 'right' but got up"):
        wg.searchsorted(s, s, side="up")
    with pytest.raises(RuntimeError, match="must match, but we got boundaries tensor"):
        wg.searchsorted(wg.tensor(rows), wg.tensor([1, 2]))


def test_isin() -> None:
    x = wg.tensor([[1, 2], [3, 4]])
    assert wg.isin(x, wg.tensor([2, 3])).tolist() == [[False, True], [True, False]]
    assert wg.isin(x, 2, invert=True).tolist() == [[True, False], [True, True]]
    assert wg.isin(3, x).item() is True
    with pytest.raises(TypeError, match=r"isin\(\) received an invalid combination of arguments - got \(int, int\)"):
        wg.isin(1, 2)


# ----------------------------------------------------------------------------------------------------------- statistics
def test_spread_reads_every_signature() -> None:
    a = np.random.default_rng(0).standard_normal((3, 4))
    x = wg.tensor(a)
    same(values(x.var()), a.var(ddof=1))
    same(values(x.var(False)), a.var())
    same(values(x.std(0, False)), a.std(0))
    same(values(x.std(0, True, True)), a.std(0, ddof=1, keepdims=True))
    same(values(x.std(dim=[1], correction=2)), a.std(1, ddof=2))
    same(values(x.var(unbiased=False, dim=1, keepdim=True)), a.var(1, keepdims=True))
    same(values(x.var(correction=1.5)), ((a - a.mean()) ** 2).sum() / 10.5)
    v, m = wg.var_mean(x, 1)
    same(values(v), a.var(1, ddof=1))
    same(values(m), a.mean(1))
    s, _ = wg.std_mean(x, dim=0, correction=0)
    same(values(s), a.std(0))
    with pytest.raises(TypeError, match=r"std\(\) received an invalid combination of arguments"):
        x.std(0, 0)
    with pytest.raises(TypeError):
        x.var(dim=0, correction=0, unbiased=True)
    with pytest.raises(RuntimeError, match="std and var only support floating point and complex dtypes"):
        wg.tensor([1, 2]).std()


def test_spread_of_one_element() -> None:
    one = wg.tensor([2.0], requires_grad=True)
    with pytest.warns(UserWarning, match=r"std\(\): degrees of freedom is <= 0") as caught:
        y = one.std()
    assert caught[0].filename == __file__
    assert math.isnan(y.item())
    y.backward()
    assert math.isnan(one.grad.item())
    two = wg.tensor([1.0, 3.0], requires_grad=True)
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        two.var(correction=4).backward()
    assert two.grad.tolist() == [1.0, -1.0]  # 2 / (2 - 4) times the distance from the mean
    assert wg.tensor([2.0]).std(correction=0).item() == 0.0
    assert grad(lambda x: x.std(), [1.0, 1.0]).tolist() == [0.0, 0.0]


def test_second_derivative_of_the_variance() -> None:
    h = hessian(lambda x: x.var(), [1.0, 5.0, -2.0])
    same(h, np.eye(3) - 1 / 3)
    same(hessian(lambda x: x.var(correction=0), [1.0, 5.0, -2.0]), (np.eye(3) - 1 / 3) * 2 / 3)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_the_median_of_nothing_is_nan_as_its_dtype_has_it(torch: ModuleType, name: str) -> None:
    for dtype in ("int64", "int32", "int16", "uint8", "float32"):
        mine, theirs = (getattr(t.zeros(0, 2, dtype=getattr(t, dtype)), name)() for t in (wg, torch))
        assert str(mine.dtype) == str(theirs.dtype) and repr(mine.item()) == repr(theirs.item())


def test_median_and_mode() -> None:
    x = wg.tensor([[4.0, 1.0, 3.0, 2.0], [NAN, 1.0, 5.0, 3.0]])
    assert x[0].median().item() == 2.0 and x[0].median(0).indices.item() == 3
    r = x.median(1)
    assert r.values[0] == 2.0 and math.isnan(r.values[1].item()) and r.indices[1] == 0
    assert x.nanmedian(1).values.tolist() == [2.0, 3.0] and x.nanmedian().item() == 3.0
    assert x.nanmedian(1, True).indices.tolist() == [[3], [3]]
    same(grad(lambda t: t.median(), [1.0, 2.0, 2.0]), [0, 0.5, 0.5])
    m = wg.tensor([[2, 1, 2, 1, 3], [5, 5, 5, 0, 0]]).mode(1)
    assert m.values.tolist() == [1, 5] and m.indices.tolist() == [3, 2]
    with pytest.raises(NotImplementedError, match="median_cpu\" not implemented for 'Bool'"):
        wg.tensor([True]).median()


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles(interpolation: str) -> None:
    a = np.random.default_rng(0).standard_normal((5, 7))
    q = np.array([0.0, 0.13, 0.5, 0.91, 1.0])
    for dim in (None, 0, 1):
        expected = np.quantile(a, q, dim, method=interpolation)
        same(values(wg.quantile(wg.tensor(a), wg.tensor(q), dim, interpolation=interpolation)), expected)
        same(values(wg.tensor(a).quantile(0.3, dim, True, interpolation=interpolation)),
             np.quantile(a, 0.3, dim, keepdims=True, method=interpolation))  # fmt: skip
    a[1, 2:4] = NAN
    assert np.isnan(values(wg.quantile(wg.tensor(a), 0.5, 1, interpolation=interpolation))).tolist() == [0, 1, 0, 0, 0]
    same(values(wg.nanquantile(wg.tensor(a), 0.4, 1, interpolation=interpolation)),
         np.nanquantile(a, 0.4, 1, method=interpolation))  # fmt: skip


def test_quantile_is_differentiable_in_both() -> None:
    same(grad(lambda x: x.quantile(0.25), [3.0, 1.0, 2.0]), [0, 0.5, 0.5])
    x = wg.tensor([3.0, 1.0, 2.5], dtype=wg.float64)
    same(grad(lambda q: wg.quantile(x, q), 0.3), 3.0)
    with pytest.raises(RuntimeError, match=r"quantile\(\) q must be in the range \[0, 1\] but got 1.5"):
        x.quantile(1.5)
    with pytest.raises(RuntimeError, match="q tensor must be same dtype as the input tensor"):
        x.quantile(wg.tensor([0.5]))
    with pytest.raises(RuntimeError, match="must be one of linear, lower, higher, midpoint or nearest, but got cubic"):
        x.quantile(0.5, interpolation="cubic")


def test_counting() -> None:
    i = wg.tensor([1, 2, 2])
    assert i.bincount().tolist() == [0, 1, 2] and i.bincount(minlength=5).tolist() == [0, 1, 2, 0, 0]
    assert i.bincount(wg.tensor([0.5, 0.5, 1.0])).dtype is wg.float32
    assert i.bincount(wg.ones(3, dtype=wg.float16)).dtype is i.bincount(i).dtype is wg.float64
    with pytest.raises(RuntimeError, match="bincount only supports 1-d non-negative integral inputs"):
        wg.tensor([-1]).bincount()
    x = wg.tensor([3.0, 1.0, 2.0, 0.5])
    assert x.histc(4).tolist() == [2.0, 0.0, 1.0, 1.0] and x.histc(4, 0, 2).tolist() == [0.0, 1.0, 1.0, 1.0]
    assert wg.full((3,), 2.0).histc(3).tolist() == [0.0, 3.0, 0.0]
    with pytest.raises(RuntimeError, match="is not finite"):
        wg.tensor([INF, 1.0]).histc(3)
    hist, edges = wg.histogram(x, 4)
    assert hist.tolist() == [2.0, 0.0, 1.0, 1.0] and edges.tolist() == [0.5, 1.125, 1.75, 2.375, 3.0]
    assert wg.histogram(x, wg.tensor([0.0, 1.0, 4.0]), density=True).hist.tolist() == [0.25, 0.25]
    grid = wg.histogramdd(wg.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 2])
    assert grid.hist.tolist() == [[0.0, 1.0], [1.0, 1.0]] and len(grid.bin_edges) == 2


def test_covariance_and_correlation() -> None:
    a = np.random.default_rng(0).standard_normal((3, 6))
    x = wg.tensor(a)
    same(values(wg.cov(x)), np.cov(a))
    same(values(x.corrcoef()), np.corrcoef(a))
    f, w = np.array([1, 2, 1, 3, 1, 1]), np.random.default_rng(1).random(6)
    for correction in (0, 1, 2):
        same(values(wg.cov(x, correction=correction, fweights=wg.tensor(f), aweights=wg.tensor(w))),
             np.cov(a, ddof=correction, fweights=f, aweights=w))  # fmt: skip
    with pytest.raises(RuntimeError, match="two or fewer dimensions but got an input with 3"):
        wg.cov(wg.ones(1, 1, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert math.isnan(wg.cov(wg.tensor(3.0)).item())
    assert "cov(): degrees of freedom is <= 0" in str(caught[0].message)


# ---------------------------------------------------------------------------------------------------- PyTorch's answers
CALLS = """
sum() | sum(0) | sum((0, -1), True) | sum(()) | mean() | mean(1) | mean((0, 2), keepdim=True) | prod()
prod(1) | prod(-1, True) | max() | min() | max(1) | min(-1, True) | amax((0, 2)) | amin() | amin(1, True)
aminmax() | aminmax(dim=2) | argmax() | argmin(1) | argmax(0, True) | all() | any(1) | count_nonzero()
count_nonzero((0, 1)) | nansum(1) | nanmean() | logsumexp(1) | logsumexp((0, 2), True) | norm() | norm(1)
norm(3, 1) | norm(0) | norm(float("inf"), (0, 1)) | norm(-1, 2, True) | norm(1.5) | norm(0.5, 0) | var()
std() | var(1) | std((0, 2), keepdim=True) | std(0, False) | var(correction=2) | median() | median(1)
nanmedian(2, True) | mode(1) | quantile(0.3) | quantile(0.7, 1, True) | nanquantile(0.5, 2) | cumsum(1)
cumprod(-1) | cummax(0) | cummin(2) | logcumsumexp(1) | diff() | diff(2, 1) | softmax(1) | softmax(0)
log_softmax(-1) | sort() | sort(0, True) | argsort(1) | topk(2) | topk(1, 1, False) | kthvalue(2, 0)
unique() | unique_consecutive() | renorm(2, 1, 0.7) | renorm(1, 0, 2.0) | histc(5, -1, 1)
"""
EVERY_CALL = [c.strip() for line in CALLS.strip().splitlines() for c in line.split("|")]


def variants(a: np.ndarray) -> dict[str, np.ndarray]:
    with_zeros = a.copy()
    with_zeros[0, 0, 0] = with_zeros[1, 2, 1] = 0.0
    return {"plain": a, "transposed": a.transpose(2, 0, 1), "every other": a[:, ::2], "with zeros": with_zeros}


@pytest.mark.parametrize("call", EVERY_CALL)
@pytest.mark.parametrize("kind", ["plain", "transposed", "every other", "with zeros"])
def test_as_pytorch(call: str, kind: str, torch: ModuleType) -> None:
    """Value, shape, dtype, node name, gradient and gradient of the gradient."""
    a = variants(np.random.default_rng(0).standard_normal((3, 4, 5)))[kind]
    found = {}
    for lib in (torch, wg):
        leaf = lib.from_numpy(a).requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(f"x.{call}", {"x": leaf})
        outs = result if isinstance(result, tuple) else (result,)
        entry: list[Any] = [(str(o.dtype), tuple(o.shape), o.grad_fn and o.grad_fn.name()) for o in outs]
        arrays = [o.detach().numpy() for o in outs]
        live = [o for o in outs if o.requires_grad]
        if live and "unique" not in call:
            weights = [lib.from_numpy(np.cos(np.arange(o.numel()) + 1.0).reshape(tuple(o.shape))) for o in live]
            scalars = [(o * w).sum() for o, w in zip(live, weights, strict=True)]
            (g,) = lib.autograd.grad(scalars, leaf, create_graph=True, allow_unused=True)
            if g is not None:
                arrays.append(g.detach().numpy())
                if g.requires_grad:
                    (h,) = lib.autograd.grad((g * g).sum(), leaf, allow_unused=True)
                    arrays.append(np.zeros(a.shape) if h is None else h.resolve_conj().numpy(force=True))
        found[lib is wg] = entry, arrays
    (theirs, their_arrays), (ours, our_arrays) = found[False], found[True]
    if call not in ("quantile(0.3)", "quantile(0.7, 1, True)", "nanquantile(0.5, 2)", "diff(2, 1)", "renorm(2, 1, 0.7)",
                    "renorm(1, 0, 2.0)", "nanmean()"):  # fmt: skip
        assert ours == theirs
    else:
        assert [e[:2] for e in ours] == [e[:2] for e in theirs]
    if len(our_arrays) < len(their_arrays):  # PyTorch's second derivative of what is linear may be explicit zeros
        assert not their_arrays.pop().any()
    for k, (x, y) in enumerate(zip(our_arrays, their_arrays, strict=False)):
        if k == len(outs) + 1:  # PyTorch's second derivatives of norms at zeros are nan, ours are not
            x = np.where(np.isnan(y), y, x)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("call", EVERY_CALL)
def test_dtypes_as_pytorch(call: str, dtype: str, torch: ModuleType) -> None:
    """Value, shape and dtype; or the same class of error with the same first sentence."""
    a = (np.random.default_rng(0).standard_normal((3, 4, 5)) * 3).astype(np.int64).astype(dtype)
    if call.startswith(("median(", "nanmedian(2", "kthvalue", "topk", "mode(", "sort", "argsort")):
        a = np.random.default_rng(0).permutation(60).reshape(3, 4, 5).astype(dtype)  # no ties: their order is anyone's
    results: list[Any] = []
    for lib in (torch, wg):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = eval(f"x.{call}", {"x": lib.from_numpy(a)})
        except (RuntimeError, NotImplementedError, TypeError, IndexError) as error:
            results.append((type(error), str(error).split("\n")[0].split(". ")[0]))
        else:
            results.append(result if isinstance(result, tuple) else (result,))
    theirs, ours = results
    if isinstance(theirs[0], type):
        assert isinstance(ours[0], type), f"PyTorch refuses: {theirs[1]}"
        if "without overflow" not in theirs[1]:  # a number that does not fit into the dtype, which is looked at first
            assert issubclass(ours[0], theirs[0]) and ours[1] == theirs[1]
        return
    assert not isinstance(ours[0], type), ours
    tolerance = {"float16": 4e-3, "float32": 1e-5}.get(dtype, 1e-6)
    ties = dtype == "bool" and call.startswith(("sort", "argsort", "mode", "topk", "kthvalue", "median"))
    for k, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        assert str(x.dtype) == str(y.dtype) and tuple(x.shape) == tuple(y.shape)
        if not (ties and (k == 1 or call.startswith("argsort"))):
            np.testing.assert_allclose(x.numpy().astype(float), y.numpy().astype(float), rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------------------------------------------------- masked
MASK = [[True, False, True], [False, False, False], [True, True, True]]
DATA = [[1.0, 9.0, 3.0], [4.0, 5.0, 6.0], [-1.0, 0.0, 2.0]]


def _rows(f: Callable[[np.ndarray], float], empty: float) -> list[float]:
    return [f(np.array(r)[np.array(m)]) if any(m) else empty for r, m in zip(DATA, MASK, strict=True)]


@pytest.mark.parametrize(
    ("name", "f", "empty"),
    [
        ("sum", np.sum, 0.0), ("prod", np.prod, 1.0), ("amax", np.max, -INF), ("amin", np.min, INF),
        ("mean", np.mean, NAN), ("median", lambda a: np.sort(a)[(len(a) - 1) // 2], NAN),
        ("logsumexp", lambda a: np.log(np.exp(a).sum()), -INF),
        ("norm", lambda a: np.sqrt((a * a).sum()), 0.0), ("var", lambda a: a.var(ddof=1), NAN),
        ("std", lambda a: a.std(ddof=1), NAN),
    ],
)  # fmt: skip
def test_masked_reductions(name: str, f: Any, empty: float) -> None:
    x, mask = wg.tensor(DATA, dtype=wg.float64), wg.tensor(MASK)
    args = (2.0, 1) if name == "norm" else (1,)
    np.testing.assert_allclose(values(getattr(wg.masked, name)(x, *args, mask=mask)), _rows(f, empty))


def test_masked_softmax_and_scans() -> None:
    x, mask = wg.tensor(DATA), wg.tensor(MASK)
    got = values(wg.masked.softmax(x, 1, mask=mask))
    assert got[0, 1] == 0
    np.testing.assert_allclose(got[0, [0, 2]], np.exp([1, 3]) / np.exp([1, 3]).sum(), rtol=1e-6)
    assert np.isnan(got[1]).all()
    np.testing.assert_allclose(values(wg.masked.cumsum(x, 1, mask=mask))[0], [1, 1, 4])
    np.testing.assert_allclose(values(wg.masked.normalize(x, 1.0, 1, mask=mask))[0], [0.25, 0, 0.75])
    assert values(wg.masked.argmax(x, 1, mask=mask)).tolist() == [2.0, 0.0, 2.0]
    with pytest.raises(IndexError, match="expected broadcastable mask"):
        wg.masked.sum(wg.ones(2), mask=wg.ones(2, 2) > 0)
    with pytest.raises(AttributeError, match="no attribute 'MaskedTensors'"):
        wg.masked.MaskedTensors


def test_masked_gradient_is_zero_where_masked() -> None:
    x = wg.tensor(DATA, requires_grad=True)
    wg.masked.sum(x * x, mask=wg.tensor(MASK)).backward()
    np.testing.assert_allclose(values(x.grad), 2 * np.array(DATA) * np.array(MASK))


# ----------------------------------------------------------------------------------------------------- numerical care
@pytest.mark.parametrize(("shape", "dim"), [((100_000, 3), 0), ((2, 50_000, 4), 1)])
def test_sums_of_many_rows_are_added_up_in_blocks(shape: tuple[int, ...], dim: int) -> None:
    a = (np.random.default_rng(0).standard_normal(shape) + 1).astype(np.float32)
    exact = a.astype(np.float64)
    for got, want in (
        (wg.from_numpy(a).sum(dim), exact.sum(dim)),
        (wg.from_numpy(a).mean(dim), exact.mean(dim)),
        (wg.from_numpy(a).var(dim), exact.var(dim, ddof=1)),
    ):
        np.testing.assert_allclose(values(got), want, rtol=2e-6)
    assert wg.from_numpy(a).sum(dim, keepdim=True).shape == tuple(1 if d == dim else n for d, n in enumerate(shape))


def test_std_does_not_overflow() -> None:
    x = wg.tensor([1e30, 1e30, -1e30])
    assert x.std().item() == pytest.approx(1.1547005e30)
    assert wg.tensor([1e-30, 0.0]).std().item() == pytest.approx(1e-30 / math.sqrt(2))


def test_gradients_at_nan_and_infinities() -> None:
    assert np.isnan(grad(lambda x: x.amax(-1), [NAN, 1.0])).all()
    g = grad(lambda x: x.logcumsumexp(0), [INF, 1.0, 2.0])
    assert np.isnan(g[0])
    assert g[1:].tolist() == [0.0, 0.0]
    x = wg.tensor([1.0, NAN, 3.0], dtype=wg.float64, requires_grad=True)
    for loss in (wg.nn.functional.huber_loss, wg.nn.functional.smooth_l1_loss):
        (g,) = wg.autograd.grad(loss(x, wg.zeros(3, dtype=wg.float64), reduction="sum"), x)
        assert np.isnan(values(g)).tolist() == [False, True, False]


def test_keepdim_is_no_second_dim() -> None:
    with pytest.raises(TypeError, match=r"argument 'keepdim' .* must be bool, not int") as caught:
        wg.ones(2, 3).sum(0, 1)
    assert "x.sum((0, 1))" in caught.value.__notes__[0]


# --------------------------------------------------------------------------------------------------------------- hashes
def test_hash_tensor() -> None:
    assert wg.hash_tensor(wg.tensor([1, 2, 4])).item() == 7
    bits = int(np.float64(1.5).view(np.uint64))
    assert wg.hash_tensor(wg.tensor([1.5])).item() == bits
    assert wg.hash_tensor(wg.tensor([[1, 2], [3, 4]]), 1, keepdim=True).tolist() == [[3], [7]]
    with pytest.raises(RuntimeError, match="Unknown hash_tensor mode: 1"):
        wg.hash_tensor(wg.ones(2), mode=1)


def test_the_product_of_a_number_has_no_second_derivative() -> None:
    x = wg.tensor(2.0, requires_grad=True)
    for product in (x.prod(), x.cumprod(0)):
        (g,) = wg.autograd.grad(product, x, create_graph=True)
        assert g.item() == 1 and not g.requires_grad  # as in PyTorch


@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 5), (20, 30), (70, 80)])
def test_covariance_is_the_same_with_and_without_a_graph(shape: tuple[int, ...]) -> None:
    x = wg.randn(shape)
    x.view(-1)[0] = float("inf") if shape == (3, 4) else -0.0
    for fn in (wg.cov, wg.corrcoef):
        with np.errstate(all="raise"):
            plain, recorded = fn(x), fn(x.clone().requires_grad_())
        assert plain.stride() == recorded.stride() and plain.dtype is wg.float32
        assert plain.numpy().tobytes() == recorded.detach().numpy().tobytes()
    assert wg.cov(wg.tensor([[1, 2, 3], [2, 4, 6]])).tolist() == [[1.0, 2.0], [2.0, 4.0]]

"""Indexing, and reading and writing at places: beside NumPy, beside PyTorch, and their gradients."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as W
from wengert._base.modes import watching
from wengert._base.registry import ARRAYS, REGISTRY
from wengert._tape.tensor import wrap


def names(t: Any) -> list[str]:
    """The names of the nodes along first inputs."""
    found = []
    node = t.grad_fn
    while node is not None:
        found.append(node.name().removeprefix("torch::autograd::"))
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def as_tensors(T: Any, key: Any) -> Any:
    """A key in which NumPy arrays stand for index tensors."""
    if isinstance(key, tuple):
        return tuple(as_tensors(T, k) for k in key)
    return T.from_numpy(key.copy()) if isinstance(key, np.ndarray) else key


ATOMS = [
    0, 1, -1, 5, slice(None), slice(1, None), slice(None, -1), slice(0, 5, 2), slice(3, 1), None, Ellipsis, True, False,
    [0, 1], [1, 0, 1], [True, False], np.array([1, 0]), np.array([[0, 1]]), np.array([-1, 0]), np.array([], np.int64),
    np.array([1, 0], np.int32), np.array(1), np.array([True, False]), np.array([True, False, True]),
    np.ones((2, 3), bool), np.array([True, False, True, True]), np.array(True), np.int64(1),
]  # fmt: skip
KEYS = st.one_of(st.sampled_from(ATOMS), st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map(tuple))
SHAPES = st.sampled_from([(2, 3, 4), (2, 3), (4,), (2, 2, 2, 2), (), (0, 3), (3, 2, 4)])


def attempt(fn: Any) -> Any:
    """What a function returns, or the class of the error it raises."""
    try:
        return fn()
    except (IndexError, RuntimeError, ValueError, TypeError) as error:
        return type(error)


# ------------------------------------------------------------------------------------------------ x[...] beside PyTorch
@settings(max_examples=400)
@given(SHAPES, KEYS, st.booleans())
def test_reading_is_pytorchs(shape: tuple[int, ...], key: Any, fortran: bool) -> None:
    """Value, view or not, the nodes of every step, the gradient; and the class of what is refused."""
    torch = pytest.importorskip("torch")
    values = np.asarray(np.arange(float(np.prod(shape))).reshape(shape), order="F" if fortran else "C")
    seen = []
    for T in (torch, W):
        x = T.from_numpy(values.copy(order="K")).requires_grad_()
        y = attempt(lambda x=x, T=T: x[as_tensors(T, key)])
        if isinstance(y, type):
            seen.append(y.__name__)
            continue
        (g,) = T.autograd.grad((y * y).sum(), x)
        seen.append((tuple(y.shape), names(y), y._is_view(), y.detach().numpy().tolist(), g.numpy().tolist()))
    assert seen[0] == seen[1]


@settings(max_examples=400)
@given(SHAPES, KEYS, st.sampled_from(["number", "scalar", "full", "row", "ones"]), st.sampled_from([0, 1, 2, 3]))
def test_writing_is_pytorchs(shape: tuple[int, ...], key: Any, value: str, track: int) -> None:
    """The values, the version, the base's history and both gradients, with the tensor and the value tracked or not."""
    torch = pytest.importorskip("torch")
    part = attempt(lambda: torch.zeros(shape)[as_tensors(torch, key)])
    if isinstance(part, type):
        return
    shapes = {"scalar": (), "full": part.shape, "row": part.shape[-1:], "ones": (1,) * max(part.ndim, 1)}
    seen = []
    for T in (torch, W):
        a, b = (T.tensor(2.0, requires_grad=True) for _ in range(2))
        x = T.arange(float(np.prod(shape))).reshape(shape).clone()
        x = x * a if track & 1 else x
        if value == "number":
            v = 7.5
        else:
            n = int(np.prod(shapes[value]))
            v = T.arange(1.0, n + 1).reshape(tuple(shapes[value]))
            v = v * b if track & 2 else v
        error = attempt(lambda x=x, v=v, T=T: x.__setitem__(as_tensors(T, key), v))
        if error is not None:
            seen.append(error.__name__)
            continue
        facts = [x.detach().numpy().tolist(), x._version, x.requires_grad, names(x)]
        if x.requires_grad:
            grads = T.autograd.grad((x * x).sum(), (a, b), allow_unused=True)
            facts += [None if g is None else round(g.item(), 3) for g in grads]
        seen.append(facts)
    assert seen[0] == seen[1]


# --------------------------------------------------------------------------------------------------------- beside NumPy
@given(st.lists(st.sampled_from([0, -1, slice(None), slice(1, 3), slice(0, 9, 2), None]), max_size=4), st.booleans())
def test_basic_keys_are_numpys(key: list[Any], dots: bool) -> None:
    """Ints, slices, None and ... read and write what NumPy's do, as views."""
    a = np.arange(24.0).reshape(2, 3, 4)
    k = tuple(key) + ((...,) if dots else ())
    try:
        expected = a[k]
    except IndexError:
        with pytest.raises(IndexError):
            wrap(a.copy())[k]
        return
    x = wrap(a.copy())
    y = x[k]
    np.testing.assert_array_equal(y.numpy(), expected)
    assert np.shares_memory(y.numpy(), x.numpy()) or not expected.size
    b = a.copy()
    b[k] = -1
    x[k] = -1.0
    np.testing.assert_array_equal(x.numpy(), b)


def test_an_int_is_no_index_tensor() -> None:
    """Unlike NumPy, PyTorch takes ints first: the dimensions stay in order."""
    x = W.arange(24.0).reshape(2, 3, 4)
    assert tuple(x[0, :, [1, 2]].shape) == (3, 2)
    assert np.asarray(x.numpy())[0, :, [1, 2]].shape == (2, 3)


def test_hot_paths_save_what_the_operators_save() -> None:
    """x[i] for one int or one index tensor does not go through the operators, but must make the same nodes."""
    x = W.arange(6.0).reshape(3, 2).requires_grad_()
    i = W.tensor([0, 2])
    for fast, operator in (
        (x[1], REGISTRY["select"].op(x, 0, 1)),
        (x[-1], REGISTRY["select"].op(x, 0, 2)),
        (x[1:], REGISTRY["slice_dim"].op(x, 0, 1, 3, 1)),
        (x[:, None], REGISTRY["unsqueeze_dim"].op(x, 1)),
        (x.t(), REGISTRY["matrix_t"].op(x)),
    ):
        assert type(fast.grad_fn) is type(operator.grad_fn)
        assert (fast.grad_fn.params, fast.grad_fn.shape) == (operator.grad_fn.params, operator.grad_fn.shape)
        assert fast._view[1:] == operator._view[1:]
    for fast, operator in (
        (x[i], REGISTRY["index"].op([x, i], (0,))),
        (x[:, W.tensor([1])], REGISTRY["index"].op([x, W.tensor([1])], (1,))),
        (x.gather(0, i[:, None]), REGISTRY["gather"].op(x, i[:, None], 0)),
        (x.masked_fill(x > 1, 0.5), REGISTRY["masked_fill"].op(x, x > 1, 0.5)),
        (W.cat([x, x], 1), REGISTRY["cat"].op([x, x], 1)),
        (W.stack([x, x], 1), REGISTRY["stack"].op([x, x], 1)),
    ):
        mine, theirs = fast.grad_fn, operator.grad_fn
        assert type(mine) is type(theirs)
        assert mine.fx == theirs.fx
        assert [type(s) for s in mine.values] == [type(s) for s in theirs.values]
        assert str([s for s in mine.values if isinstance(s, (tuple, int))]) == str(
            [s for s in theirs.values if isinstance(s, (tuple, int))]
        )
    for fast, operator in ((x.unbind(1), REGISTRY["unbind"].op(x, 1)), (x.split(2), REGISTRY["split"].op(x, 2, 0))):
        for a, b in zip(fast, operator, strict=True):
            assert (a.grad_fn.values, a.grad_fn.outputs_meta, a.output_nr, a._view[1:]) == (
                b.grad_fn.values, b.grad_fn.outputs_meta, b.output_nr, b._view[1:],
            )  # fmt: skip


# -------------------------------------------------------------------------------------------------- adding up at places
@pytest.mark.parametrize(
    ("n", "m", "width"), [(10, 4, 1), (50, 64, 3), (5, 300, 7), (64, 64, 40), (20, 6, 600), (3, 0, 2)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "float16"])
def test_index_add_adds_every_time(n: int, m: int, width: int, dtype: str) -> None:
    """Whatever way is taken (few, many, long, all different rows), it is NumPy's add.at, in the dtype it came in."""
    rng = np.random.default_rng(0)
    where = rng.permutation(n)[:m] if n == m else rng.integers(0, n, m)
    rows = rng.integers(-3, 4, (m, width)).astype(dtype)
    base = rng.integers(-3, 4, (n, width)).astype(dtype)
    expected = base.copy()
    np.add.at(expected, where, rows)
    x, i, v = (W.from_numpy(a.copy()) for a in (base, where, rows))
    for result in (x.index_add(0, i, v), x.clone().index_add_(0, i, v), x.index_put((i,), v, accumulate=True)):
        assert str(result.dtype) == f"torch.{dtype}"
        np.testing.assert_array_equal(result.numpy(), expected)
    back = ARRAYS.index_back([rows, where], (n, width), (0,))
    np.testing.assert_array_equal(back, expected - base)


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_gradients_of_index_tensors_anywhere(dims: tuple[int, ...]) -> None:
    """Next to each other or apart, at the front or not: what falls on one place is added up."""
    rng = np.random.default_rng(1)
    x = W.from_numpy(rng.standard_normal((3, 4, 5))).requires_grad_()
    key = tuple(W.from_numpy(rng.integers(-3, 3, (2, 3))) if d in dims else slice(None) for d in range(3))
    y = x[key]
    weight = rng.standard_normal(tuple(y.shape))
    (g,) = W.autograd.grad(y, x, W.from_numpy(weight))
    expected = np.zeros((3, 4, 5))
    np.add.at(expected, tuple(k.numpy() if isinstance(k, W.Tensor) else k for k in key), weight)
    np.testing.assert_allclose(g.numpy(), expected)


# --------------------------------------------------------------------------------------------------- gather and scatter
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_and_scatter_by_loops(dim: int) -> None:
    """Their definition, one element at a time."""
    rng = np.random.default_rng(2)
    a = rng.standard_normal((3, 4, 2))
    index = rng.integers(0, a.shape[dim], (3, 2, 2) if dim == 1 else (2, 4, 2) if dim == 0 else (3, 4, 3))
    if dim == -1:
        index = index % 2
    src = rng.standard_normal(index.shape)
    gathered = np.empty(index.shape)
    put, added = a.copy(), a.copy()
    for place in itertools.product(*map(range, index.shape)):
        there = list(place)
        there[dim] = index[place]
        gathered[place] = a[tuple(there)]
        put[tuple(there)] = src[place]
        added[tuple(there)] += src[place]
    x, i, s = (W.from_numpy(v) for v in (a, index, src))
    np.testing.assert_array_equal(x.gather(dim, i).numpy(), gathered)
    np.testing.assert_array_equal(x.mT.clone().mT.gather(dim, i).numpy(), gathered)
    np.testing.assert_array_equal(x.scatter(dim, i, s).numpy(), put)
    np.testing.assert_allclose(x.scatter_add(dim, i, s).numpy(), added)
    np.testing.assert_array_equal(
        x.clone().scatter_(dim, i, 2.5).numpy(), x.scatter(dim, i, W.full_like(s, 2.5)).numpy()
    )


EXPRESSIONS = """
x.index_select(1, i); s.index_select(0, z); x.index_add(0, i, x[:2], alpha=2); x.index_copy(0, i, x[:2] * 2)
x.index_fill(1, i, 3.0); x.index_fill(0, torch.tensor([0, 0, 1]), s); x.index_put((i,), x[:2] * 2)
x.index_put((i, i), s, True); x.index_put([i], x[0] * 2, True); x.index_put((x > 2,), s)
x.take(torch.tensor([[0, -1], [3, 3]])); x.put(torch.tensor([0, 5]), x[0, :2] * 2); s.take(z); s.put(z, s[None] * 3)
x.put(torch.tensor([1, 1]), x[0, :2] * 2, True); x.take_along_dim(x.argsort(1), 1)
x.take_along_dim(torch.tensor([[-1]]), 1); x.take_along_dim(torch.tensor([5, 0])); x.gather(1, i[None])
s.gather(0, z); x[0].gather(0, torch.tensor(1)); x.gather(0, i[:0][None]); x.scatter(1, i[None], x[:1, :2] * 2)
x.scatter(1, i[None], 5.0); x.detach().scatter(0, i[:, None], 2.0, reduce="add"); s.scatter(0, z, 3.0)
x.scatter(1, i[None], s.item()); x.detach().scatter(1, i[None], 2.0, reduce="multiply")
x.scatter_add(1, torch.tensor([[1, 1]]), x[:1, :2]); x.detach().scatter_add(0, i[:, None], x.detach())
x.scatter_reduce(0, j, x, "sum"); x.scatter_reduce(0, j, x * 2, "prod"); x.scatter_reduce(0, j, x * 2, "mean")
x.scatter_reduce(0, j, x, "amax"); x.scatter_reduce(0, j, x * 2, "amin", include_self=False)
x.scatter_reduce(0, j, x - 2, "prod", include_self=False); x.scatter_reduce(0, j, x, "mean", include_self=False)
x.index_reduce(0, i, x[:2] * 2, "mean"); x.index_reduce(1, i, x[:, :2] + 1, "prod")
x.index_reduce(0, i, x[:2], "amax", include_self=False); x.masked_select(x > 2)
x.masked_select(torch.tensor([True, False, True])); x.masked_scatter(x > 2, x * 3); x[:1].masked_scatter(x > 2, x * 3)
x.nonzero(); x.nonzero(as_tuple=True)[1]; torch.argwhere(x > 2); torch.where(x > 2)[0]
torch.nonzero_static(x, size=9); s.nonzero(); torch.nn.functional.one_hot(i); torch.nn.functional.one_hot(i[:0], 3)
torch.nn.functional.one_hot(i[None], 4); torch.nn.functional.embedding(i, x)
torch.nn.functional.embedding(j, x, padding_idx=1)
torch.nn.functional.embedding(torch.tensor([0, 0, 1]), x, scale_grad_by_freq=True)
torch.nn.functional.embedding(i, x, padding_idx=-1); torch.unravel_index(torch.tensor([5, 1]), (2, 3))[1]
torch.unravel_index(torch.tensor([5, 1], dtype=torch.int32), (2, 3))[1]
x.clone().index_add_(0, i, x[:2]); x.clone().index_copy_(0, i, x[:2]); (x * 2).index_fill_(1, i, s)
(x * 2).index_put_((i,), x[:2]); (x * 2).index_put_((x > 2,), s, accumulate=True)
(x * 2).put_(torch.tensor([0]), s[None]); (x * 2).scatter_(0, j, x); (x * 2).scatter_add_(0, j, x)
(x * 2).scatter_reduce_(0, j, x, "amax"); (x * 2).masked_scatter_(x > 2, x); (x * 2).masked_fill_(x > 2, 1.0)
(x * 2).t().index_put_((i,), s, accumulate=True); (x * 2)[0].index_add_(0, i, x[0, :2])
(x * 2).index_reduce_(0, i, x[:2], "amin")
"""
CASES = [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(";")]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("expression", CASES)
def test_as_pytorch(torch: Any, expression: str) -> None:
    """Value, dtype, name of the node and gradient."""
    seen = []
    for T in (torch, W):
        x = (T.arange(6.0).reshape(2, 3) + 0.5).requires_grad_()
        s = T.tensor(3.0, requires_grad=True)
        given = {"i": T.tensor([1, 0]), "z": T.tensor([0]), "j": T.tensor([[0, 1, 1], [1, 1, 0]])}
        y = eval(expression, {"torch": T, "x": x, "s": s, **given})
        facts = [tuple(y.shape), str(y.dtype), y.requires_grad, y.grad_fn and y.grad_fn.name()]
        values = [y.detach().numpy()]
        if y.requires_grad:
            grads = T.autograd.grad((y * y * y).sum(), (x, s), allow_unused=True)
            facts.append([g is None for g in grads])
            values += [g.numpy() for g in grads if g is not None]
        seen.append((facts, values))
    assert seen[1][0] == seen[0][0]
    for a, b in zip(seen[1][1], seen[0][1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


ERRORS = """
x[5]; x[0, 0, 0]; x[::-1]; x[::0]; x[1.5]; x["a"]; x[0:1.5]; x[torch.tensor(1.5)]; x[torch.tensor([0, 5])]
x[i, torch.tensor([0, 1, 1])]; x[torch.tensor([True, False, True])]; s[0]; s[:]
x[torch.tensor([0, 1], dtype=torch.int8)]; x[5] = 1; x[0] = torch.ones(5); x[0] = "a"; x[0] = None; x[0] = [1, 2, 3]
x[0] = 1j; x[0, 0] = torch.ones(2); x[i] = torch.ones(3, 3); x[torch.tensor([9])] = 1; x[x > 2] = torch.ones(7)
x[::-1] = 1; x.long()[i] = torch.ones(2, 3); x[0] = torch.ones(2, 3); x.gather(1, torch.tensor([[9]]))
x.gather(1, torch.tensor([[-1]])); x.gather(1, x); x.gather(1, i); x.gather(1, torch.zeros(3, 1, dtype=torch.long))
x.scatter(1, torch.tensor([[9]]), 1.0); x.scatter(1, torch.tensor([[0]]), x.double()); x.scatter(1, i, x)
x.scatter(1, torch.zeros(3, 1, dtype=torch.long), 1.0); x.scatter(1, torch.zeros(1, 5, dtype=torch.long), x)
x.scatter(1, torch.tensor([[0]]), 1.0, reduce="a"); x.scatter(1, torch.tensor([[0]]), 1j)
x.scatter_reduce(1, torch.tensor([[0]]), x, "a"); x.index_select(0, torch.tensor([9])); x.index_select(0, x)
x.index_select(0, torch.tensor([[0]])); s.index_select(0, i); x.index_add(0, i, x[:1]); x.index_add(0, i, x[:, :1])
x.index_add(0, torch.tensor([9]), x[:1]); x.index_add(0, i, x.double()); x.index_copy(0, i, x[:1])
x.index_copy(0, torch.tensor([9]), x[:1]); x.index_copy(0, i, x[0]); x.index_copy(0, i.int(), x)
x.index_fill(0, i, x); x.index_fill(0, torch.tensor([9]), 1.0); x.index_put((i,), x.double())
x.index_put((torch.tensor([9]),), x[0]); x.index_put((i,), x[:, :2]); x.take(torch.tensor([9])); x.take(x)
x.put(torch.tensor([9]), x[0, :1]); x.put(i, x[0]); x.put(i, i); x.take_along_dim(torch.tensor([0]), 0)
x.masked_select(x); x.masked_select(torch.tensor([True, False])); x.masked_scatter(x, x)
x.masked_scatter(x > 0, x[0]); x.masked_scatter(x > 0, x.double()); torch.nn.functional.one_hot(x)
torch.nn.functional.one_hot(i - 1); torch.nn.functional.one_hot(i, 1); torch.nn.functional.one_hot(i[:0])
torch.nn.functional.embedding(torch.tensor([9]), x); torch.nn.functional.embedding(x, x)
torch.nn.functional.embedding(i, x, padding_idx=5); torch.unravel_index(x, (2, 3)); x.index_reduce(0, i, x, "sum")
"""
ERROR_CASES = [e.strip() for line in ERRORS.strip().splitlines() for e in line.split(";")]


@pytest.mark.parametrize("statement", ERROR_CASES)
def test_errors_are_pytorchs(torch: Any, statement: str) -> None:
    """PyTorch's class and first line, and nothing is written."""
    seen = []
    for T in (torch, W):
        x = T.arange(6.0).reshape(2, 3)
        with pytest.raises(Exception) as caught:
            exec(statement, {"torch": T, "x": x, "s": T.tensor(1.0), "i": T.tensor([1, 0])})
        seen.append((caught.type.__name__, str(caught.value).splitlines()[0]))
        assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert seen[1] == seen[0]


# ------------------------------------------------------------------------------------------------------------ embedding
def test_embedding_renorms_in_place() -> None:
    """Rows that are read and too long are scaled down, outside of the tape; others stay."""
    weight = W.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], requires_grad=True)
    y = W.nn.functional.embedding(W.tensor([0, 1]), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.detach().numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)
    y.sum().backward()
    assert weight.grad.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert weight._version == 1


# ------------------------------------------------------------------------------------------------- inside of transforms
def programs() -> list[Any]:
    """Functions of a row and an index that read or write at places."""
    i, m = W.tensor([2, 0, 2]), W.tensor([True, False, True, True])
    return [
        lambda x, k: x[k],
        lambda x, k: x[i] * 2,
        lambda x, k: x[m],
        lambda x, k: x.reshape(2, 2)[:, k % 2],
        lambda x, k: x.reshape(2, 2)[k % 2, W.tensor([1, 1])],
        lambda x, k: x.outer(x)[:, k[None]],
        lambda x, k: x.outer(x)[W.tensor([0, 1]), :].unsqueeze(0)[W.tensor([0]), :, W.tensor([3])],
        lambda x, k: x.index_put((k[None],), x[:1] * 3, accumulate=True),
        lambda x, k: x.gather(0, k[None]),
        lambda x, k: x.scatter(0, k[None], x[1:2]),
        lambda x, k: x.scatter_add(0, i, x[1:]),
        lambda x, k: x.index_select(0, i),
        lambda x, k: x.index_add(0, i, x[1:]),
        lambda x, k: x.masked_fill(x > 0, 0.5),
        lambda x, k: W.nn.functional.embedding(k, x.outer(x)),
        lambda x, k: W.nn.functional.one_hot(k, 4) * x,
        lambda x, k: x.take_along_dim(i, 0),
        lambda x, k: W.cat([x[1:], x[: k.ndim + 1]]).chunk(2)[1],
    ]


@pytest.mark.parametrize("number", range(len(programs())))
def test_vmap_and_forward_mode(number: int) -> None:
    """What runs on a batch is what runs on each; tangents are those of the reverse formulas."""
    f = programs()[number]
    xs = W.from_numpy(np.random.default_rng(3).standard_normal((3, 4)))
    ks = W.tensor([0, 3, 1])
    for dims in ((0, 0), (0, None), (None, 0)):
        a = xs if dims[0] == 0 else xs[0]
        b = ks if dims[1] == 0 else ks[1]
        batched = W.vmap(f, in_dims=dims)(a, b)
        each = [f(a[n] if dims[0] == 0 else a, b[n] if dims[1] == 0 else b) for n in range(3)]
        np.testing.assert_allclose(batched.numpy(), W.stack(each).numpy())
    tangent = W.func.jvp(lambda x: f(x, ks[1]), (xs[0],), (xs[1],))[1]
    jacobian = W.func.jacrev(lambda x: f(x, ks[1]))(xs[0])
    np.testing.assert_allclose(tangent.numpy(), (jacobian * xs[1]).sum(-1).numpy(), atol=1e-12)


def test_a_mask_that_differs_between_the_elements_of_a_batch_is_refused() -> None:
    """The result's shape would depend on the values."""
    with pytest.raises(RuntimeError, match="vmap"):
        W.vmap(lambda x: x[x > 0])(W.ones(2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "complex64"])
@pytest.mark.parametrize("width", [1, 5, 16, 64, 3000])
@pytest.mark.parametrize("places", ["each once", "a few again", "most again", "all the same"])
def test_rows_that_fall_on_the_same_place_are_added_up(dtype: str, width: int, places: str) -> None:
    rng = np.random.default_rng(0)
    n, m = 40, 30
    at = {
        "each once": rng.permutation(n)[:m],
        "a few again": np.concatenate([rng.permutation(n)[: m - 3], [7, 7, 7]]),
        "most again": rng.integers(0, 9, m),
        "all the same": np.full(m, 3),
    }[places]
    values = rng.integers(-50, 50, (m, width)).astype(dtype)
    base = rng.integers(-50, 50, (n, width)).astype(dtype)
    want = np.zeros_like(base)
    for i, row in zip(at, values, strict=True):
        want[i] += row
    source, index = W.tensor(values), W.tensor(at)
    np.testing.assert_array_equal(W.zeros(n, width, dtype=source.dtype).index_add(0, index, source).numpy(), want)
    np.testing.assert_array_equal(W.tensor(base).index_add(0, index, source).numpy(), base + want)
    if np.dtype(dtype).kind in "fc":
        x = W.tensor(base, requires_grad=True)
        x[index].backward(source)
        np.testing.assert_array_equal(x.grad.numpy(), want)


# ------------------------------------------------------------------------------------------------------------ segments
@pytest.mark.parametrize(
    ("reduce", "f", "empty"),
    [("sum", np.sum, 0.0), ("mean", np.mean, np.nan), ("max", np.max, -np.inf), ("min", np.min, np.inf),
     ("prod", np.prod, 1.0)],
)  # fmt: skip
@pytest.mark.parametrize("by", ["lengths", "offsets"])
def test_segment_reduce(reduce: str, f: Any, empty: float, by: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    sizes = np.array([[1, 0, 4], [2, 3, 0]])
    starts = np.concatenate([np.zeros((2, 1), int), sizes.cumsum(1)], 1)
    given = {by: W.tensor(sizes if by == "lengths" else starts)}
    leaf = W.tensor(x, requires_grad=True)
    got = W.segment_reduce(leaf, reduce, axis=1, **given)
    for i in range(2):
        for j in range(3):
            part = x[i, starts[i, j] : starts[i, j + 1]]
            want = f(part, axis=0) if len(part) else np.full(3, empty)
            np.testing.assert_allclose(got[i, j].detach().numpy(), want)
    assert got.grad_fn.name() == "SegmentReduceBackward0"
    if reduce != "mean":
        finite = W.where(got.isinf(), 0.0, got)
        finite.sum().backward()
        assert leaf.grad.isfinite().all()
    full = W.tensor([[2, 3], [1, 4]])
    assert W.autograd.gradcheck(lambda x: W.segment_reduce(x, reduce, axis=1, lengths=full), (leaf,))


def test_segment_reduce_refuses() -> None:
    x = W.ones(4)
    with pytest.raises(RuntimeError, match="Expected all rows of lengths along axis to sum to"):
        W.segment_reduce(x, "sum", lengths=W.tensor([1, 1]))
    with pytest.raises(RuntimeError, match="reduce argument must be either sum, prod, mean, amax or amin, got foo"):
        W.segment_reduce(x, "foo", lengths=W.tensor([4]))
    with pytest.raises(RuntimeError, match="Either lengths or offsets must be defined"):
        W.segment_reduce(x, "sum")
    assert W.segment_reduce(x, "sum", lengths=W.tensor([1, 1]), unsafe=True).tolist() == [1.0, 1.0]
    assert W.segment_reduce(x, "prod", lengths=W.tensor([4, 0]), initial=3.0).tolist() == [3.0, 3.0]


# ---------------------------------------------------------------------------------------------------------- embeddings
def test_embedding_bag_tells_what_it_counted() -> None:
    table, indices, offsets = W.arange(12.0).view(6, 2), W.tensor([1, 2, 4, 5, 4, 3]), W.tensor([0, 2, 2, 5])
    mean, bags, sizes, _ = W.embedding_bag(table, indices, offsets, mode=1)
    assert bags.tolist() == [0, 0, 2, 2, 2, 3]
    assert sizes.tolist() == [2, 0, 3, 1]
    assert mean[0].tolist() == [3.0, 4.0]
    top, _, _, rows = W.embedding_bag(table, indices, offsets, mode=2)
    assert rows.tolist() == [[2, 2], [0, 0], [5, 5], [3, 3]]
    assert top[2].tolist() == [10.0, 11.0]
    padded = W.embedding_bag(table, indices, offsets, False, 1, False, None, False, 4)
    assert padded[2].tolist() == [2, 0, 1, 1]


REFUSED: list[tuple[tuple[int, ...], Any]] = [
    ((), 0), ((), (0,)), ((), slice(None)), ((), (0, slice(None))), ((), (slice(None),)), ((), (..., 0)),
    ((2, 3), (0, 0, 0)), ((2, 3), (0, 0, slice(None))), ((2, 3), (..., 0, 0, 0)), ((2, 3), (5, 0)), ((2, 3), (None, 7)),
    ((2, 3), (0, -4)), ((2, 3), (slice(None), 7)), ((2, 3), (True, 7)), ((2, 3), (..., ..., 0)),
    ((2, 3), np.array([True, False, True])), ((2, 3), (0, np.array([True, False]))),
    ((2, 3), (None, slice(None), np.array([True, False]))), ((2, 3), (5, np.array([True, False]))),
    ((2, 3), (np.array([[True, False]]), 5)), ((2, 3), (np.array([0]), 0, 0)), ((2, 3), (np.array(0.5),)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "key"), REFUSED)
def test_what_is_refused_is_told_as_pytorch_tells_it(shape: tuple[int, ...], key: Any) -> None:
    torch = pytest.importorskip("torch")
    told = []
    for T in (torch, W):
        x = T.zeros(shape)
        for use in (lambda x=x, T=T: x[as_tensors(T, key)], lambda x=x, T=T: x.__setitem__(as_tensors(T, key), 1.0)):
            with pytest.raises(IndexError) as refused:
                use()
            told.append(str(refused.value).split("\n")[0])
    assert told[2:] == told[:2]


# ------------------------------------------------------------------------------------------- writes to expanded tensors
def written(T: Any, name: str) -> Any:
    """A row that is expanded twice, after a write through the expanded tensor."""
    row = T.zeros(3)
    x, i, mask = row.expand(2, 3), T.tensor([0]), T.tensor([[True], [False]])
    {
        "list": lambda: x.__setitem__([0], 2.0),
        "mask": lambda: x.__setitem__(T.tensor([True, False]), 2.0),
        "put": lambda: x.index_put_((T.tensor([0, 1]),), T.tensor([[1.0], [2.0]])),
        "accumulated": lambda: x.index_put_((T.tensor([0, 1]),), T.tensor([[1.0], [2.0]]), accumulate=True),
        "index_fill_": lambda: x.index_fill_(0, i, 1.0),
        "masked_fill_": lambda: x.masked_fill_(mask, 1),
        "itself": lambda: x.__setitem__(..., x),
        "copy_": lambda: x.copy_(x),
    }[name]()
    return row.tolist()


ON_EXPANDED = {"list": 2, "mask": 2, "put": 2, "accumulated": 3, "index_fill_": 1, "masked_fill_": 1, "itself": 0,
               "copy_": 0}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
@pytest.mark.parametrize("name", ON_EXPANDED)
def test_what_may_write_to_expanded_tensors(name: str) -> None:
    assert written(W, name) == [ON_EXPANDED[name]] * 3


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
@pytest.mark.parametrize("name", ON_EXPANDED)
def test_what_may_write_to_expanded_tensors_in_torch(torch: Any, name: str) -> None:
    assert written(torch, name) == [ON_EXPANDED[name]] * 3


def test_writes_to_expanded_tensors_are_advised_against() -> None:
    x = W.zeros(3).expand(2, 3)
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        x[[0]] = 1.0
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.index_add_(0, W.tensor([0]), W.ones(1, 3))


def test_writes_to_expanded_tensors_while_operators_are_watched() -> None:
    with W.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t), pytest.warns(UserWarning, match="expanded"):
        assert written(W, "list") == [2, 2, 2]


def test_writes_to_expanded_tensors_while_an_inference_tensor_lives() -> None:
    with W.inference_mode():
        made = W.zeros(3)
    with pytest.warns(UserWarning, match="expanded"):
        assert written(W, "list") == [2, 2, 2]
    assert made.is_inference()


def test_writes_to_expanded_tensors_while_a_hook_wraps_operators() -> None:
    watch, leave = watching(lambda info, args, proceed: proceed())
    watch()
    try:
        with pytest.warns(UserWarning, match="expanded"):
            assert written(W, "list") == [2, 2, 2]
    finally:
        leave()


def test_a_row_of_a_detached_expanded_tensor_is_written() -> None:
    row = W.ones(3)
    row.expand(2, 3).detach()[0:1].mul_(2)
    assert row.tolist() == [2, 2, 2]


def test_a_slice_that_is_written_from_the_end_is_a_view_also_where_it_is_whole() -> None:
    """PyTorch leaves a slice out where it is written as the whole dimension, not where it turns out to be."""
    x = W.ones(2, 3, requires_grad=True)
    assert [x[-2:].grad_fn.name(), x[:, -3:].grad_fn.name()] == ["SliceBackward0"] * 2
    assert x[-2:, 0].grad_fn.next_functions[0][0].name() == "SliceBackward0"
    assert x[0:2].grad_fn.name() == x[:].grad_fn.name()


def test_index_put_of_a_dual_tensor() -> None:
    fw = W.autograd.forward_ad
    with fw.dual_level():
        value = fw.make_dual(W.ones(1, 2), W.full((1, 2), 5.0))
        for accumulate in (False, True):
            x = fw.make_dual(W.ones(3, 2), W.full((3, 2), 2.0)).clone()
            x.index_put_((W.tensor([1]),), value, accumulate=accumulate)
            assert fw.unpack_dual(x).tangent[:, 0].tolist() == [2.0, 7.0 if accumulate else 5.0, 2.0]


def test_the_gradient_that_is_itself_recorded_has_torchs_names(torch: ModuleType) -> None:
    programs = ["x[[0, 1]]", "x[x > 1]", "x.gather(1, i[:, None])", "x.topk(2)[0]", "x.kthvalue(1)[0]", "x.cumsum(0)"]

    def seen(lib: Any) -> list[Any]:
        x, i = lib.arange(6.0).view(2, 3).requires_grad_(), lib.tensor([0, 1])
        made = [eval(text, {"x": x, "i": i}).pow(2).sum() for text in programs]
        grads = [lib.autograd.grad(y, x, create_graph=True)[0] for y in made]
        return [(g.grad_fn.name(), g.stride()) for g in grads]

    assert seen(W) == seen(torch)


def test_a_number_as_an_index_may_have_any_integer_dtype() -> None:
    x = W.arange(6).view(2, 3)
    for dtype in (W.int8, W.int16, W.uint16):
        one = W.tensor(1, dtype=dtype)
        assert x[one].tolist() == x[1].tolist() and x[one, W.tensor([2])].tolist() == [5]

"""Sparse COO tensors: made, taken apart, computed with; as gradients; and the optimizers that step by them."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as T

PLACES = [[0, 1, 1], [2, 0, 2]]


def matrix(requires_grad: bool = False) -> T.Tensor:
    return T.sparse_coo_tensor(PLACES, [3.0, 4.0, 5.0], (2, 3), requires_grad=requires_grad)


def doubled() -> T.Tensor:
    """Rows, one of them stored twice."""
    return T.sparse_coo_tensor([[2, 0, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (3, 2))


def test_facts() -> None:
    x = doubled()
    assert (x.is_sparse, x.layout, x.shape, x.dtype) == (True, T.sparse_coo, (3, 2), T.float32)
    assert (x._nnz(), x.sparse_dim(), x.dense_dim(), x.dim(), x.numel()) == (3, 1, 1, 2, 6)
    assert not x.is_coalesced()
    assert not T.ones(2).is_sparse
    assert T.ones(2).layout is T.strided
    assert T.ones(2).to_dense() is not None


@pytest.mark.parametrize("convert", [T.Tensor.coalesce, T.Tensor.to_sparse_csr])
def test_numpys_warnings_are_not_shown(convert: Callable[[T.Tensor], T.Tensor]) -> None:
    x = convert(T.sparse_coo_tensor([[0], [0]], [-3.0], (1, 1)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x.sqrt(), x.asin(), x * 1e38 * 1e38
    assert [str(w.message) for w in seen] == []


def test_coalesce_adds_up_and_sorts() -> None:
    x = doubled()
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor"):
        x.indices()
    c = x.coalesce()
    assert c.is_coalesced()
    assert c.indices().tolist() == [[0, 2]]
    assert c.values().tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert x._indices().tolist() == [[2, 0, 2]]
    assert x.to_dense().tolist() == c.to_dense().tolist() == [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-9, 9)), max_size=12), st.integers(0, 1))
def test_operators_agree_with_dense_ones(entries: list[tuple[int, int, int]], coalesced: int) -> None:
    indices = np.array([[i for i, _, _ in entries], [j for _, j, _ in entries]], np.int64).reshape(2, -1)
    values = np.array([v for _, _, v in entries], np.float64)
    x = T.sparse_coo_tensor(T.tensor(indices), T.tensor(values), (4, 3))
    if coalesced:
        x = x.coalesce()
    d = np.zeros((4, 3))
    np.add.at(d, tuple(indices), values)
    dense = T.tensor(d)
    for f in (
        lambda t: t + t,
        lambda t: t - t * 3,
        lambda t: -t / 2,
        lambda t: t * t,
        lambda t: t.t(),
        lambda t: t.sum(0),
        lambda t: t.sin(),
        lambda t: t**2,
        lambda t: t[1],
        lambda t: T.cat([t, t]),
        lambda t: t.index_select(0, T.tensor([2, 0, 2])),
        lambda t: t.index_select(1, T.tensor([1])),
        lambda t: t.unsqueeze(0),
        lambda t: t @ t.t(),
    ):
        result = f(x)
        assert result.is_sparse
        np.testing.assert_allclose(result.to_dense().numpy(), f(dense).numpy(), rtol=1e-12)
    assert x.sum().item() == d.sum()
    np.testing.assert_allclose((dense + x).numpy(), d + d)
    np.testing.assert_allclose((x * T.full((4, 3), 2.0, dtype=T.float64)).to_dense().numpy(), 2 * d)
    np.testing.assert_allclose((x @ T.ones(3, 2, dtype=T.float64)).numpy(), d @ np.ones((3, 2)))
    np.testing.assert_allclose((T.ones(2, 4, dtype=T.float64) @ x).numpy(), np.ones((2, 4)) @ d)
    np.testing.assert_array_equal(dense.to_sparse().to_dense().numpy(), d)


def test_writes_in_place() -> None:
    x, d = matrix(), T.ones(2, 3)
    y = x.clone()
    y.mul_(2)
    y.add_(x)
    assert y.coalesce().values().tolist() == [9.0, 12.0, 15.0]
    assert x._values().tolist() == [3.0, 4.0, 5.0]
    assert d.add_(x, alpha=-0.5).tolist() == [[1.0, 1.0, -0.5], [-1.0, 1.0, -1.5]]
    assert y.zero_()._nnz() == 0
    assert y.to_dense().tolist() == T.zeros(2, 3).tolist()


def test_copies_and_conversions() -> None:
    x = matrix()
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), x.detach()):
        assert twin.is_sparse
        assert twin.to_dense().tolist() == x.to_dense().tolist()
    assert x.double().dtype is T.float64
    assert (x.double() + x).dtype is T.float64
    assert T.zeros_like(x)._nnz() == 0
    assert T.sparse_coo_tensor(size=(2, 3))._nnz() == 0
    assert T.sparse_coo_tensor([[0, 4]], [1, 2]).shape == (5,)


def test_old_names_and_what_sparse_tensors_cannot_do() -> None:
    x = matrix()
    for f in (T.exp, T.sigmoid, lambda t: t.view(6), lambda t: t == t, lambda t: t < t, T.ones_like, lambda t: t.max()):
        with pytest.raises(NotImplementedError, match="arguments from the 'SparseCPU' backend"):
            f(x)
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported. Use add\(dense, sparse\) instead"):
        x + T.ones(2, 3)
    for g in (lambda: x.numpy(), lambda: np.asarray(x)):
        with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
            g()
    assert T.sparse.DoubleTensor(T.tensor([[1]]), T.tensor([2.0]), (3,)).to_dense().tolist() == [0.0, 2.0, 0.0]
    assert T.dsmm(x, T.ones(3, 1)).tolist() == [[3.0], [9.0]]
    with pytest.raises(RuntimeError, match="nbytes is not defined for sparse tensors"):
        x.nbytes.bit_length()
    assert x.to_sparse_csr().nbytes == 6 * x.itemsize  # of all elements, as in PyTorch


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RuntimeError, match="must have same nnz, but got nnz from indices: 3, nnz from values: 2"):
        T.sparse_coo_tensor(PLACES, [1.0, 2.0], (2, 3))
    with pytest.raises(RuntimeError, match="size is inconsistent with indices: for dim 0, size is 1 but found index 1"):
        T.sparse_coo_tensor(PLACES, [1.0, 2.0, 3.0], (1, 3))
    with pytest.raises(RuntimeError, match="negative index"):
        T.sparse_coo_tensor([[-1]], [1.0], (2,))
    with pytest.raises(RuntimeError, match=r"is not satisfied: len\(size\) = 3, sparse_dim = 2"):
        T.sparse_coo_tensor(PLACES, [1.0, 2.0, 3.0], (2, 3, 4))


def refusals_of_layouts(lib: Any) -> list[str]:
    dense, cube, stored = lib.ones(2, 2), lib.ones(1, 2, 2), lib.ones(2, 2).to_sparse()
    calls: list[Any] = [
        lambda: lib.sparse.sum(dense), lambda: lib.sparse.sum(dense, 0), lambda: lib.sparse.softmax(dense, 1),
        lambda: lib.sparse.mm(dense, cube), lambda: lib.sparse.mm(cube, dense), lambda: lib.sparse.mm(dense, dense[0]),
        lambda: lib.sparse.mm(stored, dense[0]), lambda: lib.optim.SparseAdam([stored]),
    ]  # fmt: skip
    found = []
    for call in calls:
        with pytest.raises((RuntimeError, IndexError, ValueError)) as caught:
            call()
        found.append(f"{caught.type.__name__}: {str(caught.value).split('. ')[0]}")
    return found


def test_functions_of_sparse_tensors_refuse_dense_ones(torch: Any) -> None:
    theirs, mine = refusals_of_layouts(torch), refusals_of_layouts(T)
    assert mine[:-2] == theirs[:-2] and mine[-1] == theirs[-1]
    assert theirs[-2].startswith("IndexError") and mine[-2].startswith("IndexError")


def test_text() -> None:
    assert repr(T.sparse_coo_tensor([[0]], [1.5], (2,), dtype=T.float64, requires_grad=True)) == (
        "tensor(indices=tensor([[0]]),\n       values=tensor([1.5000]),\n"
        "       size=(2,), nnz=1, dtype=torch.float64, layout=torch.sparse_coo,\n       requires_grad=True)"
    )


# ----------------------------------------------------------------------------------------------------------- gradients
def test_gradient_of_the_values() -> None:
    v = T.tensor([3.0, 4.0, 5.0, 6.0], requires_grad=True)
    x = T.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], v, (2, 3))
    weights = T.arange(6.0).reshape(2, 3)
    (x.to_dense() * weights).sum().backward()
    assert v.grad.tolist() == [2.0, 3.0, 5.0, 2.0]


def test_gradients_of_sparse_leaves_are_sparse() -> None:
    weights = T.arange(6.0).reshape(2, 3)
    jobs: list[tuple[Callable[[Any], Any], list[float]]] = [
        (lambda x: (x.to_dense() * weights).sum(), [2.0, 3.0, 5.0]),
        (lambda x: T.sparse.mm(x, weights.t()).sum(), [7.0, 3.0, 7.0]),
        (lambda x: T.sparse.sum(x), [1.0, 1.0, 1.0]),
        (lambda x: (T.sparse.sum(x, 1).to_dense() * T.tensor([1.0, 2.0])).sum(), [1.0, 2.0, 2.0]),
        (lambda x: (x.coalesce().values() ** 2).sum(), [6.0, 8.0, 10.0]),
        (lambda x: (x * weights).to_dense().sum(), [2.0, 3.0, 5.0]),
        (lambda x: ((x * 3 + x).to_dense() * weights).sum(), [8.0, 12.0, 20.0]),
    ]
    for f, expected in jobs:
        x = matrix(True)
        f(x).backward()
        assert x.grad.is_sparse
        assert x.grad.coalesce().indices().tolist() == PLACES
        assert x.grad.coalesce().values().tolist() == expected


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_gradients_of_products_are_pytorch_s(torch: Any) -> None:
    """Dense, except for a sparse matrix in a product of ``torch.sparse``."""
    found: list[Any] = []
    for lib in (T, torch):
        p, q = lib.arange(4.0).view(2, 2), lib.arange(1.0, 5.0).view(2, 2)
        v = lib.ones(2)
        for product in (lib.mm, lib.matmul, lib.sparse.mm, lambda a, b, lib=lib, v=v: lib.mv(a, v)):
            for first, second in ((True, False), (False, True), (True, True)):
                if product is lib.sparse.mm and second:
                    continue
                a, b = p.to_sparse() if first else p.clone(), q.to_sparse() if second else q.clone()
                r = product(a.requires_grad_(), b.requires_grad_())
                r.sum().backward()
                grads = [None if t.grad is None else (str(t.grad.layout), t.grad.to_dense().tolist()) for t in (a, b)]
                found.append((lib is T, str(r.layout), r.grad_fn.name(), grads))
    assert [f[1:] for f in found if f[0]] == [f[1:] for f in found if not f[0]]


def test_sparse_gradients_of_0d_tensors() -> None:
    for shape, index in (((), [0, 0]), ((), 0), ((3,), 0)):
        x = T.ones(shape, requires_grad=True)
        T.gather(x, 0, T.tensor(index), sparse_grad=True).sum().backward()
        dense = x.grad.to_dense()
        x.grad = None
        T.gather(x, 0, T.tensor(index)).sum().backward()
        assert dense.tolist() == x.grad.tolist()


def test_tensors_without_sparse_dimensions() -> None:
    v = T.ones(5, 2, dtype=T.float64, requires_grad=True)
    y = T.sparse_coo_tensor(T.zeros(0, 5).long(), v, (2,)).coalesce()
    assert y.values().tolist() == [[5.0, 5.0]] and y.to_dense().tolist() == [5.0, 5.0]
    (y.values() * T.tensor([1.0, 2.0])).sum().backward()
    assert v.grad.tolist() == [[1.0, 2.0]] * 5
    x, two = (T.sparse_coo_tensor(T.zeros(0, n).long(), T.ones(n, 2), (2,)) for n in (3, 2))
    assert (x + two)._values().tolist() == [[2.0, 2.0], [2.0, 2.0], [1.0, 1.0]]  # elements that meet are added
    assert (x + two.coalesce()).to_dense().tolist() == [5.0, 5.0]
    assert (x * two)._values().tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_a_product_with_a_sparse_tensor_that_stores_nothing_stores_nothing() -> None:
    x = T.sparse_coo_tensor(T.tensor([[1, 1]]), T.ones(2), (3,))
    for y in (x * T.zeros(3).to_sparse(), T.zeros(3).to_sparse() * x):
        assert y._nnz() == 0 and y.is_coalesced()


def test_a_sparse_grad_becomes_dense_with_a_dense_gradient() -> None:
    p = T.ones(2, requires_grad=True)
    p.grad = before = T.sparse_coo_tensor(T.tensor([[1, 1]]), T.ones(2))
    p.backward(T.ones(2))
    assert p.grad is not before and p.grad.tolist() == [1, 3]


def test_gradients_of_dense_operands() -> None:
    d = T.arange(6.0).reshape(3, 2).requires_grad_()
    T.sparse.mm(matrix(), d).sum().backward()
    assert d.grad.tolist() == [[4.0, 4.0], [0.0, 0.0], [8.0, 8.0]]
    x = T.eye(2, requires_grad=True)
    T.sparse.sum(x.to_sparse() * 2).backward()
    assert x.grad.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    a = T.ones(2, 3, requires_grad=True)
    ((a + matrix()) ** 2).sum().backward()
    assert a.grad.tolist() == [[2.0, 2.0, 8.0], [10.0, 2.0, 12.0]]


def test_second_order_through_sparse_products() -> None:
    d = T.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    y = T.sparse.mm(matrix(), d)
    (g,) = T.autograd.grad((y**2).sum(), [d], create_graph=True)
    (h,) = T.autograd.grad(g.sum(), [d])
    m = matrix().to_dense().numpy()
    np.testing.assert_allclose(h.numpy(), 2 * m.T @ (m @ np.ones((3, 1))))


def test_softmax_over_what_is_stored() -> None:
    x = T.sparse_coo_tensor(
        [[0, 1, 1, 2], [2, 0, 2, 1]], [3.0, 4.0, 5.0, 1.0], (4, 3), dtype=T.float64
    ).requires_grad_()
    held = x.to_dense().detach() != 0
    for name in ("softmax", "log_softmax"):
        for dim in (0, 1):
            x.grad = None
            y = getattr(T.sparse, name)(x, dim)
            dense = T.where(held, x.to_dense().detach(), -T.inf).requires_grad_()
            expected = getattr(dense, name)(dim)
            weights = T.arange(12.0, dtype=T.float64).reshape(4, 3)
            np.testing.assert_allclose(y.values().detach().numpy(), expected[held].detach().numpy(), rtol=1e-12)
            (y.to_dense() * weights).sum().backward()
            (expected[held] * weights[held]).sum().backward()
            np.testing.assert_allclose(x.grad.values().numpy(), dense.grad[held].numpy(), rtol=1e-9, atol=1e-12)
    v = T.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 3.0]], (3, 2))
    np.testing.assert_allclose(T.sparse.softmax(v, 1).values()[1].numpy(), [0.5, 0.5])


def table(**options: Any) -> Any:
    e = T.nn.Embedding(4, 2, sparse=True, **options)
    with T.no_grad():
        e.weight.copy_(T.arange(8.0).reshape(4, 2))
    return e


def test_embedding_gives_rows() -> None:
    e = table()
    out = e(T.tensor([[1, 3], [1, 0]]))
    assert out.grad_fn.name() == "EmbeddingBackward0"
    (out * T.arange(8.0).reshape(2, 2, 2)).sum().backward()
    g = e.weight.grad
    assert g.is_sparse
    assert g._indices().tolist() == [[1, 3, 1, 0]]
    assert g._values().tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    assert not g.is_coalesced()


def test_accumulation() -> None:
    e = table()
    e(T.tensor([0, 1])).sum().backward()
    e(T.tensor([1, 2])).sum().backward()
    assert e.weight.grad.is_sparse
    assert e.weight.grad.to_dense().tolist() == [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
    (e.weight * 2).sum().backward()  # a dense gradient makes it dense
    assert not e.weight.grad.is_sparse
    e(T.tensor([3])).sum().backward()  # and then a sparse one is added to it
    assert e.weight.grad.tolist() == [[3.0, 3.0], [4.0, 4.0], [3.0, 3.0], [3.0, 3.0]]
    e.weight.grad = None
    (e(T.tensor([0])).sum() + e.weight.sum() + e(T.tensor([3])).sum()).backward()  # both in one pass
    assert e.weight.grad.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]


def test_padding_and_frequency() -> None:
    e = table(padding_idx=0)
    e(T.tensor([0, 1])).sum().backward()
    assert e.weight.grad._indices().tolist() == [[1]]
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        table(scale_grad_by_freq=True)(T.tensor([1, 1]))


@pytest.mark.parametrize(("function", "expected"), [("abs", [-1.0, 1.0]), ("sin", [math.cos(2), math.cos(3)])])
def test_a_sparse_cotangent_meets_what_a_formula_computes_of_dense_operands(function: str, expected: Any) -> None:
    w = T.tensor([[-2.0], [3.0]], requires_grad=True)
    T.nn.functional.embedding(T.tensor([0, 1]), getattr(w, function)(), sparse=True).sum().backward()
    assert w.grad.is_sparse
    np.testing.assert_allclose(w.grad.to_dense()[:, 0], expected, rtol=1e-6)


def test_through_the_rest_of_a_graph() -> None:
    w = T.arange(8.0).reshape(4, 2).requires_grad_()
    T.nn.functional.embedding(T.tensor([1, 1, 3]), w * 3, sparse=True).sum().backward()
    assert w.grad.to_dense().tolist() == [[0.0, 0.0], [6.0, 6.0], [0.0, 0.0], [3.0, 3.0]]
    v = T.ones(4, 2, requires_grad=True)
    seen = []
    v.register_hook(lambda g: seen.append(g.is_sparse))
    T.nn.functional.embedding(T.tensor([1]), v, sparse=True).sum().backward()
    (g,) = T.autograd.grad(T.nn.functional.embedding(T.tensor([2]), v, sparse=True).sum(), [v])
    assert seen == [True, True]
    assert g.is_sparse


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_embedding_bag(mode: str) -> None:
    dense = T.nn.EmbeddingBag(4, 2, mode=mode)
    sparse = T.nn.EmbeddingBag(4, 2, mode=mode, sparse=True)
    sparse.load_state_dict(dense.state_dict())
    arguments = (T.tensor([1, 3, 1, 0]), T.tensor([0, 3]))
    for bag in (dense, sparse):
        (bag(*arguments) ** 2).sum().backward()
    assert sparse.weight.grad.is_sparse
    np.testing.assert_allclose(sparse.weight.grad.to_dense().numpy(), dense.weight.grad.numpy(), rtol=1e-6)


def test_gather() -> None:
    x = T.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.gather(1, T.tensor([[0, 2], [1, 1]]), sparse_grad=True)
    assert y.tolist() == [[0.0, 2.0], [4.0, 4.0]]
    y.sum().backward()
    assert x.grad._indices().tolist() == [[0, 0, 1, 1], [0, 2, 1, 1]]
    assert x.grad.to_dense().tolist() == [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]


# ---------------------------------------------------------------------------------------------------------- optimizers
def stepped(library: Any, optimizer: str, options: dict[str, Any], sparse: bool, rows: list[list[int]]) -> Any:
    w = library.nn.Parameter(library.arange(8.0).reshape(4, 2))
    o = getattr(library.optim, optimizer)([w], **options)
    for i in rows:
        o.zero_grad()
        out = library.nn.functional.embedding(library.tensor(i), w, sparse=sparse)
        (out * library.arange(1.0, 1 + 2 * len(i)).reshape(-1, 2)).sum().backward()
        o.step()
    return w.detach().numpy()


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
     ("SGD", {"lr": 0.1, "maximize": True}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1})],
)  # fmt: skip
def test_a_sparse_gradient_steps_as_a_dense_one(optimizer: str, options: dict[str, Any]) -> None:
    rows = [[0, 2, 0], [0, 2, 1], [2, 0]]
    results = [stepped(T, optimizer, options, sparse, rows) for sparse in (True, False)]
    np.testing.assert_allclose(*results, rtol=2e-6)


def test_sparse_adam_is_adam_where_every_row_has_a_gradient_and_leaves_the_others() -> None:
    rows = [[0, 2, 0], [0, 2], [2, 0]]
    sparse, dense = stepped(T, "SparseAdam", {"lr": 0.1}, True, rows), stepped(T, "Adam", {"lr": 0.1}, False, rows)
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)
    assert sparse[1].tolist() == [2.0, 3.0]
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        stepped(T, "SparseAdam", {}, False, rows)


def test_the_others_refuse() -> None:
    for name in ("Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "Rprop"):
        with pytest.raises(RuntimeError, match="does not support sparse gradients"):
            stepped(T, name, {}, True, [[0]])
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible with sparse gradients"):
        stepped(T, "Adagrad", {"weight_decay": 0.1}, True, [[0]])


# ---------------------------------------------------------------------------------------------------------- with torch
@pytest.mark.parametrize(
    ("optimizer", "options"),
    [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}), ("Adagrad", {"lr": 0.1}),
     ("SparseAdam", {"lr": 0.1}), ("SparseAdam", {"lr": 0.1, "betas": (0.5, 0.9), "maximize": True})],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's: invariants are not checked
def test_optimizers_step_as_in_pytorch(torch: Any, optimizer: str, options: dict[str, Any]) -> None:
    rows = [[0, 2, 0], [3, 2, 1], [2, 0]]
    results = [stepped(library, optimizer, options, True, rows) for library in (T, torch)]
    np.testing.assert_allclose(*results, rtol=1e-6)


LINES = """p
s
p.coalesce()
u
u.coalesce()
p.double()
p + p
p - p
p * 2
2 * p
p / 2
-p
p * p
p * torch.ones(2, 3)
torch.ones(2, 3) + p
p + 1
p.exp()
p.sin()
p.isnan()
p.sum()
p.sum(0)
p ** 2
p @ torch.ones(3, 2)
torch.ones(2, 2) @ p
p @ p.t()
p.t()
p.clone()
p.detach()
torch.zeros_like(p)
p[0]
p[0, 2]
p.view(6)
p.numpy()
torch.cat([p, p])
torch.stack([p, p])
p.unsqueeze(0)
p.clone().zero_()
p.clone().mul_(2)
torch.ones(2, 3).add_(p, alpha=-.5)
torch.eye(2).to_sparse()
torch.eye(2).to_sparse(1)
torch.arange(6.).reshape(2, 3).sparse_mask(p.coalesce())
torch.sparse_coo_tensor(size=(2, 3))
torch.sparse_coo_tensor(i, torch.ones(2), (2, 3))
s.to_dense()
q
q * 2
q + q
q.coalesce().values()
u.indices()
u.values()
torch.sparse.sum(q, 1)
torch.sparse.sum(q)
torch.sparse.mm(q, torch.ones(3, 2))
torch.sparse.softmax(p, 1)
torch.sparse.softmax(q, 0)
torch.sparse.log_softmax(p, 1)
torch.sparse.softmax(u, 1)
p.index_select(0, torch.tensor([1]))
torch.eye(2, requires_grad=True).to_sparse()
torch.sparse.addmm(torch.ones(2, 2), p, torch.ones(3, 2))
torch.sparse.addmm(torch.ones(3, 2), p[:1], torch.ones(3, 2))
torch.sparse.addmm(p.t() @ p, p.t(), torch.ones(2, 3))
torch.sparse.addmm(torch.ones(2, 2), p, p.t())
torch.full_like(p, 1., memory_format=torch.preserve_format)
torch.empty_like(torch.eye(2).to_sparse_csr(), memory_format=torch.preserve_format)
torch.optim.Adagrad([p])
torch.nn.functional.linear(torch.ones(2, 3), p)
(p * w, p * w.coalesce(), w * w, w.coalesce() * p.coalesce(), (w * p).is_coalesced())
w * torch.ones(2, 3)
(p + w, p - w, w + p, torch.add(w, w, alpha=2), (p + w).is_coalesced())
(p // 2, w // 2, (w // 2).is_coalesced(), torch.div(w, -2, rounding_mode="trunc"))
torch.div(w, -2, rounding_mode="floor")
p / p
torch.ones(2, 3) / p
(torch.addmm(torch.ones(2, 2), p, torch.ones(3, 2), beta=2, alpha=3), torch.addmm(torch.ones(2), q, torch.ones(3, 2)))
torch.autograd.grad(torch.addmm(torch.ones(2), q, torch.arange(6.).view(3, 2), alpha=2).sum(), q)
torch.addmm(p, p, torch.ones(3, 3))
[s.coalesce().unsqueeze(k).is_coalesced() for k in range(3)]
torch.addmv(torch.ones(2), p, torch.ones(3))
torch.bmm(torch.stack([p, w]), torch.arange(12.).view(2, 3, 2))
torch.autograd.grad(torch.bmm(torch.stack([p, w]), (d := torch.ones(2, 3, 2, requires_grad=True))).sum(), d)
torch.bmm(torch.ones(2, 2, 3), torch.stack([p.t(), p.t()]))
torch.cat([u, u * 2], 1)
torch.cat([p, torch.ones(2, 3)])
torch.cat([p, u])
(torch.ones(()).to_sparse(), torch.zeros(()).to_sparse(), torch.eye(2).to_sparse(-1))
torch.eye(2).to_sparse(0)
p.to_sparse(1)
torch.sparse_coo_tensor([[0, 1]], [1., 2.], (2, 2))
torch.sparse_coo_tensor([0, 1], [1., 2.])
torch.ones(2, 3).sparse_mask(torch.eye(2).to_sparse())
p.clone().copy_(torch.ones(2, 3))
torch.ones(2, 3).copy_(p)
u.transpose(0, 1)
p.stride(), p.stride(0), p.element_size()
[p > 1]
p <= p
p != 1
2 ** p
p ** p
p % 2
p.tril()
p.max()
p.mean(0)
p.std()
p.squeeze()
p.split(1)
p[0:1]
p.sort()
p.unique()
p.softmax(0)
p.lerp(p, .5)
p.norm(p="nuc")
p.isclose(p)
torch.where(torch.ones(2, 3) > 0, p, p)
(p.layout, p.is_sparse, p._nnz(), p.sparse_dim(), p.dense_dim(), p.shape, p.is_coalesced(), p.dtype, p.ndim)"""


@pytest.mark.parametrize("line", LINES.splitlines())
@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's: beta state, invariants
def test_same_as_pytorch(torch: Any, line: str) -> None:
    seen = []
    for library in (torch, T):
        i = library.tensor(PLACES)
        v = library.tensor([3.0, 4.0, 5.0])
        names = {
            "torch": library,
            "i": i,
            "p": library.sparse_coo_tensor(i, v, (2, 3)),
            "s": library.sparse_coo_tensor(i, v.clone().requires_grad_(), (2, 3)),
            "w": library.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], (2, 3)),
            "q": library.sparse_coo_tensor(i, library.ones(3), (2, 3)).requires_grad_(),
            "u": library.sparse_coo_tensor([[0, 0, 1]], library.arange(1.0, 7.0).reshape(3, 2), (3, 2)),
        }
        try:
            seen.append(repr(eval(line, names)))
        except Exception as error:  # noqa: BLE001  what it is is compared
            text = str(error).partition(". ")[0]
            seen.append(f"{type(error).__name__}: {text}")
    assert seen[0] == seen[1]


def test_a_number_is_sparse_or_not() -> None:
    x = T.tensor(3.0, requires_grad=True)
    s = x.to_sparse()
    assert (s.shape, s._indices().shape, s._values().tolist()) == ((), (0, 1), [3.0])
    assert T.tensor(0).to_sparse()._values().shape == (0,)
    s.to_dense().backward()
    assert x.grad.to_dense().item() == 1
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in \[0,0\] range, but 1 is given"):
        x.to_sparse(1)
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in >0 when self.dim\(\)>0"):
        T.ones(2).to_sparse(0)


def test_sizes_with_more_elements_than_can_be_counted() -> None:
    """Keys of elements are numbers of 64 bits: beyond them equal and different indices are confused."""
    one = T.ones(1)
    for make in (
        lambda: T.sparse_coo_tensor(T.tensor([[1], [5]]), one, (2**41, 2**41)),
        lambda: T.sparse_coo_tensor(T.tensor([[2**40], [2**40]]), one),
        lambda: T.zeros((2**40, 2**40), layout=T.sparse_coo),
        lambda: T.sparse_csr_tensor(T.tensor([0, 1, 1]), T.tensor([2**40]), one, (2, 2**63 - 1)),
        lambda: T.cat([T.sparse_coo_tensor(T.tensor([[1]]), one, (2**62,))] * 2),
    ):
        with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
            make()
    big = T.sparse_coo_tensor(T.tensor([[1], [5]]), one, (2**31, 2**31))
    with pytest.raises(RuntimeError, match=r"Storage size calculation overflowed with sizes=\[2147483648, 214"):
        big.to_dense()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_what_needs_memory_is_refused() -> None:
    for x in (T.eye(3).to_sparse(), T.eye(3).to_sparse_csr()):
        with pytest.raises(NotImplementedError, match=r"Could not run 'aten::resize_' with arguments from the 'Sparse"):
            x.resize_(7, 7)
        with pytest.raises(BufferError, match=r"Can't export tensors with layout other than torch\.strided"):
            T.from_dlpack(x)
    with pytest.raises(ValueError, match="Unknown device type meta for Dlpack"):
        T.from_dlpack(T.empty(3, device="meta"))


def test_a_gradient_that_nothing_else_refers_to_becomes_the_leafs() -> None:
    kept: list[Any] = []
    places: list[int] = []
    keeping: list[Any] = [lambda g: None, lambda g: g, lambda g: g._values()]

    class Function(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a + b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            places.append(g._values().data_ptr())
            kept[:] = [keeping[len(places) - 1](g)]
            return g, g

    for _ in keeping:
        a, b = T.randn(4, 3, requires_grad=True), T.randn(4, 3, requires_grad=True)
        T.nn.functional.embedding(T.tensor([1, 3, 1]), Function.apply(a, b), sparse=True).sum().backward()
        found = [t.grad._values().data_ptr() for t in (a, b)]
        assert found[0] != found[1]
        assert (places[-1] in found) is (kept == [None])
        assert T.equal(a.grad.to_dense(), b.grad.to_dense())


def test_zero_has_a_history(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        leaf = lib.ones(2, 2, requires_grad=True)
        x = leaf.to_sparse()
        x.zero_()
        lib.sparse.sum(x).backward()
        rows = leaf.to_sparse_csr()
        rows.zero_()
        lib.autograd.backward(rows.values().sum())
        return [x.requires_grad, x.grad_fn.name(), x._nnz(), leaf.grad.tolist(), rows._nnz(), rows.requires_grad]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(T) == outcome(torch)


def test_an_embedding_in_a_sparse_matrix_is_its_rows() -> None:
    weight = T.tensor([[1.0, 0.0], [0.0, 2.0]]).to_sparse()
    rows = T.nn.functional.embedding(T.tensor([1, 1, 0]), weight)
    assert rows.is_sparse and rows.to_dense().tolist() == [[0.0, 2.0], [0.0, 2.0], [1.0, 0.0]]
    with pytest.raises(NotImplementedError, match="Could not run 'aten::view' with arguments from the 'SparseCPU'"):
        T.nn.functional.embedding(T.tensor([[1]]), weight)


def test_the_sum_of_a_dense_and_a_sparse_tensor_has_their_common_dtype(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        found: list[Any] = []
        kinds = [getattr(lib, name) for name in ("bool", "int64", "float16", "float32", "float64", "complex64")]
        for one in kinds:
            for other in kinds[1:]:
                dense, stored = lib.ones(2, dtype=one), lib.full((2,), 1.5).to(other).to_sparse()
                total = dense + stored
                found += [str(total.dtype).split(".")[1], total.tolist()]
                try:
                    found.append(dense.add_(stored).tolist())
                except RuntimeError:
                    found.append("refused")
        return found

    assert outcome(T) == outcome(torch)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_a_number_keeps_its_dtype(dtype: str) -> None:
    stored = T.ones((), dtype=getattr(T, dtype)).to_sparse()
    assert [stored.to_dense().dtype, stored.coalesce().dtype] == [getattr(T, dtype)] * 2
    assert stored.to_dense().item() == 1


def test_names_and_strides_of_products_are_torchs(torch: Any) -> None:
    def seen(lib: Any) -> list[Any]:
        x = lib.ones(2, 2, requires_grad=True)
        made = [lib.sparse.mm(x, x), lib.sparse.addmm(x, x, x), lib.sparse.addmm(x, x.to_sparse(), x)]
        return [(y.grad_fn.name(), y.stride(), y.tolist()) for y in made]

    assert seen(T) == seen(torch)


def test_layouts_of_products_that_are_computed_are_torchs(torch: Any) -> None:
    def seen(lib: Any) -> list[Any]:
        dense = lib.tensor([[1.0, 0.0], [2.0, 3.0]])
        of_layout = [dense, dense.to_sparse_csr(), dense.to_sparse_csc()]
        found: list[Any] = []
        for operands in itertools.product(of_layout, repeat=3):
            for call in (lambda c, x, y: lib.addmm(c, x, y, alpha=2), lambda c, x, y: lib.sparse.mm(x, y)):
                try:
                    r = call(*operands)
                except RuntimeError as error:
                    found.append(str(error).splitlines()[0])
                else:  # torch's product of three column matrices is wrong
                    columns = [t.layout for t in operands[1:]] == [lib.sparse_csc] * 2
                    found.append((str(r.layout), columns or r.to_dense().tolist()))
        return found

    assert seen(T) == seen(torch)


ALIASES = ("unsqueeze(0)", "transpose(0, 1)", "t()", "permute(1, 0)", "detach()", "coalesce()", "float()")


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("write", ["mul_(3)", "div_(2)", "neg_()", "zero_()", "add_(u)"])
def test_writes_reach_the_tensors_that_share_values_in_torch(alias: str, write: str, torch: Any) -> None:
    def seen(lib: Any) -> list[Any]:
        s = lib.eye(2).to_sparse().coalesce()
        u = eval(f"s.{alias}", {"s": s})
        eval(f"u.{write}", {"u": u})
        return [s.to_dense().tolist(), u.to_dense().tolist()]

    assert seen(T) == seen(torch)

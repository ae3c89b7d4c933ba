"""Compressed sparse tensors (CSR, CSC): made, checked, converted, computed with, differentiated, copied, saved."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as T

LAYOUTS = (T.sparse_csr, T.sparse_csc)
DENSE = T.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]])


def matrix(layout: Any = T.sparse_csr, dtype: Any = T.float64) -> Any:
    return DENSE.to(dtype).to_sparse(layout=layout)


def of_values(values: T.Tensor, layout: Any = T.sparse_csr) -> T.Tensor:
    return T.sparse_compressed_tensor([0, 1, 3], [1, 0, 1], values, (2, 2), layout=layout)


@st.composite
def matrices(draw: Any) -> Any:
    """A dense matrix of whole numbers, many of them zero."""
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    numbers = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.0, 3.0])
    return np.array([[draw(numbers) for _ in range(columns)] for _ in range(rows)]).reshape(rows, columns)


@given(matrices(), st.sampled_from(LAYOUTS), st.sampled_from([*LAYOUTS, T.sparse_coo, T.strided]))
def test_conversions_keep_the_elements(a: Any, first: Any, second: Any) -> None:
    x = T.tensor(a, dtype=T.float64).to_sparse(layout=first)
    assert x.layout is first and x._nnz() == np.count_nonzero(a) and x.shape == a.shape
    y = x.to_sparse(layout=second)
    assert y.layout is second
    np.testing.assert_array_equal(y.to_dense().numpy(), a)
    np.testing.assert_array_equal(y.t().to_dense().numpy(), a.T)
    if second in LAYOUTS:
        T.sparse_compressed_tensor(y._payload.ends, y._payload.minor, y.values(), y.shape, layout=second,
                                   check_invariants=True)  # fmt: skip


@given(matrices(), matrices(), st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS))
def test_arithmetic_is_that_of_the_dense_matrices(a: Any, b: Any, first: Any, second: Any) -> None:
    x, wide = (T.tensor(m, dtype=T.float64) for m in (a, np.ones((a.shape[1], b.shape[0])) @ b))
    s, w = x.to_sparse(layout=first), wide.to_sparse(layout=second)
    for r in (s @ w, s @ wide, x @ w):
        np.testing.assert_allclose(r.to_dense().numpy(), a @ wide.numpy())
    np.testing.assert_allclose((s @ wide.sum(1)).numpy(), a @ wide.sum(1).numpy())
    other = T.tensor(np.roll(a, 1), dtype=T.float64)
    np.testing.assert_allclose((s + other.to_sparse(layout=first)).to_dense().numpy(), a + other.numpy())
    np.testing.assert_allclose((other + s).numpy(), a + other.numpy())
    if first is T.sparse_csr:
        for r in (s * other.to_sparse(layout=second), s * other):
            np.testing.assert_allclose(r.to_dense().numpy(), a * other.numpy())
    np.testing.assert_allclose(s.sum().numpy(), a.sum())


def test_products_store_the_elements_that_happen_to_be_zero() -> None:
    """As PyTorch does; SciPy leaves them out."""
    x = T.tensor([[1.0, 1.0], [0.0, 2.0]]).to_sparse_csr()
    y = T.tensor([[1.0, 0.0], [-1.0, 3.0]]).to_sparse_csr()
    r = x @ y
    assert r.crow_indices().tolist() == [0, 2, 4] and r.values().tolist() == [0, 3, -2, 6]


def test_structural_zeros_and_the_index_dtype_are_kept() -> None:
    ends, minor = T.tensor([0, 1, 2], dtype=T.int32), T.tensor([1, 0], dtype=T.int32)
    x = T.sparse_csr_tensor(ends, minor, T.tensor([0.0, 2.0]))
    for y in (x + x, x @ x, x.to_sparse_csc().to_sparse_csr(), copy.deepcopy(x), x * 2, x.double()):
        assert y.crow_indices().dtype is y.col_indices().dtype is T.int32
        assert y._nnz() == 2


def test_memory_is_shared_as_in_pytorch() -> None:
    values = T.ones(2)
    x = T.sparse_csr_tensor(T.tensor([0, 1, 2]), T.tensor([1, 0]), values)
    values.mul_(3)
    x.t().values()[0] = 5
    assert x.values().tolist() == [5, 3]
    x.clone().values().zero_()
    assert x.values().tolist() == [5, 3]
    x.mul_(2)
    assert values.tolist() == [10, 6] and x._version == 1


def test_batches_and_dense_dims() -> None:
    a = T.arange(1.0, 13).reshape(2, 2, 3)
    for layout in LAYOUTS:
        x = a.to_sparse(layout=layout)
        assert x.to_dense().tolist() == a.tolist() and x.values().shape == (2, 6)
        assert x[1].to_dense().tolist() == a[1].tolist() and x[1].layout is layout
        assert x.mT.to_dense().tolist() == a.mT.tolist()
        assert (x + x).to_dense().tolist() == (a + a).tolist()
        hybrid = a.to_sparse(layout=layout, dense_dim=1)
        assert hybrid.dense_dim() == 1 and hybrid.to_dense().tolist() == a.tolist()
    with pytest.raises(RuntimeError, match="Expect the same number of specified elements per batch"):
        T.tensor([[[1.0]], [[0.0]]]).to_sparse_csr()


# ------------------------------------------------------------------------------------------------------------ gradients
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_values_and_of_dense_operands(layout: Any) -> None:
    v = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
    d = T.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=T.float64, requires_grad=True)
    z = T.tensor([1 + 1j, 2.0, 3j], dtype=T.complex128, requires_grad=True)
    e = T.tensor([[1j, -2.0], [0.5, 3.0]], dtype=T.complex128, requires_grad=True)
    for values, dense in ((v, d), (z, e)):
        for fn in (
            lambda x, y: of_values(x, layout) @ y,
            lambda x, y: y @ of_values(x, layout),
            lambda x, y: of_values(x, layout) @ y[0],
            lambda x, y: y[0] @ of_values(x, layout),
            lambda x, y: T.sparse.mm(of_values(x, layout), y),
            lambda x, y: T.nn.functional.linear(y, of_values(x, layout)),
            lambda x, y: T.nn.functional.linear(y, of_values(x, layout), y[0]),
            lambda x, y: T.addmm(y, of_values(x, layout), y, beta=2, alpha=3),
            lambda x, y: y + of_values(x, layout),
            lambda x, y: (of_values(x, layout) @ of_values(x, layout)).to_dense(),
            lambda x, y: (of_values(x, layout) * 2 + of_values(x, layout)).values(),
            lambda x, y: of_values(x, layout).to_sparse().to_dense() * y,
            lambda x, y: of_values(x, layout).sum() * y,
        ):
            assert T.autograd.gradcheck(fn, (values, dense))
            assert T.autograd.gradgradcheck(fn, (values, dense))
    for fn in (
        lambda x, y: (of_values(x) * y).to_dense(masked_grad=False),
        lambda x, y: T.sparse.sampled_addmm(of_values(x), y, y, beta=0.5, alpha=2.0).to_dense(),
        lambda x, y: y.sparse_mask(of_values(x)).values() * x,
    ):
        assert T.autograd.gradcheck(fn, (v, d))


def test_gradients_of_a_large_matrix_need_no_dense_one() -> None:
    """A dense gradient would have 10^10 elements."""
    n = 100_000
    v = T.ones(n, requires_grad=True)
    x = T.sparse_csr_tensor(T.arange(n + 1), T.arange(n), v, (n, n))
    d = T.full((n, 2), 3.0, requires_grad=True)
    (x @ d).sum().backward()
    assert v.grad.unique().tolist() == [6.0] and d.grad.unique().tolist() == [1.0]
    leaf = T.sparse_csr_tensor(T.arange(n + 1), T.arange(n), T.ones(n), (n, n), requires_grad=True)
    T.sparse.mm(leaf, d.detach()).sum().backward()
    assert leaf.grad.layout is T.sparse_csr and leaf.grad.values().unique().tolist() == [6.0]


def test_who_looks_at_the_gradient_of_a_matrix_sees_pytorch_s() -> None:
    """A dense one, which the values' own gradient does not need."""
    v = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = of_values(v)
    x.retain_grad()
    (x @ T.ones(2, 2)).sum().backward()
    assert x.grad.layout is T.strided and x.grad.tolist() == [[2, 2], [2, 2]] and v.grad.tolist() == [2, 2, 2]


def test_gradients_accumulate() -> None:
    x = matrix().requires_grad_()
    x.to_dense().sum().backward()
    x.to_dense().sum().backward()
    assert x.grad.layout is T.sparse_csr and x.grad.values().tolist() == [2.0] * 5
    x.sum().backward()
    assert x.grad.layout is T.strided and x.grad[0].tolist() == [1, 3, 1]


def test_gradcheck_masked() -> None:
    """Masked: what is not stored stays zero, and its gradient must be zero; else all elements are varied."""
    for make in (T.Tensor.to_sparse, T.Tensor.to_sparse_csr, T.Tensor.to_sparse_csc):
        x = make(DENSE.double()).requires_grad_()
        assert T.autograd.gradcheck(lambda x: x.to_dense(), x, masked=True)
        assert T.autograd.gradcheck(lambda x: x.to_dense(masked_grad=False), x, masked=False)
        assert T.autograd.gradcheck(lambda x: x @ DENSE[:3].double(), x, masked=False)
        for fn, masked in ((lambda x: x.to_dense(), False), (lambda x: x @ DENSE[:3].double(), True)):
            with (
                pytest.raises(T.autograd.gradcheck.GradcheckError, match="Jacobian mismatch")
                if hasattr(T.autograd.gradcheck, "GradcheckError")
                else pytest.raises(RuntimeError, match="Jacobian mismatch")
            ):
                T.autograd.gradcheck(fn, x, masked=masked)


# ----------------------------------------------------------------------------------------------------- copies and files
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_and_files(layout: Any) -> None:
    x = matrix(layout).requires_grad_()
    module = T.nn.Linear(3, 4, bias=False)
    module.weight = T.nn.Parameter(matrix(layout, T.float32))
    stream = io.BytesIO()
    T.save({"x": x.detach(), "module": module.state_dict()}, stream)
    stream.seek(0)
    loaded = T.load(stream)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), loaded["x"]):
        T.testing.assert_close(y.detach(), x.detach())
    other = copy.deepcopy(module)
    with T.no_grad():
        other.weight.values().zero_()
    other.load_state_dict(loaded["module"])
    assert other(T.ones(2, 3)).tolist() == module(T.ones(2, 3)).tolist() == [[1.0, 5.0, 0.0, 9.0]] * 2


def test_assert_close_compares_indices_and_values() -> None:
    x = matrix()
    T.testing.assert_close(x, x.clone())
    T.testing.assert_close(x, DENSE.double(), check_layout=False)
    with pytest.raises(AssertionError, match="Sparse CSR values are not close"):
        T.testing.assert_close(x, x * 2)
    with pytest.raises(AssertionError, match="number of specified values in sparse CSR tensors does not match: 5 != 4"):
        T.testing.assert_close(x, T.sparse_csr_tensor([0, 1, 2, 2, 4], [1, 0, 0, 2], [1.0, 2, 3, 4], dtype=T.float64))


# ------------------------------------------------------------------------------------------------------------- refusals
def test_invariants_are_checked_where_they_are_asked_for() -> None:
    make = lambda: T.sparse_csr_tensor([0, 1, 5], [0, 1], [1.0, 2.0], (2, 3))
    assert make()._nnz() == 2
    for use in (
        T.Tensor.to_dense,
        T.Tensor.to_sparse,
        T.Tensor.to_sparse_csc,
        lambda x: x @ T.ones(3),
        lambda x: x + x.clone(),
    ):
        with pytest.raises(RuntimeError, match=r"`crow_indices\[..., -1\] == nnz` is not satisfied"):
            use(make())
    switch = T.sparse.check_sparse_tensor_invariants
    with switch(), pytest.raises(RuntimeError, match="is not satisfied"):
        make()
    assert not switch.is_enabled()
    with pytest.raises(RuntimeError, match="is not satisfied"):
        switch()(make)()


@pytest.mark.parametrize(
    "text",
    [
        "x.exp()", "x - x", "x / 2", "x == x", "x[0:2]", "x.view(12)", "x.reshape(12)", "x.unsqueeze(0)", "x.stride()",
        "x.tolist()", "x.numpy()", "x.untyped_storage()", "x.item()", "x.contiguous()", "T.cat([x, x])",
        "T.stack([x, x])",
        "x.mean()", "x.max()", "x.sum(0)", "x.sort()", "x.nonzero()", "x.index_select(0, T.tensor([0]))", "bool(x)",
        "T.where(x > 0, x, x)", "T.einsum('ij->ji', x)", "x.clamp(0, 1)", "T.equal(x, x)", "T.allclose(x, x)",
        "x @ DENSE.double()", "x @ DENSE[:3]", "x + 1", "x + T.ones(3)", "x * T.ones(4)", "x + x.to_sparse_csc()",
        "x + x.to_sparse()", "x.to_sparse() + x", "x @ x", "x.to_sparse() @ x.t()", "x.expand(2, 4, 3)",
        "T.rand_like(x)",
        "x.uniform_()", "x.fill_diagonal_(1)", "x.to('meta')", "x.softmax(1)", "T.linalg.inv(x)", "x.cumsum(0)",
        "x.requires_grad_().sin().sum().backward()", "x.requires_grad_().log1p().sum().backward()",
        "x.long() @ x.long()",
        "x.copy_(DENSE)", "DENSE.clone().copy_(x)", "DENSE.clone().mul_(x)", "x.__setitem__((0, 0), 1)",
        "hash(x) == 1/0",
        "T.sparse_csr_tensor([0, 1], [0])", "T.sparse_csr_tensor([0, 1], [0], [1.], 3)",
        "x.to_sparse_csr().to_sparse(1)",
        "T.sparse_compressed_tensor([0, 1], [0], [1.], layout=T.strided)", "T.zeros(3, layout=T.sparse_csr)",
        "T.sparse_compressed_tensor([0, 1], [0], [1.], layout=T.sparse_bsr)", "x.to_sparse(layout=T.sparse_bsc)",
        "T.ones(3).to_sparse_csr()", "T.sparse.softmax(x, 1)", "T.func.vmap(lambda v: x @ v)(T.ones(2, 3, 3))",
        "x.dot(x)", "T.nn.functional.conv2d(x, x)", "T.nn.functional.gelu(x)", "x.triu()", "x.flip(0)",
        "x.repeat(2, 2)",
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused_in_pytorch_s_words(text: str) -> None:
    """RuntimeError and its subclass NotImplementedError, TypeError, IndexError, BufferError; never NumPy's own."""
    scope = {"T": T, "DENSE": DENSE, "x": matrix()}
    with pytest.raises((RuntimeError, TypeError, IndexError, ValueError, ZeroDivisionError)) as caught:
        eval(text, scope)
    words = str(caught.value)
    for foreign in ("ufunc", "numpy.ndarray", "ndarray", "ValueDtype", "scipy", "Compressed", "broadcast together"):
        assert foreign not in words, words

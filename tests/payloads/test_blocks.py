"""Compressed sparse tensors of blocks (BSR, BSC): conversions, their derivatives, and the few operators on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as T

RNG = np.random.default_rng(5)
DENSE = np.kron(RNG.random((3, 2)) > 0.4, np.ones((2, 3))) * (RNG.random((6, 6)) + 0.5)
DENSE[:2, :3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]  # one block is held, whatever was drawn
DENSE[2:4, :3] = 0  # and one is not
CONVERSIONS: dict[str, tuple[Any, ...]] = {
    "to_dense": (), "to_sparse": (), "to_sparse_csr": (), "to_sparse_csc": (), "to_sparse_bsr": ((2, 3),),
    "to_sparse_bsc": ((2, 3),),
}  # fmt: skip


def converted(t: Any, name: str) -> Any:
    return getattr(t, name)(*CONVERSIONS[name])


def test_blocks_by_rows_and_by_columns() -> None:
    x = T.tensor(DENSE)
    held = np.abs(DENSE.reshape(3, 2, 2, 3).swapaxes(1, 2)).sum((2, 3)) > 0
    rows, columns = held.nonzero()
    r = x.to_sparse_bsr((2, 3))
    assert r.layout is T.sparse_bsr and r._nnz() == held.sum() and r.dtype is T.float64
    assert r.crow_indices().tolist() == [0, *held.sum(1).cumsum()] and r.col_indices().tolist() == columns.tolist()
    for block, i, j in zip(r.values().tolist(), rows, columns, strict=True):
        assert block == DENSE[2 * i : 2 * i + 2, 3 * j : 3 * j + 3].tolist()
    c = x.to_sparse_bsc((2, 3))
    assert c.layout is T.sparse_bsc and c.row_indices().tolist() == held.T.nonzero()[1].tolist()
    assert c.ccol_indices().tolist() == [0, *held.sum(0).cumsum()]
    for t in (r, c, r.to_sparse_bsc((2, 3)), c.to_sparse_bsr((2, 3)), r.t().t(), r.clone()):
        assert (t.to_dense().numpy() == DENSE).all() and t.shape == (6, 6)
    assert r.t().layout is T.sparse_bsc and (r.t().to_dense().numpy() == DENSE.T).all()


@pytest.mark.parametrize("second", list(CONVERSIONS)[1:])
@pytest.mark.parametrize("first", CONVERSIONS)
def test_conversions_and_their_gradients(first: str, second: str) -> None:
    """A block layout is not converted to one of elements: what can be is, and the gradient comes back in the layout."""
    blocks, elements = ("to_sparse_bsr", "to_sparse_bsc"), ("to_sparse_csr", "to_sparse_csc")
    x = converted(T.tensor(DENSE), first).requires_grad_()
    if first in blocks and second in elements:
        with pytest.raises(RuntimeError, match="expected SparseCsr or SparseCsc layout but got SparseBs"):
            converted(x, second)
        return
    y = converted(x, second)
    assert (y.to_dense().detach().numpy() == DENSE).all()
    g = converted(T.tensor(DENSE * 2), second)
    if first in elements and second in blocks:
        with pytest.raises(RuntimeError, match="expected SparseCsr or SparseCsc layout but got SparseBs"):
            T.autograd.grad(y, x, g)
        return
    (dx,) = T.autograd.grad(y, x, g)
    assert dx.layout is x.layout and (dx.to_dense().numpy() == DENSE * 2).all()


@pytest.mark.parametrize("name", ["to_sparse_bsr", "to_sparse_bsc"])
def test_gradients_of_dense_tensors_and_of_values(name: str) -> None:
    x = converted(T.tensor(DENSE), name).requires_grad_()
    weights = T.tensor(RNG.random((6, 6)))
    held = (converted(T.tensor((DENSE != 0) * 1.0), name).to_dense() != 0).double()
    for y, expected in (
        (x.to_dense() * weights, weights * held), (x.values(), held),
        (x.to_dense() + x.to_dense(), 2 * held),  # gradients with the same indices add up
    ):  # fmt: skip
        (dx,) = T.autograd.grad(y.sum(), x)
        assert dx.layout is x.layout
        assert (dx.to_dense() == expected).all()


def test_batches_and_dense_dimensions() -> None:
    x = T.tensor(np.stack([DENSE, DENSE[::-1, ::-1]]))
    with pytest.raises(RuntimeError, match="Expect the same number of specified elements per batch"):
        T.stack([T.eye(4), T.ones(4, 4)]).to_sparse_bsr(2)
    y = T.tensor(np.stack([DENSE, DENSE])).to_sparse_bsc((2, 3))
    assert y.values().shape[0] == 2 and (y.to_dense()[1].numpy() == DENSE).all()
    wide = x.permute(1, 2, 0).contiguous()
    z = wide.to_sparse_bsr((2, 3), dense_dim=1)
    assert z.dense_dim() == 1 and z.values().shape[1:] == (2, 3, 2)
    assert (z.to_dense() == wide).all()


def test_what_keeps_zeros() -> None:
    x = T.tensor(DENSE).to_sparse_bsr((2, 3))
    for r, expected in ((x * 2, DENSE * 2), (x + x, DENSE * 2), (-x, -DENSE), (x.double(), DENSE)):
        assert r.layout is T.sparse_bsr
        assert (r.to_dense().numpy() == expected).all()
    assert x.float().sin().layout is T.sparse_bsr
    assert x.sum().item() == pytest.approx(DENSE.sum())
    assert "layout=torch.sparse_bsr" in repr(x) and repr(x).startswith("tensor(crow_indices=tensor([0, ")
    for refused in (lambda: x.exp(), lambda: x @ T.tensor(DENSE), lambda: x.stride(), lambda: x * x, lambda: x.numpy()):
        with pytest.raises((RuntimeError, TypeError)):
            refused()


def test_a_stored_zero_is_held() -> None:
    x = T.tensor([[0.0, 1.0, 0.0, 0.0], [0.0] * 4]).to_sparse_csr()
    x.values()[0] = 0.0
    for y in (x.to_sparse_bsr(2), x.to_sparse().to_sparse_bsr((2, 2))):
        assert y._nnz() == 1 and y.values().tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.to_sparse_bsr(4), RuntimeError, "dense_to_sparse_bsr: tensor sparse size (6,6) must be"),
        (lambda x: x.to_sparse_bsr(0), RuntimeError, "blocksize needs to be positive, but got [0, 0]"),
        (lambda x: x.to_sparse_bsr((2, 2, 2)), RuntimeError, "blocksize needs to be a tuple of size 2, but got 3"),
        (lambda x: x[0].to_sparse_bsr(2), IndexError, "Dimension out of range (expected to be in range of [-1, 0]"),
        (lambda x: x.to_sparse(layout=T.sparse_bsr), RuntimeError, "to SparseBsr without blocksize argument given"),
        (lambda x: x.to_sparse(layout=T.sparse_csr, blocksize=(1, 1)), RuntimeError, "with blocksize argument given"),
        (lambda x: x.to_sparse_bsr(2).to_sparse_bsr(3), RuntimeError, "with blocksize changed from [2, 2] to [3, 3]"),
        (lambda x: x.to_sparse_csr().to_sparse_bsc(4), RuntimeError, "sparse_compressed_to_sparse_bsc: tensor sparse"),
        (lambda x: x.to_sparse_bsr(2).row_indices(), RuntimeError, "column compressed tensor layout but got SparseBsr"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        call(T.tensor(DENSE))
    assert words in str(caught.value)

"""Which of several equal elements sort, topk, kthvalue, mode and median find: PyTorch 2.13's answers."""

from __future__ import annotations

import pytest

import wengert as torch

X = [3, 1, 2, 3, 1, 0, 2, 3, 1, 2, 0, 3, 1, 1, 2, 0, 3, 2, 1, 0]


@pytest.fixture(params=["int64", "int16", "float32", "float64"])
def x(request: pytest.FixtureRequest) -> torch.Tensor:
    return torch.tensor(X, dtype=getattr(torch, request.param))


def test_sort(x: torch.Tensor) -> None:
    up = [10, 19, 15, 5, 4, 8, 12, 13, 18, 1, 6, 9, 14, 2, 17, 3, 7, 0, 11, 16]
    down = [16, 3, 0, 7, 11, 2, 17, 6, 14, 9, 8, 13, 12, 18, 4, 1, 19, 15, 10, 5]
    stable = [5, 10, 15, 19, 1, 4, 8, 12, 13, 18, 2, 6, 9, 14, 17, 0, 3, 7, 11, 16]
    assert x.sort().indices.tolist() == x.argsort().tolist() == up
    assert x.argsort(descending=True).tolist() == down
    assert x.sort(stable=True).indices.tolist() == x.argsort(stable=True).tolist() == stable
    assert torch.stack([x, x], 1).sort(0).indices[:, 1].tolist() == up


def test_few_elements_keep_their_order() -> None:
    assert torch.tensor(X[:16]).argsort().tolist() == [5, 10, 15, 1, 4, 8, 12, 13, 2, 6, 9, 14, 0, 3, 7, 11]


def test_topk(x: torch.Tensor) -> None:
    assert torch.ones(5).topk(2).indices.tolist() == [2, 4]
    assert torch.ones(5).topk(4).indices.tolist() == [2, 4, 3, 0]
    assert x.topk(5).indices.tolist() == [16, 11, 7, 0, 3]
    assert x.topk(5, largest=False).indices.tolist() == [10, 19, 15, 5, 18]


def test_topk_of_few_among_many(x: torch.Tensor) -> None:
    many = torch.cat([x] * 10)
    assert many.topk(3).indices.tolist() == [7, 0, 3] and many.topk(5).indices.tolist() == [63, 67, 160, 71, 60]
    assert many.topk(3, largest=False).indices.tolist() == [15, 10, 5]


def test_topk_that_is_not_sorted(x: torch.Tensor) -> None:
    """As ``std::nth_element`` leaves it, where elements differ, too; a heap sorts few among many."""
    different = torch.tensor([1, 7, 3, 9, 2, 8, 4, 5], dtype=x.dtype)
    assert different.topk(8, sorted=False).indices.tolist() == [7, 1, 5, 3, 2, 6, 4, 0]
    assert different.expand(2, 8).T.topk(3, 0, sorted=False).values.tolist() == [[8, 8], [9, 9], [7, 7]]
    found = [10, 19, 15, 5, 12, 1, 18, 13, 4, 3, 9, 6, 8, 17, 14, 2, 11, 0, 16, 7]
    assert x.topk(20, largest=False, sorted=False).indices.tolist() == found
    assert torch.cat([x] * 10).topk(3, sorted=False).indices.tolist() == [7, 0, 3]


def test_one_element(x: torch.Tensor) -> None:
    assert [x.kthvalue(k).indices.item() for k in (1, 7, 20)] == [10, 12, 0]
    assert x.mode().indices.item() == 1
    assert x.median(0).indices.item() == 18

"""Views older than their base's ``requires_grad``: they have no node, and their base is a leaf all the same."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch
from wengert._tape.views import no_grad_views, viewed_leaves

WRITES: dict[str, Any] = {
    "add_": lambda view: view.add_(1), "a part": lambda view: view[:2].fill_(1), "zero_": lambda view: view.zero_(),
    "an element": lambda view: view.__setitem__(0, 1.0), "copy_": lambda view: view.copy_(torch.ones(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_they_are_not_written(name: str) -> None:
    base = torch.zeros(2, 3)
    view = base[1]
    view.add_(1)
    base.requires_grad_()
    assert view.requires_grad and view.is_leaf
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        WRITES[name](view)
    with torch.no_grad():
        view.mul_(3)
    assert base.tolist() == [[0, 0, 0], [3, 3, 3]]


def test_writes_are_checked_only_while_their_memory_lives() -> None:
    before = len(viewed_leaves), len(no_grad_views)
    leaf = torch.zeros(3).requires_grad_()
    part = torch.zeros(2, 3)[0].requires_grad_()  # its base does not require grad
    assert (len(viewed_leaves), len(no_grad_views)) == before and leaf.is_leaf and part.is_leaf
    base = torch.zeros(2, 3)
    view = base[1]
    base.requires_grad_()
    assert len(viewed_leaves) == before[0] + 1 and no_grad_views
    del base, view
    assert (len(viewed_leaves), len(no_grad_views)) == before

"""Strides of tensors without elements, which NumPy forgets."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda: torch.zeros(5, 0), (1, 1)),
        (lambda: torch.zeros(0, 3).t(), (1, 3)),
        (lambda: torch.zeros(0).expand(3, 0), (0, 1)),
        (lambda: torch.zeros(4, 0, 3)[:2].transpose(0, 2), (1, 3, 3)),
        (lambda: torch.linalg.qr(torch.zeros(5, 0)).Q, (1, 5)),
        (lambda: torch.linalg.inv(torch.zeros(0, 5, 5)), (25, 1, 5)),
        (lambda: torch.zeros(0, 8, 8).sum(0, keepdim=True)[:0], (64, 8, 1)),
        (lambda: torch.nonzero(torch.zeros(2, 3)), (1, 0)),
        (lambda: torch.linalg.solve(torch.eye(5).expand(2, 5, 5), torch.ones(2, 5)), (1, 2)),
    ],
)
def test_strides(make: Any, strides: tuple[int, ...]) -> None:
    assert make().stride() == strides

"""Helpers for tests of operators, without PyTorch's lists of operators with samples (see the package)."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor

__all__: list[str] = []


def mask_not_all_zeros(shape: Any) -> Tensor:
    """A random mask of ones and zeros that is not all zeros."""
    if len(shape) == 0:
        raise AssertionError("shape must have at least one dimension, got length 0")
    while True:
        result = torch.randn(shape).gt(0)
        if result.sum() > 0:
            return result


class NoArgsClass:
    """Represents "no arguments" in samples."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise StopIteration

    def __len__(self) -> int:
        return 0


NO_ARGS = NoArgsClass()

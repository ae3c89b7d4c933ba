"""``Flatten`` and ``Unflatten``."""

from __future__ import annotations

from typing import Any

from ..._tape.tensor import Tensor
from ._making import FunctionLayer

__all__ = ["Flatten", "Unflatten"]


class Flatten(FunctionLayer, options="start_dim end_dim"):
    """Flatten the dimensions from ``start_dim`` to ``end_dim`` to one; the default keeps the first, the batch.

    >>> import wengert as torch
    >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(FunctionLayer, options="dim unflattened_size"):
    """Split one dimension into several.

    >>> import wengert as torch
    >>> torch.nn.Unflatten(1, (3, 4))(torch.ones(2, 12)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

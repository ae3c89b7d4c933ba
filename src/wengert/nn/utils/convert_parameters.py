"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import wengert as torch

from ..._tape.tensor import Tensor
from ..._tensor_api.settings import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters concatenated to one vector.

    >>> import wengert as torch
    >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters()).shape
    torch.Size([9])
    """
    return torch.cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters views of parts of ``vec``."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for param in parameters:
        end = start + param.numel()
        param.data = vec[start:end].view_as(param).data
        start = end

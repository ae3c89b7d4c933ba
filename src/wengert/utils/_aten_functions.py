"""``torch.ops.aten`` operators that PyTorch's own formulas call and that have no public function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.registry import TENSORS
from .._ops.nn.conv import per_dim
from .._tape.tensor import Tensor, wrap


def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Any,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of a convolution's input, weight and bias; ``None`` where ``output_mask`` is false."""
    n = input.ndim - 2
    geometry = tuple(
        per_dim(name, v, n) for name, v in (("stride", stride), ("padding", padding), ("dilation", dilation))
    )
    kernel = tuple(weight.shape[2:])
    x = w = b = None
    if output_mask[0]:
        if transposed:
            x = TENSORS.convolution(grad_output, weight, None, *geometry, groups)
        else:
            x = TENSORS.conv_input(grad_output, weight, tuple(input.shape[2:]), *geometry, groups)
    if output_mask[1]:
        pair = (grad_output, input) if transposed else (input, grad_output)
        w = TENSORS.conv_weight(*pair, kernel, *geometry, groups)
    if output_mask[2]:
        b = grad_output.sum((0, *range(2, n + 2)))  # type: ignore[attr-defined]
    return x, w, b


def _new_zeros_with_same_feature_meta(self: Tensor, other: Tensor, *, self_num_batch_dims: int = 0) -> Tensor:
    """Zeros of ``other``'s geometry for each of the leading ``self_num_batch_dims`` dimensions of ``self``."""
    sizes = tuple(self.shape[:self_num_batch_dims])
    held = other.untyped_storage().nbytes() // other._payload.itemsize  # type: ignore[attr-defined]
    steps = tuple(math.prod(sizes[k + 1 :]) * held for k in range(len(sizes)))
    memory = wrap(np.zeros(math.prod(sizes) * held, other._payload.dtype))
    return memory.as_strided((*sizes, *other.shape), (*steps, *other.stride()), other.storage_offset())  # type: ignore[no-any-return,attr-defined]


def slice_inverse(
    self: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """The tensor of ``src``'s geometry of whose memory ``self`` shows a slice."""
    return self.as_strided(src.shape, src.stride(), src.storage_offset())  # type: ignore[no-any-return,attr-defined]


def sym_size(self: Tensor, dim: int | None = None) -> Any:
    """The size of a dimension, or of all."""
    return self.shape if dim is None else self.shape[dim]

"""``Type`` and ``Resize``, the predecessors of ``Tensor.to`` and ``Tensor.view``."""

from __future__ import annotations

import math
from typing import Any

from ..._base.errors import warn
from ..function import Function

__all__ = ["Resize", "Type"]


class Type(Function):
    """Conversion to another dtype: ``Type.apply(x, "torch.DoubleTensor")``. Deprecated; use ``x.to(dtype)``."""

    @staticmethod
    def forward(ctx: Any, i: Any, dest_type: Any) -> Any:
        """Convert."""
        warn(
            "`torch.autograd._functions.Type` is deprecated as of PyTorch 2.1, please use "
            "`torch.tensor.to(dtype=dtype)` instead.",
            FutureWarning,
        )
        ctx.input_type = i.type()
        return i.type(dest_type)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Convert back."""
        return grad_output.type(ctx.input_type), None


class Resize(Function):
    """Another shape with the same number of elements: ``Resize.apply(x, (2, 3))``. Use ``x.reshape`` instead."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Any) -> Any:
        """Copy into the shape."""
        ctx.numel = math.prod(sizes)
        if tensor.numel() != ctx.numel:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({ctx.numel} elements in total), but the given "
                f"tensor has a size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements). autograd's "
                "resize can only change the shape of a given tensor, while preserving the number of elements. "
            )
        ctx.input_sizes = tensor.size()
        return tensor.clone().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Back into the old shape."""
        if grad_output.numel() != ctx.numel:
            raise AssertionError(f"Expected grad_output to have {ctx.numel} elements, but got {grad_output.numel()}")
        return grad_output.contiguous().view(ctx.input_sizes), None

"""``make_tensor``: random tensors for tests of operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.dtypes import dtype as Dtype
from .._base.errors import warn
from .._tape.tensor import Tensor

__all__ = ["make_non_contiguous", "make_tensor"]

_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)
_INEXACT = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)


def make_tensor(
    *shape: Any,
    dtype: Dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn uniformly from ``[low, high)``.

    Args:
        shape: the sizes, or one sequence of them.
        dtype: any dtype except complex32 and 8-bit floating point.
        device: the CPU.
        low, high: by default -9 and 9, for integers -9 and 10 (0 and 10 if unsigned), for booleans 0 and 2. The
            bounds are clipped to the range of the dtype.
        requires_grad: only for floating and complex dtypes.
        noncontiguous: whether the tensor is not contiguous.
        exclude_zero: replace zeros by 1, or by the smallest normal number of a floating dtype.
        memory_format: the order of the dimensions in memory; not with ``noncontiguous``.

    Raises:
        ValueError: the interval is empty, or two options exclude each other.
        TypeError: the dtype is not supported.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.testing.make_tensor((3,), dtype=torch.float32, device="cpu", low=-1, high=1)
    tensor([-0.0075,  0.5364, -0.8230])
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and dtype in (torch.bool, *_WHOLE):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    apart = noncontiguous and math.prod(shape) > 1
    result = _drawn((*shape[:-1], 2 * shape[-1]) if apart else shape, dtype, device, low, high)
    if apart:
        result = result[..., 1::2]  # from the second element on: the offset is not 0 either
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = torch.finfo(dtype).tiny if dtype in _INEXACT else 1
    return result.requires_grad_() if requires_grad else result


def _drawn(shape: tuple[int, ...], dtype: Dtype, device: Any, low: Any, high: Any) -> Tensor:
    if dtype is torch.bool:
        low, high = _interval(low, high, dtype, (0, 2), (0, 2))
        return torch.randint(low, high, shape, device=device, dtype=dtype)
    if dtype in _WHOLE:
        facts = torch.iinfo(dtype)
        end = facts.max + (dtype is not torch.int64)  # randint counts in int64 itself
        low, high = _interval(low, high, dtype, (facts.min, end), (-9, 10))
        return torch.randint(low, high, shape, device=device, dtype=dtype)
    if dtype not in _INEXACT:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To request support, file "
            "an issue at: https://github.com/pytorch/pytorch/issues"
        )
    limits = torch.finfo(dtype)
    low, high = _interval(low, high, dtype, (limits.min, limits.max), (-9, 9))
    result = torch.empty(shape, device=device, dtype=dtype)
    parts = torch.view_as_real(result) if dtype.is_complex else result
    if high - low >= torch.finfo(parts.dtype).max:  # wider than uniform_ can draw at once
        parts.uniform_(low / 2, high / 2).mul_(2)
    else:
        parts.uniform_(low, high)
    return result


def _interval(low: Any, high: Any, dtype: Dtype, limits: tuple[Any, Any], default: tuple[Any, Any]) -> tuple[Any, Any]:
    """The bounds, clipped to the range of the dtype; integers for an integer dtype."""
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    least, end = limits
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype in _INEXACT:
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {end})"
        )
    low, high = (min(max(bound, least), end) for bound in (low, high))
    return (low, high) if dtype in _INEXACT else (math.ceil(low), math.ceil(high))


def make_non_contiguous(tensor: Tensor) -> Tensor:
    """A copy whose elements have gaps between them in memory, as PyTorch 0.4's tests make them.

    >>> import wengert as torch
    >>> from wengert.testing import make_non_contiguous
    >>> make_non_contiguous(torch.ones(2, 3)).is_contiguous()
    False
    """
    if tensor.numel() <= 1:
        return tensor.clone()
    return tensor.new_zeros((*tensor.shape, 3)).select(-1, 1).copy_(tensor)

"""New tensors with strides that the program names: ``empty_strided`` and ``empty_permuted``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..._arrays import uninitialized
from ..._base.dtypes import type_name
from ..._payloads.meta import Meta
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import elsewhere, made, meta_device
from .create import _in_order, tuple_shape
from .makers import allocate, dtype_chosen, maker, options_of


@maker("torch.empty_strided")
def empty_strided(size: Any, stride: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with given strides, counted in elements.

    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    asked = options_of("empty_strided", kwargs)
    shape = tuple_shape("empty_strided", size)
    return made(_strided(shape, stride, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)


def _strided(shape: tuple[int, ...], stride: Any, np_dtype: Any, device: Any = None) -> Any:
    strides = tuple(_stride(s, k) for k, s in enumerate(stride))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(s < 0 for s in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if device is not None and meta_device(device):
        return Meta(shape, np_dtype, tuple(s * np_dtype.itemsize for s in strides))
    if device is not None and (away := elsewhere(device, np.empty, shape, np_dtype)) is not None:
        return away
    count = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    memory = allocate(uninitialized.empty, (count,), np_dtype)
    if not count:
        return np.empty(shape, np_dtype)
    return np.ndarray(shape, np_dtype, memory, 0, tuple(s * np_dtype.itemsize for s in strides))


def _stride(step: Any, place: int) -> int:
    try:
        return operator.index(step)
    except TypeError:
        raise TypeError(
            f"empty_strided(): argument 'stride' (position 2) must be tuple of ints, but found element of type "
            f"{type_name(step)} at pos {place}"
        ) from None


@maker("torch.empty_permuted")
def empty_permuted(size: Any, physical_layout: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with its dimensions in the given memory order, outermost first.

    >>> torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    asked = options_of("empty_permuted", kwargs)
    shape = tuple_shape("empty_permuted", size)
    order = tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for d in order:
        if not 0 <= d < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {d} at index "
                f"{order.index(d)}).  NB: negative dims not currently supported; file an issue if you want it."
            )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    return made(_in_order(shape, order, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)

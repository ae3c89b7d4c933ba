"""New tensors like another tensor: ``zeros_like``, ``ones_like``, ..., and the methods ``new_zeros``, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.memory import memory_order
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import warn
from ..._base.registry import public
from ..._payloads.meta import Meta, like, taken
from ..._payloads.transforms import plain_dtype
from ..._tape.error_text import expect_tensor
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import META, Tensor, device_of, wrap
from ..._tensor_api.construct import array_of, made, meta_device, moved_array
from .create import _empty_in, _strided, allocate, filled, number_of, options, plain_element, shape_of, tuple_shape


# -------------------------------------------------------------------------------------------------------- like a tensor
def like_options(
    function: str, input: Any, dtype: Any, layout: Any, device: Any, pin_memory: Any, requires_grad: Any
) -> Any:
    """Check the arguments common to all ``*_like`` functions; returns the NumPy dtype of the result."""
    expect_tensor(function, "input", 1, input)
    dtype = options(function, dtype, layout, device, pin_memory, requires_grad)
    return logical_dtype(input) if dtype is None else dtype.np


def empty_array_like(input: Tensor, np_dtype: Any, memory_format: Any = None) -> Any:
    """An uninitialised array with a tensor's shape, in its memory order unless ``memory_format`` says otherwise."""
    a = input._payload
    if memory_format in (None, dtypes.preserve_format):
        if type(a) is np.ndarray and not a.flags.c_contiguous:
            return _dense_like(a, np_dtype)
        return np.empty(tuple(a.shape), np_dtype)
    return _empty_in(tuple(a.shape), np_dtype, memory_format)


def _dense_like(a: Any, np_dtype: Any) -> Any:
    """An uninitialised dense array with the shape and memory order of ``a``."""
    order = memory_order(a)
    b = np.empty([a.shape[d] for d in order], np_dtype)
    return b.transpose([order.index(d) for d in range(a.ndim)])


@public("torch.zeros_like")
def zeros_like(
    input: Tensor,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of zeros with another tensor's shape and dtype.

    >>> import wengert as torch
    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return _like("zeros_like", input, 0, dtype, layout, device, pin_memory, requires_grad, memory_format)


@public("torch.ones_like")
def ones_like(
    input: Tensor,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of ones with another tensor's shape and dtype.

    >>> import wengert as torch
    >>> torch.ones_like(torch.tensor([1., 2.]))
    tensor([1., 1.])
    """
    return _like("ones_like", input, 1, dtype, layout, device, pin_memory, requires_grad, memory_format)


@public("torch.full_like")
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor filled with one value, with another tensor's shape and dtype.

    >>> import wengert as torch
    >>> torch.full_like(torch.tensor([1., 2.]), 7)
    tensor([7., 7.])
    """
    value = number_of(fill_value, "full_like", "fill_value", 2)
    return _like("full_like", input, value, dtype, layout, device, pin_memory, requires_grad, memory_format)


@public("torch.empty_like")
def empty_like(
    input: Tensor,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """An uninitialised tensor with another tensor's shape and dtype.

    >>> import wengert as torch
    >>> torch.empty_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return _like("empty_like", input, None, dtype, layout, device, pin_memory, requires_grad, memory_format)


def _like(
    function: str,
    input: Tensor,
    value: Any,
    dtype: Any,
    layout: Any,
    device: Any,
    pin: Any,
    requires_grad: Any,
    order: Any,
) -> Tensor:
    if dtype is None and layout is None and device is None and not pin and isinstance(input, Tensor):
        a = input._payload
        if type(a) is np.ndarray and order is None and a.flags.c_contiguous:
            np_dtype = a.dtype
            a = np.empty(a.shape, np_dtype)
            if value is not None:
                a.fill(plain_element(value, np_dtype))
            return made(a, requires_grad)
        np_dtype = logical_dtype(input)
    else:
        np_dtype = like_options(function, input, dtype, layout, device, pin, requires_grad)
    if meta_device(device, function) if device is not None else device_of(input._payload) is META:
        return made(without_data(input._payload, np_dtype, order), requires_grad)
    if device is not None and device_of(input._payload) is META:  # on the CPU
        input = wrap(np.broadcast_to(np.zeros((), np_dtype), input._payload.shape))
    if not isinstance(input._payload, (np.ndarray, np.generic)):
        if getattr(input._payload, "is_sparse", False) and layout is None:
            from ..._payloads.sparse import empty, missing

            if value:
                raise missing("fill_.Scalar")
            return made(empty(input._payload).astype(np_dtype), requires_grad)
        return made(_inside_like(input._payload, tuple(input.shape), value, np_dtype), requires_grad)
    a = empty_array_like(input, np_dtype, order)
    if value is not None:
        a.fill(plain_element(value, np_dtype))
    return made(a, requires_grad)


def without_data(a: Any, np_dtype: Any, memory_format: Any = None) -> Meta:
    """A payload on "meta" with the shape of ``a``, in its memory order unless ``memory_format`` says otherwise."""
    if memory_format in (None, dtypes.preserve_format):
        return like(a if isinstance(a, Meta) else taken(np.asarray(a)), np_dtype)
    return _empty_in(tuple(a.shape), plain_dtype(np_dtype), memory_format, META)


def _inside_like(payload: Any, shape: tuple[int, ...], value: Any, np_dtype: Any) -> Any:
    """A writable constant of this shape, with the batch dims of the vmaps around ``payload``."""
    from ..._payloads.transforms import Batched, Transformed

    sizes, tags = [], []
    while isinstance(payload, (Transformed, Tensor)):
        if isinstance(payload, Batched):
            sizes.append(payload.v.shape[0])
            tags.append(payload.tag)
        payload = payload._payload if isinstance(payload, Tensor) else payload.v
    whole = (*reversed(sizes), *shape)
    a = np.empty(whole, np_dtype) if value is None else filled(whole, value, np_dtype)
    for tag in reversed(tags):
        a = Batched(a, tag)
    return a


# ----------------------------------------------------------------------------------------------------- methods: new_...
def _new(
    function: str,
    self: Tensor,
    shape: tuple[int, ...],
    value: Any,
    dtype: Any,
    device: Any,
    requires_grad: Any,
    layout: Any,
    pin: Any,
) -> Tensor:
    a = self._payload
    if type(a) is np.ndarray and dtype is device is layout is None and not pin and type(requires_grad) is bool:
        a = allocate(np.empty, shape, a.dtype) if value is None else filled(shape, value, a.dtype)
        return made(a, requires_grad)
    chosen = options(function, dtype, layout, device, pin, requires_grad)
    np_dtype = logical_dtype(self) if chosen is None else chosen.np
    device = device_of(self._payload) if device is None else device
    if meta_device(device, function):
        return made(Meta(shape, np_dtype), requires_grad)
    if not isinstance(self._payload, (np.ndarray, np.generic)) and device_of(self._payload) is not META:
        return made(_inside_like(self._payload, shape, value, np_dtype), requires_grad)
    a = allocate(np.empty, shape, np_dtype) if value is None else filled(shape, value, np_dtype)
    return made(a, requires_grad)


@public("Tensor.new_zeros")
def new_zeros(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False, **kwargs: Any
) -> Tensor:  # fmt: skip
    """A tensor of zeros with this tensor's dtype.

    >>> import wengert as torch
    >>> torch.tensor([1]).new_zeros(2)
    tensor([0, 0])
    """
    shape = shape_of("new_zeros", size, kwargs)
    return _new("new_zeros", self, shape, 0, dtype, device, requires_grad, layout, pin_memory)


@public("Tensor.new_ones")
def new_ones(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False, **kwargs: Any
) -> Tensor:  # fmt: skip
    """A tensor of ones with this tensor's dtype."""
    shape = shape_of("new_ones", size, kwargs)
    return _new("new_ones", self, shape, 1, dtype, device, requires_grad, layout, pin_memory)


@public("Tensor.new_empty")
def new_empty(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False, **kwargs: Any
) -> Tensor:  # fmt: skip
    """An uninitialised tensor with this tensor's dtype."""
    shape = shape_of("new_empty", size, kwargs)
    return _new("new_empty", self, shape, None, dtype, device, requires_grad, layout, pin_memory)


@public("Tensor.new_full")
def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False
) -> Tensor:  # fmt: skip
    """A tensor filled with one value, with this tensor's dtype.

    >>> import wengert as torch
    >>> torch.tensor([1.]).new_full((2,), 3)
    tensor([3., 3.])
    """
    value = number_of(fill_value, "new_full", "fill_value", 2)
    shape = tuple_shape("new_full", size)
    return _new("new_full", self, shape, value, dtype, device, requires_grad, layout, pin_memory)


@public("Tensor.new_empty_strided")
def new_empty_strided(
    self: Tensor, size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False
) -> Tensor:  # fmt: skip
    """An uninitialised tensor with given strides and this tensor's dtype."""
    chosen = options("new_empty_strided", dtype, layout, device, pin_memory, requires_grad)
    np_dtype = logical_dtype(self) if chosen is None else chosen.np
    device = device_of(self._payload) if device is None else device
    return made(_strided(tuple_shape("new_empty_strided", size), stride, np_dtype, device), requires_grad)


@public("Tensor.new_tensor")
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False
) -> Tensor:  # fmt: skip
    """A new leaf with a copy of the data and this tensor's dtype.

    >>> import wengert as torch
    >>> torch.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    chosen = options("new_tensor", dtype, layout, device, pin_memory, requires_grad) or BY_NUMPY[logical_dtype(self)]
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor)."
        )
    device = device_of(self._payload) if device is None else device
    return made(moved_array(array_of(data, chosen), device, "new_tensor"), requires_grad)


@public("Tensor.new")
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """PyTorch 0.1's form of ``new_empty`` (given sizes) and ``new_tensor`` (given a list).

    On a sparse tensor it returns a sparse tensor, from a size, or from indices, values and a size.

    >>> import wengert as torch
    >>> torch.tensor([1]).new([4, 5]), torch.ones(1).new(2, 3).shape
    (tensor([4, 5]), torch.Size([2, 3]))
    """
    from ..._tensor_api.legacy_types import name_of_type, new_of
    from ..names.sparse import is_sparse, sparse_coo_tensor

    dtype = BY_NUMPY[logical_dtype(self)]
    if is_sparse(self):
        if args and isinstance(args[0], int):
            args = (args,)
        return sparse_coo_tensor(*(args or ((0,),)), dtype=dtype, **kwargs)
    return new_of(dtype, name_of_type(dtype), args, kwargs)

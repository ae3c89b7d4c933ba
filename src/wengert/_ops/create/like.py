"""New tensors like another tensor: ``zeros_like``, ``ones_like``, ..., and the methods ``new_zeros``, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import uninitialized
from ..._arrays.layouts import empty_like as dense_like
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY
from ..._base.errors import warn
from ..._base.registry import public
from ..._kinds.slow_path import check_arguments
from ..._payloads.meta import Meta, like, taken
from ..._payloads.transforms import plain_dtype
from ..._tape.error_text import expect_tensor
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import META, Tensor, device_of, in_memory, wrap
from ..._tensor_api.construct import array_of, elsewhere, made, meta_device, moved_array, number_of
from .create import _empty_in, empty_sparse, filled_with_ones, plain_shape, shape_of, tuple_shape
from .filled import filled, plain_element
from .makers import OF_ALL, Options, allocate, maker, options_of
from .strided import _strided


# ---- like a tensor
def empty_array_like(input: Tensor, np_dtype: Any, memory_format: Any = None) -> Any:
    """An uninitialised array with a tensor's shape, in its memory order unless ``memory_format`` says otherwise."""
    a = in_memory(input._payload)
    if memory_format in (None, dtypes.preserve_format):
        if type(a) is np.ndarray and not a.flags.c_contiguous:
            return uninitialized.settled(dense_like(a, np_dtype))
        return uninitialized.empty(tuple(a.shape), np_dtype)
    return _empty_in(tuple(a.shape), np_dtype, memory_format)


@maker("torch.zeros_like", "memory_format")
def zeros_like(input: Tensor, **kwargs: Any) -> Tensor:
    """A tensor of zeros with another tensor's shape and dtype.

    >>> torch.zeros_like(torch.tensor([1, 2]))
    tensor([0, 0])
    """
    return _like("zeros_like", input, 0, kwargs)


@maker("torch.ones_like", "memory_format")
def ones_like(input: Tensor, **kwargs: Any) -> Tensor:
    """A tensor of ones with another tensor's shape and dtype.

    >>> torch.ones_like(torch.tensor([1., 2.]))
    tensor([1., 1.])
    """
    return _like("ones_like", input, 1, kwargs)


@maker("torch.full_like", "memory_format")
def full_like(input: Tensor, fill_value: Any, **kwargs: Any) -> Tensor:
    """A tensor filled with one value, with another tensor's shape and dtype.

    >>> torch.full_like(torch.tensor([1., 2.]), 7)
    tensor([7., 7.])
    """
    value = number_of(fill_value, "full_like", "fill_value", 2)
    return _like("full_like", input, value, kwargs)


@maker("torch.empty_like", "memory_format")
def empty_like(input: Tensor, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with another tensor's shape and dtype.

    >>> torch.empty_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return _like("empty_like", input, None, kwargs)


def _like(function: str, input: Tensor, value: Any, kwargs: dict[str, Any]) -> Tensor:
    if not kwargs and isinstance(input, Tensor):
        a = input._payload
        if type(a) is np.ndarray and a.flags.c_contiguous:
            if type(value) is int and not value:
                return made(np.zeros(a.shape, a.dtype))
            np_dtype = a.dtype
            a = uninitialized.empty(a.shape, np_dtype)
            if value is not None:
                a.fill(plain_element(value, np_dtype))
            return made(a)
    if hasattr(a := expect_tensor(function, "input", 1, input)._payload, "asked"):
        return a.asked(function, *([value] if function == "full_like" else ()), **kwargs)  # type: ignore[no-any-return]
    asked = options_of(function, kwargs)
    if asked.memory_format is not None:
        check_arguments("zeros_like", input, memory_format=asked.memory_format)
    a = in_memory(a)
    np_dtype = logical_dtype(input) if asked.dtype is None else asked.dtype.np
    device = device_of(a) if asked.device is None else asked.device
    if meta_device(device, function):
        a = without_data(a, np_dtype, asked.memory_format)
    elif (away := elsewhere(device, np.empty, tuple(a.shape), np_dtype)) is not None:
        a = away
        if value is not None:
            a.fill(plain_element(value, np_dtype))
    elif asked.layout not in (None, dtypes.strided) and not hasattr(a, "layout"):
        a = _sparse_like(a, value, np_dtype, asked.layout)
    elif isinstance(a, (np.ndarray, np.generic)) or device_of(a) is META:
        if device_of(a) is META:  # asked for on the CPU
            input = wrap(np.broadcast_to(np.zeros((), np_dtype), a.shape))
        a = empty_array_like(input, np_dtype, asked.memory_format)
        if value is not None:
            a.fill(plain_element(value, np_dtype))
    elif hasattr(a, "layout"):
        if asked.memory_format is not None:
            _refuse_format(function, a, asked.memory_format)
        a = _sparse_like(a, value, np_dtype, asked.layout or a.layout)
    else:
        a = _inside_like(a, tuple(input.shape), value, np_dtype)
    return made(a, asked.requires_grad)


def _refuse_format(function: str, a: Any, asked: Any) -> None:
    """Raise the error for a memory format of a sparse tensor's like, if PyTorch has one."""
    if a.layout is dtypes.sparse_coo:
        raise RuntimeError("memory format option is only supported by strided tensors")
    if asked is dtypes.preserve_format and function != "zeros_like":
        raise RuntimeError("unsupported memory format Preserve")


def _sparse_like(a: Any, value: Any, np_dtype: Any, layout: Any) -> Any:
    """A sparse array of the shape of ``a`` for ``zeros_like`` and its like, with the indices of ``a`` unless zeros."""
    from ..._payloads import compressed, sparse

    old = getattr(a, "layout", dtypes.strided)
    if value == 0 and value is not None:
        return np.zeros(a.shape, np_dtype) if layout is dtypes.strided else empty_sparse(a.shape, np_dtype, layout)
    if layout is not old:
        names = [compressed.layout_name(each) for each in (old, layout)]
        raise RuntimeError(
            f"empty_like with different sparse layout is not supported (self is {names[0]} but you requested "
            f"{names[1]})"
        )
    if old is dtypes.sparse_coo:
        if value is not None:
            raise sparse.missing("fill_.Scalar")
        return sparse.empty(a).astype(np_dtype)
    a = a.copy().astype(np_dtype)
    if value is not None:
        a.values.fill(plain_element(value, np_dtype))
    return a


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
    a = uninitialized.empty(whole, np_dtype) if value is None else filled(whole, value, np_dtype)
    for tag in reversed(tags):
        a = Batched(a, tag)
    return a


# ---- methods: new_...
def _new(function: str, self: Tensor, shape: tuple[int, ...], value: Any, asked: Options | None = None) -> Tensor:
    a = self._payload
    if asked is None and type(a) is np.ndarray:
        return made(allocate(uninitialized.empty, shape, a.dtype) if value is None else filled(shape, value, a.dtype))
    a = in_memory(a)
    asked = asked or options_of(function, {})
    if hasattr(a, "asked"):
        given = {name: v for name in OF_ALL if name != "requires_grad" and (v := getattr(asked, name))}
        t: Tensor = a.asked(function, shape, *([value] if function == "new_full" else ()), **given)
        return t.requires_grad_() if asked.requires_grad else t
    np_dtype, device = _beside(self, asked)
    if (away := elsewhere(device, np.empty, shape, np_dtype, function)) is not None:
        a = away
        if value is not None:
            a.fill(plain_element(value, np_dtype))
    elif not value and (asked.layout or getattr(a, "layout", dtypes.strided)) is not dtypes.strided:
        a = empty_sparse(shape, np_dtype, asked.layout or a.layout)
    elif not isinstance(a, (np.ndarray, np.generic)) and device_of(a) is not META:
        a = _inside_like(a, shape, value, np_dtype)
    else:
        a = allocate(uninitialized.empty, shape, np_dtype) if value is None else filled(shape, value, np_dtype)
    return made(a, asked.requires_grad)


def _beside(self: Tensor, asked: Options) -> tuple[Any, Any]:
    """The dtype and the device that were asked for, by default those of a tensor."""
    np_dtype = logical_dtype(self) if asked.dtype is None else asked.dtype.np
    return np_dtype, device_of(self._payload) if asked.device is None else asked.device


def _new_of_sizes(
    function: str, self: Tensor, value: int | None, size: tuple[Any, ...], kwargs: dict[str, Any]
) -> Tensor:
    """A tensor of zeros, of ones, or uninitialised (``None``), for ``new_zeros`` and its like."""
    a = self._payload
    if not kwargs and type(a) is np.ndarray and (shape := plain_shape(size)) is not None:
        try:
            make = uninitialized.empty if value is None else filled_with_ones if value else np.zeros
            return made(make(shape, a.dtype))
        except (ValueError, MemoryError):
            pass  # the checks below raise the error
    asked = options_of(function, kwargs, True) if kwargs else None
    return _new(function, self, shape_of(function, size, asked.others if asked else None), value, asked)


@maker("Tensor.new_zeros")
def new_zeros(self: Tensor, *size: Any, **kwargs: Any) -> Tensor:
    """A tensor of zeros with this tensor's dtype.

    >>> torch.tensor([1]).new_zeros(2)
    tensor([0, 0])
    """
    return _new_of_sizes("new_zeros", self, 0, size, kwargs)


@maker("Tensor.new_ones")
def new_ones(self: Tensor, *size: Any, **kwargs: Any) -> Tensor:
    """A tensor of ones with this tensor's dtype."""
    return _new_of_sizes("new_ones", self, 1, size, kwargs)


@maker("Tensor.new_empty")
def new_empty(self: Tensor, *size: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with this tensor's dtype."""
    return _new_of_sizes("new_empty", self, None, size, kwargs)


@maker("Tensor.new_full")
def new_full(self: Tensor, size: Any, fill_value: Any, **kwargs: Any) -> Tensor:
    """A tensor filled with one value, with this tensor's dtype.

    >>> torch.tensor([1.]).new_full((2,), 3)
    tensor([3., 3.])
    """
    asked = options_of("new_full", kwargs) if kwargs else None
    value = number_of(fill_value, "new_full", "fill_value", 2)
    return _new("new_full", self, tuple_shape("new_full", size), value, asked)


@maker("Tensor.new_empty_strided")
def new_empty_strided(self: Tensor, size: Any, stride: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with given strides and this tensor's dtype."""
    asked = options_of("new_empty_strided", kwargs)
    shape = tuple_shape("new_empty_strided", size)
    return made(_strided(shape, stride, *_beside(self, asked)), asked.requires_grad)


@maker("Tensor.new_tensor")
def new_tensor(self: Tensor, data: Any, **kwargs: Any) -> Tensor:
    """A new leaf with a copy of the data and this tensor's dtype.

    >>> torch.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    asked = options_of("new_tensor", kwargs)
    np_dtype, device = _beside(self, asked)
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor)."
        )
    return made(moved_array(array_of(data, BY_NUMPY[np_dtype]), device, "new_tensor"), asked.requires_grad)


@public("Tensor.new")
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """PyTorch 0.1's form of ``new_empty`` (given sizes) and ``new_tensor`` (given a list).

    On a sparse tensor it returns a sparse tensor, from a size, or from indices, values and a size.

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

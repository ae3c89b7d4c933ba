"""New tensors of a given shape: zeros, ones, empty. The ``*_like`` and ``new_*`` forms are in ``like``.

None of them has a derivative, so they are plain functions that make an array. ``shape_of`` reads sizes as PyTorch
does; what they share with other functions is in ``makers``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays import uninitialized
from ..._base import dtypes
from ..._base.dtypes import dtype as Dtype
from ..._base.dtypes import type_name
from ..._base.errors import unexpected_keyword
from ..._base.modes import slow_if_recording
from ..._payloads.meta import in_order
from ..._tape.tensor import Tensor, wrap
from ..._tape.tensor import make as new
from ..._tensor_api.construct import elsewhere, made, meta_device
from .makers import ACCEPTED, OF_ALL, allocate, dtype_chosen, finish, maker, options_of


# ---- arguments
def shape_of(function: str, size: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[int, ...]:
    """The shape from sizes given one by one, as one tuple or list, or as ``size`` in ``kwargs``.

    Raises TypeError for invalid or missing sizes and for unknown keyword arguments.
    """
    if kwargs:
        for key in kwargs:
            if key != "size" or size:
                raise unexpected_keyword(function, key, ("size", *ACCEPTED.get(function, OF_ALL)))
        size = (kwargs["size"],)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return _sizes(function, size[0], True)
    if not size:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    if isinstance(size[0], (tuple, list)):
        raise TypeError(f"{function}() takes 1 positional argument but {len(size)} were given")
    return _sizes(function, size, False)


def plain_shape(size: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The shape if it is given as ints or as one tuple of ints, without checking their values; else ``None``."""
    if len(size) == 1 and isinstance(size[0], tuple):
        size = size[0]
    elif not size:
        return None
    for n in size:
        if type(n) is not int:
            return None
    return size


def _sizes(function: str, items: Any, listed: bool) -> tuple[int, ...]:
    sizes = []
    for position, n in enumerate(items):
        if type(n) is not int:
            n = _one_size(function, n, position, listed)
        if n < 0:
            if function == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            text = ", ".join(str(i) for i in items)
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{text}]")
        if n >= 1 << 63:
            raise TypeError(
                f"{function}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                '"Overflow when unpacking long long"'
            )
        sizes.append(n)
    return tuple(sizes)


def _one_size(function: str, n: Any, position: int, listed: bool) -> int:
    if position or not isinstance(n, bool):  # as in PyTorch, all but the first may be bools
        try:
            return operator.index(n)
        except (TypeError, RuntimeError):
            pass
    if position == 0:
        what = f", but found element of type {type_name(n)} at pos 0" if listed else f", not {type_name(n)}"
    else:
        raise TypeError(
            f"{function}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {type_name(n)}"'
        )
    raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints{what}")


def tuple_shape(function: str, size: Any) -> tuple[int, ...]:
    """Read a shape that must be given as a tuple or list."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type_name(size)}")
    return _sizes(function, size, True)


# ---- functions
def filled_with_ones(shape: tuple[int, ...], np_dtype: Any) -> Any:
    a = np.empty(shape, np_dtype)
    a.fill(1)
    return a


_PLAIN = frozenset(("dtype", "requires_grad"))


def _of_sizes(function: str, make: Callable[..., Any], size: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``make(shape, dtype)`` as a tensor; for ``zeros``, ``ones`` and ``empty``."""
    if not (kwargs or slow_if_recording):
        plain = plain_shape(size)
        if plain is not None:
            try:
                t: Tensor = new()
                t._payload = make(plain, dtypes.default_np)
                t._node = t._box = None
                return t
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    elif not slow_if_recording and kwargs.keys() <= _PLAIN:
        plain, dtype, requires_grad = plain_shape(size), kwargs.get("dtype"), kwargs.get("requires_grad", False)
        if plain is not None and (dtype is None or type(dtype) is Dtype) and type(requires_grad) is bool:
            try:
                a = make(plain, dtypes.default_np if dtype is None else dtype.np)
                return made(a, True) if requires_grad else wrap(a)
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    asked = options_of(function, kwargs, True)
    shape = shape_of(function, size, asked.others)
    if asked.memory_format is dtypes.preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    np_dtype = dtype_chosen(asked.dtype, asked.out)
    if asked.layout not in (None, dtypes.strided):
        a = empty_sparse(shape, np_dtype, asked.layout)
    elif asked.memory_format is not None:
        a = _empty_in(shape, np_dtype, asked.memory_format, asked.device)
    else:
        a = allocate(make, shape, np_dtype, asked.device)
    return finish(a, asked.out, asked.requires_grad)


@maker("torch.zeros", "out")
def zeros(*size: Any, **kwargs: Any) -> Tensor:
    """A tensor of zeros.

    >>> torch.zeros(2, 3), torch.zeros((2,), dtype=torch.int64)
    (tensor([[0., 0., 0.],
            [0., 0., 0.]]), tensor([0, 0]))
    """
    return _of_sizes("zeros", np.zeros, size, kwargs)


@maker("torch.ones", "out")
def ones(*size: Any, **kwargs: Any) -> Tensor:
    """A tensor of ones.

    >>> torch.ones(2, requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """
    return _of_sizes("ones", filled_with_ones, size, kwargs)


@maker("torch.empty", "out", "memory_format")
def empty(*size: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor.

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    return _of_sizes("empty", uninitialized.empty, size, kwargs)


def empty_sparse(shape: tuple[int, ...], np_dtype: Any, layout: Any) -> Any:
    """A payload in a sparse layout that stores nothing."""
    from ..._payloads.compressed import empty
    from ..._payloads.compressed_errors import no_blocks
    from ..._payloads.sparse import Sparse

    if layout is dtypes.sparse_coo:
        return Sparse(np.empty((len(shape), 0), np.int64), np.empty(0, np_dtype), shape, True)
    if layout not in (dtypes.sparse_csr, dtypes.sparse_csc):
        raise no_blocks(layout)
    if len(shape) < 2:
        raise RuntimeError(
            f"torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size {list(shape)}"
        )
    return empty(shape, np_dtype, layout)


def _empty_in(shape: tuple[int, ...], np_dtype: Any, memory_format: Any = None, device: Any = None) -> Any:
    """An uninitialised array in a memory format."""
    for wanted, rank, name in (
        (dtypes.channels_last, 4, "channels_last"),
        (dtypes.channels_last_3d, 5, "channels_last_3d"),
    ):
        if memory_format is wanted:
            if len(shape) != rank:
                raise RuntimeError(f"required rank {rank} tensor to use {name} format")
            order = (0, *range(2, rank), 1)
            return _in_order(shape, order, np_dtype, device)
    return allocate(uninitialized.empty, shape, np_dtype, device)


def _in_order(shape: tuple[int, ...], order: tuple[int, ...], np_dtype: Any, device: Any) -> Any:
    """An uninitialised array with its dims in the given memory order, outermost first."""
    if device is not None and meta_device(device):
        return in_order(shape, np_dtype, order)
    if device is not None and (away := elsewhere(device, np.empty, shape, np_dtype)) is not None:
        return away
    a = allocate(uninitialized.empty, tuple(shape[d] for d in order), np_dtype)
    return a.transpose(tuple(order.index(d) for d in range(len(shape))))

"""Storages of a file, and the conversion of tensors to positions in storages and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays.memory import address_of, storage_of
from .._base import dtypes
from .._base.dtypes import dtype as Dtype
from .._payloads.meta import Meta
from .._tape.tensor import Tensor, wrap
from .._tensor_api.copying import MAX_DIMS, _array, whole_numbers
from .._tensor_api.layout import stride, strides_of
from .._tensor_api.legacy_types import TYPES, tensortype
from .._tensor_api.storage import TypedStorage, UntypedStorage, typed_of

STORAGE_NAMES = {f"{name.removesuffix('Tensor')}Storage": kind.dtype for name, kind in TYPES.items()} | {
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
}
"""The names of storages in PyTorch's files, by dtype."""
NAME_OF_DTYPE = {dtype: name for name, dtype in STORAGE_NAMES.items()}


class Place(NamedTuple):
    """The position of a tensor: a flat array of its dtype, the offset of the first element, the strides."""

    memory: np.ndarray
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


def place_of(tensor: Tensor) -> Place:
    """The memory that a tensor shares with its views, and the tensor's position in it.

    An array with a layout that tensors cannot have (negative strides, or unaligned elements) is copied.
    """
    a = _array(tensor, "saved")
    place = _place_in_owner(a, stride(tensor))
    if place is None:
        a = a.copy(order="C")
        place = Place(a.ravel(), 0, a.shape, strides_of(a))
    return place


def _place_in_owner(a: np.ndarray, steps: tuple[int, ...]) -> Place | None:
    owner, itemsize = storage_of(a), a.dtype.itemsize
    offset = address_of(a) - address_of(owner) if a.size else 0
    odd = any(step < 0 or step % itemsize for step in a.strides) or offset < 0
    if odd or offset % itemsize or owner.nbytes % itemsize:
        return None
    memory = owner.ravel(order="K")
    if memory.size and address_of(memory) != address_of(owner):  # the owner has gaps: ravel made a copy
        return None
    if memory.dtype != a.dtype:
        memory = memory.view(a.dtype)
    return Place(memory, offset // itemsize, a.shape, steps)


# ---- rebuilding
def storage_on(memory: np.ndarray, typed: bool = True) -> Any:
    """A storage object on a flat array."""
    return (TypedStorage if typed else UntypedStorage)._on(memory)


def tensor_on(memory: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    """A tensor on a flat array, without allocating memory.

    Raises:
        RuntimeError: the tensor would extend beyond the array, or an argument is not a number.
    """
    size, stride = whole_numbers(size, "sizes"), whole_numbers(stride, "strides")
    (offset,) = whole_numbers((offset,), "offset")
    if len(size) != len(stride) or len(size) > MAX_DIMS:
        raise RuntimeError(
            f"setStorage: {len(size)} sizes and {len(stride)} strides do not belong to a tensor of up to {MAX_DIMS} "
            "dimensions"
        )
    itemsize = memory.dtype.itemsize
    try:
        needed = 0 if 0 in size else offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if needed > memory.size:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
                f"{itemsize} requiring a storage size of {needed * itemsize} are out of bounds for storage of size "
                f"{memory.nbytes}"
            )
        strides = tuple(step * itemsize for step in stride)
        offset = min(offset, memory.size)  # that of a tensor without elements may be any
        if type(memory) is Meta:
            return wrap(Meta(size, memory.dtype, strides, memory.memory, memory.offset + offset * itemsize))
        return wrap(np.ndarray(size, memory.dtype, memory, offset * itemsize, strides))
    except (ValueError, OverflowError):  # more elements than there are addresses
        raise RuntimeError(f"setStorage: sizes {list(size)} and strides {list(stride)} are too large") from None


# ---- storages by their names
class _OfOneDtype(tensortype):
    """The class of ``FloatStorage`` and its like: a name for a dtype, as ``FloatTensor`` is."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, **given: Any) -> TypedStorage:  # type: ignore[override]
        return typed_of(cls.__name__, cls.dtype, args, given)


def _make(name: str, dtype: Dtype) -> _OfOneDtype:
    doc = f"A storage of ``torch.{dtype.name}``; called with a size or a sequence, it makes one."
    return _OfOneDtype(name, (TypedStorage,), {"dtype": dtype, "__doc__": doc, "__module__": "wengert"})


STORAGES: dict[str, Any] = {name: _make(name, dtype) for name, dtype in STORAGE_NAMES.items()}
"""``torch.FloatStorage`` and its like, by name."""

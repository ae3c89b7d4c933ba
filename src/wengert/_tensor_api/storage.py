"""Storages: objects for the memory that a tensor and its views share.

They have the size, address and elements, and can be written to. ``untyped_storage()`` counts bytes, ``storage()``
(deprecated in PyTorch) elements. A storage here is the NumPy array that owns the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arrays.memory import address_of, mapped_file, storage_of
from .._base.dtypes import BY_NUMPY, DTYPES, device
from .._base.errors import noted, warn_once
from .._base.registry import public
from .._payloads.meta import Meta, no_data, whole
from .._payloads.transforms import plain_dtype
from .._tape.promotion import logical_dtype
from .._tape.tensor import META, Tensor, alias_payload, device_of, wrap
from .._tape.views import count_write
from .protocol import array_of


class _Storage:
    """The base class of both kinds: an array of the counted elements, and the tensor whose storage this is."""

    def __init__(self, array: np.ndarray, tensor: Tensor) -> None:
        self._array = array
        self._tensor = tensor

    @property
    def device(self) -> device:
        """The CPU, or the device "meta"."""
        return device_of(self._array)

    is_cuda = False
    is_sparse = False

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return address_of(self._array) if self._array.size and isinstance(self._array, np.ndarray) else 0

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._array.nbytes

    def size(self) -> int:
        """The number of elements (of bytes, for an untyped storage)."""
        return self._array.size

    __len__ = size

    def __sizeof__(self) -> int:
        """The bytes of the object and its memory: ``sys.getsizeof(storage)``."""
        return super().__sizeof__() + self.nbytes()

    def element_size(self) -> int:
        """Bytes per element."""
        return self._array.itemsize

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._array.tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        item = self._array[index]
        return type(self)(item, self._tensor) if isinstance(item, np.ndarray) else item.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value
        count_write(self._tensor)

    def fill_(self, value: Any) -> Any:
        """Set every element."""
        self._array[...] = value
        count_write(self._tensor)
        return self

    def copy_(self, source: Any, non_blocking: bool = False) -> Any:
        """Copy the elements of another storage of the same size."""
        if len(source) != len(self):
            raise RuntimeError(f"size of source ({len(source)}) and destination ({len(self)}) storages differ")
        self._array[...] = source._array
        count_write(self._tensor)
        return self

    def clone(self) -> Any:
        """A copy of the storage."""
        return type(self)(self._array.copy(), self._tensor)

    def cpu(self) -> Any:
        """The storage itself, which is on the CPU; NotImplementedError for one without data."""
        if isinstance(self._array, np.ndarray):
            return self
        raise no_data()

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """The storage itself where the CPU stands for cards; AssertionError elsewhere."""
        if device("cuda").type != "cpu":
            raise AssertionError("Torch not compiled with CUDA enabled")
        return self

    def is_shared(self) -> bool:
        """Whether other processes see this memory."""
        return isinstance(self._array, np.ndarray) and _is_shared(self._array)

    def _lines(self) -> str:
        if not isinstance(self._array, np.ndarray):
            return "...\n"
        return "".join(f" {x}\n" for x in self.tolist())


class UntypedStorage(_Storage):
    """The bytes of a storage."""

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first ``nbytes`` of a file; with ``shared``, writes change the file, else only this process's memory.

        Raises RuntimeError if the file does not exist or is too small.
        """
        memory = wrap(mapped_file(filename, shared, nbytes, DTYPES["uint8"].np))
        return cls(memory._payload, memory)

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def __repr__(self) -> str:
        return f"{self._lines()}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage(_Storage):
    """The elements of a storage."""

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return BY_NUMPY[self._array.dtype]

    def untyped(self) -> UntypedStorage:
        """The same memory, counted in bytes."""
        return UntypedStorage(self._array.view(np.uint8), self._tensor)

    def type(self) -> str:
        """The name of the type, such as ``"torch.FloatStorage"``."""
        return self._tensor.type().replace("Tensor", "Storage")

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, device={self.device}"
        return f"{self._lines()}[torch.storage.TypedStorage({kind}) of size {len(self)}]"


def on_storage(obj: Any, dtype: Any) -> Any:
    """A 1-dimensional array of ``dtype`` on a storage's memory; ``None`` if the object is not a storage."""
    if isinstance(obj, TypedStorage) or (isinstance(obj, UntypedStorage) and dtype is not None):
        return obj._array if dtype is None else obj._array.view(dtype.np)
    return None


def _memory(self: Tensor) -> Any:
    """The whole memory that a tensor is a view of, as a 1-dimensional array of its dtype."""
    if type(self._payload) is Meta:
        return whole(self._payload)
    if getattr(self._payload, "is_foreign", False):
        raise NotImplementedError(
            f"the storage of a tensor on {self.device} is {type(self._payload.v).__module__}'s own"
        )
    if getattr(self._payload, "is_sparse", False):
        from .._payloads.sparse import lacks

        raise lacks(self._payload, "storage")
    array_of(self)
    owner = storage_of(alias_payload(self))
    flat = owner.ravel(order="K")
    if not np.shares_memory(flat, owner) and owner.size:
        flat = np.lib.stride_tricks.as_strided(owner, (1,), (owner.itemsize,))
    return flat


@public("Tensor.untyped_storage")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that the tensor and its views share, counted in bytes.

    >>> torch.ones(2, 3)[0].untyped_storage().nbytes()
    24
    """
    return UntypedStorage(_memory(self).view(np.uint8), self)


@public("Tensor.storage")
def storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor and its views share, counted in elements; new code uses ``untyped_storage``."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )
    return _typed_storage(self)


@public("Tensor._typed_storage")
def _typed_storage(self: Tensor) -> TypedStorage:
    """``storage()`` without its warning."""
    memory = _memory(self)
    dtype = logical_dtype(self)
    return TypedStorage(memory if plain_dtype(memory.dtype) == dtype else memory.view(dtype), self)


@public("torch.is_storage")
def is_storage(obj: Any) -> bool:
    """Whether an object is a storage.

    >>> torch.is_storage(torch.ones(2).untyped_storage()), torch.is_storage(torch.ones(2))
    (True, False)
    """
    return isinstance(obj, _Storage)


# ---- memory between processes
def memory_root(a: np.ndarray) -> Any:
    """The object that owns the memory behind an array and its bases; None if NumPy allocated the memory."""
    base: Any = a
    while isinstance(base, (np.ndarray, memoryview)):
        base = base.obj if isinstance(base, memoryview) else base.base
    return base


def _is_shared(a: np.ndarray) -> bool:
    return any(kind.__module__ == "mmap" for kind in type(memory_root(a)).__mro__)


@public("Tensor.is_shared")
def is_shared(self: Tensor) -> bool:
    """Whether processes forked from this one see the tensor's memory: see ``share_memory_``."""
    a = self._payload
    if getattr(a, "is_sparse", False):
        _memory(self)  # which raises
    return isinstance(a, np.ndarray) and _is_shared(a)


@public("Tensor.share_memory_")
def share_memory_(self: Tensor) -> Tensor:
    """Move the elements to memory that other processes see and write to.

    Call it before views are made: earlier views remain on the old memory. Processes forked from this one share the
    memory. Processes that get the tensor through ``torch.multiprocessing`` share it on Linux and get a copy elsewhere.

    Raises:
        RuntimeError: the tensor is a view, whose base would remain on the old memory.
    """
    if is_shared(self):
        return self
    if device_of(self._payload) is META:
        raise RuntimeError("_share_fd_: only available on CPU")
    if self._is_view():
        raise noted(
            RuntimeError("share_memory_() on a view: its base would stay where it is"),
            "What to do: call it on the base, or clone() the view first.",
        )
    from .._arrays.shared_memory import shared_memory  # seldom needed

    a = alias_payload(self)
    shared = np.frombuffer(shared_memory(max(a.nbytes, 1)), a.dtype, a.size).reshape(a.shape)
    np.copyto(shared, a)
    self._payload = shared
    if self._box is not None:
        self._box.a = shared
    return self

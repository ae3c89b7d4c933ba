"""Storages: objects for the memory that a tensor and its views share.

They have the size, address and elements, and can be written to. ``untyped_storage()`` counts bytes, ``storage()``
(deprecated in PyTorch) elements. A storage here is the NumPy array that owns the memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from .._arrays.memory import address_of, mapped_file, storage_of
from .._base.constants import type_name
from .._base.dtypes import BY_NUMPY, DTYPES, device, get_default_dtype
from .._base.dtypes import device as as_device
from .._base.dtypes import dtype as DType
from .._base.errors import noted, warn_once
from .._base.late_names import keep_former_name
from .._base.registry import public
from .._payloads.meta import Meta, no_data, whole
from .._payloads.transforms import plain_dtype
from .._tape.promotion import logical_dtype
from .._tape.tensor import META, Tensor, alias_payload, device_of, wrap
from .._tape.views import count_write
from .protocol import array_of
from .storage_memory import allocated, elements, elements_of, sequence, swap

_DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
    "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
    "use tensor.untyped_storage() instead of tensor.storage()"
)


class _Storage:
    """The base class of both kinds: an array of the counted elements, and the tensor whose storage this is."""

    _array: Any
    _tensor: Tensor
    __setitem__: Any  # of either kind

    @classmethod
    def _on(cls, array: Any, tensor: Tensor | None = None) -> Any:
        """A storage object on the memory of an array."""
        self = object.__new__(cls)
        self._array = array
        self._tensor = wrap(array) if tensor is None else tensor
        return self

    @property
    def device(self) -> device:
        """The CPU, or the device "meta"."""
        return device_of(self._array)

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False
    filename = None

    @property
    def _cdata(self) -> int:
        """A number that all objects for one memory have in common."""
        owner = getattr(self._array, "memory", self._array)
        while isinstance(getattr(owner, "base", None), np.ndarray):
            owner = owner.base
        return id(owner)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Storage) and type(other) is type(self) and other._cdata == self._cdata

    def __hash__(self) -> int:
        return hash(self._cdata)

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

    _size, _nbytes, _element_size, _data_ptr = size, nbytes, element_size, data_ptr

    def get_device(self) -> int | None:
        """The number of the device; ``None`` for the CPU."""
        return self.device.index

    def _data(self) -> np.ndarray:
        if not isinstance(self._array, np.ndarray):
            raise NotImplementedError("Not available for 'meta' device type")
        return self._array

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._data().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def _write(self, place: Any, value: Any) -> None:
        self._data()[place] = value
        count_write(self._tensor)

    def fill_(self, value: Any) -> Any:
        """Set every element."""
        self[:] = value
        return self

    def resize_(self, size: int) -> Any:
        """The storage itself if it has this size; RuntimeError for another one: tensors lie in memory of fixed size."""
        if size != self.size():
            raise RuntimeError("Trying to resize storage that is not resizable")
        return self

    def pin_memory(self, device: Any = None) -> Any:
        """Raises RuntimeError: there is no page-locked memory without a card."""
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def copy_(self, source: Any, non_blocking: bool = False) -> Any:
        """Copy the bytes of another storage of the same size."""
        if not isinstance(source, _Storage):
            raise TypeError(f"copy_(): argument 'src' (position 1) must be torch.Storage, not {type(source).__name__}")
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._array.view(np.uint8)[...] = source._array.view(np.uint8)
        count_write(self._tensor)
        return self

    def clone(self) -> Any:
        """A copy of the storage."""
        return self._on(self._array.copy())

    def __copy__(self) -> Any:
        return self.clone()

    def __deepcopy__(self, memo: Any) -> Any:
        return (_typed_storage if isinstance(self, TypedStorage) else untyped_storage)(deepcopy(self._tensor, memo))

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

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """The storage itself on the CPU; AssertionError for other devices."""
        kind = as_device(device).type
        if kind not in ("cpu", "cuda"):
            raise AssertionError(f"{kind.upper()} device module is not loaded")
        return self.cpu() if kind == "cpu" else self.cuda()

    def is_shared(self) -> bool:
        """Whether other processes see this memory."""
        return isinstance(self._array, np.ndarray) and _is_shared(self._array)

    _is_shared = is_shared

    def share_memory_(self) -> Any:
        """Move the tensor to memory that other processes see: see ``Tensor.share_memory_``."""
        self._array = _memory(share_memory_(self._tensor)).view(self._array.dtype)
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """False: there is no page-locked memory without a card."""
        return False

    def resizable(self) -> bool:
        """False: tensors lie in memory of fixed size."""
        return False

    def _lines(self) -> str:
        if not isinstance(self._array, np.ndarray):
            return "...\n"
        return " " + "\n ".join(map(str, self.tolist())) + "\n"


def _conversion(name: str, dtype: Any) -> Any:
    def convert(self: Any) -> TypedStorage:
        array = wrap(self._array).to(dtype)._payload
        return TypedStorage._on(array.copy() if array is self._array else array)

    convert.__name__ = name
    convert.__doc__ = f"A storage with the elements (of an untyped one: the bytes) in ``torch.{dtype.name}``."
    return convert


for _name, _kind in {
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64", "int":
    "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "complex_double": "complex128",
    "complex_float": "complex64",
}.items():  # fmt: skip
    setattr(_Storage, _name, _conversion(_name, DTYPES[_kind]))


class StorageBase:
    """What untyped storages are, for ``isinstance``."""


class UntypedStorage(_Storage, StorageBase):
    """The bytes of a storage: ``UntypedStorage(n)``, or ``UntypedStorage([1, 2])`` of given bytes.

    >>> import wengert as torch
    >>> torch.UntypedStorage([1, 2]).tolist()
    [1, 2]
    """

    def __init__(self, *args: Any, device: Any = None, **given: Any) -> None:
        if len(args) > 1 or given:
            got = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}, " for k, v in given.items()])
            raise TypeError(
                f"torch.UntypedStorage() received an invalid combination of arguments - got ({got}), but expected one "
                "of:\n * (*, torch.device device)\n * (int size, *, torch.device device)\n"
                " * (object sequence, *, torch.device device)"
            )
        first = args[0] if args else 0
        if isinstance(first, int):
            self._array = allocated(first, DTYPES["uint8"], device)
        else:
            self._array = np.array([self._byte(x, first) for x in sequence(first)], np.uint8)
        self._tensor = wrap(self._array)

    @staticmethod
    def _byte(x: Any, sequence: Any) -> int:
        if not isinstance(x, int):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(sequence).__name__}), "
                f"but one of the items was of type {type(x).__name__} instead of int"
            )
        return x & 255

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first ``nbytes`` of a file; with ``shared``, writes change the file, else only this process's memory.

        Raises RuntimeError if the file does not exist or is too small.
        """
        return cls._on(mapped_file(filename, shared, nbytes, DTYPES["uint8"].np))

    @classmethod
    def from_buffer(cls, *args: Any, **given: Any) -> UntypedStorage:
        """A copy of a buffer's bytes, elements of ``dtype``: see ``TypedStorage.from_buffer``."""
        return cls._on(elements_of(*args, **given).view(np.uint8))

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element of ``dtype``, in place."""
        if not isinstance(dtype, DType):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        swap(self._data().view(dtype.np))
        count_write(self._tensor)

    def new(self) -> UntypedStorage:
        """A storage of no bytes."""
        return UntypedStorage()

    def __getitem__(self, index: Any) -> Any:
        self._check_index(index)
        if isinstance(index, slice):
            return self._on(self._data()[index], self._tensor)
        if not -len(self) <= index < len(self):
            shown = index + len(self) * (index < 0)
            raise IndexError(f"index {shown} out of range for storage of size {len(self)}")
        return self._data()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            raise RuntimeError(f"can only set storage content with a int types, but got {type(value).__name__} instead")
        self._check_index(index)
        if isinstance(index, int) and not -len(self) <= index < len(self):
            raise RuntimeError("out of bounds")
        self._write(index, value & 255)

    def _check_index(self, index: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        if isinstance(index, slice) and index.step not in (None, 1):
            raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")

    def fill_(self, value: Any) -> UntypedStorage:
        """Set every byte."""
        if not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
        return super().fill_(value)

    def type(self) -> str:
        """``"torch.storage.UntypedStorage"``."""
        return "torch.storage.UntypedStorage"

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def __repr__(self) -> str:
        return f"{self._lines()}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage(_Storage):
    """The elements of a storage, of one dtype; new code uses ``UntypedStorage``."""

    def __init__(
        self, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> None:
        if not _internal:
            warn_once(_DEPRECATED)
        wrong = "TypedStorage.__init__ received an invalid combination of arguments"
        if dtype is not None and not isinstance(dtype, DType):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        if wrap_storage is not None:
            if args or dtype is None or device is not None:
                raise RuntimeError(f"{wrong}\nwrap_storage= goes with dtype= alone")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"{wrong}\nwrap_storage= must be an UntypedStorage")
            self._array, self._tensor = wrap_storage._array.view(dtype.np), wrap_storage._tensor
            return
        if len(args) > 1:
            raise RuntimeError(f"{wrong}\na size or a sequence, not {len(args)} arguments")
        self._array = elements(args[0] if args else 0, dtype or get_default_dtype(), device)
        self._tensor = wrap(self._array)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return BY_NUMPY[self._array.dtype]

    @classmethod
    def from_file(cls, filename: str, shared: bool, size: int) -> TypedStorage:
        """The first ``size`` elements of a file, see ``UntypedStorage.from_file``: of FloatStorage and its like."""
        if not isinstance(cls.dtype, DType):
            raise RuntimeError("from_file can only be called on derived classes")
        warn_once(_DEPRECATED)
        return cls(wrap_storage=UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize))

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **given: Any) -> TypedStorage:
        """A copy of the elements of a buffer, such as bytes.

        Args:
            buffer: an object with the buffer protocol.
            byte_order: "little", "big" or "native".
            count: the number of elements; all by default.
            offset: the number of bytes to leave out.
            dtype: the elements' dtype, the default dtype if it is not given.

        >>> import wengert as torch
        >>> torch.TypedStorage.from_buffer(b"ab", "big", dtype=torch.int16).tolist()
        [24930]
        """
        if isinstance(cls.dtype, DType):  # FloatStorage and its like
            if dtype is not None:
                raise RuntimeError(
                    "from_buffer: 'dtype' can only be specified in UntypedStorage.from_buffer and "
                    "TypedStorage.from_buffer"
                )
            dtype = cls.dtype
        return TypedStorage._on(elements_of(*args, dtype=dtype or get_default_dtype(), **given))

    def untyped(self) -> UntypedStorage:
        """The same memory, counted in bytes."""
        return UntypedStorage._on(self._array.view(np.uint8), self._tensor)

    _untyped_storage = property(untyped)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        self._check_index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return self._data()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            self._check_index(index)
            if not -len(self) <= index < len(self):
                raise IndexError(f"index {index} is out of bounds for dimension 0 with size {len(self)}")
        if not isinstance(value, (int, float, complex, Tensor)):
            raise TypeError(f"can't assign a {type_name(value)} to a {self.type().replace('Storage', 'Tensor')}")
        self._write(index, value)

    def _check_index(self, index: Any) -> None:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a <class 'torch.storage.TypedStorage'> with {type(index)}")

    def cpu(self) -> TypedStorage:
        """A storage object on the same memory, which is on the CPU; NotImplementedError for one without data."""
        return self._on(super().cpu()._array, self._tensor)

    def type(self) -> str:
        """The name of the type, such as ``"torch.FloatStorage"``."""
        return wrap(self._array).type().replace("Tensor", "Storage")

    def pickle_storage_type(self) -> str:
        """The type's name in files: ``"FloatStorage"``."""
        return self.type().removeprefix("torch.")

    _pickle_storage_type = pickle_storage_type

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, device={self.device}"
        return f"{self._lines()}[torch.storage.TypedStorage({kind}) of size {len(self)}]"


def typed_of(name: str, dtype: DType, args: tuple[Any, ...], given: dict[str, Any]) -> TypedStorage:
    """``FloatStorage(...)`` and its like: a storage of a fixed dtype, of a size, a sequence or an untyped storage."""
    wrong = f"<class 'torch.{name}'>.__new__ received an invalid combination of arguments"
    wrapped = given.pop("wrap_storage", None)
    if given or len(args) > 1 or (args and wrapped is not None):
        raise RuntimeError(f"{wrong}\na size, a sequence or wrap_storage= is expected")
    if wrapped is not None:
        if not isinstance(wrapped, UntypedStorage):
            raise TypeError(f"{wrong}\nwrap_storage= must be an UntypedStorage")
        return TypedStorage._on(wrapped._array.view(dtype.np), wrapped._tensor)
    first = args[0] if args else 0
    if not isinstance(first, (int, Sequence)):
        raise TypeError(f"{wrong}\na size or a sequence is expected, not {type(first).__name__}")
    return TypedStorage._on(elements(first, dtype))


def on_storage(obj: Any, dtype: Any) -> Any:
    """A 1-dimensional array of ``dtype`` on a storage's memory; ``None`` if the object is not a storage."""
    if isinstance(obj, TypedStorage) or (isinstance(obj, UntypedStorage) and dtype is not None):
        return obj._array if dtype is None else obj._array.view(dtype.np)
    return None


def tensor_of(storage: _Storage, dtype: DType, called: str) -> Tensor:
    """A tensor on a storage's memory, of a dtype that errors call ``called``."""
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        raise RuntimeError(
            f"Expected a Storage of type {called} or an UntypedStorage, but got type {storage.dtype.scalar_name} "
            "for argument 1 'storage'"
        )
    memory = storage.untyped()._data()
    if memory.size and address_of(memory) % dtype.np.alignment:
        raise RuntimeError("set_(): the storage begins in the middle of an element")
    return wrap(memory[: memory.size // dtype.itemsize * dtype.itemsize].view(dtype.np))


def _memory(self: Tensor) -> Any:
    """The whole memory that a tensor is a view of, as a 1-dimensional array of its dtype."""
    if type(self._payload) is Meta:
        return whole(self._payload)
    if getattr(self._payload, "is_foreign", False):
        raise NotImplementedError(
            f"the storage of a tensor on {self.device} is {type(self._payload.v).__module__}'s own"
        )
    if getattr(self._payload, "is_sparse", False):
        from .._payloads.sparse_errors import lacks

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
    return UntypedStorage._on(_memory(self).view(np.uint8), self)


@public("Tensor.storage")
def storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor and its views share, counted in elements; new code uses ``untyped_storage``."""
    warn_once(_DEPRECATED)
    return _typed_storage(self)


@public("Tensor._typed_storage")
def _typed_storage(self: Tensor) -> TypedStorage:
    """``storage()`` without its warning."""
    memory = _memory(self)
    dtype = logical_dtype(self)
    return TypedStorage._on(memory if plain_dtype(memory.dtype) == dtype else memory.view(dtype), self)


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


keep_former_name("_storage", sys.modules[__name__], TypedStorage, UntypedStorage)

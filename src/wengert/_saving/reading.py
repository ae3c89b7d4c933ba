"""Reading of a checkpoint's storages from a zip file, each when the pickle first refers to it."""

from __future__ import annotations

import io
import mmap
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base import dtypes
from .._base.errors import printable
from .._tensor_api.storage import UntypedStorage
from .admitted import StorageType, UnpicklingError
from .places import Restore, restored
from .rebuilding import _refuse_kind
from .records import Archive, Record, damaged
from .storages import storage_on


@dataclass
class StorageReader:
    """``persistent_load`` of one archive.

    Args:
        archive: the archive with the records.
        restore: the function that moves a storage to the device given by ``map_location``.
        swapped: whether the file has the other byte order.
        mapped: the whole file, if it is mapped into memory.
        verify: whether to verify checksums.
        skip: do not read the storages (``skip_data``).
    """

    archive: Archive
    restore: Restore
    swapped: bool
    mapped: Any
    verify: bool
    skip: bool

    def __post_init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.size = self.archive.size
        self.made = 0

    def __call__(self, ident: Any) -> Any:
        """The storage of a persistent id."""
        dtype, typed, key, location, count = checked_id(ident, 5)
        storage = self.known.get(key)
        if storage is None:
            storage = self.known[key] = self._read(dtype, typed, key, location, count)
            self.made += 1
        return storage

    def _read(self, dtype: Any, typed: bool, key: str, location: str, count: int) -> Any:
        name = f"data/{key}"
        record = self.archive.find(name)
        if count * dtype.itemsize > record.size or record.size // dtype.itemsize != count:
            raise damaged(
                f"storage {key!r} should have {count} elements of {dtype.itemsize} bytes, its record has {record.size} "
                "bytes"
            )
        raw = restored(self.restore, self._bytes(name, record, dtype), location)
        if not isinstance(raw, np.ndarray):  # without data
            return storage_on(raw.view(dtype.np), typed)
        memory = raw[: count * dtype.itemsize]
        aligned = memory.ctypes.data % dtype.np.alignment == 0  # not if ``map_location`` returned such memory
        memory = memory.view(dtype.np) if aligned else np.frombuffer(bytearray(memory), dtype.np)
        if self.swapped and typed:
            memory = memory.byteswap()
        storage = storage_on(memory, typed)
        storage._swapped = self.swapped and not typed
        return storage

    def _bytes(self, name: str, record: Record, dtype: Any) -> np.ndarray:
        # What would be copied is read: a mapping of a file that others cut ends the process where it is touched.
        as_stored = not (self.swapped or record.deflated or record.start % dtype.np.alignment)
        if self.mapped is not None and as_stored:
            part = self.mapped[record.start : record.start + record.size]  # memory that ends where the record ends
            return np.frombuffer(part, np.uint8) if part else np.empty(0, np.uint8)
        raw = np.empty(record.size, np.uint8)
        if not self.skip:
            self.archive.read_into(name, raw, self.verify)
        return raw


def checked_id(ident: Any, size: int) -> tuple[Any, bool, str, str, int]:
    """The parts of a storage's persistent id: dtype, whether it has one, key, location, number of elements."""
    if type(ident) is not tuple or len(ident) < size or type(ident[0]) not in (str, bytes):
        raise UnpicklingError(f"the id of a storage is wrong: got {type(ident)}")
    if ident[0] not in ("storage", b"storage"):
        raise UnpicklingError("the id of a storage is wrong: it is of another kind of object")
    kind, key, location, count = ident[1:5]
    key, location = (v.decode("ascii") if isinstance(v, bytes) else v for v in (key, location))
    if isinstance(kind, StorageType):
        dtype, typed = kind.dtype, True
    elif kind is UntypedStorage:
        dtype, typed = dtypes.uint8, False
    elif kind is _refuse_kind:
        kind()
    else:
        raise UnpicklingError(f"the id of a storage names no storage class, but {type(kind)}")
    if type(key) is not str or type(location) is not str or type(count) is not int or not 0 <= count < 2**60:
        raise UnpicklingError(
            f"the id of a storage is wrong: it has a key of {type(key)}, a location of {type(location)}, and for the "
            f"number of elements, which must be below 2**60, a value of {type(count)}"
        )
    return dtype, typed, key, location, count


def byte_order_differs(archive: Archive, default: Any) -> bool:
    """Whether the file's byte order differs from this machine's."""
    if "byteorder" in archive:
        order = archive.read("byteorder").decode("ascii", "replace")
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {printable(order, 20)}")
    else:
        order = {None: "little", "native": sys.byteorder}.get(default, default)
    return order != sys.byteorder


def map_file(file: Any, shared: bool) -> memoryview:
    """An open file mapped into memory, which the system reads on access.

    Writes stay in this process, or go to the file if ``shared``. The path is not opened again: another file may have
    its name by then.
    """
    access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
    return memoryview(mmap.mmap(file.fileno(), 0, access=access))


def load_archive(
    archive: Archive, storages: StorageReader, unpickle: Callable[[Any, int, Callable[[Any], Any]], Any]
) -> Any:
    """The object of an archive."""
    data = archive.read("data.pkl", storages.verify)
    return unpickle(io.BytesIO(data), len(data), storages)

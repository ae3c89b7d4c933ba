"""The formats before PyTorch 1.6: a stream of pickles followed by the storages, and the tar file before 0.1.10.

The stream holds a magic number, a version, facts about the machine, the object, the sorted keys of its storages, and
for each key the number of elements (8 bytes, little-endian) and the elements.
"""

from __future__ import annotations

import io
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.errors import noted, warn
from .._payloads.meta import Meta
from .pickling import StorageTable, make_pickler
from .places import passes_through, restored
from .reading import checked_id
from .rebuilding import waiting
from .records import Writer, bytes_left, damaged, read_exactly
from .storages import storage_on, tensor_on
from .unpickling import UnpicklingError

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
Unpickle = Callable[[Any, int, Callable[[Any], Any]], Any]


# ---- writing
def save(obj: object, file: Any, pickle_module: Any, protocol: int, folder: str, no_byteorder: bool) -> None:
    """Write the stream."""
    table = StorageTable(new_key=lambda number: str(94_000_000_000_000 + number))  # PyTorch writes an address
    facts = {
        "protocol_version": VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    file = Writer(file.write)
    for header in (MAGIC, VERSION, facts):
        pickle_module.dump(header, file, protocol=protocol)
    make_pickler(pickle_module, file, protocol, table, legacy=True).dump(obj)
    keys = sorted(table.memory)
    pickle_module.dump(keys, file, protocol=protocol)
    for key in keys:
        memory = table.memory[key]
        file.write(struct.pack("<q", memory.size))
        file.write(memory.view(np.uint8).data)


# ---- reading
def load(file: Any, restore: Any, unpickle: Unpickle, weights_only: bool) -> Any:
    """Read the stream, or the tar file.

    Raises:
        RuntimeError: the file has another format or is damaged.
        UnpicklingError: an object is not admitted, or the pickle is damaged.
    """
    if _is_tar(file):
        if weights_only:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. Load it with "
                "weights_only=False, which runs what the file says, if you trust its source."
            )
        return _load_tar(file, restore, unpickle)
    first = _first(file, unpickle)
    if type(first) is not int or first != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = unpickle(file, bytes_left(file), _no_storages)
    if type(version) is not int or version != VERSION:
        shown = version if type(version) is int and version.bit_length() < 64 else type(version)
        raise RuntimeError(f"Invalid protocol version: {shown}")
    facts = unpickle(file, bytes_left(file), _no_storages)
    little = facts.get("little_endian", True) if type(facts) is dict else True
    storages = _StreamStorages(bytes_left(file), restore)
    steps: list[Callable[[], object]] = []
    with waiting(steps):
        result = unpickle(file, bytes_left(file), storages)
    keys = unpickle(file, bytes_left(file), _no_storages)
    storages.fill(file, keys, (little is not False) != (sys.byteorder == "little"))
    for step in steps:  # what computes on elements
        step()
    return result


def _first(file: Any, unpickle: Unpickle) -> Any:
    try:
        return unpickle(file, bytes_left(file), _no_storages)
    except UnpicklingError as error:
        raise noted(
            error,
            "Why: the file is neither a zip file, as torch.save writes it, nor a stream of pickles, as it did before "
            "PyTorch 1.6.",
        ) from None


def _no_storages(ident: Any) -> Any:
    raise UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(ident)}")


class _StreamStorages:
    """``persistent_load`` of a stream; the storages' memory is filled when the object is complete."""

    def __init__(self, left: int, restore: Any) -> None:
        self._left = self.size = left
        self._restore = restore
        self.made = 0
        self._known: dict[str, tuple[Any, np.ndarray]] = {}
        self._views: dict[str | bytes, Any] = {}

    def __call__(self, ident: Any) -> Any:
        """The storage of a persistent id, or the class in a file that may run code."""
        if type(ident) is tuple and len(ident) == 4 and ident[0] in ("module", b"module"):
            _warn_of_changes(*ident[1:])
            return ident[1]
        dtype, typed, key, location, count = checked_id(ident, 6)
        if key not in self._known:
            self._known[key] = self._new(dtype, typed, location, count)
        storage = self._known[key][0]
        return storage if ident[5] is None else self._view(storage, typed, ident[5])

    def _new(self, dtype: Any, typed: bool, location: str, count: int) -> tuple[Any, np.ndarray]:
        size = count * dtype.itemsize
        self._left -= size + 8
        if self._left < 0:
            raise damaged("the storages are larger than the file")
        self.made += 1
        raw = restored(self._restore, np.empty(size, np.uint8), location)
        memory: Any = raw if type(raw) is Meta else raw[:size]
        return storage_on(memory.view(dtype.np), typed), raw

    def _view(self, storage: Any, typed: bool, view: Any) -> Any:
        """A part of a storage, to which files before 0.4 may refer."""
        numbers = type(view) is tuple and len(view) == 3 and all(type(v) is int and v >= 0 for v in view[1:])
        if not numbers or view[1] + view[2] > storage._array.size:
            raise damaged("a part of a storage reaches beyond it")
        key, offset, size = view
        if type(key) is not str and type(key) is not bytes:
            raise damaged(f"the key of a part of a storage must be text, but got {type(key)}")
        if key not in self._views:
            self.made += 1
            self._views[key] = storage_on(storage._array[offset : offset + size], typed)
        return self._views[key]

    def fill(self, file: Any, keys: Any, swap: bool) -> None:
        """Read the memory of all storages, in the file's order."""
        if type(keys) is not list or not all(type(key) in (str, bytes) for key in keys):
            raise damaged("the file's list of storages is no list of texts")
        lengths = len(self._known), sum(map(len, self._known))  # one long text may be there at many places
        if (len(keys), sum(map(len, keys))) == lengths:
            keys = [key.decode("ascii", "replace") if type(key) is bytes else key for key in keys]
        if (len(keys), sum(map(len, keys))) != lengths or set(keys) != set(self._known):
            raise damaged("the file's list of storages is not that of its objects")
        for key in keys:
            storage, raw = self._known[key]
            memory = storage._array
            (count,) = struct.unpack("<q", _exactly(file, 8))
            if count != memory.size:
                raise damaged(f"storage {key!r} should have {memory.size} elements, the file says {count}")
            if type(memory) is Meta:  # map_location="meta"
                file.seek(memory.nbytes, os.SEEK_CUR)
                continue
            read_exactly(file, raw[: memory.nbytes])
            if swap:
                memory.byteswap(inplace=True)


def _exactly(file: Any, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise damaged("unexpected end of file")
    return data


class SourceChangeWarning(Warning):
    """The source of a class has changed since an old file was written that holds it."""

    __module__ = "wengert.serialization"


def _warn_of_changes(cls: Any, source_file: Any, source: Any) -> None:
    """Compare the source of a module's class with the source in the file."""
    import inspect

    if not source or cls.__module__.partition(".")[0] == __package__.partition(".")[0]:
        return
    try:
        now = inspect.getsource(cls)
    except (OSError, TypeError):
        return
    if now != source:
        name = f"{cls.__module__}.{cls.__qualname__}"
        warn(f"source code of class '{name}' has changed.", SourceChangeWarning)


# ---- the tar format
def _is_tar(file: Any) -> bool:
    start = file.tell()
    head = file.read(512)
    file.seek(start)
    return head[257:262] == b"ustar"


def _load_tar(file: Any, restore: Any, unpickle: Unpickle) -> Any:
    """Read the three members of a tar file: storages, tensors, and the pickle, which refers to tensors by number."""
    import tarfile

    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            parts = [io.BytesIO(_member(tar, name)) for name in ("storages", "tensors", "pickle")]
        known = _tar_storages(parts[0], restore, unpickle)
        _tar_tensors(parts[1], known, unpickle)
    except (tarfile.TarError, TypeError, ValueError, LookupError, AttributeError, OverflowError, struct.error) as error:
        if passes_through(error, restored):
            raise
        raise damaged(f"the tar file is none of torch.save: {type(error).__name__}") from error

    def persistent_load(ident: Any) -> Any:
        if isinstance(ident, tuple) and ident:
            return ident[0]
        try:
            return known[int(ident)]
        except (TypeError, ValueError, KeyError):
            raise damaged("an object refers to a tensor that is not in the file") from None

    return unpickle(parts[2], bytes_left(parts[2]), persistent_load)


def _member(tar: Any, name: str) -> bytes:
    member = tar.getmember(name)
    if not member.isfile():
        raise damaged(f"{name!r} is no file of the tar file")
    data: bytes = tar.extractfile(member).read()
    return data


def _tar_storages(file: Any, restore: Any, unpickle: Unpickle) -> dict[Any, Any]:
    known: dict[Any, Any] = {}
    for _ in range(unpickle(file, bytes_left(file), _no_storages)):
        key, location, kind = unpickle(file, bytes_left(file), _no_storages)
        (count,) = struct.unpack("<q", _exactly(file, 8))
        if not 0 <= count * kind.dtype.itemsize <= bytes_left(file):
            raise damaged("the storages are larger than the file")
        raw = np.empty(count * kind.dtype.itemsize, np.uint8)
        read_exactly(file, raw)
        known[key] = storage_on(restored(restore, raw, location).view(kind.dtype.np))
    for key, root, offset, count in unpickle(file, bytes_left(file), _no_storages):
        known[key] = storage_on(known[root]._array[offset : offset + count])
    return known


def _tar_tensors(file: Any, known: dict[Any, Any], unpickle: Unpickle) -> None:
    for _ in range(unpickle(file, bytes_left(file), _no_storages)):
        key, storage, _ = unpickle(file, bytes_left(file), _no_storages)
        ndim, _ = struct.unpack("<ii", _exactly(file, 8))
        numbers = struct.unpack(f"<{2 * ndim + 1}q", _exactly(file, 16 * ndim + 8))
        known[key] = tensor_on(known[storage]._array, numbers[-1], numbers[:ndim], numbers[ndim:-1])

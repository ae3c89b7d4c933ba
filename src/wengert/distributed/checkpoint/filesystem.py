"""Checkpoints in a folder: ``.metadata``, and one file of each process with what it wrote, one record after another.

NOTE [ Killed at any moment ]: The files of a checkpoint have names that no other one in the folder has; they are
flushed to the disk; then ``.metadata``, which names them, takes the place of the one before, at once; only then are
the older files removed. So the folder holds one whole checkpoint at every moment, the old one or the new.

A folder is as little to be trusted as any file: names of files must be plain, ``.metadata`` is read by an unpickler
that knows a dozen classes, its numbers are checked, and records are read by ``torch.load`` with ``weights_only=True``.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import re
import secrets
import stat
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import wengert as torch
from wengert import Size

from ..._base.dtypes import dtype
from ..._base.errors import noted
from ..._saving.pickling import StorageTable, make_pickler
from ..._saving.replacing import replacing
from ..._saving.unpickling import WeightsUnpickler
from ..._tensor_api.copying import MAX_DIMS
from ..tensor import DTensor
from . import metadata as classes
from ._nested import DEEPEST
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)

__all__ = ["FileSystemReader", "FileSystemWriter"]

NAME = re.compile(r"__(\d{1,9})_(\d{1,9})\.distcp")
METADATA = ".metadata"


@dataclass
class _StorageInfo:
    """Where a record lies."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


# ---- writing
class FileSystemWriter:
    """Writes a checkpoint into a folder, which is made if it is not there.

    ``overwrite`` False: an error if there is a checkpoint already. The other options of PyTorch's class say how fast
    it writes; they are accepted.
    """

    def __init__(
        self,
        path: Any,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        **options: Any,
    ) -> None:
        self.path, self.overwrite = os.fspath(path), overwrite

    def reset(self, checkpoint_id: Any = None) -> None:
        """Another folder, for the next checkpoint."""
        if checkpoint_id is not None:
            self.path = os.fspath(checkpoint_id)

    def begin(self) -> int:
        """Make the folder; a number that is in no name of a file there. Called on the first process only."""
        os.makedirs(self.path, exist_ok=True)
        if not self.overwrite and os.path.exists(os.path.join(self.path, METADATA)):
            raise RuntimeError("Checkpoint already exists and self.overwrite=False.")
        return 1 + max((int(found[2]) for found in map(NAME.fullmatch, os.listdir(self.path)) if found), default=-1)

    def write(self, rank: int, number: int, items: list[tuple[MetadataIndex, Any]]) -> dict[MetadataIndex, Any]:
        """Write this process's records; where they lie."""
        if not items:
            return {}
        name = f"__{rank}_{number}.distcp"
        places = {}
        with replacing(os.path.join(self.path, name)) as file:
            for index, value in items:
                record = io.BytesIO()
                if isinstance(value, torch.Tensor):
                    local = value.to_local() if isinstance(value, DTensor) else value
                    value = local.detach().clone()  # a view would be saved with all of its memory
                torch.save(value, record)
                offset = file.tell()
                file.write(record.getbuffer())
                places[index] = _StorageInfo(name, offset, file.tell() - offset)
        return places

    def finish(self, metadata: Metadata) -> None:
        """Put the checkpoint in the place of the one before; see NOTE [ Killed at any moment ]."""
        with replacing(os.path.join(self.path, METADATA)) as file:
            make_pickler(pickle, file, 2, StorageTable()).dump(metadata)
        kept = {info.relative_path for info in metadata.storage_data.values()}
        for name in os.listdir(self.path):
            if NAME.fullmatch(name) and name not in kept:
                os.unlink(os.path.join(self.path, name))


# ---- reading
def _path(*parts: Any) -> str:
    """A folder's name, in place of an object of pathlib."""
    texts = [part for part in parts if type(part) is str]
    _need(sum(map(len, texts)) < 10_000, "a path is long")
    return "/".join(texts)


def _memory_format(code: Any) -> classes._MEM_FORMAT_ENCODING:
    """A member of the enumeration; an enumeration hashes and shows whatever it is called with."""
    _need(type(code) is int, "a memory format")
    return classes._MEM_FORMAT_ENCODING(code)


_ADMITTED: dict[str, Any] = {
    **{f"torch.distributed.checkpoint.metadata.{name}": getattr(classes, name) for name in classes.__all__},
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING": _memory_format,
    "torch.distributed.checkpoint.filesystem._StorageInfo": _StorageInfo,
    **{f"{module}.{name}": _path for module in ("pathlib", "pathlib._local")
       for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")},
}  # fmt: skip


_RECORDS = (*(getattr(classes, name) for name in classes.__all__), _StorageInfo)


class _MetadataUnpickler(WeightsUnpickler):
    """Reads ``.metadata``: the classes of ``metadata`` only, also in version 4 of pickle, which PyTorch writes."""

    def __init__(self, file: Any, limit: int) -> None:
        super().__init__(file, limit, lambda ident: None)
        self._user = dict(_ADMITTED)
        self._user_values = {id(value) for value in _ADMITTED.values()}

    def load_proto(self) -> None:
        self.proto = self.read(1)[0]

    def load_build(self) -> None:
        obj, state = self.stack[-2:]
        if isinstance(obj, _RECORDS):  # a large state could be given to many objects
            small = type(state) in (dict, tuple) and len(state) < 10
            _need(small and (type(state) is tuple) == (type(obj) is TensorProperties), "an object's state")
        super().load_build()
        if type(obj) is MetadataIndex:  # it will be hashed
            _need(type(obj.fqn) is str and (obj.offset is None or _is_place(obj.offset)), "a name")

    def _called(self, function: Any, args: tuple[Any, ...], refusal: str) -> Any:
        _need(function not in _RECORDS, "an object with arguments")
        return super()._called(function, args, refusal)

    def load_stack_global(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise pickle.UnpicklingError("a name is not text")
        self._push_global(module, name)

    def load_memoize(self) -> None:
        self._put(len(self.memo))


def _with_own_methods() -> None:
    """The table of opcodes has functions: it must name those of the subclass, and those of version 4."""
    codes = {fn.__name__: code for code, fn in pickle._Unpickler.dispatch.items()}
    _MetadataUnpickler.dispatch = type(WeightsUnpickler.dispatch)(WeightsUnpickler.dispatch)
    for name in (
        "load_proto",
        "load_build",
        "load_frame",
        "load_memoize",
        "load_short_binunicode",
        "load_stack_global",
    ):
        _MetadataUnpickler.dispatch[codes[name]] = getattr(_MetadataUnpickler, name)


_with_own_methods()


class FileSystemReader:
    """Reads a checkpoint of a folder, PyTorch's or wengert's."""

    def __init__(self, path: Any, **options: Any) -> None:
        self.path = os.fspath(path)

    def reset(self, checkpoint_id: Any = None) -> None:
        """Another folder."""
        if checkpoint_id is not None:
            self.path = os.fspath(checkpoint_id)

    def read_metadata(self) -> Metadata:
        """What is there.

        Raises:
            FileNotFoundError: there is no checkpoint in the folder.
            UnpicklingError: the file is damaged.
        """
        path = os.path.join(self.path, METADATA)
        if not os.path.exists(path):
            raise noted(
                FileNotFoundError(2, "No such file or directory", path),
                "Why: .metadata is written last. Without it there is no checkpoint, or one that was not finished.",
            )
        with _opened(path) as file:
            found = _MetadataUnpickler(file, os.fstat(file.fileno()).st_size).load()
        _check(found)
        return found

    def read(self, info: _StorageInfo) -> Any:
        """A record."""
        with _opened(os.path.join(self.path, info.relative_path)) as file:
            size = os.fstat(file.fileno()).st_size
            if info.offset + info.length > size:
                raise pickle.UnpicklingError(f"{info.relative_path} is truncated: {size} bytes")
            file.seek(info.offset)
            record = io.BytesIO(file.read(info.length))
        return torch.load(record, weights_only=True)


def _opened(path: str) -> Any:
    """An ordinary file, open for reading: a pipe of that name would wait for ever."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise pickle.UnpicklingError(f"{os.path.basename(path)} is no file")
    return open(number, "rb")


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise pickle.UnpicklingError(f"{METADATA} is damaged: {what}")


def _is_place(value: Any) -> bool:
    return type(value) is Size and len(value) <= MAX_DIMS


def _is_size(value: Any) -> bool:
    return _is_place(value) and all(n >= 0 for n in value)


def _tiled(size: Size, chunks: list[ChunkStorageMetadata]) -> bool:
    """Whether parts that lie inside of a tensor cover each element once.

    Each dimension is measured by random numbers: only parts that cover all of it once have its volume then, but for a
    chance of about 2**-58. So the time is that of reading the parts, however they lie.
    """
    rulers: list[dict[int, int]] = [defaultdict(lambda: secrets.randbelow(_PRIME)) for _ in size]

    def volume(begins: Any, sizes: Any) -> int:
        lengths = (at[b + n] - at[b] for at, b, n in zip(rulers, begins, sizes, strict=True))
        return math.prod(lengths) % _PRIME

    parts = sum(volume(c.offsets, c.sizes) for c in chunks if 0 not in c.sizes)
    return (parts - (0 if 0 in size else volume([0] * len(size), size))) % _PRIME == 0


_PRIME = 2**61 - 1


def _check(found: Any) -> None:
    """That metadata has the types, and numbers in the ranges, that reading relies on.

    What is looked at item by item is at one place only: a long list could be that of each of many entries.
    """
    seen: set[int] = set()

    def once(part: Any) -> Any:
        _need(id(part) not in seen, "a list is at two places")
        seen.add(id(part))
        return part

    _need(type(found) is Metadata, "it is no Metadata")
    entries, places = vars(found).get("state_dict_metadata"), vars(found).get("storage_data")
    _need(type(entries) is dict and type(places) is dict, "a table is missing")
    for name, entry in entries.items():
        _need(type(name) is str and type(entry) in (TensorStorageMetadata, BytesStorageMetadata), "an entry")
        if type(entry) is TensorStorageMetadata:
            _need({"properties", "size", "chunks"} <= vars(entry).keys(), "a tensor")
            _need(type(getattr(entry.properties, "dtype", None)) is dtype, "a dtype")
            _need(_is_size(entry.size) and type(entry.chunks) is list, "a size")
            for chunk in map(once, once(entry.chunks)):
                _need(type(chunk) is ChunkStorageMetadata and {"offsets", "sizes"} <= vars(chunk).keys(), "a part")
                _need(_is_size(chunk.offsets) and _is_size(chunk.sizes), "a part's size")
                _need(len(chunk.offsets) == len(chunk.sizes) == len(entry.size), "a part's dimensions")
                ends = [a + b for a, b in zip(chunk.offsets, chunk.sizes, strict=True)]
                _need(
                    all(end <= n for end, n in zip(ends, entry.size, strict=True)), "a part reaches out of its tensor"
                )
            _need(_tiled(entry.size, entry.chunks), "parts of a tensor overlap, or some are missing")
    for index, info in places.items():
        _need(type(index) is MetadataIndex and type(index.fqn) is str, "a name")
        _need(index.offset is None or _is_size(index.offset), "a name's offset")
        _need(type(info) is _StorageInfo and {"relative_path", "offset", "length"} <= vars(info).keys(), "a place")
        _need(type(info.relative_path) is str and re.fullmatch(r"[\w.-]+", info.relative_path) is not None, "a path")
        _need(len(info.relative_path) < 256 and info.relative_path[0] != ".", "a path")
        _need(type(info.offset) is int and type(info.length) is int and min(info.offset, info.length) >= 0, "a number")
        if info.transform_descriptors:
            raise NotImplementedError(f"a checkpoint with transforms: {type(info.transform_descriptors)}")
    spans = sorted((info.relative_path, info.offset, info.length) for info in places.values() if info.length)
    for (path, offset, length), (other, place, _) in pairwise(spans):
        _need(path != other or offset + length <= place, "records overlap")
    paths = vars(found).get("planner_data")
    _need(paths is None or type(paths) is dict, "planner_data")
    lengths: dict[Any, int] = {}
    for name, path in (paths or {}).items():
        _need(type(name) is str and type(path) is tuple and 0 < len(path) <= DEEPEST, "a path of a name")
        _need(type(path[0]) is str and all(type(key) in (str, int) for key in path), "a path of a name")
        for depth, key in enumerate(once(path)):
            if type(key) is int:
                _need(key >= 0, "a place in a list")
                lengths[path[:depth]] = max(lengths.get(path[:depth], 0), key + 1)
    _need(sum(lengths.values()) <= 1000 + 10 * len(entries), "a place in a list")

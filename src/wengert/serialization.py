"""``torch.save`` and ``torch.load``: files in PyTorch's formats, written and read.

``load`` accepts only tensors and plain containers, unless the program allows more: a file cannot run code, read other
files or memory, or take memory and time out of proportion to its size. ``save`` replaces a file completely or not at
all.

>>> import os, tempfile, wengert as torch
>>> path = os.path.join(tempfile.mkdtemp(), "weights.pt")
>>> torch.save({"weight": torch.ones(2), "step": 3}, path)
>>> torch.load(path)
{'weight': tensor([1., 1.]), 'step': 3}
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from ._base.constants import device
from ._base.errors import noted, warn
from ._saving import legacy
from ._saving.admitted import KNOWN, LATE, StorageType, allowed_by_user, safe
from ._saving.file_reader import PyTorchFileReader  # noqa: F401  found as torch.PyTorchFileReader
from ._saving.legacy import SourceChangeWarning
from ._saving.pickling import StorageTable, make_pickler
from ._saving.places import default_restore_location, location_tag, packages, restorer
from ._saving.reading import StorageReader, byte_order_differs, load_archive, map_file
from ._saving.rebuilding import _get_layout, waiting  # noqa: F401  _get_layout: a name that PyTorch's pickles use
from ._saving.records import ALIGNMENT, Archive, ArchiveWriter
from ._saving.replacing import replacing
from ._saving.unpickling import WeightsUnpickler, globals_in, make_unpickler

__all__ = [
    "LoadEndianness", "SourceChangeWarning", "StorageType", "add_safe_globals", "clear_safe_globals",
    "default_restore_location", "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
    "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag", "register_package", "safe_globals",
    "save", "set_crc32_options", "set_default_load_endianness", "set_default_mmap_options", "skip_data",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
MAP_PRIVATE, MAP_SHARED = 2, 1
FileLike = Any
MAP_LOCATION = Any


class LoadEndianness(Enum):
    """The byte order of files that do not specify it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options(threading.local):
    crc32 = True
    endianness: LoadEndianness | None = None
    mmap_flags = MAP_PRIVATE
    skip_data = False


_options = _Options()


# ---- options
def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order assumed for files that do not specify it; ``None``: little-endian, as all are today."""
    return _options.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order assumed for files that do not specify it."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _options.endianness = endianness


def get_crc32_options() -> bool:
    """Whether ``save`` writes checksums and ``load`` verifies them."""
    return _options.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Set whether to write and verify checksums (default True). Files without checksums load in both cases."""
    _options.crc32 = bool(compute_crc32)


def get_default_mmap_options() -> int:
    """How ``load(mmap=True)`` maps files: ``mmap.MAP_PRIVATE`` (writes stay in memory) or ``mmap.MAP_SHARED``."""
    return _options.mmap_flags


class set_default_mmap_options:
    """Set how ``load(mmap=True)`` maps files; also a context manager.

    Raises:
        ValueError: ``flags`` is neither ``mmap.MAP_PRIVATE`` nor ``mmap.MAP_SHARED``.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.prev = _options.mmap_flags
        _options.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _options.mmap_flags = self.prev


class skip_data:
    """Context manager: ``save`` leaves room for storages without writing them, ``load`` does not read them."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        if materialize_fake_tensors:
            raise NotImplementedError("fake tensors cannot be loaded with the data of a file")

    def __enter__(self) -> None:
        self._before = _options.skip_data
        _options.skip_data = True

    def __exit__(self, *error: object) -> None:
        _options.skip_data = self._before


# ---- safe globals
def add_safe_globals(safe_globals: list[Any]) -> None:
    """Allow classes and functions in files that are loaded with ``weights_only=True``.

    Each item is the object, or a pair of the object and the full name by which files refer to it. Allow only functions
    that are harmless when the author of the file chooses their arguments.
    """
    safe.update(safe_globals)


def get_safe_globals() -> list[Any]:
    """What ``add_safe_globals`` has allowed."""
    return list(safe)


def clear_safe_globals() -> None:
    """Remove everything that ``add_safe_globals`` has allowed."""
    safe.clear()


class safe_globals:
    """Context manager that applies ``add_safe_globals`` within its block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error: object) -> None:
        safe.difference_update(self.safe_globals)


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """The names in a file that ``load(f, weights_only=True)`` would refuse, found without running any code.

    Raises:
        ValueError: ``f`` is not a zip file that ``save`` wrote.
    """
    with _opened(f) as file:
        if not _is_zipfile(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        start = file.tell()
        archive = Archive(file)
        if "constants.pkl" in archive:
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        names = globals_in(io.BytesIO(archive.read("data.pkl")))
        file.seek(start)
    return sorted(names - set(KNOWN) - LATE - set(allowed_by_user()))


# ---- places
def register_package(priority: int, tagger: Callable[[Any], Any], deserializer: Callable[[Any, str], Any]) -> None:
    """Register functions with which ``save`` and ``load`` handle storages of a device.

    Args:
        priority: entries are tried in ascending order; the CPU has 10.
        tagger: called with a storage; returns its tag, or ``None`` if the storage is on another device.
        deserializer: called with a storage and a tag; returns the storage on its device, or ``None``.
    """
    packages.append((priority, tagger, deserializer))
    packages.sort(key=lambda package: package[0])


# ---- save
def save(
    obj: object,
    f: FileLike,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object to a file that ``load`` of wengert and of PyTorch can read.

    Tensors that share memory are written with one storage, and share it again when they are loaded. Saving a small
    view of a large tensor therefore writes the whole storage; ``clone()`` the view to avoid that. Gradients and hooks
    are not saved. If ``f`` is a path, the old file is replaced only when the new one is completely on disk.

    Args:
        obj: any object that pickle supports. Prefer a ``state_dict()`` to a module: it depends on no classes.
        f: a path, or a file open for writing bytes.
        pickle_module: used in place of ``pickle``.
        pickle_protocol: pickle's protocol; every reader knows protocol 2.
        _use_new_zipfile_serialization: False for the format before PyTorch 1.6.

    Raises:
        RuntimeError: the folder does not exist, or tensors of different dtypes share memory.
        PermissionError: the folder takes no new file: the old one is not overwritten in place.
        AttributeError: ``f`` is neither a path nor a file.

    >>> import io, wengert as torch
    >>> file = io.BytesIO()
    >>> torch.save(torch.nn.Linear(2, 1).state_dict(), file)
    """
    write: Any = _save_zip if _use_new_zipfile_serialization else legacy.save
    is_path = isinstance(f, (str, bytes, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    with replacing(f) if is_path else contextlib.nullcontext(f) as file:
        folder = _folder_name(f) if is_path else "archive"
        write(obj, file, pickle_module, pickle_protocol, folder, _disable_byteorder_record)


def _folder_name(path: Any) -> str:
    stem = os.path.splitext(os.path.basename(os.fsdecode(path)))[0]
    return stem if stem.isascii() and stem and "\\" not in stem else "archive"


def _save_zip(obj: object, file: Any, pickle_module: Any, protocol: int, folder: str, no_byteorder: bool) -> None:
    table, data = StorageTable(), io.BytesIO()
    make_pickler(pickle_module, data, protocol, table).dump(obj)  # before the file is touched
    archive = ArchiveWriter(file.write, folder, _options.crc32)
    archive.add("data.pkl", data.getvalue())
    archive.add(".storage_alignment", str(ALIGNMENT).encode())
    if not no_byteorder:
        archive.add("byteorder", sys.byteorder.encode())
    for key, memory in table.memory.items():
        archive.add(f"data/{key}", None if _options.skip_data else memory.view("u1"), memory.nbytes)
    archive.add("version", b"3\n")
    archive.close()


# ---- load
def load(
    f: FileLike,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read a file that ``save`` of wengert or PyTorch wrote.

    Args:
        f: a path, or a file that supports reading and seeking.
        map_location: where to put storages of other devices: "cpu" or a ``device``; a dict from tags to tags; or a
            function of storage and tag that returns a storage, or ``None`` for the default.
        pickle_module: used in place of ``pickle``; not with ``weights_only=True``.
        weights_only: if True, the default, accept only tensors, plain containers and classes and functions of
            ``add_safe_globals``. With False the file may run any code: use it only for files that you trust.
        mmap: map the file's storages into memory instead of reading them; ``f`` must be a path. Checksums are then
            not verified, and the system ends the process (SIGBUS) if it reads what others have cut off meanwhile.

    Raises:
        UnpicklingError: the file is damaged, or holds other objects; the message names them.
        RuntimeError: the file is damaged or not one of ``save``, or a storage is on a missing device.
        EOFError: the file is empty.

    >>> import io, wengert as torch
    >>> file = io.BytesIO()
    >>> torch.save([torch.arange(3), "text"], file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    [tensor([0, 1, 2]), 'text']
    """
    weights_only = _weights_only(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.")
    is_path = isinstance(f, (str, bytes, os.PathLike))
    if is_path and os.fsdecode(f).endswith(".safetensors"):
        return _load_safetensors(f, map_location)
    unpickle = _unpickler(weights_only, pickle_module or pickle, {"encoding": "utf-8", **pickle_load_args})
    restore = restorer(map_location)
    shared = bool(mmap) and _options.mmap_flags == MAP_SHARED
    with _opened(f, "r+b" if shared else "rb") as file, waiting(None):
        if _is_zipfile(file):
            if mmap and not is_path:
                raise ValueError("f must be a file path in order to use the mmap argument")
            return _load_zip(file, restore, unpickle, map_file(file, shared) if mmap else None)
        if mmap:
            name = f"{f}, " if isinstance(f, str) else ""
            raise RuntimeError(
                f"mmap can only be used with files saved with `torch.save({name}_use_new_zipfile_serialization=True), "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        return legacy.load(file, restore, unpickle, weights_only)


def _weights_only(weights_only: bool | None, pickle_module: Any) -> bool:
    def asked(name: str) -> bool:
        return os.getenv(name, "0").lower() in ("1", "y", "yes", "true")

    force, force_not = asked("TORCH_FORCE_WEIGHTS_ONLY_LOAD"), asked("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if force and force_not:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if force:
        return True
    if weights_only is None and force_not:
        warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
        )
        return False
    return pickle_module is None if weights_only is None else bool(weights_only)


def _unpickler(weights_only: bool, pickle_module: Any, options: dict[str, Any]) -> Any:
    """A function ``(file, bytes left, persistent_load) -> object``."""
    if not weights_only:
        return lambda file, left, persistent_load: make_unpickler(
            pickle_module, file, persistent_load, **options
        ).load()

    def unpickle(file: Any, left: int, persistent_load: Any) -> Any:
        try:
            return WeightsUnpickler(file, left, persistent_load, options["encoding"]).load()
        except pickle.UnpicklingError as error:
            raise _refused(str(error)) from error.__cause__

    return unpickle


_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)


def _refused(message: str) -> pickle.UnpicklingError:
    if "was not an allowed global" in message:
        start = (
            "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those "
            f"steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {_UNSAFE}\n\t(2) Alternatively, to "
            "load with `weights_only=True` please check the recommended steps in the following error message.\n\t"
        )
        return pickle.UnpicklingError(f"{start}WeightsUnpickler error: {message}")
    if any(word in message for word in ("damaged", "truncated", "negative byte count")):
        return noted(
            pickle.UnpicklingError(f"Weights only load failed. WeightsUnpickler error: {message}"),
            "Why: the file is not what torch.save wrote; it was cut off or changed afterwards.",
        )
    return pickle.UnpicklingError(f"Weights only load failed. {_UNSAFE}\nWeightsUnpickler error: {message}")


def _load_zip(file: Any, restore: Any, unpickle: Any, mapped: Any) -> Any:
    archive = Archive(file)
    if "constants.pkl" in archive:
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. wengert has no "
            "TorchScript: load the program's state_dict instead."
        )
    order = _options.endianness
    storages = StorageReader(
        archive,
        restore,
        swapped=byte_order_differs(archive, order.name.lower() if order is not None else None),
        mapped=mapped,
        verify=_options.crc32,
        skip=_options.skip_data,
    )
    return load_archive(archive, storages, unpickle)


def _load_safetensors(path: Any, map_location: Any) -> Any:
    from .safetensors import load_file

    if map_location is not None and not isinstance(map_location, (str, bytes, device)):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    return load_file(path, device=map_location if map_location is not None else "cpu")


@contextlib.contextmanager
def _opened(f: Any, mode: str = "rb") -> Iterator[Any]:
    if isinstance(f, (str, bytes, os.PathLike)):
        with open(f, mode) as file:
            yield file
        return
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from None
    yield f


def _is_zipfile(file: Any) -> bool:
    start = file.tell()
    magic = file.read(4)
    if not isinstance(magic, bytes):
        raise noted(
            AssertionError(f"Expected bytes, got {type(magic).__name__}"), 'What to do: open the file with mode "rb".'
        )
    file.seek(start)
    return magic == b"PK\3\4"


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's version is at least this one.

    Raises:
        RuntimeError: the version does not consist of such parts; a warning if ``error_if_malformed`` is False.
    """
    try:
        parts = module.__version__.split(".")
        return tuple(type(part)(parts[i]) for i, part in enumerate(req_version_tuple)) >= req_version_tuple
    except (AttributeError, IndexError, ValueError) as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared "
            f"with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from error
        warn(message + ", but continuing assuming that requirement is met")
        return True

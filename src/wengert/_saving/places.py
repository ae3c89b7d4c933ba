"""``map_location``: the device of a file's storages, which is the CPU or "meta"; other devices raise an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.constants import device
from .._base.errors import noted, printable
from .._payloads.foreign import library_at
from .._payloads.meta import Meta
from .._tensor_api.storage import UntypedStorage

Restore = Callable[[Any, str], Any]


def device_restore(storage: Any, location: str) -> Any:
    """The error for the tag of a missing device."""
    kind = location.partition(":")[0]
    if library_at(kind) is not None:
        return storage  # its tensors are the CPU's; ``copy_`` and ``load_state_dict`` move them
    if kind in ("cuda", "hpu", "xpu", "mps", "mtia", "npu"):
        name = kind.upper()
        raise noted(
            RuntimeError(
                f"Attempting to deserialize object on a {name} device but torch.{kind}.is_available() is False. If you "
                "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
                "your storages to the CPU."
            )
        )
    return None


def meta_restore(storage: Any, location: str) -> Any:
    """A storage of the same size without data, for the tag "meta"."""
    if location != "meta":
        return None
    a = Meta((storage.nbytes(),), np.dtype(np.uint8))
    return UntypedStorage._on(a)


def _tag(kind: str) -> Callable[[Any], Any]:
    """The function that tags storages on a device of this type."""
    return lambda storage: kind if storage.device.type == kind else None


packages: list[tuple[int, Callable[[Any], Any], Restore]] = [
    (10, _tag("cpu"), lambda storage, location: storage if location == "cpu" else None),
    (20, lambda storage: None, device_restore),
    (22, _tag("meta"), meta_restore),
]
"""``(priority, tagger, deserializer)``, tried in this order."""


def location_tag(storage: Any) -> str:
    """The tag under which a storage is written: "cpu"."""
    for _, tagger, _ in packages:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage: Any, location: str) -> Any:
    """A storage on the device of its tag.

    Raises:
        RuntimeError: the device is missing.
    """
    if not isinstance(location, str):
        raise TypeError(f"expected string or bytes-like object, got {type(location).__name__!r}")
    for _, _, deserializer in packages:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {printable(location)})"
    )


def restorer(map_location: Any) -> Restore:
    """The function that moves a storage of a file to the device given by ``map_location``."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, bytes):
        map_location = map_location.decode()
    if isinstance(map_location, (str, device)):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage: Any, location: str) -> Any:
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return restore


def passes_through(error: BaseException, function: Any) -> bool:
    """Whether an error was raised while a function ran: by ``map_location``, if it is ``restored``."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not function.__code__:
        trace = trace.tb_next
    return trace is not None


def restored(restore: Restore, memory: Any, location: str) -> Any:
    """A storage's bytes after ``map_location``: its own, or those of the storage that ``map_location`` returned."""
    from .storages import storage_on

    result = restore(storage_on(memory, typed=False), location)
    if not isinstance(result, UntypedStorage):
        result = result.untyped() if hasattr(result, "untyped") else None
    if result is None:
        raise TypeError("map_location must return a storage, or None")
    return result._array

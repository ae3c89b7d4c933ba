"""``torch.accelerator``: the device beside the CPU, of which there is none.

>>> import wengert as torch
>>> torch.accelerator.is_available(), torch.accelerator.current_accelerator()
(False, None)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert._base.dtypes import device as _device

from ._absent import dummy, refusing, returning

_MESSAGE = "Cannot access accelerator device when none is available."
_REFUSED = (
    "current_device_idx", "current_device_index", "current_stream", "device_index", "empty_cache", "get_memory_info",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
    "synchronize",
)  # fmt: skip

is_available = returning("is_available", lambda: False, "False: there is the CPU only.")
device_count = returning("device_count", lambda: 0, "0: there is the CPU only.")


def current_accelerator(check_available: bool = False) -> _device | None:
    """``None``: there is the CPU only."""
    return None


def get_device_module(device: Any = None) -> Any:
    """The module of a device type: ``torch.cpu``, ``torch.cuda``, ..."""
    kind = "cpu" if device is None else _device(device).type
    try:
        return import_module(f".{kind}", __package__)
    except ModuleNotFoundError:
        raise RuntimeError(f"Invalid device_type '{kind}' or a corresponding module does not exist.") from None


#: A queue of work on an accelerator, and a mark in it: for annotations and ``isinstance``.
Stream, Event = dummy("Stream"), dummy("Event")

globals().update({name: refusing(name, RuntimeError, _MESSAGE) for name in _REFUSED})

__all__ = ["Event", "Stream", "current_accelerator", "device_count", "get_device_module", "is_available", *_REFUSED]  # noqa: PLE0604  the names of a table

"""``torch.cpu``: the device that is there.

>>> import wengert as torch
>>> torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device()
(True, 1, 'cpu')
"""

from __future__ import annotations

from typing import Any

from .._absent import NoStream, returning
from . import amp as amp

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "is_available",
    "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """A stream of the CPU: what is called is done at once."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Any = None) -> None:
        """Nothing to record."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""


class Event:
    """An event of the CPU: it has always happened."""

    def query(self) -> bool:
        """True: it has happened."""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing to record."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""


StreamContext = NoStream
_stream = Stream()

is_available = returning("is_available", lambda: True, "True.")
is_initialized = returning("is_initialized", lambda: True, "True.")
device_count = returning("device_count", lambda: 1, "1: the processors count as one device.")
current_device = returning("current_device", lambda: "cpu", 'Its name: "cpu".')
current_stream = returning("current_stream", lambda: _stream, "The only stream.")
set_device = returning("set_device", lambda: None, "Nothing: there is one device.")
synchronize = returning("synchronize", lambda: None, "Nothing: what is called is done at once.")


def stream(stream: Any) -> NoStream:
    """A context for a stream: it does nothing."""
    return NoStream(stream)

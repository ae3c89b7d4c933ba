"""What the rows have of code: contexts that do nothing, types of which nothing is."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from wengert._base.absent import WHAT_TO_DO, refusing
from wengert._base.dtypes import DTYPES
from wengert._base.dtypes import device as Device
from wengert._base.errors import noted
from wengert._tensor_api.legacy_types import TYPES


class NoContext:
    """A context that does nothing."""

    def __enter__(self) -> NoContext:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class NoStream(NoContext):
    """A context for no stream: it does nothing."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream


def stream(stream: Any) -> NoStream:
    """A context for a stream: it does nothing."""
    return NoStream(stream)


class NoDevice:
    """A context for "no device" (``None``, or a negative number); to enter it for another is an error."""

    message = "PyTorch was compiled without this device"

    def __init__(self, device: Any = None) -> None:
        self.idx = -1 if device is None else device if isinstance(device, int) else 0

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise noted(RuntimeError(self.message), WHAT_TO_DO)

    def __exit__(self, *error: object) -> None:
        pass


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


STREAM = Stream()


def get_accelerator() -> Device:
    """The device that a program runs on: the CPU."""
    return Device("cpu")


def get_device_module(device: Any = None) -> Any:
    """The module of a device type: ``torch.cpu``, ``torch.cuda``, ..."""
    kind = "cpu" if device is None else Device(device).type
    try:
        return import_module(f"wengert.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Invalid device_type '{kind}' or a corresponding module does not exist.") from None


# ---- cuda
def set_rng_state_all(new_states: Any) -> None:
    """Nothing to set for no device.

    Raises:
        AssertionError: a state for a device that is not there.
    """
    if list(new_states):
        raise AssertionError("Torch not compiled with CUDA enabled")


def card(module: str) -> dict[str, Any]:
    """What ``torch.cuda`` has where CuPy is installed and a card answers."""
    from wengert._payloads.cuda import names

    return {name: fn if not callable(fn) else _of(module, name, fn) for name, fn in names().items()}


def _of(module: str, name: str, fn: Any) -> Any:
    if isinstance(fn, types.FunctionType):
        fn.__name__ = fn.__qualname__ = name
        fn.__module__ = module
    return fn


NO_NVTX = "NVTX functions not installed. Are you sure you have a CUDA build?"


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context, or a decorator; entering it is a RuntimeError, as the profiler is not there."""
    refusing("range", RuntimeError, NO_NVTX)()
    yield


class _NoType(type):
    """The class of tensor types on a device that is not there: nothing is of them."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        name = cls.__module__.rpartition(".")[2].upper()
        raise noted(
            TypeError(f"type {cls.__module__}.{cls.__name__} not available. Torch not compiled with {name} enabled."),
            WHAT_TO_DO,
        )


def tensor_types(module: str) -> dict[str, Any]:
    """``FloatTensor`` and its like of a device that is not there, by name."""
    doc = "A tensor type of a device that is not there: nothing is of it, and to call it is an error."
    home = module.replace("wengert", "torch", 1)
    return {
        name: _NoType(name, (), {"__module__": home, "__doc__": doc, "dtype": DTYPES[kind.dtype.name]})
        for name, kind in TYPES.items()
    }


class _BroadcastingList:
    """``BroadcastingList2[float]`` in an annotation: one number for all, or a list of so many."""

    def __getitem__(self, types: object) -> None:
        return None


BROADCASTING = _BroadcastingList()

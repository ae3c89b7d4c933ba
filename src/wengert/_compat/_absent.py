"""What answers for the devices that are not there: the errors of PyTorch's CPU build, and contexts that do nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert._base.dtypes import DTYPES
from wengert._base.errors import noted
from wengert._tensor_api.legacy_types import TYPES

WHAT_TO_DO = "What to do: wengert computes with NumPy on the CPU; ask is_available() before, or leave the call out."

#: what the module of an absent device says of it, by the names that CUDA's and XPU's share
ANSWERS: dict[str, Callable[[], Any]] = {
    "is_available": lambda: False,
    "is_initialized": lambda: False,
    "is_bf16_supported": lambda: False,
    "is_tf32_supported": lambda: False,
    "device_count": lambda: 0,
    "get_arch_list": list,
    "get_gencode_flags": str,
    "get_rng_state_all": list,
    "memory_allocated": lambda: 0,
    "max_memory_allocated": lambda: 0,
    "memory_reserved": lambda: 0,
    "max_memory_reserved": lambda: 0,
    "memory_stats": OrderedDict,
    "memory_stats_as_nested_dict": dict,
}


def refusing(name: str, error: type[Exception], message: str) -> Callable[..., Any]:
    """A function that raises an error."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise noted(error(message), WHAT_TO_DO)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"There is no such device: {error.__name__}."
    return function


def returning(name: str, value: Callable[[], Any], doc: str) -> Callable[..., Any]:
    """A function that returns a value whatever it is given."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return value()

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def dummy(name: str) -> type:
    """A class of which there can be no object; ``isinstance`` may ask for it."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise noted(RuntimeError(f"Tried to instantiate dummy base class {name}"), WHAT_TO_DO)

    return type(name, (), {"__init__": refuse, "__doc__": "Something of a device that is not there."})


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


class NoStream:
    """A context for no stream: it does nothing."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream

    def __enter__(self) -> NoStream:
        return self

    def __exit__(self, *error: object) -> None:
        pass


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


def tensor_types(device: str) -> dict[str, Any]:
    """``FloatTensor`` and its like of a device that is not there, by name."""
    doc = "A tensor type of a device that is not there: nothing is of it, and to call it is an error."
    return {
        name: _NoType(name, (), {"__module__": f"torch.{device}", "__doc__": doc, "dtype": DTYPES[kind.dtype.name]})
        for name, kind in TYPES.items()
    }

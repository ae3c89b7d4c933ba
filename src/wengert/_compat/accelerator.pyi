# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from .. import return_types as _return_types
from .._base.constants import Size as _Size
from .._base.constants import device as _device
from .._base.constants import layout as _layout
from .._base.constants import memory_format as _memory_format
from .._base.dtypes import dtype as _dtype
from .._tape.node import Node as _Node
from .._tape.node import RemovableHandle as _RemovableHandle
from .._tensor_api.storage import TypedStorage as _TypedStorage
from .._tensor_api.storage import UntypedStorage as _UntypedStorage
from ..random import Generator as _Generator
from .._tape.tensor import Tensor as Tensor

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class Event(Any): ...
class Stream(Any): ...
def current_accelerator(check_available: _bool = False) -> Any:
    """``None``: there is the CPU only."""
def current_device_idx(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def current_device_index(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def device_count(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def device_index(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def empty_cache(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def get_device_module(device: _device | _str | _int | None = None) -> Any:
    """The module of a device type: ``torch.cpu``, ``torch.cuda``, ..."""
def get_memory_info(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def max_memory_allocated(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def max_memory_reserved(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def memory_allocated(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def memory_reserved(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def reset_accumulated_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def reset_peak_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def set_device_idx(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def set_device_index(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def set_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""

__all__ = [
    "Event",
    "Stream",
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_device_module",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

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
from .._compat._devices import NoDevice as _Base_device
from .._compat._devices import NoStream as StreamContext
from .._tape.tensor import Tensor as Tensor
from ..cuda import amp as amp
from ..cuda import nvtx as nvtx
from ..cuda import random as random

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class AcceleratorError(RuntimeError): ...
class BFloat16Tensor(Tensor): ...
class BoolTensor(Tensor): ...
class ByteTensor(Tensor): ...
class CUDAGraph(Any): ...
class CUDAPluggableAllocator(Any): ...
class CharTensor(Tensor): ...
class CudaError(RuntimeError): ...
class DeferredCudaCallError(Exception): ...
class DoubleTensor(Tensor): ...
class Event(Any): ...
class ExternalStream(Any): ...
class FloatTensor(Tensor): ...
class HalfTensor(Tensor): ...
class IntTensor(Tensor): ...
class LongTensor(Tensor): ...
class MemPool(Any): ...
class OutOfMemoryError(RuntimeError): ...
class ShortTensor(Tensor): ...
class Stream(Any): ...
def caching_allocator_alloc(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def caching_allocator_delete(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def can_device_access_peer(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def clock_rate(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def cudart(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def current_blas_handle(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def current_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
default_generators: _tuple
def default_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
class device(_Base_device):
    ...
def device_count(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
class device_of(Any): ...
def empty_cache(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def get_allocator_backend(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_arch_list(*args: Any, **kwargs: Any) -> _list:
    """There is no such device."""
def get_device_capability(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_device_name(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_device_properties(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_gencode_flags(*args: Any, **kwargs: Any) -> _str:
    """There is no such device."""
def get_per_process_memory_fraction(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_rng_state_all(*args: Any, **kwargs: Any) -> _list:
    """There is no such device."""
def get_stream_from_external(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_sync_debug_mode(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
class graph(Any): ...
def graph_pool_handle(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
has_half: _bool
has_magma: _bool
def init(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def initial_seed(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def ipc_collect(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_bf16_supported(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_current_stream_capturing() -> _bool:
    """There is no such device."""
def is_initialized(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_tf32_supported(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def make_graphed_callables(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def manual_seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def max_memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def max_memory_cached(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def max_memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def mem_get_info(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def memory_cached(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def memory_snapshot(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def memory_stats(*args: Any, **kwargs: Any) -> Any:
    """There is no such device."""
def memory_stats_as_nested_dict(*args: Any, **kwargs: Any) -> _dict:
    """There is no such device."""
def memory_summary(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def memory_usage(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def power_draw(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def reset_accumulated_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def reset_max_memory_allocated(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def reset_max_memory_cached(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def reset_peak_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def set_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_per_process_memory_fraction(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_rng_state_all(new_states: Any) -> None:
    """Nothing to set for no device."""
def set_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_sync_debug_mode(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def stream(stream: Any) -> Any:
    """A context for a stream: it does nothing."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def temperature(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def utilization(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""

__all__ = [
    "AcceleratorError",
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CUDAGraph",
    "CUDAPluggableAllocator",
    "CharTensor",
    "CudaError",
    "DeferredCudaCallError",
    "DoubleTensor",
    "Event",
    "ExternalStream",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "MemPool",
    "OutOfMemoryError",
    "ShortTensor",
    "Stream",
    "StreamContext",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "can_device_access_peer",
    "clock_rate",
    "cudart",
    "current_blas_handle",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_allocator_backend",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_stream_from_external",
    "get_sync_debug_mode",
    "graph",
    "graph_pool_handle",
    "has_half",
    "has_magma",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "power_draw",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "synchronize",
    "temperature",
    "utilization",
    "amp",
    "nvtx",
    "random",
]

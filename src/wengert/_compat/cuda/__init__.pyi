# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from ... import return_types as _return_types
from ..._base.constants import Size as _Size
from ..._base.constants import device as _device
from ..._base.constants import layout as _layout
from ..._base.constants import memory_format as _memory_format
from ..._base.dtypes import dtype as _dtype
from ..._tape.node import Node as _Node
from ..._tape.node import RemovableHandle as _RemovableHandle
from ..._tensor_api.storage import TypedStorage as _TypedStorage
from ..._tensor_api.storage import UntypedStorage as _UntypedStorage
from ...random import Generator as _Generator
from ..._tape.tensor import Tensor as Tensor
from typing import Any
from .._absent import ANSWERS, NoDevice, NoStream, dummy, refusing, returning, tensor_types
from . import amp as amp
from . import nvtx as nvtx
default_generators: tuple[Any, ...]
def is_current_stream_capturing() -> bool:
    ...
def set_rng_state_all(new_states: Any) -> None:
    ...
class device(NoDevice):
    """A context in which a GPU is the current one; only that for no GPU can be entered."""
    message = 'PyTorch was compiled without CUDA support'
class device_of(device):
    """A context in which a tensor's GPU is the current one: for tensors on the CPU it does nothing."""

    def __init__(self, obj: Any) -> None:
        ...
def stream(stream: Any) -> NoStream:
    ...
class CudaError(RuntimeError):
    """An error of the driver, which is never called."""
class DeferredCudaCallError(Exception):
    """An error of a call that waits for the driver."""
from . import random as random

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
class AcceleratorError(RuntimeError): ...
CUDAGraph: _type[Any]
CUDAPluggableAllocator: _type[Any]
Event: _type[Any]
ExternalStream: _type[Any]
MemPool: _type[Any]
class OutOfMemoryError(RuntimeError): ...
Stream: _type[Any]
from ..._compat._absent import NoStream as StreamContext
def caching_allocator_alloc(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def caching_allocator_delete(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def can_device_access_peer(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def clock_rate(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def cudart(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def current_blas_handle(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def current_device(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def default_stream(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def device_count(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def empty_cache(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no GPU."""
def get_allocator_backend(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_arch_list(*args: Any, **kwargs: Any) -> _list[Any]:
    """As on a machine without a GPU."""
def get_device_capability(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_device_name(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_device_properties(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_gencode_flags(*args: Any, **kwargs: Any) -> _str:
    """As on a machine without a GPU."""
def get_per_process_memory_fraction(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_rng_state(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_rng_state_all(*args: Any, **kwargs: Any) -> _list[Any]:
    """As on a machine without a GPU."""
def get_stream_from_external(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def get_sync_debug_mode(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
graph: _type[Any]
def graph_pool_handle(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
has_half: _bool
has_magma: _bool
def init(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def initial_seed(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def ipc_collect(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """As on a machine without a GPU."""
def is_bf16_supported(*args: Any, **kwargs: Any) -> _bool:
    """As on a machine without a GPU."""
def is_initialized(*args: Any, **kwargs: Any) -> _bool:
    """As on a machine without a GPU."""
def is_tf32_supported(*args: Any, **kwargs: Any) -> _bool:
    """As on a machine without a GPU."""
def make_graphed_callables(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no GPU."""
def manual_seed_all(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no GPU."""
def max_memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def max_memory_cached(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def max_memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def mem_get_info(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def memory_cached(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """As on a machine without a GPU."""
def memory_snapshot(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def memory_stats(*args: Any, **kwargs: Any) -> _dict[_str, Any]:
    """As on a machine without a GPU."""
def memory_stats_as_nested_dict(*args: Any, **kwargs: Any) -> _dict[_str, Any]:
    """As on a machine without a GPU."""
def memory_summary(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def memory_usage(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def power_draw(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def reset_accumulated_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def reset_max_memory_allocated(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def reset_max_memory_cached(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def reset_peak_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def seed(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no GPU."""
def seed_all(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no GPU."""
def set_device(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def set_per_process_memory_fraction(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def set_rng_state(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def set_stream(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def set_sync_debug_mode(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def temperature(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""
def utilization(*args: Any, **kwargs: Any) -> Any:
    """There is no such device: AssertionError."""

__all__ = [
    "AcceleratorError",
    "CUDAGraph",
    "CUDAPluggableAllocator",
    "CudaError",
    "DeferredCudaCallError",
    "Event",
    "ExternalStream",
    "MemPool",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "amp",
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
    "nvtx",
    "power_draw",
    "random",
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
]

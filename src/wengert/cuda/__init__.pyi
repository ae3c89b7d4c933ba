# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, dict as _dict, int as _int, list as _list, str as _str, tuple as _tuple
from typing import Any
from .._tape.tensor import Tensor
from .._compat._devices import NoDevice as _Base_device, NoStream as _NoStream
from ..cuda import amp as amp, nvtx as nvtx, random as random
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
StreamContext = _NoStream
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

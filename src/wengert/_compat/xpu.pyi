# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, dict as _dict, int as _int, list as _list, str as _str, tuple as _tuple
from typing import Any
from .._compat._devices import NoDevice as _Base_device, NoStream as _NoStream
class Event(Any): ...
class Stream(Any): ...
StreamContext = _NoStream
def current_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
default_generators: _tuple
class device(_Base_device):
    ...
def device_count(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def empty_cache(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
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
def get_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_rng_state_all(*args: Any, **kwargs: Any) -> _list:
    """There is no such device."""
def init(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def initial_seed(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_bf16_supported(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_initialized(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_tf32_supported(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def manual_seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def max_memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def max_memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def mem_get_info(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def memory_allocated(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def memory_reserved(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def memory_stats(*args: Any, **kwargs: Any) -> Any:
    """There is no such device."""
def memory_stats_as_nested_dict(*args: Any, **kwargs: Any) -> _dict:
    """There is no such device."""
def reset_accumulated_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def reset_peak_memory_stats(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def set_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def set_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def stream(stream: Any) -> Any:
    """A context for a stream: it does nothing."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""

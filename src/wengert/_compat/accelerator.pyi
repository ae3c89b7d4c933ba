# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from typing import Any
from .. import get_device_module as get_device_module
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

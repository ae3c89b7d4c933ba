# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from typing import Any
class Event(Any): ...
def compile_shader(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def current_allocated_memory(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def device_count(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def driver_allocated_memory(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def empty_cache(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def get_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def recommended_max_memory(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def seed(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def set_per_process_memory_fraction(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def set_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""

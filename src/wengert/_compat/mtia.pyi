# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from typing import Any
def current_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def device_count(*args: Any, **kwargs: Any) -> _int:
    """There is no such device."""
def empty_cache(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def init(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def is_initialized(*args: Any, **kwargs: Any) -> _bool:
    """There is no such device."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def manual_seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def set_device(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def stream(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def synchronize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""

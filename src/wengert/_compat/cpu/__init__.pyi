# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int, str as _str
from typing import Any
from ..._compat._devices import NoStream as _NoStream
from ..._compat.cpu import amp as amp
class Event(Any): ...
class Stream(Any): ...
StreamContext = _NoStream
def current_device(*args: Any, **kwargs: Any) -> _str:
    """'cpu'."""
def current_stream(*args: Any, **kwargs: Any) -> Any:
    """The only one."""
def device_count(*args: Any, **kwargs: Any) -> _int:
    """1: all processors are one device."""
def is_available(*args: Any, **kwargs: Any) -> _bool:
    """True."""
def is_initialized(*args: Any, **kwargs: Any) -> _bool:
    """True."""
def set_device(*args: Any, **kwargs: Any) -> None:
    """Nothing to do."""
def stream(stream: Any) -> Any:
    """A context for a stream: it does nothing."""
def synchronize(*args: Any, **kwargs: Any) -> None:
    """Nothing to do."""

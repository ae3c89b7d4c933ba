# Made by tools/make_stubs.py; do not edit.
from builtins import str as _str
from collections.abc import Iterator
from typing import Any
def mark(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range(msg: _str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context, or a decorator; entering it is a RuntimeError, as the profiler is not there."""
def range_end(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range_pop(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range_push(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range_start(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""

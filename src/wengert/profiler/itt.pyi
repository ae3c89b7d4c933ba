# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
def is_available() -> _bool:
    """False."""
def mark(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range_pop(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""
def range_push(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: RuntimeError."""

# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from typing import Any
def is_available() -> _bool:
    """False."""
def is_built() -> _bool:
    """False."""
def is_macos13_or_newer(minor: _int = 0) -> Any:
    """There is no such device."""
def is_macos_or_newer(major: Any, minor: Any) -> Any:
    """There is no such device."""

# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
enabled: _bool
def flags(enabled: _bool = False) -> Any:
    """A context in which the switches are these."""
def is_available() -> _bool:
    """False."""
def set_flags(_enabled: Any) -> Any:
    """Set those switches that are not None; what they were."""

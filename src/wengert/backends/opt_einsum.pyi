# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
enabled: _bool
def flags(enabled: Any = None, strategy: Any = None) -> Any:
    """A context in which the switches are these."""
def get_opt_einsum() -> None:
    """``None``: there is none."""
def is_available() -> _bool:
    """False."""
def set_flags(_enabled: Any = None, _strategy: Any = None) -> Any:
    """Set those switches that are not None; what they were."""
strategy: None

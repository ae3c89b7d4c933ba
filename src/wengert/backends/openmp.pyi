# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
def is_available() -> _bool:
    """False."""

# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
class context(Any): ...
def is_available() -> _bool:
    """False."""

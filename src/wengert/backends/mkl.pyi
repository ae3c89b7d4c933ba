# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int
from typing import Any
from .._compat._devices import NoContext as _Base_verbose
VERBOSE_OFF: _int
VERBOSE_ON: _int
def is_available() -> _bool:
    """False."""
class verbose(_Base_verbose):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
def amp_definitely_not_available(*args: Any, **kwargs: Any) -> _bool:
    """True: there is no GPU."""

# Made by tools/make_stubs.py; do not edit.
from typing import Any
def optimize_for_mobile(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""

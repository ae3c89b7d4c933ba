# Made by tools/make_stubs.py; do not edit.
from typing import Any
def to_mkldnn(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""

# Made by tools/make_stubs.py; do not edit.
from typing import Any
def insert_deferred_runtime_asserts(*args: Any, **kwargs: Any) -> None:
    """Nothing to do: there are no symbolic sizes."""

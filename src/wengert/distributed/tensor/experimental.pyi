# Made by tools/make_stubs.py; do not edit.
from typing import Any
def implicit_replication() -> Any:
    """A context that does nothing."""

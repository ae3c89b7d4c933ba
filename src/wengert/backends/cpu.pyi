# Made by tools/make_stubs.py; do not edit.
from typing import Any
def get_cpu_capability() -> Any:
    """NumPy chooses instructions."""

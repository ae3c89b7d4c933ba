# Made by tools/make_stubs.py; do not edit.
from typing import Any
def parse_args(*arg_descriptors: Any) -> Any:
    """For an export."""

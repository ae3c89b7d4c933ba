# Made by tools/make_stubs.py; do not edit.
from builtins import dict as _dict, str as _str
from typing import Any
from .._tape.tensor import Number, Tensor
def get_fastpath_enabled() -> _dict[_str, Any]:
    """The switch."""
def set_fastpath_enabled(value: Tensor | Number) -> Any:
    """Set the switch, which has nothing to switch."""

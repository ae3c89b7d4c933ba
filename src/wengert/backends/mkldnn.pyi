# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int, str as _str
from typing import Any
from ..backends.mkl import verbose as verbose
VERBOSE_OFF: _int
VERBOSE_ON: _int
allow_tf32: _bool
deterministic: _bool
enabled: _bool
def flags(enabled: _bool = False, deterministic: _bool = False, allow_tf32: _bool = True, fp32_precision: _str = 'none') -> Any:
    """A context in which the switches are these."""
fp32_precision: _str
def is_available() -> _bool:
    """False."""

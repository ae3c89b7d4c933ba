# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, int as _int, str as _str
from typing import Any
allow_tf32: _bool
benchmark: _bool
benchmark_limit: None
deterministic: _bool
enabled: _bool
def flags(enabled: _bool = False, benchmark: _bool = False, benchmark_limit: _int = 10, deterministic: _bool = False, allow_tf32: _bool = True, fp32_precision: _str = 'none') -> Any:
    """A context in which the switches are these."""
fp32_precision: _str
def is_acceptable(tensor: Any) -> Any:
    """False: no tensor is for it."""
def is_available() -> _bool:
    """False."""
def set_flags(_enabled: Any = None, _benchmark: Any = None, _benchmark_limit: Any = None, _deterministic: Any = None, _allow_tf32: Any = None, _fp32_precision: _str = 'none') -> Any:
    """Set those switches that are not None; what they were."""
def version() -> None:
    """``None``: there is none."""

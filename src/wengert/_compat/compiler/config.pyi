# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, dict as _dict, int as _int, str as _str
from typing import Any
accumulated_recompile_limit: _int
assume_static_by_default: _bool
automatic_dynamic_shapes: _bool
capture_scalar_outputs: _bool
dynamic_shapes: _bool
fail_on_recompile_limit_hit: _bool
force_disable_caches: _bool
def get_config_copy() -> _dict[_str, Any]:
    """The switches and their values."""
job_id: None
def load_config(values: _dict[_str, Any]) -> None:
    """Set switches."""
log_file_name: None
def patch(arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Any:
    """A context, and a decorator, in which switches have other values: ``patch(name=value)``."""
recompile_limit: _int
def shallow_copy_dict() -> _dict[_str, Any]:
    """The switches and their values."""
verbose: _bool
wrap_top_frame: _bool

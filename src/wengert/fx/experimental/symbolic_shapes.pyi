# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
from ..._compat import open_rows
from ._shape_env import ShapeEnv as ShapeEnv
class GuardOnDataDependentSymNode(RuntimeError):
    """An exported program takes a number out of a tensor that depends on its inputs."""
def guard_bool(a: Any) -> bool:
    ...
def guard_int(a: Any) -> int:
    ...
def guard_float(a: Any) -> float:
    ...
def bind_symbols(gm: Any, *args: Any) -> Any:
    ...
def eval_guards(gm: Any, *args: Any, ignore_static: bool=True) -> bool:
    ...
def fx_placeholder_vals(gm: Any) -> list[Any]:
    ...
def fx_placeholder_targets(gm: Any) -> list[str]:
    ...
class ConstraintViolationError(RuntimeError): ...
class DimDynamic(Any): ...
def guard_or_false(a: Any) -> _bool:
    """The number itself, as ``bool``."""
def guard_or_true(a: Any) -> _bool:
    """The number itself, as ``bool``."""
def has_free_symbols(*args: Any, **kwargs: Any) -> _bool:
    """False: numbers are known."""
def has_guarding_hint(*args: Any, **kwargs: Any) -> _bool:
    """True: numbers are known."""
def is_concrete_bool(*args: Any, **kwargs: Any) -> _bool:
    """True: numbers are known."""
def is_concrete_int(*args: Any, **kwargs: Any) -> _bool:
    """True: numbers are known."""
def is_nested_int(*args: Any, **kwargs: Any) -> _bool:
    """False: numbers are known."""
def statically_known_true(a: Any) -> _bool:
    """The number itself, as ``bool``."""

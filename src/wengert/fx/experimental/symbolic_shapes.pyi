# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool
from typing import Any
from ..._compat import open_rows
class GuardOnDataDependentSymNode(RuntimeError):
    """An exported program takes a number out of a tensor that depends on its inputs."""
def guard_bool(a: Any) -> bool:
    ...
def guard_int(a: Any) -> int:
    ...
def guard_float(a: Any) -> float:
    ...
def fx_placeholder_vals(gm: Any) -> list[Any]:
    ...
def fx_placeholder_targets(gm: Any) -> list[str]:
    ...
class ConstraintViolationError(RuntimeError): ...
class DimDynamic(Any): ...
class ShapeEnv(Any): ...
def bind_symbols(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def eval_guards(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
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

# Made by tools/make_stubs.py; do not edit.
from builtins import list as _list
from typing import Any
def get_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def get_rng_state_all(*args: Any, **kwargs: Any) -> _list:
    """There is no such device."""
def initial_seed(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""
def manual_seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def manual_seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def seed(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def seed_all(*args: Any, **kwargs: Any) -> None:
    """There is no such device."""
def set_rng_state(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: AssertionError."""

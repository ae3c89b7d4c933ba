"""Assertions as functions, which Python's ``-O`` does not remove."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.dtypes import bool_
from .._base.errors import warn
from .._base.registry import public
from .._tape.tensor import Tensor
from .torch_function import ask, has_torch_function


@public("torch._assert")
def _assert(condition: Any, message: str) -> None:
    """``assert condition, message``, which Python's ``-O`` does not remove."""
    if type(condition) is not Tensor and has_torch_function((condition,)):  # a tracer's value
        return ask(_assert, [condition], (condition, message), None)
    if not condition:
        raise AssertionError(message)


_UNEXPLAINED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


@public("torch._check_with")
def _check_with(error_type: type[Exception], cond: bool, message: Callable[[], Any] | None) -> None:
    """Raise an error of this class, with the text that ``message()`` gives, unless ``cond``."""
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true."
        )
    if hasattr(type(cond), "sym_computed"):  # a comparison of a program that torch.export runs
        cond.known.expect(cond)
        return
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if not issubclass(error_type, Exception) or issubclass(error_type, Warning):
        raise AssertionError(f"error_type must be a subclass of Exception but not Warning, got {error_type}")
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNEXPLAINED if message is None else str(message()))


@public("torch._check_tensor_all_with")
def _check_tensor_all_with(error_type: type[Exception], cond: Tensor, message: Callable[[], Any] | None = None) -> None:
    """Raise an error of this class, with the text that ``message()`` gives, unless all elements are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


@public("torch._check_tensor_all")
def _check_tensor_all(cond: Tensor, message: Callable[[], Any] | None = None) -> None:
    """Raise ``RuntimeError``, with the text that ``message()`` gives, unless all elements are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


@public("torch._check_is_size")
def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: int | None = None) -> None:
    """Raise ``RuntimeError``, with the text that ``message()`` gives, unless ``0 <= i <= max``; deprecated."""
    warn(
        "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     "
        "Use _check(i >= 0) instead.",
        FutureWarning,
    )
    _check_with(RuntimeError, i >= 0, message)
    if max is not None:
        _check_with(RuntimeError, i <= max, message)


def _checker(name: str, error: type[Exception]) -> None:
    def check(cond: Any, message: Any = None) -> None:
        _check_with(error, cond, message)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise ``{error.__name__}``, with the text that ``message()`` gives, unless ``cond``."
    public(f"torch.{name}")(check)


for _name, _error in (
    ("_check", RuntimeError),
    ("_check_value", ValueError),
    ("_check_type", TypeError),
    ("_check_index", IndexError),
    ("_check_not_implemented", NotImplementedError),
):
    _checker(_name, _error)

"""Stand-ins for absent things: functions that return a fixed answer or raise, and classes without instances."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from .errors import noted

WHAT_TO_DO = "What to do: wengert computes with NumPy on the CPU; ask is_available() before, or leave the call out."


def named(function: Any, name: str, doc: str | None, module: str | None = None) -> Any:
    """Give a function or class its public name, docstring and module."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc or function.__doc__
    if module is not None:
        function.__module__ = module
    return function


def refusing(name: str, error: type[Exception], message: str, *notes: str) -> Callable[..., Any]:
    """A function that raises `error`, with a note that says what to do instead."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise noted(error(message), *(notes or (WHAT_TO_DO,)))

    return named(function, name, f"Not possible here: {error.__name__}.")


def answering(name: str, answer: Any, doc: str | None) -> Callable[..., Any]:
    """A function that returns ``answer``: a copy of it if it is a function, else one that takes any arguments.

    If ``answer`` is a type, each call returns a new instance.
    """
    if isinstance(answer, FunctionType):
        if hasattr(answer, "__wrapped__"):  # a context manager; Python's errors name the wrapped function
            answer.__wrapped__.__qualname__ = name
        copy = FunctionType(answer.__code__, answer.__globals__, name, answer.__defaults__, answer.__closure__)
        copy.__dict__.update(answer.__dict__)
        copy.__annotations__, copy.__kwdefaults__ = dict(answer.__annotations__), answer.__kwdefaults__
        return named(copy, name, doc or answer.__doc__)

    def function(*args: Any, **kwargs: Any) -> Any:
        return answer() if isinstance(answer, type) else answer

    kind = answer if isinstance(answer, type) else type(answer)
    function.__annotations__["return"] = "None" if answer is None else kind.__name__
    return named(function, name, doc or f"{answer!r}.")


def absent_class(name: str, *bases: type) -> type:
    """A class that cannot be instantiated, for use with ``isinstance``."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise noted(RuntimeError(f"Tried to instantiate dummy base class {name}"), WHAT_TO_DO)

    return type(name, bases, {"__init__": refuse, "__doc__": "Something of a device that is not there."})

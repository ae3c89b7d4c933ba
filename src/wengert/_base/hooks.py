"""Hooks: functions that a lower room calls and a higher room implements.

A module imports only from its own room and from lower ones (CONTRIBUTING.md, "Layout, and why"). A lower room that
must call a higher one declares a hook, with a signature and a docstring but no body, and the higher room sets it when
it is imported.

>>> @hook
... def greet(name: str) -> str:
...     '''The greeting of a person.'''
>>> @greet.set
... def _(name):
...     return f"Good morning, {name}"
>>> greet.run("Ada")
'Good morning, Ada'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Hook(Generic[P, R]):
    """A function that a lower room declares and a higher room sets once; call it as ``hook.run(...)``.

    ``run`` is the function itself without a wrapper: a function that inspects its caller finds it one frame up.
    """

    run: Callable[P, R]

    def __init__(self, declared: Callable[P, R]) -> None:
        self.declared = declared
        self.__doc__ = declared.__doc__
        DECLARED[f"{declared.__module__}.{declared.__qualname__}"] = self

    def set(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorator that makes `function` the hook's implementation."""
        assert not hasattr(self, "run"), f"two functions for the hook {self.declared.__qualname__}"
        self.run = function
        return function


DECLARED: dict[str, Hook[..., Any]] = {}
"""Every hook by its full name."""

hook = Hook

"""Hooks: the functions that a lower room calls and a higher one writes.

A module imports only from its own room and from lower ones (CONTRIBUTING.md, "Layout, and why"). Where a lower room
must call a higher one all the same, it declares a hook, with a signature and a docstring but no body, and the higher
room sets it when it is imported.

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
    """A function that is declared here and set once, above; it is called as ``hook.run(...)``.

    ``run`` is the function itself, not one around it: those that look at their caller find it one frame up.
    """

    run: Callable[P, R]

    def __init__(self, declared: Callable[P, R]) -> None:
        self.declared = declared
        self.__doc__ = declared.__doc__
        DECLARED[f"{declared.__module__}.{declared.__qualname__}"] = self

    def set(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorator: this is the hook's function."""
        assert not hasattr(self, "run"), f"two functions for the hook {self.declared.__qualname__}"
        self.run = function
        return function


DECLARED: dict[str, Hook[..., Any]] = {}
"""Every hook by its full name."""

hook = Hook

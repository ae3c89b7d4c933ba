"""Signatures that say other parameters than a function's text, made when they are first looked at.

Few are ever looked at, and to make one takes longer than most calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Change = Callable[[list[Parameter]], list[Parameter]]


def shown_with(change: Change) -> Callable[[F], F]:
    """Decorator: the function's signature has the parameters ``change(parameters)``.

    >>> import inspect
    >>> @shown_with(lambda parameters: parameters[:1])
    ... def f(a, **more): ...
    >>> inspect.signature(f)
    <Signature (a)>
    """

    def decorate(fn: F) -> F:
        fn.__signature__ = _Late(fn, change)  # type: ignore[attr-defined]  # functions have it
        return fn

    return decorate


class _Late(Signature):
    def __init__(self, fn: Any, change: Change) -> None:
        self.fn, self.change = fn, change

    @cached_property
    def made(self) -> Signature:
        vars(self.fn).pop("__signature__", None)  # ``inspect`` would answer with it
        own = signature(self.fn)
        made = self.fn.__signature__ = own.replace(parameters=self.change([*own.parameters.values()]))
        return made

    _parameters = property(lambda self: self.made._parameters)
    _return_annotation = property(lambda self: self.made._return_annotation)

    def __repr__(self) -> str:
        return repr(self.made)

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]  # Python's names are the same
        return self.made.replace(**changes)

    def __reduce__(self) -> Any:
        return self.made.__reduce__()

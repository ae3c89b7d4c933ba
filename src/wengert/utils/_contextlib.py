"""``torch.utils._contextlib``: what context managers that are decorators too are made with."""

from __future__ import annotations

from typing import Any

from .._base.grad_mode import ContextDecorator as _DecoratorContextManager

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager", "context_decorator"]


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One without parameters: ``@manager`` and ``@manager()`` are the same."""

    def __new__(cls, orig_func: Any = None) -> Any:
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)


def context_decorator(ctx: Any, func: Any) -> Any:
    """``func`` with each call inside of a context manager; ``ctx`` is one, or a function that makes one.

    One that has ``clone()`` is cloned for each call.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous "
            "which interface to use.  If you intended to pass a context manager factory, rewrite your call as "
            "context_decorator(lambda: ctx()); if you intended to pass a context manager directly, rewrite your call "
            "as context_decorator(lambda: ctx)"
        )
    return _Made(ctx)(func)


class _Made(_DecoratorContextManager):
    """The decorator of ``context_decorator``."""

    def __init__(self, ctx: Any) -> None:
        self.ctx = ctx

    def clone(self) -> Any:
        """The context manager of one call."""
        return self.ctx() if callable(self.ctx) else self.ctx

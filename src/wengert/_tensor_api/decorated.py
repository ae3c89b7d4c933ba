"""Functions behind decorators and templates: their parameters, copies of them, the arguments of the user's call."""

from __future__ import annotations

import functools
import types
from typing import Any

from .._base.tracebacks import STAR
from .._kinds.templates import first_call_of, variant


def inner_of(fn: Any) -> Any:
    """The function inside a decorator, or the fallback of a template's fast path; ``None`` for a plain function."""
    if hasattr(fn, "__wrapped__"):
        return fn.__wrapped__
    if "otherwise" in fn.__code__.co_freevars:
        return fn.__closure__[fn.__code__.co_freevars.index("otherwise")].cell_contents
    return None


def written(fn: Any) -> Any:
    """The function with named parameters: inside decorators, or behind a template's fast path."""
    while (inner := inner_of(fn)) is not None:
        fn = inner
    return fn


def copy_of(fn: Any, code: types.CodeType, closure: Any = None) -> Any:
    if first_call_of(fn):
        return variant(fn)
    copy = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure or fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    copy.__qualname__, copy.__module__ = fn.__qualname__, fn.__module__  # for errors
    copy.__doc__, copy.__annotations__ = fn.__doc__, fn.__annotations__
    copy.__dict__.update(fn.__dict__)
    return copy


def user_arguments(
    function: Any, code: types.CodeType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the user's call, as far as can be known: without trailing defaults."""
    count = code.co_argcount
    if not code.co_flags & STAR:  # keyword-only parameters that a template passes by position
        kwargs = {**dict(zip(code.co_varnames[count:], args[count:], strict=False)), **kwargs}
        args = args[:count]
    if len(args) == count:
        for value in reversed(function.__defaults__ or ()):
            if not args or args[-1] is not value:
                break
            args = args[:-1]
    usual = function.__kwdefaults__ or {}
    return args, {k: v for k, v in kwargs.items() if k not in usual or v is not usual[k]}


def copy_throughout(fn: Any) -> Any:
    """A copy of a function and of the functions inside its decorators."""
    inner, cells = inner_of(fn), None
    if inner is not None:
        inner_copy = copy_throughout(inner)
    if first_call_of(fn):
        copy = functools.update_wrapper(variant(fn, otherwise=inner_copy) if inner is not None else variant(fn), fn)
    else:
        if inner is not None:
            cells = tuple([types.CellType(inner_copy) if c.cell_contents is inner else c for c in fn.__closure__])
        copy = copy_of(fn, fn.__code__, cells)
    if hasattr(fn, "__wrapped__"):
        copy.__wrapped__ = inner_copy
    else:  # a plain function, or the fallback of a template, which has other parameters
        vars(copy).pop("__wrapped__", None)
    return copy

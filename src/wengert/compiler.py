"""``torch.compiler`` and ``torch.compile``. wengert has no compiler: functions and modules run as they are.

``compile`` warns once. Queries about compilation return False.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._base.errors import warn_once
from ._higher_order_ops.cond import cond  # noqa: F401  found as torch.cond
from ._higher_order_ops.while_loop import while_loop  # noqa: F401  found as torch.while_loop

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance", "substitute_in_graph",
]  # fmt: skip


class SymInt:
    """A size that a compiler does not know yet. Never instantiated; for annotations and ``isinstance``."""


class SymFloat:
    """A number that a compiler does not know yet. Never instantiated; for annotations and ``isinstance``."""


class SymBool:
    """A condition that a compiler does not know yet. Never instantiated; for annotations and ``isinstance``."""


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **kwargs: Any,
) -> Any:
    """The function itself, or an ``OptimizedModule`` around a module; without ``model``, a decorator.

    PyTorch translates the function or module; wengert runs it as it is, with the same results.

    Raises:
        RuntimeError: both ``mode`` and ``options`` are given.
        AssertionError: ``model`` is not callable.

    >>> import wengert as torch
    >>> @torch.compile(disable=True)
    ... def double(x):
    ...     return x + x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if disable:
        return _itself if model is None else model
    warn_once("torch.compile: wengert has no compiler; functions and modules run as they are.")
    return _compiled if model is None else _compiled(model)


def _compiled(fn: Any) -> Any:
    from ._dynamo.eval_frame import OptimizedModule
    from .nn.modules.module import Module

    if not callable(fn):
        raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
    return OptimizedModule(fn) if isinstance(fn, Module) and not isinstance(fn, OptimizedModule) else fn


def _itself(fn: Any) -> Any:
    return fn


def is_compiling() -> bool:
    """False."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def is_exporting() -> bool:
    """False."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, which is not compiled; without a function, a decorator."""
    return _itself if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
    return fn


def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """A decorator that returns the function unchanged: nothing is compiled, so nothing is substituted."""
    return _itself


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """``[]``, since there is no compiler."""
    return []


def reset() -> None:
    """Does nothing: there is no cache of compiled code."""


def cudagraph_mark_step_begin() -> None:
    """Does nothing: there are no CUDA graphs."""


@contextmanager
def set_stance(stance: str = "default", **kwargs: Any) -> Iterator[None]:
    """A context that does nothing."""
    yield

"""``torch.compiler`` and ``torch.compile``. wengert has no compiler: functions and modules run as they are.

``compile`` warns once. Queries about compilation return False.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert._base.errors import warn_once
from wengert._compat import open_rows

__all__ = ["compile"]


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
        return (lambda fn: fn) if model is None else model
    warn_once("torch.compile: wengert has no compiler; functions and modules run as they are.")
    return _compiled if model is None else _compiled(model)


def _compiled(fn: Any) -> Any:
    from wengert._dynamo.eval_frame import OptimizedModule
    from wengert.nn.modules.module import Module

    if not callable(fn):
        raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
    return OptimizedModule(fn) if isinstance(fn, Module) and not isinstance(fn, OptimizedModule) else fn


open_rows(globals())

"""``torch.jit``: there is no TorchScript, so what is scripted or traced comes back as it is, and says so once.

To save a compiled program is an error: there is none. ``torch.save(module.state_dict(), ...)`` saves what is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wengert._base.errors import warn_once
from wengert._compat import open_rows

from ..futures import Future

__all__ = [
    "Attribute", "Final", "Future", "fork", "freeze", "ignore", "isinstance", "script", "set_module", "trace",
    "trace_module",
]  # fmt: skip

_isinstance = isinstance


def _notice() -> None:
    warn_once("torch.jit: wengert has no TorchScript; functions and modules run as they are.")


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function, class or module itself.

    >>> import warnings, wengert as torch
    >>> def double(x: torch.Tensor) -> torch.Tensor:
    ...     return x + x
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.jit.script(double) is double
    True
    """
    _notice()
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The function or module itself. It is not called: PyTorch would call it with the examples."""
    _notice()
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """The module itself."""
    _notice()
    return mod


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """The module itself, which must be in evaluation mode.

    Raises:
        RuntimeError: it is in training mode.
    """
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() first."
        )
    return mod


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; without one, a decorator."""
    return drop if callable(drop) else lambda fn: fn


def isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance``, for generic types by their origin: ``List[int]`` is asked for as ``list``."""
    types = target_type if _isinstance(target_type, tuple) else (target_type,)
    return any(_isinstance(obj, getattr(kind, "__origin__", kind)) for kind in types)


class Attribute:
    """A value with a type, as TorchScript's classes are given them."""

    def __init__(self, value: Any, type: Any) -> None:
        self.value = value
        self.type = type


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function, at once; its result as a future that is done."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def set_module(obj: Any, mod: str) -> None:
    """Set an object's module, if it is text."""
    if not _isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


_fork = fork  # PyTorch's own name


def _wait(future: Future[Any]) -> Any:
    """The result of a future."""
    return future.wait()


open_rows(globals())

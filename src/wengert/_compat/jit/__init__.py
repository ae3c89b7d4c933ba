"""``torch.jit``: there is no TorchScript, so what is scripted or traced comes back as it is, and says so once.

To save a compiled program is an error: there is none. ``torch.save(module.state_dict(), ...)`` saves what is learned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from wengert._base.errors import noted, warn_once
from wengert.nn.modules.module import Module

from ..futures import Future

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "annotate", "enable_onednn_fusion",
    "export", "fork", "freeze", "fuser", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
    "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "save", "script",
    "script_if_tracing", "script_method", "set_fusion_strategy", "set_module", "strict_fusion", "trace",
    "trace_module", "unused", "wait",
]  # fmt: skip

_isinstance = isinstance


class Error(RuntimeError):
    """An error of TorchScript, which is never run."""


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


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """The module itself."""
    return mod


def script_if_tracing(fn: Any) -> Any:
    """The function itself: nothing is traced."""
    return fn


_script_if_tracing = script_if_tracing  # as torchvision names it


def script_method(fn: Any) -> Any:
    """The method itself."""
    return fn


def export(fn: Any) -> Any:
    """The method itself."""
    return fn


def interface(obj: Any) -> Any:
    """The class itself."""
    return obj


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself; without one, a decorator."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: Any) -> Any:
    """The function itself."""
    return fn


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance``, for generic types by their origin: ``List[int]`` is asked for as ``list``."""
    types = target_type if _isinstance(target_type, tuple) else (target_type,)
    return any(_isinstance(obj, getattr(kind, "__origin__", kind)) for kind in types)


class TracerWarning(Warning):
    """What PyTorch's tracer warns with; nothing is traced here. Programs filter it."""


class Attribute:
    """A value with a type, as TorchScript's classes are given them."""

    def __init__(self, value: Any, type: Any) -> None:
        self.value = value
        self.type = type


class ScriptModule(Module):
    """A module; in PyTorch a compiled one."""


class ScriptFunction:
    """A compiled function, of which there is none."""


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call a function, at once; its result as a future that is done."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The result of a future."""
    return future.wait()


def _no_programs(what: str) -> RuntimeError:
    return noted(
        RuntimeError(f"torch.jit.{what}: wengert has no TorchScript"),
        "Why: such a file holds a compiled program, which wengert can neither make nor run.",
        "What to do: torch.save(module.state_dict(), path), and load_state_dict into the module's class.",
    )


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Not possible.

    Raises:
        RuntimeError: always.
    """
    raise _no_programs("save")


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Not possible.

    Raises:
        RuntimeError: always.
    """
    raise _no_programs("load")


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """Nothing to set; ``[]`` was the strategy before."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Nothing to switch."""


def onednn_fusion_enabled() -> bool:
    """False."""
    return False


def set_module(obj: Any, mod: str) -> None:
    """Set an object's module, if it is text."""
    if not _isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context that does nothing."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context that does nothing."""
    yield


class strict_fusion:
    """A context that does nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_overload = _overload_method = functools.partial(lambda fn: fn)

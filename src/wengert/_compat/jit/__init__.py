"""``torch.jit``: traces are graphs of operators (see ``torch.export``); what is scripted comes back as it is.

There is no TorchScript. ``torch.save(module.state_dict(), ...)`` saves what is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from wengert._base.errors import noted, warn, warn_once
from wengert._compat import open_rows
from wengert.nn.modules.module import Module

from ..futures import Future

__all__ = [
    "Attribute", "Final", "Future", "fork", "freeze", "ignore", "isinstance", "load", "save", "script", "set_module",
    "trace", "trace_module",
]  # fmt: skip

_isinstance = isinstance


def _notice() -> None:
    warn_once("torch.jit: wengert has no TorchScript; functions and modules run as they are.")


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function or class itself; of a module, one that computes the same with the same parameters and buffers.

    An ``assert`` that fails in a scripted module raises ``torch.jit.Error``. A ``GraphModule`` becomes one that has
    TorchScript's ``code``.

    >>> import warnings, wengert as torch
    >>> def double(x: torch.Tensor) -> torch.Tensor:
    ...     return x + x
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.jit.script(double) is double
    True
    """
    _notice()
    return _script_module(obj) if _isinstance(obj, Module) else obj


def _script_module(module: Any) -> Any:
    """What ``script`` gives for a module."""
    if "GraphModule" in [kind.__name__ for kind in type(module).__mro__]:
        from ._traced import scripted

        return scripted(module)
    from ._scripted import scripted_module

    return scripted_module(module)


def trace(
    func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True, *args: Any,
    example_kwarg_inputs: dict[str, Any] | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Run a module or function on examples, and give the operators that it ran as a module that runs them again.

    The branches are the examples', and so are numbers that the program takes out of tensors or shapes. The result has
    ``graph``, ``code`` and ``save``. What cannot be recorded comes back as it is, with a ``TracerWarning``.

    >>> import warnings, wengert as torch
    >>> warnings.filterwarnings("ignore", message="`torch.jit.trace` is deprecated")
    >>> double = torch.jit.trace(lambda x: x * 2, torch.ones(2))
    >>> double(torch.tensor([1., 2., 3.]))
    tensor([2., 4., 6.])
    >>> print(double.graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 2), kwargs = {})
        return (mul,)
    """
    warn("`torch.jit.trace` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning)
    from ._traced import TracedModule, traced

    if _isinstance(func, TracedModule):
        return func
    given = tuple(example_inputs) if _isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    given = () if example_inputs is None else given
    try:
        return traced(func, given, dict(example_kwarg_inputs or {}))
    except (NotImplementedError, TypeError) as e:
        warn(f"torch.jit.trace: the run cannot be recorded, so the function runs as it is ({e})", TracerWarning)  # type: ignore[name-defined]  # noqa: F821
        return func


def trace_module(mod: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    """``trace`` of the module with ``inputs["forward"]``; there are no other methods."""
    return trace(mod, inputs["forward"])


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Write what ``trace`` gave to a file, with texts or bytes by name, ``_extra_files``.

    Raises:
        AssertionError: an extra file is neither text nor bytes.
        RuntimeError: ``m`` is something else.
    """
    from ._traced import TracedModule

    if not _isinstance(m, TracedModule):
        raise noted(
            RuntimeError("torch.jit.save: wengert has no TorchScript"),
            "Why: only a trace has a graph that a file can hold.",
            "What to do: torch.save(module.state_dict(), path), and load_state_dict into the module's class.",
        )
    m.save(f, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Read what ``save`` wrote. Nothing in the file is run.

    ``_extra_files``: a dict whose values are replaced by the bytes that the file has under its keys.

    Raises:
        RuntimeError: it is another file; PyTorch's own hold compiled programs.
    """
    from ._traced import loaded

    return loaded(f, _extra_files)


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
import_module(f"{__name__}.annotations")  # puts the module in the place of the __future__ import's name

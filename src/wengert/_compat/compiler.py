"""``torch.compiler`` and ``torch.compile``; what they do is in ``_compile``, which the first call imports."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from wengert._base.tracing import COMPILING, TRACER
from wengert._compat import open_rows
from wengert._compat._compilers import backends, default_backend

__all__ = [
    "compile", "disable", "is_compiling", "is_dynamo_compiling", "list_backends", "program", "reset", "set_stance",
]  # fmt: skip


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """The compiled form of a function, or an ``OptimizedModule`` around a module; without ``model``, a decorator.

    The first call is eager's, and is recorded: forward, backward, optimizer steps, draws and writes in place become one
    program, which later calls run. What the recording depended on is checked before each of them; after a change
    there is a new program. What cannot be recorded safely (``item``, ``print``, branches on elements) runs as it is.

    ``backend``: ``"inductor"`` (the default: C where a compiler is, else NumPy), ``"c"``, ``"numpy"``, ``"eager"``,
    ``"aot_eager"``, or a function of a program and example inputs that returns a callable. ``fullgraph``: raise where
    the function is not one program. ``dynamic`` is accepted: there is one program per shape. ``mode`` and ``options``
    are checked and have no effect here; a backend that is a function is given them. ``recompile_limit``: how many
    programs there may be; by default ``torch._dynamo.config.recompile_limit``. The others are accepted.

    Raises:
        RuntimeError: both ``mode`` and ``options`` are given, or the mode, the backend or an option is unknown.
        AssertionError: ``model`` is not callable.

    >>> import wengert as torch
    >>> @torch.compile
    ... def double(x):
    ...     return x + x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if disable or getattr(sys.modules.get("wengert._dynamo.config"), "disable", False):
        return (lambda fn: fn) if model is None else model
    from wengert._compile.public import make_compiled

    chosen = backend if backend is not None else default_backend[0] if default_backend else "inductor"

    def decorate(fn: Any) -> Any:
        return make_compiled(fn, fullgraph, dynamic, chosen, mode, options, recompile_limit)

    return decorate if model is None else decorate(model)


def program(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The program that a call becomes: the function is called once, with these arguments.

    The result has ``.tape``, ``.backward_tape``, ``.source``, ``.memory`` and ``.guards``; ``print`` shows each.

    Raises:
        torch._dynamo.exc.Unsupported: the call cannot be one program; the error names the line.

    >>> import wengert as torch
    >>> print(torch.compiler.program(lambda x: (x * 2).sum(), torch.ones(3)).tape)
    v0: float32[3] = args[0]
    v1 = mul(v0, 2)
    v2 = sum_all(v1)
    return v2
    """
    from wengert._compile import public

    return public.program(fn, *args, **kwargs)


def compile_module(module: Any, *args: Any, **kwargs: Any) -> None:
    """What ``Module.compile`` does: calls of the module are compiled from now on, the module stays what it is.

    The further arguments are those of ``torch.compile``.

    >>> import wengert as torch
    >>> torch.compiler.compile_module(torch.nn.ReLU())
    """
    from wengert._compile import public

    public.compile_module(module, compile(module.forward, *args, **kwargs))


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
    """The function, never compiled: neither alone nor as a part of a compiled function; without ``fn``, a decorator.

    >>> import wengert as torch
    >>> torch.compiler.disable(lambda x: x + 1)(torch.ones(1))
    tensor([2.])
    """
    from wengert._compile import public

    return public.disable(fn, recursive, reason=reason)


def is_compiling() -> bool:
    """Whether a call is being recorded for a program.

    >>> import wengert as torch
    >>> torch.compiler.is_compiling()
    False
    """
    tracer = TRACER.get()
    return (tracer is not None and not tracer.closed) or COMPILING.get()


is_dynamo_compiling = is_compiling


def reset() -> None:
    """Forget every program of every compiled function.

    >>> import wengert as torch
    >>> torch.compiler.reset()
    """
    public = sys.modules.get("wengert._compile.public")
    if public is not None:
        public.reset()


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names of backends.

    >>> import wengert as torch
    >>> torch.compiler.list_backends()
    ['c', 'inductor', 'numpy']
    """
    names = ["c", "inductor", "numpy", *backends]
    return sorted(names if exclude_tags and "debug" in exclude_tags else [*names, "aot_eager", "eager"])


def set_stance(stance: str = "default", **kwargs: Any) -> Any:
    """What compiled functions do in calls that no program fits; acts at once, as a context and as a decorator.

    ``"default"`` compiles; ``"force_eager"`` runs every compiled function as it is; ``"eager_on_recompile"`` runs what
    would be compiled anew as it is; ``"fail_on_recompile"`` raises instead.

    >>> import wengert as torch
    >>> with torch.compiler.set_stance("force_eager"):
    ...     torch.compile(lambda x: x + 1)(torch.ones(1))
    tensor([2.])
    """
    from wengert._compile import public

    return public.set_stance(stance, **kwargs)


def __getattr__(name: str) -> Any:
    if name == "config":
        return import_module("wengert._dynamo.config")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


open_rows(globals())

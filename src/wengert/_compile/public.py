"""What ``torch.compile``, ``torch.compiler`` and ``torch._dynamo`` do; their names are in ``_compat``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from wengert._dynamo.exc import InvalidBackend

from .._base.tracing import TRACER
from ..nn.modules._handles import seen
from ..nn.modules.module import Module
from .dispatch import Compiled, Program, _title, compiled_functions, stance

_TIERS = {"inductor": "c", "c": "c", "numpy": None}
_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", None)
_STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)


def tier_of(backend: Any) -> Any:
    """What runs the programs of a backend: ``None`` for NumPy, a tier's name, a callable, ``...`` for eager."""
    if callable(backend):
        return backend
    if backend in ("eager", "aot_eager"):
        return ...
    if backend not in _TIERS:
        raise InvalidBackend(
            f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available backends."
        )
    return _TIERS[backend]


def make_compiled(
    fn: Any, fullgraph: bool, dynamic: bool | None, backend: Any, mode: str | None, options: dict[str, Any] | None
) -> Any:
    """The compiled form of a function, a module or an object's call."""
    if not callable(fn):
        raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
    if mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(str(m) for m in _MODES[:-1])}")
    tier = tier_of(backend)
    from wengert._dynamo.eval_frame import OptimizedModule

    if isinstance(fn, OptimizedModule):
        return fn
    if isinstance(fn, Module):
        made = OptimizedModule(fn)
        if tier is not ...:
            made.__dict__["_compiled"] = Compiled(fn.__call__, tier, fullgraph, dynamic)
        return made
    if tier is ... or getattr(fn, "_torchdynamo_disable", False):
        return fn
    return around(fn, Compiled(getattr(fn, "_torchdynamo_orig_callable", fn), tier, fullgraph, dynamic))


def around(fn: Any, compiled: Compiled) -> Any:
    """A function that calls the compiled form and looks like the original."""

    call = compiled.of

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return call(args, kwargs)

    wrapper._torchdynamo_orig_callable = fn
    wrapper._compiled = compiled
    return wrapper


def compile_module(module: Any, backend: Any = "inductor", fullgraph: bool = False, **options: Any) -> None:
    """``Module.compile``: calls of the module are compiled from now on, the module stays what it is."""
    tier = tier_of(backend)
    if tier is ... or options.get("disable"):
        return
    module.__dict__["_compiled_call_impl"] = Compiled(module.forward, tier, fullgraph, options.get("dynamic"))
    if not seen:
        seen.append(True)


def reset() -> None:
    """Forget every program of every compiled function."""
    for compiled in list(compiled_functions):
        compiled.reset()


def is_compiling() -> bool:
    """Whether a call is being recorded for a program."""
    tracer = TRACER.get()
    return tracer is not None and not tracer.closed


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function, never compiled: neither alone nor as a part of a compiled function."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    inner = getattr(fn, "_torchdynamo_orig_callable", fn)
    if isinstance(inner, Module):
        from wengert._dynamo.eval_frame import OptimizedModule

        return inner._orig_mod if isinstance(inner, OptimizedModule) else inner
    if not callable(inner):
        return inner

    @functools.wraps(inner)
    def eager(*args: Any, **kwargs: Any) -> Any:
        tracer = TRACER.get()
        if tracer is not None:
            tracer.stop(f"{_title(inner)} is disabled{f': {reason}' if reason else ''}")
        with stanced("force_eager"):
            return inner(*args, **kwargs)

    eager._torchdynamo_disable = True
    return eager


@contextmanager
def stanced(name: str) -> Any:
    """Context with another stance."""
    stance.append(name)
    try:
        yield
    finally:
        stance.pop()


class set_stance:
    """``torch.compiler.set_stance``: acts at once, as a context and as a decorator."""

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.name = stance
        self.before = self._set(stance)

    @staticmethod
    def _set(name: str) -> str:
        before, stance[-1] = stance[-1], name
        return before

    def __enter__(self) -> None:
        stance[-1] = self.name

    def __exit__(self, *exc: object) -> None:
        stance[-1] = self.before

    def __call__(self, fn: Any) -> Any:
        stance[-1] = self.before

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with stanced(self.name):
                return fn(*args, **kwargs)

        return wrapper


def program(fn: Callable[..., Any], *args: Any, backend: Any = "numpy", **kwargs: Any) -> Program:
    """``torch.compiler.program``."""
    compiled = getattr(fn, "_compiled", None)
    if not isinstance(compiled, Compiled):
        compiled = Compiled(fn.__call__ if isinstance(fn, Module) else fn, tier_of(backend), True)
    else:
        compiled = Compiled(compiled.fn, compiled.backend, True)
    compiled(*args, **kwargs)
    found = [p for programs in compiled.programs.values() for p in programs]
    if not found:
        raise RuntimeError("torch.compiler.program: a mode is on under which nothing is compiled")
    return found[-1]


class ExplainOutput:
    """What ``torch._dynamo.explain(fn)(*args)`` returns: how many programs and breaks a call has, and why."""

    def __init__(self, compiled: Compiled) -> None:
        programs = [p for found in compiled.programs.values() for p in found]
        self.graphs = [p.tape for p in programs]
        self.graph_count = len(programs)
        self.break_reasons = list(compiled.breaks)
        self.graph_break_count = len(compiled.breaks)
        self.ops_per_graph = [[op.name for op in t.ops] for t in self.graphs]
        self.op_count = sum(map(len, self.ops_per_graph))
        self.out_guards = [said for p in programs for said in p.guards]

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for k, (reason, at) in enumerate(self.break_reasons, 1):
            lines.append(f"  Break Reason {k}:\n    Reason: {reason}")
            if at is not None:
                lines.append(f"    User Stack:\n      {at[0]}:{at[1]}")
        for k, ops in enumerate(self.ops_per_graph, 1):
            lines.append(f"Ops per Graph:\n  Ops {k}:")
            lines += [f"    {name}" for name in ops]
        return "\n".join(lines)

    __repr__ = __str__


def explain(fn: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """``explain(fn)(*args)``: call the function once, and say what of it is a program."""

    def inner(*args: Any, **kwargs: Any) -> ExplainOutput:
        compiled = Compiled(fn.__call__ if isinstance(fn, Module) else fn, None, False)
        compiled(*args, **kwargs)
        return ExplainOutput(compiled)

    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


def graph_break(msg: str = "") -> None:
    """End the program here, on purpose."""
    tracer = TRACER.get()
    if tracer is not None:
        tracer.stop(msg or "graph_break() is called")

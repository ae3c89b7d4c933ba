"""What ``torch.compile``, ``torch.compiler`` and ``torch._dynamo`` do; their names are in ``_compat``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import contextmanager
from importlib import import_module
from sys import _getframe as getframe
from traceback import FrameSummary
from types import MethodType
from typing import Any

from wengert._dynamo.exc import InvalidBackend

from .._base.errors import user_frame
from .._base.tracing import COMPILING, TRACER
from .._compat._compilers import backends, check_mode, invalid
from ..nn.modules._handles import seen
from ..nn.modules.module import Module
from .captured import Capture
from .dispatch import Compiled, Program, _title, compiled_functions, stance

_TIERS = {"inductor": "c", "c": "c", "numpy": None}
_STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)


def tier_of(backend: Any, mode: str | None = None, options: Any = None) -> Any:
    """What runs the programs of a backend: ``None`` for NumPy, a tier's name, a callable, ``...`` for the function."""
    name, backend = backend, backends.get(backend, backend) if isinstance(backend, str) else backend
    if not isinstance(backend, str):
        given = {} if mode in (None, "", "default") else {"mode": mode}
        return _with_arguments(backend, name, given | ({"options": options} if options else {}))
    if backend in ("eager", "aot_eager", "aot_eager_decomp_partition", "eager_noexcept", "aot_ts", "ts"):
        return ...
    if backend not in _TIERS:
        raise InvalidBackend(invalid(backend))
    check_mode(mode)
    if options:
        import_module("wengert._compat._inductor_options").check(options)
    return _TIERS[backend]


def _with_arguments(backend: Any, name: Any, given: dict[str, Any]) -> Any:
    """A function of the user's that is called with what ``torch.compile`` was given for it."""
    if not given and callable(backend):
        return backend

    def called(gm: Any, example_inputs: Any) -> Any:
        return backend(gm, example_inputs, **given)

    called.__name__ = name if isinstance(name, str) else getattr(backend, "__name__", str(backend))
    return called


def make_compiled(
    fn: Any,
    fullgraph: bool,
    dynamic: bool | None,
    backend: Any,
    mode: str | None,
    options: dict[str, Any] | None,
    limit: int | None,
) -> Any:
    """The compiled form of a function, a module or an object's call."""
    if not callable(fn):
        raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
    if not isinstance(dynamic, bool | None):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    tier = tier_of(backend, mode, options)
    from wengert._dynamo.eval_frame import OptimizedModule

    if isinstance(fn, OptimizedModule):
        return fn
    if isinstance(fn, Module):
        made = OptimizedModule(fn)
        made.__dict__["_compiled"] = Compiled(fn.__call__, tier, fullgraph, dynamic, limit)
        return made
    if getattr(fn, "_torchdynamo_disable", False):
        return fn
    return around(fn, Compiled(_original(fn), tier, fullgraph, dynamic, limit))


def _original(fn: Any) -> Any:
    """The function that a compiled one was made of."""
    inner = getattr(fn, "_torchdynamo_orig_callable", fn)
    return MethodType(inner, fn.__self__) if inner is not fn and isinstance(fn, MethodType) else inner


def around(fn: Any, compiled: Compiled) -> Any:
    """A function that calls the compiled form and looks like the original."""

    call = compiled.of

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return call(args, kwargs)

    wrapper._torchdynamo_orig_callable = fn
    wrapper._compiled = compiled
    return wrapper


def compile_module(module: Any, made: Any) -> None:
    """Let a compiled form of ``module.forward`` run the module's calls, if it is compiled at all."""
    compiled = getattr(made, "_compiled", None)
    if compiled is not None:
        module.__dict__["_compiled_call_impl"] = compiled
        if not seen:
            seen.append(True)


def reset() -> None:
    """Forget every program of every compiled function."""
    for compiled in list(compiled_functions):
        compiled.reset()


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function, never compiled: neither alone nor as a part of a compiled function."""
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    inner = getattr(fn, "_torchdynamo_orig_callable", fn)
    if isinstance(inner, Module):
        from wengert._dynamo.eval_frame import OptimizedModule

        return inner._orig_mod if isinstance(inner, OptimizedModule) else inner
    if not callable(inner):
        raise AssertionError("fn must be callable")

    @functools.wraps(inner)
    def eager(*args: Any, **kwargs: Any) -> Any:
        tracer, capture = TRACER.get(), Capture.running()
        if tracer is not None:
            tracer.stop(f"{_title(inner)} is disabled{f': {reason}' if reason else ''}")
        if capture is not None:
            capture.end(user_frame(getframe(1)), [])
            capture.paused = True
        before = TRACER.set(None), COMPILING.set(False)
        try:
            return inner(*args, **kwargs)
        finally:
            TRACER.reset(before[0])
            COMPILING.reset(before[1])
            if capture is not None:
                capture.paused = False

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
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
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
    compiled.strict = True
    compiled(*args, **kwargs)
    found = [p for programs in compiled.programs.values() for p in programs]
    if not found:
        raise RuntimeError("torch.compiler.program: a mode is on under which nothing is compiled")
    return found[-1]


class GraphCompileReason:
    """Why a graph ends: ``reason`` and the lines, ``user_stack``."""

    def __init__(self, reason: str, at: Any) -> None:
        self.reason, self.graph_break = reason, True
        self.user_stack = [] if at is None else [FrameSummary(at[0], at[1], "")]


class ExplainOutput:
    """What ``torch._dynamo.explain(fn)(*args)`` returns: the graphs of a call, and why they end."""

    def __init__(self, graphs: list[Any], compiled: Compiled) -> None:
        self.graphs = graphs
        self.graph_count = len(graphs)
        self.graph_break_count = max(len(graphs) - 1, 0)
        self.break_reasons = [GraphCompileReason(*b) for b in compiled.breaks][: self.graph_break_count]
        self.ops_per_graph = [[n.target for n in gm.graph.nodes if n.op == "call_function"] for gm in graphs]
        self.op_count = sum(map(len, self.ops_per_graph))
        self.out_guards = [said for found in compiled.programs.values() for p in found for said in p.guards]
        self.compile_times = None

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines += [f"Op Count: {self.op_count}", "Break Reasons:"]
        for k, b in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {k}:", f"    Reason: {b.reason}", "    User Stack:"]
            lines += [f"      {frame}" for frame in b.user_stack]
        lines.append("Ops per Graph:")
        for k, ops in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {k}:", *[f"    {op}" for op in ops]]
        lines.append("Out Guards:")
        lines += [f"  Guard {k}:\n    {said}" for k, said in enumerate(self.out_guards, 1)]
        return "\n".join(lines) + "\n"

    __repr__ = __str__


def explain(fn: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """``explain(fn)(*args)``: call the function once, and say which parts of it are graphs."""

    def inner(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[Any] = []

        def backend(gm: Any, example_inputs: Any) -> Any:
            graphs.append(gm)
            return gm.forward

        compiled = Compiled(fn.__call__ if isinstance(fn, Module) else fn, backend, False)
        compiled(*args, **kwargs)
        return ExplainOutput(graphs, compiled)

    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


def graph_break(msg: str = "") -> None:
    """End the program here, on purpose."""
    capture, tracer = Capture.running(), TRACER.get()
    if tracer is not None:
        tracer.stop(f"graph_break() is called{f': {msg}' if msg else ''}")
    if capture is not None:
        capture.end(user_frame(getframe(1)), [])

"""What the names of ``torch.compiler``, ``torch._dynamo`` and ``torch._inductor`` in the table of rows do."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import ContextDecorator
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

backends: dict[str, Any] = {}  # those that programs have registered
default_backend: list[Any] = []


class Nothing(ContextDecorator):
    """A context and decorator that does nothing."""

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def error_on_graph_break(error_on_graph_break: bool) -> Nothing:
    """A context that does nothing: ``fullgraph=True`` asks for one graph."""
    return Nothing()


class _Patch(ContextDecorator):
    def __init__(self, module: Any, changes: dict[str, Any]) -> None:
        self.changes = {}
        for name, value in changes.items():
            path, _, last = name.rpartition(".")
            try:
                owner = attrgetter(path)(module) if path else module
                getattr(owner, last)
            except AttributeError:
                raise AttributeError(f"{module.__name__}.{name} does not exist") from None
            self.changes[name] = (owner, last, value)
        self.before: list[list[Any]] = []

    def __enter__(self) -> None:
        self.before.append([getattr(owner, last) for owner, last, _ in self.changes.values()])
        for owner, last, value in self.changes.values():
            setattr(owner, last, value)

    def __exit__(self, *exc: object) -> None:
        for (owner, last, _), value in zip(self.changes.values(), self.before.pop(), strict=True):
            setattr(owner, last, value)


def config(module: str) -> dict[str, Any]:
    """The functions of a module of switches."""

    def patch(arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Any:
        """A context, and a decorator, in which switches have other values: ``patch(name=value)``."""
        given = {arg1: arg2} if isinstance(arg1, str) else dict(arg1 or {})
        return _Patch(sys.modules[module], {**given, **kwargs})

    def shallow_copy_dict() -> dict[str, Any]:
        """The switches and their values."""
        return {k: v for k, v in vars(sys.modules[module]).items() if k[0] != "_" and not callable(v)}

    def load_config(values: dict[str, Any]) -> None:
        """Set switches."""
        vars(sys.modules[module]).update(values)

    made = (patch, shallow_copy_dict, load_config)
    for fn in made:
        fn.__module__, fn.__qualname__ = module, fn.__name__
    return {**{fn.__name__: fn for fn in made}, "get_config_copy": shallow_copy_dict}


def region(fn: Any = None, *, options: Any = None, max_reuse_entries: int = 8, reuse_hash_fn: Any = None) -> Any:
    """The function: what runs several times is part of the program each time."""
    return fn if fn is not None else lambda fn: fn


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Does nothing, and returns False: processes do not ask each other whether they recompile."""
    return False


def set_default_backend(backend: str | Callable[..., Any] | None) -> None:
    """What ``torch.compile`` takes without ``backend``; ``None``: ``"inductor"``."""
    default_backend[:] = [] if backend is None else [backend]


def get_default_backend() -> str | Callable[..., Any]:
    """What ``torch.compile`` takes without ``backend``."""
    return default_backend[0] if default_backend else "inductor"


def mark_dynamic(
    t: Any, index: Any, *, hint_override: Any = None, min: Any = None, max: Any = None, specialize_on: Any = None
) -> None:
    """Say that a dim has other sizes in other calls: a backend of one's own is given one graph for all."""
    t.__dict__.setdefault("_dynamo_dynamic_indices", set()).update([index] if isinstance(index, int) else index)


def wrap_numpy(fn: Any) -> Any:
    """A function of tensors out of one of NumPy's arrays."""
    pytree, torch = import_module("wengert.utils._pytree"), import_module("wengert")

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map_only(torch.Tensor, lambda t: t.numpy(), (args, kwargs))
        return pytree.tree_map_only((np.ndarray, np.generic), torch.as_tensor, fn(*args, **kwargs))

    return wrapped


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """Give a backend a name, its function's if no other, that ``torch.compile(backend=...)`` takes; a decorator."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    name = name or compiler_fn.__name__
    if name in backends:
        raise AssertionError(f"duplicate name: {name}")
    backends[name] = compiler_fn
    return compiler_fn


def lookup_backend(compiler_fn: Any) -> Any:
    """The backend of this name: a function of a graph module and example inputs."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn in backends:
        return backends[compiler_fn]
    if compiler_fn not in ("c", "numpy", "inductor", "eager", "aot_eager"):
        raise import_module("wengert._dynamo.exc").InvalidBackend(invalid(compiler_fn))
    return _eager


def invalid(name: Any) -> str:
    """What is said of a backend that is not there."""
    return f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends."


def _eager(gm: Any, example_inputs: Any = None, **kwargs: Any) -> Any:
    return gm.forward


class CompileCounter:
    """A backend that counts graphs and their operators, and runs them as they are."""

    def __init__(self) -> None:
        self.clear()

    def __call__(self, gm: Any, example_inputs: Any) -> Any:
        self.frame_count += 1
        self.op_count += sum("call" in n.op for n in gm.graph.nodes)
        return gm.forward

    def clear(self) -> None:
        """Begin to count anew."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """One that lets another backend compile; ``graphs`` has the graph modules."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self.backend = backend

    def __call__(self, gm: Any, example_inputs: Any) -> Any:
        super().__call__(gm, example_inputs)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        super().clear()
        self.graphs: list[Any] = []


class EagerAndRecordGraphs:
    """A backend that keeps ``graphs`` and runs them as they are."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: Any) -> Any:
        self.graphs.append(gm)
        return gm.forward


def same(a: Any, b: Any, **kwargs: Any) -> bool:
    """Whether two results are close, tensor by tensor."""
    try:
        import_module("wengert.testing").assert_close(a, b, rtol=kwargs.get("tol", 1e-4), atol=kwargs.get("tol", 1e-4))
    except AssertionError:
        return False
    return True


_MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "lite": {
        "fallback_by_default": True, "selective_decompose": True, "reorder_for_peak_memory": False,
        "reorder_for_compute_comm_overlap": False, "triton.reorder_for_reducing_graph_partitions": False,
        "use_pre_grad_passes": False, "use_joint_graph_passes": False, "use_post_grad_passes": False, "use_dce": False,
        "allow_buffer_reuse": False,
    },
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True},
}  # fmt: skip


def check_mode(mode: str | None) -> None:
    """Refuse a mode that is not there."""
    if mode and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that each mode, or one, stands for."""
    check_mode(mode)
    return _MODES[mode] if mode else _MODES  # type: ignore[return-value]


def list_options() -> list[str]:
    """The names that ``torch.compile(options=...)`` takes."""
    return list(import_module("wengert._compat._inductor_options").OPTIONS)

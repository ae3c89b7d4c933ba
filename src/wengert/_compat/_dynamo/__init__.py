"""What programs use of ``torch._dynamo``, PyTorch's tracer: it is not there, and nothing is traced."""

from __future__ import annotations

from typing import Any

from wengert.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

from . import config as config
from . import eval_frame as eval_frame
from .eval_frame import OptimizedModule

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph",
    "eval_frame", "forbid_in_graph", "graph_break", "is_compiling", "is_dynamo_supported", "list_backends",
    "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize", "reset", "run",
]  # fmt: skip


def optimize(*args: Any, **kwargs: Any) -> Any:
    """``torch.compile`` as a decorator."""
    from wengert.compiler import compile

    return compile(None)


def is_dynamo_supported() -> bool:
    """False: nothing is traced."""
    return False


def run(fn: Any = None) -> Any:
    """The function itself."""
    return fn


def disallow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def forbid_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


def graph_break(msg: str = "") -> None:
    """Nothing: there is no graph to break."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Nothing: no size is assumed to stay."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Nothing: no size is assumed to stay."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Nothing: no address is assumed to stay."""


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing: no size is assumed to change."""

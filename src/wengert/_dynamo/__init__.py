"""What programs use of ``torch._dynamo``, PyTorch's tracer: it is not there, and nothing is traced."""

from __future__ import annotations

from typing import Any

from ..compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset
from . import config as config

__all__ = [
    "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph", "forbid_in_graph",
    "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "maybe_mark_dynamic", "optimize",
    "reset", "run",
]  # fmt: skip


def optimize(*args: Any, **kwargs: Any) -> Any:
    """``torch.compile`` as a decorator: what it decorates comes back as it is."""
    from ..compiler import compile

    return compile(None)


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


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing: no size is assumed to change."""

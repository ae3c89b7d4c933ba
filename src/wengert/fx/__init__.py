"""``torch.fx`` without the symbolic tracer: the names that libraries need at import.

``wrap`` and the classes exist, for ``isinstance``; tracing raises an error.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._base.errors import noted
from .._compat import open_rows
from ..nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "symbolic_trace", "wrap"]


def wrap(fn_or_name: Any) -> Any:
    """The function itself, since nothing is traced."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise noted(
        NotImplementedError("torch.fx: wengert cannot trace programs"),
        "Why: a symbolic trace is made for a compiler, which wengert does not have.",
        "What to do: call the module as it is; its graph is found from a result's grad_fn.",
    )


def symbolic_trace(root: Any, concrete_args: Any = None) -> Any:
    """Symbolic tracing, which wengert does not support.

    Raises:
        NotImplementedError: always.
    """
    return _refuse()


def _absent(name: str, *bases: type) -> Any:
    members = {"__init__": _refuse, "__module__": __name__, "__doc__": "A part of PyTorch's tracer; see the module."}
    return type(name, bases, members)


Graph = _absent("Graph")
GraphModule = _absent("GraphModule", Module)
Interpreter = _absent("Interpreter")
Node = _absent("Node")
Proxy = _absent("Proxy")
Tracer = _absent("Tracer")
Transformer = _absent("Transformer")
_CodeOnlyModule = _absent("_CodeOnlyModule")

open_rows(globals())


def __getattr__(name: str) -> Any:
    if name in ("graph", "graph_module", "node", "proxy"):  # PyTorch imports them with the package
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

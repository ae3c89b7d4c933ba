"""What programs use of ``torch._dynamo``, PyTorch's tracer: it is not there, and nothing is traced."""

from __future__ import annotations

from typing import Any

from wengert._compat import open_rows
from wengert.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset

from . import eval_frame as eval_frame
from .eval_frame import OptimizedModule

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "eval_frame", "is_compiling",
    "list_backends", "optimize", "reset",
]  # fmt: skip


def optimize(*args: Any, **kwargs: Any) -> Any:
    """``torch.compile`` as a decorator."""
    from wengert.compiler import compile

    return compile(None)


open_rows(globals())

from . import config as config  # noqa: E402  a row

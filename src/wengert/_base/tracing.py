"""The tracer of ``torch.compile`` that records in this thread or task, for the few cold places that tell it something.

Operators find the tracer by their operands (``_compile.traced.Traced``); a draw and an optimizer have none, so they ask
here. Nothing on the hot path does.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

TRACER: ContextVar[Any] = ContextVar("wengert_tracer", default=None)
COMPILING: ContextVar[bool] = ContextVar("wengert_compiling", default=False)  # a compiled function runs as it is

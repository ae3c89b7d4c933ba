"""What programs use of ``torch._dynamo``, PyTorch's tracer: it is not there, and nothing is traced."""

from __future__ import annotations

from wengert._compat import open_rows

from . import eval_frame as eval_frame
from .eval_frame import OptimizedModule

__all__ = ["OptimizedModule", "config", "eval_frame"]

open_rows(globals())

from . import config as config  # noqa: E402  a row

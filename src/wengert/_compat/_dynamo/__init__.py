"""What programs use of ``torch._dynamo``, PyTorch's tracer; wengert's is ``_compile``."""

from __future__ import annotations

from wengert._compat import open_rows

from . import eval_frame as eval_frame
from . import exc as exc
from .eval_frame import OptimizedModule

__all__ = ["OptimizedModule", "config", "eval_frame", "exc"]

open_rows(globals())

from . import config as config  # noqa: E402  a row

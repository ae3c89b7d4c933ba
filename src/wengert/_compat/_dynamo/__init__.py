"""What programs use of ``torch._dynamo``, PyTorch's tracer; wengert's is ``_compile``."""

from importlib import import_module

from wengert._compat import open_rows

from . import eval_frame as eval_frame
from . import exc as exc
from .eval_frame import OptimizedModule

__all__ = ["OptimizedModule", "config", "eval_frame", "exc"]

open_rows(globals())

from . import compiled_autograd as compiled_autograd  # noqa: E402  rows
from . import config as config  # noqa: E402
from . import testing as testing  # noqa: E402
from . import utils as utils  # noqa: E402

import_module("wengert._inductor.config")  # as in PyTorch, `torch._inductor` is there from now on

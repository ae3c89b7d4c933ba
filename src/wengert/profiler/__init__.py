"""``torch.profiler``: profiles over the steps of a training loop, on a schedule."""

from importlib import import_module

from .._compat import find_rows
from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType
from .profiler import *  # noqa: F403
from .profiler import __all__ as _own

__all__ = ["DeviceType", "itt", "kineto_available", "record_function", *_own]  # noqa: PLE0604

find_rows(globals())
itt = import_module(".itt", __name__)

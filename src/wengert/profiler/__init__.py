"""``torch.profiler``: profiles over the steps of a training loop, on a schedule."""

from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType
from .profiler import *  # noqa: F403
from .profiler import __all__ as _own

__all__ = ["DeviceType", "kineto_available", "record_function", *_own]  # noqa: PLE0604

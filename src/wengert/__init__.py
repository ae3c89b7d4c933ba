"""wengert: PyTorch's tensors and gradients on NumPy."""

from . import _values  # noqa: F401
from . import ops  # noqa: F401
from ._construct import tensor
from ._dtypes import *  # noqa
from ._grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ._methods import attach as _attach
from ._methods import namespace as _namespace
from ._tensor import Tensor
from ._version import __version__

_attach()
globals().update(_namespace("torch"))

"""``torch.autograd``: backward passes, custom functions, grad modes."""

from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._graph import backward, grad
from . import function as function
from . import variable as variable
from .function import Function, NestedIOFunction
from .variable import Variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]

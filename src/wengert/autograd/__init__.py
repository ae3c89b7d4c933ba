"""``torch.autograd``: backward passes, custom functions, grad modes, and what looks at the graph."""

from .._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._graph import backward, grad
from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import gradcheck as _gradcheck_module
from . import graph as graph
from . import variable as variable
from .anomaly_mode import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from .function import Function, NestedIOFunction
from .grad_mode import set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> object:
    if name == "profiler":  # imported on first use: it is rarely wanted
        from importlib import import_module

        return import_module(".profiler", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

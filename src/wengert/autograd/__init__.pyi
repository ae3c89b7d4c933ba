# Made by tools/make_stubs.py; do not edit.
from .._base.grad_mode import enable_grad as enable_grad
from .._base.grad_mode import inference_mode as inference_mode
from .._base.grad_mode import no_grad as no_grad
from .._base.grad_mode import set_grad_enabled as set_grad_enabled
from .._tape.graph import backward as backward
from .._tape.graph import grad as grad
from .._tape.tensor import Tensor as Variable
from ..autograd import anomaly_mode as anomaly_mode
from ..autograd import forward_ad as forward_ad
from ..autograd import function as function
from ..autograd import functional as functional
from ..autograd import grad_mode as grad_mode
from ..autograd import graph as graph
from ..autograd import profiler as profiler
from ..autograd import profiler_util as profiler_util
from ..autograd import variable as variable
from ..autograd.anomaly_mode import detect_anomaly as detect_anomaly
from ..autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from ..autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from ..autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from ..autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from ..autograd.function import Function as Function
from ..autograd.function import NestedIOFunction as NestedIOFunction
from ..autograd.grad_mode import is_multithreading_enabled as is_multithreading_enabled
from ..autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from ..autograd.gradcheck import gradcheck as gradcheck
from ..autograd.gradcheck import gradgradcheck as gradgradcheck

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "profiler",
    "profiler_util",
    "set_anomaly_enabled",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

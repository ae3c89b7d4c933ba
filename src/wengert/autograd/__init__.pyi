# Made by tools/make_stubs.py; do not edit.
from .._base.grad_mode import enable_grad as enable_grad, inference_mode as inference_mode, no_grad as no_grad, set_grad_enabled as set_grad_enabled
from .._tape.graph import backward as backward, grad as grad
from .._tape.tensor import Tensor as _Tensor
from ..autograd import anomaly_mode as anomaly_mode, forward_ad as forward_ad, function as function, functional as functional, grad_mode as grad_mode, graph as graph, profiler as profiler, profiler_util as profiler_util, variable as variable
from ..autograd.anomaly_mode import detect_anomaly as detect_anomaly, is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled, is_anomaly_enabled as is_anomaly_enabled, set_anomaly_enabled as set_anomaly_enabled, set_detect_anomaly as set_detect_anomaly
from ..autograd.function import Function as Function, NestedIOFunction as NestedIOFunction
from ..autograd.grad_mode import enforce_grad_layout_policy as enforce_grad_layout_policy, is_multithreading_enabled as is_multithreading_enabled, set_multithreading_enabled as set_multithreading_enabled
from ..autograd.gradcheck import gradcheck as gradcheck, gradgradcheck as gradgradcheck
Variable = _Tensor

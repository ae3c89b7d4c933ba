"""``torch.autograd``: backward passes, custom functions, grad modes, and tools for the graph."""

from .._base.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tape.graph import backward, grad
from . import anomaly_mode as anomaly_mode
from . import forward_ad as forward_ad
from . import function as function
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
from .grad_mode import enforce_grad_layout_policy, is_multithreading_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
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


# Rarely used names of PyTorch, and their modules.
_LATE = {
    "DeviceType": ".profiler_util",
    "ProfilerActivity": "..profiler.profiler",
    "SavedTensor": ".._tape.saved_hooks",
    "_calculate_shape": "._roots",
    "_force_original_view_tracking": ".grad_mode",
    "_functions": None,
    "_is_checkpoint_valid": "._roots",
    "_make_grads": "._roots",
    "_pop_saved_tensors_default_hooks": ".._C._autograd",
    "_profiler_enabled": ".profiler",
    "_push_saved_tensors_default_hooks": ".._C._autograd",
    "_supported_activities": "..profiler.profiler",
    "_tensor_or_tensors_to_tuple": "._roots",
    "_unsafe_preserve_version_counter": ".grad_mode",
    "functional": None,
    "has_torch_function": "..overrides",
    "handle_torch_function": "..overrides",
    "is_tensor_like": "..overrides",
    "is_view_replay_enabled": ".grad_mode",
    "kineto_available": ".profiler",
    "profiler": None,
    "profiler_util": None,
    "torch": "..",
}


def __getattr__(name: str) -> object:
    if name in _LATE:
        from importlib import import_module

        home = _LATE[name]
        if home is None:
            return import_module(f".{name}", __name__)
        return getattr(import_module(home, __name__), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

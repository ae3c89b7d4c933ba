"""Putting the declared names where users find them: methods on ``Tensor``, functions in modules, modules on demand."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from . import _copying, _graph, _layout, _override_sites, _protocol, _settings, _stochastic, _storage, _volatile  # noqa: F401
from ._legacy_types import TYPES
from ._registry import PUBLIC
from ._tensor import Tensor

_OF_AMP = (
    "GradScaler", "autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
)  # fmt: skip
# Public names of the package that live in a module which is not imported at start.
LATE = {
    "vmap": "func",
    "is_anomaly_enabled": "autograd",
    "is_anomaly_check_nan_enabled": "autograd",
    "set_anomaly_enabled": "autograd",
    "save": "serialization",
    "load": "serialization",
    "PyTorchFileReader": "serialization",
    **dict.fromkeys(("compile", "cond", "while_loop"), "compiler"),
    **dict.fromkeys(("SymBool", "SymFloat", "SymInt"), "compiler"),
    **dict.fromkeys(("Future", "ScriptFunction", "ScriptModule", "fork", "wait"), "jit"),
    **dict.fromkeys(("AcceleratorError", "OutOfMemoryError"), "cuda"),
    **dict.fromkeys(("has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps"), "backends"),
    **dict.fromkeys(("has_openmp", "has_spectral", "is_vulkan_available"), "backends"),
    **dict.fromkeys(("Event", "Stream", "get_device_module"), "accelerator"),
    **dict.fromkeys(_OF_AMP, "amp"),
    **{f"{name.removesuffix('Tensor')}Storage": "storage" for name in (*TYPES, "ComplexFloat", "ComplexDouble")},
}
# Private names of PyTorch's that programs use, and that are imported when they are asked for.
_PRIVATE = ("_C", "__config__", "_dynamo", "_functorch", "_higher_order_ops", "_tensor_str", "_utils")


def attach() -> None:
    """Give ``Tensor`` every method that the operators and the graph's surface declare."""
    for name, fn in PUBLIC.get("Tensor", {}).items():
        setattr(Tensor, name, fn)
    Tensor.backward = _graph.tensor_backward  # type: ignore[attr-defined]
    for name in ("requires_grad_", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
        setattr(Tensor, name, getattr(_graph, name))
    Tensor.retains_grad = property(_graph.retains_grad)  # type: ignore[assignment]  # the stub shows the value
    Tensor.grad_dtype = property(_graph.grad_dtype, _graph.set_grad_dtype)  # type: ignore[assignment]  # as above
    Tensor.reinforce = _stochastic.reinforce  # type: ignore[attr-defined]
    Tensor.volatile = property(_volatile.is_volatile, _volatile.set_volatile)  # type: ignore[assignment]  # as above


def namespace(space: str) -> dict[str, Any]:
    """The public functions of one module, by name: ``namespace("nn.functional")``."""
    if space != "torch":  # the package itself gives its functions out later
        _override_sites.ready()
    return PUBLIC.get(space, {})


def module_names() -> list[str]:
    """The public modules of the package, and the names that are found in them when first asked for."""
    folder = os.path.dirname(__file__)
    found = set()
    for entry in os.listdir(folder):
        name = entry.removesuffix(".py")
        if name[0] != "_" and (name != entry or os.path.exists(os.path.join(folder, name, "__init__.py"))):
            found.add(name)
    found.discard("ops")
    return sorted(found | {name for name, home in LATE.items() if home in found})


def submodule(name: str) -> Any:
    """``torch.NAME`` for a module, or a name of one, that is not imported yet."""
    package = sys.modules[__package__]
    if name == "torch":  # torch.torch is torch
        return package
    home = LATE.get(name, name)
    if (not name.startswith("_") and name in module_names()) or name in _PRIVATE:
        module = import_module(f".{home}", __package__)
        value = module if home == name else getattr(module, name)
        setattr(package, name, value)
        return value
    if name.startswith("_foreach_"):
        lists = import_module("._foreach", __package__)
        if hasattr(lists, name):
            return getattr(lists, name)
    error = AttributeError(f"module '{package.__name__}' has no attribute '{name}'")
    if not name.startswith("_"):
        from ._errors import noted
        from ._unsupported import why

        raise noted(error, why(name) or "", "More: docs/absent.md")
    raise error

"""Options for the conversion of a module's parameters; programs find them as ``torch.__future__``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._base.grad_mode import no_grad
from ..parameter import Parameter

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip

_settings = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Set whether a conversion creates new parameters and leaves the old ones unchanged."""
    _settings["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a conversion makes new parameters; False at first."""
    return _settings["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions and ``load_state_dict`` exchange parameters and new ones by ``utils.swap_tensors``."""
    _settings["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """The value of the last ``set_swap_module_params_on_conversion``; False at first."""
    return _settings["swap"]


def swaps(applied: Any) -> bool:
    """Whether a parameter and what a conversion made of it are exchanged: set, or one made of several tensors."""
    kind = type(applied)
    return _settings["swap"] or (hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__"))


def swap(name: str, param: Any, applied: Any, fn: Callable[[Any], Any]) -> None:
    """Exchange a parameter and ``applied``, and its gradient and ``fn(grad)``; ``name`` is its name in an error."""
    grad, param.grad = param.grad, None
    try:
        torch.utils.swap_tensors(param, Parameter(applied, param.requires_grad))
    except Exception as error:
        param.grad = grad
        raise RuntimeError(f"_apply(): Couldn't swap {name}") from error
    if grad is None:
        return
    with no_grad():
        new = fn(grad)
    try:
        torch.utils.swap_tensors(grad, new.requires_grad_(grad.requires_grad))
    except Exception as error:
        raise RuntimeError(f"_apply(): Couldn't swap {name}.grad") from error
    param.grad = grad

"""How a module's parameters are converted by ``to`` and its like; programs find it as ``torch.__future__``."""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip

_settings = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Let a conversion put new parameters in the place of the old ones, which then stay as they were."""
    _settings["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a conversion makes new parameters; False at first."""
    return _settings["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Accepted: parameters stay the same objects in either case, and ``overwrite`` is not asked then."""
    _settings["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """What ``set_swap_module_params_on_conversion`` was last told; False at first."""
    return _settings["swap"]

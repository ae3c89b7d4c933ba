"""Options for the conversion of a module's parameters; programs find them as ``torch.__future__``."""

from __future__ import annotations

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
    """Store the option, which has no effect: parameters always stay the same objects."""
    _settings["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """The value of the last ``set_swap_module_params_on_conversion``; False at first."""
    return _settings["swap"]

"""``skip_init``."""

from __future__ import annotations

import inspect
from typing import Any

from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose initial values the program is going to replace; here they are drawn all the same."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    from ...random import get_rng_state, set_rng_state

    state = get_rng_state()  # PyTorch draws nothing here
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)

"""``torch.utils._device``: the default device of a block, of a function, or of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._base.constants import device as as_device
from .._tensor_api.function_modes import DeviceContext

__all__ = ["DeviceContext", "device_decorator", "set_device"]


def set_device(device: Any) -> Callable[[Any], Any]:
    """Decorator: the function's tensors are made on ``device``."""
    return lambda func: device_decorator(as_device(device), func)


def device_decorator(device: Any, func: Any) -> Any:
    """The function, run inside of ``DeviceContext(device)``."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with DeviceContext(device):
            return func(*args, **kwargs)

    return wrapped

"""``torch.utils._device``: the default device of a block or a function. There is the CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._settings import get_default_device, set_default_device

__all__ = ["DeviceContext", "device_decorator", "set_device"]


class DeviceContext:
    """Inside, tensors are made on ``device``; as ``with torch.device(device):``.

    >>> import wengert as torch
    >>> from wengert.utils._device import DeviceContext
    >>> with DeviceContext("cpu"):
    ...     torch.ones(1).device
    device(type='cpu')
    """

    def __init__(self, device: Any) -> None:
        from .. import device as as_device

        self.device = as_device(device)

    def __enter__(self) -> DeviceContext:
        self._before = get_default_device()
        set_default_device(self.device)
        return self

    def __exit__(self, *exc: object) -> None:
        set_default_device(self._before)


def set_device(device: Any) -> Callable[[Any], Any]:
    """Decorator: the function's tensors are made on ``device``."""
    return lambda func: device_decorator(device, func)


def device_decorator(device: Any, func: Any) -> Any:
    """The function, run inside of ``DeviceContext(device)``."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with DeviceContext(device):
            return func(*args, **kwargs)

    return wrapped

"""``torch.utils._device``: the default device of a block, of a function, or of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import fft
from .._base.constants import device as as_device
from .._base.torch_function import STATE
from .._tape.tensor import CPU
from ..overrides import TorchFunctionMode

__all__ = ["DeviceContext", "device_decorator", "set_device"]


@functools.cache
def _device_constructors() -> frozenset[Any]:
    """The functions that make tensors on the default device."""
    names = (
        "empty empty_permuted empty_strided ones arange bartlett_window blackman_window eye full hamming_window "
        "hann_window kaiser_window linspace logspace rand randn randint randperm range sparse_coo_tensor tril_indices "
        "triu_indices zeros asarray tensor as_tensor scalar_tensor"
    )
    import wengert

    return frozenset([getattr(wengert, name) for name in names.split()] + [fft.fftfreq, fft.rfftfreq])


class DeviceContext(TorchFunctionMode):
    """Inside, functions that make tensors and are told no device make them on this one; ``with torch.device(...)``.

    It is a mode below all others, of which there is one at a time. It asks for its device only while that is not the
    CPU, where tensors are made without being asked to.

    >>> import wengert as torch
    >>> from wengert.utils._device import DeviceContext
    >>> with DeviceContext("meta"):
    ...     torch.ones(1).device
    device(type='meta')
    """

    def __init__(self, device: Any) -> None:
        self.device = as_device(device)
        self._before: list[tuple[Any, ...]] = []

    def __enter__(self) -> None:  # type: ignore[override]
        from .._tensor_api.override_sites import replace_modes

        modes = STATE.get().modes
        self._before.append(tuple(m for m in modes if isinstance(m, DeviceContext)))
        others = tuple(m for m in modes if not isinstance(m, DeviceContext))
        replace_modes((self, *others) if self.device is not CPU or self._before[-1] else others)

    def __exit__(self, *exc: object) -> None:
        from .._tensor_api.override_sites import replace_modes

        others = tuple(m for m in STATE.get().modes if not isinstance(m, DeviceContext))
        replace_modes((*self._before.pop(), *others))

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def current_device() -> as_device:
    """The device of the innermost context; the CPU if there is none."""
    modes = STATE.get().modes
    return modes[0].device if modes and isinstance(modes[0], DeviceContext) else CPU


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

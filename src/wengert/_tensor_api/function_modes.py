"""Function modes: contexts whose ``__torch_function__`` is called before that of classes; the default device is one."""

from __future__ import annotations

import functools
from typing import Any

from .._base.constants import default_device
from .._base.constants import device as Device
from .._base.registry import PUBLIC
from .._base.torch_function import STATE, leave_modes
from .._tape.tensor import CPU
from .override_sites import enter_modes


class BaseTorchFunctionMode:
    """A mode that runs every function unchanged."""

    __module__ = "wengert.overrides"

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Handle a call."""
        return func(*args, **(kwargs or {}))

    def __enter__(self) -> Any:
        enter_modes((*STATE.get().modes, self))
        return self

    __exit__ = leave_modes


class TorchFunctionMode(BaseTorchFunctionMode):
    """A context in which every call of a public function goes to ``__torch_function__`` first.

    This includes attributes and functions that make tensors. Inside ``__torch_function__`` the mode is off.

    >>> import wengert as torch
    >>> class Names(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(torch.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = torch.zeros(2).exp()
    torch.zeros
    torch.Tensor.exp
    """

    __module__ = "wengert.overrides"
    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Handle a call; subclasses must override this method."""
        raise NotImplementedError


# ---- default device
@functools.cache
def _device_constructors() -> frozenset[Any]:
    """The functions that make tensors on the default device."""
    names = (
        "empty empty_permuted empty_strided ones arange bartlett_window blackman_window eye full hamming_window "
        "hann_window kaiser_window linspace logspace rand randn randint randperm range sparse_coo_tensor tril_indices "
        "triu_indices zeros asarray tensor as_tensor scalar_tensor"
    )
    of_torch, of_fft = PUBLIC["torch"], PUBLIC["fft"]
    return frozenset([of_torch[name] for name in names.split()] + [of_fft["fftfreq"], of_fft["rfftfreq"]])


@default_device.set
class DeviceContext(TorchFunctionMode):
    """The context ``with torch.device(...)``: tensors are made on this device unless a call names another.

    It is a mode below all others, and there is one at a time. It changes calls only if its device is not the CPU, the
    device of tensors without it.

    >>> import wengert as torch
    >>> from wengert.utils._device import DeviceContext
    >>> with DeviceContext("meta"):
    ...     torch.ones(1).device
    device(type='meta')
    """

    __module__ = "wengert.utils._device"

    def __init__(self, device: Any) -> None:
        self.device = Device(device)

    def __enter__(self) -> None:
        enter_modes(with_device(self))

    __exit__ = leave_modes

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def with_device(context: DeviceContext | None) -> tuple[Any, ...]:
    """The modes of now with another context of a device, or none."""
    modes = STATE.get().modes
    others = tuple(m for m in modes if not isinstance(m, DeviceContext))
    needed = context is not None and (context.device is not CPU or len(others) < len(modes))
    return (context, *others) if needed else others


def current_device() -> Device:
    """The device of the innermost context; the CPU if there is none."""
    modes = STATE.get().modes
    return modes[0].device if modes and isinstance(modes[0], DeviceContext) else CPU

"""Which tensors an optimizer may take together: PyTorch's helpers for ``torch._foreach_*``, by their names there.

>>> import wengert as torch
>>> from wengert.utils._foreach_utils import _group_tensors_by_device_and_dtype
>>> x, y, z = torch.zeros(1), torch.zeros(2, dtype=torch.float64), torch.ones(3)
>>> groups = _group_tensors_by_device_and_dtype([[x, y, z]], with_indices=True)
>>> [(str(dtype), indices) for (device, dtype), (lists, indices) in groups.items()]
[('torch.float32', [0, 2]), ('torch.float64', [1])]
"""

from __future__ import annotations

from typing import Any

from .._base.dtypes import device as Device
from .._tape.tensor import Tensor

_ABSENT_DEVICES = ("cuda", "xpu", "mtia", "privateuseone")


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Devices on which PyTorch takes lists of tensors without being told to: none of those that are here."""
    return list(_ABSENT_DEVICES)


def _get_fused_kernels_supported_devices() -> list[str]:
    """Devices on which ``fused=True`` is taken."""
    return ["mps", "hpu", "cpu", *_ABSENT_DEVICES]


def _device_has_foreach_support(device: Device) -> bool:
    """Whether ``torch._foreach_*`` takes tensors of this device."""
    return device.type in (*_ABSENT_DEVICES, "cpu")


def _has_foreach_support(tensors: list[Tensor | None], device: Device) -> bool:
    """Whether ``torch._foreach_*`` takes all of these: plain tensors, not of a subclass."""
    return _device_has_foreach_support(device) and all(t is None or type(t) is Tensor for t in tensors)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """Split lists that go together, such as parameters, gradients and state, by the first list's dtype.

    Returns:
        By device and dtype: the lists, each with what stood beside the tensors of that dtype, and where those stood
        (with ``with_indices``; otherwise empty).
    """
    groups: dict[tuple[Device, Any], tuple[list[list[Tensor | None]], list[int]]] = {}
    for position, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise RuntimeError("the first list must not hold None: by it the others are grouped")
        key = (first.device, first.dtype)
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for column, values in zip(lists, tensorlistlist, strict=True):
            if values:
                column.append(values[position])
        if with_indices:
            indices.append(position)
    return groups

"""``torch.utils.dlpack``: exchange of tensors with other libraries, without a copy."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of devices: where an array lives, by its ``__dlpack_device__()[0]``."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


class _Carrier:
    """An object with the methods of the protocol that wraps a capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (DLDeviceType.kDLCPU, 0)


class _Writable:
    """A capsule's memory: one of the first version cannot say that it may be written to, so NumPy forbids it."""

    def __init__(self, a: np.ndarray) -> None:
        self._array = a
        self.__array_interface__ = {**a.__array_interface__, "data": (a.__array_interface__["data"][0], False)}


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule with the tensor's memory, for one ``from_dlpack``; today's libraries take the tensor itself.

    >>> import wengert as torch
    >>> from wengert.utils.dlpack import from_dlpack, to_dlpack
    >>> t = torch.zeros(2)
    >>> from_dlpack(to_dlpack(t))[0] = 1
    >>> t
    tensor([1., 0.])
    """
    return tensor.detach().resolve_conj().__dlpack__()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of a capsule."""
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = np.asarray(_Writable(np.from_dlpack(_Carrier(ext_tensor))))
    return torch.from_dlpack(ext_tensor, device=device, copy=copy)

"""``torch.utils.dlpack``: exchange of tensors with other libraries, without a copy."""

from __future__ import annotations

import enum
from typing import Any

from .._tape.tensor import Tensor
from .._tensor_api.construct import from_dlpack

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

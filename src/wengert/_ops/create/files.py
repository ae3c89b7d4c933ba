"""``from_file``: a tensor whose memory is a file."""

from __future__ import annotations

import os
from typing import Any

from ..._arrays.memory import mapped_file
from ..._base import dtypes
from ..._base.dtypes import dtype as Dtype
from ..._base.registry import public
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import cpu_only, made
from .create import options


@public("torch.from_file")
def from_file(
    filename: str | os.PathLike[str],
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of shape (size,) on the memory of a file, which must hold at least that many elements.

    ``shared``: writes to the tensor reach the file, which is created or extended if needed. Otherwise they stay in
    this process.

    Raises RuntimeError if the file does not exist or is too small.
    """
    dtype = options("from_file", dtype, layout, device, pin_memory, requires_grad) or dtypes.default_dtype
    cpu_only(device, "from_file")
    return made(mapped_file(filename, bool(shared), int(size), dtype.np), requires_grad)

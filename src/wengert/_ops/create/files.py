"""``from_file``: a tensor whose memory is a file."""

from __future__ import annotations

import os
from typing import Any

from ..._arrays.memory import mapped_file
from ..._base import dtypes
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import cpu_only, made
from .makers import maker, options_of


@maker("torch.from_file")
def from_file(filename: str | os.PathLike[str], shared: bool | None = None, size: int = 0, **kwargs: Any) -> Tensor:
    """A tensor of shape (size,) on the memory of a file, which must hold at least that many elements.

    ``shared``: writes to the tensor reach the file, which is created or extended if needed. Otherwise they stay in
    this process.

    Raises RuntimeError if the file does not exist or is too small.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes(8)), file.flush()
    ...     torch.from_file(file.name, size=2)
    tensor([0., 0.])
    """
    asked = options_of("from_file", kwargs)
    cpu_only(asked.device, "from_file")
    np_dtype = (asked.dtype or dtypes.default_dtype).np
    return made(mapped_file(filename, bool(shared), int(size), np_dtype), asked.requires_grad)

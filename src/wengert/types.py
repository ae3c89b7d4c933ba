"""``torch.types``: names for what functions take, to be used in annotations."""

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, Union

from ._constants import Size
from ._constants import device as _device
from ._constants import layout as _layout
from ._dtypes import dtype as _dtype
from ._storage import UntypedStorage
from ._tensor import Tensor

Number = int | float | bool
Device = Union[_device, str, int, None]  # noqa: UP007  what | makes of a class and a string's type is the same
FileLike = str | os.PathLike[str] | IO[builtins.bytes]
Storage = UntypedStorage
IntLikeType = int
FloatLikeType = float
BoolLikeType = bool

_Number = (int, float, bool)
_int, _float, _bool, _complex, _str, _bytes = int, float, bool, complex, str, bytes
_size = Size | list[int] | tuple[int, ...]
_symsize = Size | Sequence[int]
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
py_sym_types: tuple[Any, ...] = ()

__all__ = ["Device", "FileLike", "Number", "Storage", "_device", "_dtype", "_layout", "_size"]

"""``torch.types``: type aliases for annotations."""

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, Union

from wengert._base.constants import Size
from wengert._base.constants import device as _device
from wengert._base.constants import layout as _layout
from wengert._base.dtypes import dtype as _dtype
from wengert._tape.tensor import Tensor
from wengert._tensor_api.storage import UntypedStorage

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

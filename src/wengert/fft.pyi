# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ._constants import Size as _Size
from ._constants import device as _device
from ._constants import layout as _layout
from ._constants import memory_format as _memory_format
from ._dtypes import dtype as _dtype
from ._node import Node as _Node
from ._storage import TypedStorage as _TypedStorage
from ._storage import UntypedStorage as _UntypedStorage
from .random import Generator as _Generator
from ._tensor import Tensor as Tensor

Number: TypeAlias = _bool | _int | _float | _complex

__all__ = [
]

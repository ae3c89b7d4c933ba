# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from .. import return_types as _return_types
from .._base.constants import Size as _Size
from .._base.constants import device as _device
from .._base.constants import layout as _layout
from .._base.constants import memory_format as _memory_format
from .._base.dtypes import dtype as _dtype
from .._tape.node import Node as _Node
from .._tape.node import RemovableHandle as _RemovableHandle
from .._tensor_api.storage import TypedStorage as _TypedStorage
from .._tensor_api.storage import UntypedStorage as _UntypedStorage
from ..random import Generator as _Generator
from .._tape.tensor import Tensor as Tensor

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
allow_tf32: _bool
benchmark: _bool
benchmark_limit: None
deterministic: _bool
enabled: _bool
def flags(enabled: _bool = False, benchmark: _bool = False, benchmark_limit: _int = 10, deterministic: _bool = False, allow_tf32: _bool = True, fp32_precision: _str = 'none') -> Any:
    """A context in which the switches are these."""
fp32_precision: _str
def is_acceptable(tensor: Any) -> Any:
    """False: no tensor is for it."""
def is_available() -> _bool:
    """False."""
def set_flags(_enabled: Any = None, _benchmark: Any = None, _benchmark_limit: Any = None, _deterministic: Any = None, _allow_tf32: Any = None, _fp32_precision: _str = 'none') -> Any:
    """Set those switches that are not None; what they were."""
def version() -> None:
    """``None``: there is none."""

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "fp32_precision",
    "is_acceptable",
    "is_available",
    "set_flags",
    "version",
]

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
def can_use_cudnn_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
def can_use_efficient_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
def can_use_flash_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
class cuBLASModule(Any): ...
class cuFFTPlanCacheManager(Any): ...
def cudnn_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
cufft_plan_cache: Any
def enable_cudnn_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_flash_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_math_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_mem_efficient_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def flash_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
def is_built() -> _bool:
    """False."""
def is_flash_attention_available() -> _bool:
    """False."""
def math_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
matmul: Any
def mem_efficient_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
def preferred_blas_library(backend: Any = None) -> Any:
    """No choice."""
def preferred_linalg_library(backend: Any = None) -> Any:
    """No choice."""
def sdp_kernel(enable_flash: _bool = True, enable_math: _bool = True, enable_mem_efficient: _bool = True, enable_cudnn: _bool = True) -> Iterator[None]:
    """A context in which the switches of attention are these."""

__all__ = [
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cuBLASModule",
    "cuFFTPlanCacheManager",
    "cudnn_sdp_enabled",
    "cufft_plan_cache",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]

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
from ..backends import cpu as cpu
from ..backends import cuda as cuda
from ..backends import cudnn as cudnn
from ..backends import cusparselt as cusparselt
from ..backends import mha as mha
from ..backends import mkl as mkl
from ..backends import mkldnn as mkldnn
from ..backends import mps as mps
from ..backends import nnpack as nnpack
from ..backends import openmp as openmp
from ..backends import opt_einsum as opt_einsum
from ..backends import quantized as quantized

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
fp32_precision: _str
has_cuda: _bool
has_cudnn: _bool
has_lapack: _bool
has_mkl: _bool
has_mkldnn: _bool
has_mps: _bool
has_openmp: _bool
has_spectral: _bool
def is_vulkan_available() -> _bool:
    """False."""

__all__ = [
    "fp32_precision",
    "has_cuda",
    "has_cudnn",
    "has_lapack",
    "has_mkl",
    "has_mkldnn",
    "has_mps",
    "has_openmp",
    "has_spectral",
    "is_vulkan_available",
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
]

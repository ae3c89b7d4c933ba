# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from . import return_types as _return_types
from ._base.constants import Size as _Size
from ._base.constants import device as _device
from ._base.constants import layout as _layout
from ._base.constants import memory_format as _memory_format
from ._base.dtypes import dtype as _dtype
from ._tape.node import Node as _Node
from ._tape.node import RemovableHandle as _RemovableHandle
from ._tensor_api.storage import TypedStorage as _TypedStorage
from ._tensor_api.storage import UntypedStorage as _UntypedStorage
from .random import Generator as _Generator
from ._tape.tensor import Tensor as Tensor

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform along a dimension, cut or filled with zeros to ``n``."""
def fft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``fft``."""
def fftfreq(n: _int, d: _float = 1.0, *, dtype: _dtype | None = None, requires_grad: _bool = False, device: _device | _str | _int | None = None, **unused: Any) -> Tensor:
    """The frequencies of ``fft``'s results for samples that are ``d`` apart."""
def fftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over several dimensions, all dimensions by default; ``s``: their sizes. See ``fft``."""
def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The frequencies in ascending order: zero in the middle."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a signal given by its first half; the second half is the conjugate."""
def hfft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a Hermitian signal, of which half is given, over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``hfft``."""
def hfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a Hermitian signal, of which half is given, over several dimensions, all dimensions by default; ``s``: their sizes. See ``hfft``."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``fft``."""
def ifft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``ifft``."""
def ifftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over several dimensions, all dimensions by default; ``s``: their sizes. See ``ifft``."""
def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The inverse of ``fftshift``."""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``hfft``."""
def ihfft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the transform of a Hermitian signal over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``ihfft``."""
def ihfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the transform of a Hermitian signal over several dimensions, all dimensions by default; ``s``: their sizes. See ``ihfft``."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``rfft``: a real signal of length ``n`` (even by default)."""
def irfft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal of half of its frequencies over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``irfft``."""
def irfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal of half of its frequencies over several dimensions, all dimensions by default; ``s``: their sizes. See ``irfft``."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The first ``n // 2 + 1`` frequencies of a real signal, which determine the others."""
def rfft2(input: Tensor, s: Any = None, dim: _int | Sequence[_int] = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Half of the frequencies of a real signal over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``rfft``."""
def rfftfreq(n: _int, d: _float = 1.0, *, dtype: _dtype | None = None, requires_grad: _bool = False, device: _device | _str | _int | None = None, **unused: Any) -> Tensor:
    """The frequencies of ``rfft``'s results."""
def rfftn(input: Tensor, s: Any = None, dim: _int | Sequence[_int] | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Half of the frequencies of a real signal over several dimensions, all dimensions by default; ``s``: their sizes. See ``rfft``."""

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

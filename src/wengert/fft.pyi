# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int, str as _str
from typing import Any
from ._base.constants import layout as _layout
from ._base.dtypes import dtype as _dtype
from ._tape.tensor import Device, Ints, Tensor
def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform along a dimension, cut or filled with zeros to ``n``."""
def fft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``fft``."""
def fftfreq(n: _int, d: _float = 1.0, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """The frequencies of ``fft``'s results for samples that are ``d`` apart."""
def fftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform over several dimensions, all dimensions by default; ``s``: their sizes. See ``fft``."""
def fftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """The frequencies in ascending order: zero in the middle."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a signal given by its first half; the second half is the conjugate."""
def hfft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a Hermitian signal, of which half is given, over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``hfft``."""
def hfftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real transform of a Hermitian signal, of which half is given, over several dimensions, all dimensions by default; ``s``: their sizes. See ``hfft``."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``fft``."""
def ifft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``ifft``."""
def ifftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse discrete Fourier transform over several dimensions, all dimensions by default; ``s``: their sizes. See ``ifft``."""
def ifftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """The inverse of ``fftshift``."""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``hfft``."""
def ihfft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the transform of a Hermitian signal over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``ihfft``."""
def ihfftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the transform of a Hermitian signal over several dimensions, all dimensions by default; ``s``: their sizes. See ``ihfft``."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of ``rfft``: a real signal of length ``n`` (even by default)."""
def irfft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal of half of its frequencies over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``irfft``."""
def irfftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The real signal of half of its frequencies over several dimensions, all dimensions by default; ``s``: their sizes. See ``irfft``."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The first ``n // 2 + 1`` frequencies of a real signal, which determine the others."""
def rfft2(input: Tensor, s: Any = None, dim: Ints = (-2, -1), norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Half of the frequencies of a real signal over several dimensions, the last two dimensions by default; ``s``: their sizes. See ``rfft``."""
def rfftfreq(n: _int, d: _float = 1.0, *, out: Tensor | None = None, dtype: _dtype | None = None, layout: _layout | None = None, device: Device = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """The frequencies of ``rfft``'s results."""
def rfftn(input: Tensor, s: Any = None, dim: Ints | None = None, norm: _str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Half of the frequencies of a real signal over several dimensions, all dimensions by default; ``s``: their sizes. See ``rfft``."""

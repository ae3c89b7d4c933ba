"""Discrete Fourier transforms: ``torch.fft``.

Three primitives, as in PyTorch: complex to complex, real to complex (all frequencies, or the first half of them, which
determine the rest), and half of the frequencies to real. Each is linear over the reals; their transposes are made of
one another. Normalisation is a plain factor, ``scale``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays.half import is_half
from ..._arrays.layouts import transformed
from ..._arrays.library import COLONS, in_lib, lib, silent_functions
from ..._base.dtypes import BY_NUMPY, FLOAT64
from ..._base.registry import TENSORS, public
from ..._kinds.dims import normal_dim
from ..._kinds.keywords import with_out
from ..._kinds.linear import linear
from ..._kinds.out import of_kind
from ..._tape.promotion import cast, default_np, logical_dtype
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import placed
from ..create.makers import dtype_chosen, finish, maker, options_of
from ..linalg.matmul import dtype_name

Ints = tuple[int, ...]


in_lib(silent_functions(np.fft.fft), "fft")


# ---- primitives
_LOOPS: Any = getattr(np.fft, "_pocketfft_umath", None)  # the loops inside of ``np.fft``'s functions, since NumPy 2.0
_COMPLEX = {np.dtype(real): np.dtype(of) for real, of in (("f", "F"), ("d", "D"), ("F", "F"), ("D", "D"))}
_COMPLEX_128, _ONE = np.dtype("D"), lib.ONES[FLOAT64]
_FEW = 4096


def _in_last(loop: str, a: Any, dims: Ints) -> Any:
    """NumPy's transform of an array along its last dim, without the Python around it; ``None`` along another one."""
    if _LOOPS is None or type(a) is not np.ndarray or dims[0] != a.ndim - 1 or a.dtype not in _COMPLEX:
        return None
    wide: Any = _COMPLEX_128
    shape, dtype = a.shape, _COMPLEX[a.dtype]
    if loop == "rfft_n":
        n, wide = shape[-1], FLOAT64
        loop = "rfft_n_odd" if n % 2 else "rfft_n_even"
        shape = (*shape[:-1], n // 2 + 1)
    run = getattr(_LOOPS, loop)
    if a.dtype is wide or a.size > _FEW:
        return run(a, _ONE, np.empty(shape, dtype))
    r = run(a.astype(wide), _ONE, np.empty(shape, _COMPLEX_128))  # as the loop does, through a buffer
    return r if dtype is _COMPLEX_128 else r.astype(dtype)


def _scaled(lib: Any, r: Any, scale: float) -> Any:
    if scale != 1:
        r *= lib.NUMBERS[r.dtype][scale]
    return r


@linear(
    layout=transformed("c2c"),
    transpose=lambda xp, g, dims, scale, forward: xp.fft_c2c(g, dims, scale, not forward),
    node="FftC2CBackward0",
    batch=("dim", ("dims",)),
    dtypes="c",
    samples=[((4,), ((0,), 1.0, True)), ((3, 4), ((0, 1), 0.5, False)), ((2, 3, 2), ((1,), 1.0, True))],
)
def fft_c2c(lib, self, dims, scale, forward):
    """``sum_j x_j exp(-+2 pi i j k / n)`` along dims, with minus ``forward``."""
    if len(dims) == 1:
        d = dims[0]
        transform = _in_last("fft" if forward else "ifft", self, dims)
        if transform is None:
            transform = lib.fft.fft(self, None, d) if forward else lib.fft.ifft(self, None, d, "forward")
    else:
        transform = lib.fft.fftn(self, axes=dims) if forward else lib.fft.ifftn(self, axes=dims, norm="forward")
    return _scaled(lib, transform, scale)


def _r2c_transpose(xp: Any, g: Any, self_shape: Any, dims: Ints, scale: float, onesided: bool) -> Any:
    if onesided:
        d = dims[-1]
        missing = self_shape[d] - g.shape[d]
        g = xp.constant_pad_nd(g, (0, 0) * (len(self_shape) - 1 - d) + (0, missing), 0)
    r = xp.fft_c2c(g, dims, scale, False)
    return r.real if type(r) is np.ndarray else xp.real(r)  # a part of an array that nothing else has, as PyTorch's


@linear(
    layout=transformed("r2c"),
    transpose=_r2c_transpose,
    node="FftR2CBackward0",
    batch=("dim", ("dims",)),
    dtypes="f",
    samples=[((5,), ((0,), 1.0, True)), ((3, 4), ((0, 1), 0.5, True)), ((3, 4), ((1, 0), 1.0, False))],
)
def fft_r2c(lib, self, dims, scale, onesided):
    """The transform of real numbers; ``onesided``: only the first half of the last dim's frequencies."""
    if len(dims) == 1:
        transform = _in_last("rfft_n" if onesided else "fft", self, dims)
        if transform is None:
            transform = (lib.fft.rfft if onesided else lib.fft.fft)(self, None, dims[0])
    else:
        transform = lib.fft.rfftn(self, axes=dims) if onesided else lib.fft.fftn(self, axes=dims)
    return _scaled(lib, transform, scale)


def _c2r_transpose(xp: Any, g: Any, self_shape: Any, dims: Ints, size: int, scale: float) -> Any:
    """The transpose of ``fft_c2r``: frequencies that stand for two count twice."""
    r = xp.fft_r2c(g, dims, scale, True)
    d, n = dims[-1], self_shape[dims[-1]]
    doubled = size - n
    if doubled > 0 and type(r) is np.ndarray:  # in its memory, and so in its order
        r[(*COLONS[d], slice(1, 1 + doubled))] *= 2
    elif doubled > 0:
        inner = xp.slice_dim(r, d, 1, 1 + doubled, 1)
        r = r + xp.constant_pad_nd(inner, (0, 0) * (len(self_shape) - 1 - d) + (1, n - 1 - doubled), 0)
    return r


@linear(
    layout=transformed("c2r"),
    transpose=_c2r_transpose,
    node="FftC2RBackward0",
    batch=("dim", ("dims",)),
    dtypes="c",
    samples=[((3,), ((0,), 4, 1.0)), ((3,), ((0,), 5, 0.5)), ((3, 3), ((0, 1), 4, 1.0)), ((2, 1), ((1,), 1, 1.0))],
)
def fft_c2r(lib, self, dims, size, scale):
    """The real inverse transform of half of the frequencies, of ``size`` in the last of dims."""
    if len(dims) == 1:
        return _scaled(lib, lib.fft.irfft(self, size, dims[0], "forward"), scale)
    sizes = [self.shape[d] for d in dims[:-1]] + [size]
    return _scaled(lib, lib.fft.irfftn(self, sizes, dims, norm="forward"), scale)


# ---- arguments
def _scale(norm: str | None, n: int, forward: bool) -> float:
    if norm not in (None, "forward", "backward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") == forward else 1.0


def _real(name: str, x: Any) -> Any:
    """A floating tensor; integers become the default dtype."""
    if logical_dtype(x).kind == "c":
        raise RuntimeError(f"{name} expects a real input tensor, but got {dtype_name(x)}")
    return _inexact(x)


def _inexact(x: Any) -> Any:
    dtype = logical_dtype(x)
    if dtype.itemsize < 4 and dtype.kind in "fV":
        raise RuntimeError(f"Unsupported dtype {dtype_name(x)}")
    return cast(x, default_np()) if dtype.kind in "iub" else x


def _complex(x: Any) -> Any:
    dtype = logical_dtype(x)
    return x if dtype.kind == "c" else cast(x, np.dtype(np.complex128 if dtype.itemsize == 8 else np.complex64))


def _dim(x: Any, dim: int) -> int:
    if not x._payload.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normal_dim(dim, x._payload.ndim)


def _resized(x: Any, sizes: Ints, dims: Ints) -> Any:
    """x cut, or filled with zeros at the end, to these sizes."""
    for d, n in zip(dims, sizes, strict=True):
        now = x._payload.shape[d]
        if n < now:
            x = TENSORS.slice_dim(x, d, 0, n, 1)
        elif n > now:
            x = TENSORS.constant_pad_nd(x, (0, 0) * (x._payload.ndim - 1 - d) + (0, n - now), 0)
    return x


def _check_sizes(sizes: Ints) -> None:
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _sizes(x: Any, s: Any, dim: Any, last_doubles: bool = False) -> tuple[Ints, Ints]:
    """Dims and the transform's sizes along them; ``last_doubles``: the last one holds half of the frequencies."""
    rank = x._payload.ndim
    if dim is not None:
        dims = tuple(_dim(x, d) for d in ((dim,) if isinstance(dim, int) else dim))
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    elif s is not None:
        count = 1 if isinstance(s, int) else len(s)
        if count > rank:
            raise RuntimeError(f"Got shape with {count} values but input tensor only has {rank} dimensions.")
        dims = tuple(range(rank - count, rank))
    else:
        dims = tuple(range(rank))
    shape = [x._payload.shape[d] for d in dims]
    if last_doubles and shape:
        shape[-1] = 2 * (shape[-1] - 1)
    if s is not None:
        s = (s,) if isinstance(s, int) else tuple(s)
        if len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        shape = [now if n == -1 else operator.index(n) for n, now in zip(s, shape, strict=True)]
    _check_sizes(tuple(shape))
    return dims, tuple(shape)


# ---- one dimension
def _is_usual(x: Any, n: int | None, dim: int, norm: str | None) -> bool:
    """Whether nothing but a plain array of floating or complex numbers is given, for which no check is needed."""
    if n is not None or norm is not None or dim != -1 or type(x) is not Tensor:
        return False
    a = x._payload
    return type(a) is np.ndarray and a.dtype in _COMPLEX and a.ndim > 0 and a.shape[-1] > 0


def _c2c(name: str, x: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    if _is_usual(x, n, dim, norm):
        a = x._payload
        d, scale, kind = a.ndim - 1, 1.0 if forward else 1 / a.shape[-1], a.dtype.kind
    else:
        x = _inexact(x)
        d = _dim(x, dim)
        size = x._payload.shape[d] if n is None else operator.index(n)
        _check_sizes((size,))
        scale = _scale(norm, size, forward)
        x = _resized(x, (size,), (d,))
        kind = logical_dtype(x).kind
    if kind == "c":
        return TENSORS.fft_c2c(x, (d,), scale, forward)
    r = TENSORS.fft_r2c(x, (d,), scale, False)
    return r if forward else TENSORS.conj(r)


def _r2c(name: str, x: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    if forward and _is_usual(x, n, dim, norm) and x._payload.dtype.kind == "f":
        return TENSORS.fft_r2c(x, (x._payload.ndim - 1,), 1.0, True)
    x = _real(name, x)
    d = _dim(x, dim)
    size = x._payload.shape[d] if n is None else operator.index(n)
    _check_sizes((size,))
    r = TENSORS.fft_r2c(_resized(x, (size,), (d,)), (d,), _scale(norm, size, forward), True)
    return r if forward else TENSORS.conj(r)


def _c2r(name: str, x: Any, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    x = _complex(_inexact(x))
    d = _dim(x, dim)
    size = 2 * (x._payload.shape[d] - 1) if n is None else operator.index(n)
    _check_sizes((size,))
    x = _resized(x, (size // 2 + 1,), (d,))
    return TENSORS.fft_c2r(TENSORS.conj(x) if forward else x, (d,), size, _scale(norm, size, forward))


def _out_rule(name: str, called: str) -> Any:
    """The rule for ``out=`` of a transform, which PyTorch's errors call ``called``."""
    if name in ("irfft", "hfft"):
        return of_kind("fV", f"{called} expects a floating point output tensor, but got {{Out}}")
    return of_kind("c", f"{called} expects a complex output tensor, but got {{Out}}")


def _one(name: str, run: Callable[..., Any], forward: bool, doc: str) -> Any:
    """A transform along one dim."""

    def transform(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        return run(name, input, n, dim, norm, forward)

    transform.__doc__ = doc
    return public(f"fft.{name}")(with_out(_out_rule(name, name))(transform))


fft = _one(
    "fft",
    _c2c,
    True,
    """The discrete Fourier transform along a dimension, cut or filled with zeros to ``n``.

    ``norm``: "backward" (default; no factor), "ortho" (1 / sqrt(n)) or "forward" (1 / n).

    >>> torch.fft.fft(torch.tensor([1., 0., 0., 0.]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """,
)
ifft = _one("ifft", _c2c, False, "The inverse of ``fft``.")
rfft = _one("rfft", _r2c, True, "The first ``n // 2 + 1`` frequencies of a real signal, which determine the others.")
irfft = _one("irfft", _c2r, False, "The inverse of ``rfft``: a real signal of length ``n`` (even by default).")
_one("hfft", _c2r, True, "The real transform of a signal given by its first half; the second half is the conjugate.")
_one("ihfft", _r2c, False, "The inverse of ``hfft``.")


# ---- several dimensions
def _c2cn(x: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    x = _complex(_inexact(x))
    dims, sizes = _sizes(x, s, dim)
    x = _resized(x, sizes, dims)
    return TENSORS.fft_c2c(x, dims, _scale(norm, math.prod(sizes), forward), forward) if dims else x.clone()


def _r2cn(x: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    if logical_dtype(x).kind == "c":
        if forward:
            raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {dtype_name(x)}")
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {dtype_name(x)}")
    x = _inexact(x)
    dims, sizes = _sizes(x, s, dim)
    if not dims:
        raise RuntimeError(f"{'rfftn' if forward else 'ihfftn'} must transform at least one axis")
    x = _resized(x, sizes, dims)
    scale = _scale(norm, math.prod(sizes), forward)
    if forward:
        return TENSORS.fft_r2c(x, dims, scale, True)
    r = TENSORS.conj(TENSORS.fft_r2c(x, dims[-1:], scale, True))
    return TENSORS.fft_c2c(r, dims[:-1], 1.0, False) if len(dims) > 1 else r


def _c2rn(x: Any, s: Any, dim: Any, norm: str | None, forward: bool) -> Any:
    x = _complex(_inexact(x))
    dims, sizes = _sizes(x, s, dim, True)
    if not dims:
        raise RuntimeError(f"{'hfftn' if forward else 'irfftn'} must transform at least one axis")
    x = _resized(x, (*sizes[:-1], sizes[-1] // 2 + 1), dims)
    scale = _scale(norm, math.prod(sizes), forward)
    if not forward:
        return TENSORS.fft_c2r(x, dims, sizes[-1], scale)
    if len(dims) > 1:
        x = TENSORS.fft_c2c(x, dims[:-1], scale, True)
        scale = 1.0
    return TENSORS.fft_c2r(TENSORS.conj(x), dims[-1:], sizes[-1], scale)


def _several(name: str, run: Callable[..., Any], forward: bool, what: str) -> None:
    """``NAMEn`` over any dims, all by default, and ``NAME2`` over two, the last ones by default."""
    rule = _out_rule(name, "fftn" if name == "ifft" else name + "n")

    def transform_n(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
        return run(input, s, dim, norm, forward)

    def transform_2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
        return run(input, s, dim, norm, forward)

    for fn, suffix, dims in ((transform_n, "n", "all dimensions"), (transform_2, "2", "the last two dimensions")):
        fn.__doc__ = f"{what} over several dimensions, {dims} by default; ``s``: their sizes. See ``{name}``."
        public(f"fft.{name}{suffix}")(with_out(rule)(fn))


_several("fft", _c2cn, True, "The discrete Fourier transform")
_several("ifft", _c2cn, False, "The inverse discrete Fourier transform")
_several("rfft", _r2cn, True, "Half of the frequencies of a real signal")
_several("irfft", _c2rn, False, "The real signal of half of its frequencies")
_several("hfft", _c2rn, True, "The real transform of a Hermitian signal, of which half is given,")
_several("ihfft", _r2cn, False, "The inverse of the transform of a Hermitian signal")


# ---- frequencies, shifts
def _frequencies(name: str, places: Any, n: int, d: float, kwargs: dict[str, Any]) -> Tensor:
    """The places of results, divided by the duration of ``n`` samples in the result's dtype."""
    asked = options_of(name, kwargs)
    dtype = dtype_chosen(asked.dtype, asked.out)
    if dtype.kind not in "fcV":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if dtype.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{BY_NUMPY[dtype].scalar_name}'")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    computed = np.dtype("f4") if is_half(dtype) else dtype
    with np.errstate(all="ignore"):
        values = places.astype(computed) * (1 / np.float64(n * d)).astype(dtype).astype(computed)
    return finish(placed(values.astype(dtype, copy=False), asked.device), asked.out, asked.requires_grad)


@maker("fft.fftfreq", "out")
def fftfreq(n: int, d: float = 1.0, **kwargs: Any) -> Tensor:
    """The frequencies of ``fft``'s results for samples that are ``d`` apart.

    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies("fftfreq", (np.arange(n) + n // 2) % max(n, 1) - n // 2, n, d, kwargs)


@maker("fft.rfftfreq", "out")
def rfftfreq(n: int, d: float = 1.0, **kwargs: Any) -> Tensor:
    """The frequencies of ``rfft``'s results.

    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", np.arange(n // 2 + 1), n, d, kwargs)


def _shifted(input: Any, dim: Any, sign: int) -> Any:
    rank = input._payload.ndim
    dims = range(rank) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = tuple(normal_dim(d, rank) for d in dims)
    # forward by half a size, rounded down; backward by the rest
    shifts = tuple(n // 2 if sign > 0 else -(n // 2) for n in (input._payload.shape[d] for d in dims))
    return TENSORS.roll_dims(input, shifts, dims)


@public("fft.fftshift")
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The frequencies in ascending order: zero in the middle.

    >>> torch.fft.fftshift(torch.arange(4))
    tensor([2, 3, 0, 1])
    """
    return _shifted(input, dim, 1)


@public("fft.ifftshift")
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of ``fftshift``.

    >>> torch.fft.ifftshift(torch.arange(4))
    tensor([2, 3, 0, 1])
    """
    return _shifted(input, dim, -1)

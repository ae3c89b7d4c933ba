"""Short-time Fourier transforms: ``stft`` and its inverse.

Both are composed of windows along the signal (``unfold_view`` and its transpose), a product and ``torch.fft``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.errors import warn, warn_once
from ..._base.registry import TENSORS, public
from ..._kinds.slow_path import require
from ..._payloads.meta import no_kernel, on_meta
from ..._tape.promotion import cast, logical_dtype
from ..._tape.saved import _type_name
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import without_view
from ..linalg.matmul import dtype_name
from ..nn.pad import pad as pad_by
from .fft import fft, ifft, irfft, rfft

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,{} To suppress this warning and use a "
    "rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


class _Call:
    """A call's arguments, for the text that PyTorch's errors begin with."""

    def __init__(self, name: str, input: Tensor, **arguments: Any) -> None:
        given = ", ".join(f"{k}={self._shown(v)}" for k, v in arguments.items())
        self.text = f"{name}({_type_name(input._payload)}{list(input._payload.shape)}, {given}) "

    @staticmethod
    def _shown(value: Any) -> str:
        if isinstance(value, Tensor):
            return f"{_type_name(value._payload)}{{{list(value._payload.shape)}}}"
        return str(int(value) if isinstance(value, bool) else value)

    def check(self, good: bool, message: str, separator: str = ": ") -> None:
        if not good:
            raise RuntimeError(f"{self.text}{separator}{message}")


def _padded_window(window: Tensor | None, width: int, n_fft: int, dtype: Any) -> Tensor | None:
    """The window with zeros on both sides, as long as the transform; ``None`` for one of ones."""
    if width == n_fft:
        return window
    if window is None:
        window = wrap(np.ones(width, dtype))
    left = (n_fft - width) // 2
    return TENSORS.constant_pad_nd(window, (left, n_fft - width - left), 0)


@public("torch.stft Tensor.stft")
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of windows that move along a signal: ``(B, L)`` or ``(L,)`` to ``(B, N, frames)``.

    ``n_fft``: a transform's size; ``hop_length``: from window to window (default ``n_fft // 4``); ``win_length``: the
    window's size, by default ``n_fft``, else zeros are put around it. ``center``: the signal is padded (``pad_mode``)
    so that the t-th frame is around ``t * hop_length``. ``normalized``: divided by the root of ``n_fft``.
    ``onesided``: only the ``n_fft // 2 + 1`` frequencies that determine the others (default for real signals).
    ``return_complex`` must be given for real signals; ``False`` is deprecated and gives a last dimension of size 2.

    >>> signal = torch.sin(torch.arange(16.))
    >>> torch.stft(signal, 8, hop_length=4, window=torch.hann_window(8), return_complex=True).shape
    torch.Size([5, 5])
    """
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        input = _reflected(input, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        warn_once(
            _NO_WINDOW.format(
                "which is known to cause spectral leakage. Other windows such as torch.hann_window "
                "or torch.hamming_window are recommended to reduce spectral leakage."
            )
        )
    call = _Call(
        "stft",
        input,
        n_fft=n_fft,
        hop_length=hop,
        win_length=width,
        window=window,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )
    return_complex = _whether_complex(input, window, return_complex)
    _check_stft(call, input, n_fft, hop, width, window)
    single = input._payload.ndim == 1
    if single:
        input = TENSORS.unsqueeze_dim(input, 0)
    window = _padded_window(window, width, n_fft, logical_dtype(input))
    if align_to_window and width < n_fft:
        input = TENSORS.constant_pad_nd(input, ((n_fft - width) // 2,) * 2, 0)
    frames = TENSORS.unfold_view(input, 1, n_fft, hop)
    if window is not None:
        frames = frames * window
    complex_frames = logical_dtype(frames).kind == "c"
    if onesided and complex_frames:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if logical_dtype(frames).itemsize == 2:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {dtype_name(frames)}")
    half = not complex_frames if onesided is None else onesided
    transform = rfft if half else fft
    # PyTorch transposes and squeezes in place: the result is no view
    spectrum = transform(frames, norm="ortho" if normalized else None)
    result = without_view(TENSORS.transpose_dims(spectrum, 1, 2), "TransposeBackward1")
    if single:
        result = without_view(TENSORS.squeeze_dim(result, 0), "SqueezeBackward4")
    return result if return_complex else TENSORS.view_as_real(result)


def _reflected(input: Tensor, by: int, mode: str) -> Tensor:
    """A signal (a batch of them) padded on both sides."""
    rank = input._payload.ndim
    shape = tuple(input._payload.shape)
    if mode == "reflect":
        require(input, "fhciu", "reflection_pad1d")
    padded = pad_by(TENSORS.view(input, (1,) * (3 - rank) + shape), (by, by), mode)
    return TENSORS.view(padded, (*shape[:-1], padded._payload.shape[-1]))


def _whether_complex(input: Tensor, window: Tensor | None, asked: bool | None) -> bool:
    if asked is None:
        if not any(t is not None and logical_dtype(t).kind == "c" for t in (input, window)):
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return True
    if not asked:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )
    return asked


def _check_stft(call: _Call, input: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None) -> None:
    call.check(logical_dtype(input).kind in "fcV", "expected a tensor of floating point or complex values")
    call.check(input._payload.ndim in (1, 2), "expected a 1D or 2D tensor")
    length = input._payload.shape[-1]
    call.check(0 < n_fft <= length, f"expected 0 < n_fft < {length}, but got n_fft={width}")
    call.check(hop > 0, f"expected hop_length > 0, but got hop_length={hop}")
    call.check(0 < width <= n_fft, f"expected 0 < win_length <= n_fft, but got win_length={width}")
    call.check(
        window is None or tuple(window._payload.shape) == (width,),
        f"expected a 1D window tensor of size equal to win_length={width}, but got window with size "
        f"{None if window is None else list(window._payload.shape)}",
    )


@public("torch.istft Tensor.istft")
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose ``stft`` is ``input``, ``(B, N, frames)`` or ``(N, frames)``, in the sense of least squares.

    The arguments are those of ``stft``; ``length``: cut, or filled with zeros, to that many samples.
    (Griffin and Lim, 1984: the inverse transforms are added up and divided by the sum of the squared windows.)

    Raises RuntimeError if the windows leave a sample of the signal uncovered.

    >>> signal, window = torch.sin(torch.arange(16.)), torch.hann_window(8)
    >>> spectrum = torch.stft(signal, 8, hop_length=4, window=window, return_complex=True)
    >>> torch.allclose(torch.istft(spectrum, 8, hop_length=4, window=window), signal, atol=1e-6)
    True
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        warn_once(_NO_WINDOW.format("Please provide the same window used by stft to make the inversion lossless."))
    if logical_dtype(input).kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    call = _Call(
        "istft",
        input,
        n_fft=n_fft,
        hop_length=hop,
        win_length=width,
        window=window,
        center=center,
        normalized=normalized,
        onesided=onesided,
        length=length,
        return_complex=return_complex,
    )
    half = _check_istft(call, input, n_fft, hop, width, window, onesided)
    if on_meta(input):  # PyTorch compares the window with zero
        raise no_kernel("equal")
    single = input._payload.ndim == 2
    if input._node is not None:  # as in PyTorch, whose cotangent is therefore row-major
        input = TENSORS.view_as_complex(TENSORS.view_as_real(input))
    if single:
        input = TENSORS.unsqueeze_dim(input, 0)
    frames = _frames(TENSORS.transpose_dims(input, 1, 2), n_fft, half, return_complex, window, normalized)
    window = _padded_window(window, width, n_fft, logical_dtype(input).type(0).real.dtype)
    signal, cover = _overlap_added(frames, window, n_fft, hop)
    start = n_fft // 2 if center else 0
    whole = signal._payload.shape[1]
    end = whole - start if length is None and center else whole if length is None else start + length
    signal = TENSORS.slice_dim(signal, 1, start, min(end, whole), 1)
    cover = TENSORS.slice_dim(cover, 1, start, min(end, whole), 1)
    call.check(not cover._payload.size or float(abs(_values(cover)).min()) > 1e-11, "window overlap add min: 1", "")
    signal = signal / cover
    if single:
        signal = TENSORS.squeeze_dim(signal, 0)
    missing = 0 if length is None else length - signal._payload.shape[-1]
    if missing > 0:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
            "tail. Please check your center, window and hop_length settings"
        )
        signal = TENSORS.constant_pad_nd(signal, (0, missing), 0)
    return signal


def _values(t: Any) -> Any:
    """The values of a tensor, inside of any transforms."""
    from ..._payloads.transforms import Transformed

    while isinstance(t, (Tensor, Transformed)):
        t = t._payload if isinstance(t, Tensor) else t.v
    return t


def _check_istft(
    call: _Call, input: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None, onesided: bool | None
) -> bool:
    """Raise PyTorch's errors; return whether the input holds half of the frequencies."""
    call.check(0 not in tuple(input._payload.shape), "input tensor cannot be empty.")
    rank = input._payload.ndim
    call.check(rank in (2, 3), f"expected a tensor with 3 or 4 dimensions, but got {rank + 1}")
    frequencies = input._payload.shape[-2]
    half = frequencies != n_fft if onesided is None else onesided
    call.check(
        frequencies == (n_fft // 2 + 1 if half else n_fft),
        "expected the frequency dimension (3rd to the last) of the input tensor to match "
        f"n_fft{' / 2 + 1' if half else ''} when onesided={half}, but got {frequencies}",
    )
    call.check(0 < hop <= width, "expected 0 < hop_length <= win_length")
    call.check(0 < width <= n_fft, "expected 0 < win_length <= n_fft")
    call.check(
        window is None or tuple(window._payload.shape) == (width,),
        "Invalid window shape. window has to be 1D and length of `win_length`",
    )
    return half


def _frames(
    spectrum: Tensor, n_fft: int, half: bool, return_complex: bool, window: Tensor | None, normalized: bool
) -> Tensor:
    norm = "ortho" if normalized else None
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return ifft(spectrum, norm=norm)
    if window is not None and logical_dtype(window).kind == "c":
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not half:
        spectrum = TENSORS.slice_dim(spectrum, 2, 0, n_fft // 2 + 1, 1)
    return irfft(spectrum, n_fft, norm=norm)


def _overlap_added(frames: Tensor, window: Tensor | None, n_fft: int, hop: int) -> tuple[Tensor, Tensor]:
    """The windowed frames added up at their positions in the signal, and the squared windows likewise."""
    batch, count = tuple(frames._payload.shape)[:2]
    whole = n_fft + hop * (count - 1)
    if window is None:
        square = wrap(np.ones((), logical_dtype(frames)))
    else:
        frames = frames * window
        square = cast(window * window, logical_dtype(frames))
    signal = TENSORS.unfold_backward(frames, (batch, whole), 1, n_fft, hop)
    cover = TENSORS.unfold_backward(TENSORS.expand(square, (1, count, n_fft)), (1, whole), 1, n_fft, hop)
    return signal, cover

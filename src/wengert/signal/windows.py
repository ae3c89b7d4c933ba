"""Window functions as in ``scipy.signal.windows``: tensors of shape (M,), symmetric unless ``sym=False``.

Symmetric windows are for filters. With ``sym=False`` a window is periodic, for Fourier transforms: the first M points
of the symmetric window of M + 1 points. The dtype is float32 or float64.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import abs as abs_
from .. import arange, cos, empty, exp, i0, linspace, ones, sin, sqrt, tensor
from .. import sum as sum_
from .._base import dtypes
from .._base.dtypes import dtype as Dtype
from .._tape.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _window(one: bool, name: str | None = None) -> Callable[[Any], Callable[..., Tensor]]:
    """Decorator for ``formula(M, numbers, *, sym, ...)`` that adds the checks and arguments common to all windows.

    ``numbers(start, end)`` returns M equidistant numbers. ``one``: the window of one point is 1. ``name``: the window
    that errors are about, if it is another one.
    """

    def decorate(formula: Any) -> Any:
        @functools.wraps(formula)
        def form(
            M: int,
            *,
            sym: bool = True,
            dtype: Dtype | None = None,
            layout: Any = dtypes.strided,
            device: Any = None,
            requires_grad: bool = False,
            **kwargs: Any,
        ) -> Tensor:
            who = name or formula.__name__
            if dtype is None:
                dtype = dtypes.get_default_dtype()
            if M < 0:
                raise ValueError(f"{who} requires non-negative window length, got M={M}")
            if layout is not dtypes.strided:
                raise ValueError(f"{who} is implemented for strided tensors only, got: {layout}")
            if dtype not in (dtypes.float32, dtypes.float64):
                raise ValueError(f"{who} expects float32 or float64 dtypes, got: {dtype}")
            made = {"dtype": dtype, "device": device, "requires_grad": requires_grad}

            def numbers(start: float, end: float) -> Tensor:
                return linspace(start, end, M, **made)

            numbers.made = made
            values = formula(M, numbers, sym=sym, **kwargs)
            if M == 0:
                return empty((0,), **made)
            return ones((1,), **made) if M == 1 and one else values()

        form.__signature__ = _public_signature(formula, form)
        return form

    return decorate


def _public_signature(formula: Any, form: Any) -> inspect.Signature:
    """The formula's own parameters without ``numbers``, and those of all windows."""
    own = [p for p in inspect.signature(formula).parameters.values() if p.name not in ("numbers", "sym")]
    shared = inspect.signature(form, follow_wrapped=False).parameters.values()
    return inspect.Signature([*own, *(p for p in shared if p.kind is p.KEYWORD_ONLY)], return_annotation=Tensor)


def _period(M: int, sym: bool) -> int:
    """The number of steps from the first point to its mirror image."""
    return M - 1 if sym else M


@_window(one=False)
def exponential(M: int, numbers: Any, *, center: float | None = None, tau: float = 1.0, sym: bool) -> Any:
    """``exp(-abs(n - center) / tau)``; the center of a periodic window may be chosen.

    >>> import wengert as torch
    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    return lambda: exp(-abs_(numbers(-middle * (1 / tau), (-middle + (M - 1)) * (1 / tau))))


@_window(one=False)
def cosine(M: int, numbers: Any, *, sym: bool) -> Any:
    """``sin(pi (n + 1/2) / M)``: half a period, which ends before zero.

    >>> import wengert as torch
    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    step = math.pi / (M + 1 if not sym and M > 1 else max(M, 1))
    return lambda: sin(numbers(0.5 * step, (0.5 + (M - 1)) * step))


@_window(one=False)
def gaussian(M: int, numbers: Any, *, std: float = 1.0, sym: bool) -> Any:
    """``exp(-(n - (M - 1) / 2) ** 2 / (2 std ** 2))``.

    >>> import wengert as torch
    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    unit = 1 / (std * math.sqrt(2))
    return lambda: exp(-(numbers(start * unit, (start + (M - 1)) * unit) ** 2))


@_window(one=True)
def kaiser(M: int, numbers: Any, *, beta: float = 12.0, sym: bool) -> Any:
    """``i0(beta sqrt(1 - (2 n / (M - 1) - 1) ** 2)) / i0(beta)``, with the modified Bessel function of order 0.

    >>> import wengert as torch
    >>> torch.signal.windows.kaiser(3, beta=3.)
    tensor([0.2049, 1.0000, 0.2049])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def values() -> Tensor:
        made = numbers.made
        limit = tensor(beta, dtype=made["dtype"])
        end = min(limit.item(), tensor(-beta + (M - 1) * (2.0 * beta / _period(M, sym)), dtype=made["dtype"]).item())
        k = numbers(-beta, end)
        return i0(sqrt(beta * beta - k**2)) / i0(limit)

    return values


@_window(one=True)
def bartlett(M: int, numbers: Any, *, sym: bool) -> Any:
    """A triangle: ``1 - abs(2 n / (M - 1) - 1)``.

    >>> import wengert as torch
    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return lambda: 1 - abs_(numbers(-1, -1 + (M - 1) * (2 / _period(M, sym))))


@_window(one=True)
def general_cosine(M: int, numbers: Any, *, a: Iterable[Any], sym: bool) -> Any:
    """``sum_i (-1)^i a_i cos(2 pi i n / (M - 1))`` for the coefficients ``a``.

    >>> import wengert as torch
    >>> torch.signal.windows.general_cosine(3, a=[0.46, 0.23, 0.31])
    tensor([0.5400, 1.0000, 0.5400])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = list(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")

    def values() -> Tensor:
        made = numbers.made
        k = numbers(0, (M - 1) * (2 * math.pi / _period(M, sym)))
        signed = tensor([(-1) ** i * w for i, w in enumerate(coefficients)], **made)
        i = arange(len(coefficients), **made)
        return sum_(signed.unsqueeze(-1) * cos(i.unsqueeze(-1) * k), 0)

    return values


@_window(one=True, name="general_cosine")
def general_hamming(M: int, numbers: Any, *, alpha: float = 0.54, sym: bool) -> Any:
    """``alpha - (1 - alpha) cos(2 pi n / (M - 1))``.

    >>> import wengert as torch
    >>> torch.signal.windows.general_hamming(3, alpha=0.6)
    tensor([0.2000, 1.0000, 0.2000])
    """
    return lambda: general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **numbers.made)


@_window(one=True, name="general_cosine")
def hamming(M: int, numbers: Any, *, sym: bool) -> Any:
    """``0.54 - 0.46 cos(2 pi n / (M - 1))``.

    >>> import wengert as torch
    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return lambda: general_cosine(M, a=[0.54, 1.0 - 0.54], sym=sym, **numbers.made)


@_window(one=True, name="general_cosine")
def hann(M: int, numbers: Any, *, sym: bool) -> Any:
    """``0.5 - 0.5 cos(2 pi n / (M - 1))``.

    >>> import wengert as torch
    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return lambda: general_cosine(M, a=[0.5, 0.5], sym=sym, **numbers.made)


@_window(one=True)
def blackman(M: int, numbers: Any, *, sym: bool) -> Any:
    """``0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))``.

    >>> import wengert as torch
    >>> torch.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return lambda: general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **numbers.made)


@_window(one=True, name="general_cosine")
def nuttall(M: int, numbers: Any, *, sym: bool) -> Any:
    """The minimum 4-term Blackman-Harris window of Nuttall (1981).

    >>> import wengert as torch
    >>> torch.signal.windows.nuttall(5)[1:4]
    tensor([0.2270, 1.0000, 0.2270])
    """
    return lambda: general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **numbers.made)

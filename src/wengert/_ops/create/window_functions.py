"""Window functions under PyTorch's older names: ``hann_window``, ``hamming_window``, ``kaiser_window``, ...

They are periodic by default. The functions of ``torch.signal.windows`` are symmetric by default, and round differently.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays.scipy_functions import from_scipy
from ..._base import dtypes
from ..._base.dtypes import type_name
from ..._kinds.dims import not_a_bool
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import made, placed
from .makers import maker, options_of


def _window(
    name: str, formula: Callable[[Any, Any], Any], length: Any, periodic: bool, kwargs: dict[str, Any]
) -> Tensor:
    """``formula(n, last)`` for n = 0, ..., last, in the dtype of the result; a periodic window drops the last point."""
    asked = options_of(name, kwargs)
    dtype, device = asked.dtype or dtypes.default_dtype, asked.device
    if isinstance(length, (bool, float)) or not hasattr(length, "__index__"):
        raise TypeError(f"{name}(): argument 'window_length' (position 1) must be int, not {type_name(length)}")
    if type(periodic) is not bool:
        raise not_a_bool(name, "periodic", periodic)
    length = operator.index(length)
    if dtype.kind not in ("float", "complex"):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if dtype.is_complex and length > 1:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.scalar_name}'")
    if length < 2:
        return made(placed(np.ones(length, dtype.np), device), asked.requires_grad)
    n = np.arange(length + periodic).astype(dtype.np)
    return made(placed(formula(n, len(n) - 1)[:length].astype(dtype.np, copy=False), device), asked.requires_grad)


def _times(n: Any, factor: float) -> Any:
    return n * n.dtype.type(factor)


def _raised_cosine(alpha: float, beta: float) -> Callable[[Any, Any], Any]:
    return lambda n, last: _times(np.cos(_times(n, 2 * math.pi / last)), -beta) + n.dtype.type(alpha)


@maker("torch.hann_window")
def hann_window(window_length: int, periodic: bool = True, **kwargs: Any) -> Tensor:
    """The Hann window ``sin(pi n / N) ** 2``, of shape (window_length,).

    ``periodic``: one period for Fourier transforms, in which the first point follows the last; else symmetric.

    >>> torch.hann_window(4), torch.hann_window(3, periodic=False)
    (tensor([0.0000, 0.5000, 1.0000, 0.5000]), tensor([0., 1., 0.]))
    """

    return _window("hann_window", _raised_cosine(0.5, 0.5), window_length, periodic, kwargs)


@maker("torch.hamming_window")
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **kwargs: Any
) -> Tensor:
    """``alpha - beta * cos(2 pi n / N)``, of shape (window_length,). See ``hann_window``.

    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """

    return _window("hamming_window", _raised_cosine(alpha, beta), window_length, periodic, kwargs)


@maker("torch.blackman_window")
def blackman_window(window_length: int, periodic: bool = True, **kwargs: Any) -> Tensor:
    """``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``, of shape (window_length,). See ``hann_window``.

    >>> torch.blackman_window(5, periodic=False)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """

    def formula(n: Any, last: int) -> Any:
        angle = _times(n, math.pi / last)
        return _times(np.cos(_times(angle, 4)), 0.08) - _times(np.cos(_times(angle, 2)), 0.5) + n.dtype.type(0.42)

    return _window("blackman_window", formula, window_length, periodic, kwargs)


@maker("torch.bartlett_window")
def bartlett_window(window_length: int, periodic: bool = True, **kwargs: Any) -> Tensor:
    """A triangle: ``1 - abs(2 n / N - 1)``, of shape (window_length,). See ``hann_window``.

    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def formula(n: Any, last: int) -> Any:
        rising = _times(n, 2 / last)
        return np.where(np.arange(len(n)) <= last // 2, rising, n.dtype.type(2) - rising)

    return _window("bartlett_window", formula, window_length, periodic, kwargs)


@maker("torch.kaiser_window")
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **kwargs: Any) -> Tensor:
    """``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``, of shape (window_length,). See ``hann_window``.

    A larger ``beta`` gives a narrower window; i0 is the modified Bessel function of order 0.

    >>> torch.kaiser_window(5, periodic=False, beta=3.)
    tensor([0.2049, 0.7269, 1.0000, 0.7269, 0.2049])
    """

    def formula(n: Any, last: int) -> Any:
        i0 = from_scipy("special").i0

        x = _times(n, 2 / last).astype(np.float64) - 1
        return i0(beta * np.sqrt(np.maximum(1 - x * x, 0))) / i0(beta)

    return _window("kaiser_window", formula, window_length, periodic, kwargs)

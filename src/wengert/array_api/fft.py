"""The standard's extension ``fft``: PyTorch's functions with ``axis`` and ``axes`` for ``dim``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ._dtypes import lent

_ALONG_ONE = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")
_ALONG_MANY = ("fftn", "ifftn", "irfftn", "rfftn")
_SHIFTS = ("fftshift", "ifftshift")
_SAME = ("fftfreq", "rfftfreq")


def _along_one(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def of_one(x: torch.Tensor, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> torch.Tensor:
        return function(x, n, axis, norm)

    return lent(of_one, name, f"``torch.fft.{name}`` along an axis.", function)


def _along_many(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def of_many(x: torch.Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> torch.Tensor:
        return function(x, s, axes, norm)

    return lent(of_many, name, f"``torch.fft.{name}`` along axes.", function)


def _shift(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def shift(x: torch.Tensor, /, *, axes: Any = None) -> torch.Tensor:
        return function(x, axes)

    return lent(shift, name, f"``torch.fft.{name}`` along axes.", function)


globals().update({name: getattr(torch.fft, name) for name in _SAME})
for _names, _make in ((_ALONG_ONE, _along_one), (_ALONG_MANY, _along_many), (_SHIFTS, _shift)):
    globals().update({name: _make(name, getattr(torch.fft, name)) for name in _names})
globals()["__all__"] = [*_ALONG_ONE, *_ALONG_MANY, *_SHIFTS, *_SAME]

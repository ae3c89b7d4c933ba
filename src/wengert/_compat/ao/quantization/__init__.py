"""``torch.ao.quantization``: modules that mark where integers would begin and end. There are no quantised tensors.

>>> import wengert as torch
>>> from wengert.ao.quantization import DeQuantStub, QuantStub
>>> torch.nn.Sequential(QuantStub(), torch.nn.ReLU(), DeQuantStub())(torch.tensor([-1., 1.]))
tensor([0., 1.])
"""

from __future__ import annotations

from typing import Any

from wengert.nn.modules.module import Module

from ..._absent import dummy, refusing

_MESSAGE = "torch.ao.quantization.{}: wengert has no quantised tensors"
_REFUSED = (
    "convert", "fuse_modules", "get_default_qat_qconfig", "get_default_qconfig", "prepare", "prepare_qat", "quantize",
    "quantize_dynamic", "quantize_qat",
)  # fmt: skip
_CLASSES = ("HistogramObserver", "MinMaxObserver", "PerChannelMinMaxObserver", "QConfig")

__all__ = ["DeQuantStub", "QuantStub", *_CLASSES, *_REFUSED]  # noqa: PLE0604


class QuantStub(Module):
    """Where a quantised model's integers begin; before that a model passes through as it is."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """``x``."""
        return x


class DeQuantStub(QuantStub):
    """Where a quantised model's integers end; before that a model passes through as it is."""


globals().update({name: refusing(name, NotImplementedError, _MESSAGE.format(name)) for name in _REFUSED})
globals().update({name: dummy(name) for name in _CLASSES})

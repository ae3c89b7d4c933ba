"""``torch.ao.quantization``: modules that mark the beginning and end of quantisation. wengert has no quantised tensors.

>>> import wengert as torch
>>> from wengert.ao.quantization import DeQuantStub, QuantStub
>>> torch.nn.Sequential(QuantStub(), torch.nn.ReLU(), DeQuantStub())(torch.tensor([-1., 1.]))
tensor([0., 1.])
"""

from __future__ import annotations

from typing import Any

from wengert._compat import open_rows
from wengert.nn.modules.module import Module

__all__ = ["DeQuantStub", "QuantStub"]


class QuantStub(Module):
    """Marks the beginning of the integers of a quantised model; returns its input unchanged."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """``x``."""
        return x


class DeQuantStub(QuantStub):
    """Marks the end of the integers of a quantised model; returns its input unchanged."""


open_rows(globals())

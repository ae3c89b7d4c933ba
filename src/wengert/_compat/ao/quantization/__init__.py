"""``torch.ao.quantization``: modules that mark where integers would begin and end. There are no quantised tensors.

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


open_rows(globals())

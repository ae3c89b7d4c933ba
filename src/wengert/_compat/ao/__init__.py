"""``torch.ao``: only the modules that mark the beginning and the end of quantisation in a model."""

from __future__ import annotations

from . import quantization as quantization

__all__ = ["quantization"]

"""``torch.backends.quantized``: there are no quantized tensors here."""

from __future__ import annotations

__all__ = ["engine", "supported_engines"]

engine = "none"
supported_engines = ["none"]

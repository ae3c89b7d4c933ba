"""``torch.ao``: of PyTorch's quantisation, the places where it would begin and end in a model."""

from __future__ import annotations

from . import quantization as quantization

__all__ = ["quantization"]

"""``torch._custom_ops``, the first form of ``torch.library``, which programs only import."""

from __future__ import annotations

from wengert.library import custom_op

__all__ = ["custom_op"]

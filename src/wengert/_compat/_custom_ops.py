"""``torch._custom_ops``, the first form of ``torch.library``; to import it is all that programs still do."""

from __future__ import annotations

from wengert.library import custom_op

__all__ = ["custom_op"]

"""``OptimizedModule``, by which programs ask whether a module is compiled."""

from __future__ import annotations

__all__ = ["OptimizedModule"]


class OptimizedModule:
    """What PyTorch wraps a compiled module in. ``torch.compile`` returns the module itself here: nothing is one."""

"""Neural networks: ``torch.nn``. The functions of ``torch.nn.functional`` are in ``functional``."""

from . import functional

__all__ = ["functional"]

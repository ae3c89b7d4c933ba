"""``torch.signal``: window functions for the analysis of signals, in ``torch.signal.windows``."""

from . import windows

__all__ = ["windows"]

"""``torch.ao.quantization.qconfig``: names for ``isinstance``; see ``torch.ao.quantization``."""

from . import QConfig

__all__ = ["QConfig"]

"""``torch.quantization.qconfig``: names for ``isinstance``; see ``torch.ao.quantization``."""

from ..ao.quantization import QConfig

__all__ = ["QConfig"]

"""``torch.ao``: only the modules that mark the beginning and the end of quantisation in a model."""

from . import quantization as quantization

__all__ = ["quantization"]

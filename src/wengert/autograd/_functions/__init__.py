"""Custom functions that old programs import from ``torch.autograd._functions``."""

from .tensor import Resize, Type

__all__ = ["Resize", "Type"]

"""``torch.fx.experimental.proxy_tensor``: whether PyTorch's tracer is at work. It never is.

>>> from wengert.fx.experimental.proxy_tensor import get_proxy_mode
>>> get_proxy_mode() is None
True
"""

from __future__ import annotations

__all__ = ["get_proxy_mode"]


def get_proxy_mode() -> None:
    """``None``: nothing is being traced."""

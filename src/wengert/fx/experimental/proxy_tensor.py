"""``torch.fx.experimental.proxy_tensor``: the query whether PyTorch's tracer is running, which it never is.

>>> from wengert.fx.experimental.proxy_tensor import get_proxy_mode
>>> get_proxy_mode() is None
True
"""

from __future__ import annotations

__all__ = ["get_proxy_mode"]


def get_proxy_mode() -> None:
    """``None``, since nothing is traced."""

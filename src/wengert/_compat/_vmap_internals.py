"""``torch._vmap_internals``, where libraries found ``vmap`` before it was public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.func import vmap

__all__ = ["vmap"]


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """``torch.vmap``."""
    return vmap(func, in_dims, out_dims)

"""``vmap``; see ``torch.func``."""

from ..func import vmap

__all__ = ["vmap"]

"""``vmap``; see ``torch.func``."""

from wengert.func import vmap

__all__ = ["vmap"]

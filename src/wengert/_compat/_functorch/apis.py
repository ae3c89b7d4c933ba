"""``vmap``, ``grad`` and ``grad_and_value``; see ``torch.func``."""

from wengert.func import grad, grad_and_value, vmap

__all__ = ["grad", "grad_and_value", "vmap"]

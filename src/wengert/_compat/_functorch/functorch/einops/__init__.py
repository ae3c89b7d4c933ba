"""``functorch.einops``: ``rearrange``, which orders, splits and joins dims by their names in a pattern."""

from .rearrange import rearrange as rearrange

__all__ = ["rearrange"]

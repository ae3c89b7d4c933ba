"""``torch.distributed.algorithms``: uneven inputs (``join``), communication hooks, averages of models."""

from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

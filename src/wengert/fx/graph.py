"""``torch.fx.graph``: names that libraries import; see ``torch.fx``."""

from . import Graph

__all__ = ["Graph"]

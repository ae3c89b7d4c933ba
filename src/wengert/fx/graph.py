"""``torch.fx.graph``: what libraries import of it; see ``torch.fx``."""

from . import Graph

__all__ = ["Graph"]

"""``torch.fx.proxy``: what libraries import of it; see ``torch.fx``."""

from . import Proxy, Tracer

__all__ = ["Proxy", "TracerBase"]

TracerBase = Tracer

"""``torch.fx.proxy``: names that libraries import; see ``torch.fx``."""

from . import Proxy, Tracer

__all__ = ["Proxy", "TracerBase"]

TracerBase = Tracer

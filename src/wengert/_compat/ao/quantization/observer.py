"""``torch.ao.quantization.observer``: names for ``isinstance``; see ``torch.ao.quantization``."""

from . import HistogramObserver, MinMaxObserver, PerChannelMinMaxObserver

__all__ = ["HistogramObserver", "MinMaxObserver", "PerChannelMinMaxObserver"]

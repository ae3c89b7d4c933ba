"""``torch.quantization.observer``: names for ``isinstance``; see ``torch.ao.quantization``."""

from ..ao.quantization import HistogramObserver, MinMaxObserver, PerChannelMinMaxObserver

__all__ = ["HistogramObserver", "MinMaxObserver", "PerChannelMinMaxObserver"]

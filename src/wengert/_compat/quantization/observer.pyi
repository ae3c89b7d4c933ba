# Made by tools/make_stubs.py; do not edit.
from ..._compat.ao.quantization import HistogramObserver as HistogramObserver
from ..._compat.ao.quantization import MinMaxObserver as MinMaxObserver
from ..._compat.ao.quantization import PerChannelMinMaxObserver as PerChannelMinMaxObserver

__all__ = [
    "HistogramObserver",
    "MinMaxObserver",
    "PerChannelMinMaxObserver",
]

# Made by tools/make_stubs.py; do not edit.
from ...._compat.ao.quantization import HistogramObserver as HistogramObserver, MinMaxObserver as MinMaxObserver, PerChannelMinMaxObserver as PerChannelMinMaxObserver

# Made by tools/make_stubs.py; do not edit.
from typing import Any
from ..._compat.ao.quantization import DeQuantStub as DeQuantStub, FakeQuantizeBase as FakeQuantizeBase, HistogramObserver as HistogramObserver, MinMaxObserver as MinMaxObserver, ObserverBase as ObserverBase, PerChannelMinMaxObserver as PerChannelMinMaxObserver, QConfig as QConfig, QuantStub as QuantStub
from ..._compat.quantization import observer as observer, qconfig as qconfig
def convert(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def fuse_modules(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def get_default_qat_qconfig(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def get_default_qconfig(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def prepare(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def prepare_qat(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def quantize(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def quantize_dynamic(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""
def quantize_qat(*args: Any, **kwargs: Any) -> Any:
    """Not possible here: NotImplementedError."""

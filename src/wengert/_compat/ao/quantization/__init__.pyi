# Made by tools/make_stubs.py; do not edit.
from typing import Any
from wengert._compat import open_rows
from wengert.nn.modules.module import Module
class QuantStub(Module):
    """Marks the beginning of the integers of a quantised model; returns its input unchanged."""

    def __init__(self, qconfig: Any=None) -> None:
        ...

    def forward(self, x: Any) -> Any:
        ...
class DeQuantStub(QuantStub):
    """Marks the end of the integers of a quantised model; returns its input unchanged."""
class FakeQuantizeBase(Any): ...
class HistogramObserver(Any): ...
class MinMaxObserver(Any): ...
class ObserverBase(Any): ...
class PerChannelMinMaxObserver(Any): ...
class QConfig(Any): ...
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

"""``torch.onnx``: models written as ONNX, which other programs run. It needs the package ``onnx``.

>>> import wengert as torch
>>> torch.onnx.is_in_onnx_export()
False
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from .._compat import open_rows
from ._errors import OnnxExporterError, UnsupportedOperatorError

__all__ = [
    "ONNXProgram", "OnnxExporterError", "OperatorExportTypes", "TrainingMode", "UnsupportedOperatorError",
    "dynamo_export", "export", "is_in_onnx_export", "is_onnxrt_backend_supported", "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]  # fmt: skip


class TrainingMode(Enum):
    """What programs give the exporter as ``training=``, which has no effect: models are written in evaluation mode."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(Enum):
    """What programs give the exporter as ``operator_export_type=``, which has no effect."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


def is_in_onnx_export() -> bool:
    """False."""
    return False


def is_onnxrt_backend_supported() -> bool:
    """False."""
    return False


def __getattr__(name: str) -> Any:
    if name in ("ONNXProgram", "export"):
        from . import _exporting

        return getattr(_exporting, name)
    if name == "dynamo_export":
        from ._exporting import export

        return export
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Does nothing: operators' forms are declared inside of this package."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Does nothing."""


open_rows(globals())

"""``torch.onnx``: export raises an error; the query whether an export is running returns False.

>>> import wengert as torch
>>> torch.onnx.is_in_onnx_export()
False
"""

from __future__ import annotations

from typing import Any

from .._base.errors import noted
from .._compat import open_rows

__all__ = [
    "OnnxExporterError", "dynamo_export", "export", "is_in_onnx_export", "is_onnxrt_backend_supported",
    "register_custom_op_symbolic", "unregister_custom_op_symbolic",
]  # fmt: skip


class OnnxExporterError(RuntimeError):
    """Raised if a model cannot be exported."""


def is_in_onnx_export() -> bool:
    """False."""
    return False


def is_onnxrt_backend_supported() -> bool:
    """False."""
    return False


def export(*args: Any, **kwargs: Any) -> Any:
    """Export a model, which wengert does not support.

    Raises:
        OnnxExporterError: always.
    """
    raise noted(
        OnnxExporterError("torch.onnx.export: wengert cannot export models"),
        "Why: ONNX files are made from a compiled program, which wengert does not have.",
        "What to do: torch.save(model.state_dict(), path), load it in PyTorch, and export there.",
    )


dynamo_export = export


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Does nothing, since there is no export."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing: there is no export that it would serve."""


open_rows(globals())

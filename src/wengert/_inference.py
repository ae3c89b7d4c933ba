"""Tensors made under ``inference_mode``: they may be computed with, but never be saved for a backward pass.

Such a tensor's version cell is an ``InferenceCell``, which its views and aliases share. Its sequence number is later
than every node's, so a formula that asks for such a saved value gets to the error here, and nobody else pays for it.
(PyTorch raises it when the value is saved, and also refuses to write to such a tensor outside of the mode; here that is
allowed, for no backward pass can depend on it.)
"""

from __future__ import annotations

from typing import Any

from ._errors import noted
from ._modes import is_inference_mode_enabled
from ._node import Cell, box_of, view_of
from ._tensor import Tensor


class InferenceCell(Cell):
    """The version cell of a tensor made in inference mode, which counts nothing."""

    __slots__ = ()

    @property
    def seq(self) -> Any:  # type: ignore[override]
        """Later than every node."""
        return float("inf")

    @seq.setter
    def seq(self, value: Any) -> None:
        """Writes are not counted."""

    @property
    def version(self) -> int:  # type: ignore[override]
        """There are no versions."""
        return 0

    @version.setter
    def version(self, value: int) -> None:
        """Writes are not counted."""


def mark(t: Tensor) -> Tensor:
    """Make a new tensor one of inference mode."""
    box_of(t).cell = InferenceCell()
    return t


def mark_if_on(t: Tensor) -> Tensor:
    """The same for a tensor that was just made, if the mode is on."""
    return mark(t) if is_inference_mode_enabled() else t


def mark_results(info: Any, result: Any) -> Any:
    """Mark what an operator made in the mode; a view is what its base is."""
    if not info.view:
        for t in result if isinstance(result, (tuple, list)) else (result,):
            mark(t)
    return result


def is_inference(t: Tensor) -> bool:
    """Whether a tensor was made in inference mode, or is a view of such."""
    while True:
        box = t._m
        if box is not None and box.cell is not None:
            return isinstance(box.cell, InferenceCell)
        view = view_of(t)
        if view is None:
            return False
        t = view[0]


def not_saved() -> RuntimeError:
    """The error of a formula that needs such a tensor."""
    return noted(
        RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    )

"""Tensors made under ``inference_mode``: they may be computed with, but never be saved for a backward pass.

Such a tensor's version cell is an ``InferenceCell``, which its views and aliases share. Its sequence number is later
than every node's, so a formula that asks for such a saved value gets to the error here, and nobody else pays for it.
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

    def __init__(self) -> None:
        self.seq = float("inf")  # type: ignore[assignment]
        self.rebased = 0
        self.writes = []
        self.code = None
        self.lasti = 0

    @property
    def version(self) -> int:  # type: ignore[override]
        """Raises RuntimeError, as in PyTorch."""
        raise RuntimeError("Inference tensors do not track version counter.")

    def write(self, seq: int, code: Any = None, lasti: int = 0) -> None:
        """Not counted."""

    def version_at(self, seq: int) -> int:
        """There are no versions."""
        return 0


def mark(t: Tensor) -> Tensor:
    """Make a new tensor one of inference mode."""
    box_of(t).cell = InferenceCell()
    return t


def mark_if_on(t: Tensor) -> Tensor:
    """The same for a tensor that was just made, if the mode is on."""
    return mark(t) if is_inference_mode_enabled() else t


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
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
            "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    )


def check_write() -> None:
    """Refuse to write to such a tensor outside of the mode."""
    if not is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
            "tensor before doing inplace update. See https://github.com/pytorch/rfcs/pull/17 for more details."
        )

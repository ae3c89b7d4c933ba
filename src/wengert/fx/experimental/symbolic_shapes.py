"""The error of a program whose branches depend on the values of tensors. There are no symbolic shapes."""

from __future__ import annotations

__all__ = ["GuardOnDataDependentSymNode"]


class GuardOnDataDependentSymNode(RuntimeError):
    """An exported program takes a number out of a tensor that depends on its inputs."""

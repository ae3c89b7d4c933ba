"""``torch.autograd.grad_mode``: context managers for recording."""

from __future__ import annotations

from typing import Any

from .._base.grad_mode import ContextDecorator as _DecoratorContextManager  # noqa: F401  imported from here by this name
from .._base.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tape.node import version_of
from .._tape.tensor import Tensor

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


class set_multithreading_enabled:
    """Set whether backward passes may use several threads. wengert's passes always run in the calling thread.

    It exists for programs that turn multithreading off. It acts immediately and as a context manager, as in PyTorch.
    """

    def __init__(self, mode: bool) -> None:
        global _multithreading
        self.prev = _multithreading
        self.mode = mode
        _multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        global _multithreading
        _multithreading = self.prev

    def clone(self) -> set_multithreading_enabled:
        """A new context manager with the same setting."""
        return type(self)(self.mode)


_multithreading = True


def is_multithreading_enabled() -> bool:
    """The current setting; see ``set_multithreading_enabled``."""
    return _multithreading


class _unsafe_preserve_version_counter:
    """A context that does not count writes in place: it restores the tensors' versions at its end.

    It is unsafe: a node that saved such a tensor does not notice that it was overwritten.
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors

    def __enter__(self) -> None:
        cells = [version_of(t) for t in self.tensors]
        self._before = [(cell, cell.version, cell.seq) for cell in cells]

    def __exit__(self, *exc: Any) -> None:
        for cell, version, seq in self._before:
            cell.version = version
            cell.seq = seq

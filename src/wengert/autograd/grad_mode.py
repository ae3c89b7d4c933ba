"""``torch.autograd.grad_mode``: context managers for recording."""

from __future__ import annotations

from typing import Any

from .._base.grad_mode import ContextDecorator as _DecoratorContextManager
from .._base.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tape import view_chain
from .._tape.delivery import free_layouts
from .._tape.node import version_of
from .._tape.tensor import Tensor

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class Setting(_DecoratorContextManager):
    """Base of settings of the program: changed at once, and back at the end of a ``with`` block or of a function."""

    value = True

    def __init__(self, mode: bool) -> None:
        kind = type(self)
        self.prev, self.mode, kind.value = kind.value, mode, mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        type(self).value = self.prev

    def clone(self) -> Any:
        """A new context manager with the same setting."""
        return type(self)(self.mode)


class set_multithreading_enabled(Setting):
    """Set whether backward passes may use several threads. wengert's passes always run in the calling thread.

    It exists for programs that turn multithreading off. It acts immediately and as a context manager, as in PyTorch.
    """


def is_multithreading_enabled() -> bool:
    """The current setting; see ``set_multithreading_enabled``."""
    return set_multithreading_enabled.value


class _Told(Setting):
    """Base of settings that a list of a module below tells: it is empty while the setting is the usual one."""

    told: list[bool]
    usual: bool

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._tell(mode)

    def __call__(self, fn: Any) -> Any:
        self.__exit__()  # only calls of the function have the setting
        return super().__call__(fn)

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        self._tell(self.prev)

    def _tell(self, mode: bool) -> None:
        self.told[:] = [True] * (mode is not self.usual)


class enforce_grad_layout_policy(_Told):
    """Set whether a new ``.grad`` lies in memory as its leaf does, if that is dense, else in rows.

    Where it need not, the gradient is not copied into that order. It acts immediately, as a context manager and as a
    decorator.

    >>> import wengert as torch
    >>> x = torch.ones(3, 2).t().requires_grad_()
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     (x * torch.ones(2, 3)).sum().backward()
    >>> x.grad.stride()
    (3, 1)
    """

    told, usual = free_layouts, True

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


def _is_grad_layout_enforcement_enabled() -> bool:
    return enforce_grad_layout_policy.value


class _force_original_view_tracking(_Told):
    """Set whether the node of a view that was written in place is named after the view's operator.

    In PyTorch it then replays the view's operators, which wengert's nodes always do. It acts immediately and as a
    context manager.
    """

    told, usual, value = view_chain.named_by_operator, False, False


def is_view_replay_enabled() -> bool:
    """The current setting; see ``_force_original_view_tracking``."""
    return _force_original_view_tracking.value


class _unsafe_preserve_version_counter:
    """A context that does not count writes in place: it restores the tensors' versions at its end.

    It is unsafe: a node that saved such a tensor does not notice that it was overwritten.
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors

    def __enter__(self) -> None:
        cells = [version_of(t) for t in self.tensors]
        self._before = [(cell, cell.version, cell._seq) for cell in cells]

    def __exit__(self, *exc: Any) -> None:
        for cell, version, seq in self._before:
            cell.version = version
            cell._seq = seq

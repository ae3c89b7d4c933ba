"""``torch.utils.hooks``: handles of hooks, and helpers for module hooks."""

from __future__ import annotations

from typing import Any, TypeVar

from .._base.errors import warn
from .._tape.node import AccumulateGrad, RemovableHandle
from .._tape.tensor import Tensor
from ..nn.modules._handles import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

F = TypeVar("F")


def unserializable_hook(f: F) -> F:
    """Decorator of a hook that is known not to be saved with its tensor: ``warn_if_has_hooks`` is silent about it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """Warn of each hook that a leaf has, as hooks are not saved with it."""
    fn = tensor._node
    if type(fn) is not AccumulateGrad or fn._hooks is None:
        return
    hooks: dict[int, Any] = fn._hooks.tensor_pre or {}
    for hook in hooks.values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
            )

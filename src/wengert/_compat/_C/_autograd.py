"""``torch._C._autograd``: the stack of saved-tensor hooks, and the profiler's types."""

from __future__ import annotations

from typing import Any

from wengert._base.modes import MODE, replaced, saved_tensors_hooks
from wengert._tape.saved_hooks import SavedTensor
from wengert.autograd.graph import DISABLED
from wengert.autograd.profiler_util import DeviceType

__all__ = ["DeviceType", "SavedTensor"]


def _push_saved_tensors_default_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    """Push a pair of saved-tensor hooks, which apply until they are popped."""
    message = DISABLED.get()
    if message is not None:
        raise RuntimeError(message)
    MODE.set(replaced(hooks=(*(saved_tensors_hooks() or ()), (pack_hook, unpack_hook))))


def _pop_saved_tensors_default_hooks() -> None:
    """Remove the innermost pair."""
    MODE.set(replaced(hooks=tuple(saved_tensors_hooks() or ())[:-1] or None))


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool = False) -> Any:
    """The innermost pair, or ``None``."""
    hooks = saved_tensors_hooks()
    return hooks[-1] if hooks and DISABLED.get() is None else None


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether saved-tensor hooks are allowed."""
    return DISABLED.get() is None


def _saved_tensors_hooks_disable(error_message: str) -> None:
    """Make saved-tensor hooks raise an error with this message."""
    DISABLED.set(error_message)


def _saved_tensors_hooks_enable() -> None:
    """Take them again."""
    DISABLED.set(None)

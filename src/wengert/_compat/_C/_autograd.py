"""What programs use of ``torch._C._autograd``: the stack of hooks on saved tensors, and the profiler's types."""

from __future__ import annotations

from typing import Any

from wengert._base.modes import MODE, changed, saved_tensors_hooks
from wengert._tape.saved_hooks import SavedTensor
from wengert.autograd.graph import DISABLED
from wengert.autograd.profiler_util import DeviceType

__all__ = ["DeviceType", "SavedTensor"]


def _push_saved_tensors_default_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    """From now on what nodes save goes through these, until they are popped."""
    message = DISABLED.get()
    if message is not None:
        raise RuntimeError(message)
    MODE.set(changed(hooks=(*(saved_tensors_hooks() or ()), (pack_hook, unpack_hook))))


def _pop_saved_tensors_default_hooks() -> None:
    """Take the innermost pair away."""
    MODE.set(changed(hooks=tuple(saved_tensors_hooks() or ())[:-1] or None))


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool = False) -> Any:
    """The innermost pair, or ``None``."""
    hooks = saved_tensors_hooks()
    return hooks[-1] if hooks and DISABLED.get() is None else None


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether such hooks may be used."""
    return DISABLED.get() is None


def _saved_tensors_hooks_disable(error_message: str) -> None:
    """Refuse them from now on, with this message."""
    DISABLED.set(error_message)


def _saved_tensors_hooks_enable() -> None:
    """Take them again."""
    DISABLED.set(None)

"""``torch._C._autograd``: the stack of saved-tensor hooks, and the profiler's types."""

from __future__ import annotations

from typing import Any

from wengert._base.modes import saved_tensors_hooks
from wengert._tape.engine import current_pass
from wengert._tape.node import version_of
from wengert._tape.saved_hooks import SavedTensor
from wengert._tape.saved_hooks import make_saved_tensor as _make_saved_tensor
from wengert._tape.tensor import Tensor
from wengert.autograd.graph import DISABLED
from wengert.autograd.graph import pop_hooks as _pop_saved_tensors_default_hooks
from wengert.autograd.graph import push_hooks as _push_saved_tensors_default_hooks
from wengert.autograd.profiler_util import DeviceType

__all__ = [
    "DeviceType",
    "SavedTensor",
    "_make_saved_tensor",
    "_pop_saved_tensors_default_hooks",
    "_push_saved_tensors_default_hooks",
]


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


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the running backward pass keeps the graph; True outside of one."""
    now = current_pass()
    return True if now is None else now.keep


def _unsafe_set_version_counter(tensors: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Set the numbers of writes that tensors count; nodes that saved one do not notice."""
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError("Cannot set a version_counter to a value below 0: " + str(version))
        version_of(tensor).version = version

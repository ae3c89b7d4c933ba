"""Helpers of ``weight_norm`` and ``spectral_norm``, in their old form as hooks and as parametrizations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import UninitializedParameter


def output_dim(module: Any) -> int:
    """The dimension of a layer's weight that belongs to its outputs."""
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def check_iterations(count: int) -> None:
    """Raise an error unless the number of power iterations is positive."""
    if count <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={count}")


def key_of_hook(hooks: Mapping[int, Any], kind: type, name: str) -> int | None:
    """The key of the hook of this class for the tensor ``name``."""
    for key, hook in hooks.items():
        hook = getattr(hook, "hook", hook)
        if isinstance(hook, kind) and getattr(hook, "fn", hook).name == name:
            return key
    return None


def check_weight(module: Any, name: str, weight: Any, kind: type, adjective: str) -> None:
    """Raise an error for a weight that already has such a hook, or that has no shape yet."""
    if key_of_hook(module._forward_pre_hooks, kind, name) is not None:
        raise RuntimeError(f"Cannot register two {adjective}_norm hooks on the same parameter {name}")
    if isinstance(weight, UninitializedParameter):
        raise ValueError(
            f"The module passed to `{kind.__name__}` can't have uninitialized parameters. Make sure to run the dummy "
            f"forward before applying {adjective} normalization"
        )


def take_away(module: Any, name: str, kind: Any, adjective: str) -> None:
    """Let the hook restore an ordinary parameter, and unregister it."""
    hooks = module._forward_pre_hooks
    key = key_of_hook(hooks, kind, name)
    if key is None:
        raise ValueError(f"{adjective}_norm of '{name}' not found in {module}")
    hooks[key].remove(module)
    del hooks[key]

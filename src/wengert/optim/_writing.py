"""Helpers that optimizers written for PyTorch import from ``torch.optim.optimizer`` besides ``Optimizer``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._base.grad_mode import set_grad_enabled
from .._base.registry import PUBLIC
from .._tape.tensor import Tensor
from ..utils._foreach_utils import (
    _get_foreach_kernels_supported_devices,
    _get_fused_kernels_supported_devices,
    _group_tensors_by_device_and_dtype,
)

__all__ = [
    "_default_to_fused_or_foreach", "_disable_dynamo_if_unsupported", "_get_capturable_supported_devices", "_get_value",
    "_group_tensors_by_device_and_dtype", "_stack_if_compiling", "_use_grad_for_differentiable", "_view_as_real",
]  # fmt: skip


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A ``step`` that records only if the optimizer was made with ``differentiable=True``."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(bool(self.defaults["differentiable"])):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    """The value of a tensor with one element; a number is returned unchanged."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """The list itself, since nothing is compiled."""
    return x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Replace complex parameters and their states, in the lists, by real views with a last dimension of two."""
    view = PUBLIC["torch"]["view_as_real"]
    for i, param in enumerate(params):
        if param.is_complex():
            for values in (params, *state_and_grads):
                values[i] = view(values[i])


def _default_to_fused_or_foreach(params: list[Any], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """PyTorch's default choice of kernels: ``(fused, foreach)``."""
    if differentiable:
        return False, False

    from ..nn.parameter import Parameter

    plain = (Tensor, Parameter)

    def all_on(devices: list[str], floating: bool) -> bool:
        given = [p for p in params if p is not None]
        return all(
            type(p) in plain and p.device.type in devices and (p.is_floating_point() or not floating) for p in given
        )

    fused = use_fused and all_on(_get_fused_kernels_supported_devices(), True)
    return fused, not fused and all_on(_get_foreach_kernels_supported_devices(), False)


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices that support ``capturable=True``; wengert has none of them."""
    return ["cuda", "xpu", "hpu", "privateuseone"] + ["xla"] * supports_xla


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """A decorator that returns the function unchanged, since nothing is compiled."""
    return lambda func: func

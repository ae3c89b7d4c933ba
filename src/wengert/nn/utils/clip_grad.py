"""Clipping of gradients in place, by norm (Pascanu et al. 2013) and by value."""

from __future__ import annotations

import types
from collections.abc import Iterable
from sys import _getframe as getframe
from typing import Any

import numpy as np

import wengert as torch

from ..._arrays.library import lib
from ..._base.errors import warn
from ..._base.grad_mode import no_grad
from ..._base.modes import slow_always
from ..._tape.tensor import Tensor, wrap
from ..._tape.unrecorded import no_grad_views
from ..._tape.views import count_write_at

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _grads(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors, as if they were concatenated to one vector."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return torch.tensor(0.0)
    norms = [torch.linalg.vector_norm(t, norm_type) for t in tensors]
    total = torch.linalg.vector_norm(torch.stack(norms), norm_type)
    if error_if_nonfinite and bool(total.isnan() | total.isinf()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply all gradients by ``max_norm / total_norm`` if that is less than 1."""
    grads = _grads(parameters)
    if grads:
        factor = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of all parameters in place to a total norm of at most ``max_norm``; return the norm before.

    >>> import wengert as torch
    >>> p = torch.nn.Parameter(torch.zeros(2))
    >>> p.grad = torch.tensor([3., 4.])
    >>> torch.nn.utils.clip_grad_norm_([p], 1.0), p.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        generated = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generated and not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    grads = _grads(parameters)
    arrays = _arrays(grads) if norm_type == 2 and not error_if_nonfinite else None
    if arrays is not None:
        return _shortened(grads, arrays, float(max_norm), getframe(1))
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def _arrays(tensors: list[Tensor]) -> list[np.ndarray] | None:
    """The arrays of tensors of one floating dtype that nothing watches; ``None`` if some are otherwise."""
    if slow_always or no_grad_views or not tensors:
        return None
    arrays = [
        t._payload
        for t in tensors
        if type(t) is Tensor and t._node is None and type(t._payload) is np.ndarray and t._payload.flags.writeable
    ]
    if len(arrays) < len(tensors):
        return None
    first = arrays[0].dtype
    return arrays if first in _DTYPES and all(a.dtype is first for a in arrays) else None


def _shortened(grads: list[Tensor], arrays: list[np.ndarray], max_norm: float, frame: Any) -> Tensor:
    """``clip_grad_norm_`` on arrays, with the same rounding; return the norm before."""
    with np.errstate(all="ignore"):
        from ..._ops.reduce.norms import vector_norm_over

        norms = np.array([vector_norm_over(lib, a, 2, tuple(range(a.ndim)), False) for a in arrays], arrays[0].dtype)
        total = vector_norm_over(lib, norms, 2, (0,), False)
        factor = np.minimum(np.reciprocal(total + 1e-6) * max_norm, total.dtype.type(1))  # the division of Tensors
        for grad, a in zip(grads, arrays, strict=True):
            np.multiply(a, factor, a)
            count_write_at(grad, frame)
    return wrap(total)


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The name of ``clip_grad_norm_`` until PyTorch 0.3; deprecated."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clip each element of the gradients to ``[-clip_value, clip_value]``, in place."""
    limit = float(clip_value)
    grads = _grads(parameters)
    arrays = _arrays(grads) if limit >= 0 else None
    if arrays is None:
        with no_grad():
            for grad in grads:
                grad.clamp_(min=-limit, max=limit)
        return
    frame = getframe(1)
    for grad, a in zip(grads, arrays, strict=True):
        np.maximum(a, -limit, out=a)
        np.minimum(a, limit, out=a)
        count_write_at(grad, frame)


_get_total_norm: Any = get_total_norm
_clip_grads_with_norm_: Any = clip_grads_with_norm_

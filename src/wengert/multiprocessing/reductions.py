"""Pickling of tensors for other processes.

A tensor in shared memory is sent as the descriptor of the memory, other tensors as copies. History cannot be sent, so
a tensor with a history raises an error.
"""

from __future__ import annotations

from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np

from .._arrays.memory import address_of
from .._arrays.shared_memory import SharedMemory
from .._base.errors import noted
from .._tape.tensor import Tensor
from .._tensor_api.copying import rebuild
from .._tensor_api.storage import memory_root

__all__ = ["init_reductions", "reduce_tensor"]


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """The function and arguments with which pickle rebuilds the tensor in another process.

    Raises:
        RuntimeError: the tensor requires grad and is not a leaf.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise noted(
            RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            ),
            f"Why: it was made by {tensor.grad_fn.name()}, and its history stays in this process.",
        )
    a = tensor._payload
    root = memory_root(a) if isinstance(a, np.ndarray) else None
    if not isinstance(root, SharedMemory):
        return tensor.__reduce_ex__(5)
    place = address_of(a) - address_of(np.frombuffer(root, np.uint8))
    _, (kind, _, requires_grad), *attributes = tensor.__reduce_ex__(5)
    layout = (a.shape, a.dtype, place, a.strides)
    return (_attached, (kind, DupFd(root.fd), len(root), layout, requires_grad), *attributes)


def _attached(kind: type, descriptor: Any, size: int, layout: tuple[Any, ...], requires_grad: bool) -> Tensor:
    memory = SharedMemory(descriptor.detach(), size)
    shape, dtype, place, strides = layout
    return rebuild(kind, np.ndarray(shape, dtype, memory, place, strides), requires_grad)


def init_reductions() -> None:
    """Register the reductions of tensors with ``multiprocessing``, when this package is imported."""
    from ..nn.parameter import Buffer, Parameter

    for kind in (Tensor, Parameter, Buffer):
        ForkingPickler.register(kind, reduce_tensor)

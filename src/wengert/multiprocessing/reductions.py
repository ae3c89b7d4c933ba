"""How tensors are pickled on their way to another process.

In memory that was shared they go as the descriptor of that memory; else as a copy. A history stays behind, so a tensor
that has one is refused.
"""

from __future__ import annotations

import mmap
import os
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np

from .._arrays.memory import address_of
from .._base.errors import noted
from .._tape.tensor import Tensor
from .._tensor_api.copying import rebuild
from .._tensor_api.storage import memory_root

__all__ = ["init_reductions", "reduce_tensor"]


class SharedMemory(mmap.mmap):
    """Memory that other processes can map too, by its descriptor, which it closes in the end. Linux only."""

    fd: int

    def __new__(cls, fd: int, size: int) -> SharedMemory:
        memory = super().__new__(cls, fd, size)
        memory.fd = fd
        return memory

    def __init__(self, fd: int, size: int) -> None:
        super().__init__()

    def __del__(self) -> None:
        os.close(self.fd)


def shared_memory(size: int) -> mmap.mmap:
    """New memory, all zeros; where there is no ``memfd`` only forked processes share it."""
    if not hasattr(os, "memfd_create"):
        return mmap.mmap(-1, size)
    fd = os.memfd_create("wengert-tensor", os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    return SharedMemory(fd, size)


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """What pickle needs to make the tensor again in another process.

    Raises:
        RuntimeError: the tensor is a result that requires grad.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise noted(
            RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                "before serializing (e.g., putting it on the queue)."
            ),
            f"Why: it was made by {tensor.grad_fn.name()}, and its history stays in this process.",  # type: ignore[union-attr]
        )
    a = tensor._a
    root = memory_root(a) if isinstance(a, np.ndarray) else None
    if not isinstance(root, SharedMemory):
        return tensor.__reduce_ex__(5)  # type: ignore[return-value]
    place = address_of(a) - address_of(np.frombuffer(root, np.uint8))
    _, (kind, _, requires_grad), *attributes = tensor.__reduce_ex__(5)  # type: ignore[misc]
    layout = (a.shape, a.dtype, place, a.strides)
    return (_attached, (kind, DupFd(root.fd), len(root), layout, requires_grad), *attributes)


def _attached(kind: type, descriptor: Any, size: int, layout: tuple[Any, ...], requires_grad: bool) -> Tensor:
    memory = SharedMemory(descriptor.detach(), size)
    shape, dtype, place, strides = layout
    return rebuild(kind, np.ndarray(shape, dtype, memory, place, strides), requires_grad)


def init_reductions() -> None:
    """Teach ``multiprocessing`` about tensors; done when this package is imported."""
    from ..nn.parameter import Buffer, Parameter

    for kind in (Tensor, Parameter, Buffer):
        ForkingPickler.register(kind, reduce_tensor)

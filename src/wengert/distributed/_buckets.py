"""Gradients in buckets: which parameters share one, its memory, and what a communication hook is given of it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor, alias_payload
from .._tape.views import count_write

__all__ = ["Bucket", "BuiltinCommHookType", "GradBucket", "assign", "copy_scaled", "same_memory"]

FIRST_BUCKET_BYTES = 2**20
"""The limit of the first bucket: a small one, whose reduction begins early."""


class BuiltinCommHookType(enum.Enum):
    """The communication hooks that have a number in PyTorch."""

    ALLREDUCE = 1
    FP16_COMPRESS = 2


class GradBucket:
    """A bucket of gradients, as a communication hook sees it."""

    def __init__(self, bucket: Bucket, index: int, last: bool, flat: Tensor | None = None) -> None:
        self._bucket, self._index, self._last = bucket, index, last
        self._flat = bucket.flat if flat is None else flat

    def index(self) -> int:
        """Its place in the order in which buckets are reduced."""
        return self._index

    def buffer(self) -> Tensor:
        """All gradients in one dimension."""
        return self._flat

    def set_buffer(self, buffer: Tensor) -> None:
        """Replace the tensor with all gradients."""
        self._flat = buffer

    def gradients(self) -> list[Tensor]:
        """The gradients as views of the buffer, in the order of ``parameters()``."""
        return self._bucket.views_of(self._flat)

    def parameters(self) -> list[Tensor]:
        """The parameters."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the backward pass."""
        return self._last


class Bucket:
    """Gradients that are reduced together: parameters, their indices, and one flat tensor with views."""

    def __init__(self, parameters: Sequence[Tensor], indices: Sequence[int], sparse: bool) -> None:
        self.parameters, self.indices, self.sparse = parameters, indices, sparse
        self.pending = len(indices)
        self.work: Any = None  # a Work, or the Future that a communication hook gave
        self.arrays: list[Any] = [None]  # the memory of the views, None where it is no array of NumPy
        if not sparse:
            self.sizes = [p.numel() for p in parameters]
            self.flat: Any = torch.empty(sum(self.sizes), dtype=parameters[0].dtype, device=parameters[0].device)
            self.views = self.views_of(self.flat)
            memory = [alias_payload(view) for view in self.views]
            self.arrays = [a if type(a) is np.ndarray else None for a in memory]

    def views_of(self, flat: Tensor) -> list[Tensor]:
        """The gradients in a tensor like ``flat``, laid out as the parameters are."""
        if self.sparse:
            return [flat]
        parts = flat.view(-1).split(self.sizes)
        return [
            part.view(p.shape) if p.is_contiguous() else part.as_strided(p.shape, p.stride(), part.storage_offset())
            for part, p in zip(parts, self.parameters, strict=True)
        ]


def assign(
    tensors: Sequence[Tensor], limits: Sequence[int], sparse: Sequence[bool] = (), indices: Sequence[int] = ()
) -> list[list[int]]:
    """The indices of each bucket: of one dtype, closed as soon as it reaches its limit; the last limit is for the rest.

    ``indices`` are those of ``tensors``, if these are in the order in which gradients come; otherwise buckets are
    sorted by their first index. A sparse gradient has a bucket of its own.
    """
    done: list[list[int]] = []
    filling: dict[Any, list[int]] = {}
    sizes: dict[Any, int] = {}
    closed: dict[Any, int] = {}
    for place, tensor in enumerate(tensors):
        index = indices[place] if indices else place
        if sparse and sparse[index]:
            done.append([index])
            continue
        key = tensor.dtype, tensor.device
        filling.setdefault(key, []).append(index)
        sizes[key] = sizes.get(key, 0) + tensor.numel() * tensor.element_size()
        turn = closed.get(key, 0)
        if sizes[key] >= limits[min(turn, len(limits) - 1)]:
            done.append(filling.pop(key))
            sizes[key], closed[key] = 0, turn + 1
    done += filling.values()
    return done if indices else sorted(done, key=min)


def same_memory(a: Tensor, b: Tensor) -> bool:
    """Whether two dense tensors begin at the same address."""
    return a is b or (a.layout is b.layout and a.data_ptr() == b.data_ptr())


def copy_scaled(to: Tensor, tensor: Tensor, factor: float | None = None) -> None:
    """``to.copy_(tensor * factor)`` in one pass over the memory."""
    a, b = alias_payload(to), tensor._payload
    if type(a) is type(b) is np.ndarray and a.dtype is b.dtype and a.flags.writeable:
        if factor is None:
            np.copyto(a, b)
        else:
            np.multiply(b, factor, a)
        count_write(to)
        return
    with torch.no_grad():
        to.copy_(tensor.detach() if factor is None else tensor.detach() * factor)

"""Lists of tensors as one flat tensor, and back: what libraries import from ``torch._utils`` to send gradients."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import wengert as torch
from wengert._tape.tensor import Tensor


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of tensors of one dtype in a new tensor with one dimension."""
    return torch.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor with the sizes of tensors."""
    views, start = [], 0
    for t in tensors:
        views.append(flat.narrow(0, start, t.numel()).view(t.shape))
        start += t.numel()
    return tuple(views)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one dtype, each of at most ``size_limit`` bytes or of one tensor."""
    waiting: OrderedDict[Any, tuple[list[Tensor], int]] = OrderedDict()
    for t in tensors:
        size = t.numel() * t.element_size()
        some, held = waiting.get(t.type(), ([], 0))
        if some and held + size > size_limit:
            yield some
            some, held = [], 0
        some.append(t)
        waiting[t.type()] = (some, held + size)
    for some, _ in waiting.values():
        if some:
            yield some


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors in the order of the dtypes of others."""
    by_type: dict[Any, list[Tensor]] = {}
    for t in tensors:
        by_type.setdefault(t.type(), []).append(t)
    following = {kind: iter(some) for kind, some in by_type.items()}
    return tuple(next(following[t.type()]) for t in ordered_tensors)


NAMES: dict[str, Any] = {
    f.__name__: f for f in (_flatten_dense_tensors, _unflatten_dense_tensors, _take_tensors, _reorder_tensors_as)
}

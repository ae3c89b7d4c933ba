"""``x[key] = value`` in the steps in which PyTorch computes it, for graphs of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor

__all__ = ["set_item"]

_ANY = slice(None, None, 1)  # the place of a tensor: no slice that PyTorch writes


def set_item(constant: Callable[..., Tensor], get_item: Callable[..., Tensor], x: Tensor, key: Any, value: Any) -> None:
    """Write into the part of ``x`` that numbers and slices select, whole or where tensors say.

    Args:
        constant: the tensor of numbers, of a dtype or None.
        get_item: the part of a tensor.

    >>> x = torch.zeros(3)
    >>> set_item(lambda value, dtype: torch.tensor(value, dtype=dtype), torch.Tensor.__getitem__, x, slice(1, None), 2)
    >>> x
    tensor([0., 2., 2.])
    """
    keys = [None if k is True else k for k in (key if isinstance(key, tuple) else (key,))]
    value = value if isinstance(value, Tensor) else constant(value, x.dtype)
    keys = [constant(k, None) if isinstance(k, (list, range)) else k for k in keys]
    tensors = [k for k in keys if isinstance(k, Tensor)]
    basic = tuple([_ANY if isinstance(k, Tensor) else k for k in keys for _ in range(_width(k))])
    part = x if all(k is ... or k == slice(None) or k is _ANY for k in basic) else get_item(x, basic)
    if tensors:
        torch.ops.aten.index_put_.default(part, _indices(x, keys), value)
    elif part.shape == value.shape:
        torch.ops.aten.copy_.default(part, value)
    elif value.dim() == 0:
        torch.ops.aten.fill_.Tensor(part, value)
    else:
        shape = list(value.shape)
        while len(shape) > part.dim() and shape[0] == 1:
            del shape[0]
        value = value.view(shape)
        torch.ops.aten.copy_.default(part, value if value.shape == part.shape else value.expand(part.shape))


def _width(k: Any) -> int:
    """The dims that an index stands for."""
    return k.dim() if isinstance(k, Tensor) and k.dtype in (torch.bool, torch.uint8) else 1


def _indices(x: Tensor, keys: list[Any]) -> list[Any]:
    """The index of each dim of the part that numbers and slices select: a tensor, or None."""
    taken = sum(_width(k) for k in keys if k is not None and k is not ... and not isinstance(k, bool))
    indices: list[Any] = []
    for k in keys:
        if isinstance(k, Tensor):
            indices.append(k)
        elif k is ...:
            indices += [None] * (x.dim() - taken)
        elif k is None or isinstance(k, (slice, bool)):
            indices.append(None)
    while indices[-1] is None:
        indices.pop()
    return indices

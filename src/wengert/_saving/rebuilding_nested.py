"""Functions that rebuild nested tensors; what a file says of their parts is checked before anything believes it.

The numbers may come after the object (NOTE [ Memory that is not read yet ] in ``rebuilding``): a nested tensor is made
first, and its parts are checked ``when_filled``.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as torch

from .._tape.tensor import Tensor
from .._tensor_api.copying import MAX_DIMS

_MOST = 1 << 58  # elements, of which the largest have 16 bytes


def _array(tensor: Any, dims: int | None = None) -> np.ndarray:
    """The array of a tensor with memory; ``dims``: of whole numbers, in so many dimensions."""
    a = tensor._payload if isinstance(tensor, Tensor) else None
    if not isinstance(a, np.ndarray) or (dims is not None and (a.ndim != dims or a.dtype not in (np.int32, np.int64))):
        raise pickle.UnpicklingError("a nested tensor needs tensors of its elements and of numbers")
    if a.size > tensor.untyped_storage().nbytes() // a.itemsize:
        raise RuntimeError("a nested tensor's numbers have more elements than their storages")
    return a


def _need(condition: Any) -> None:
    if not condition:
        raise RuntimeError("a nested tensor's parts reach out of its elements, or do not belong together")


def rebuild_strided(
    buffer: Any, sizes: Any, strides: Any, storage_offsets: Any, when_filled: Callable[[Callable[[], object]], None]
) -> Any:
    """A nested tensor of layout ``strided``: elements, and the size, the steps and the start of each part."""
    layout = torch.nested._internal.strided
    elements, starts = _array(buffer), _array(storage_offsets, 1)
    per_part = [_array(t, 2) if len(starts) else np.empty((0, 0), int) for t in (sizes, strides)]
    _need(elements.ndim == 1 and all(len(a) == len(starts) for a in per_part))
    _need(per_part[0].shape == per_part[1].shape and per_part[0].shape[1] <= MAX_DIMS)
    made = layout.StridedNested(buffer, [])

    def check() -> None:
        for size, steps, start in zip(*(a.tolist() for a in (*per_part, starts)), strict=True):
            _need(min((start, *size, *steps)) >= 0 and max((math.prod(n or 1 for n in size), *steps)) < _MOST)
            last = start + sum((n - 1) * step for n, step in zip(size, steps, strict=True))
            count = math.prod(size)
            _need(count <= elements.size and (not count or last < elements.size))
            made._places.append(layout.Place(tuple(size), tuple(steps), start if count else 0))

    when_filled(check)
    return made


def rebuild_jagged(given: Any, when_filled: Callable[[Callable[[], object]], None]) -> Any:
    """A nested tensor of layout ``jagged``, of the keyword arguments of its class."""
    if type(given) is not dict:
        raise pickle.UnpicklingError(f"a nested tensor needs a dict of arguments, but got {type(given)}")
    values, offsets, lengths, axis = (given.get(name) for name in ("values", "offsets", "lengths", "_ragged_idx"))
    elements, ends = _array(values), _array(offsets, 1)
    counts = None if lengths is None else _array(lengths, 1)
    _need(type(axis) is int and 1 <= axis <= elements.ndim and len(ends))
    _need(counts is None or len(counts) == len(ends) - 1)
    requires_grad, known = given.get("requires_grad"), given.get("_metadata_cache")
    made = torch.nested._internal.nested_tensor.NestedTensor(
        values, offsets, lengths=lengths, requires_grad=requires_grad is True, _ragged_idx=axis
    )

    def check() -> None:
        n = elements.shape[axis - 1]
        _need((ends >= 0).all() and (ends <= n).all())
        if counts is None:
            _need((ends[1:] >= ends[:-1]).all())
        else:
            _need((counts >= 0).all() and (counts <= n - ends[:-1]).all())
        for name in ("min", "max"):  # computed anew: nothing says that the file's are right
            if type(known) is dict and f"{name}_seqlen" in known and len(ends) > 1:
                made._seqlen(name)

    when_filled(check)
    return made

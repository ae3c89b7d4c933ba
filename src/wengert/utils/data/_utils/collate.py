"""``default_collate``, which makes a batch from samples, and ``default_convert``, for samples without batches.

`collate` walks through nested containers; `default_collate_fn_map` has a function for each type of item, and programs
can add types. These functions have a fast path for uniform items (one dtype, one shape, no gradient), and pass all
other items, including those that raise errors, to the public ``stack`` and ``tensor``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np

import wengert as torch

from ...._base.dtypes import BY_NUMPY
from ...._base.modes import slow_always
from ...._ops.shape.join import in_order
from ...._tape.tensor import Tensor, wrap

CollateMap: TypeAlias = dict[type | tuple[type, ...], Callable[..., Any]]

np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


# ---- containers
def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _same_mapping(like: Mapping[Any, Any], value: Callable[[Any], Any]) -> Any:
    """A mapping of the class of ``like`` with ``value(key)`` for each key; a dict if the class does not allow it."""
    try:
        if isinstance(like, MutableMapping):
            result = copy(like)  # keeps what the class has besides its items
            result.update({key: value(key) for key in like})
            return result
        return type(like)({key: value(key) for key in like})  # type: ignore[call-arg]
    except TypeError:  # no copy(), no update(), no construction from a dict
        return {key: value(key) for key in like}


def _same_sequence(like: Sequence[Any], count: int, value: Callable[[int], Any]) -> Any:
    """A sequence of the class of ``like`` with ``value(i)`` at each place; a list if the class does not allow it."""
    try:
        if isinstance(like, MutableSequence):
            result = copy(like)
            for i in range(count):
                result[i] = value(i)
            return result
        return type(like)([value(i) for i in range(count)])  # type: ignore[call-arg]
    except TypeError:
        return [value(i) for i in range(count)]


def default_convert(data: Any) -> Any:
    """Convert NumPy arrays, also inside containers, to tensors on the same memory; return other objects unchanged.

    >>> import wengert as torch
    >>> import numpy as np
    >>> torch.utils.data.default_convert({"a": np.array([1, 2]), "b": "text"})
    {'a': tensor([1, 2]), 'b': 'text'}
    """
    if isinstance(data, Tensor):
        return data
    kind = type(data)
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind is np.ndarray and np_str_obj_array_pattern.search(data.dtype.str):
            return data
        return torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _same_mapping(data, lambda key: default_convert(data[key]))
    if _is_namedtuple(data):
        return kind(*[default_convert(each) for each in data])
    if isinstance(data, tuple):
        return [default_convert(each) for each in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _same_sequence(data, len(data), lambda i: default_convert(data[i]))
    return data


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Combine samples to one batch, through nested containers; ``collate_fn_map`` has a function for each type of item.

    The function for a type is called as ``function(samples, collate_fn_map=collate_fn_map)``. If the map has no entry
    for a type, the first entry of a base class is used.

    Raises:
        TypeError: a type has no function and is no container.
        RuntimeError: sequences have different lengths.

    >>> import wengert as torch
    >>> from wengert.utils.data._utils.collate import collate
    >>> collate([(1, "a"), (2, "b")], collate_fn_map={int: lambda xs, collate_fn_map: sum(xs), str: lambda xs, **_: xs})
    [3, ('a', 'b')]
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        function = collate_fn_map.get(kind)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _same_mapping(first, lambda key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map))
    if _is_namedtuple(first):
        return kind(*[collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=False)])
    if isinstance(first, Sequence):
        columns = _columns(batch, len(first))
        if isinstance(first, tuple):
            return [collate(column, collate_fn_map=collate_fn_map) for column in columns]
        return _same_sequence(first, len(columns), lambda i: collate(columns[i], collate_fn_map=collate_fn_map))
    raise TypeError(default_collate_err_msg_format.format(kind))


def _columns(batch: Any, size: int) -> list[tuple[Any, ...]]:
    if list(map(len, batch)).count(size) != len(batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    return list(zip(*batch, strict=False))


# ---- contents
def stacked(arrays: Any) -> Any:
    """NumPy arrays one above the other, as one new array; None unless they are of one dtype and one shape."""
    first = arrays[0]
    n, shape, dtype = len(arrays), first.shape, first.dtype
    if not first.size:
        return None
    try:
        if not shape:
            same = [a.shape for a in arrays].count(()) == n and [a.dtype for a in arrays].count(dtype) == n
            return np.array(arrays, dtype) if same else None
        if list(map(len, arrays)).count(shape[0]) != n:
            return None
        # NumPy itself looks at the other dimensions, and at the dtypes if no casting is allowed
        joined = np.concatenate(arrays, 0, None, dtype=dtype, casting="no")
    except (ValueError, TypeError):
        return None
    return in_order(joined.reshape((n, *shape)))


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Tensors of one shape, one above the other."""
    if not slow_always and set(map(type, batch)) == _TENSOR and [x._node for x in batch].count(None) == len(batch):
        arrays = [x._payload for x in batch]
        if set(map(type, arrays)) <= _ARRAYS:
            result = stacked(arrays)
            if result is not None:
                return wrap(result)
    for kind, found in (("nested", batch[0].is_nested), ("sparse", batch[0].layout in _SPARSE)):
        if found:
            raise RuntimeError(
                f"Batches of {kind} tensors are not currently supported by the default collate_fn; please provide a "
                "custom collate_fn to handle them appropriately."
            )
    return torch.stack(batch, 0)


_TENSOR = {Tensor}
_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_bsr, torch.sparse_csc, torch.sparse_bsc)
_ARRAYS = {np.ndarray, *(dtype.type for dtype in BY_NUMPY)}  # a 0-dimensional result is a NumPy scalar


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """NumPy arrays of one shape, one above the other."""
    first = batch[0]
    if np_str_obj_array_pattern.search(first.dtype.str):
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    if collate_fn_map is default_collate_fn_map and collate_fn_map.get(Tensor) is collate_tensor_fn:
        known = BY_NUMPY.get(first.dtype)
        if known is not None and not slow_always and set(map(type, batch)) == {np.ndarray}:
            result = stacked(batch)
            if result is not None:
                return wrap(result if result.dtype is known.np else result.view(known.np))
    return collate([torch.as_tensor(a) for a in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """NumPy numbers as one tensor."""
    return torch.as_tensor(batch)


def _of_one_type(batch: Any, kind: type) -> bool:
    return not slow_always and set(map(type, batch)) == {kind}


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Floats as a float64 tensor."""
    if _of_one_type(batch, float):
        return wrap(np.array(batch, _FLOAT64))
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Ints as an int64 tensor, bools as a bool tensor."""
    if _of_one_type(batch, int):
        try:
            return wrap(np.array(batch, _INT64))
        except OverflowError:
            pass  # ``tensor`` says it in PyTorch's words
    return torch.tensor(batch)


_FLOAT64, _INT64 = torch.float64.np, torch.int64.np


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Strings and bytes, unchanged."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""The functions of ``default_collate`` by type, to which programs can add."""


def default_collate(batch: Any) -> Any:
    """Combine samples to one batch: items get a new first dimension, containers keep their structure.

    Tensors and NumPy arrays are stacked, ints and floats become one tensor (int64, float64), strings and bytes stay a
    list. Mappings, named tuples and sequences are batched item by item; a tuple becomes a list.

    Raises:
        TypeError: an item has another type.
        RuntimeError: sequences have different lengths, or tensors different shapes.

    >>> import wengert as torch
    >>> torch.utils.data.default_collate([{"x": 0, "y": "a"}, {"x": 1, "y": "b"}])
    {'x': tensor([0, 1]), 'y': ['a', 'b']}
    >>> torch.utils.data.default_collate([(torch.ones(2), 0.5), (torch.zeros(2), 1.5)])
    [tensor([[1., 1.],
            [0., 0.]]), tensor([0.5000, 1.5000], dtype=torch.float64)]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)

"""Arrays from nested lists: the dtype of a list, and PyTorch's errors for invalid lists."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._base import dtypes as _dtypes
from .._base.dtypes import BY_NUMPY, PYTHON_NUMBERS, promote_types, type_name
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, warn_once
from .._tape.error_text import warn_of_lost_gradient
from .._tape.promotion import logical_dtype
from .._tape.tensor import Tensor


def converted(a: Any, np_dtype: Any) -> Any:
    """A copy in another dtype, by C++'s rules: complex to real drops the imaginary part, float64 goes to float16 by
    way of float32."""
    if a.dtype.kind == "c" and np_dtype.kind not in "cb":
        a = a.real
    with np.errstate(all="ignore"):
        if np_dtype.itemsize == 2 and np_dtype.kind in "fV" and a.dtype.itemsize > 4:
            a = a.astype(np.float32)
        return a.astype(np_dtype)


def listed(data: Any) -> list[Any]:
    return [data[i] for i in range(len(data))]


def array_of_nested(data: Any, dtype: Dtype | None) -> Any:
    """An array from nested sequences, flattened level by level: each level costs a few calls for all its items."""
    shape = [len(data)]
    flat = data
    kinds = dict.fromkeys(map(type, flat))
    while not (plain := kinds.keys() <= PYTHON_NUMBERS) and is_sequence(flat[0]):
        opened = _opened(flat, kinds)
        if opened is None:
            return _array_in_order(data, dtype)
        flat, length = opened
        shape.append(length)
        if len(shape) > 64:
            raise ValueError(f"too many dimensions '{type_name(flat[0])}'")
        if isinstance(flat, np.ndarray):  # a list of arrays, whose contents are known
            warn_once(
                "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the "
                "list to a single numpy.ndarray with numpy.array() before converting to a tensor."
            )
            shape[-1:] = flat.shape[1:]
            return converted(flat, (dtype or BY_NUMPY[flat.dtype]).np).reshape(shape)
        if not length:
            break
        kinds = dict.fromkeys(map(type, flat))
    if not flat:
        return np.empty(shape, (dtype or _dtypes.default_dtype).np)
    if not plain and (type(flat[0]) is str or any(map(is_sequence, flat))):
        return _array_in_order(data, dtype)
    a = array_of_numbers(flat, kinds, dtype)
    return a if len(shape) == 1 else a.reshape(shape)


def _array_in_order(data: Any, dtype: Dtype | None) -> Any:
    """An array from sequences that are not all alike, read as PyTorch does, so that the first error is PyTorch's.

    The first items give the shape, all items the dtype; then each is stored, any iterable in place of a sequence.
    An empty string is a sequence without items.
    """
    shape, first = [], data
    while is_sequence(first):
        shape.append(len(first))
        if not shape[-1]:
            break
        first = first[0]
    if isinstance(first, str):  # its first item is a string again, unless it is empty
        if first:
            raise ValueError("too many dimensions 'str'")
        shape.append(0)
    leaves = list(_leaves(data))
    dtype = dtype or _inferred(leaves, dict.fromkeys(map(type, leaves)))
    numbers: list[Any] = []
    _store(data, shape, 0, numbers, dtype.np)
    return array_of_numbers(numbers, dict.fromkeys(map(type, numbers)), dtype).reshape(shape)


def _leaves(item: Any) -> Any:
    """The numbers in nested sequences; an empty one has the default dtype, as a float has."""
    if is_sequence(item):
        for inner in listed(item) or (0.0,):
            yield from _leaves(inner)
    else:
        yield item


def _store(item: Any, shape: list[int], dim: int, numbers: list[Any], np_dtype: Any) -> None:
    if dim == len(shape):
        numbers.append(_number(item, np_dtype))
        return
    try:
        items = list(item)
    except TypeError:
        raise noted(
            TypeError("not a sequence"),
            f"Why: at dim {dim} the first item is a sequence and another one is of type {type_name(item)}.",
        ) from None
    if len(items) != shape[dim]:
        raise noted(
            ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(items)})"),
            "Why: the nested lists are ragged, and every row of a tensor has the same length.",
            "What to do: pad the shorter ones, or keep a list of tensors.",
        )
    for inner in items:
        _store(inner, shape, dim + 1, numbers, np_dtype)


def is_sequence(item: Any) -> bool:
    ty = type(item)
    if ty is list or ty is tuple:
        return True
    if ty in PYTHON_NUMBERS or isinstance(item, (int, float, complex, Tensor, np.generic, dict, set, str, bytes)):
        return False
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return hasattr(item, "__getitem__") and hasattr(item, "__len__") and not isinstance(item, type)


def _opened(flat: Any, kinds: dict[type, None]) -> tuple[Any, int] | None:
    """The items of one level of sequences, and the sequences' common length; None if they are not all alike."""
    plain = kinds.keys() <= _LISTS
    if not plain:
        if all(issubclass(ty, np.ndarray) for ty in kinds):
            return _stacked(flat)
        if not all(map(is_sequence, flat)):
            return None
    length, *others = dict.fromkeys(map(len, flat))
    if others:
        return None
    if not plain:
        flat = [item if type(item) in _LISTS else listed(item) for item in flat]
    return list(chain.from_iterable(flat)), length


_LISTS = frozenset((list, tuple))


def _stacked(arrays: Any) -> tuple[Any, int] | None:
    shape, *others = dict.fromkeys(a.shape for a in arrays)
    if others:
        return None
    dtypes = list(dict.fromkeys(BY_NUMPY[a.dtype] for a in arrays))
    common = dtypes[0]
    for other_dtype in dtypes[1:]:
        common = promote_types(common, other_dtype)
    return np.array([converted(a, common.np) for a in arrays] if len(dtypes) > 1 else arrays), shape[0]


def number_of_its_own(x: Any, ty: type) -> Any:
    """A Python number of type ``ty`` as a NumPy number of its own dtype; ``None`` if it needs checks."""
    if ty is int:
        return np.int64(x) if -(1 << 63) <= x < 1 << 63 else None
    if ty is bool:
        return np.bool_(x)
    number = _dtypes.default_np
    return number.type(x) if ty is float and number.itemsize > 2 and -6e4 < x < 6e4 else None


def array_of_numbers(flat: list[Any], kinds: dict[type, None], dtype: Dtype | None) -> Any:
    """A one-dimensional array of numbers of these types."""
    if dtype is None:
        dtype = _inferred(flat, kinds)
    np_dtype = dtype.np
    if not kinds.keys() <= PYTHON_NUMBERS:
        flat = [_number(x, np_dtype) for x in flat]
        kinds = dict.fromkeys(map(type, flat))
    kind = np_dtype.kind
    if kind == "f" and np_dtype.itemsize > 2 and len(flat) < 32 and complex not in kinds:
        if min(flat) > -6e4 and max(flat) < 6e4:  # they overflow no dtype: NumPy's warnings need not be turned off
            return np.array(flat, np_dtype)
    try:
        if kind in "iu":
            return _integers(flat, kinds, np_dtype)
        if kind == "b":
            return np.array([bool(x) for x in flat], np.bool_)
        if kind == "f" and complex in kinds:
            raise TypeError("must be real number, not complex")
        with np.errstate(over="ignore"):
            if np_dtype.itemsize == 2:
                return np.array(flat, np.float32).astype(np_dtype)
            return np.array(flat, np_dtype)
    except OverflowError as error:
        if kind == "i":
            raise ValueError("Overflow when unpacking long long") from None
        if kind == "u":
            negative = any(x < 0 for x in flat)
            raise OverflowError(
                "can't convert negative int to unsigned" if negative else "int too big to convert"
            ) from None
        raise OverflowError(*error.args) from None


def _inferred(flat: list[Any], kinds: dict[type, None]) -> Dtype:
    """The dtype that PyTorch gives to numbers of these types together."""
    if len(kinds) == 1:
        if float in kinds:
            return _dtypes.default_dtype
        if int in kinds:
            return _dtypes.int64
    found: dict[Dtype, None] = {}
    for ty in kinds:
        if issubclass(ty, Tensor):
            found.update(dict.fromkeys(BY_NUMPY[logical_dtype(t)] for t in flat if type(t) is ty))
        elif issubclass(ty, np.generic):
            found[BY_NUMPY[np.dtype(ty)]] = None
        elif issubclass(ty, np.ndarray):
            found.update(dict.fromkeys(BY_NUMPY[a.dtype] for a in flat if type(a) is ty))
        elif issubclass(ty, float):
            found[_dtypes.default_dtype] = None
        elif issubclass(ty, bool):
            found[_dtypes.bool_] = None
        elif issubclass(ty, int):
            found[_dtypes.int64] = None
        elif issubclass(ty, complex):
            found[_dtypes.default_complex_dtype] = None
        else:
            raise no_dtype(next(item for item in flat if type(item) is ty))
    common, *others = found
    for other in others:
        common = promote_types(common, other)
    return common


def no_dtype(item: Any) -> Exception:
    if isinstance(item, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type_name(item)}'")
    return noted(
        RuntimeError(f"Could not infer dtype of {type_name(item)}"),
        "Why: a tensor is made of numbers: Python's, NumPy's, or tensors of one element, in lists or tuples.",
    )


def _number(x: Any, np_dtype: Any) -> Any:
    """Convert an item that is not a Python number to one."""
    if isinstance(x, Tensor):
        if np_dtype.kind in "iub" and (x._payload.size != 1 or logical_dtype(x).kind in "fc"):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if x._payload.size != 1:
            raise noted(
                ValueError("only one element tensors can be converted to Python scalars"),
                f"Why: the list holds a tensor of shape {list(x.shape)}.",
                "What to do: torch.stack(list) makes one tensor of many, and keeps their gradients.",
            )
        if np_dtype.kind in "fc":
            warn_of_lost_gradient(x)
        return x.item()
    if isinstance(x, np.generic):
        if np_dtype.kind in "iub" and x.dtype.kind in "fc" and not isinstance(x, (float, complex)):
            raise TypeError(f"'{type_name(x)}' object cannot be interpreted as an integer")
        return x.item()
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x.item()
    if isinstance(x, (bool, int, float, complex)):
        return x
    wanted = "an integer" if np_dtype.kind in "iub" else "a real number"
    try:
        if np_dtype.kind in "iub":
            return x.__index__()
        if np_dtype.kind == "c" and hasattr(x, "__complex__"):
            return complex(x)
        return float(x.__float__() if hasattr(x, "__float__") else x.__index__())
    except AttributeError:
        name = type_name(x)
        message = (
            f"'{name}' object cannot be interpreted as an integer"
            if wanted == "an integer"
            else (f"must be real number, not {name}")
        )
        raise TypeError(message) from None


def _integers(flat: list[Any], kinds: dict[type, None], np_dtype: Any) -> Any:
    """Convert Python numbers to integers: fractions are truncated, numbers out of range raise."""
    if not kinds.keys() <= _WHOLE:
        flat = [_whole(x, np_dtype) for x in flat]
    if np_dtype.itemsize == 8:
        return np.array(flat, np_dtype)
    wide = np.array(flat, np.int64)
    largest = int(np.iinfo(np_dtype).max)
    smallest = -largest if np_dtype.kind == "u" else -largest - 1  # a negative number wraps around, as in C++
    if wide.size and (wide.max() > largest or wide.min() < smallest):
        raise RuntimeError(f"value cannot be converted to type {np_dtype.name} without overflow")
    return wide.astype(np_dtype)


_WHOLE = frozenset((int, bool))


def _whole(x: Any, np_dtype: Any) -> int:
    if isinstance(x, complex):
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if isinstance(x, float) and not -(2.0**63) <= x < 2.0**63:
        raise RuntimeError(f"value cannot be converted to type {np_dtype.name} without overflow")
    return int(x)

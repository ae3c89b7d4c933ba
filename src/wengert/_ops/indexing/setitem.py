"""Assignment ``x[...] = v``: the views of ``x[...]``, then a copy or ``INDEX_PUT``; fast paths for common cases."""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.library import copyto, may_share_memory
from ..._arrays.memory import address_of
from ..._arrays.overlap import meets, met
from ..._base import errors as lines
from ..._base.constants import type_name
from ..._base.dtypes import BY_NUMPY, INTEGRAL
from ..._base.modes import slow_always, slow_if_recording
from ..._base.registry import ARRAYS, REGISTRY, public
from ..._base.torch_function import recovered
from ..._tape.inplace import apply_inplace, is_expanded, warn_expanded, write_expanded
from ..._tape.node import AccumulateGrad, box_of, tick, version_of
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, in_memory, wrap
from ..._tape.unrecorded import no_grad_views
from ..._tape.view_chain import AsStridedBackward0, memory_of
from ..._tape.views import (
    check_inplace,
    count_write_at,
    rebase_history,
    record_write,
    unrecorded,
    writable,
)
from ..create.filled import number
from .getitem import all_plain, by_tensors, check_rank, check_shape, linked, place_error, put_at, read_key, value_error
from .index_primitive import INDEX_PUT, numpy_key, write_at


@public("Tensor.__setitem__")
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``x[...] = v``: write ``v`` (a tensor that broadcasts, or a number) into the part that ``x[...]`` reads."""
    ty = type(key)
    basic = ty is int or ty is slice or key is ... or (ty is tuple and _is_basic(key))
    if basic:
        if _assign_basic(self, key, value):
            return
    elif ty is Tensor:
        if assign_at(self, (key,), value):
            return
    elif ty is tuple and assign_at(self, key, value):
        return
    if getattr(self._payload, "is_sparse", False):
        raise TypeError("Cannot assign to a sparse tensor")
    try:
        if basic and _assign_recorded(self, key, value):
            return
        if type(value) is not Tensor:
            value = _as_value(value, self)
        if key is False:
            return
        if key is True:
            key = None
        x, a, dims, indices = read_key(self, self._payload, key, None)
        del a  # references are counted: NOTE [ Views and writes in place ]
    except (IndexError, TypeError, AttributeError):  # an operand that overrides operators ends up here
        return recovered.run("__setitem__", (self, key, value))
    if not indices:
        from .copy_fill import copy_into

        copy_into(x, _expanded(_sliced(value, x._payload.shape), x))
        return
    put_into(x, of_its_dtype(x, _sliced(value, ()), dims, indices), dims, indices, False)


@public("Tensor.__delitem__")
def delitem(self: Tensor, key: Any) -> None:
    """``del x[...]`` is an error: a tensor keeps its elements."""
    raise TypeError("Tensor does not support deleting items")


def of_its_dtype(x: Tensor, value: Tensor, dims: Any, indices: list[Tensor], accumulate: bool = False) -> Tensor:
    """The value to write, of x's dtype: an element is converted where one mask is filled, all else must have it."""
    dtype = logical_dtype(x)
    given = logical_dtype(value)
    if given is dtype:
        return value
    if value._payload.size == 1 == len(indices) and logical_dtype(indices[0]).kind == "b" and not accumulate:
        return cast(value, dtype) if given.kind != "c" else wrap(number(value.item(), dtype))
    check_shape(x, value, dims, indices)
    raise _dtype_error(x, value)


def _dtype_error(x: Tensor, value: Tensor) -> Exception:
    names = [BY_NUMPY[logical_dtype(t)].scalar_name for t in (x, value)]
    return RuntimeError(
        f"Index put requires the source and destination dtypes match, got {names[0]} for the destination and "
        f"{names[1]} for the source."
    )


def _is_basic(key: tuple[Any, ...]) -> bool:
    """Whether a key has ints, slices, ``None`` and ``...`` alone."""
    for item in key:
        if type(item) is not int and type(item) is not slice and item is not None and item is not ...:
            return False
    return True


def _assign_basic(self: Tensor, key: Any, value: Any) -> bool:
    """The fast path: NumPy assigns if nothing is recorded and its rules are PyTorch's."""
    a = self._payload
    if type(a) is not np.ndarray:
        return False
    ty = type(value)
    if ty is Tensor:
        v = value._payload
        if not (type(v) is np.ndarray or isinstance(v, np.generic)) or v.dtype.kind == "c" != a.dtype.kind:
            return False
        if not unrecorded(self, value._node) and not (a.dtype in INTEGRAL and unrecorded(self, None)):
            return False
    elif (
        (ty is not float and ty is not int)
        or a.dtype.kind not in "fc"
        or ((self._node is not None or slow_always or no_grad_views) and not unrecorded(self, None))
    ):
        return False
    else:
        v = value
    if type(key) is int:
        key = (key, Ellipsis)
    elif key is not ...:
        for item in key if type(key) is tuple else (key,):
            if type(item) is slice and not _has_plain_bounds(item):
                return False
        if type(key) is tuple and Ellipsis not in key:
            key = (*key, Ellipsis)  # NumPy then returns one element as a 0-dimensional view, not as a number
    try:
        if ty is Tensor and (v.base is not None or a.base is not None) and may_share_memory(a, v):
            part = a[key]
            if v.dtype is a.dtype and part.flags.writeable and _same_place(v, part):
                v = None  # x[0] += 1 has written the part in place already
            elif meets(part, v):
                return False
        if v is not None:
            a[key] = v
    except (ValueError, IndexError, TypeError):
        return False  # the general path raises the error
    count_write_at(self, getframe(2))
    return True


def _has_plain_bounds(s: slice) -> bool:
    """Whether NumPy surely reads a slice as PyTorch does: its bounds are ints, its step is above zero."""
    step = s.step
    return type(s.start) in _BOUNDS and type(s.stop) in _BOUNDS and (step is None or (type(step) is int and step > 0))


_BOUNDS = frozenset((int, type(None)))


def assign_at(self: Tensor, key: tuple[Any, ...], value: Any) -> bool:
    """``_assign_basic`` for a key of index tensors, masks and ``:``, also where the write is recorded."""
    a = self._payload
    if type(a) is not np.ndarray or not a.flags.writeable:
        return False
    ty = type(value)
    if ty is Tensor:
        v, fy = value._payload, value._node
        if v.dtype is not a.dtype or may_share_memory(a, v):
            return False
    elif (ty is float or ty is int) and a.dtype.kind in "fc":
        v, fy = value, None
    else:
        return False
    found = by_tensors(a.shape, key)
    if found is None:
        return False
    if not unrecorded(self, fy):
        if ty is Tensor and v.shape[:1] == (1,):
            return False  # leading dimensions of size one go
        del a
        return _put_recorded(self, value, *found[:2], False)
    try:
        write_at(a, found[0], found[2], v)
    except (ValueError, IndexError, TypeError):
        return False
    count_write_at(self, getframe(2))
    return True


def _assign_recorded(self: Tensor, key: Any, value: Any) -> bool:
    """The fast path of a recorded write to a part of a tensor: the work of all the views at once."""
    a = self._payload
    if slow_if_recording or type(a) is not np.ndarray or not a.flags.writeable:
        return False
    if type(value) is Tensor:
        v, fy = value._payload, value._node
        if type(v) is not np.ndarray or v.dtype.kind == "c" != a.dtype.kind:
            return False
    elif a.dtype.kind in "fc" and (type(value) is float or (type(value) is int and -(1 << 31) < value < 1 << 31)):
        v, fy = value, None
    else:
        return False
    if fy is None and self._node is None:
        return False
    chain, part, _, _ = read_key((), a, key, linked)
    if not chain:
        return False
    n = None
    if fy is not None:
        if type(fy) is AsStridedBackward0 and fy.fx is self._node and fy.chain == chain and _same_place(v, part):
            count_write_at(self, getframe(2))  # x[0] += 1 has written the part in place already
            return True
        if v.ndim > part.ndim or may_share_memory(a, v):
            return False
        n = _node(REGISTRY["copy"], (None, fy), [v.shape, v.dtype])
    try:
        if a.base is not None or type(self._node) is AccumulateGrad:  # it may be a view
            check_inplace(self, True)
        copyto(part, v, casting="unsafe")
    except (RuntimeError, ValueError):  # the general path raises the error
        return False
    del a, part  # references are counted
    slices: Any = rebase_history(self, n, chain)
    version_of(self).write(slices._seq, slices._code, slices._lasti)
    return True


def _same_place(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.strides == b.strides and address_of(a) == address_of(b)


def _put_recorded(x: Tensor, value: Any, dims: Any, indices: Any, accumulate: bool) -> bool:
    """The recorded ``put_into`` for plain arrays, without the checks that only other payloads need."""
    a, fx = x._payload, x._node
    if type(value) is not Tensor:
        if isinstance(value, Tensor):
            return False
        value = wrap(number(value, a.dtype))
    fy = value._node
    if (
        slow_if_recording
        or type(a) is not np.ndarray
        or (fx is None and fy is None)
        or not all_plain([value, *indices])
    ):
        return False
    if not a.flags.writeable or (accumulate and not a.flags.c_contiguous) or may_share_memory(a, value._payload):
        return False
    arrays = [i._payload for i in indices]
    try:
        check_inplace(x, True)
        ARRAYS.index_put([a, value._payload, *arrays], dims, accumulate, True)
    except (RuntimeError, IndexError, ValueError):
        return False
    shapes = [a.shape, value._payload.shape, *[i.shape for i in arrays]]
    saved = [[box_of(i) for i in indices], shapes, dims, accumulate, (fx is not None, fy is not None)]
    del a
    record_write(x, _node(INDEX_PUT, (fx, fy, *[None] * len(arrays)), saved))
    return True


def _node(info: Any, edges: tuple[Any, ...], saved: list[Any]) -> Any:
    """A node of the operator ``info``, for a write that has been done already."""
    n = info.node()
    n.fx = edges
    n.values = saved
    n._seq = tick()
    n._hooks = None
    frame = lines.user_frame(getframe(1))
    n._code, n._lasti = frame.f_code, frame.f_lasti
    return n


def _as_value(value: Any, x: Tensor) -> Tensor:
    """The value to write as a tensor of x's dtype; raises PyTorch's errors for anything but a number."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.integer):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"can't assign a {type_name(value)} to a {x.type()}")
    return wrap(number(value, logical_dtype(x)))


def _sliced(value: Tensor, shape: Any) -> Tensor:
    """``value`` without the leading dimensions of size one that ``shape`` does not have."""
    have = value._payload.shape
    extra = len(have) - len(shape)
    if extra > 0 and have[0] == 1:
        from ..shape.views import reshape_public

        extra = next((i for i, n in enumerate(have[:extra]) if n != 1), extra)

        return reshape_public(value, tuple(have[extra:]))
    return value


def _expanded(value: Tensor, x: Tensor) -> Tensor:
    """A part of x's own memory in the shape of x, as PyTorch compares it with what is written."""
    shape = x._payload.shape
    if value._payload.shape == shape:
        return value
    a, v = memory_of(x), memory_of(value)
    return value.expand(shape) if type(a) is np.ndarray is type(v) and may_share_memory(a, v) else value


def _refuse_overlap(x: Tensor, value: Tensor, indices: list[Tensor], accumulate: bool) -> None:
    """Raise PyTorch's error for values in the written memory; one number is filled in where one mask is true."""
    a, v = memory_of(x), memory_of(value)
    if type(a) is np.ndarray is type(v) and meets(a, v, True):
        if v.size != 1 or accumulate or len(indices) != 1 or logical_dtype(indices[0]).kind != "b":
            if x._node is not None or value._node is not None:
                check_inplace(x, True)
            raise met()


def _put_expanded(x: Tensor, value: Tensor, dims: Any, indices: Any, accumulate: bool) -> Tensor:
    """``put_into`` for an expanded tensor."""
    arrays = [i._payload for i in indices]

    def write(into: Any, r: Any) -> None:
        if accumulate:
            np.add.at(into, numpy_key(dims, arrays), value._payload)
        else:
            write_at(into, dims, arrays, value._payload)

    def put(self: Tensor, v: Tensor) -> Tensor:
        return put_at(self, v, dims, indices, accumulate, False)

    write_expanded(x, "index_put_", put, (value,), {}, write)
    if value._payload.size == 1 == len(arrays) and arrays[0].dtype.kind == "b" and not accumulate:
        warn_expanded("masked_fill_")  # by which PyTorch fills one value in
    return x


def put_into(x: Tensor, value: Tensor, dims: Any, indices: Any, accumulate: bool) -> Tensor:
    """``index_put_``: write into x at the positions of the index tensors."""
    a = x._payload
    _refuse_overlap(x, value, indices, accumulate)
    if value._payload.ndim > 1:
        check_rank(x, value, dims, indices)
    if type(a) is not np.ndarray and type(in_memory(a)) is np.ndarray and not in_memory(a).flags.writeable:
        a.tracer.stop("a tensor whose elements lie in one place is written")
        a = x._payload
    if is_expanded(x) and all_plain([value, *indices]):
        return _put_expanded(x, value, dims, indices, accumulate)
    if type(a) is np.ndarray and not accumulate and all_plain([value, *indices]) and unrecorded(x, value._node):
        try:
            write_at(writable(x), dims, [i._payload for i in indices], value._payload)
        except IndexError as error:
            raise place_error(error, indices) from None
        except (ValueError, TypeError) as error:
            raise value_error(error, x, value, dims, indices) from None
        count_write_at(x, getframe(2))
        return x
    del a  # as in ``_assign_recorded``
    if _put_recorded(x, value, dims, indices, accumulate):
        return x
    a = x._payload
    into = type(a) is np.ndarray and writable(x) is a and not may_share_memory(a, value._payload)
    return apply_inplace(lambda self, v: put_at(self, v, dims, indices, accumulate, into), x, (value,))

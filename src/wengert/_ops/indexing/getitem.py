"""Indexing: ``x[...]`` as a chain of views, then at most one operator on index tensors.

As in PyTorch, each int, slice, ``None`` and ``...`` makes a view, from left to right; then ``index`` is applied to the
last view with all index tensors (masks, lists, NumPy arrays). So an int is no index tensor, unlike in NumPy:
``x[0, :, [1, 2]]`` keeps the order of its dimensions.
"""

from __future__ import annotations

import operator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.index_shapes import fits_into, result_shape, without_masks
from ..._arrays.library import COLONS, NEW_AT
from ..._base import errors as lines
from ..._base.constants import type_name
from ..._base.errors import warn
from ..._base.modes import slow_if_recording
from ..._base.registry import REGISTRY, TRANSFORMED, Operator, public
from ..._base.torch_function import recovered
from ..._kinds.dims import out_of_range
from ..._payloads.meta import Meta, no_places, on_meta
from ..._payloads.transforms import Transformed
from ..._tape.fast_results import result_of, view_result, without_history
from ..._tape.node import box_of, ticks
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, make, wrap
from ..._tape.unrecorded import unrecorded_here
from ..shape.views_primitive import alias
from .index_primitive import INDEX, index, index_put, index_raw, is_plain, take_at

SELECT, SLICE, UNSQUEEZE = (REGISTRY[name] for name in ("select", "slice_dim", "unsqueeze_dim"))
SELECT_NODE = SELECT.node


# ---- x[...]: parsing
def getitem(self: Tensor, key: Any) -> Tensor:
    """``x[...]``: a view if the key has only ints, slices, ``None`` and ``...``; else a copy of the selected part."""
    if type(key) is int:  # the hot path: ``select`` without its calls
        a = self._payload
        if type(a) is np.ndarray:
            try:
                r = a[key, ...]
            except (IndexError, OverflowError):
                return read_key(self, a, key, None)  # type: ignore[return-value]  # it raises PyTorch's error
            if slow_if_recording:
                return view_result(SELECT, self, (0, key if key >= 0 else key + len(a)), r)
            t = make()
            t._box = None
            t._payload = r
            t._view = (self, SELECT, (0, key if key >= 0 else key + len(a)), 0)
            fx = self._node
            if fx is None:
                t._node = None
                return t
            n = SELECT_NODE()
            n.fx = fx
            n._seq = next(ticks)
            n._hooks = None
            n.params = (0, key if key >= 0 else key + len(a))
            n.shape = a.shape
            f = getframe(1)
            n._code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n._code = f.f_code
            n._lasti = f.f_lasti
            t._node = n
            return t
    ty = type(key)
    if ty is slice:
        a = self._payload
        shape = a.shape
        if not shape:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        start, end, step = slice_bounds(key, shape[0]) if key.step is not None else key.indices(shape[0])
        if end < start:
            end = start
        if type(a) is not np.ndarray:
            return SLICE.op(self, 0, start, end, step)
        return view_result(SLICE, self, (0, start, end, step), a[key])
    elif ty is not tuple and (not slow_if_recording or unrecorded_here()):
        if ty is Tensor:
            i = key._payload
            if (
                i.ndim == 0
                and i.dtype.kind == "i"
                and isinstance(i, (np.ndarray, np.generic))
                and i.dtype.itemsize >= 4
            ):
                return getitem(self, int(i))
            taken = by_one_tensor(self, key)
            if taken is not None:
                return taken
        elif ty is list and set(map(type, key)) == _INTS:
            taken = by_one_tensor(self, wrap(np.array(key)))
            if taken is not None:
                return taken
        elif key is None and type(self._payload) is np.ndarray:
            return view_result(UNSQUEEZE, self, (0,), self._payload[None])
        elif key is ...:
            return alias(self)  # type: ignore[no-any-return]
    elif ty is tuple and key and type(self._payload) is np.ndarray and (not slow_if_recording or unrecorded_here()):
        found = _by_position(self, self._payload, key)
        if type(found) is tuple:
            return _of_arrays(*found)
        if found is not None:
            return found
    try:
        a = self._payload
        x, _, dims, indices = read_key(self, a, key, view_result if type(a) is np.ndarray else None)
    except (IndexError, TypeError, AttributeError):  # an index that overrides operators ends up here
        return recovered.run("__getitem__", (self, key))
    if indices:
        return indexed(x, dims, indices)
    return alias(x) if x is self else x


def _by_position(x: Tensor, a: Any, key: tuple[Any, ...]) -> Any:
    """``x[i, ..., j:k, None]`` for ints in range and slices without steps; ``None`` for any other key.

    With index tensors it returns the arguments of ``_of_arrays``.
    """
    shape = a.shape
    whole = x
    dims: Any = None  # of the index tensors
    dim = source = 0
    rest = True  # whether a ``...`` may come
    for item in key:
        if item is None:
            a = a[NEW_AT[dim]]
            x = view_result(UNSQUEEZE, x, (dim,), a, 3)
            dim += 1
            continue
        if item is ... and rest:
            rest = False
            skipped = len(shape) - len(key) + 1
            for part in key:
                if part is None:
                    skipped += 1
            if skipped < 0:
                return None
            dim += skipped
            source += skipped
            continue
        if source == len(shape):
            return None
        n = shape[source]
        source += 1
        if type(item) is int and -n <= item < n:
            if item < 0:
                item += n
            a = a[COLONS[dim] + (item, ...)]
            x = view_result(SELECT, x, (dim, item), a, 3)
        elif type(item) is slice and item.step is None and n:
            start, end, step = item.indices(n)
            if item.start or end != n:
                a = a[COLONS[dim] + (item,)]
                x = view_result(SLICE, x, (dim, start, end if end > start else start, step), a, 3)
            dim += 1
        elif type(item) is Tensor:
            i = item._payload
            if type(i) is not np.ndarray or not i.ndim:
                return None
            if dims is None:
                dims, tensors, arrays = [], [], []
            dims.append(dim)
            tensors.append(item)
            arrays.append(i)
            dim += 1
            if i.dtype.char not in "lqi":
                if i.dtype.char != "?" or not rest or i.shape != shape[source - 1 : source - 1 + i.ndim]:
                    return None
                dim += i.ndim - 1
                source += i.ndim - 1
                rest = False  # a mask takes several items' dimensions
        else:
            return None
    if dims is not None:
        return x, tuple(dims), tensors, arrays
    return None if x is whole else x


def by_one_tensor(x: Tensor, key: Tensor) -> Tensor | None:
    """``x[i]`` for one index tensor on plain arrays; ``None`` if the general path is needed."""
    a, i = x._payload, key._payload
    if type(a) is not np.ndarray or type(i) is not np.ndarray or not i.ndim or not a.ndim:
        return None
    kind = i.dtype.kind
    try:
        if kind == "i" and i.dtype.itemsize >= 4:
            r = intp.take(a, i, 0) if i.size < 1024 and a.flags.c_contiguous else index_raw([a, i], (0,))
        elif kind == "b" and i.shape == a.shape[: i.ndim]:
            r = take_at(a, (0,), (i,))
        else:
            return None
    except IndexError:
        return None
    fx = x._node
    if slow_if_recording:
        return without_history(r)
    if fx is None:
        return wrap(r)
    b = key._box
    return result_of(INDEX, (fx, None), [[b if b is not None else box_of(key)], [a.shape, i.shape], (0,)], r, 3)


def by_tensors(shape: tuple[int, ...], key: tuple[Any, ...]) -> tuple[tuple[int, ...], list[Tensor], list[Any]] | None:
    """The dims, index tensors and their arrays of a key of integer tensors, fitting masks and ``:``, or ``None``."""
    dims = []
    tensors = []
    arrays = []
    d = 0
    for item in key:
        if type(item) is Tensor:
            i = item._payload
            if type(i) is not np.ndarray or not i.ndim:
                return None
            dims.append(d)
            tensors.append(item)
            arrays.append(i)
            if i.dtype.char in "lqi":
                d += 1
            elif i.dtype.char == "?" and i.shape == shape[d : d + i.ndim]:
                d += i.ndim
            else:
                return None
        elif type(item) is slice and item == COLON:
            d += 1
        else:
            return None
    return None if d > len(shape) else (tuple(dims), tensors, arrays)


COLON = slice(None)
_INTS = {int}
public("Tensor.__getitem__")(getitem)


def slice_bounds(s: slice, n: int) -> tuple[int, int, int]:
    """A slice's start, end and step, from 0 to n; raises PyTorch's errors for a step that is not positive."""
    if s.step is not None:
        step = operator.index(s.step)
        if step <= 0:
            raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    start, end, step = s.indices(n)
    return start, end if end > start else start, step


def _whole(s: slice) -> bool:
    """Whether a slice of an empty dimension is written as the whole dimension: only then PyTorch makes no view."""
    return not s.start and (s.stop is None or s.stop >= 0)


_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def read_key(x: Any, a: Any, key: Any, make: Any) -> tuple[Any, Any, Any, Any]:
    """Interpret the index of a tensor with the payload ``a``; raises PyTorch's errors for a wrong index.

    Ints, slices, ``None`` and ``...`` are views, each of the last one. ``make(operator, x, parameters, array, depth)``
    adds one to ``x``: a tensor (``view_result``) or a chain (``linked``); without ``make`` the operator itself does.
    Returns the final ``x`` and ``a``, the dims of the index tensors in that view, and the index tensors.
    """
    shape = a.shape
    ndim = len(shape)
    ty = type(key)
    items: Any = key
    if ty is not tuple:
        as_tuple = isinstance(key, tuple) or (ty is list and _is_tuple_in_disguise(key))
        items = tuple(key) if as_tuple else (key,)
    dims: Any = ()
    indices: Any = ()
    misfits: Any = ()  # masks whose size differs from their dims
    basic = _BASIC.issuperset(map(type, items))
    if not basic:
        used = _used(items)
        if used > ndim:
            raise _too_many(key, ndim)
        items = [item if type(item) in _BASIC else normal_part(item) for item in items]
        dims, indices, misfits = [], [], []
    dim = source = 0  # of the view, of x
    left = iter(items)
    for item in left:
        ty = type(item)
        if ty is int:
            n = shape[source] if source < ndim else 0
            if not -n <= item < n:
                if not -(2**63) <= item < 2**63:
                    raise ValueError("Overflow when unpacking long long")
                if _used(items) > ndim:
                    raise _too_many(key, ndim)
                place = len(items) - operator.length_hint(left) - 1
                raise IndexError(f"index {item} is out of bounds for dimension {place} with size {n}")
            if item < 0:
                item += n
            if make is not None:
                a = a[COLONS[dim] + (item, ...)]
                x = make(SELECT, x, (dim, item), a, 3)
            else:
                x = SELECT.op(x, dim, item)
            source += 1
        elif ty is slice:
            n = shape[source] if source < ndim else 0
            if not n and _used(items) > ndim:
                raise _too_many(key, ndim)
            if source >= ndim:  # a second `...` has passed dims
                raise out_of_range(dim, (x if make is None else a).ndim)
            start, end, step = slice_bounds(item, n) if item.step is not None or not n else item.indices(n)
            if end < start:
                end = start
            if item.start or end != n or step != 1 or (not n and not _whole(item)):
                if make is not None:
                    a = a[COLONS[dim] + (slice(start, end, step),)]
                    x = make(SLICE, x, (dim, start, end, step), a, 3)
                else:
                    x = SLICE.op(x, dim, start, end, step)
            dim += 1
            source += 1
        elif item is Ellipsis:
            skipped = ndim - len(items) + items.count(None) + items.count(...) if basic else ndim - used
            if skipped < 0:
                raise _too_many(key, ndim)
            dim += skipped
            source += skipped
        else:
            taken = 1
            if item is None or ty is bool:
                if make is not None:
                    a = a[NEW_AT[dim]]
                    x = make(UNSQUEEZE, x, (dim,), a, 3)
                else:
                    x = UNSQUEEZE.op(x, dim)
            else:
                if logical_dtype(item).kind == "b":
                    taken = item._payload.ndim
                    if item._payload.shape != shape[source : source + taken]:
                        misfits.append((item, dim))
                source += taken
            if item is not None:
                dims.append(dim)
                indices.append(wrap(np.zeros(1 if item else 0, np.int64)) if ty is bool else item)
            dim += taken
    if indices and source > ndim and dims[-1] >= (rank := (x if make is None else a).ndim):
        raise IndexError(f"too many indices for tensor of dimension {rank} (got {dims[-1] + 1})")
    if misfits:
        mask, at = misfits[0]
        raise _mask_error(mask, at, tuple((x._payload if make is None else a).shape))
    return x, a, tuple(dims), indices


def linked(info: Operator, chain: tuple[Any, ...], p: tuple[Any, ...], a: Any, depth: int) -> tuple[Any, ...]:
    """A chain of views (``_tape.view_chain``) with one more view."""
    return (*chain, (info.name, p))


def _too_many(key: Any, ndim: int) -> IndexError:
    if not ndim and type(key) is int:
        if key:
            return IndexError(f"index {key} is out of bounds for dimension 0 with size 0")
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if not ndim and type(key) is slice:
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(f"too many indices for tensor of dimension {ndim}")


def _used(items: Any) -> int:
    """The number of dimensions that a key consumes; only a mask consumes several."""
    n = len(items)
    for item in items:
        ty = type(item)
        if ty is int or ty is slice:
            continue
        if item is None or item is Ellipsis or isinstance(item, bool):
            n -= 1
        elif isinstance(item, Tensor):
            dtype = logical_dtype(item)
            if dtype.kind == "b" or (dtype.kind == "u" and dtype.itemsize == 1):
                n += item._payload.ndim - 1
    return n


def _mask_error(mask: Tensor, dim: int, want: tuple[int, ...]) -> IndexError:
    have = tuple(mask._payload.shape)
    j = next(j for j, n in enumerate(have) if n != want[dim + j])
    return IndexError(
        f"The shape of the mask {list(have)} at index {j} does not match the shape of the indexed tensor {list(want)} "
        f"at index {dim + j}"
    )


def normal_part(item: Any) -> Any:
    """One part of an index as an int, a bool, or a Tensor of int64, int32 or bool."""
    if isinstance(item, Tensor):
        a = item._payload
        dtype = logical_dtype(item)
        kind = dtype.kind
        if kind == "b" or (kind == "u" and dtype.itemsize == 1):
            if kind == "u":
                if a.ndim:
                    warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
                item = cast(item, np.dtype(bool))
            if not a.ndim and isinstance(item._payload, (np.ndarray, np.generic)):
                return bool(item._payload)
            return item
        if kind not in "iu" or (a.ndim and (kind == "u" or dtype.itemsize < 4)):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if not a.ndim and isinstance(a, (np.ndarray, np.generic)):
            return int(a)
        return item if item._node is None and type(item) is Tensor else wrap(a)
    if isinstance(item, bool):
        return item
    if isinstance(item, np.ndarray):
        return normal_part(wrap(item if item.dtype.kind in "iub" else item.astype(np.int64)))
    if isinstance(item, (list, tuple, range)):
        return normal_part(wrap(_array(item)))
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if not isinstance(item, (float, complex, np.floating, np.bool_)) and hasattr(item, "__index__"):
        return operator.index(item)
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{type_name(item)})"
    )


def _array(items: Any) -> Any:
    """A list of ints or bools, of any depth, as an index array."""
    a = np.array(_plain(items)) if not isinstance(items, range) else np.array(items, np.int64)
    if a.dtype.kind == "b":
        return a
    kind = a.dtype.kind
    wide = kind in "uf" and a.size and a.max() >= 2.0**63  # NumPy converts small and large ints together to floats
    if wide or (kind == "O" and all(isinstance(x, int) for x in a.flat)):
        raise ValueError("Overflow when unpacking long long")
    if kind not in "iuf":
        raise TypeError(f"new(): invalid data type '{type_name(items)}'")
    return a.astype(np.int64)


def _plain(x: Any) -> Any:
    """Convert nested sequences of numbers and tensors to nested lists of numbers."""
    if isinstance(x, Tensor):
        return x._payload.tolist()
    if isinstance(x, (list, tuple)):
        return [_plain(y) for y in x]
    if isinstance(x, (str, bytes)) or x is None:
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    return x


def _is_tuple_in_disguise(key: list[Any]) -> bool:
    """PyTorch's legacy rule: a short list that holds tensors, sequences, slices, ``None`` or ``...`` means a tuple."""
    if len(key) >= 32:
        return False
    parts = (Tensor, np.ndarray, list, tuple, range, slice)
    if not any(isinstance(item, parts) or item is None or item is Ellipsis for item in key):
        return False
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; "
        "use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
        "x[torch.tensor(seq)], which will result either in an error or a different result"
    )
    return True


# ---- index tensors
def all_plain(tensors: Any) -> bool:
    """Whether all payloads are NumPy arrays, so that no transform is active."""
    for x in tensors:
        a = x._payload
        if type(a) is not np.ndarray and not isinstance(a, np.generic):
            return False
    return True


def known_masks(indices: list[Tensor]) -> list[Tensor]:
    """The index tensors, masks as plain arrays; raises PyTorch's error for a mask whose values are unknown.

    The values of a mask decide on the shape of the result. In forward mode they are known.
    """
    known = []
    for i in indices:
        if not is_plain(i) and logical_dtype(i).kind == "b":
            if on_meta(i):
                raise no_places()
            if isinstance(i._payload, Transformed):
                values = i._payload.primal()
                if getattr(values, "is_traced", False):
                    values = np.asarray(values)  # torch.compile records no further
                if isinstance(values, (np.ndarray, np.generic)) or values.is_foreign:
                    known.append(wrap(values))
                    continue
            raise RuntimeError(
                "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
                "indexing with a boolean mask."
            )
        known.append(i)
    return known


def place_error(error: Exception, indices: list[Tensor]) -> Exception:
    """PyTorch's error for an error that NumPy raised about index arrays."""
    text = str(error)
    if "broadcast" in text:
        _, arrays = without_masks((0,) * len(indices), [i._payload for i in indices])
        shapes = ", ".join(str(list(i.shape)) for i in arrays)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    if text.endswith("with size 0") or "empty axes" in text:
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(text.replace("axis", "dimension"))


def indexed(x: Tensor, dims: tuple[int, ...], indices: list[Tensor]) -> Tensor:
    if type(x._payload) is np.ndarray and all_plain(indices) and (not slow_if_recording or unrecorded_here()):
        return _of_arrays(x, dims, indices, [i._payload for i in indices])
    try:
        return index([x, *known_masks(indices)], dims)
    except IndexError as error:
        raise place_error(error, indices) from None


def _of_arrays(x: Tensor, dims: tuple[int, ...], indices: list[Tensor], arrays: list[Any]) -> Tensor:
    """``indexed`` for plain arrays."""
    a, first = x._payload, arrays[0]
    try:
        if len(arrays) == 1 and first.size < 1024 and first.dtype.kind == "i" and a.flags.c_contiguous:
            r = intp.take(a, first, dims[0])
        else:
            r = index_raw([a, *arrays], dims)
    except IndexError as error:
        raise place_error(error, indices) from None
    fx = x._node
    if slow_if_recording:
        return without_history(r)
    if fx is None:
        return wrap(r)
    saved = [[box_of(i) for i in indices], [a.shape, *[i.shape for i in arrays]], dims]
    return result_of(INDEX, (fx, *[None] * len(indices)), saved, r, 3)


def put_at(x: Tensor, values: Tensor, dims: Any, indices: Any, accumulate: bool, into: bool) -> Tensor:
    if type(x._payload) is not Meta:
        indices = known_masks(indices)
    plain = all_plain([x, values, *indices])
    try:
        return index_put([x, values, *indices], dims, accumulate, into and plain)
    except IndexError as error:
        raise place_error(error, indices) from None
    except ValueError as error:
        raise value_error(error, x, values, dims, indices) from None


def check_rank(x: Tensor, value: Tensor, dims: Any, indices: Any) -> None:
    """Refuse a value of more dimensions than it is written to, even if they have size one."""
    used = [i._payload.ndim if logical_dtype(i).kind == "b" else 1 for i in indices]
    ranks = [1 if logical_dtype(i).kind == "b" else i._payload.ndim for i in indices]
    if value._payload.ndim > x._payload.ndim - sum(used) + max(ranks, default=0):
        raise value_error(ValueError("too many dimensions"), x, value, dims, indices)


def check_shape(x: Tensor, value: Tensor, dims: Any, indices: Any) -> None:
    """Refuse a value that does not broadcast to what it is written to, where the arrays are known."""
    if all_plain([x, value, *indices]):
        want = _written_shape(x, dims, indices)
        if not fits_into(value._payload.shape, want):
            raise _misfit(value._payload.shape, want)


def value_error(error: Exception, x: Tensor, values: Tensor, dims: Any, indices: Any) -> Exception:
    try:
        return _misfit(values._payload.shape, _written_shape(x, dims, indices))
    except ValueError:
        return error


def _written_shape(x: Tensor, dims: Any, indices: Any) -> tuple[int, ...]:
    """The shape of what is written to, where the indices fit each other."""
    ds, arrays = without_masks(dims, [i._payload for i in indices])
    return result_shape(tuple(x._payload.shape), ds, [i.shape for i in arrays])


def _misfit(shape: Any, want: Any) -> RuntimeError:
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
        f"{list(want)}"
    )


TRANSFORMED.getitem = lambda value, key: getitem(wrap(value), key)._payload

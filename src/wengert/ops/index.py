"""Indexing: ``x[...]`` and ``x[...] = v`` as chains of views, then at most one operator on index tensors.

As in PyTorch, what is an int, a slice, ``None`` or ``...`` makes views one after the other from left to right, and
what is a tensor (a mask, a list, a NumPy array) is left for ``index`` or ``index_put`` on the last of them. So an int
is no index tensor, unlike in NumPy: ``x[0, :, [1, 2]]`` keeps the order of its dimensions.

``index`` and ``index_back`` are each other's transposes, ``index_back`` adding up what falls on the same place.
"""

from __future__ import annotations

import operator
from sys import _getframe as getframe
from typing import Any

import numpy as np

from .. import _errors as lines
from .._alias import apply_inplace, record_slices, record_write, unrecorded, writable, written
from .._backends.numpy import in_lib
from .._batching import batch_size
from .._dispatch import cast, logical_dtype, type_text
from .._dtypes import BY_NUMPY
from .._errors import here, warn
from .._general import general
from .._modes import M
from .._node import AccumulateGrad, box_of, tick, ticks
from .._registry import RAW, REGISTRY, U, public
from .._saved import payload_dtype
from .._tensor import Tensor, make, wrap
from ._ties import recorded, tied
from .create import _dense_like, element
from .shape import COLONS, NEW_AT, alias, unsqueeze_dim
from .strided import AS_STRIDED, _address, select, slice_dim

SELECT = REGISTRY["select"]
SELECT_NODE = SELECT.node


# ------------------------------------------------------------------------------------------- places of index tensors, raw
def _key(dims: Any, indices: Any) -> tuple[Any, ...]:
    """What NumPy is given for index arrays at these dims; a mask stands at the first of its dims."""
    key: list[Any] = []
    place = 0
    for d, i in zip(dims, indices, strict=True):
        key += COLONS[d - place]
        key.append(i)
        place = d + (i.ndim if i.dtype.kind == "b" else 1)
    return tuple(key)


def _without_masks(dims: Any, indices: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The same places as index arrays of integers, one for each dim."""
    ds: list[int] = []
    arrays: list[Any] = []
    for d, i in zip(dims, indices, strict=True):
        if i.dtype.kind == "b":
            arrays += i.nonzero()
            ds += range(d, d + i.ndim)
        else:
            arrays.append(i)
            ds.append(d)
    return tuple(ds), arrays


def _adjacent(dims: Any) -> bool:
    return len(dims) == 1 or dims[-1] - dims[0] == len(dims) - 1


def _element_strides(shape: tuple[int, ...]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides


def _positions(shape: tuple[int, ...], dims: Any, arrays: Any, check: bool = False) -> tuple[Any, int]:
    """Where the elements of the result of ``index`` lie in a contiguous array of this shape, and the length of a run.

    Runs are trailing dimensions that no index array stands at: only the place of each run's first element is given.
    ``check``: refuse indices that are out of range.
    """
    strides = _element_strides(shape)
    at: Any = 0
    for d, i in zip(dims, arrays, strict=True):
        n = shape[d]
        if i.size:
            if i.dtype.itemsize < 8:
                i = i.astype(np.int64)
            if i.min() < 0:
                i = np.where(i < 0, i + n, i)
            if check and (i.max() >= n or i.min() < 0):
                bad = i.max() if i.max() >= n else i.min() - n
                raise IndexError(f"index {bad} is out of bounds for dimension {d} with size {n}")
        at = at + i * strides[d]
    last = dims[-1]
    k = at.ndim
    lead = [d for d in range(last) if d not in dims]
    if not lead:
        return at, strides[last]
    if not _adjacent(dims):  # then the index dimensions come first
        for d in lead:
            at = at[..., None] + np.arange(shape[d]) * strides[d]
        return at, strides[last]
    for d in reversed(lead):
        at = at + (np.arange(shape[d]) * strides[d]).reshape((shape[d],) + (1,) * k)
        k += 1
    return at, strides[last]


@in_lib
def add_runs(r: Any, at: Any, run: int, values: Any) -> None:
    """Add up ``values`` in the contiguous array ``r``, in runs of ``run`` elements that begin at ``at``.

    ``np.add.at`` on a flat index is ten times as fast as on rows; long runs are added one by one.
    """
    at = at.reshape(-1)
    flat = r.reshape(-1)
    values = values.reshape(-1)
    m = at.size
    if not m or not run:
        return
    if run >= 512:
        rows, v = flat.reshape(-1, run), values.reshape(m, run)
        for k, i in enumerate((at // run).tolist()):
            rows[i] += v[k]
        return
    if run > 1:
        n = flat.size // run
        if n < m * run // 2 and m <= n and np.bincount(at // run, minlength=n).max() <= 1:
            flat.reshape(n, run)[at // run] += values.reshape(m, run)
            return
        at = (at[:, None] + np.arange(run)).reshape(-1)
    np.add.at(flat, at, values)


# ---------------------------------------------------------------------------------------------------------- batching rules
def _lifted_places(inner: Any, mine: Any, rank: int, first: int, dims: Any) -> tuple[Any, Any, Any]:
    """(index tensors, dims, permutation) of the batched form: what follows ``first`` in ``inner`` are the index tensors.

    The permutation brings the result of the batched form to (batch, result of one); ``None`` if it is there already.
    ``rank`` is the result's for one.
    """
    indices, theirs = list(inner[first:]), mine[first:]
    if any(payload_dtype(i).kind == "b" for i in indices):
        raise RuntimeError(
            "vmap: It looks like you're attempting to index with a mask, whose result has a shape that depends on its values. "
            "Use torch.where or masked_fill."
        )
    k = max(i.ndim - m for i, m in zip(indices, theirs, strict=True))
    up = tuple(d + 1 for d in dims)
    adjacent = _adjacent(dims)
    if not any(theirs):
        perm = None if adjacent else (k, *range(k), *range(k + 1, rank + 1))
        return indices, up, perm
    size = next(i.shape[0] for i, m in zip(indices, theirs, strict=True) if m)
    indices = [
        U.reshape(i, (size,) + (1,) * (k + 1 - i.ndim) + tuple(i.shape[1:])) if m else i
        for i, m in zip(indices, theirs, strict=True)
    ]
    indices = [np.arange(size).reshape((size,) + (1,) * k), *indices]
    lead = dims[0] if adjacent else 0
    perm = None if not lead else (0, *range(k + 1, k + 1 + lead), *range(1, k + 1), *range(k + 1 + lead, rank + 1))
    return indices, (0, *up), perm


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _all_batched(inner: Any, mine: Any, count: int) -> list[Any]:
    size = batch_size(inner, mine)
    return [x if m else U.expand(x, (size, *x.shape)) for x, m in zip(inner[:count], mine, strict=False)]


def _index_rank(x: Any, batched: bool, dims: Any, indices: Any, theirs: Any) -> int:
    return x.ndim - batched - len(dims) + max(i.ndim - m for i, m in zip(indices, theirs, strict=True))


def _batch_index(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    (dims,) = p
    rank = _index_rank(inner[0], mine[0], dims, inner[1:], mine[1:])
    indices, dims, perm = _lifted_places(inner, mine, rank, 1, dims)
    (x,) = _all_batched(inner, mine, 1)
    r = U.index([x, *indices], dims)
    return r if perm is None else U.permute(r, perm)


def _batch_index_back(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    size, dims = p
    indices, dims, perm = _lifted_places(inner, mine, inner[0].ndim - mine[0], 1, dims)
    (g,) = _all_batched(inner, mine, 1)
    if perm is not None:
        g = U.permute(g, _inverse(perm))
    return U.index_back([g, *indices], (batch_size(inner, mine), *size), dims)


def _batch_index_put(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    dims, accumulate, _ = p
    rank = _index_rank(inner[0], mine[0], dims, inner[2:], mine[2:])
    one = _result_shape(
        tuple(inner[0].shape[mine[0] :]), dims, [tuple(i.shape[m:]) for i, m in zip(inner[2:], mine[2:], strict=True)]
    )
    indices, dims, perm = _lifted_places(inner, mine, rank, 2, dims)
    x, v = _all_batched(inner, mine, 2)
    size = x.shape[0]
    v = U.expand(U.reshape(v, (size,) + (1,) * (rank + 1 - v.ndim) + tuple(v.shape[1:])), (size, *one))
    if perm is not None:
        v = U.permute(v, _inverse(perm))
    return U.index_put([x, v, *indices], dims, accumulate, False)


def _result_shape(shape: tuple[int, ...], dims: Any, shapes: Any) -> tuple[int, ...]:
    """The shape of the result of ``index``, for index tensors of integers."""
    whole = np.broadcast_shapes(*shapes)
    rest = tuple(n for d, n in enumerate(shape) if d not in dims)
    lead = dims[0] if _adjacent(dims) else 0
    return rest[:lead] + whole + rest[lead:]


# -------------------------------------------------------------------------------------------------------------- primitives
def _nones(shapes: Any, *first: Any) -> tuple[Any, ...]:
    return first + (None,) * (len(shapes) - len(first))


def _index_samples(rng: Any) -> Any:
    x = rng.standard_normal((4, 3))
    i = np.array([[0, 2], [-1, 2]])
    y = rng.standard_normal((2, 3, 4))
    return [
        (([x, i],), ((0,),)),
        (([x, np.array([2, 2, 0])],), ((1,),)),
        (([x, np.array([0, 0]), np.array([[1], [2]])],), ((0, 1),)),
        (([y, np.array([0, 1]), np.array([3, 3])],), ((0, 2),)),
        (([y, np.array([0, 1])],), ((2,),)),
        (([rng.standard_normal(3), np.zeros(0, np.int64)],), ((0,),)),
    ]


@general(
    tensors=-1,
    grad=lambda xp, g, tensors_from1, tensors_shape, dims: _nones(
        tensors_shape, xp.index_back([g, *tensors_from1], tensors_shape[0], dims)
    ),
    jvp=lambda xp, tangents, result, *args: xp.index([tangents[0], *args[1:-1]], args[-1]),
    holomorphic=False,
    batch=_batch_index,
    dtypes="fcib",
    samples=_index_samples,
)
def index(lib, tensors, dims):
    """What index tensors (the rest of ``tensors``) at some dims take from the first tensor."""
    x = tensors[0]
    if len(dims) == 1:
        i = tensors[1]
        if i.dtype.kind != "b" and x.flags.c_contiguous:
            return x.take(i, dims[0])
    return x[_key(dims, tensors[1:])]


@general(
    tensors=-1,
    grad=lambda xp, g, tensors_from1, tensors_shape, dims: _nones(
        tensors_shape, xp.index([g, *tensors_from1], dims)
    ),
    jvp=lambda xp, tangents, result, *args: xp.index_back([tangents[0], *args[1:-2]], *args[-2:]),
    holomorphic=False,
    batch=_batch_index_back,
    samples=lambda rng: [
        (([rng.standard_normal((2, 2, 3)), np.array([[0, 2], [-1, 2]])],), ((4, 3), (0,))),
        (([rng.standard_normal((2, 3)), np.array([0, 1]), np.array([3, 3])],), ((2, 3, 4), (0, 2))),
        (([rng.standard_normal((2, 3, 2)), np.array([0, 0])],), ((2, 3, 4), (2,))),
    ],
)
def index_back(lib, tensors, size, dims):
    """Zeros of a size with the first tensor added where the index tensors point."""
    g = tensors[0]
    r = lib.zeros(size, g.dtype)
    if len(dims) == 1 and tensors[1].dtype.kind == "b":
        r[_key(dims, tensors[1:])] = g
        return r
    dims, arrays = _without_masks(dims, tensors[1:])
    lib.add_runs(r, *_positions(tuple(size), dims, arrays), g)
    return r


def dense(x: Any) -> Any:
    """A copy, the dimensions in the same order in memory."""
    if type(x) is not np.ndarray or x.flags.c_contiguous:
        return np.array(x)
    r = _dense_like(x, x.dtype)
    r[...] = x
    return r


def _index_put_back(xp: Any, g: Any, tensors_from2: Any, tensors_shape: Any, dims: Any, accumulate: Any, needs: Any) -> Any:
    mine = theirs = None
    if needs[0]:
        mine = g if accumulate else xp.index_put([g, xp.zeros((), g.dtype), *tensors_from2], dims, False, False)
    if needs[1]:
        theirs = xp.index([g, *tensors_from2], dims)
        if theirs.shape != tensors_shape[1]:
            theirs = xp.sum_to(theirs, tensors_shape[1])
    return _nones(tensors_shape, mine, theirs)


@general(
    tensors=-1,
    grad=_index_put_back,
    jvp=lambda xp, tangents, result, *args: xp.index_put(
        [
            *(xp.zeros_like(x) if t is None else t for x, t in zip(args[:2], tangents[:2], strict=True)),
            *args[2:-3],
        ],
        *args[-3:-1],
        False,
    ),
    holomorphic=False,
    batch=_batch_index_put,
    dtypes="fcib",
    samples=lambda rng: [
        (([rng.standard_normal((4, 3)), rng.standard_normal((2, 3)), np.array([0, 2])],), ((0,), False, False)),
        (([rng.standard_normal((4, 3)), rng.standard_normal(3), np.array([0, 0])],), ((0,), True, False)),
        (([rng.standard_normal((4, 3)), rng.standard_normal(()), np.array([0, -1]), np.array([2, 1])],), ((0, 1), False, False)),
        (
            ([rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3)), np.array([0, 1]), np.array([3, 3])],),
            ((0, 2), True, False),
        ),
    ],
)
def index_put(lib, tensors, dims, accumulate, into):
    """A copy of the first tensor with the second put, or added, where the index tensors point.

    ``into``: no copy, the first tensor itself is written to.
    """
    x, v = tensors[0], tensors[1]
    if accumulate and not (len(dims) == 1 and tensors[2].dtype.kind == "b"):
        r = x if into and x.flags.c_contiguous else lib.array(x, order="C")
        ds, arrays = _without_masks(dims, tensors[2:])
        at, run = _positions(r.shape, ds, arrays, check=True)
        if v.ndim != r.ndim or v.size != at.size * run:
            v = lib.broadcast_to(v, _result_shape(r.shape, ds, [i.shape for i in arrays]))
        lib.add_runs(r, at, run, v)
        return r
    r = x if into else dense(x)
    if accumulate:
        r[_key(dims, tensors[2:])] += v
    else:
        r[_key(dims, tensors[2:])] = v
    return r


INDEX = REGISTRY["index"]
_index_raw = RAW.index
INDEX_PUT = REGISTRY["index_put"]
assert INDEX.formulas.uses == ("tensors_from1", "tensors_shape", "dims")  # type: ignore[attr-defined]
assert INDEX_PUT.formulas.uses == ("tensors_from2", "tensors_shape", "dims", "accumulate", "needs")  # type: ignore[attr-defined]
SLICE = REGISTRY["slice_dim"]
UNSQUEEZE = REGISTRY["unsqueeze_dim"]
U.getitem = lambda value, key: getitem(wrap(value), key)._a


# ------------------------------------------------------------------------------------------------------------- x[...]: parsing
def getitem(self: Tensor, key: Any) -> Tensor:
    """``x[...]``: a view if everything is an int, a slice, ``None`` or ``...``; else a copy of what is asked for."""
    if type(key) is int and not M:  # the hot path: what ``select`` does, without the calls
        a = self._a
        if type(a) is np.ndarray:
            try:
                r = a[key, ...]
            except IndexError:
                raise _int_error(key, 0, a.shape) from None
            t = make()
            t._m = None
            t._a = r
            t._v = (self, SELECT, (0, key if key >= 0 else key + len(a)), 0)
            fx = self._fn
            if fx is None:
                t._fn = None
                return t
            n = SELECT_NODE()
            n.fx = fx
            n.seq = next(ticks)
            n.h = None
            n.p = (0, key if key >= 0 else key + len(a))
            n.shape = a.shape
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            t._fn = n
            return t
    ty = type(key)
    if ty is slice:
        shape = self._a.shape
        if not shape:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        start, end, step = _bounds(key, shape[0])
        if M or type(self._a) is not np.ndarray:
            return slice_dim(self, 0, start, end, step)
        return tied(SLICE, self, (0, start, end, step), self._a[start:end:step])
    if ty is Tensor and not M:
        i = key._a
        if i.ndim == 0 and i.dtype.kind == "i" and isinstance(i, (np.ndarray, np.generic)) and i.dtype.itemsize >= 4:
            return getitem(self, int(i))
        r = _by_one_tensor(self, key)
        if r is not None:
            return r
    if ty is tuple and not M and type(self._a) is np.ndarray and _BASIC.issuperset(map(type, key)):
        x = _by_views(self, key)
        if x is not None:
            return alias(x) if x is self else x
    x, dims, indices = _parsed(self, key)
    if not indices:
        return alias(x) if x is self else x
    return _indexed(x, dims, indices)


def _by_views(self: Tensor, key: tuple[Any, ...]) -> Tensor | None:
    """``_parsed`` for a plain array and a key without index tensors; ``None`` if something is wrong with the key."""
    a = self._a
    skipped = a.ndim - len(key) + key.count(None) + key.count(...)  # what ``...`` stands for
    if skipped < 0:
        return None
    x = self
    dim = 0
    for item in key:
        ty = type(item)
        if ty is int:
            n = a.shape[dim]
            if not -n <= item < n:
                return None
            if item < 0:
                item += n
            a = a[COLONS[dim] + (item, ...)]
            x = tied(SELECT, x, (dim, item), a)
        elif ty is slice:
            n = a.shape[dim]
            start, end, step = _bounds(item, n)
            if start or end != n or step != 1 or (not n and not _whole(item)):
                a = a[COLONS[dim] + (slice(start, end, step),)]
                x = tied(SLICE, x, (dim, start, end, step), a)
            dim += 1
        elif item is None:
            a = a[NEW_AT[dim]]
            x = tied(UNSQUEEZE, x, (dim,), a)
            dim += 1
        else:
            dim += skipped
            skipped = 0
    return x


def _by_one_tensor(x: Tensor, key: Tensor) -> Tensor | None:
    """``x[i]`` for one index tensor on plain arrays; ``None`` if the long way must be taken."""
    a, i = x._a, key._a
    if type(a) is not np.ndarray or type(i) is not np.ndarray or not i.ndim or not a.ndim:
        return None
    kind = i.dtype.kind
    try:
        if kind == "i" and i.dtype.itemsize >= 4:
            r = a.take(i, 0) if a.flags.c_contiguous else a[i]
        elif kind == "b" and i.shape == a.shape[: i.ndim]:
            r = a[i]
        else:
            return None
    except IndexError:
        return None
    fx = x._fn
    if fx is None:
        return wrap(r)
    b = key._m
    return recorded(INDEX, (fx, None), [[b if b is not None else box_of(key)], [a.shape, i.shape], (0,)], r)


public("Tensor.__getitem__")(getitem)


def _int_error(i: Any, place: int, shape: Any) -> IndexError:
    if not shape:
        if i:
            return IndexError(f"index {i} is out of bounds for dimension {place} with size 0")
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
            "tensor to a number"
        )
    return IndexError(f"index {i} is out of bounds for dimension {place} with size {shape[place]}")


def _bounds(s: slice, n: int) -> tuple[int, int, int]:
    """A slice's start, end and step, from 0 to n; PyTorch's errors for a step that is not positive."""
    start, end, step = s.start, s.stop, s.step
    if step is None and (start is None or type(start) is int) and (end is None or type(end) is int):
        if start is None:
            start = 0
        elif start < 0:
            start = max(start + n, 0)
        elif start > n:
            start = n
        if end is None or end > n:
            end = n
        elif end < 0:
            end += n
        return start, end if end > start else start, 1
    if step is None:
        step = 1
    else:
        step = operator.index(step)
        if step <= 0:
            raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    start, end, step = slice(_edge(start), _edge(end), step).indices(n)
    return start, end if end > start else start, step


def _whole(s: slice) -> bool:
    """Whether a slice of an empty dimension is written as one of the whole: only then PyTorch makes no view."""
    return not s.start and (s.stop is None or s.stop >= 0)


def _edge(value: Any) -> Any:
    """A slice's start or end: an int, ``None`` or an integer tensor of one element."""
    return value if value is None or type(value) is int or not isinstance(value, Tensor) else operator.index(value)


_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def _parsed(self: Tensor, key: Any) -> tuple[Tensor, tuple[int, ...], list[Tensor]]:
    """The views that an index makes, and its index tensors with the dims (of the last view) where they stand."""
    if type(key) is tuple:
        items: Any = key
    else:
        items = tuple(key) if _is_tuple_in_disguise(key) else (key,)
    ndim = self._a.ndim
    x = self
    dims: list[int] = []
    indices: list[Tensor] = []
    used = sum(map(_used_by, items))
    if used > ndim:
        if not ndim and len(items) == 1 and type(items[0]) is int:
            raise _int_error(items[0], 0, ())
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    if not _BASIC.issuperset(map(type, items)):
        items = [item if type(item) in _BASIC else _normal(item) for item in items]
    dim = 0
    for place, item in enumerate(items):
        ty = type(item)
        if ty is int:
            n = x._a.shape[dim]
            if not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for dimension {place} with size {n}")
            x = select(x, dim, item if item >= 0 else item + n)
        elif ty is slice:
            n = x._a.shape[dim]
            start, end, step = _bounds(item, n)
            if start or end != n or step != 1 or (not n and not _whole(item)):
                x = slice_dim(x, dim, start, end, step)
            dim += 1
        elif item is None:
            x = unsqueeze_dim(x, dim)
            dim += 1
        elif item is Ellipsis:
            dim += ndim - used
        elif ty is bool:
            x = unsqueeze_dim(x, dim)
            dims.append(dim)
            indices.append(wrap(np.zeros(1 if item else 0, np.int64)))
            dim += 1
        else:
            dims.append(dim)
            indices.append(item)
            dim += item._a.ndim if logical_dtype(item).kind == "b" else 1
    for d, i in zip(dims, indices, strict=True):
        if logical_dtype(i).kind == "b":
            _check_mask(i, d, x)
    return x, tuple(dims), indices


def _used_by(item: Any) -> int:
    """How many dimensions one part of an index takes; only a tensor that is a mask can take several."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor):
        dtype = logical_dtype(item)
        return item._a.ndim if dtype.kind == "b" or (dtype.kind == "u" and dtype.itemsize == 1) else 1
    return 1


def _check_mask(mask: Tensor, dim: int, x: Tensor) -> None:
    shape, want = tuple(mask._a.shape), tuple(x._a.shape)
    for j, n in enumerate(shape):
        if n != want[dim + j]:
            raise IndexError(
                f"The shape of the mask {list(shape)} at index {j} does not match the shape of the indexed tensor {list(want)} at "
                f"index {dim + j}"
            )


def _normal(item: Any) -> Any:
    """One part of an index as an int, a bool, or a Tensor of int64, int32 or bool."""
    if isinstance(item, Tensor):
        a = item._a
        dtype = logical_dtype(item)
        kind = dtype.kind
        if kind == "b" or (kind == "u" and dtype.itemsize == 1):
            if kind == "u":
                warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
                item = cast(item, np.dtype(bool))
            if not a.ndim and isinstance(item._a, (np.ndarray, np.generic)):
                return bool(item._a)
            return item
        if kind != "i" or dtype.itemsize < 4:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if not a.ndim and isinstance(a, (np.ndarray, np.generic)):
            return int(a)
        return item if item._fn is None and type(item) is Tensor else wrap(a)
    if isinstance(item, bool):
        return item
    if isinstance(item, np.ndarray):
        return _normal(wrap(item if item.dtype.kind in "iub" else item.astype(np.int64)))
    if isinstance(item, (list, tuple, range)):
        return _normal(wrap(_array(item)))
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if not isinstance(item, (float, complex, np.floating, np.bool_)) and hasattr(item, "__index__"):
        return operator.index(item)
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type_text(item)})"
    )


def _array(items: Any) -> Any:
    """A list of ints or bools, of any depth, as an index array."""

    def plain(x: Any) -> Any:
        if isinstance(x, Tensor):
            return x._a.tolist()
        if isinstance(x, (list, tuple)):
            return [plain(y) for y in x]
        if isinstance(x, (str, bytes)) or x is None:
            raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
        return x

    a = np.array(plain(items)) if not isinstance(items, range) else np.array(items, np.int64)
    if a.dtype.kind == "b":
        return a
    if a.dtype.kind not in "iuf":
        raise TypeError(f"new(): invalid data type '{type_text(items)}'")
    return a.astype(np.int64)


def _is_tuple_in_disguise(key: Any) -> bool:
    """PyTorch's legacy rule: a short list that holds tensors, sequences, slices, ``None`` or ``...`` means a tuple."""
    if type(key) is not list or len(key) >= 32:
        return False
    if not any(isinstance(item, (Tensor, list, tuple, slice)) or item is None or item is Ellipsis for item in key):
        return False
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
        "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which "
        "will result either in an error or a different result"
    )
    return True


# --------------------------------------------------------------------------------------------------------- index tensors
def _plain(x: Tensor) -> bool:
    return isinstance(x._a, (np.ndarray, np.generic))


def all_plain(tensors: Any) -> bool:
    """Whether all payloads are NumPy's: no transform is at work."""
    for x in tensors:
        a = x._a
        if type(a) is not np.ndarray and not isinstance(a, np.generic):
            return False
    return True


def _fit(tensors: list[Tensor], dims: tuple[int, ...], indices: list[Tensor]) -> tuple[tuple[int, ...], list[Tensor]]:
    """Index tensors as the operators take them: inside of a transform, masks as the numbers of their places."""
    if all_plain([*tensors, *indices]):
        return dims, indices
    ds: list[int] = []
    found: list[Tensor] = []
    for d, i in zip(dims, indices, strict=True):
        if logical_dtype(i).kind != "b":
            ds.append(d)
            found.append(i)
            continue
        if not _plain(i):
            raise RuntimeError(
                "vmap: It looks like you're attempting to index with a mask inside of vmap: the result's shape depends on the "
                "values. Use torch.where or masked_fill."
            )
        ds += range(d, d + i._a.ndim)
        found += [wrap(j) for j in i._a.nonzero()]
    return tuple(ds), found


def _place_error(error: Exception, indices: list[Tensor]) -> Exception:
    """NumPy's error for index arrays, in PyTorch's words."""
    text = str(error)
    if "broadcast" in text:
        _, arrays = _without_masks((0,) * len(indices), [i._a for i in indices])
        shapes = ", ".join(str(list(i.shape)) for i in arrays)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    if text.endswith("with size 0") or "empty axes" in text:
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(text.replace("axis", "dimension"))


def _indexed(x: Tensor, dims: tuple[int, ...], indices: list[Tensor]) -> Tensor:
    try:
        if not M and type(x._a) is np.ndarray and all_plain(indices):
            arrays = [i._a for i in indices]
            r = _index_raw([x._a, *arrays], dims)
            fx = x._fn
            if fx is None:
                return wrap(r)
            saved = [[box_of(i) for i in indices], [x._a.shape, *[i.shape for i in arrays]], dims]
            return recorded(INDEX, (fx, *[None] * len(indices)), saved, r)
        dims, indices = _fit([x], dims, indices)
        return index([x, *indices], dims)  # type: ignore[no-any-return]
    except IndexError as error:
        raise _place_error(error, indices) from None


def _put(x: Tensor, values: Tensor, dims: Any, indices: Any, accumulate: bool, into: bool) -> Tensor:
    plain = all_plain([x, values, *indices])
    if not plain:
        dims, indices = _fit([x, values], dims, indices)
    try:
        return index_put([x, values, *indices], dims, accumulate, into and plain)  # type: ignore[no-any-return]
    except IndexError as error:
        raise _place_error(error, indices) from None
    except ValueError as error:
        raise _value_error(error, x, values, dims, indices) from None


def _value_error(error: Exception, x: Tensor, values: Tensor, dims: Any, indices: Any) -> Exception:
    try:
        ds, arrays = _without_masks(dims, [i._a for i in indices])
        want = _result_shape(tuple(x._a.shape), ds, [i.shape for i in arrays])
    except ValueError:
        return error
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(values._a.shape)} cannot be broadcast to indexing result of shape "
        f"{list(want)}"
    )


# ---------------------------------------------------------------------------------------------------------------- x[...] = v
@public("Tensor.__setitem__")
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """``x[...] = v``: ``v`` (a tensor that broadcasts, or a number) is written into the part that ``x[...]`` reads."""
    ty = type(key)
    if ty is int or ty is slice or (ty is tuple and _BASIC.issuperset(map(type, key))):
        if _assign_basic(self, key, value) or _assign_recorded(self, key, value):
            return
    elif ty is Tensor and _assign_at(self, key, value):
        return
    if key is False:
        return
    x, dims, indices = _parsed(self, None if key is True else key)
    if type(value) is not Tensor:
        value = _as_value(value, x)
    if not indices:
        from .convert import copy_into

        copy_into(x, _sliced(value, x._a.shape))
        return
    if logical_dtype(value) is not logical_dtype(x):
        raise _dtype_error(x, value)
    put_into(x, value, dims, indices, False)


def _dtype_error(x: Tensor, value: Tensor) -> Exception:
    names = [BY_NUMPY[logical_dtype(t)].scalar_name for t in (x, value)]
    return RuntimeError(
        f"Index put requires the source and destination dtypes match, got {names[0]} for the destination and {names[1]} for the "
        "source."
    )


def _assign_basic(self: Tensor, key: Any, value: Any) -> bool:
    """The direct path: NumPy assigns, if nothing is recorded and its rules are PyTorch's."""
    a = self._a
    if type(a) is not np.ndarray:
        return False
    ty = type(value)
    if ty is Tensor:
        v = value._a
        if not (type(v) is np.ndarray or isinstance(v, np.generic)) or v.dtype.kind == "c" != a.dtype.kind:
            return False
        if not unrecorded(self, value._fn):
            return False
    elif (ty is not float and ty is not int) or a.dtype.kind not in "fc" or not unrecorded(self, None):
        return False
    else:
        v = value
    if type(key) is int:
        key = (key, Ellipsis)
    else:
        for item in key if type(key) is tuple else (key,):
            if type(item) is slice and not (item.step is None or (type(item.step) is int and item.step > 0)):
                return False
            if type(item) is slice and (isinstance(item.start, Tensor) or isinstance(item.stop, Tensor)):
                return False
        if type(key) is tuple and Ellipsis not in key:
            key = (*key, Ellipsis)  # so that one element is a view of no dimensions, not a number
    try:
        a[key] = v
    except (ValueError, IndexError, TypeError):
        return False  # the other path says what is wrong
    written(self, getframe(2))
    return True


def _assign_at(self: Tensor, key: Tensor, value: Any) -> bool:
    """``_assign_basic`` for one index tensor."""
    a, i = self._a, key._a
    if type(a) is not np.ndarray or type(i) is not np.ndarray or not i.ndim or not a.ndim:
        return False
    kind = i.dtype.kind
    if not (kind == "i" and i.dtype.itemsize >= 4) and not (kind == "b" and i.shape == a.shape[: i.ndim]):
        return False
    ty = type(value)
    if ty is Tensor:
        v = value._a
        if v.dtype is not a.dtype or not unrecorded(self, value._fn):
            return False
    elif (ty is float or ty is int) and a.dtype.kind in "fc" and unrecorded(self, None):
        v = value
    else:
        return False
    try:
        a[i] = v
    except (ValueError, IndexError, TypeError):
        return False
    written(self, getframe(2))
    return True


def _assign_recorded(self: Tensor, key: Any, value: Any) -> bool:
    """The direct path of a recorded write to a part of a tensor that is no view: what the views would do, at once."""
    a = self._a
    if M or type(a) is not np.ndarray or not a.flags.writeable or hasattr(self, "_v"):
        return False
    fx = self._fn
    if type(value) is Tensor:
        v, fy = value._a, value._fn
        if type(v) is not np.ndarray or v.dtype.kind == "c" != a.dtype.kind:
            return False
    elif type(value) is float and a.dtype.kind in "fc":
        v, fy = value, None
    else:
        return False
    if type(fx) is AccumulateGrad:
        return False
    found = _chain(a, key if type(key) is tuple else (key,))
    if found is None:
        return False
    chain, part = found
    n = None
    if fy is not None:
        if type(fy) is AS_STRIDED and fy.fx is fx and fy.p[0] == chain and _same_place(v, part):
            written(self, getframe(2))  # x[0] += 1 writes the part a second time, when it is there already
            return True
        if v.ndim > part.ndim:
            return False
        if np.may_share_memory(a, v):
            return False
        n = REGISTRY["copy"].node()
        n.fx = (None, fy)
        n.s = [v.shape, v.dtype]
        n.seq = tick()
        n.h = None
        n.code, n.lasti = here()
    try:
        np.copyto(part, v, casting="unsafe")
    except ValueError:
        return False
    del a, part, found  # so that whoever counts the references to the memory finds no more than there are
    record_slices(self, chain, n)
    return True


def _same_place(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.strides == b.strides and _address(a) == _address(b)


def _put_recorded(x: Tensor, value: Tensor, dims: Any, indices: Any, accumulate: bool) -> bool:
    """``put_into`` where it is recorded, for a tensor that is no view: without what only others need."""
    a, fx = x._a, x._fn
    if M or type(a) is not np.ndarray or hasattr(x, "_v") or type(fx) is AccumulateGrad or not all_plain([value, *indices]):
        return False
    if not a.flags.writeable or (accumulate and not a.flags.c_contiguous) or np.may_share_memory(a, value._a):
        return False
    arrays = [i._a for i in indices]
    try:
        RAW.index_put([a, value._a, *arrays], dims, accumulate, True)
    except (IndexError, ValueError):
        return False
    fy = value._fn
    n = INDEX_PUT.node()
    n.fx = (fx, fy, *[None] * len(arrays))
    shapes = [a.shape, value._a.shape, *[i.shape for i in arrays]]
    n.s = [[box_of(i) for i in indices], shapes, dims, accumulate, (fx is not None, fy is not None)]
    n.seq = tick()
    n.h = None
    n.code, n.lasti = here()
    del a
    record_write(x, n)
    return True


def _chain(a: Any, key: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any] | None:
    """The chain of views that a key without index tensors makes, and its array; ``None`` if something is wrong with it."""
    skipped = a.ndim - len(key) + key.count(None) + key.count(...)
    if skipped < 0:
        return None
    chain = []
    dim = 0
    for item in key:
        ty = type(item)
        if ty is int:
            n = a.shape[dim]
            if not -n <= item < n:
                return None
            p = (dim, item if item >= 0 else item + n)
            a = a[COLONS[dim] + (item, ...)]
            chain.append(("select", p))
        elif ty is slice:
            n = a.shape[dim]
            start, end, step = _bounds(item, n)
            if start or end != n or step != 1:
                a = a[COLONS[dim] + (slice(start, end, step),)]
                chain.append(("slice_dim", (dim, start, end, step)))
            dim += 1
        elif item is None:
            a = a[NEW_AT[dim]]
            chain.append(("unsqueeze_dim", (dim,)))
            dim += 1
        else:
            dim += skipped
            skipped = 0
    return (tuple(chain), a) if chain else None


def _as_value(value: Any, x: Tensor) -> Tensor:
    """A value that is written, as a tensor of x's dtype; PyTorch's errors for what is no number."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    dtype = logical_dtype(x)
    if not isinstance(value, (bool, int, float, complex)):
        from .._saved import _type_name

        raise TypeError(f"can't assign a {type_text(value)} to a {_type_name(np.empty(0, dtype))}")
    return wrap(number(value, dtype))


def number(value: Any, dtype: Any) -> Any:
    """A Python number as a 0-dimensional array of a dtype; PyTorch's error for one that does not fit."""
    with np.errstate(over="ignore"):
        return np.array(element(value, dtype)).astype(dtype)


def _sliced(value: Tensor, shape: Any) -> Tensor:
    """A value without the leading dimensions of size one that the part does not have."""
    have = value._a.shape
    extra = len(have) - len(shape)
    if extra > 0 and have[0] == 1:
        from .shape import reshape_public

        extra = next((i for i, n in enumerate(have[:extra]) if n != 1), extra)

        return reshape_public(value, tuple(have[extra:]))
    return value


def put_into(x: Tensor, value: Tensor, dims: Any, indices: Any, accumulate: bool) -> Tensor:
    """``index_put_``: write into x where the index tensors point."""
    a = x._a
    if (
        type(a) is np.ndarray
        and not accumulate
        and unrecorded(x, value._fn)
        and all_plain([value, *indices])
    ):
        try:
            writable(x)[_key(dims, [i._a for i in indices])] = value._a
        except IndexError as error:
            raise _place_error(error, indices) from None
        except ValueError as error:
            raise _value_error(error, x, value, dims, indices) from None
        written(x, getframe(2))
        return x
    if _put_recorded(x, value, dims, indices, accumulate):
        return x
    if type(a) is np.ndarray and writable(x) is a and value._a is not a and not np.may_share_memory(a, value._a):
        return apply_inplace(lambda self, v: _put(self, v, dims, indices, accumulate, True), x, (value,))
    return apply_inplace(lambda self, v: _put(self, v, dims, indices, accumulate, False), x, (value,))

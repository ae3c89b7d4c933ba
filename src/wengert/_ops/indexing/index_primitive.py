"""The operators on index tensors: ``index``, ``index_back`` and ``index_put``, with their batching rules.

``index`` and ``index_back`` are each other's transposes; ``index_back`` adds up values at equal positions.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.accumulate import add_rows, sum_rows
from ..._arrays.along import first_outside
from ..._arrays.compiled import kernels
from ..._arrays.index_shapes import adjacent, result_shape, without_masks
from ..._arrays.layouts import relaid, relaid_copy, strides_like
from ..._arrays.library import COLONS
from ..._arrays.threads import LARGE, parallel_map
from ..._base.registry import ARRAYS, REGISTRY, TRANSFORMED, plain_body
from ..._kinds.general import general
from ..._payloads.batching import batch_size
from ..._tape.saved import payload_dtype
from ..._tape.tensor import Tensor


def is_plain(x: Tensor) -> bool:
    return isinstance(x._payload, (np.ndarray, np.generic))


# ---- places of index tensors, raw
def numpy_key(dims: Any, indices: Any) -> tuple[Any, ...]:
    """The NumPy key for index arrays at these dims; ``dims`` has the first dim of a mask."""
    if len(dims) == 1:
        return COLONS[dims[0]] + (indices[0],)
    key: tuple[Any, ...] = ()
    place = 0
    for d, i in zip(dims, indices):  # noqa: B905  ``strict`` takes as long as the loop
        key += (i,) if d == place else COLONS[d - place] + (i,)
        place = d + (i.ndim if i.dtype.char == "?" else 1)
    return key


def _element_strides(shape: tuple[int, ...]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides


def _positions(shape: tuple[int, ...], dims: Any, arrays: Any) -> tuple[Any, int]:
    """The positions of the elements of ``index``'s result in a contiguous array of this shape, and the run length.

    A run is all trailing dimensions without an index array, and the positions count runs. Indices that are out of
    range are errors.
    """
    last = dims[-1]
    strides = _element_strides(shape[: last + 1])
    run = math.prod(shape[last + 1 :])
    at: Any = None
    for d, i in zip(dims, arrays, strict=True):
        part = _not_negative(i, shape[d], d)
        if strides[d] != 1:
            part = part * strides[d]
        at = part if at is None else at + part
    k = at.ndim
    lead = [d for d in range(last) if d not in dims]
    if not lead:
        return at, run
    if not adjacent(dims):  # the index dimensions come first then
        for d in lead:
            at = at[..., None] + np.arange(shape[d]) * strides[d]
        return at, run
    for d in reversed(lead):
        at = at + (np.arange(shape[d]) * strides[d]).reshape((shape[d],) + (1,) * k)
        k += 1
    return at, run


def _not_negative(i: Any, n: int, dim: int) -> Any:
    """Indices of a dimension of size ``n``, counted from 0, as int64; raises if one is out of range."""
    if i.dtype.itemsize < 8:
        i = i.astype(np.int64)
    if not i.size or np.maximum.reduce(i.view(np.uint64), None) < n:
        return i  # as unsigned integers, negative ones are large
    bad = first_outside(i, -n, n)
    if bad is not None:
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {n}")
    return np.where(i < 0, i + n, i)


_SEVERAL = 64  # rows from which the special cases pay
_MANY = 1024  # from this size masks become integer indices first: NumPy's selection is slow at each change


def take_at(x: Any, dims: tuple[int, ...], indices: Any) -> Any:
    """``x`` indexed with index arrays, in NumPy's order of the dimensions."""
    if len(dims) == 1:
        i = indices[0]
        contiguous = type(x) is np.ndarray and x.flags.c_contiguous
        if i.dtype.kind != "b":
            if contiguous:
                return _taken(x, i, dims[0])
        elif contiguous and i.size >= _MANY and not dims[0] and i.shape == x.shape[: i.ndim]:
            return x.reshape(i.size, *x.shape[i.ndim :]).take(i.reshape(-1).nonzero()[0], 0)
    return x[numpy_key(dims, indices)]


def _taken(x: Any, i: Any, dim: int) -> Any:
    """``x.take(i, dim)`` of a contiguous array; large results are computed by several threads."""
    shape = x.shape
    count = i.size * (x.size // shape[dim]) if i.ndim and shape[dim] else 0
    if count >= LARGE and not dim and (found := kernels()) is not None:
        from ..._arrays.compiled_places import rows_at

        if (r := rows_at(found, x, i)) is not None:
            return r
    if count < (LARGE if dim else LARGE << 2) or i.min() < -shape[dim] or i.max() >= shape[dim]:
        return intp.take(x, i, dim)
    r = np.empty((*shape[:dim], *i.shape, *shape[dim + 1 :]), x.dtype)
    step = max(LARGE // (count // len(r)) >> 1, 1)  # rows of a chunk
    parts = [slice(k, k + step) for k in range(0, len(r), step)]
    if dim:  # "wrap" is right for indices in range, and "raise" makes a copy
        parallel_map(lambda part: intp.take(x[part], i, dim, r[part], "wrap"), parts)
    else:
        parallel_map(lambda part: intp.take(x, i[part], 0, r[part], "wrap"), parts)
    return r


def write_at(x: Any, dims: tuple[int, ...], indices: Any, values: Any) -> None:
    """Write values at the positions of index arrays."""
    if len(dims) != 1 or dims[0]:
        x[numpy_key(dims, indices)] = values
        return
    i = indices[0]
    if i.size >= _SEVERAL and x.flags.c_contiguous:
        if i.dtype.kind == "b":
            if i.size >= _MANY and i.shape == x.shape[: i.ndim]:
                x.reshape(i.size, *x.shape[i.ndim :])[i.reshape(-1).nonzero()[0]] = values
                return
        elif type(values) is np.ndarray and values.dtype is x.dtype and values.shape == i.shape + x.shape[1:]:
            if x.ndim > 1 and values.size and values.flags.c_contiguous:
                row = f"V{values.nbytes // i.size}"  # whole rows as elements: NumPy copies them several times as fast
                x.reshape(-1).view(row)[i.reshape(-1)] = values.reshape(-1).view(row)
                return
    x[i] = values


# ---- batching rules
def _lifted_places(inner: Any, mine: Any, rank: int, first: int, dims: Any) -> tuple[Any, Any, Any]:
    """(index tensors, dims, permutation) of the batched form; the index tensors begin at ``first`` in ``inner``.

    The permutation moves the batch dimension of the batched result to the front; ``None`` if it is there already.
    ``rank`` is that of an unbatched result.
    """
    indices, theirs = list(inner[first:]), list(mine[first:])
    k = max(i.ndim - m for i, m in zip(indices, theirs, strict=True))
    up = tuple(d + 1 for d in dims)
    side_by_side = adjacent(dims)
    if not any(theirs):
        perm = None if side_by_side else (k, *range(k), *range(k + 1, rank + 1))
        return indices, up, perm
    size = next(i.shape[0] for i, m in zip(indices, theirs, strict=True) if m)
    indices = [
        TRANSFORMED.reshape(i, (size,) + (1,) * (k + 1 - i.ndim) + tuple(i.shape[1:])) if m else i
        for i, m in zip(indices, theirs, strict=True)
    ]
    indices = [np.arange(size).reshape((size,) + (1,) * k), *indices]
    lead = dims[0] if side_by_side else 0
    perm = None if not lead else (0, *range(k + 1, k + 1 + lead), *range(1, k + 1), *range(k + 1 + lead, rank + 1))
    return indices, (0, *up), perm


def _numbered(dims: Any, inner: Any, mine: Any, first: int) -> tuple[Any, list[Any], list[bool]]:
    """The same operands with integer indices in place of masks, which the whole batch shares."""
    ds: list[int] = []
    found, batched = list(inner[:first]), list(mine[:first])
    for d, i, m in zip(dims, inner[first:], mine[first:], strict=True):
        if payload_dtype(i).kind == "b":
            arrays = (i._payload if isinstance(i, Tensor) else i).nonzero()
        else:
            arrays = (i,)
        ds += range(d, d + len(arrays))
        found += arrays
        batched += [m] * len(arrays)
    return tuple(ds), found, batched


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def _all_batched(inner: Any, mine: Any, count: int) -> list[Any]:
    size = batch_size(inner, mine)
    return [x if m else TRANSFORMED.expand(x, (size, *x.shape)) for x, m in zip(inner[:count], mine, strict=False)]


def _index_rank(x: Any, batched: bool, dims: Any, indices: Any, theirs: Any) -> int:
    return x.ndim - batched - len(dims) + max(i.ndim - m for i, m in zip(indices, theirs, strict=True))


def batch_index(xp: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    dims, inner, mine = _numbered(p[0], inner, mine, 1)
    rank = _index_rank(inner[0], mine[0], dims, inner[1:], mine[1:])
    indices, dims, perm = _lifted_places(inner, mine, rank, 1, dims)
    (x,) = _all_batched(inner, mine, 1)
    r = xp.index([x, *indices], dims)
    return r if perm is None else xp.permute(r, perm)


def _batch_index_back(xp: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    size, dims = p
    dims, inner, mine = _numbered(dims, inner, mine, 1)
    indices, dims, perm = _lifted_places(inner, mine, inner[0].ndim - mine[0], 1, dims)
    (g,) = _all_batched(inner, mine, 1)
    if perm is not None:
        g = xp.permute(g, _inverse(perm))
    return xp.index_back([g, *indices], (batch_size(inner, mine), *size), dims)


def _batch_index_put(xp: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    dims, accumulate, _ = p
    dims, inner, mine = _numbered(dims, inner, mine, 2)
    rank = _index_rank(inner[0], mine[0], dims, inner[2:], mine[2:])
    one = result_shape(
        tuple(inner[0].shape[mine[0] :]), dims, [tuple(i.shape[m:]) for i, m in zip(inner[2:], mine[2:], strict=True)]
    )
    indices, dims, perm = _lifted_places(inner, mine, rank, 2, dims)
    x, v = _all_batched(inner, mine, 2)
    size = x.shape[0]
    v = xp.expand(xp.reshape(v, (size,) + (1,) * (rank + 1 - v.ndim) + tuple(v.shape[1:])), (size, *one))
    if perm is not None:
        v = xp.permute(v, _inverse(perm))
    return xp.index_put([x, v, *indices], dims, accumulate, False)


# ---- primitives
_FEW = 128  # up to so many elements ``np.add.at`` is faster than preparing a flat index


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
    constants_from=1,
    grad=lambda xp, g, tensors_from1, tensors_shape, dims: _nones(
        tensors_shape, xp.index_back([g, *tensors_from1], tensors_shape[0], dims)
    ),
    jvp=lambda xp, tangents, result, *args: xp.index([tangents[0], *args[1:-1]], args[-1]),
    holomorphic=False,
    batch=batch_index,
    dtypes="fcib",
    samples=_index_samples,
)
def index(lib, tensors, dims):
    """The first of ``tensors`` indexed with the others, which are index tensors at ``dims``."""
    x = tensors[0]
    r = take_at(x, dims, tensors[1:])
    if r.ndim < 2 or (len(dims) == 1 and x.flags.c_contiguous and tensors[1].dtype.kind != "b"):
        return r
    return _in_order(r, x, dims, tensors[1:])


def _in_order(r: Any, x: Any, dims: tuple[int, ...], indices: Any) -> Any:
    """The result of indexing in PyTorch's memory order; NumPy has the indexed dimensions outermost.

    Dimensions have the memory order of ``x``; the indexed ones do not count (ATen's ``TensorIterator``,
    ``reorder_dimensions``: an insertion sort from the inside out, in which a stride of 0 compares with nothing).
    """
    if x.flags.c_contiguous or (x.strides[-1] > 0 and all(map(operator.gt, x.strides, x.strides[1:]))):
        # NumPy's contiguous arrays may have any stride in a dimension of size 1
        return r if not dims[0] or (r.flags.c_contiguous and 1 not in r.shape) else r.copy("C")
    taken = {
        d
        for dim, i in zip(dims, indices, strict=True)
        for d in range(dim, dim + (i.ndim if i.dtype.kind == "b" else 1))
    }
    strides = [0 if d in taken else s for d, s in enumerate(x.strides)]
    rest = [s for d, s in enumerate(strides) if d not in taken]
    lead = dims[0] if len(taken) == max(taken) - min(taken) + 1 else 0
    strides = rest[:lead] + [0] * (r.ndim - len(rest)) + rest[lead:]
    order = list(range(r.ndim - 1, -1, -1))  # innermost first
    for start in range(1, r.ndim):
        at = start
        for other in range(start - 1, -1, -1):
            a, b = strides[order[other]], strides[order[at]]
            if a and b:
                if a < b:
                    break
                if a > b or r.shape[order[other]] > r.shape[order[at]]:
                    order[other], order[at] = order[at], order[other]
                    at = other
    outward = order[::-1]
    turned = r.transpose(outward)
    if turned.flags.c_contiguous and 1 not in r.shape:
        return r
    return turned.copy("C").transpose(_inverse(tuple(outward)))


@general(
    tensors=-1,
    constants_from=1,
    node="IndexPutImplBackward0",
    grad=lambda xp, g, tensors_from1, tensors_shape, dims: _nones(tensors_shape, xp.index([g, *tensors_from1], dims)),
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
    """Zeros of ``size`` with the first tensor added at the positions of the index tensors."""
    g = tensors[0]
    of_mask = len(dims) == 1 and tensors[1].dtype.kind == "b"
    if not of_mask and g.size > _FEW:
        dims, arrays = without_masks(dims, tensors[1:])
        at, run = _positions(tuple(size), dims, arrays)
        return sum_rows(size, at, run, g)
    r = lib.zeros(size, g.dtype)
    if of_mask:
        write_at(r, dims, tensors[1:], g)
    else:
        lib.add.at(r, numpy_key(dims, tensors[1:]), g)
    return r


@plain_body
def plain_index_back(lib, tensors, size, dims):
    r = lib.zeros(size, tensors[0].dtype)
    lib.add_at(r, numpy_key(dims, tensors[1:]), tensors[0])
    return r


def dense(x: Any) -> Any:
    """A dense copy with the same memory order of the dimensions."""
    if type(x) is not np.ndarray:
        return np.array(x)
    return x.copy() if x.flags.c_contiguous and 1 not in x.shape else relaid_copy(x)


def _index_put_back(
    xp: Any, g: Any, tensors_from2: Any, tensors_shape: Any, dims: Any, accumulate: Any, needs: Any
) -> Any:
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
    constants_from=2,
    grad=_index_put_back,
    jvp=lambda xp, tangents, result, *args: xp.index_put(
        [*(xp.zeros_like(x) if t is None else t for x, t in zip(args[:2], tangents[:2], strict=True)), *args[2:-3]],
        *args[-3:-1],
        False,
    ),
    holomorphic=False,
    batch=_batch_index_put,
    dtypes="fcib",
    samples=lambda rng: [
        (([rng.standard_normal((4, 3)), rng.standard_normal((2, 3)), np.array([0, 2])],), ((0,), False, False)),
        (([rng.standard_normal((4, 3)), rng.standard_normal(3), np.array([0, 0])],), ((0,), True, False)),
        (
            ([rng.standard_normal((4, 3)), rng.standard_normal(()), np.array([0, -1]), np.array([2, 1])],),
            ((0, 1), False, False),
        ),
        (
            ([rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3)), np.array([0, 1]), np.array([3, 3])],),
            ((0, 2), True, False),
        ),
    ],
)
def index_put(lib, tensors, dims, accumulate, into):
    """A copy of the first tensor with the second written, or added, at the positions of the index tensors.

    ``into``: write to the first tensor itself instead of a copy.
    """
    x, v = tensors[0], tensors[1]
    if accumulate and not (len(dims) == 1 and tensors[2].dtype.kind == "b"):
        if v.size <= _FEW:
            r = x if into and x.flags.c_contiguous else dense(x)
            lib.add.at(r, numpy_key(dims, tensors[2:]), v)
            return r
        r = x if into and x.flags.c_contiguous else x.copy() if type(x) is np.ndarray else lib.array(x)
        ds, arrays = without_masks(dims, tensors[2:])
        at, run = _positions(r.shape, ds, arrays)
        if v.ndim != r.ndim or v.size != at.size * run:
            v = lib.broadcast_to(v, result_shape(r.shape, ds, [i.shape for i in arrays]))
        add_rows(r, at, run, v)
        return r if x.flags.c_contiguous else relaid(r, strides_like(x))
    r = x if into else dense(x)
    if accumulate:
        r[numpy_key(dims, tensors[2:])] += v
    else:
        write_at(r, dims, tensors[2:], v)
    return r


@plain_body
def plain_index_put(lib, tensors, dims, accumulate, into):
    r, key = tensors[0] if into else tensors[0].copy(), numpy_key(dims, tensors[2:])
    if not accumulate:
        r[key] = tensors[1]
    else:
        lib.add_at(r, key, tensors[1])
    return r


INDEX = REGISTRY["index"]
index_raw = ARRAYS.index
INDEX_PUT = REGISTRY["index_put"]
assert INDEX.saves.uses == ("tensors_from1", "tensors_shape", "dims")
assert INDEX_PUT.saves.uses == ("tensors_from2", "tensors_shape", "dims", "accumulate", "needs")
